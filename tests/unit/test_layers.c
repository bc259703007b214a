/* test_layers.c - compares the fast layers with the scalar reference, for unusual shapes; and minimal
 * filtering, for every number of taps, stride, remainder and instruction set. Its transforms are
 * exact.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/random_layer.h"

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/cpu/layers/blas.h"
#include "common/compute/cpu/layers/conv.h"
#include "common/compute/cpu/layers/lstm.h"
#include "common/seq/alphabet.h"

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
    struct cov_layer_weights w = draw_weights(rng, l, 0.3f);
    size_t n_x = l->t_in * l->c_in, n_y = l->t_out * l->c_out;
    float *x = guarded(n_x), *want = guarded(n_y);
    float *spread = guarded(l->t_in * x_stride), *got = guarded(l->t_out * y_stride);
    fill(rng, x, n_x, 1);
    for (size_t t = 0; t < l->t_in; t++)
        memcpy(spread + t * x_stride, x + t * l->c_in, l->c_in * sizeof *x);
    cov_ref_layer(l, &w, COV_FP32, x, want, NULL);

    struct cov_conv *f;
    assert_ok(cov_conv_new(l, &w, kernels, &f, &e));
    float *scratch = guarded(cov_conv_scratch(f)), *packed = guarded(n_y);
    /* Compute the rows in two ranges, beginning with the second one. */
    size_t unit = cov_plan_unit(l), middle = cov_rng_below(rng, l->t_out / unit + 1) * unit;
    const struct cov_layer_io io = {spread, x_stride, got, y_stride};
    cov_conv_rows(f, (struct cov_rows){middle, l->t_out}, &io, scratch);
    cov_conv_rows(f, (struct cov_rows){0, middle}, &io, scratch);
    for (size_t t = 0; t < l->t_out; t++) {
        memcpy(packed + t * l->c_out, got + t * y_stride, l->c_out * sizeof *got);
        for (size_t c = l->c_out; c < y_stride; c++)
            assert_true(isnan(got[t * y_stride + c]));
    }
    assert_close(packed, want, n_y, 2e-6f * (float)(4 + l->kernel), l);
    check_guards((float *const[]){x, want, spread, got, scratch, packed}, 6);
    cov_conv_free(f);
    unit_free();
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
        float *x = guarded(l.t_in * 4), *want = guarded(n_y), *packed = guarded(n_y);
        float *got = guarded(l.t_out * y_stride);
        struct cov_layer_weights w = draw_weights(&rng, &l, 0.3f);
        uint8_t *codes = unit_alloc(l.t_in);
        struct cov_conv *f;
        for (size_t t = 0; t < l.t_in; t++) {
            codes[t] = (uint8_t)draw(&rng, 0, 15);
            memcpy(x + 4 * t, cov_onehot_f32[codes[t]], 4 * sizeof *x);
        }
        cov_ref_layer(&l, &w, COV_FP32, x, want, NULL);
        assert_ok(cov_conv_new(&l, &w, &levels[level], &f, &e));
        assert_true(cov_conv_reads_codes(f) != levels[level].openblas);
        if (cov_conv_reads_codes(f)) {
            cov_conv_rows_of_codes(f, (struct cov_rows){middle, l.t_out}, codes, got, y_stride);
            cov_conv_rows_of_codes(f, (struct cov_rows){0, middle}, codes, got, y_stride);
            for (size_t t = 0; t < l.t_out; t++) {
                memcpy(packed + t * l.c_out, got + t * y_stride, l.c_out * sizeof *got);
                for (size_t c = l.c_out; c < y_stride; c++)
                    assert_true(isnan(got[t * y_stride + c]));
            }
            assert_close(packed, want, n_y, 2e-6f * (float)(4 + l.kernel), &l);
        }
        check_guards((float *const[]){x, want, packed, got}, 4);
        cov_conv_free(f);
        unit_free();
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

/* Checks n sequences that are computed together: each result is close to the reference, and has the
 * same bits as when its sequence is computed alone. */
