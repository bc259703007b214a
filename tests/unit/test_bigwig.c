/* test_bigwig.c - bigWig files, read back with libBigWig.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/bigwig_io.h"

#include <sys/stat.h>

#include "common/base/rng.h"

static const struct cov_bigwig_options alone = {NULL, NULL}, elsewhere = {NULL, "/tmp"};

static void write_file(const struct cov_track_contigs *contigs, const struct expected *x,
                       size_t piece)
{
    assert_ok(put_bigwig("x.bw", contigs, x, false, &alone, piece, &e));
}

static const char *const names[] = {"chr1", "chr10", "chr2", "chr3"};
static const int64_t lengths[] = {UINT32_MAX, 10, 1000, 7};
static const struct cov_track_contigs contigs = {4, names, lengths};

/* Tracks whose maximum libBigWig's writer gets wrong, and tracks without values in some or all
 * contigs. */
TEST(writes_the_summary)
{
    const struct cov_interval constant[] = {{0, 1000, 5}}, zero[] = {{0, 1000, 0}};
    const struct cov_interval falling[] = {{0, 10, 9}, {10, 20, 3.5F}, {20, 1000, 0}};
    const struct cov_interval negative[] = {{0, 10, -9}, {10, 20, -3}, {900, 1000, -20}};
    const struct cov_interval end[] = {{0, 1, 4}, {UINT32_MAX - 1, UINT32_MAX, 3}};
    const struct cov_interval short_one[] = {{0, 7, 2}};
    const struct expected tracks[][4] = {
        {{0}, {0}, {constant, 1}, {0}},
        {{0}, {0}, {zero, 1}, {0}},
        {{0}, {0}, {falling, 3}, {0}},
        {{0}, {0}, {negative, 3}, {0}},
        {{0}, {0}, {0}, {short_one, 1}},
        {{end, 2}, {0}, {falling, 3}, {short_one, 1}},
        {{0}, {0}, {0}, {0}},
    };
    for (size_t i = 0; i < COV_COUNT(tracks); i++)
        for (size_t piece = 1; piece < 4; piece++) {
            write_file(&contigs, tracks[i], piece);
            check_bigwig("x.bw", &contigs, tracks[i]);
        }
}

/* What fits into one node has no further level: the roots of both trees are leaves. */
TEST(has_no_superfluous_levels)
{
    enum { CONTIG_TREE = 8, INDEX = 24, TREE_HEAD = 32, INDEX_HEAD = 48 };
    const struct cov_interval one[] = {{0, 7, 2}};
    const struct expected track[4] = {{0}, {0}, {one, 1}, {one, 1}};
    write_file(&contigs, track, 1);
    const struct bytes b = get_file("x.bw");
    assert_int_equal(number_at(&b, number_at(&b, CONTIG_TREE, 8) + TREE_HEAD, 1), 1);
    assert_int_equal(number_at(&b, number_at(&b, INDEX, 8) + INDEX_HEAD, 1), 1);
}

/* A block holds 1024 intervals. Contigs end just before, at and just after the end of a block. */
TEST(fills_blocks)
{
    enum { N_CONTIGS = 12, PER_BLOCK = 1024, CAP = 3 * PER_BLOCK, DATA = 16 };
    static struct cov_interval iv[N_CONTIGS][CAP];
    static char text[N_CONTIGS][4];
    const char *list[N_CONTIGS];
    int64_t size[N_CONTIGS];
    struct expected expected[N_CONTIGS];
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    uint64_t n_blocks = 0;
    for (size_t c = 0; c < N_CONTIGS; c++) {
        size_t n = c ? PER_BLOCK * (1 + c / 6) - 4 + c % 6 : 0;
        int64_t at = 0;
        for (size_t i = 0; i < n; i++) {
            iv[c][i].beg = at;
            iv[c][i].end = at + 1 + (int64_t)cov_rng_below(&rng, 20);
            iv[c][i].value = (float)cov_rng_below(&rng, 1000);
            at = iv[c][i].end + (int64_t)cov_rng_below(&rng, 2);
        }
        (void)snprintf(text[c], sizeof text[c], "c%c", (char)('a' + c));
        list[c] = text[c];
        size[c] = at + 1;
        expected[c] = (struct expected){iv[c], n};
        n_blocks += (n + PER_BLOCK - 1) / PER_BLOCK;
    }
    struct cov_track_contigs many = {N_CONTIGS, list, size};
    for (size_t piece = 1; piece < 10000; piece = piece * 7 + 1) {
        write_file(&many, expected, piece);
        check_bigwig("x.bw", &many, expected);
        const struct bytes b = get_file("x.bw");
        assert_int_equal(number_at(&b, number_at(&b, DATA, 8), 8), n_blocks);
    }
}

TEST(rejects_long_contigs)
{
    struct cov_track_sink *s;
    const int64_t length = INT64_C(1) << 32;
    struct cov_track_contigs large = {1, names, &length};
    assert_fails_with(cov_bigwig_open("x.bw", "x.bw", &large, &alone, &s, &e), COV_EINPUT,
                      "x.bw: contig chr1 has 4294967296 bases; the limit of bigWig is 4294967295");
    assert_fails_with(cov_bigwig_open("not/there.bw", "there.bw", &contigs, &alone, &s, &e),
                      COV_EIO, "there.bw: No such file or directory");
    /* The writer is freed halfway. */
    const struct cov_interval iv[] = {{0, 1, 1}, {1, 2, 2}}, bad = {0, 1, 1};
    assert_ok(cov_bigwig_open("x.bw", "x.bw", &contigs, &alone, &s, &e));
    assert_ok(cov_track_begin(s, 0, &e));
    assert_ok(cov_track_add(s, iv, 2, &e));
    assert_int_equal(cov_track_add(s, &bad, 1, NULL), COV_EINPUT);
    cov_track_free(s);
}

