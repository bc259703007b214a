/* test_toom_cook.c - minimal filtering. The transforms are exact, and convolutions agree with the
 * scalar reference for every number of taps, stride, remainder and instruction set.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/cpu.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/compute/cpu/kernels/toom_cook.h"
#include "common/compute/cpu/layers/ref.h"

enum { GUARD = 64, M = COV_TOOM_COOK_MAX_OUTPUTS, MAX_POINTS = COV_TOOM_COOK_MAX_POINTS };

static const struct level {
    const struct cov_gemm *gemm;
    const struct cov_toom_cook_kernels *kernels;
} levels[] = {
    {&cov_gemm_base, &cov_toom_cook_base},
#ifdef __x86_64__
    {&cov_gemm_avx2, &cov_toom_cook_avx2},
    {&cov_gemm_avx512, &cov_toom_cook_avx512},
    {&cov_gemm_avx512_inner, &cov_toom_cook_avx512},
    {&cov_gemm_avx512_shared, &cov_toom_cook_avx512},
#endif
};

/* Returns true if this machine can run level i. */
static bool can_run(size_t i)
{
    return ((levels[i].gemm->needs | levels[i].kernels->needs) & ~cov_cpu_features()) == 0;
}

static size_t draw(struct cov_rng *rng, size_t min, size_t max)
{
    return min + (size_t)cov_rng_below(rng, max - min + 1);
}

static void fill(struct cov_rng *rng, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)cov_rng_double(rng) * 2 - 1;
}