static void check_lstm(struct cov_rng *rng, const struct cov_layer *l, size_t n,
                       const struct cov_cpu_kernels *kernels)
{
    struct cov_layer_weights w = draw_weights(rng, l, 0.3f);
    size_t n_in = l->t_in * l->c_in, n_out = l->t_in * l->c_out;
    float *x = guarded(n * n_in), *y = guarded(n * n_out);
    float *one = guarded(n_in), *want = guarded(n_out), *got = guarded(n_out);
    double *ref_state = unit_alloc(6 * l->hidden * sizeof *ref_state);
    fill(rng, x, n * n_in, 2);
    struct cov_lstm *f;
    struct cov_lstm_task tasks[COV_LSTM_ROWS];
    for (size_t b = 0; b < n; b++)
        tasks[b] = (struct cov_lstm_task){.rows = {0, l->t_in}};
    assert_ok(cov_lstm_new(l, &w, kernels->gemm, kernels->vec, COV_LSTM_REST_FP32, &f, &e));
    float *scratch = guarded(cov_lstm_scratch(f));
    cov_lstm_run(f, &(struct cov_lstm_batch){n, tasks, false, NULL, x, y}, scratch);
    for (size_t b = 0; b < n; b++) {
        take_chunk(x, l->t_in, n, l->c_in, b, one);
        take_chunk(y, l->t_in, n, l->c_out, b, got);
        cov_ref_layer(l, &w, COV_FP32, one, want, ref_state);
        assert_close(got, want, n_out, 1e-5f, l);
        cov_lstm_run(f, &(struct cov_lstm_batch){1, tasks, true, NULL, one, want}, scratch);
        assert_memory_equal(got, want, n_out * sizeof *got);
    }
    cov_lstm_free(f);
    check_guards((float *const[]){x, y, one, want, got, scratch}, 6);
    unit_free();
}

TEST(lstms)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 9);
    for (int i = 0; i < 80; i++) {
        const size_t c_in = draw(&rng, 1, 40);
        const size_t hidden = i % 8 == 0 ? draw(&rng, 100, 130) : draw(&rng, 1, 50);
        const size_t directions = draw(&rng, 1, 2);
        /* Some sequences are longer than one block of steps. */
        const size_t t = i % 8 == 3 ? draw(&rng, 30, 60) : draw(&rng, 1, 12);
        const struct cov_layer l = lstm_layer(t, c_in, hidden, directions);
        size_t level = draw(&rng, 0, COV_COUNT(levels) - 1), n = draw(&rng, 1, COV_LSTM_ROWS);
        if (can_run(level))
            check_lstm(&rng, &l, n, &levels[level]);
    }
}

/* ---- minimal filtering ---- */

enum { M = COV_TOOM_COOK_MAX_OUTPUTS, MAX_POINTS = COV_TOOM_COOK_MAX_POINTS };

static bool can_filter(size_t level)
{
    return levels[level].minimal && can_run(level);
}

/* Sets b[p][i] to the kernel's output for a unit vector at i. All n channels must have the same
 * output. */
static void input_matrix(const struct cov_toom_cook_kernels *kernels,
                         const struct cov_toom_cook_points *p, size_t n,
                         double b[MAX_POINTS][MAX_POINTS])
{
    enum { MOST = 40 };
    float x[MAX_POINTS * MOST], v[MAX_POINTS * MOST];
    memset(b, 0, sizeof(double[MAX_POINTS][MAX_POINTS]));
    for (size_t i = 0; i < p->n_points; i++) {
        memset(x, 0, sizeof x);
        for (size_t c = 0; c < n; c++)
            x[i * n + c] = 1;
        kernels->input(p, &(struct cov_toom_cook_tiles){1, n, n, 0}, x, n, v);
        for (size_t k = 0; k < p->n_points; k++) {
            b[k][i] = (double)v[k * n];
            for (size_t c = 1; c < n; c++)
                assert_true(v[k * n + c] == v[k * n]);
        }
    }
}

/* Sets a[j][p] to the kernel's output for a unit vector at point p, which is computed with both
 * signs. With ReLU, only one sign gives a nonzero output; without ReLU, both do. */
