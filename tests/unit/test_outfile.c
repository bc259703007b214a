/* test_outfile.c - outputs that are either complete or absent.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/leftovers.h"
#include "common/base/outfile.h"
#include "tests/lib/own_child.h"
#include "tests/lib/own_folder.h"

static void check_begin_fails(const char *path, enum cov_outfile_kind kind, bool force,
                              enum cov_status code, const char *text)
{
    struct cov_outfile o;
    struct cov_err e = COV_ERR_INIT;
    int before = count_files(".");
    assert_int_equal(cov_outfile_begin(&o, path, kind, force, &e), code);
    assert_string_equal(e.text, text);
    assert_null(o.path);
    assert_null(o.tmp);
    assert_int_equal(count_files("."), before);
    cov_outfile_abort(&o);
}

static void begin(struct cov_outfile *o, const char *path, bool force)
{
    struct cov_err e = COV_ERR_INIT;
    if (cov_outfile_begin(o, path, COV_OUTFILE_SEEKABLE, force, &e) != COV_OK)
        fail_msg("%s", e.text);
}

static void commits(void **state)
{
    struct cov_outfile o;
    struct cov_err e = COV_ERR_INIT;
    struct stat st;
    char expected[64];
    umask(027);
    begin(&o, "new.bg.gz", false);
    (void)snprintf(expected, sizeof expected, "./.new.%ld.tmp.bg.gz", (long)getpid());
    assert_string_equal(o.tmp, expected);
    assert_int_equal(access("new.bg.gz", F_OK), -1);
    put_text(o.tmp, "whole");
    assert_int_equal(cov_outfile_commit(&o, &e), COV_OK);
    umask(022);
    check_text("new.bg.gz", "whole");
    assert_int_equal(stat("new.bg.gz", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(count_files("."), 1);
    cov_outfile_abort(&o);
    assert_int_equal(unlink("new.bg.gz"), 0);
}

static void aborts(void **state)
{
    struct cov_outfile o, p, unused = COV_OUTFILE_INIT;
    begin(&o, "new.h5", false);
    begin(&p, "new.h5", false); /* two temporary files for the same output do not collide */
    assert_string_not_equal(o.tmp, p.tmp);
    assert_int_equal(count_files("."), 2);
    cov_outfile_abort(&o);
    cov_outfile_abort(&o);
    cov_outfile_abort(&p);
    cov_outfile_abort(&unused);
    assert_int_equal(count_files("."), 0);
}

static void replaces_only_with_force(void **state)
{
    struct cov_outfile o;
    struct cov_err e = COV_ERR_INIT;
    put_text("old.h5", "old");
    check_begin_fails("old.h5", COV_OUTFILE_SEEKABLE, false, COV_EEXIST,
                      "old.h5: already exists; use -f to replace it");
    begin(&o, "old.h5", true);
    put_text(o.tmp, "new");
    check_text("old.h5", "old");
    assert_int_equal(cov_outfile_commit(&o, &e), COV_OK);
    check_text("old.h5", "new");

    /* Another program creates the output during the run. */
    begin(&o, "late.h5", false);
    put_text(o.tmp, "ours");
    put_text("late.h5", "theirs");
    assert_int_equal(cov_outfile_commit(&o, &e), COV_EEXIST);
    assert_string_equal(e.text, "late.h5 was created by another program; use -f to replace it");
    check_text("late.h5", "theirs");
    begin(&o, "late.h5", true);
    put_text(o.tmp, "ours");
    assert_int_equal(cov_outfile_commit(&o, NULL), COV_OK);
    check_text("late.h5", "ours");
    assert_int_equal(count_files("."), 2);
    assert_int_equal(unlink("old.h5"), 0);
    assert_int_equal(unlink("late.h5"), 0);
}

static void names_the_fault(void **state)
{
    put_text("file", "");
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    enum cov_outfile_kind kind = COV_OUTFILE_SEEKABLE;
    check_begin_fails("out/x.h5", kind, false, COV_EIO, "out/x.h5: folder out does not exist");
    check_begin_fails("file/x.h5", kind, false, COV_EIO, "file/x.h5: file is not a folder");
    check_begin_fails("folder", kind, true, COV_EIO, "folder: is a folder, not a file");
    check_begin_fails("new/", kind, true, COV_EIO, "new/: is a folder, not a file");
    check_begin_fails("", kind, true, COV_EIO, "the output has an empty name");
    check_begin_fails("/dev/full", kind, true, COV_EIO,
                      "/dev/full: not a regular file, which this format needs");
    check_begin_fails("pipe", kind, false, COV_EIO,
                      "pipe: not a regular file, which this format needs");
    check_begin_fails("/dev/stdout", kind, true, COV_EIO,
                      "/dev/stdout: not a regular file, which this format needs");
    check_begin_fails(
        "/proc/x.h5", kind, false, COV_EIO,
        "/proc/x.h5: cannot create a file in folder /proc: No such file or directory");
    if (geteuid() != 0) { /* root may write anywhere */
        assert_int_equal(chmod("folder", 0555), 0);
        check_begin_fails("folder/x.h5", kind, false, COV_EIO,
                          "folder/x.h5: cannot write to folder folder: Permission denied");
    }

    struct cov_outfile o;
    assert_int_equal(cov_outfile_begin(&o, "/dev/full", COV_OUTFILE_STREAM, false, NULL), COV_OK);
    assert_true(o.in_place);
    assert_string_equal(o.tmp, "/dev/full");
    assert_int_equal(cov_outfile_commit(&o, NULL), COV_OK);
    assert_int_equal(cov_outfile_begin(&o, "pipe", COV_OUTFILE_STREAM, false, NULL), COV_OK);
    assert_true(o.in_place);
    cov_outfile_abort(&o);
    assert_int_equal(access("pipe", F_OK), 0);
    assert_int_equal(unlink("pipe"), 0);
    assert_int_equal(unlink("file"), 0);
    assert_int_equal(rmdir("folder"), 0);
}

