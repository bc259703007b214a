/* test_layers.c - compares the fast layers with the scalar reference, for unusual shapes.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/cpu.h"
#include "common/base/rng.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/cpu/layers/blas.h"
#include "common/compute/cpu/layers/conv.h"
#include "common/compute/cpu/layers/lstm.h"
#include "common/compute/cpu/layers/ref.h"
#include "common/seq/alphabet.h"

/* Guards around every output. */
enum { GUARD = 64 };
static const float SENTINEL = 12345.0f;

static const struct cov_cpu_kernels levels[] = {
    {&cov_gemm_base, &cov_vec_base, false, NULL},
    {&cov_gemm_base, &cov_vec_base, false, &cov_toom_cook_base},
#ifdef __x86_64__
    {&cov_gemm_avx2, &cov_vec_avx2, false, NULL},
    {&cov_gemm_avx2, &cov_vec_avx2, false, &cov_toom_cook_avx2},
    {&cov_gemm_avx512, &cov_vec_avx512, false, NULL},
    {&cov_gemm_avx512, &cov_vec_avx512, false, &cov_toom_cook_avx512},
    {&cov_gemm_avx512_inner, &cov_vec_avx512, false, NULL},
    {&cov_gemm_avx512_shared, &cov_vec_avx512, false, NULL},
    {&cov_gemm_avx512_inner, &cov_vec_avx512, false, &cov_toom_cook_avx512},
    {&cov_gemm_avx512_shared, &cov_vec_avx512, false, &cov_toom_cook_avx512},
#endif
    {&cov_gemm_base, &cov_vec_base, true, NULL},
};

/* Returns true if this machine can run level i. */
static bool can_run(size_t i)
{
    unsigned needs = levels[i].gemm->needs | levels[i].vec->needs;
    return (needs & ~cov_cpu_features()) == 0 && (!levels[i].openblas || cov_blas_load());
}

static void fill(struct cov_rng *rng, float *x, size_t n, float scale)
{
    for (size_t i = 0; i < n; i++)
        x[i] = ((float)cov_rng_double(rng) * 2 - 1) * scale;
}

/* Draws random weights for a layer, with positive variances. The caller frees *memory. */
static struct cov_layer_weights weights_of(struct cov_rng *rng, const struct cov_layer *l,
                                           float **memory)
{
    size_t sizes[COV_REF_N_WEIGHTS];
    size_t total = cov_ref_weight_sizes(l, sizes);
    *memory = malloc(total * sizeof **memory);
    assert_non_null(*memory);
    fill(rng, *memory, total, 0.3f);
    struct cov_layer_weights w = {0};
    const float **places[COV_REF_N_WEIGHTS];
    cov_ref_weight_places(&w, places);
    float *at = *memory;
    for (size_t k = 0; k < COV_REF_N_WEIGHTS; k++) {
        if (sizes[k])
            *places[k] = at;
        for (size_t i = 0; k == 5 && i < sizes[k]; i++) /* the variance */
            at[i] = at[i] * at[i] + 0.1f;
        at += sizes[k];
    }
    return w;
}

static float *guarded(size_t n)
{
    float *p = aligned_alloc(64, (n + (size_t)3 * GUARD) / GUARD * GUARD * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n + (size_t)2 * GUARD; i++)
        p[i] = SENTINEL;
    return p + GUARD;
}

static void free_guarded(float *p, size_t n)
{
    for (size_t i = 0; i < GUARD; i++)
        assert_true(p[-1 - (long)i] == SENTINEL && p[n + i] == SENTINEL);
    free(p - GUARD);
}

