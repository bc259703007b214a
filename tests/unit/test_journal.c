/* test_journal.c - pieces of a run are returned complete or not at all; one process at a time.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/base/progress.h"
#include "common/chunk/journal.h"
#include "common/input/run_journal.h"
#include "tests/lib/own_child.h"
#include "tests/lib/own_dir.h"
#include "tests/lib/own_log.h"

enum { N = 20 };
static const char head[] = "version\t1\ninput\tx\n";

/* Fills the blobs of piece i with a few pieces of a few bytes, or with none. */
static void fill(size_t i, struct cov_blob blobs[2])
{
    for (size_t b = 0; b < 2; b++) {
        cov_blob_clear(&blobs[b]);
        for (size_t k = 0; k < (i + b) % 3; k++) {
            uint8_t *at;
            size_t n = 37 * i * (k + b) % 500;
            assert_ok(cov_blob_room(&blobs[b], n, &at, &e));
            for (size_t t = 0; t < n; t++)
                at[t] = (uint8_t)(i * 31 + b * 7 + k + t);
            assert_ok(cov_blob_end_piece(&blobs[b], n, &e));
        }
    }
}

/* The blobs of a piece, which the tests use again. */
static struct cov_blob got[2] = {COV_BLOB_INIT, COV_BLOB_INIT},
                       wanted[2] = {COV_BLOB_INIT, COV_BLOB_INIT};

static void expect(struct cov_journal *j, size_t i)
{
    fill(i, wanted);
    assert_ok(cov_journal_read(j, i, got, &e));
    for (size_t b = 0; b < 2; b++) {
        assert_int_equal(got[b].n_pieces, wanted[b].n_pieces);
        assert_int_equal(got[b].n_bytes, wanted[b].n_bytes);
        for (size_t k = 0; k < got[b].n_pieces; k++)
            assert_int_equal(got[b].ends[k], wanted[b].ends[k]);
        if (got[b].n_bytes)
            assert_memory_equal(got[b].data, wanted[b].data, got[b].n_bytes);
    }
}

static void put(struct cov_journal *j, size_t i)
{
    fill(i, wanted);
    assert_ok(cov_journal_append(j, i, wanted, &e));
}

/* What the journal calls to write: at most `most` bytes a call, and each other call is interrupted. */
static size_t most = SIZE_MAX;
static unsigned n_calls;

ssize_t short_pwrite(int fd, const void *from, size_t n, off_t at) __asm__("pwrite64");
ssize_t short_pwrite(int fd, const void *from, size_t n, off_t at)
{
    if (most < SIZE_MAX && ++n_calls % 2) {
        errno = EINTR;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, from, n < most ? n : most, at);
}

/* What the journal calls to drop a torn piece. */
static bool cannot_truncate;

int failing_ftruncate(int fd, off_t size) __asm__("ftruncate64");
int failing_ftruncate(int fd, off_t size)
{
    if (!cannot_truncate)
        return (int)syscall(SYS_ftruncate, fd, size);
    errno = EIO;
    return -1;
}

static struct cov_journal *reopen(const char *path)
{
    struct cov_journal *j;
    bool damaged;
    assert_ok(cov_journal_open(path, &j, &e));
    const char *text = cov_journal_head(j, &damaged);
    assert_non_null(text);
    assert_string_equal(text, head);
    assert_false(damaged);
    assert_ok(cov_journal_scan(j, N, NULL, NULL, &e));
    return j;
}

static long size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

/* Writes the pieces N-1, N-2, ..., 1, but not 0. */
static void make(const char *path)
{
    struct cov_journal *j;
    bool damaged;
    (void)unlink(path);
    assert_ok(cov_journal_open(path, &j, &e));
    assert_null(cov_journal_head(j, &damaged));
    assert_false(damaged);
    assert_ok(cov_journal_begin(j, head, &e));
    assert_ok(cov_journal_scan(j, N, NULL, NULL, &e));
    for (size_t i = N; i-- > 1;)
        put(j, i);
    assert_int_equal(cov_journal_n_pieces(j), N - 1);
    cov_journal_close(j);
}