static void output_matrix(const struct cov_toom_cook_kernels *kernels,
                          const struct cov_toom_cook_points *p, size_t n, double a[M][MAX_POINTS])
{
    enum { MOST = 40 };
    float s[MAX_POINTS * MOST], y[M * MOST], zeros[MOST] = {0}, ones[MOST];
    for (size_t c = 0; c < n; c++)
        ones[c] = 1;
    memset(a, 0, sizeof(double[M][MAX_POINTS]));
    for (size_t k = 0; k < p->n_points; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            memset(s, 0, sizeof s);
            for (size_t c = 0; c < n; c++)
                s[k * n + c] = (float)sign;
            const struct cov_finish finish = {zeros, ones, zeros, n % 2 ? 0 : -INFINITY};
            kernels->output(p, &(struct cov_toom_cook_tiles){1, n, n, 0}, s, &finish, y, n);
            for (size_t j = 0; j < p->outputs; j++) {
                a[j][k] += sign * (double)y[j * n] * (n % 2 ? 1 : 0.5);
                for (size_t c = 1; c < n; c++)
                    assert_true(y[j * n + c] == y[j * n]);
            }
        }
}

/* The product of tap k and input i contributes only to output i - k. */
TEST(transforms_are_exact)
{
    for (size_t level = 0; level < COV_COUNT(levels); level++)
        for (size_t taps = 2; can_filter(level) && taps <= COV_TOOM_COOK_MAX_TAPS + 1; taps++) {
            struct cov_toom_cook_points p;
            double a[M][MAX_POINTS], b[MAX_POINTS][MAX_POINTS];
            if (taps <= COV_TOOM_COOK_MAX_TAPS)
                cov_toom_cook_points_init(taps, COV_TOOM_COOK_OUTPUTS, &p);
            else
                cov_toom_cook_points_init(taps - 1, COV_TOOM_COOK_MAX_OUTPUTS, &p);
            assert_int_equal(p.n_points, p.taps + p.outputs - 1);
            for (size_t n = 1; n <= 40; n += n < 18 ? 1 : 11) {
                input_matrix(levels[level].minimal, &p, n, b);
                output_matrix(levels[level].minimal, &p, n, a);
                for (size_t j = 0; j < p.outputs; j++)
                    for (size_t k = 0; k < p.taps; k++)
                        for (size_t i = 0; i < p.n_points; i++) {
                            double sum = 0;
                            for (size_t q = 0; q < p.n_points; q++)
                                sum += a[j][q] * p.filter[q][k] * b[q][i];
                            assert_true(fabs(sum - (i == j + k)) < 1e-14);
                        }
            }
        }
}

/* Random parameters of a layer, with or without a norm; and what finishes its sums. */
struct parameters {
    struct cov_layer_weights w;
    struct cov_finish finish;
};

static struct parameters draw_parameters(struct cov_rng *rng, const struct cov_layer *l)
{
    const struct cov_layer_weights w = draw_weights(rng, l, 1);
    float *scales = floats(l->c_out), *shifts = floats(l->c_out);
    for (size_t o = 0; o < l->c_out; o++) {
        double scale = l->norm ? (double)w.gamma[o] / sqrt((double)w.var[o] + COV_NORM_EPS) : 1;
        scales[o] = (float)scale;
        shifts[o] = l->norm ? (float)((double)w.beta[o] - (double)w.mean[o] * scale) : 0;
    }
    return (struct parameters){w, {w.bias, scales, shifts, 0}};
}

/* Returns the largest error, relative to the largest value. */
static double error_of(const float *got, const float *want, size_t n)
{
    double scale = 1e-3, most = 0;
    for (size_t i = 0; i < n; i++)
        scale = fmax(scale, fabs((double)want[i]));
    for (size_t i = 0; i < n; i++) {
        double error = fabs((double)got[i] - (double)want[i]);
        most = error <= most ? most : error; /* also for NaN */
    }
    return most / scale;
}

/* Runs the layer with gaps between the rows of x and y. Memory that must not be read, including
 * scratch, is set to NaN. */
