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
#include "common/compute/dropout.h"

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
INLINE void open_input(const enum gates how, const size_t n, size_t hidden, float *gates,
                       const float *bias)
{
    vec i = gate_sum(how, SIGMOID_SCALE, load(n, gates), load(n, bias));
    vec g = gate_sum(how, TANH_SCALE, load(n, gates + 2 * hidden), load(n, bias + 2 * hidden));
    store(n, gated_tanh(how, g, under_gate(how, i)), gates);
}

/* Computes f, o and the cells. A cell may count up for thousands of steps, and accumulated rounding
 * decides when its sign changes. So an open gate is exactly 1 (its division is separate), and
 * f * cell is rounded before the sum, as in PyTorch. With a fused multiply-add, cells of a trained
 * network differed 30 times more from PyTorch's. */
INLINE void open_others(const enum gates how, const size_t n, size_t hidden, float *gates,
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
INLINE void show(const enum gates how, const size_t n, size_t hidden, const float *gates,
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
INLINE void run_cells(const enum gates how, const struct cov_lstm_cells *c)
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
INLINE void rest_units(const enum gates how, const size_t n, size_t hidden, const struct resting *r,
                       size_t u)
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

INLINE void run_resting(const enum gates how, size_t hidden, const struct resting *r)
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
INLINE ints beyond(const size_t n, const float *a, const float *b, vec most)
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
INLINE void look_up_row(const int vectors, const size_t n, const struct cov_look_up *l,
                        const uint8_t *codes, const struct cov_finish *f, size_t c, float *y)
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

/* ---- training: plain loops, which the compiler vectorises ---- */

/* ---- norms: in memory order; the sums stay in the first-level cache ---- */

static void norm_sums(size_t rows, size_t c, const float *restrict r, size_t r_stride,
                      double *restrict sums)
{
    for (size_t t = 0; t < rows; t++)
        for (size_t k = 0; k < c; k++) {
            double v = (double)r[t * r_stride + k];
            sums[k] += v;
            sums[c + k] += v * v;
        }
}

static void scale_rows(const struct cov_vec_rows *x, const float *restrict scale,
                       const float *restrict shift, float *restrict y, size_t y_stride)
{
    const size_t rows = x->rows, c = x->c, r_stride = x->r_stride;
    const float *restrict r = x->r;
    for (size_t t = 0; t < rows; t++)
        for (size_t k = 0; k < c; k++)
            y[t * y_stride + k] = r[t * r_stride + k] * scale[k] + shift[k];
}

static void norm_backward_sums(const struct cov_vec_rows *x, const float *restrict mean,
                               const float *restrict rstd, double *restrict sums)
{
    const size_t rows = x->rows, c = x->c, r_stride = x->r_stride, d_stride = x->d_stride;
    const float *restrict r = x->r, *restrict d = x->d;
    for (size_t t = 0; t < rows; t++)
        for (size_t k = 0; k < c; k++) {
            float by = d[t * d_stride + k], v = (r[t * r_stride + k] - mean[k]) * rstd[k];
            sums[k] += (double)by;
            sums[c + k] += (double)(by * v);
        }
}

static void relu_backward(const struct cov_vec_rows *x, const float *restrict by_d,
                          const float *restrict by_r, const float *restrict shift,
                          float *restrict z, double *restrict sums)
{
    const size_t rows = x->rows, c = x->c, r_stride = x->r_stride, d_stride = x->d_stride;
    const float *restrict r = x->r, *restrict d = x->d;
    for (size_t t = 0; t < rows; t++)
        for (size_t k = 0; k < c; k++) {
            float at = r[t * r_stride + k];
            float v = by_d[k] * d[t * d_stride + k] + by_r[k] * at + shift[k];
            v = at > 0.0f ? v : 0.0f;
            z[t * c + k] = v;
            sums[k] += (double)v;
        }
}

static void column_sums(size_t rows, size_t c, const float *restrict x, size_t x_stride,
                        double *restrict sums)
{
    for (size_t t = 0; t < rows; t++)
        for (size_t k = 0; k < c; k++)
            sums[k] += (double)x[t * x_stride + k];
}

/* n_terms is a constant when this is inlined. */
INLINE void combine_terms(const int n_terms, size_t n, const float *const *rows, const float *by,
                          float *y)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec sum = {0};
#pragma GCC unroll 8
        for (int k = 0; k < n_terms; k++)
            sum += load(LANES, rows[k] + i) * all(by[k]);
        store(LANES, sum, y + i);
    }
    for (; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < n_terms; k++)
            sum += rows[k][i] * by[k];
        y[i] = sum;
    }
}

static void combine(size_t n, size_t n_terms, const float *const *rows, const float *by, float *y)
{
    switch (n_terms) {
    case 1:
        combine_terms(1, n, rows, by, y);
        break;
    case 4:
        combine_terms(4, n, rows, by, y);
        break;
    case 6:
        combine_terms(6, n, rows, by, y);
        break;
    default:
        combine_terms((int)n_terms, n, rows, by, y);
    }
}

/* ---- LSTM ---- */

INLINE vec sigmoid(vec x)
{
    return all(1.0f) / under_sigmoid(x);
}

INLINE vec hyperbolic(vec x)
{
    vec t = above_tanh(x);
    return t / (t + all(2.0f));
}

/* Prefetches units of row r for the next step. */
INLINE void prefetch_units(const struct cov_vec_lstm *s, size_t r, size_t u, size_t y_stride)
{
    if (!s->next_gates)
        return;
    const float *gates = s->next_gates + r * s->gates_stride + u;
    for (int k = 0; k < 4; k++)
        __builtin_prefetch(gates + (size_t)k * s->hidden);
    if (s->next_cells)
        __builtin_prefetch(s->next_cells + r * s->cells_stride + u);
    __builtin_prefetch(s->next_y + r * y_stride + u);
}

