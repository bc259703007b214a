/* test_interval_store.c - a stored track is read back unchanged.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/track/interval_store.h"

static const char *const names[] = {"a", "b", "c"};
static const int64_t lengths[] = {10, INT64_C(1) << 40, 1};
static const struct cov_track_contigs contigs = {3, names, lengths};

static struct cov_interval_store *open_store(void)
{
    struct cov_interval_store *s;
    assert_ok(cov_interval_store_new("x.bg", &contigs, "/tmp", &s, &e));
    return s;
}

static void check(struct cov_interval_store *s, const char *name, const struct cov_interval *wanted,
                  size_t n)
{
    struct cov_interval_cursor *c = unit_alloc(sizeof *c);
    const struct cov_interval *iv;
    size_t contig, got, at = 0;
    assert_true(cov_track_find_contig(cov_interval_store_sink(s), name, &contig));
    cov_interval_cursor_begin(c, s, contig);
    while (cov_interval_cursor_next(c, &iv, &got, NULL) > 0)
        for (size_t i = 0; i < got; i++, at++) {
            assert_true(at < n);
            assert_int_equal(iv[i].beg, wanted[at].beg);
            assert_int_equal(iv[i].end, wanted[at].end);
            assert_memory_equal(&iv[i].value, &wanted[at].value, sizeof iv[i].value);
        }
    assert_int_equal(at, n);
}

TEST(keeps_all_values)
{
    static const struct cov_interval few[] = {{0, 1, 0}, {1, 2, -0.0F}, {9, 10, 64}};
    static const struct cov_interval huge[] = {{1, 2, 16777215},
                                               {2, 3, 16777216},
                                               {100, 101, 1e-30F},
                                               {101, 102, -1},
                                               {102, INT64_C(1) << 33, 0.5F},
                                               {INT64_C(1) << 39, INT64_C(1) << 40, 3.4e38F}};
    struct cov_interval_store *s = open_store();
    struct cov_track_sink *sink = cov_interval_store_sink(s);
    size_t contig;
    assert_ok(cov_track_begin(sink, 0, &e));
    assert_ok(cov_track_add(sink, few, 3, &e));
    assert_ok(cov_track_begin(sink, 1, &e));
    assert_ok(cov_track_add(sink, huge, 2, &e));
    assert_ok(cov_track_add(sink, huge + 2, 4, &e));
    assert_ok(cov_track_close(sink, &e));
    check(s, "b", huge, 6);
    check(s, "c", few, 0); /* contig c was never started */
    check(s, "a", few, 3);
    assert_false(cov_track_find_contig(sink, "d", &contig));
    cov_interval_store_free(s);
}

/* More data than the buffers hold. The buffer sizes are not multiples of the record sizes. */
TEST(keeps_many_intervals)
{
    enum { N = 200000 };
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    static struct cov_interval iv[N];
    int64_t at = 0;
    for (size_t i = 0; i < N; i++) {
        uint64_t r = cov_rng_next(&rng);
        iv[i].beg = at + (r % 3 ? 0 : (int64_t)(r >> 8 & 1023));
        iv[i].end = at = iv[i].beg + 1 + (int64_t)(r >> 20 & 255);
        iv[i].value = (float)(r >> 30 & 4095) * (r >> 50 & 1 ? 1 : 0.3F);
    }
    struct cov_interval_store *s = open_store();
    struct cov_track_sink *sink = cov_interval_store_sink(s);
    assert_ok(cov_track_begin(sink, 1, &e));
    for (size_t i = 0; i < N; i += 1000)
        assert_ok(cov_track_add(sink, iv + i, 1000, &e));
    assert_ok(cov_track_close(sink, &e));
    check(s, "b", iv, N);
    cov_interval_store_free(s);
}

TEST(reports_the_directory)
{
    struct cov_interval_store *s;
    static const struct cov_interval iv[] = {{0, 1, 1}};
    assert_ok(cov_interval_store_new("x.bg", &contigs, "/tmp/cov-no-such-directory", &s, &e));
    struct cov_track_sink *sink = cov_interval_store_sink(s);
    assert_ok(cov_track_begin(sink, 0, &e));
    assert_ok(cov_track_add(sink, iv, 1, &e));
    assert_fails(cov_track_close(sink, &e), COV_EIO, "/tmp/cov-no-such-directory");
    cov_interval_store_free(s);
}
