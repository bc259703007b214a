/* random_layer.h - for tests: layers and their weights, memory with guards around it, and sequences
 * side by side.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_LIB_RANDOM_LAYER_H
#define TESTS_LIB_RANDOM_LAYER_H

#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/compute/cpu/layers/ref.h"

enum { GUARD = 64, HEAD = 16 };

static inline size_t draw(struct cov_rng *rng, size_t min, size_t max)
{
    return min + (size_t)cov_rng_below(rng, max - min + 1);
}

static inline void fill(struct cov_rng *rng, float *x, size_t n, float most)
{
    for (size_t i = 0; i < n; i++)
        x[i] = ((float)cov_rng_double(rng) * 2 - 1) * most;
}

/* Returns n zeros, on cache lines, in memory of the test. */
static inline float *floats(size_t n)
{
    float *p = unit_own(aligned_alloc(64, (n + 16) / 16 * 64));
    memset(p, 0, (n + 16) / 16 * 64);
    return p;
}

/* Returns n floats between two guards of GUARD floats, all NaN. Their head holds n. */
static inline float *guarded(size_t n)
{
    float *p = floats(HEAD + n + (size_t)2 * GUARD);
    memcpy(p, &n, sizeof n);
    for (size_t i = HEAD; i < HEAD + n + (size_t)2 * GUARD; i++)
        p[i] = NAN;
    return p + HEAD + GUARD;
}

static inline void check_guards(float *const *blocks, size_t n_blocks)
{
    for (size_t k = 0; k < n_blocks; k++) {
        size_t n;
        memcpy(&n, blocks[k] - GUARD - HEAD, sizeof n);
        for (size_t i = 0; i < GUARD; i++)
            assert_true(isnan(blocks[k][-1 - (long)i]) && isnan(blocks[k][n + i]));
    }
}

static inline struct cov_layer lstm_layer(size_t t, size_t c_in, size_t hidden, size_t directions)
{
    return (struct cov_layer){.kind = COV_LAYER_LSTM,
                              .t_in = t,
                              .t_out = t,
                              .c_in = c_in,
                              .c_out = hidden * directions,
                              .hidden = hidden,
                              .directions = directions};
}

/* Draws weights of a layer, with positive variances, in memory of the test. */
static inline struct cov_layer_weights draw_weights(struct cov_rng *rng, const struct cov_layer *l,
                                                    float most)
{
    enum { VARIANCE = 5 };
    size_t sizes[COV_REF_N_WEIGHTS], total = cov_ref_weight_sizes(l, sizes);
    const float **places[COV_REF_N_WEIGHTS];
    struct cov_layer_weights w = {0};
    float *at = floats(total);
    fill(rng, at, total, most);
    cov_ref_weight_places(&w, places);
    for (size_t k = 0; k < COV_REF_N_WEIGHTS; k++) {
        if (sizes[k])
            *places[k] = at;
        for (size_t i = 0; k == VARIANCE && i < sizes[k]; i++)
            at[i] = at[i] * at[i] + 0.1f;
        at += sizes[k];
    }
    return w;
}

/* Copies sequence b of n from a time-major array to a contiguous one. */
static inline void take_chunk(const float *many, size_t t_n, size_t n, size_t c, size_t b,
                              float *one)
{
    for (size_t t = 0; t < t_n; t++)
        memcpy(one + t * c, many + (t * n + b) * c, c * sizeof *one);
}

#endif
