/* test_tmpfile.c - temporary files and directories, new directories that are removed if they stay empty, and
 * the list of what to remove, used by several threads.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_child.h"
#include "tests/lib/own_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/file/tmpfile.h"

/* Creates a directory that contains a file, a link to a directory outside, and a subdirectory with a
 * file. */
static int fill_dir(struct cov_tmpdir *t)
{
    char path[128];
    if (cov_tmpdir_make(t, ".", "work", NULL) != COV_OK)
        return -1;
    (void)snprintf(path, sizeof path, "%s/a.fa", t->path);
    put_text(path, "a");
    (void)snprintf(path, sizeof path, "%s/inner", t->path);
    if (mkdir(path, 0700) != 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/inner/b.fa", t->path);
    put_text(path, "b");
    (void)snprintf(path, sizeof path, "%s/link", t->path);
    return symlink("../kept", path);
}

TEST(makes_directories)
{
    struct cov_tmpdir t = {0}, u;
    cov_tmpdir_remove(&t);
    assert_int_equal(mkdir("kept", 0700), 0);
    put_text("kept/c.fa", "c");
    assert_int_equal(fill_dir(&t), 0);
    assert_ok(cov_tmpdir_make(&u, ".", "work", &e));
    assert_string_not_equal(t.path, u.path);
    assert_int_equal(strncmp(t.path, "./.work.", 8), 0);
    cov_tmpdir_remove(&t);
    assert_null(t.path);
    cov_tmpdir_remove(&t);
    assert_int_equal(count_files("."), 2);
    cov_tmpdir_remove(&u);
    check_text("kept/c.fa", "c");
    assert_fails(cov_tmpdir_make(&t, "nowhere", "work", &e), COV_EIO,
                 "temporary directory in nowhere");
    assert_null(t.path);
    take_files("kept/c.fa kept");
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

/* A directory is removed only if it is new and empty. */
TEST(makes_new_directories)
{
    struct cov_newdir f = {0}, g;
    cov_newdir_fini(&f);
    assert_int_equal(mkdir("kept", 0700), 0);
    static const char *const names[] = {"kept/a//b/", "./kept/a/b", "kept/a/b/.", "kept/b"};
    for (size_t i = 0; i < COV_COUNT(names); i++) {
        assert_ok(cov_newdir_make(&f, names[i], &e));
        assert_true(is_there(names[i]));
        /* A second user finds the directory already there, and does not remove it. */
        assert_ok(cov_newdir_make(&g, names[i], &e));
        assert_null(g.path);
        cov_newdir_fini(&g);
        assert_true(is_there(names[i]));
        cov_newdir_fini(&f);
        assert_null(f.path);
        assert_int_equal(count_files("kept"), 0);
    }
    assert_ok(cov_newdir_make(&f, "new/a/b", &e));
    put_text("new/x", "x");
    cov_newdir_fini(&f);
    assert_int_equal(count_files("new"), 1);
    assert_int_equal(unlink("new/x"), 0);
    assert_int_equal(rmdir("new"), 0);
    assert_ok(cov_newdir_make(&f, "/", &e));
    assert_null(f.path);
    assert_fails_with(cov_newdir_make(&f, "/dev/null", &e), COV_EIO,
                      "/dev/null: is not a directory");
    assert_int_equal(cov_newdir_make(&f, "/dev/null/a", NULL), COV_EIO);
    assert_int_not_equal(cov_newdir_make(&f, "", NULL), COV_OK);
    /* A check changes nothing. */
    static const char *const fit[] = {"kept", "kept/", "kept/a//b/", "new", "./new/a", "."};
    for (size_t i = 0; i < COV_COUNT(fit); i++)
        assert_ok(cov_newdir_check(fit[i], &e));
    assert_int_equal(cov_newdir_check("/", NULL) == COV_OK, access("/", W_OK | X_OK) == 0);
    assert_int_equal(count_files("kept"), 0);
    assert_false(is_there("new"));
    static const char *const unfit[] = {"/dev/null", "/dev/null/", "/dev/null/a/b", "put/a", ""};
    put_text("put", "x");
    for (size_t i = 0; i < COV_COUNT(unfit); i++) {
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_newdir_check(unfit[i], &e), COV_EIO);
        assert_memory_equal(e.text, unfit[i], strlen(unfit[i]));
        assert_true(i == 4 || strstr(e.text, ": is not a directory"));
    }
    assert_int_equal(unlink("put"), 0);
    char name[400] = "kept/a/";
    memset(name + 7, 'x', 300);
    assert_fails(cov_newdir_make(&f, name, &e), COV_EIO, "cannot make the directory");
    assert_fails(cov_newdir_check(name + 7, &e), COV_EIO, "cannot make the directory");
    assert_int_equal(count_files("kept"), 0);
    assert_int_equal(rmdir("kept"), 0);
    /* The error text gives the reason why the upper directory cannot be made. */
    if (is_there("/sys/kernel")) {
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_newdir_make(&f, "/sys/covtools/a", &e), COV_EIO);
        assert_null(strstr(e.text, "No such file"));
    }
}