static void run_spread(const struct cov_layer *l, const struct cov_toom_cook *m,
                       const struct parameters *p, const float *x, size_t gap_x, size_t gap_y,
                       float *y)
{
    size_t x_stride = l->c_in + gap_x, y_stride = l->c_out + gap_y;
    size_t n_x = (l->t_in - 1) * x_stride + l->c_in, n_y = (l->t_out - 1) * y_stride + l->c_out;
    float *spread = guarded(n_x), *got = guarded(n_y), *scratch = guarded(cov_toom_cook_scratch(m));
    for (size_t t = 0; t < l->t_in; t++)
        memcpy(spread + t * x_stride, x + t * l->c_in, l->c_in * sizeof *x);
    const struct cov_layer_io io = {spread, x_stride, got, y_stride};
    cov_toom_cook_run(m, (struct cov_rows){0, l->t_out}, &io, &p->finish, scratch);
    for (size_t t = 0; t < l->t_out; t++) {
        memcpy(y + t * l->c_out, got + t * y_stride, l->c_out * sizeof *y);
        for (size_t c = l->c_out; t + 1 < l->t_out && c < y_stride; c++)
            assert_true(isnan(got[t * y_stride + c]));
    }
    check_guards((float *const[]){spread, got, scratch}, 3);
}

/* Runs part of the layer, with NaN in all rows of x that this part does not depend on. Checks that
 * the part equals the reference, and that no other rows are written. */
static void check_part(struct cov_rng *rng, const struct cov_layer *l,
                       const struct cov_toom_cook *m, const struct parameters *p, const float *x,
                       const float *want)
{
    size_t n_x = l->t_in * l->c_in, n_y = l->t_out * l->c_out;
    size_t beg = draw(rng, 0, l->t_out - 1), end = draw(rng, beg, l->t_out);
    float *part = guarded(n_x), *got = guarded(n_y), *scratch = guarded(cov_toom_cook_scratch(m));
    for (size_t j = 0; j < l->t_in; j++) {
        bool used = false;
        for (size_t t = beg; t < end; t++)
            for (size_t k = 0; k < l->kernel; k++)
                used = used || (l->kind == COV_LAYER_CONV
                                    ? (int64_t)(t * l->stride + k) - l->pad == (int64_t)j
                                    : (int64_t)(j * l->stride + k) - l->pad == (int64_t)t);
        if (used)
            memcpy(part + j * l->c_in, x + j * l->c_in, l->c_in * sizeof *x);
    }
    const struct cov_layer_io io = {part, l->c_in, got, l->c_out};
    cov_toom_cook_run(m, (struct cov_rows){beg, end}, &io, &p->finish, scratch);
    for (size_t i = 0; i < n_y; i++)
        assert_int_equal(isnan(got[i]) != 0, i < beg * l->c_out || i >= end * l->c_out);
    float most = 1e-3f;
    for (size_t i = 0; i < n_y; i++)
        most = fmaxf(most, fabsf(want[i]));
    for (size_t i = beg * l->c_out; i < end * l->c_out; i++)
        assert_true(fabsf(got[i] - want[i]) <= 1e-5f * most);
    check_guards((float *const[]){part, got, scratch}, 3);
}

/* Returns the error of a layer's output. Checks that its bits do not depend on the strides. */
static double check_minimal(struct cov_rng *rng, const struct cov_layer *l,
                            const struct cov_cpu_kernels *level)
{
    struct cov_toom_cook *m;
    struct parameters p = draw_parameters(rng, l);
    size_t n_x = l->t_in * l->c_in, n_y = l->t_out * l->c_out;
    float *x = floats(n_x), *want = floats(n_y), *got = floats(n_y), *again = floats(n_y);
    fill(rng, x, n_x, 1);
    cov_ref_layer(l, &p.w, COV_FP32, x, want, NULL);
    assert_true(cov_toom_cook_can(l));
    assert_ok(cov_toom_cook_new(l, p.w.weight, level->gemm, level->minimal, &m, &e));
    run_spread(l, m, &p, x, 0, 0, got);
    run_spread(l, m, &p, x, 1 + l->t_in % 7, 1 + l->t_in % 5, again);
    assert_memory_equal(got, again, n_y * sizeof *got);
    double error = error_of(got, want, n_y);
    if (!(error <= 1e-5))
        fail_msg("%s, %s %zu x %zu -> %zu x %zu, kernel %zu, stride %zu, pad %ld: error %g",
                 level->minimal->name, l->kind == COV_LAYER_CONV ? "convolution" : "transposed",
                 l->t_in, l->c_in, l->t_out, l->c_out, l->kernel, l->stride, (long)l->pad, error);
    if (l->t_out < 200)
        check_part(rng, l, m, &p, x, want);
    cov_toom_cook_free(m);
    unit_free();
    return error;
}