static void follows_links(void **state)
{
    struct cov_outfile o;
    struct stat st;
    assert_int_equal(mkdir("store", 0777), 0);
    put_text("store/target.h5", "old");
    assert_int_equal(symlink("store/target.h5", "link.h5"), 0);
    check_begin_fails("link.h5", COV_OUTFILE_SEEKABLE, false, COV_EEXIST,
                      "link.h5: already exists; use -f to replace it");
    begin(&o, "link.h5", true);
    assert_int_equal(count_files("store"),
                     2); /* the temporary file is in the folder of the target */
    put_text(o.tmp, "new");
    assert_int_equal(cov_outfile_commit(&o, NULL), COV_OK);
    assert_int_equal(lstat("link.h5", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    check_text("store/target.h5", "new");
    assert_int_equal(count_files("store"), 1);

    assert_int_equal(unlink("store/target.h5"), 0);
    check_begin_fails("link.h5", COV_OUTFILE_SEEKABLE, false, COV_EEXIST,
                      "link.h5: already exists; use -f to replace it");
    begin(&o, "link.h5", true);
    put_text(o.tmp, "new");
    assert_int_equal(cov_outfile_commit(&o, NULL), COV_OK);
    assert_int_equal(lstat("link.h5", &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(unlink("link.h5"), 0);
    assert_int_equal(rmdir("store"), 0);
}

static void shortens_long_names(void **state)
{
    struct cov_outfile o;
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    memcpy(name + NAME_MAX - 3, ".h5", 4);
    begin(&o, name, false);
    assert_int_equal(cov_outfile_commit(&o, NULL), COV_OK);
    assert_int_equal(unlink(name), 0);
}

/* Commits three files that belong together: a new one, one that replaces an existing file, and one
 * that is already closed. */
static void commits_all_or_none(void **state)
{
    struct cov_outfile a, b, c, none = COV_OUTFILE_INIT;
    struct cov_outfile *const files[] = {&a, &none, &b, &c};
    struct cov_err e = COV_ERR_INIT;
    for (int late = 0; late < 2; late++) {
        put_text("b.h5", "old b");
        begin(&a, "a.h5", false);
        begin(&b, "b.h5", true);
        begin(&c, "c.h5", false);
        put_text(a.tmp, "new a");
        put_text(b.tmp, "new b");
        put_text(c.tmp, "new c");
        if (late)
            put_text("c.h5", "theirs");
        assert_int_equal(cov_outfile_commit_all(files, COV_COUNT(files), &e),
                         late ? COV_EEXIST : COV_OK);
        assert_int_equal(access("a.h5", F_OK), late ? -1 : 0);
        check_text("b.h5", late ? "old b" : "new b");
        check_text("c.h5", late ? "theirs" : "new c");
        assert_null(a.path);
        assert_null(c.path);
        assert_int_equal(count_files("."), late ? 2 : 3);
        (void)unlink("a.h5");
        assert_int_equal(unlink("b.h5"), 0);
        assert_int_equal(unlink("c.h5"), 0);
    }
    assert_string_equal(e.text, "c.h5 was created by another program; use -f to replace it");
}

static void has_limit(void **state)
{
    enum { MORE = 4200 };
    struct cov_outfile o[MORE];
    struct cov_err e = COV_ERR_INIT;
    int n = 0, code = COV_OK;
    for (; n < MORE && code == COV_OK; n++) {
        char name[20];
        (void)snprintf(name, sizeof name, "many%d", n);
        code = cov_outfile_begin(&o[n], name, COV_OUTFILE_STREAM, false, &e);
    }
    assert_int_equal(code, COV_EUNSUPPORTED);
    assert_string_equal(e.text, "many4096: more than 4096 outputs at once");
    for (int i = 0; i < n; i++)
        cov_outfile_abort(&o[i]);
    assert_int_equal(count_files("."), 0);
}

static int write_three(void *arg)
{
    struct cov_outfile o, p, q;
    (void)arg;
    return cov_outfile_begin(&o, "a.h5", COV_OUTFILE_SEEKABLE, false, NULL) != COV_OK ||
           cov_outfile_begin(&p, "b.h5", COV_OUTFILE_SEEKABLE, false, NULL) != COV_OK ||
           cov_outfile_begin(&q, "c.h5", COV_OUTFILE_SEEKABLE, false, NULL) != COV_OK ||
           cov_outfile_commit(&q, NULL) != COV_OK;
}

static void signal_removes(void **state)
{
    struct cov_outfile ours;
    begin(&ours, "ours.h5", false);
    terminate_in_child(write_three, NULL);
    assert_int_equal(count_files("."), 2); /* c.h5 and the parent's file */
    assert_int_equal(access(ours.tmp, F_OK), 0);
    cov_outfile_abort(&ours);
    assert_int_equal(unlink("c.h5"), 0);
    assert_int_equal(count_files("."), 0);
}

/* A copy does not replace its source if another program has replaced or changed the source. */
static void keeps_changes_of_other_programs(void **state)
{
    for (int replaced = 0; replaced < 2; replaced++) {
        struct cov_outfile o;
        struct cov_err e = COV_ERR_INIT;
        put_text("g.h5", "old");
        begin(&o, "g.h5", true);
        assert_int_equal(cov_outfile_copy(&o, "g.h5", NULL, &e), COV_OK);
        if (replaced) {
            put_text("other.h5", "theirs");
            assert_int_equal(rename("other.h5", "g.h5"), 0);
        } else {
            const struct timespec times[2] = {{1000, 0}, {1000, 1}};
            put_text("g.h5", "theirs");
            assert_int_equal(utimensat(AT_FDCWD, "g.h5", times, 0), 0);
        }
        assert_int_equal(cov_outfile_commit(&o, &e), COV_EEXIST);
        assert_string_equal(e.text, "g.h5 was changed by another program; run again");
        check_text("g.h5", "theirs");
        assert_int_equal(count_files("."), 1);
        assert_int_equal(unlink("g.h5"), 0);
    }
}

static void copies(void **state)
{
    struct cov_outfile o;
    struct cov_err e = COV_ERR_INIT;
    struct stat st;
    char back[200000], bytes[sizeof back];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * i >> 3);
    FILE *f = fopen("from", "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, sizeof bytes, f), sizeof bytes);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod("from", 0440), 0);
    assert_int_equal(cov_outfile_begin(&o, "to", COV_OUTFILE_SEEKABLE, false, NULL), 0);
    assert_int_equal(cov_outfile_copy(&o, "nowhere", NULL, &e), COV_EIO);
    assert_non_null(strstr(e.text, "nowhere"));
    assert_int_equal(cov_outfile_copy(&o, "from", NULL, NULL), 0);
    assert_int_equal(cov_outfile_commit(&o, NULL), 0);
    assert_int_equal(stat("to", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    f = fopen("to", "rb");
    assert_non_null(f);
    assert_int_equal(fread(back, 1, sizeof back, f), sizeof back);
    assert_int_equal(fgetc(f), EOF);
    assert_int_equal(fclose(f), 0);
    assert_memory_equal(back, bytes, sizeof back);
    assert_int_equal(unlink("from"), 0);
    assert_int_equal(unlink("to"), 0);
}

/* With a tag, the temporary name is the same each time, so the file left by a killed run is
 * replaced. */
static void reuses_tagged_names(void **state)
{
    struct cov_outfile o;
    struct stat st;
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(".t.mine.tmp.h5", "wb");
        assert_non_null(f);
        assert_int_equal(fputc('x', f), 'x');
        assert_int_equal(fclose(f), 0);
        assert_int_equal(
            cov_outfile_begin_tagged(&o, "t.h5", "mine", COV_OUTFILE_SEEKABLE, false, NULL), 0);
        assert_non_null(strstr(o.tmp, "/.t.mine.tmp.h5"));
        assert_int_equal(stat(o.tmp, &st), 0);
        assert_int_equal(st.st_size, 0);
        if (i == 0)
            cov_outfile_abort(&o);
        else
            assert_int_equal(cov_outfile_commit(&o, NULL), 0);
        assert_int_not_equal(stat(".t.mine.tmp.h5", &st), 0);
    }
    assert_int_equal(unlink("t.h5"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits),
        cmocka_unit_test(aborts),
        cmocka_unit_test(replaces_only_with_force),
        cmocka_unit_test(names_the_fault),
        cmocka_unit_test(follows_links),
        cmocka_unit_test(reuses_tagged_names),
        cmocka_unit_test(shortens_long_names),
        cmocka_unit_test(commits_all_or_none),
        cmocka_unit_test(keeps_changes_of_other_programs),
        cmocka_unit_test(has_limit),
        cmocka_unit_test(copies),
        cmocka_unit_test(signal_removes),
    };
    return cmocka_run_group_tests_name("outfile", tests, enter_folder, leave_folder);
}