/* Also if the kernel writes only a part of what it gets. */
TEST(test_pieces)
{
    static const size_t sizes[] = {SIZE_MAX, 1, 7, 100};
    for (size_t k = 0; k < COV_COUNT(sizes); k++) {
        most = sizes[k];
        n_calls = 0;
        make("a");
        assert_true(k == 0 || n_calls > 40);
        most = SIZE_MAX;
        struct cov_journal *j = reopen("a");
        assert_int_equal(cov_journal_n_pieces(j), N - 1);
        assert_false(cov_journal_has(j, 0));
        for (size_t i = 1; i < N; i++) {
            assert_true(cov_journal_has(j, i));
            expect(j, i);
        }
        put(j, 0);
        expect(j, 0);
        assert_ok(cov_journal_remove(j, &e));
        assert_int_equal(size_of("a"), -1);
    }
}

TEST(test_empty)
{
    struct cov_journal *j;
    assert_ok(cov_journal_open("e", &j, &e));
    assert_int_equal(size_of("e"), 0);
    cov_journal_close(j);
    assert_int_equal(size_of("e"), -1);
    assert_ok(cov_journal_open("e", &j, &e));
    assert_ok(cov_journal_begin(j, head, &e));
    assert_ok(cov_journal_scan(j, 0, NULL, NULL, &e));
    cov_journal_close(j);
    assert_int_equal(size_of("e"), -1);
    cov_journal_close(NULL);
}

/* After truncation anywhere, complete pieces remain, and more pieces can be appended. */
TEST(test_cut)
{
    make("c");
    long size = size_of("c");
    for (long n = size; n >= 0; n -= n > 300 ? 61 : 1) {
        bool damaged;
        struct cov_journal *j;
        assert_int_equal(truncate("c", n), 0);
        assert_ok(cov_journal_open("c", &j, &e));
        if (!cov_journal_head(j, &damaged)) {
            assert_false(damaged);
            assert_true(n < 32 + (long)strlen(head));
            assert_ok(cov_journal_begin(j, head, &e));
        }
        assert_ok(cov_journal_scan(j, N, NULL, NULL, &e));
        size_t k = N - 1;
        for (; cov_journal_has(j, k); k--)
            expect(j, k);
        assert_int_equal(cov_journal_n_pieces(j), N - 1 - k);
        assert_true(size_of("c") <= n || n < 32 + (long)strlen(head));
        put(j, k);
        expect(j, k);
        cov_journal_close(j);
        make("c");
    }
}

/* A torn piece that cannot be dropped would hide those after it. */
TEST(test_cannot_truncate)
{
    struct cov_journal *j;
    make("z");
    assert_int_equal(truncate("z", size_of("z") - 1), 0);
    assert_ok(cov_journal_open("z", &j, &e));
    cannot_truncate = true;
    assert_fails(cov_journal_scan(j, N, NULL, NULL, &e), COV_EIO, "z: cannot be truncated: ");
    cannot_truncate = false;
    assert_ok(cov_journal_scan(j, N, NULL, NULL, &e));
    assert_int_equal(cov_journal_n_pieces(j), N - 2);
    cannot_truncate = true;
    assert_fails(cov_journal_begin(j, head, &e), COV_EIO, "z: cannot be truncated: ");
    cannot_truncate = false;
    assert_ok(cov_journal_remove(j, &e));
}

/* Whichever byte changes, only pieces that were appended are returned. */
TEST(test_damage)
{
    make("d");
    long size = size_of("d"), first = 32 + (long)strlen(head);
    for (long at = 0; at < size; at += at < first + 200 ? 1 : 97) {
        struct cov_journal *j;
        bool damaged;
        FILE *f = must(fopen("d", "r+b"));
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        int byte = fgetc(f);
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        assert_int_equal(fputc(byte ^ 4, f), byte ^ 4);
        assert_int_equal(fclose(f), 0);
        logged.n_warnings = 0;
        if (at < 16) { /* taken for another kind of file and kept */
            assert_fails(cov_journal_open("d", &j, &e), COV_EINPUT, "is not a journal");
            assert_int_equal(size_of("d"), size);
        } else if (at < first) {
            assert_ok(cov_journal_open("d", &j, &e));
            /* If the length of the head is changed, the head may look truncated. */
            assert_null(cov_journal_head(j, &damaged));
            assert_true(damaged || (at >= 20 && at < 24));
            cov_journal_close(j);
        } else {
            assert_ok(cov_journal_open("d", &j, &e));
            assert_ok(cov_journal_scan(j, N, NULL, NULL, &e));
            assert_int_equal(logged.n_warnings, 1);
            assert_in_range(cov_journal_n_pieces(j), 0, N - 2);
            for (size_t i = 0; i < N; i++)
                if (cov_journal_has(j, i))
                    expect(j, i);
            cov_journal_close(j);
        }
        make("d");
    }
}