static void assert_close(const float *got, const float *want, size_t n, float bound,
                         const struct cov_layer *l)
{
    float scale = 1e-3f;
    for (size_t i = 0; i < n; i++)
        scale = fmaxf(scale, fabsf(want[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(got[i] - want[i]) <= bound * scale))
            fail_msg("kind %d, %zu x %zu -> %zu x %zu, kernel %zu, stride %zu, dilation %zu, pad "
                     "%ld: element %zu is %g, not %g",
                     (int)l->kind, l->t_in, l->c_in, l->t_out, l->c_out, l->kernel, l->stride,
                     l->dilation, (long)l->pad, i, (double)got[i], (double)want[i]);
}

/* Runs a layer with the given strides and compares it with the reference. */
static void check_rows(struct cov_rng *rng, const struct cov_layer *l,
                       const struct cov_cpu_kernels *kernels, size_t x_stride, size_t y_stride)
{
    float *memory;
    struct cov_layer_weights w = weights_of(rng, l, &memory);
    size_t n_x = l->t_in * l->c_in, n_y = l->t_out * l->c_out;
    float *x = guarded(n_x), *want = guarded(n_y);
    float *spread = guarded(l->t_in * x_stride), *got = guarded(l->t_out * y_stride);
    fill(rng, x, n_x, 1);
    for (size_t t = 0; t < l->t_in; t++)
        memcpy(spread + t * x_stride, x + t * l->c_in, l->c_in * sizeof *x);
    cov_ref_layer(l, &w, COV_FP32, x, want, NULL);

    struct cov_conv *f;
    assert_int_equal(cov_conv_new(l, &w, kernels, &f, NULL), 0);
    size_t n_scratch = cov_conv_scratch(f);
    float *scratch = guarded(n_scratch), *packed = guarded(n_y);
    /* Compute the rows in two ranges, beginning with the second one. */
    size_t unit = cov_plan_unit(l), middle = cov_rng_below(rng, l->t_out / unit + 1) * unit;
    const struct cov_layer_io io = {spread, x_stride, got, y_stride};
    cov_conv_rows(f, (struct cov_rows){middle, l->t_out}, &io, scratch);
    cov_conv_rows(f, (struct cov_rows){0, middle}, &io, scratch);
    for (size_t t = 0; t < l->t_out; t++) {
        memcpy(packed + t * l->c_out, got + t * y_stride, l->c_out * sizeof *got);
        for (size_t c = l->c_out; c < y_stride; c++)
            assert_true(got[t * y_stride + c] == SENTINEL);
    }
    assert_close(packed, want, n_y, 2e-6f * (float)(4 + l->kernel), l);

    free_guarded(scratch, n_scratch);
    free_guarded(packed, n_y);
    free_guarded(got, l->t_out * y_stride);
    free_guarded(spread, l->t_in * x_stride);
    free_guarded(want, n_y);
    free_guarded(x, n_x);
    cov_conv_free(f);
    free(memory);
}

static size_t draw(struct cov_rng *rng, size_t min, size_t max)
{
    return min + (size_t)cov_rng_below(rng, max - min + 1);
}

TEST(convolutions)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 7);
    for (int i = 0; i < 400; i++) {
        struct cov_layer l = {.kind = i % 2 ? COV_LAYER_CONV_TRANSPOSED : COV_LAYER_CONV,
                              .c_in = draw(&rng, 1, 20),
                              .c_out = draw(&rng, 1, 35),
                              .kernel = draw(&rng, 1, 11),
                              .stride = draw(&rng, 1, 4),
                              .dilation = draw(&rng, 1, 3),
                              .norm = draw(&rng, 0, 1)};
        /* Some outputs are longer than one tile of rows. */
        size_t t = draw(&rng, 0, 9) == 0 ? draw(&rng, 90, 900) : draw(&rng, 1, 40);
        l.t_in = i % 2 ? t : t * l.stride;
        l.t_out = i % 2 ? t * l.stride : t;
        l.pad = (int64_t)draw(&rng, 0, l.dilation * (l.kernel - 1) + 1);
        size_t level = draw(&rng, 0, COV_COUNT(levels) - 1);
        if (can_run(level))
            check_rows(&rng, &l, &levels[level], l.c_in + (i % 3 ? 0 : 5),
                       l.c_out + (i % 5 ? 0 : 3));
    }
}

/* A first layer gives the same output for codes, including ambiguous ones, as for one-hot rows. */
TEST(first_layers_from_codes)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 9);
    for (int i = 0; i < 200; i++) {
        struct cov_layer l = {.kind = COV_LAYER_CONV,
                              .c_in = 4,
                              .c_out = draw(&rng, 1, 140),
                              .kernel = draw(&rng, 1, 11),
                              .stride = draw(&rng, 1, 4),
                              .dilation = draw(&rng, 1, 3),
                              .norm = draw(&rng, 0, 1)};
        l.t_out = draw(&rng, 1, 60);
        l.t_in = l.t_out * l.stride;
        l.pad = (int64_t)draw(&rng, 0, l.dilation * (l.kernel - 1) + 1);
        size_t level = draw(&rng, 0, COV_COUNT(levels) - 1), y_stride = l.c_out + (i % 5 ? 0 : 3);
        if (!can_run(level))
            continue;
        size_t n_y = l.t_out * l.c_out, middle = draw(&rng, 0, l.t_out);
        float *memory, *x = guarded(l.t_in * 4), *want = guarded(n_y), *packed = guarded(n_y);
        float *got = guarded(l.t_out * y_stride);
        struct cov_layer_weights w = weights_of(&rng, &l, &memory);
        uint8_t *codes = malloc(l.t_in);
        struct cov_conv *f;
        assert_non_null(codes);
        for (size_t t = 0; t < l.t_in; t++) {
            codes[t] = (uint8_t)draw(&rng, 0, 15);
            memcpy(x + 4 * t, cov_onehot_f32[codes[t]], 4 * sizeof *x);
        }
        cov_ref_layer(&l, &w, COV_FP32, x, want, NULL);
        assert_int_equal(cov_conv_new(&l, &w, &levels[level], &f, NULL), 0);
        assert_true(cov_conv_reads_codes(f) != levels[level].openblas);
        if (cov_conv_reads_codes(f)) {
            cov_conv_rows_of_codes(f, (struct cov_rows){middle, l.t_out}, codes, got, y_stride);
            cov_conv_rows_of_codes(f, (struct cov_rows){0, middle}, codes, got, y_stride);
            for (size_t t = 0; t < l.t_out; t++) {
                memcpy(packed + t * l.c_out, got + t * y_stride, l.c_out * sizeof *got);
                for (size_t c = l.c_out; c < y_stride; c++)
                    assert_true(got[t * y_stride + c] == SENTINEL);
            }
            assert_close(packed, want, n_y, 2e-6f * (float)(4 + l.kernel), &l);
        }
        free(codes);
        free(memory);
        free_guarded(got, l.t_out * y_stride);
        free_guarded(packed, n_y);
        free_guarded(want, n_y);
        free_guarded(x, l.t_in * 4);
        cov_conv_free(f);
    }
}