/* Makes more directories than the list has slots. */
TEST(makes_many_new_directories)
{
    struct cov_newdir f[COV_LEFTOVERS_MAX_EMPTY + 2];
    for (size_t i = 0; i < COV_COUNT(f); i++) {
        char name[20];
        (void)snprintf(name, sizeof name, "many%zu", i);
        assert_ok(cov_newdir_make(&f[i], name, &e));
    }
    for (size_t i = 0; i < COV_COUNT(f); i++)
        cov_newdir_fini(&f[i]);
    assert_int_equal(count_files("."), 0);
}

/* Makes a temporary directory with files in a new directory, and a result. A signal removes all but the
 * result. */
static int make_all(void *arg)
{
    struct cov_newdir f, g, h;
    struct cov_tmpdir t, u;
    if (fill_dir(&t) != 0 || cov_newdir_make(&f, "new/a", NULL) != COV_OK ||
        cov_newdir_make(&g, "new/b/c", NULL) != COV_OK ||
        cov_newdir_make(&h, "with", NULL) != COV_OK ||
        cov_tmpdir_make(&u, "new/b/c", "work", NULL) != COV_OK)
        return -1;
    put_text("with/result", "r");
    return 0;
}

TEST(signal_removes)
{
    terminate_in_child(make_all, NULL);
    check_text("with/result", "r");
    take_files("with/result with");
}

/* A forked child does not remove files and directories of its parent. */
static int remove_dirs_of_parent(void *arg)
{
    cov_leftovers_remove_all();
    cov_newdir_fini(arg);
    return is_there("ours") ? 0 : -1;
}

TEST(child_keeps_directories_of_its_parent)
{
    struct cov_newdir f;
    assert_ok(cov_newdir_make(&f, "ours", &e));
    check_in_child(remove_dirs_of_parent, &f);
    cov_newdir_fini(&f);
    assert_false(is_there("ours"));
}

/* Replaces libc's function: some file systems and kernels have no unnamed files. */
static int error_of_unnamed;
int open_for_library(const char *path, int flags, ...) __asm__("open64");
int open_for_library(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t bits = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    errno = error_of_unnamed;
    return error_of_unnamed && (flags & O_TMPFILE) == O_TMPFILE
               ? -1
               : (int)syscall(SYS_openat, AT_FDCWD, path, flags, bits);
}

TEST(makes_unnamed_files)
{
    static const char *const dirs[] = {".", "/dev/shm"};
    static const int errors[] = {0, EOPNOTSUPP, EISDIR, EINVAL, ENOENT};
    sigset_t blocked;
    for (size_t i = 0; i < 2 * COV_COUNT(errors); i++) {
        int fd = -1;
        char text[5];
        error_of_unnamed = errors[i / 2];
        assert_ok(cov_tmpfile(dirs[i % 2], &fd, &e));
        assert_int_equal(pwrite(fd, "hello", 5, 1000), 5);
        assert_int_equal(pread(fd, text, 5, 1000), 5);
        assert_memory_equal(text, "hello", 5);
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        assert_int_equal(close(fd), 0);
    }
    assert_int_equal(count_files("."), 0);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    assert_false(sigismember(&blocked, SIGTERM));
    int fd;
    error_of_unnamed = EACCES;
    assert_fails_with(cov_tmpfile(".", &fd, &e), COV_EIO,
                      "cannot create a temporary file in directory .: Permission denied");
    error_of_unnamed = 0;
    assert_fails_with(
        cov_tmpfile("not/there", &fd, &e), COV_EIO,
        "cannot create a temporary file in directory not/there: No such file or directory");
    /* /proc supports neither unnamed nor named temporary files. */
    assert_int_equal(cov_tmpfile("/proc", &fd, NULL), COV_EIO);
}

