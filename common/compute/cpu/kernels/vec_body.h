/* vec_body.h - the kernels of vec.h; included by the file of each instruction set, which defines
 * LANES (floats per vector), FUSED(a, b, c) = a b + c, rounded once if possible, LEAST(a, b) and
 * MOST(a, b), which give b if a or b is NaN, and ANY(v), which is true if any bit is set. After the
 * inclusion, it defines tables with VEC_TABLE_OF.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/cpu/kernels/vec_gates.h"

enum {
    LOOK_UP_VECTORS = 4, /* vectors of sums at a time */
    TOGETHER = 4,        /* vectors compared before the result is tested */
};

#ifndef ANY
#define ANY(v) any_lane(v)
static inline bool any_lane(ints v)
{
    int32_t any = 0;
    for (int i = 0; i < LANES; i++)
        any |= v[i];
    return any != 0;
}
#endif

static inline float from_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline int32_t to_bits(float v)
{
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* 2^n for n in -126..127; an arbitrary float otherwise, which is then multiplied with NaN. */
static inline float power_of_2(int32_t n)
{
    return from_bits((uint32_t)(n + 127) << 23);
}

/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2) / 2; exp(r) = 1 + r + r^2 P(r), P minimax
 * of degree 4 (relative error 3e-9). Adding 1.5 * 2^23 rounds and leaves n in the low bits. ln 2 is
 * 355/512 - 2.12e-4, so that n * 355/512 is exact. 2^n is multiplied in as two factors, since n
 * exceeds the range of exponents at both ends. */
static inline float exp_core(float x)
{
    const float round = 12582912.0f;
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    float k = x * 1.44269504f + round;
    int32_t n = to_bits(k) - to_bits(round);
    k -= round;
    float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    float p = 1.381454e-3f;
    p = p * r + 8.368745e-3f;
    p = p * r + 4.166839e-2f;
    p = p * r + 1.6666521e-1f;
    p = p * r + 4.9999994e-1f;
    p = (p * r * r + r) + 1.0f;
    int32_t half = n >> 1;
    return p * power_of_2(half) * power_of_2(n - half);
}

/* ---- gates ---- */

/* Computes i g for n <= LANES units of a row of lstm_cell. */
static inline __attribute__((always_inline)) void
open_input(const enum gates how, const size_t n, size_t hidden, float *gates, const float *bias)
{
    vec i = gate_sum(how, SIGMOID_SCALE, load(n, gates), load(n, bias));
    vec g = gate_sum(how, TANH_SCALE, load(n, gates + 2 * hidden), load(n, bias + 2 * hidden));
    store(n, gated_tanh(how, g, under_gate(how, i)), gates);
}

/* Computes f, o and the cells. A cell may count up for thousands of steps, and accumulated rounding
 * decides when its sign changes. So an open gate is exactly 1 (its division is separate), and
 * f * cell is rounded before the sum, as in PyTorch. With a fused multiply-add, cells of a trained
 * network differed 30 times more from PyTorch's. */
static inline __attribute__((always_inline)) void open_others(const enum gates how, const size_t n,
                                                              size_t hidden, float *gates,
                                                              const float *bias, float *cell)
{
    float *f = gates + hidden, *o = gates + 3 * hidden;
    vec sum = gate_sum(how, SIGMOID_SCALE, load(n, f), load(n, bias + hidden));
    vec keep = gate_of(how, under_gate(how, sum));
    store(n, keep, f);
    sum = gate_sum(how, SIGMOID_SCALE, load(n, o), load(n, bias + 3 * hidden));
    store(n, under_gate(how, sum), o);
    store(n, keep * load(n, cell) + load(n, gates), cell);
}

/* Computes h = o tanh(cell). */
static inline __attribute__((always_inline)) void show(const enum gates how, const size_t n,
                                                       size_t hidden, const float *gates,
                                                       const float *cell, float *h)
{
    store(n, shown_cell(how, load(n, cell), load(n, gates + 3 * hidden)), h);
}

static void finish(size_t rows, size_t n, const float *restrict acc, const struct cov_finish *f,
                   float *restrict y, size_t y_stride)
{
    const float *restrict bias = f->bias, *restrict scale = f->scale, *restrict shift = f->shift;
    const float lowest = f->lowest;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < n; c++) {
            float v = acc[r * n + c] + bias[c];
            v = v < lowest ? lowest : v;
            y[r * y_stride + c] = v * scale[c] + shift[c];
        }
}

/* Computes all units of a row in three loops, so that chains of exponentials and divisions are
 * short and many of them overlap. */
static inline __attribute__((always_inline)) void run_cells(const enum gates how,
                                                            const struct cov_lstm_cells *c)
{
    size_t hidden = c->hidden, whole = hidden / LANES * LANES, rest = hidden - whole;
    const float *bias = c->bias;
    float *gates = c->gates, *cell = c->cell, *h = c->h;
    for (size_t r = 0; r < c->rows; r++, gates += 4 * hidden, cell += hidden, h += c->h_stride) {
        for (size_t u = 0; u < whole; u += LANES)
            open_input(how, LANES, hidden, gates + u, bias + u);
        for (size_t u = 0; u < whole; u += LANES)
            open_others(how, LANES, hidden, gates + u, bias + u, cell + u);
        for (size_t u = 0; u < whole; u += LANES)
            show(how, LANES, hidden, gates + u, cell + u, h + u);
        if (rest) {
            open_input(how, rest, hidden, gates + whole, bias + whole);
            open_others(how, rest, hidden, gates + whole, bias + whole, cell + whole);
            show(how, rest, hidden, gates + whole, cell + whole, h + whole);
        }
    }
}

