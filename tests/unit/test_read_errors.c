/* test_read_errors.c - one read of an HDF5 file fails: no dataset may seem absent, and no output may
 * lack one.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "common/chunk/bases.h"
#include "common/chunk/coverage_file.h"
#include "common/h5/h5.h"
#include "common/job/chunks/chunk_jobs.h"
#include "common/seq/alphabet.h"
#include "tests/lib/genome_io.h"
#include "tests/lib/make_grid.h"

enum { L = 10 };

/* libhdf5 reads files with pread. The call number `fails_at` of this process fails (0: none); the
 * child that probes the file reads without errors. */
static size_t n_reads, fails_at;
static pid_t parent;

ssize_t failing_pread(int fd, void *to, size_t n, off_t at) __asm__("pread");
ssize_t failing_pread(int fd, void *to, size_t n, off_t at)
{
    if (getpid() == parent && ++n_reads == fails_at) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, to, n, at);
}

static void count_from(size_t fault)
{
    parent = getpid();
    n_reads = 0;
    fails_at = fault;
}

/* A file with all that is optional: one-hot or packed bases, coverage, its spliced twin and the names
 * of its columns, fingerprints of bases, and the sequences of a partial file. */
static void make_file(const char *path, enum cov_layout layout)
{
    static const char *const bams[] = {"a.bam"};
    static const size_t rows[] = {0, 7};
    static char names[][40] = {COV_BASES_FINGERPRINT_SET, "evaluation/x_coverage",
                               "evaluation/x_spliced_coverage"};
    uint8_t fill[8] = {0xff, 0xff}, codes[L], elems[2 * L];
    count_from(0);
    const struct cov_chunk_writer_options o = {layout, {COV_CODEC_GZIP, 0}, 1};
    struct cov_chunk_head head = {.L = L, .has_bases = true};
    const struct cov_h5_type shorts = {.kind = COV_H5_INT, .bytes = 2, .is_signed = true};
    const struct cov_chunk_set hash = {names[0], {.kind = COV_H5_INT, .bytes = 8}, 1, {1, 1}, fill};
    assert_ok(cov_chunk_head_add_set(&head, &hash, &e));
    for (size_t k = 1; k < 3; k++) {
        const struct cov_chunk_set set = {names[k], shorts, 3, {L, 1}, fill};
        assert_ok(cov_chunk_head_add_set(&head, &set, &e));
    }
    assert_ok(cov_chunk_head_add_texts(&head, "evaluation/x_meta/bam_files", 8, 1, bams, &e));
    assert_ok(cov_chunk_head_add_attr(&head, names[1], COV_COVERAGE_READS, "5", &e));
    struct cov_grid *all = two_sequences(25, 10, L), *some;
    assert_ok(cov_grid_select(all, rows, 2, &some, &e));
    struct cov_chunk_writer *w;
    const uint8_t *const sets[] = {elems, elems, elems};
    assert_ok(cov_chunk_writer_new(path, &head, &o, &w, &e));
    for (size_t i = 0; i < 2; i++) {
        const struct cov_chunk c = cov_grid_chunk(some, i);
        for (int64_t t = 0; t < L; t++)
            codes[t] = t < c.end - c.beg ? (uint8_t)(1U << t % 4) : COV_CODE_PAD;
        memset(elems, i == 0 ? 7 : 0xff, sizeof elems);
        assert_ok(put_row(w, i, codes, sets, &e));
    }
    assert_ok(cov_chunk_writer_finish(w, some, &e));
    cov_chunk_head_fini(&head);
    cov_grid_free(all);
    cov_grid_free(some);
}

static void check_file(const struct cov_chunk_file *f)
{
    const struct cov_chunk_head *head = cov_chunk_file_head(f);
    const struct cov_grid *grid = cov_chunk_file_grid(f);
    assert_true(head->has_bases);
    assert_int_equal(head->n_sets, 3);
    assert_int_equal(head->n_tables, 1);
    assert_int_equal(cov_grid_n_seqs(grid), 2);
    assert_string_equal(cov_grid_species(grid, 1), "Zea mays");
    assert_non_null(cov_chunk_head_attr(head, "evaluation/x_coverage", COV_COVERAGE_READS));
}