TEST(linear_layers)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 8);
    for (int i = 0; i < 60; i++) {
        size_t t = draw(&rng, 1, 70);
        struct cov_layer l = {.kind = COV_LAYER_LINEAR_EXP,
                              .t_in = t,
                              .t_out = t,
                              .c_in = draw(&rng, 1, 9),
                              .c_out = draw(&rng, 1, 20)};
        size_t level = draw(&rng, 0, COV_COUNT(levels) - 1);
        if (can_run(level))
            check_rows(&rng, &l, &levels[level], l.c_in + (i % 2 ? 0 : 2),
                       l.c_out + (i % 4 ? 0 : 1));
    }
}

/* Copies sequence b of n from a time-major array to a contiguous one. */
static void take(const float *many, size_t t_n, size_t n, size_t c, size_t b, float *one)
{
    for (size_t t = 0; t < t_n; t++)
        memcpy(one + t * c, many + (t * n + b) * c, c * sizeof *one);
}

/* Checks n sequences that are computed together: each result is close to the reference, and has the
 * same bits as when its sequence is computed alone. */
static void check_lstm(struct cov_rng *rng, const struct cov_layer *l, size_t n,
                       const struct cov_cpu_kernels *kernels)
{
    float *memory;
    struct cov_layer_weights w = weights_of(rng, l, &memory);
    size_t n_in = l->t_in * l->c_in, n_out = l->t_in * l->c_out;
    float *x = guarded(n * n_in), *y = guarded(n * n_out);
    float *one = guarded(n_in), *want = guarded(n_out), *got = guarded(n_out);
    double *ref_state = malloc(6 * l->hidden * sizeof *ref_state);
    assert_non_null(ref_state);
    fill(rng, x, n * n_in, 2);
    struct cov_lstm *f;
    struct cov_lstm_task tasks[COV_LSTM_ROWS];
    for (size_t b = 0; b < n; b++)
        tasks[b] = (struct cov_lstm_task){.rows = {0, l->t_in}};
    assert_int_equal(cov_lstm_new(l, &w, kernels->gemm, kernels->vec, COV_LSTM_REST_FP32, &f, NULL),
                     0);
    size_t n_scratch = cov_lstm_scratch(f);
    float *scratch = guarded(n_scratch);
    cov_lstm_run(f, &(struct cov_lstm_batch){n, tasks, false, NULL, x, y}, scratch);
    for (size_t b = 0; b < n; b++) {
        take(x, l->t_in, n, l->c_in, b, one);
        take(y, l->t_in, n, l->c_out, b, got);
        cov_ref_layer(l, &w, COV_FP32, one, want, ref_state);
        assert_close(got, want, n_out, 1e-5f, l);
        cov_lstm_run(f, &(struct cov_lstm_batch){1, tasks, true, NULL, one, want}, scratch);
        assert_memory_equal(got, want, n_out * sizeof *got);
    }
    cov_lstm_free(f);
    free_guarded(scratch, n_scratch);
    free_guarded(got, n_out);
    free_guarded(want, n_out);
    free_guarded(one, n_in);
    free_guarded(y, n * n_out);
    free_guarded(x, n * n_in);
    free(ref_state);
    free(memory);
}

TEST(lstms)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 9);
    for (int i = 0; i < 80; i++) {
        struct cov_layer l = {.kind = COV_LAYER_LSTM,
                              .c_in = draw(&rng, 1, 40),
                              .hidden = i % 8 == 0 ? draw(&rng, 100, 130) : draw(&rng, 1, 50),
                              .directions = draw(&rng, 1, 2)};
        /* Some sequences are longer than one block of steps. */
        l.t_in = l.t_out = i % 8 == 3 ? draw(&rng, 30, 60) : draw(&rng, 1, 12);
        l.c_out = l.hidden * l.directions;
        size_t level = draw(&rng, 0, COV_COUNT(levels) - 1), n = draw(&rng, 1, COV_LSTM_ROWS);
        if (can_run(level))
            check_lstm(&rng, &l, n, &levels[level]);
    }
}