TEST(test_damaged_later)
{
    make("l");
    struct cov_journal *j = reopen("l");
    assert_int_equal(truncate("l", size_of("l") - 1), 0);
    expect(j, 2);
    assert_fails(cov_journal_read(j, 1, got, &e), COV_EINPUT, "l: piece 1 ");
    cov_journal_close(j);
}

/* A piece is ignored if its number is too large for the run. */
TEST(test_other_number)
{
    make("o");
    struct cov_journal *j;
    assert_ok(cov_journal_open("o", &j, &e));
    assert_ok(cov_journal_scan(j, 5, NULL, NULL, &e));
    assert_int_equal(cov_journal_n_pieces(j), 0);
    cov_journal_close(j);
}

static bool has_two_pieces(const void *arg, size_t piece, const struct cov_blob blobs[2])
{
    return blobs[0].n_pieces == 2;
}

/* A piece with the right checksum is damaged if its blobs cannot be those of the run. */
TEST(test_unfit)
{
    make("u");
    struct cov_journal *j;
    assert_ok(cov_journal_open("u", &j, &e));
    assert_ok(cov_journal_begin(j, head, &e));
    assert_ok(cov_journal_scan(j, N, has_two_pieces, NULL, &e));
    put(j, 2); /* has two pieces */
    put(j, 5);
    put(j, 3); /* has none */
    put(j, 8);
    assert_int_equal(cov_journal_read(j, 3, got, NULL), COV_EINPUT);
    assert_ok(cov_journal_scan(j, N, has_two_pieces, NULL, &e));
    assert_int_equal(cov_journal_n_pieces(j), 2);
    assert_false(cov_journal_has(j, 3) || cov_journal_has(j, 8));
    assert_ok(cov_journal_read(j, 5, got, &e));
    cov_journal_close(j);
}

static int find_locked(void *arg)
{
    struct cov_journal *j;
    return cov_journal_open("k", &j, NULL) == COV_EEXIST ? 0 : -1;
}

TEST(test_lock)
{
    make("k");
    struct cov_journal *j = reopen("k"), *other;
    assert_fails(cov_journal_open("k", &other, &e), COV_EEXIST, "another run");
    assert_null(other);
    check_in_child(find_locked, NULL);
    cov_journal_close(j);
    j = reopen("k");
    assert_int_equal(cov_journal_n_pieces(j), N - 1);
    cov_journal_close(j);
}

TEST(test_full_disk)
{
    make("f");
    long size = size_of("f");
    struct cov_journal *j = reopen("f");
    fill(19, wanted);
    limit_files((rlim_t)size + 100);
    assert_fails(cov_journal_append(j, 0, wanted, &e), COV_EIO, "f: cannot be written");
    limit_files(RLIM_INFINITY);
    assert_int_equal(size_of("f"), size);
    assert_false(cov_journal_has(j, 0));
    put(j, 0);
    expect(j, 0);
    cov_journal_close(j);
}

/* The journal of a finished run has another head and one piece; on a full disk the old one stays. */
TEST(test_finish)
{
    bool damaged;
    make("f");
    const int n_files = count_files(".");
    long size = size_of("f");
    struct cov_journal *j = reopen("f");
    limit_files(20);
    assert_int_equal(cov_journal_finish(j, head, NULL), COV_EIO);
    limit_files(RLIM_INFINITY);
    assert_int_equal(size_of("f"), size);
    j = reopen("f");
    assert_int_equal(cov_journal_n_pieces(j), N - 1);
    assert_ok(cov_journal_finish(j, "finished\n", &e));
    assert_ok(cov_journal_open("f", &j, &e));
    assert_string_equal(cov_journal_head(j, &damaged), "finished\n");
    assert_ok(cov_journal_scan(j, 1, NULL, NULL, &e));
    assert_int_equal(cov_journal_n_pieces(j), 1);
    assert_int_equal(count_files("."), n_files);
    assert_ok(cov_journal_remove(j, &e));
}