/* The file size is limited, so that writes fail early, late, or only at the end. */
TEST(reports_full_disk)
{
    enum { N = 40000 };
    struct cov_interval *iv = unit_alloc(N * sizeof *iv);
    struct cov_rng rng;
    cov_rng_init(&rng, 6);
    for (size_t i = 0; i < N; i++)
        iv[i] = (struct cov_interval){(int64_t)i * 10, (int64_t)i * 10 + 9,
                                      (float)cov_rng_below(&rng, 1 << 20)};
    struct stat st;
    const struct expected x[] = {{iv, N}, {0}, {0}, {0}};
    write_file(&contigs, x, N);
    assert_int_equal(stat("x.bw", &st), 0);
    struct cov_pool *pool;
    assert_int_equal(cov_pool_new(2, &pool, NULL), COV_OK);
    const struct cov_bigwig_options pooled = {pool, "/tmp"};
    rlim_t size = (rlim_t)st.st_size, sizes[40] = {0, 100, size - 1, size - 4, size - 5000};
    for (size_t k = 5; k < COV_COUNT(sizes); k++)
        sizes[k] = size / COV_COUNT(sizes) * k;
    for (size_t k = 0; k < COV_COUNT(sizes); k++) {
        struct cov_err e = COV_ERR_INIT;
        limit_files(sizes[k]);
        int rc = put_bigwig("x.bw", &contigs, x, false, k % 2 ? &pooled : &alone, 1000, &e);
        limit_files(RLIM_INFINITY);
        assert_int_equal(rc, COV_EIO);
        check_error(&e, COV_EIO, "x.bw: write error");
    }
    cov_pool_free(pool);
    struct cov_track_sink *s;
    assert_ok(cov_bigwig_open("/dev/full", "full.bw", &contigs, &elsewhere, &s, &e));
    assert_fails_with(cov_track_close(s, &e), COV_EIO,
                      "full.bw: write error: No space left on device");
    cov_track_free(s);
}

/* ---- announced contigs ---- */

TEST(rejects_announced_contigs)
{
    const struct cov_interval beyond = {UINT32_MAX, INT64_C(1) + UINT32_MAX, 1}, one = {5, 9, 1};
    struct cov_track_sink *s;
    assert_ok(cov_bigwig_open("x.bw", "x.bw", NULL, &alone, &s, &e));
    assert_fails_with(cov_track_close(s, &e), COV_EINPUT, "x.bw: no contigs to write");
    cov_track_free(s);
    assert_ok(cov_bigwig_open("x.bw", "x.bw", NULL, &alone, &s, &e));
    assert_ok(cov_track_begin_named(s, "chrL", &e));
    assert_fails_with(cov_track_add(s, &beyond, 1, &e), COV_EINPUT,
                      "x.bw: chrL:4294967296-4294967296 (value 1) is past the limit "
                      "of the format");
    assert_ok(cov_track_add(s, &one, 1, &e));
    assert_fails_with(
        cov_track_end_contig(s, INT64_C(1) << 32, &e), COV_EINPUT,
        "x.bw: contig chrL has 4294967296 bases; the limit of this format is 4294967295");
    assert_fails_with(cov_track_close(s, &e), COV_EINPUT, "x.bw: missing end of contig chrL");
    cov_track_free(s);
}

/* ---- faults found by reading back ---- */

TEST(verifies_the_file)
{
    const struct cov_interval iv[] = {{0, 10, 9}, {10, 20, 3.5F}, {20, 1000, 0}};
    const struct cov_track_summary right = {3, 1000, 0, 9, 125, 810 + 122.5};
    const struct cov_bigwig_sample good[] = {{2, {10, 20, 3.5F}}, {2, {20, 1000, 0}}};
    const struct cov_bigwig_sample bad[] = {
        {2, {10, 20, 3}}, {2, {11, 20, 3.5F}}, {2, {10, 21, 3.5F}}, {0, {0, 10, 9}}};
    write_file(&contigs, (struct expected[]){{0}, {0}, {iv, 3}, {0}}, 3);
    struct cov_track_sink s;
    assert_ok(cov_track_init(&s, NULL, "final.bw", &contigs, &e));
    s.summary = right;
    assert_ok(cov_bigwig_verify("x.bw", &s, good, 2, &e));
    for (size_t i = 0; i < COV_COUNT(bad); i++) {
        assert_fails(cov_bigwig_verify("x.bw", &s, &bad[i], 1, &e), COV_EIO, "verification failed");
    }
    s.summary.sum++;
    assert_fails_with(cov_bigwig_verify("x.bw", &s, good, 2, &e), COV_EIO,
                      "final.bw: verification failed: the summary differs");
    s.summary = right;
    const int64_t others[] = {UINT32_MAX, 10, 1000, 8};
    const struct cov_track_contigs longer = {4, names, others}, fewer = {3, names, lengths};
    s.contigs = &longer;
    assert_fails_with(cov_bigwig_verify("x.bw", &s, good, 2, &e), COV_EIO,
                      "final.bw: verification failed: the contigs differ");
    s.contigs = &fewer;
    assert_int_equal(cov_bigwig_verify("x.bw", &s, good, 2, NULL), COV_EIO);
    s.contigs = &contigs;
    assert_int_equal(truncate("x.bw", 100), 0);
    assert_int_equal(cov_bigwig_verify("x.bw", &s, good, 2, NULL), COV_EIO);
}

TEST_GROUP(enter_dir, leave_dir)