TEST(spools_bytes)
{
    struct cov_spool s;
    uint8_t piece[1000], back[1000];
    int64_t at[50];
    assert_ok(cov_spool_init(&s, "./", &e));
    assert_int_equal(s.fd, -1);
    for (size_t i = 0; i < 50; i++) {
        memset(piece, (int)i, sizeof piece);
        assert_ok(cov_spool_append(&s, piece, 20 * i, &at[i], &e));
    }
    assert_int_equal(count_files("."), 0);
    assert_int_equal(s.n_bytes, 20 * 49 * 50 / 2);
    for (size_t i = 50; i-- > 0;) {
        memset(piece, (int)i, sizeof piece);
        assert_ok(cov_spool_read(&s, at[i], back, 20 * i, &e));
        assert_memory_equal(back, piece, 20 * i);
    }
    assert_ok(cov_spool_truncate(&s, 100, &e));
    assert_ok(cov_spool_append(&s, "abc", 3, &at[0], &e));
    assert_int_equal(at[0], 100);
    assert_ok(cov_spool_read(&s, 100, back, 3, &e));
    assert_memory_equal(back, "abc", 3);
    assert_int_equal(cov_spool_read(&s, 101, back, 3, NULL), COV_EIO);
    cov_spool_fini(&s);
    cov_spool_fini(&s);
}

TEST(spool_failure_names_the_directory)
{
    struct cov_spool s;
    char zeros[200] = "";
    assert_ok(cov_spool_init(&s, "/nonexistent/directory", &e));
    assert_fails(cov_spool_append(&s, zeros, 1, NULL, &e), COV_EIO, "/nonexistent/directory");
    cov_spool_fini(&s);

    assert_ok(cov_spool_init(&s, "./", &e));
    limit_files(100);
    assert_fails(cov_spool_append(&s, zeros, sizeof zeros, NULL, &e), COV_EIO, "in ./");
    limit_files(RLIM_INFINITY);
    assert_int_equal(s.n_bytes, 0);
    cov_spool_fini(&s);
}

enum { THREADS = 4, ROUNDS = 2, EACH = 500 };

static pthread_barrier_t barrier;

/* Makes files and directories alternately, and adds them to the list. Every second thread starts with a
 * directory. */
static void *enter(void *arg)
{
    const size_t thread = *(const size_t *)arg;
    static char names[THREADS][EACH][16];
    void *failed = NULL;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < EACH; i++) {
            char *name = names[thread][i];
            (void)snprintf(name, sizeof names[thread][i], "%zu_%zu", thread, i);
            FILE *f = (thread + i) % 2 ? fopen(name, "w") : NULL;
            if (f ? fclose(f) : mkdir(name, 0777))
                failed = arg;
        }
        (void)pthread_barrier_wait(&barrier);
        for (size_t i = 0; i < EACH; i++) {
            enum cov_leftover_kind kind = (thread + i) % 2 ? COV_LEFTOVER_FILE : COV_LEFTOVER_TREE;
            if (cov_leftovers_add(kind, names[thread][i], 0) < 0)
                failed = arg;
        }
        (void)pthread_barrier_wait(&barrier);
        if (thread == 0)
            cov_leftovers_remove_all();
        (void)pthread_barrier_wait(&barrier);
    }
    return failed;
}

/* Each entry must keep its kind. Otherwise its file or directory would not be removed. */
TEST(threads_add)
{
    pthread_t threads[THREADS];
    size_t numbers[THREADS];
    assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (size_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, enter, &numbers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(count_files("."), 0);
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
}

/* The directory that was added last is removed first, whichever slots the directories have. */
TEST(removes_last_directories_first)
{
    char early[] = "early", outer[] = "outer", inner[] = "outer/inner", last[] = "outer/inner/last";
    int place = cov_leftovers_add(COV_LEFTOVER_EMPTY, early, 0);
    assert_int_equal(mkdir(outer, 0777), 0);
    int behind = cov_leftovers_add(COV_LEFTOVER_EMPTY, outer, 0);
    assert_true(place >= 0 && behind > place);
    assert_ptr_equal(cov_leftovers_take(COV_LEFTOVER_EMPTY, place), early);
    assert_int_equal(mkdir(inner, 0777), 0);
    assert_int_equal(cov_leftovers_add(COV_LEFTOVER_EMPTY, inner, strlen("outer/")), place);
    assert_int_equal(mkdir(last, 0777), 0);
    assert_true(cov_leftovers_add(COV_LEFTOVER_EMPTY, last, strlen("outer/inner/")) > behind);
    cov_leftovers_remove_all();
    assert_int_equal(count_files("."), 0);
}

TEST_GROUP(enter_dir, leave_dir)