TEST(finishes_without_pieces)
{
    struct cov_journal *j;
    assert_ok(cov_journal_open("f", &j, &e));
    assert_ok(cov_journal_begin(j, head, &e));
    assert_ok(cov_journal_scan(j, 0, NULL, NULL, &e));
    assert_ok(cov_journal_finish(j, "finished\n", &e));
    assert_ok(cov_journal_open("f", &j, &e));
    assert_ok(cov_journal_remove(j, &e));
}

/* A value of up to 1000 bytes is kept as it is; a line that a run lacks is named in the message. */
TEST(compares_runs)
{
    struct cov_run_lines one = {0}, two = {0};
    struct cov_journal *j;
    char value[1001], line[1100];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    assert_ok(cov_run_lines_add(&one, "--bases", value, NULL, &e));
    (void)snprintf(line, sizeof line, "--bases\t%s\n", value);
    assert_string_equal(one.data, line);
    assert_ok(cov_run_lines_add(&two, "--bases", value, NULL, &e));
    assert_ok(cov_run_lines_add(&two, "--more", "1", NULL, &e));
    assert_ok(cov_journal_open("r", &j, &e));
    assert_ok(cov_run_journal_start(j, &two, false, &e));
    assert_ok(cov_journal_scan(j, 1, NULL, NULL, &e));
    put(j, 0);
    cov_journal_close(j);
    assert_ok(cov_journal_open("r", &j, &e));
    assert_fails(cov_run_journal_start(j, &one, false, &e), COV_EEXIST,
                 "r: journal of a run with different --more: 1, now ; use the same to resume");
    assert_ok(cov_journal_remove(j, &e));
    cov_run_lines_fini(&one);
    cov_run_lines_fini(&two);
}

TEST(test_no_directory)
{
    struct cov_journal *j;
    assert_fails(cov_journal_open("absent/x", &j, &e), COV_EIO, "absent/x");
    assert_int_equal(cov_journal_open("/dev/null", &j, NULL), COV_EINPUT);
}

static int enter(void **state)
{
    start_log(COV_LOG_WARNING);
    return enter_dir(state);
}

/* A number that is not of the run, because its input grew, is not written past the array. */
TEST(rejects_pieces_of_a_larger_run)
{
    struct cov_journal *j;
    assert_ok(cov_journal_open("grown.resume", &j, &e));
    assert_ok(cov_journal_begin(j, head, &e));
    assert_ok(cov_journal_scan(j, 3, NULL, NULL, &e));
    put(j, 2);
    assert_false(cov_journal_has(j, 3));
    assert_false(cov_journal_has(j, SIZE_MAX));
    assert_fails(cov_journal_append(j, 3, wanted, &e), COV_EINPUT,
                 "piece 4 of 3: the input changed during the run");
    assert_int_equal(cov_journal_read(j, 3, got, NULL), COV_EINPUT);
    assert_int_equal(cov_journal_n_pieces(j), 1);
    assert_ok(cov_journal_remove(j, &e));
}

/* The third run learns of the two before it, also when the head is written anew. */
TEST(test_times)
{
    struct cov_journal *j;
    make("t");
    j = reopen("t");
    struct cov_journal_times t = cov_journal_earlier(j);
    assert_int_equal(t.n_runs, 1);
    assert_true(t.wall_seconds >= 0 && t.wall_seconds < 100 && t.cpu_seconds > 0);
    cov_journal_set_start(j, cov_clock() - 1000);
    put(j, 0);
    cov_journal_close(j);
    j = reopen("t");
    t = cov_journal_earlier(j);
    assert_int_equal(t.n_runs, 2);
    assert_true(t.wall_seconds >= 1000 && t.wall_seconds < 1200);
    assert_ok(cov_journal_begin(j, head, &e));
    assert_ok(cov_journal_scan(j, N, NULL, NULL, &e));
    put(j, 1);
    cov_journal_close(j);
    j = reopen("t");
    t = cov_journal_earlier(j);
    assert_int_equal(t.n_runs, 3);
    assert_true(t.wall_seconds >= 1000);
    assert_ok(cov_journal_remove(j, &e));
    make("t"); /* another journal */
    j = reopen("t");
    assert_int_equal(cov_journal_earlier(j).n_runs, 1);
    assert_ok(cov_journal_remove(j, &e));
}

TEST_GROUP(enter, leave_dir)
