/* test_vec.c - element-wise kernels of every instruction set. Compares exp, sigmoid and tanh with
 * libm in double, and the other kernels with their formulas. All tables give the same bits, except
 * that for gates this holds only for tables with multiply-adds and exact gates.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/cpu.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/compute/cpu/kernels/vec.h"

enum { EXACT = 3 }; /* tables before this one have exact gates */
static const struct cov_vec *const tables[] = {
    &cov_vec_base,
#ifdef __x86_64__
    &cov_vec_avx2,     &cov_vec_avx512, &cov_vec_amx, /* close gates */
    &cov_vec_amx_bf16,                                /* rough gates */
#endif
};

/* The bounds of vec.h on the error of a gate, which for tanh is relative only if gates are exact. */
static double gate_error(size_t t)
{
    return t < EXACT ? 3e-7 : t == EXACT ? 3e-6 : 6e-5;
}

static bool can_run(size_t t)
{
    return (tables[t]->needs & ~cov_cpu_features()) == 0;
}

enum { N = 20011 }; /* not a multiple of any vector length */

/* Returns x[N], evenly spaced from `from` to `to`. */
static float *ramp(double from, double to)
{
    float *x = unit_alloc(N * sizeof *x);
    for (size_t i = 0; i < N; i++)
        x[i] = (float)(from + (to - from) * (double)i / (N - 1));
    return x;
}