/* Computes units [u, u + n) of sequence r, n <= LANES. */
INLINE void forward_units(const size_t n, const struct cov_vec_lstm *s, size_t r, size_t u,
                          const float *sums, const float *bias, float *h)
{
    const size_t hidden = s->hidden, at = r * s->cells_stride + u;
    float *gates = s->gates + r * s->gates_stride + u;
    vec i = sigmoid(load(n, sums) + load(n, bias));
    vec f = sigmoid(load(n, sums + hidden) + load(n, bias + hidden));
    vec g = hyperbolic(load(n, sums + 2 * hidden) + load(n, bias + 2 * hidden));
    vec o = sigmoid(load(n, sums + 3 * hidden) + load(n, bias + 3 * hidden));
    vec c = i * g;
    if (s->before)
        c = f * load(n, s->before + at) + c;
    store(n, i, gates);
    store(n, f, gates + hidden);
    store(n, g, gates + 2 * hidden);
    store(n, o, gates + 3 * hidden);
    store(n, c, s->cells + at);
    store(n, o * hyperbolic(c), h);
}

static void lstm_forward(const struct cov_vec_lstm *of, const float *sums, const float *bias,
                         float *h, size_t h_stride)
{
    const struct cov_vec_lstm s = *of; /* a copy, which no store can change */
    size_t whole = s.hidden / LANES * LANES;
    for (size_t r = 0; r < s.rows; r++, sums += 4 * s.hidden) {
        float *to = h + r * h_stride;
        for (size_t u = 0; u < whole; u += LANES) {
            prefetch_units(&s, r, u, h_stride);
            forward_units(LANES, &s, r, u, sums + u, bias + u, to + u);
        }
        if (whole < s.hidden)
            forward_units(s.hidden - whole, &s, r, whole, sums + whole, bias + whole, to + whole);
    }
}

INLINE void backward_units(const size_t n, const struct cov_vec_lstm *s, size_t r, size_t u,
                           const float *dy, const float *next, float *dc)
{
    const size_t hidden = s->hidden, at = r * s->cells_stride + u;
    float *gates = s->gates + r * s->gates_stride + u;
    vec i = load(n, gates), f = load(n, gates + hidden), g = load(n, gates + 2 * hidden);
    vec o = load(n, gates + 3 * hidden), shown = hyperbolic(load(n, s->cells + at));
    vec dh = load(n, dy);
    const vec one = all(1.0f);
    if (next)
        dh = dh + load(n, next);
    vec by_cell = load(n, dc) + dh * o * (one - shown * shown);
    store(n, by_cell * g * i * (one - i), gates);
    vec by_f = {0};
    if (s->before)
        by_f = by_cell * load(n, s->before + at) * f * (one - f);
    store(n, by_f, gates + hidden);
    store(n, by_cell * i * (one - g * g), gates + 2 * hidden);
    store(n, dh * shown * o * (one - o), gates + 3 * hidden);
    store(n, by_cell * f, dc);
}

static void lstm_backward(const struct cov_vec_lstm *of, const float *dy, size_t dy_stride,
                          const float *from_next, float *dc)
{
    const struct cov_vec_lstm s = *of; /* a copy, which no store can change */
    size_t whole = s.hidden / LANES * LANES;
    for (size_t r = 0; r < s.rows; r++, dc += s.hidden) {
        const float *by = dy + r * dy_stride, *next = from_next ? from_next + r * s.hidden : NULL;
        for (size_t u = 0; u < whole; u += LANES) {
            prefetch_units(&s, r, u, dy_stride);
            backward_units(LANES, &s, r, u, by + u, next ? next + u : NULL, dc + u);
        }
        if (whole < s.hidden)
            backward_units(s.hidden - whole, &s, r, whole, by + whole, next ? next + whole : NULL,
                           dc + whole);
    }
}

/* ---- dropout ---- */

static void dropout(size_t n, uint64_t key, uint64_t first, uint32_t limit, float scale,
                    const float *x, float *y)
{
    enum { BLOCK = 64 };
    uint32_t bits[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t rows = n - i < BLOCK ? n - i : BLOCK;
        for (size_t k = 0; k < BLOCK / 2; k++) {
            uint64_t z = cov_dropout_mix(key + ((first + i) / 2 + k + 1) * 0x9e3779b97f4a7c15U);
            bits[2 * k] = (uint32_t)z;
            bits[2 * k + 1] = (uint32_t)(z >> 32);
        }
        for (size_t k = 0; k < rows; k++)
            y[i + k] = bits[k] < limit ? 0.0f : x[i + k] * scale;
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
    const struct cov_vec table = {.name = title,                                                   \
                                  .needs = features,                                               \
                                  .finish = finish,                                                \
                                  .lstm_cell = table##_cell,                                       \
                                  .lstm_rest = table##_rest,                                       \
                                  .largest = largest,                                              \
                                  .within = within,                                                \
                                  .exp = exp_all,                                                  \
                                  .look_up = look_up,                                              \
                                  .norm_sums = norm_sums,                                          \
                                  .scale = scale_rows,                                             \
                                  .norm_backward_sums = norm_backward_sums,                        \
                                  .relu_backward = relu_backward,                                  \
                                  .combine = combine,                                              \
                                  .column_sums = column_sums,                                      \
                                  .lstm_forward = lstm_forward,                                    \
                                  .lstm_backward = lstm_backward,                                  \
                                  .dropout = dropout};