/* Opens the file with each read failing in turn, until all reads succeed. */
TEST(opens_all_or_nothing)
{
    static const enum cov_layout layouts[] = {COV_LAYOUT_ONEHOT, COV_LAYOUT_PACKED};
    for (size_t k = 0; k < COV_COUNT(layouts); k++) {
        size_t n_failed = 0, fault = 0;
        make_file("x.h5", layouts[k]);
        do {
            struct cov_err e = COV_ERR_INIT;
            struct cov_chunk_file *f;
            count_from(++fault);
            int rc = cov_chunk_file_open("x.h5", &f, &e);
            if (rc == COV_OK)
                check_file(f);
            n_failed += rc != COV_OK;
            cov_chunk_file_close(f);
        } while (n_reads >= fault);
        assert_true(n_failed > 5);
    }
}

TEST(reads_coverage_and_fingerprints)
{
    size_t n_failed = 0, fault = 0;
    make_file("x.h5", COV_LAYOUT_ONEHOT);
    do {
        struct cov_err e = COV_ERR_INIT;
        struct cov_coverage_reader *r;
        count_from(++fault);
        int rc = cov_coverage_reader_open("x.h5", "x", &r, &e);
        if (rc == COV_OK) {
            uint64_t *hashes = NULL;
            assert_true(r->sets[COV_COVERAGE] && r->sets[COV_SPLICED]);
            assert_string_equal(r->files[0], "a.bam");
            assert_true(r->reads[0] == 5);
            rc = cov_bases_fingerprints_read(cov_chunk_file_h5(r->file), 2, &hashes, &e);
            assert_int_equal(hashes != NULL, rc == COV_OK);
            free(hashes);
        }
        n_failed += rc != COV_OK;
        cov_coverage_reader_close(r);
    } while (n_reads >= fault);
    assert_true(n_failed > 5);
}

/* Describes the file with each read failing in turn: the text is complete, or there is an error. */
TEST(tells_all_or_nothing)
{
    char path[] = "x.h5", *const paths[] = {path}, *wanted = NULL;
    size_t n_failed = 0, fault = 0;
    make_file(path, COV_LAYOUT_PACKED);
    do {
        struct cov_err e = COV_ERR_INIT;
        FILE *out = begin_text();
        count_from(wanted ? ++fault : 0);
        int rc = cov_chunk_info(paths, 1, true, out, NULL, &e);
        char *text = end_text(out);
        wanted = wanted ? wanted : text;
        n_failed += rc != COV_OK;
        if (rc == COV_OK)
            assert_string_equal(text, wanted);
    } while (n_reads >= fault);
    assert_true(n_failed > 5);
}

/* Repacks the file with each read failing in turn, also those of the new file that is verified. */
TEST(writes_all_or_nothing)
{
    struct cov_stats stats = {0};
    struct cov_rewrite_job job = {.job.stats = &stats, .force = true};
    const struct cov_rewrite_storage as_input = {.chunk_rows = 1};
    size_t n_failed = 0, fault = 0;
    assert_ok(cov_pool_new(1, &job.job.pool, &e));
    make_file("x.h5", COV_LAYOUT_ONEHOT);
    assert_ok(cov_subset("x.h5", "wanted.h5", NULL, &as_input, &job, &e));
    bool failed;
    do {
        struct cov_err e = COV_ERR_INIT;
        count_from(++fault);
        int rc = cov_subset("x.h5", "y.h5", NULL, &as_input, &job, &e);
        failed = n_reads >= fault;
        count_from(0);
        n_failed += rc != COV_OK;
        if (rc == COV_OK)
            check_same_files("y.h5", "wanted.h5");
        assert_int_equal(access("y.h5", F_OK) == 0, rc == COV_OK);
        (void)unlink("y.h5");
    } while (failed);
    assert_true(n_failed > 20);
    cov_pool_free(job.job.pool);
}

static int enter(void **state)
{
    return setenv("SOURCE_DATE_EPOCH", "1700000000", 1) | enter_dir(state);
}

TEST_GROUP(enter, leave_dir)