/* Tests every length from 1 with every stride and number of taps. */
TEST(agrees_with_reference)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 41);
    for (size_t level = 0; level < COV_COUNT(levels); level++) {
        double most[COV_TOOM_COOK_MAX_TAPS + 1] = {0};
        for (size_t i = 0; can_filter(level) && i < 2 * 3 * 4 * 40; i++) {
            size_t stride = 1 + i / 2 % 3, taps = 2 + i / 6 % 4, length = 1 + i / 24;
            struct cov_layer l = {.kind = i % 2 ? COV_LAYER_CONV_TRANSPOSED : COV_LAYER_CONV,
                                  .c_in = draw(&rng, 1, 40),
                                  .c_out = draw(&rng, 1, 70),
                                  .kernel = draw(&rng, (taps - 1) * stride + 1, taps * stride),
                                  .stride = stride,
                                  .dilation = 1,
                                  .norm = draw(&rng, 0, 1)};
            l.t_in = i % 2 ? length : length * stride;
            l.t_out = i % 2 ? length * stride : length;
            l.pad = (int64_t)draw(&rng, 0, l.kernel + 3) - 2;
            most[taps] = fmax(most[taps], check_minimal(&rng, &l, &levels[level]));
        }
        for (size_t taps = 2; can_filter(level) && taps <= COV_TOOM_COOK_MAX_TAPS; taps++)
            (void)printf("# %s, %zu taps: largest error %.2g\n", levels[level].minimal->name, taps,
                         most[taps]);
    }
    (void)fflush(stdout);
}

/* Tests tiles of six outputs with realistic numbers of channels, and with more tiles than are
 * transformed at once. */
TEST(agrees_on_long_sequences)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 42);
    for (size_t level = 0; level < COV_COUNT(levels); level++)
        for (size_t i = 0; can_filter(level) && i < 4; i++) {
            size_t length = draw(&rng, 300, 700);
            struct cov_layer l = {.kind = i % 2 ? COV_LAYER_CONV_TRANSPOSED : COV_LAYER_CONV,
                                  .c_in = i < 2 ? 64 : 63,
                                  .c_out = i < 2 ? 64 : 66,
                                  .kernel = 9,
                                  .stride = 2,
                                  .dilation = 1,
                                  .pad = 4,
                                  .norm = true};
            l.t_in = i % 2 ? length : length * 2;
            l.t_out = i % 2 ? length * 2 : length;
            (void)check_minimal(&rng, &l, &levels[level]);
        }
}

TEST(pays_with_many_channels)
{
    struct cov_layer l = {.kind = COV_LAYER_CONV,
                          .t_in = 100,
                          .c_in = 64,
                          .t_out = 50,
                          .c_out = 128,
                          .kernel = 9,
                          .stride = 2,
                          .dilation = 1,
                          .pad = 4};
    assert_true(cov_toom_cook_pays(&l));
    l.c_in = 4; /* a first layer */
    assert_true(cov_toom_cook_can(&l) && !cov_toom_cook_pays(&l));
    l.c_in = 64;
    l.dilation = 2;
    assert_false(cov_toom_cook_can(&l) || cov_toom_cook_pays(&l));
    l.dilation = 1;
    l.kernel = 11; /* six taps */
    assert_false(cov_toom_cook_can(&l));
    l.kernel = 2; /* one */
    assert_false(cov_toom_cook_can(&l));
    l.kernel = 9;
    l.kind = COV_LAYER_LSTM;
    assert_false(cov_toom_cook_can(&l));
}
