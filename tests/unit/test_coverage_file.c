/* test_coverage_file.c - stored coverage is returned unchanged, in any type that holds it.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/chunk/coverage_file.h"

enum { N_PAIRS = 48, L = 700, N_LANES = 4 };

static int32_t lanes[N_PAIRS][N_LANES][L];

/* Zeros, steps, or random values, with a number of bits that depends on the kind. */
static int32_t make_lane(struct cov_rng *rng, size_t kind, size_t n, int32_t *lane)
{
    static const unsigned bits[] = {0, 0, 7, 8, 9, 15, 16, 31};
    int32_t value = 0, max = 0;
    for (size_t i = 0; i < n; i++) {
        if (kind == 1 && cov_rng_below(rng, 8) == 0)
            value = (int32_t)cov_rng_below(rng, 12);
        else if (kind > 1)
            value = (int32_t)(cov_rng_next(rng) >> (64 - bits[kind]));
        lane[i] = value;
        max = value > max ? value : max;
    }
    return max;
}

static struct cov_pair make_pair(size_t i)
{
    size_t n = i < 20 ? i + 1 : i % 2 ? L : L - 20 + i % 20;
    return (struct cov_pair){0, 0, (int64_t)n, {i % 7 == 6 ? COV_NO_ROW : 0, 1}};
}

static void expect_row(const struct cov_coverage_store *s, size_t i, int strand, int which,
                       size_t elem_bytes, const int32_t *wanted, int32_t max)
{
    struct cov_pair p = make_pair(i);
    size_t n = (size_t)(p.end - p.beg);
    const struct cov_stored_row row = {i, strand, which, n};
    int64_t values[L];
    struct cov_coverage_scratch scratch = {values, COV_BLOB_INIT};
    struct cov_blob out = COV_BLOB_INIT;
    if (elem_bytes == 2 && max > INT16_MAX) {
        assert_fails(cov_coverage_store_get(s, &row, elem_bytes, &scratch, &out, &e), COV_EINPUT,
                     "does not fit in 16 bits");
    } else {
        const struct cov_coverage_row whole = {L, L, elem_bytes};
        assert_ok(cov_coverage_store_get(s, &row, elem_bytes, &scratch, &out, &e));
        memset(values, 0x55, sizeof values);
        /* Decodes all L elements; those past the end are -1. */
        assert_ok(cov_coverage_decode_piece(whole, &out, 0, values, &e));
        for (size_t t = 0; t < L; t++)
            assert_int_equal(values[t], t >= n ? -1 : wanted[strand == COV_MINUS ? n - 1 - t : t]);
    }
    cov_blob_fini(&scratch.blob);
    cov_blob_fini(&out);
}

TEST(test_round_trip)
{
    static const size_t sizes[] = {2, 4, 8};
    static const int32_t none[L];
    struct cov_coverage_store s;
    struct cov_packed_pair packed = {0};
    struct cov_depth_lane in[N_PAIRS][COV_COVERAGE_SETS][2];
    struct cov_rng rng;
    cov_rng_init(&rng, 3);
    assert_ok(cov_coverage_store_init(&s, N_PAIRS, L, 2, "/tmp", &e));
    for (size_t i = 0; i < N_PAIRS; i++) {
        struct cov_pair p = make_pair(i);
        for (size_t k = 0; k < N_LANES; k++) {
            struct cov_depth_lane *lane = &in[i][k / 2][k % 2];
            lane->depth = lanes[i][k];
            lane->max = make_lane(&rng, (i + k) % 8, (size_t)p.end, lanes[i][k]);
            if (i % 3 == 2 && k % 2)
                *lane = in[i][k / 2][0]; /* both strands are equal */
        }
        assert_ok(cov_coverage_store_pack(&s, i, &p, in[i], &packed, &e));
        if (i != 7)
            assert_ok(cov_coverage_store_put(&s, i, &packed, &e));
    }
    assert_false(cov_coverage_store_is_ready(&s, 2));
    assert_false(cov_coverage_store_is_ready(&s, 8));
    for (size_t i = N_PAIRS; i-- > 0;)
        for (int k = 0; k < N_LANES; k++) {
            const struct cov_depth_lane *lane = &in[i][k / 2][k % 2];
            if (make_pair(i).rows[k % 2] == COV_NO_ROW)
                continue;
            for (size_t z = 0; z < COV_COUNT(sizes); z++)
                expect_row(&s, i, k % 2, k / 2, sizes[z], i == 7 ? none : lane->depth,
                           i == 7 ? 0 : lane->max);
        }
    cov_coverage_store_fini(&s);
    cov_blob_fini(&packed.blob);
}

/* The hash of the counted values equals the hash of the values read back, unless a value
 * differs. */
TEST(test_sample)
{
    struct cov_coverage_store s;
    struct cov_packed_pair packed = {0};
    struct cov_rng rng;
    cov_rng_init(&rng, 5);
    assert_ok(cov_coverage_store_init(&s, 2000, L, 2, "/tmp", &e));
    assert_true(cov_coverage_store_samples(&s, 0) && cov_coverage_store_samples(&s, 1999));
    size_t n_sampled = 0;
    for (size_t i = 0; i < 2000; i++)
        n_sampled += cov_coverage_store_samples(&s, i);
    assert_in_range(n_sampled, 2000 / 64, 2000 / 64 + 2);
    struct cov_pair p = {0, 0, 500, {0, 1}};
    int32_t max = make_lane(&rng, 2, 500, lanes[0][0]);
    const struct cov_depth_lane depth = {lanes[0][0], max}, none = {NULL, 0};
    const struct cov_depth_lane in[COV_COVERAGE_SETS][2] = {{depth, depth}, {none, none}};
    assert_ok(cov_coverage_store_pack(&s, 0, &p, in, &packed, &e));
    assert_ok(cov_coverage_store_put(&s, 0, &packed, &e));
    int64_t values[4][L] = {{0}};
    for (size_t t = 0; t < 500; t++)
        values[0][t] = values[2][499 - t] = lanes[0][0][t];
    for (int changed = 0; changed < 2; changed++) {
        uint64_t hash = 0, zeros = 0;
        values[2][17] += changed;
        for (size_t k = 0; k < 4; k++) {
            hash = cov_coverage_hash(hash, values[k], 500);
            zeros = cov_coverage_hash(zeros, values[1], 500);
        }
        assert_int_equal(hash == cov_coverage_store_hash(&s, 0, &p), !changed);
        assert_true(zeros == cov_coverage_store_hash(&s, 1999, &p)); /* not put */
    }
    assert_true(cov_coverage_store_is_ready(&s, 2));
    cov_coverage_store_fini(&s);
    cov_blob_fini(&packed.blob);
}
