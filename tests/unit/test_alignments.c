/* test_alignments.c - disk read errors, which must not be reported as truncation. bam2h5.t tests
 * the contents.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include <errno.h>
#include <htslib/sam.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/base/err.h"
#include "common/features/alignments.h"

enum { READS = 40000 };

/* Reads of regular files fail with EIO after this many bytes. */
static _Atomic(long) bytes_left = -1; /* negative: no limit */

/* Replaces the C library's function, for htslib too. glibc's parameters have underscores.
 * NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
ssize_t read(int fd, void *buf, size_t n)
{
    struct stat st;
    if (bytes_left < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
        return syscall(SYS_read, fd, buf, n);
    if (bytes_left == 0) {
        errno = EIO;
        return -1;
    }
    ssize_t got = syscall(SYS_read, fd, buf, n < (size_t)bytes_left ? n : (size_t)bytes_left);
    bytes_left -= got > 0 ? got : 0;
    return got;
}

static void convert(const char *to, const char *mode)
{
    htsFile *in = hts_open("a.sam", "r"), *out = hts_open(to, mode);
    assert_true(in && out);
    assert_int_equal(mode[1] == 'c' ? hts_set_opt(out, CRAM_OPT_NO_REF, 1) : 0, 0);
    sam_hdr_t *header = sam_hdr_read(in);
    bam1_t *read = bam_init1();
    assert_int_equal(sam_hdr_write(out, header), 0);
    while (sam_read1(in, header, read) >= 0)
        assert_true(sam_write1(out, header, read) >= 0);
    bam_destroy1(read);
    sam_hdr_destroy(header);
    assert_int_equal(hts_close(in), 0);
    assert_int_equal(hts_close(out), 0);
}

static int make_files(void **state)
{
    if (enter_dir(state))
        return -1;
    FILE *f = fopen("a.sam", "w");
    if (!f)
        return -1;
    (void)fprintf(f, "@HD\tVN:1.6\n@SQ\tSN:chr1\tLN:1000000\n");
    for (int i = 0; i < READS; i++)
        (void)fprintf(f, "r%d\t0\tchr1\t%d\t%d\t4M\t*\t0\t0\tACGT\tIIII\n", i, i * 7 % 997 + 1,
                      i % 60);
    if (fclose(f))
        return -1;
    convert("a.bam", "wb");
    convert("a.cram", "wc");
    return 0;
}

/* Reads a file of which only `bytes` bytes can be read (negative: all). Returns the status and sets
 * *n to the number of alignments. */
static int read_file(const char *path, unsigned n_threads, long bytes, int64_t *n,
                     struct cov_err *e)
{
    struct cov_alignments *a = NULL;
    struct cov_read read;
    struct cov_alignments_options options = {.n_threads = n_threads};
    *n = 0;
    bytes_left = bytes;
    int rc = cov_alignments_open(path, &options, &a, e);
    while (rc == COV_OK && (rc = cov_alignments_next(a, &read, e)) == 1) {
        rc = COV_OK;
        (*n)++;
        if (*n > READS)
            break;
    }
    bytes_left = -1;
    cov_alignments_close(a);
    return rc;
}

static const char *const paths[] = {"a.sam", "a.bam", "a.cram"};

TEST(reports_read_errors)
{
    for (size_t i = 0; i < COV_COUNT(paths); i++)
        for (unsigned n_threads = 1; n_threads <= 3; n_threads += 2) {
            struct stat st;
            int64_t n;
            char text[64];
            assert_int_equal(stat(paths[i], &st), 0);
            (void)snprintf(text, sizeof text, "%s: %s", paths[i], strerror(EIO));
            assert_fails_with(read_file(paths[i], n_threads, st.st_size * 2 / 3, &n, &e), COV_EIO,
                              text);
            assert_true(n < READS);
            assert_fails_with(read_file(paths[i], n_threads, 0, &n, &e), COV_EIO, text);
        }
}

TEST(reads_whole_files)
{
    for (size_t i = 0; i < COV_COUNT(paths); i++) {
        int64_t n;
        assert_int_equal(read_file(paths[i], 3, -1, &n, NULL), 0);
        assert_int_equal(n, READS);
    }
}

/* The files are truncated where reading failed above, so they count as damaged. */
TEST(reports_truncated_files)
{
    for (size_t i = 1; i < COV_COUNT(paths); i++) {
        struct stat st;
        int64_t n;
        assert_int_equal(stat(paths[i], &st), 0);
        assert_int_equal(truncate(paths[i], st.st_size * 2 / 3), 0);
        assert_fails(read_file(paths[i], 1, -1, &n, &e), COV_EINPUT, "truncated");
    }
}

/* Writes b.bam, with a record of these contigs. */
static void write_bam(int contig, int mate_contig)
{
    htsFile *in = hts_open("a.sam", "r"), *out = hts_open("b.bam", "wb");
    sam_hdr_t *header = sam_hdr_read(in);
    bam1_t *read = bam_init1();
    assert_non_null(out);
    assert_true(sam_hdr_write(out, header) == 0 && sam_read1(in, header, read) >= 0);
    read->core.tid = contig;
    read->core.mtid = mate_contig;
    assert_true(bam_write1(out->fp.bgzf, read) >= 0);
    bam_destroy1(read);
    sam_hdr_destroy(header);
    assert_int_equal(hts_close(in), 0);
    assert_int_equal(hts_close(out), 0);
}

TEST(reports_contigs_that_the_header_lacks)
{
    static const int wrong[][2] = {{1, -1}, {-2, -1}, {0, 1}, {0, -2}};
    int64_t n;
    for (size_t i = 0; i < COV_COUNT(wrong); i++) {
        write_bam(wrong[i][0], wrong[i][1]);
        assert_fails_in(read_file("b.bam", 1, -1, &n, &e), COV_EINPUT, "b.bam: ", "damaged");
    }
    write_bam(0, 0);
    assert_ok(read_file("b.bam", 1, -1, &n, &e));
}

/* A CRAM file that htslib rejects. */
TEST(reports_damaged_files)
{
    int64_t n;
    assert_int_equal(truncate("a.cram", 20), 0);
    assert_fails_with(read_file("a.cram", 1, -1, &n, &e), COV_EINPUT,
                      "a.cram: damaged or truncated (a CRAM file)");
}

TEST_GROUP(make_files, leave_dir)