static double worst(const float *got, const float *x, double (*f)(double), bool relative)
{
    double most = 0;
    for (size_t i = 0; i < N; i++) {
        double want = f((double)x[i]), error = fabs((double)got[i] - want);
        if (relative && want != 0)
            error /= fabs(want);
        assert_true(error <= 1); /* false for NaN */
        most = error > most ? error : most;
    }
    return most;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

TEST(exponential)
{
    static float y[N], first[N];
    const float *x = ramp(-87.3, 88.7);
    for (size_t t = 0; t < COV_COUNT(tables); t++) {
        if (!can_run(t))
            continue;
        memcpy(y, x, sizeof y);
        tables[t]->exp(N, y);
        assert_true(worst(y, x, exp, true) < 1.5e-7);
        if (t == 0)
            memcpy(first, y, sizeof y);
        assert_memory_equal(y, first, sizeof y);
        for (size_t n = 0; n < 70; n++) { /* every remainder, without writes past the end */
            memcpy(y, x + N / 2, 71 * sizeof *y);
            tables[t]->exp(n, y);
            assert_memory_equal(y, first + N / 2, n * sizeof *y);
            assert_true(y[n] == x[N / 2 + n]);
        }
        float edge[] = {-200, -1e38f, -INFINITY, 89, 1e38f, INFINITY, NAN, 0};
        tables[t]->exp(COV_COUNT(edge), edge);
        assert_true(edge[0] == 0 && edge[1] == 0 && edge[2] == 0 && edge[7] == 1);
        assert_true(isinf(edge[3]) && isinf(edge[4]) && isinf(edge[5]) && isnan(edge[6]));
    }
}

/* Sets gates[4, N]. One gate is the ramp, the others are open or closed. */
static void gates_of(float *gates, const float *x, int ramp_gate, float i, float f, float g,
                     float o)
{
    const float fixed[4] = {i, f, g, o};
    for (int k = 0; k < 4; k++)
        for (size_t u = 0; u < N; u++)
            gates[(size_t)k * N + u] = k == ramp_gate ? x[u] : fixed[k];
}

/* Computes one step of N units. With i open and f closed, the cell becomes tanh(g). With g
 * saturated and f closed, it becomes sigmoid(i). With i closed, a cell of 1 becomes sigmoid(f).
 * With a cell of 40, h is sigmoid(o). */
TEST(sigmoid_and_tanh)
{
    static float gates[4 * N], zero[4 * N], cell[N], h[N];
    float *x = ramp(-40, 40);
    for (size_t k = N / 2 - 200; k < N / 2 + 200; k++)
        x[k] *= 1e-4f; /* tests very small values too */
    for (size_t t = 0; t < COV_COUNT(tables); t++) {
        if (!can_run(t))
            continue;
        memset(cell, 0, sizeof cell);
        gates_of(gates, x, 2, 80, -80, 0, 80);
        tables[t]->lstm_cell(&(struct cov_lstm_cells){1, N, gates, zero, cell, h, N});
        assert_true(worst(cell, x, tanh, t < EXACT) < gate_error(t));
        memset(cell, 0, sizeof cell);
        gates_of(gates, x, 0, 0, -80, 80, 80);
        tables[t]->lstm_cell(&(struct cov_lstm_cells){1, N, gates, zero, cell, h, N});
        assert_true(worst(cell, x, sigmoid, true) < gate_error(t));
        for (size_t u = 0; u < N; u++)
            cell[u] = 1;
        gates_of(gates, x, 1, -200, 0, 0, 80);
        tables[t]->lstm_cell(&(struct cov_lstm_cells){1, N, gates, zero, cell, h, N});
        assert_true(worst(cell, x, sigmoid, true) < gate_error(t));
        for (size_t u = 0; u < N; u++)
            cell[u] = 40;
        gates_of(gates, x, 3, -200, 80, 0, 0);
        tables[t]->lstm_cell(&(struct cov_lstm_cells){1, N, gates, zero, cell, h, N});
        assert_true(worst(h, x, sigmoid, true) < gate_error(t));
    }
}

/* Compares several rows, with any number of units and a stride of h, with the formula. Every table
 * with exact gates gives the same bits, except the first one, which has no multiply-adds. Nothing is
 * written between the rows. */
TEST(cell_of_rows)
{
    enum { ROWS = 3, MAX_HIDDEN = 40, STRIDE = 44 };
    struct cov_rng rng;
    cov_rng_init(&rng, 41);
    float gates[ROWS * 4 * MAX_HIDDEN], bias[4 * MAX_HIDDEN], before[ROWS * MAX_HIDDEN];
    for (size_t hidden = 1; hidden <= MAX_HIDDEN; hidden++) {
        float first[ROWS * STRIDE];
        for (size_t i = 0; i < ROWS * 4 * hidden; i++)
            gates[i] = (float)cov_rng_double(&rng) * 8 - 4;
        for (size_t i = 0; i < 4 * hidden; i++)
            bias[i] = (float)cov_rng_double(&rng) * 2 - 1;
        for (size_t i = 0; i < ROWS * hidden; i++)
            before[i] = (float)cov_rng_double(&rng) * 4 - 2;
        for (size_t t = 0; t < COV_COUNT(tables); t++) {
            if (!can_run(t))
                continue;
            float cell[ROWS * MAX_HIDDEN], h[ROWS * STRIDE], kept[ROWS * 4 * MAX_HIDDEN];
            memcpy(cell, before, sizeof cell);
            memcpy(kept, gates, sizeof kept);
            memset(h, 0x55, sizeof h);
            tables[t]->lstm_cell(
                &(struct cov_lstm_cells){ROWS, hidden, kept, bias, cell, h, STRIDE});
            for (size_t r = 0; r < ROWS; r++) { /* repeats the step with kept gates */
                float again[MAX_HIDDEN], h_again[MAX_HIDDEN], h_before[MAX_HIDDEN];
                memcpy(again, before + r * hidden, hidden * sizeof *again);
                memset(h_before, 0x33, sizeof h_before); /* not used: all cells move */
                tables[t]->lstm_rest(hidden, kept + r * 4 * hidden, again, h_before, h_again);
                assert_memory_equal(again, cell + r * hidden, hidden * sizeof *again);
                assert_memory_equal(h_again, h + r * STRIDE, hidden * sizeof *again);
            }
            for (size_t r = 0; r < ROWS; r++)
                for (size_t u = 0; u < hidden; u++) {
                    double z[4];
                    for (size_t k = 0; k < 4; k++)
                        z[k] =
                            (double)gates[(r * 4 + k) * hidden + u] + (double)bias[k * hidden + u];
                    double c =
                        sigmoid(z[1]) * (double)before[r * hidden + u] + sigmoid(z[0]) * tanh(z[2]);
                    double most = fmax(2e-6, 4 * gate_error(t));
                    assert_true(fabs((double)cell[r * hidden + u] - c) < most);
                    assert_true(fabs((double)h[r * STRIDE + u] - sigmoid(z[3]) * tanh(c)) < most);
                }
            for (size_t r = 0; r < ROWS; r++)
                for (size_t u = hidden; u < STRIDE; u++) {
                    uint32_t bits;
                    memcpy(&bits, &h[r * STRIDE + u], sizeof bits);
                    assert_int_equal(bits, 0x55555555);
                }
            if (t == 1)
                memcpy(first, h, sizeof h);
            if (t > 0 && t < EXACT)
                assert_memory_equal(h, first, sizeof h);
        }
    }
}

/* Rounding in an open gate would add up in a cell that counts. */
TEST(open_gates_keep_cells)
{
    enum { HIDDEN = 37 };
    for (size_t t = 0; t < COV_COUNT(tables); t++) {
        float gates[4 * HIDDEN], bias[4 * HIDDEN] = {0}, cell[HIDDEN], h[HIDDEN];
        for (size_t u = 0; u < HIDDEN; u++) {
            gates[u] = -300; /* i is closed */
            gates[HIDDEN + u] = 20 + (float)u;
            gates[2 * HIDDEN + u] = gates[3 * HIDDEN + u] = 1;
            cell[u] = 1234.567f + (float)u;
        }
        if (can_run(t))
            tables[t]->lstm_cell(&(struct cov_lstm_cells){1, HIDDEN, gates, bias, cell, h, HIDDEN});
        for (size_t u = 0; u < HIDDEN; u++)
            assert_true(cell[u] == 1234.567f + (float)u);
    }
}

TEST(finishes)
{
    enum { ROWS = 3, MAX_C = 40, STRIDE = 43 };
    struct cov_rng rng;
    cov_rng_init(&rng, 42);
    float acc[ROWS * MAX_C], bias[MAX_C], scale[MAX_C], shift[MAX_C];
    for (size_t c = 1; c <= MAX_C; c++)
        for (size_t t = 0; t < COV_COUNT(tables); t++) {
            if (!can_run(t))
                continue;
            float y[ROWS * STRIDE];
            for (size_t i = 0; i < ROWS * c; i++)
                acc[i] = (float)cov_rng_double(&rng) * 2 - 1;
            acc[cov_rng_below(&rng, ROWS * c)] = NAN;
            for (size_t i = 0; i < c; i++) {
                bias[i] = (float)cov_rng_double(&rng) - 0.5f;
                scale[i] = (float)cov_rng_double(&rng) * 4 - 2;
                shift[i] = (float)cov_rng_double(&rng) - 0.5f;
            }
            memset(y, 0, sizeof y);
            const struct cov_finish f = {bias, scale, shift, c % 3 ? 0 : -INFINITY};
            tables[t]->finish(ROWS, c, acc, &f, y, STRIDE);
            for (size_t r = 0; r < ROWS; r++)
                for (size_t i = 0; i < STRIDE; i++) {
                    float got = y[r * STRIDE + i];
                    if (i >= c) {
                        assert_true(got == 0);
                        continue;
                    }
                    float v = acc[r * c + i] + bias[i];
                    float want = (v > f.lowest ? v : f.lowest) * scale[i] + shift[i];
                    assert_true(isnan(v) ? isnan(got) : got == want);
                }
        }
}

/* One element at every remainder decides the result. NaN is not close to any value. */
TEST(compares_distances)
{
    enum { MAX_N = 150 };
    struct cov_rng rng;
    cov_rng_init(&rng, 43);
    for (size_t n = 1; n <= MAX_N; n++)
        for (size_t t = 0; t < COV_COUNT(tables); t++) {
            if (!can_run(t))
                continue;
            float a[MAX_N + 1], b[MAX_N + 1], most = 0, far = 0;
            for (size_t i = 0; i < n; i++) {
                a[i] = (float)cov_rng_double(&rng) * 4 - 2;
                b[i] = a[i] + (float)cov_rng_double(&rng) * 2 - 1;
                most = fmaxf(most, fabsf(a[i]));
                far = fmaxf(far, fabsf(a[i] - b[i]));
            }
            a[n] = NAN; /* must not be read */
            b[n] = 100;
            const struct cov_vec *v = tables[t];
            assert_true(v->largest(n, a) == most);
            assert_true(v->within(n, a, b, far));
            assert_false(v->within(n, a, b, nextafterf(far, 0)));
            assert_true(v->within(n, a, a, 0));
            assert_false(v->within(n, a, a, -1));
            size_t at = cov_rng_below(&rng, n);
            a[at] = -INFINITY;
            assert_true(v->largest(n, a) == INFINITY);
            assert_false(v->within(n, a, b, 1e30f));
            assert_false(v->within(n, a, a, 1e30f));
            a[at] = NAN;
            assert_true(isnan(v->largest(n, a)));
            assert_false(v->within(n, a, b, 1e30f));
            assert_false(v->within(n, b, a, 1e30f));
            a[at] = b[at];
            assert_true(v->within(n, a, b, 1));
        }
}