/* One sequence whose gates are kept (vec.h, lstm_rest). */
struct resting {
    const float *gates;
    float *cell;
    const float *before;
    float *h;
};

/* Computes n <= LANES units of lstm_rest, from unit u on. */
static inline __attribute__((always_inline)) void
rest_units(const enum gates how, const size_t n, size_t hidden, const struct resting *r, size_t u)
{
    const float *add = r->gates + u, *keep = add + hidden, *under_o = add + 3 * hidden;
    vec old = load(n, r->cell + u), v = load(n, keep) * old + load(n, add);
    if (!ANY((ints)v ^ (ints)old)) {
        memcpy(r->h + u, r->before + u, n * sizeof *r->h);
        return;
    }
    store(n, v, r->cell + u);
    store(n, shown_cell(how, v, load(n, under_o)), r->h + u);
}

static inline __attribute__((always_inline)) void run_resting(const enum gates how, size_t hidden,
                                                              const struct resting *r)
{
    size_t u = 0;
    for (; u + LANES <= hidden; u += LANES)
        rest_units(how, LANES, hidden, r, u);
    if (u < hidden)
        rest_units(how, hidden - u, hidden, r, u);
}

/* The bits of absolute values have the same order as the values, and NaN is the largest. */
static float largest(size_t n, const float *a)
{
    int32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t bits = to_bits(a[i]) & INT32_MAX;
        most = bits > most ? bits : most;
    }
    return from_bits((uint32_t)most);
}

/* Returns n <= LANES lanes whose bits are set where |a - b| > most. */
static inline __attribute__((always_inline)) ints beyond(const size_t n, const float *a,
                                                         const float *b, vec most)
{
    vec apart = load(n, a) - load(n, b);
    return ~((vec)((ints)apart & INT32_MAX) <= most);
}

static bool within(size_t n, const float *a, const float *b, float most)
{
    vec mosts = all(most);
    size_t i = 0;
    for (; i + TOGETHER * LANES <= n; i += TOGETHER * LANES) {
        ints far = {0};
#pragma GCC unroll 4
        for (size_t j = 0; j < TOGETHER; j++)
            far |= beyond(LANES, a + i + j * LANES, b + i + j * LANES, mosts);
        if (ANY(far))
            return false;
    }
    for (; i < n; i += LANES)
        if (ANY(beyond(n - i < LANES ? n - i : LANES, a + i, b + i, mosts)))
            return false;
    return true;
}

static void exp_all(size_t n, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = exp_core(y[i]);
}

/* ---- table look-up ---- */

/* Computes one row of y from column c on: `vectors` vectors, with n <= LANES columns of each. */
static inline __attribute__((always_inline)) void
look_up_row(const int vectors, const size_t n, const struct cov_look_up *l, const uint8_t *codes,
            const struct cov_finish *f, size_t c, float *y)
{
    vec sum[LOOK_UP_VECTORS] = {{0}};
    for (size_t k = 0; k < l->n_taps; k++) {
        const float *row = l->table + (k * 16 + (codes[k * l->apart] & 15)) * l->n + c;
#pragma GCC unroll 4
        for (int i = 0; i < vectors; i++)
            sum[i] += load(n, row + i * LANES);
    }
#pragma GCC unroll 4
    for (int i = 0; i < vectors; i++, c += LANES) {
        vec v = sum[i] + load(n, f->bias + c), lowest = all(f->lowest);
        ints below = v < lowest;
        v = (vec)(((ints)v & ~below) | ((ints)lowest & below));
        store(n, v * load(n, f->scale + c) + load(n, f->shift + c), y + c);
    }
}

static void look_up(const struct cov_look_up *of, const struct cov_finish *f)
{
    const struct cov_look_up l = *of;
    const uint8_t *codes = l.codes;
    float *y = l.y;
    for (size_t r = 0; r < l.rows; r++, codes += l.step, y += l.y_stride) {
        size_t c = 0;
        for (; c + LOOK_UP_VECTORS * LANES <= l.n; c += LOOK_UP_VECTORS * LANES)
            look_up_row(LOOK_UP_VECTORS, LANES, &l, codes, f, c, y);
        for (; c + LANES <= l.n; c += LANES)
            look_up_row(1, LANES, &l, codes, f, c, y);
        if (c < l.n)
            look_up_row(1, l.n - c, &l, codes, f, c, y);
    }
}

/* Defines a table whose gates are computed as in `how`, an enum gates. */
#define VEC_TABLE_OF(table, title, features, how)                                                  \
    static void table##_cell(const struct cov_lstm_cells *c)                                       \
    {                                                                                              \
        run_cells(how, c);                                                                         \
    }                                                                                              \
    static void table##_rest(size_t hidden, const float *gates, float *cell, const float *before,  \
                             float *h)                                                             \
    {                                                                                              \
        run_resting(how, hidden, &(struct resting){gates, cell, before, h});                       \
    }                                                                                              \
    const struct cov_vec table = {title,   features, finish,  table##_cell, table##_rest,          \
                                  largest, within,   exp_all, look_up};
