/* test_outfile.c - outputs that are either complete or absent.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/file/tmpfile.h"
#include "tests/lib/own_child.h"
#include "tests/lib/own_dir.h"

/* An HDF5 file with this name cannot be begun. */
static void refuse(const char *path, bool force, enum cov_status code, const char *text)
{
    struct cov_outfile o;
    int before = count_files(".");
    assert_fails_with(cov_outfile_begin(&o, path, COV_OUTFILE_HDF5, force, &e), code, text);
    assert_null(o.path);
    assert_null(o.tmp);
    assert_int_equal(count_files("."), before);
    cov_outfile_abort(&o);
}

static void begin(struct cov_outfile *o, const char *path, bool force)
{
    const bool is_bedgraph = strstr(path, ".bg") != NULL;
    assert_ok(cov_outfile_begin(o, path, is_bedgraph ? COV_OUTFILE_BEDGRAPH : COV_OUTFILE_HDF5,
                                force, &e));
}

TEST(commits)
{
    struct cov_outfile o;
    struct stat st;
    assert_false(cov_outfile_any_written());
    umask(027);
    begin(&o, "new.bg.gz", false);
    assert_string_equal(o.hidden, "./.new.covtools.tmp.bg.gz");
    assert_int_equal(access(o.hidden, F_OK), 0);
    assert_int_equal(access("new.bg.gz", F_OK), -1);
    put_text(o.tmp, "whole");
    assert_false(cov_outfile_any_written());
    assert_ok(cov_outfile_commit(&o, &e));
    assert_true(cov_outfile_any_written());
    umask(022);
    check_text("new.bg.gz", "whole");
    assert_int_equal(stat("new.bg.gz", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    cov_outfile_abort(&o);
    take_files("new.bg.gz");
}

TEST(aborts)
{
    struct cov_outfile o, unused = COV_OUTFILE_INIT;
    begin(&o, "new.h5", false);
    assert_int_equal(count_files("."), 1);
    cov_outfile_abort(&o);
    cov_outfile_abort(&o);
    cov_outfile_abort(&unused);
    assert_int_equal(count_files("."), 0);
}

TEST(replaces_only_with_force)
{
    struct cov_outfile o;
    put_text("old.h5", "old");
    refuse("old.h5", false, COV_EEXIST, "old.h5: already exists; use -f to replace it");
    begin(&o, "old.h5", true);
    put_text(o.tmp, "new");
    check_text("old.h5", "old");
    assert_ok(cov_outfile_commit(&o, &e));
    check_text("old.h5", "new");

    /* Another program creates the output during the run. */
    begin(&o, "late.h5", false);
    put_text(o.tmp, "ours");
    put_text("late.h5", "theirs");
    assert_fails_with(cov_outfile_commit(&o, &e), COV_EEXIST,
                      "late.h5 was created by another program; use -f to replace it");
    check_text("late.h5", "theirs");
    begin(&o, "late.h5", true);
    put_text(o.tmp, "ours");
    assert_ok(cov_outfile_commit(&o, &e));
    check_text("late.h5", "ours");
    take_files("old.h5 late.h5");
}

TEST(names_the_fault)
{
    put_text("file", "");
    assert_int_equal(mkdir("directory", 0777), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    refuse("out/x.h5", false, COV_EIO, "out/x.h5: directory out does not exist");
    refuse("file/x.h5", false, COV_EIO, "file/x.h5: file is not a directory");
    refuse("directory", true, COV_EIO, "directory: is a directory, not a file");
    refuse("new/", true, COV_EUSAGE,
           "new/: the output is an HDF5 file, but a name that ends in '/' is a directory");
    refuse("", true, COV_EIO, "the output has an empty name");
    refuse("/dev/full", true, COV_EIO, "/dev/full: not a regular file, which this format needs");
    refuse("pipe", false, COV_EIO, "pipe: not a regular file, which this format needs");
    refuse("/dev/stdout", true, COV_EIO,
           "/dev/stdout: not a regular file, which this format needs");
    refuse("/proc/x.h5", false, COV_EIO,
           "/proc/x.h5: cannot create a file in directory /proc: No such file or directory");
    if (geteuid() != 0) { /* root may write anywhere */
        assert_int_equal(chmod("directory", 0555), 0);
        refuse("directory/x.h5", false, COV_EIO,
               "directory/x.h5: cannot write to directory directory: Permission denied");
    }

    struct cov_outfile o;
    assert_ok(cov_outfile_begin(&o, "/dev/full", COV_OUTFILE_STREAM, false, &e));
    assert_true(o.in_place);
    assert_string_equal(o.tmp, "/dev/full");
    assert_ok(cov_outfile_commit(&o, &e));
    assert_ok(cov_outfile_begin(&o, "pipe", COV_OUTFILE_STREAM, false, &e));
    assert_true(o.in_place);
    cov_outfile_abort(&o);
    take_files("pipe file directory");
}

TEST(checks_the_suffix)
{
    static const struct {
        const char *path;
        enum cov_outfile_kind kind;
        const char *bad, *use; /* NULL: accepted */
    } names[] = {
        {"a.fa/x.h5", COV_OUTFILE_HDF5, NULL, NULL},
        {"x.HDF5", COV_OUTFILE_HDF5, NULL, NULL},
        {"x.genome", COV_OUTFILE_HDF5, NULL, NULL},
        {"-", COV_OUTFILE_HDF5, NULL, NULL},
        {"x.Fasta", COV_OUTFILE_HDF5, "an HDF5 file, but .fasta", ".h5"},
        {"x.h5.gz", COV_OUTFILE_HDF5, "an HDF5 file, but .gz", ".h5"},
        {"x.tsv", COV_OUTFILE_HDF5, "an HDF5 file, but .tsv", ".h5"},
        {"x.gtf.GZ", COV_OUTFILE_HDF5, "an HDF5 file, but .gtf", ".h5"},
        {"x.st", COV_OUTFILE_STREAM, NULL, NULL},
        {"x.h5", COV_OUTFILE_STREAM, "a chunk stream, but .h5", ".stream"},
        {"x.gz", COV_OUTFILE_STREAM, "a chunk stream, but .gz", ".stream"},
        {"x.tsv.gz", COV_OUTFILE_TABLE, "a table, but .gz", ".tsv"},
        {"x.tsv.gz", COV_OUTFILE_GZ_TABLE, NULL, NULL},
        {"x.json.gz", COV_OUTFILE_JSON, "a JSON file, but .gz", ".json"},
        {"x.bed", COV_OUTFILE_TABLE, "a table, but .bed", ".tsv"},
        {"x", COV_OUTFILE_TABLE, NULL, NULL},
        {"x.h5", COV_OUTFILE_TABLE, "a table, but .h5", ".tsv"},
        {"x.h5.gz", COV_OUTFILE_TABLE, "a table, but .h5", ".tsv"},
        {"x_mqc.json", COV_OUTFILE_JSON, NULL, NULL},
        {"x.bw", COV_OUTFILE_JSON, "a JSON file, but .bw", ".json"},
        {"x.mat.gz", COV_OUTFILE_MATRIX, NULL, NULL},
        {"x.bam", COV_OUTFILE_MATRIX, "a compressed table, but .bam", ".gz"},
        {"x.narrowPeak.gz", COV_OUTFILE_PEAKS, NULL, NULL},
        {"x.svg", COV_OUTFILE_PICTURE, NULL, NULL},
        {"x.bw.svg.gz", COV_OUTFILE_PICTURE, "a picture, but .gz", ".png or .svg"},
        {"x.fna", COV_OUTFILE_FASTA, NULL, NULL},
        {"x.sam", COV_OUTFILE_FASTA, "a FASTA file, but .sam", ".fa"},
        {"x.bam", COV_OUTFILE_SAM, "a SAM file, but .bam", ".sam"},
        {"x.bg.gz", COV_OUTFILE_BEDGRAPH, NULL, NULL},
        {"x.bg", COV_OUTFILE_BIGWIG, "a bigWig file, but .bg", ".bw"},
        {"x.ckpt", COV_OUTFILE_BESIDE, NULL, NULL},
        {"x.bg.gz.tbi", COV_OUTFILE_BESIDE, NULL, NULL},
    };
    for (size_t i = 0; i < COV_COUNT(names); i++) {
        char text[200];
        if (!names[i].bad) {
            assert_ok(cov_outfile_check_name(names[i].path, names[i].kind, &e));
            continue;
        }
        (void)snprintf(text, sizeof text, "%s: the output is %s is another kind; use %s",
                       names[i].path, names[i].bad, names[i].use);
        assert_fails_with(cov_outfile_check_name(names[i].path, names[i].kind, &e), COV_EUSAGE,
                          text);
    }
    put_text("x.bam", "reads");
    refuse("x.bam", true, COV_EUSAGE,
           "x.bam: the output is an HDF5 file, but .bam is another kind; use .h5");
    assert_int_equal(cov_outfile_try("x.bam", COV_OUTFILE_JSON, true, NULL), COV_EUSAGE);
    struct cov_outfile o; /* a file that is updated may have any name */
    assert_ok(cov_outfile_begin_update(&o, "x.bam", false, &e));
    cov_outfile_abort(&o);
    take_files("x.bam");
}

TEST(follows_links)
{
    struct cov_outfile o;
    struct stat st;
    assert_int_equal(mkdir("store", 0777), 0);
    put_text("store/target.h5", "old");
    assert_int_equal(symlink("store/target.h5", "link.h5"), 0);
    refuse("link.h5", false, COV_EEXIST, "link.h5: already exists; use -f to replace it");
    begin(&o, "link.h5", true);
    assert_int_equal(count_files("store"), 2); /* the temporary file is next to the target */
    put_text(o.tmp, "new");
    assert_ok(cov_outfile_commit(&o, &e));
    assert_int_equal(lstat("link.h5", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    check_text("store/target.h5", "new");
    assert_int_equal(count_files("store"), 1);

    assert_int_equal(unlink("store/target.h5"), 0);
    refuse("link.h5", false, COV_EEXIST, "link.h5: already exists; use -f to replace it");
    begin(&o, "link.h5", true);
    put_text(o.tmp, "new");
    assert_ok(cov_outfile_commit(&o, &e));
    assert_int_equal(lstat("link.h5", &st), 0);
    assert_true(S_ISREG(st.st_mode));
    take_files("link.h5 store");
}

TEST(shortens_long_names)
{
    struct cov_outfile o, p;
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    memcpy(name + NAME_MAX - 3, ".h5", 4);
    begin(&o, name, false);
    name[NAME_MAX - 4] = 'm'; /* another output */
    begin(&p, name, false);
    cov_outfile_abort(&p);
    name[NAME_MAX - 4] = 'n';
    assert_ok(cov_outfile_commit(&o, &e));
    assert_int_equal(unlink(name), 0);
}

/* Commits three files that belong together: a new one, one that replaces an existing file, and one
 * that is already closed. */
TEST(commits_all_or_none)
{
    struct cov_outfile a, b, c, none = COV_OUTFILE_INIT;
    struct cov_outfile *const files[] = {&a, &none, &b, &c};
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
        if (late)
            assert_fails_with(cov_outfile_commit_all(files, COV_COUNT(files), &e), COV_EEXIST,
                              "c.h5 was created by another program; use -f to replace it");
        else
            assert_ok(cov_outfile_commit_all(files, COV_COUNT(files), &e));
        check_text("b.h5", late ? "old b" : "new b");
        check_text("c.h5", late ? "theirs" : "new c");
        assert_null(a.path);
        assert_null(c.path);
        take_files(late ? "b.h5 c.h5" : "a.h5 b.h5 c.h5");
    }
}

TEST(has_limit)
{
    enum { MORE = 4200 };
    struct cov_outfile o[MORE];
    struct cov_err e = COV_ERR_INIT;
    int n = 0, code = COV_OK;
    /* Each output has a descriptor, so their limit is raised. */
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < MORE + 100)
        return;
    limit.rlim_cur = 256;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
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
    return cov_outfile_begin(&o, "a.h5", COV_OUTFILE_HDF5, false, NULL) != COV_OK ||
           cov_outfile_begin(&p, "b.h5", COV_OUTFILE_HDF5, false, NULL) != COV_OK ||
           cov_outfile_begin(&q, "c.h5", COV_OUTFILE_HDF5, false, NULL) != COV_OK ||
           cov_outfile_commit(&q, NULL) != COV_OK;
}

TEST(signal_removes)
{
    struct cov_outfile ours;
    begin(&ours, "ours.h5", false);
    terminate_in_child(write_three, NULL);
    assert_int_equal(count_files("."), 2); /* c.h5 and the parent's file */
    assert_int_equal(access(ours.tmp, F_OK), 0);
    cov_outfile_abort(&ours);
    take_files("c.h5");
}

/* A copy does not replace its source if another program has replaced or changed the source. */
TEST(keeps_changes_of_other_programs)
{
    for (int replaced = 0; replaced < 2; replaced++) {
        struct cov_outfile o;
        put_text("g.h5", "old");
        begin(&o, "g.h5", true);
        assert_ok(cov_outfile_copy(&o, "g.h5", NULL, &e));
        if (replaced) {
            put_text("other.h5", "theirs");
            assert_int_equal(rename("other.h5", "g.h5"), 0);
        } else {
            const struct timespec times[2] = {{1000, 0}, {1000, 1}};
            put_text("g.h5", "theirs");
            assert_int_equal(utimensat(AT_FDCWD, "g.h5", times, 0), 0);
        }
        assert_fails_with(cov_outfile_commit(&o, &e), COV_EEXIST,
                          "g.h5 was changed by another program; run again");
        check_text("g.h5", "theirs");
        take_files("g.h5");
    }
}

TEST(copies)
{
    struct cov_outfile o;
    struct stat st;
    char bytes[200000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * i >> 3);
    put_bytes("from", bytes, sizeof bytes);
    assert_int_equal(chmod("from", 0440), 0);
    assert_ok(cov_outfile_begin(&o, "to", COV_OUTFILE_HDF5, false, &e));
    assert_fails(cov_outfile_copy(&o, "nowhere", NULL, &e), COV_EIO, "nowhere");
    assert_ok(cov_outfile_copy(&o, "from", NULL, &e));
    assert_ok(cov_outfile_commit(&o, &e));
    assert_int_equal(stat("to", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    check_same_files("to", "from");
    take_files("from to");
}

/* ---- several runs ---- */

#define WRITING "a.h5: another run is writing it"

static int begin_held(void *arg)
{
    struct cov_outfile o;
    struct cov_err e = COV_ERR_INIT;
    return cov_outfile_begin(&o, "a.h5", COV_OUTFILE_HDF5, true, &e) != COV_EEXIST ||
           strcmp(e.text, WRITING) != 0;
}

/* The second run fails at once, even with force, and the first is not disturbed. */
TEST(one_run_writes)
{
    struct cov_outfile o;
    begin(&o, "a.h5", false);
    check_in_child(begin_held, NULL);
    refuse("a.h5", true, COV_EEXIST, WRITING);
    refuse("a.h5", false, COV_EEXIST, WRITING);
    put_text(o.tmp, "first");
    assert_ok(cov_outfile_commit(&o, &e));
    check_text("a.h5", "first");
    begin(&o, "a.h5", true); /* the lock is free */
    cov_outfile_abort(&o);
    take_files("a.h5");
}

static int begin_and_die(void *arg)
{
    struct cov_outfile o;
    if (cov_outfile_begin(&o, "a.h5", COV_OUTFILE_HDF5, true, NULL) != COV_OK)
        return -1;
    FILE *f = fopen(o.tmp, "w");
    if (!f || fputs("unfinished", f) < 0)
        return -1;
    _exit(0); /* as after SIGKILL: removes nothing */
}

/* A run removes what a killed run left; another link to that file keeps its contents. */
TEST(removes_files_of_killed_runs)
{
    struct cov_outfile o;
    check_in_child(begin_and_die, NULL);
    assert_int_equal(count_files("."), 1);
    begin(&o, "a.h5", false);
    assert_int_equal(count_files("."), 1);
    check_text(o.tmp, "");
    cov_outfile_abort(&o);
    put_text("mine", "kept");
    assert_int_equal(link("mine", ".a.covtools.tmp.h5"), 0);
    begin(&o, "a.h5", false);
    put_text(o.tmp, "new");
    assert_ok(cov_outfile_commit(&o, &e));
    check_text("a.h5", "new");
    check_text("mine", "kept");
    take_files("a.h5 mine");
}

/* A check succeeds while the output is being written, and changes nothing. */
TEST(tries)
{
    struct cov_outfile o;
    begin(&o, "a.h5", false);
    assert_ok(cov_outfile_try("a.h5", COV_OUTFILE_HDF5, false, &e));
    assert_int_equal(count_files("."), 1);
    assert_ok(cov_outfile_commit(&o, &e));
    assert_int_equal(cov_outfile_try("a.h5", COV_OUTFILE_HDF5, false, NULL), COV_EEXIST);
    assert_ok(cov_outfile_try("a.h5", COV_OUTFILE_HDF5, true, &e));
    take_files("a.h5");
}

/* Children that begin at the same time, with the file of a killed run in the way: one of them wins.
 * It writes, and keeps the file until all others have ended. */
TEST(one_of_many_wins)
{
    enum { ROUNDS = 50, CHILDREN = 8 };
    for (int round = 0; round < ROUNDS; round++) {
        pid_t children[CHILDREN];
        int start[2], end[2], n_winners = 0, status;
        put_text(".a.covtools.tmp.h5", "old");
        assert_int_equal(pipe(start), 0);
        assert_int_equal(pipe(end), 0);
        for (int i = 0; i < CHILDREN; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                struct cov_outfile o;
                struct cov_err e = COV_ERR_INIT;
                char c;
                (void)close(start[1]);
                (void)close(end[1]);
                if (read(start[0], &c, 1) != 0)
                    _exit(3);
                int rc = cov_outfile_begin(&o, "a.h5", COV_OUTFILE_HDF5, false, &e);
                if (rc != COV_OK)
                    _exit(rc == COV_EEXIST && strcmp(e.text, WRITING) == 0 ? 1 : 2);
                if (read(end[0], &c, 1) != 0 || cov_outfile_commit(&o, &e) != COV_OK)
                    _exit(4);
                _exit(0);
            }
        }
        assert_int_equal(close(start[1]), 0); /* go */
        for (int left = CHILDREN; left > 0; left--) {
            if (left == 1)
                (void)close(end[1]);
            assert_true(waitpid(-1, &status, 0) > 0);
            assert_true(WIFEXITED(status));
            assert_in_range(WEXITSTATUS(status), 0, 1);
            n_winners += WEXITSTATUS(status) == 0;
        }
        assert_int_equal(n_winners, 1);
        assert_int_equal(close(start[0]), 0);
        assert_int_equal(close(end[0]), 0);
        take_files("a.h5");
    }
}

/* Files without locks, as on some network file systems: both runs write, and the later one fails. */
static bool no_locks, fails_to_lock;

/* Replaces the function of the library. */
enum cov_lock_result cov_lock(int fd)
{
    enum cov_lock_result (*original)(int) = NULL;
    void *symbol = dlsym(RTLD_NEXT, "cov_lock");
    memcpy(&original, &symbol, sizeof original);
    errno = EIO;
    return no_locks ? COV_LOCK_UNSUPPORTED : fails_to_lock ? COV_LOCK_FAILED : original(fd);
}

TEST(works_without_locks)
{
    struct cov_outfile o, p;
    no_locks = true;
    put_text(".a.covtools.tmp.h5", "another machine is writing it");
    begin(&o, "a.h5", false);
    begin(&p, "a.h5", false);
    assert_string_not_equal(o.hidden, p.hidden);
    put_text(o.tmp, "first");
    put_text(p.tmp, "second");
    assert_ok(cov_outfile_commit(&o, &e));
    assert_fails_with(cov_outfile_commit(&p, &e), COV_EEXIST,
                      "a.h5 was created by another program; use -f to replace it");
    check_text("a.h5", "first");
    no_locks = false;
    take_files(".a.covtools.tmp.h5 a.h5");
}

/* The files of killed runs on this machine are removed, those of running ones and of other outputs stay. */
TEST(removes_files_of_dead_runs_without_locks)
{
    struct cov_outfile o, other;
    char name[256], mine[256];
    no_locks = true;
    pid_t child = fork();
    if (child == 0) {
        begin(&o, "a.h5", false);
        begin(&other, "b.h5", false);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(count_files("."), 2);
    begin(&o, "a.h5", false);
    (void)snprintf(mine, sizeof mine, "%s", o.hidden);
    begin(&other, "a.h5", false);
    assert_int_equal(access(mine, F_OK), 0);
    assert_int_equal(count_files("."), 3);
    /* One on another machine, whose process ids say nothing here. */
    (void)snprintf(name, sizeof name, "%s", o.hidden);
    char *host = strstr(name, ".covtools-") + strlen(".covtools-");
    *host = *host == '0' ? '1' : '0';
    char *pid = strchr(host, '-') + 1;
    (void)snprintf(pid, 64, "%ld-0.tmp.h5", (long)child);
    put_text(name, "");
    cov_outfile_abort(&o);
    cov_outfile_abort(&other);
    begin(&o, "b.h5", false);
    cov_outfile_abort(&o);
    take_files(name);
    no_locks = false;
}

/* An error is not the lack of locks. */
TEST(reports_an_error_of_a_lock)
{
    struct cov_outfile o;
    fails_to_lock = true;
    assert_fails_with(cov_outfile_begin(&o, "a.h5", COV_OUTFILE_HDF5, false, &e), COV_EIO,
                      "a.h5: cannot lock its temporary file: Input/output error");
    fails_to_lock = false;
    assert_int_equal(count_files("."), 0);
}

/* ---- other users of the directory ---- */

/* Another user puts a link or another file in place of the temporary file: neither is written, and
 * the commit refuses. */
TEST(cannot_be_redirected)
{
    for (int with_link = 0; with_link < 2; with_link++)
        for (int force = 0; force < 2; force++) {
            struct cov_outfile o;
            put_text("victim", "untouched");
            begin(&o, "a.h5", force);
            assert_int_equal(unlink(o.hidden), 0);
            if (with_link)
                assert_int_equal(symlink("victim", o.hidden), 0);
            else
                put_text(o.hidden, "planted");
            put_text(o.tmp, "secret");
            check_text("victim", "untouched");
            assert_fails_with(cov_outfile_commit(&o, &e), COV_EEXIST,
                              "a.h5: another program replaced its temporary file "
                              "./.a.covtools.tmp.h5");
            take_files(".a.covtools.tmp.h5 victim"); /* the first one is not ours */
        }
}

/* What another user put in the way is neither written nor followed. */
TEST(refuses_planted_names)
{
    put_text("victim", "untouched");
    assert_int_equal(symlink("victim", ".a.covtools.tmp.h5"), 0);
    refuse("a.h5", true, COV_EIO,
           "a.h5: temporary file ./.a.covtools.tmp.h5 of another run: Too many levels "
           "of symbolic links");
    assert_int_equal(unlink(".a.covtools.tmp.h5"), 0);
    assert_int_equal(mkfifo(".a.covtools.tmp.h5", 0666), 0);
    refuse("a.h5", true, COV_EIO, "a.h5: ./.a.covtools.tmp.h5 is not a regular file; remove it");
    assert_int_equal(unlink(".a.covtools.tmp.h5"), 0);
    check_text("victim", "untouched");

    /* A link at the name of an index or a checkpoint is replaced. */
    struct cov_outfile o;
    assert_int_equal(symlink("victim", "last.ckpt"), 0);
    assert_fails_with(cov_outfile_begin(&o, "last.ckpt", COV_OUTFILE_BESIDE, false, &e), COV_EEXIST,
                      "last.ckpt: already exists; use -f to replace it");
    assert_ok(cov_outfile_begin(&o, "last.ckpt", COV_OUTFILE_BESIDE, true, &e));
    put_text(o.tmp, "new");
    assert_ok(cov_outfile_commit(&o, &e));
    check_text("victim", "untouched");
    check_text("last.ckpt", "new");
    take_files("last.ckpt victim");
}

TEST_GROUP(enter_dir, leave_dir)