/* ---- transforms ---- */

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
        for (size_t taps = 2; can_run(level) && taps <= COV_TOOM_COOK_MAX_TAPS + 1; taps++) {
            struct cov_toom_cook_points p;
            double a[M][MAX_POINTS], b[MAX_POINTS][MAX_POINTS];
            if (taps <= COV_TOOM_COOK_MAX_TAPS)
                cov_toom_cook_points_init(taps, COV_TOOM_COOK_OUTPUTS, &p);
            else
                cov_toom_cook_points_init(taps - 1, COV_TOOM_COOK_MAX_OUTPUTS, &p);
            assert_int_equal(p.n_points, p.taps + p.outputs - 1);
            for (size_t n = 1; n <= 40; n += n < 18 ? 1 : 11) {
                input_matrix(levels[level].kernels, &p, n, b);
                output_matrix(levels[level].kernels, &p, n, a);
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

/* ---- layers ---- */

/* Returns n floats between two guards of GUARD floats, all set to `value`. */
static float *guarded(size_t n, float value)
{
    float *p = aligned_alloc(64, (n + (size_t)3 * GUARD) / GUARD * GUARD * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n + (size_t)2 * GUARD; i++)
        p[i] = value;
    return p + GUARD;
}

static void free_guarded(float *p, size_t n, float value)
{
    for (size_t i = 0; i < GUARD; i++) {
        assert_memory_equal(&p[-1 - (long)i], &value, sizeof value);
        assert_memory_equal(&p[n + i], &value, sizeof value);
    }
    free(p - GUARD);
}

/* Random parameters of a layer, with or without a norm. The reference uses the same weights. */
struct parameters {
    struct cov_layer_weights w;
    float *memory, *bias, *scale, *shift;
    struct cov_finish finish;
};

static struct parameters draw_parameters(struct cov_rng *rng, const struct cov_layer *l)
{
    struct parameters p = {0};
    size_t n = l->c_in * l->c_out * l->kernel, c = l->c_out;
    p.memory = malloc((n + 8 * c) * sizeof *p.memory);
    assert_non_null(p.memory);
    fill(rng, p.memory, n + 6 * c);
    float *at = p.memory + n;
    p.w = (struct cov_layer_weights){.weight = p.memory,
                                     .bias = at,
                                     .gamma = at + c,
                                     .beta = at + 2 * c,
                                     .mean = at + 3 * c,
                                     .var = at + 4 * c};
    p.bias = at;
    p.scale = at + 6 * c;
    p.shift = at + 7 * c;
    for (size_t o = 0; o < c; o++) {
        at[4 * c + o] = at[4 * c + o] * at[4 * c + o] + 0.1f;
        double scale = l->norm ? (double)p.w.gamma[o] / sqrt((double)p.w.var[o] + COV_NORM_EPS) : 1;
        p.scale[o] = (float)scale;
        p.shift[o] = l->norm ? (float)((double)p.w.beta[o] - (double)p.w.mean[o] * scale) : 0;
    }
    p.finish = (struct cov_finish){p.bias, p.scale, p.shift, 0};
    return p;
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
    size_t n_scratch = cov_toom_cook_scratch(m);
    float *spread = guarded(n_x, NAN), *got = guarded(n_y, NAN), *scratch = guarded(n_scratch, NAN);
    for (size_t t = 0; t < l->t_in; t++)
        memcpy(spread + t * x_stride, x + t * l->c_in, l->c_in * sizeof *x);
    const struct cov_layer_io io = {spread, x_stride, got, y_stride};
    cov_toom_cook_run(m, (struct cov_rows){0, l->t_out}, &io, &p->finish, scratch);
    for (size_t t = 0; t < l->t_out; t++) {
        memcpy(y + t * l->c_out, got + t * y_stride, l->c_out * sizeof *y);
        for (size_t c = l->c_out; t + 1 < l->t_out && c < y_stride; c++)
            assert_true(isnan(got[t * y_stride + c]));
    }
    free_guarded(scratch, n_scratch, NAN);
    free_guarded(got, n_y, NAN);
    free_guarded(spread, n_x, NAN);
}

/* Runs part of the layer, with NaN in all rows of x that this part does not depend on. Checks that
 * the part equals the reference, and that no other rows are written. */
static void check_part(struct cov_rng *rng, const struct cov_layer *l,
                       const struct cov_toom_cook *m, const struct parameters *p, const float *x,
                       const float *want)
{
    size_t n_x = l->t_in * l->c_in, n_y = l->t_out * l->c_out, n_scratch = cov_toom_cook_scratch(m);
    size_t beg = draw(rng, 0, l->t_out - 1), end = draw(rng, beg, l->t_out);
    float *part = guarded(n_x, NAN), *got = guarded(n_y, NAN), *scratch = guarded(n_scratch, NAN);
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
    free_guarded(scratch, n_scratch, NAN);
    free_guarded(got, n_y, NAN);
    free_guarded(part, n_x, NAN);
}

/* Returns the error of a layer's output. Checks that its bits do not depend on the strides. */
static double check_layer(struct cov_rng *rng, const struct cov_layer *l, const struct level *level)
{
    struct cov_toom_cook *m;
    struct parameters p = draw_parameters(rng, l);
    size_t n_x = l->t_in * l->c_in, n_y = l->t_out * l->c_out;
    float *x = malloc(n_x * sizeof *x), *want = malloc(n_y * sizeof *want);
    float *got = calloc(n_y, sizeof *got), *again = calloc(n_y, sizeof *again);
    assert_non_null(x);
    assert_non_null(want);
    assert_non_null(got);
    assert_non_null(again);
    fill(rng, x, n_x);
    cov_ref_layer(l, &p.w, COV_FP32, x, want, NULL);
    assert_true(cov_toom_cook_can(l));
    assert_int_equal(cov_toom_cook_new(l, p.w.weight, level->gemm, level->kernels, &m, NULL), 0);
    run_spread(l, m, &p, x, 0, 0, got);
    run_spread(l, m, &p, x, 1 + l->t_in % 7, 1 + l->t_in % 5, again);
    assert_memory_equal(got, again, n_y * sizeof *got);
    double error = error_of(got, want, n_y);
    if (!(error <= 1e-5))
        fail_msg("%s, %s %zu x %zu -> %zu x %zu, kernel %zu, stride %zu, pad %ld: error %g",
                 level->kernels->name, l->kind == COV_LAYER_CONV ? "convolution" : "transposed",
                 l->t_in, l->c_in, l->t_out, l->c_out, l->kernel, l->stride, (long)l->pad, error);
    if (l->t_out < 200)
        check_part(rng, l, m, &p, x, want);
    cov_toom_cook_free(m);
    free(again);
    free(got);
    free(want);
    free(x);
    free(p.memory);
    return error;
}

/* Tests every length from 1 with every stride and number of taps. */
TEST(agrees_with_reference)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 41);
    for (size_t level = 0; level < COV_COUNT(levels); level++) {
        double most[COV_TOOM_COOK_MAX_TAPS + 1] = {0};
        for (size_t i = 0; can_run(level) && i < 2 * 3 * 4 * 40; i++) {
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
            most[taps] = fmax(most[taps], check_layer(&rng, &l, &levels[level]));
        }
        for (size_t taps = 2; can_run(level) && taps <= COV_TOOM_COOK_MAX_TAPS; taps++)
            (void)printf("# %s, %zu taps: largest error %.2g\n", levels[level].kernels->name, taps,
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
        for (size_t i = 0; can_run(level) && i < 4; i++) {
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
            (void)check_layer(&rng, &l, &levels[level]);
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
