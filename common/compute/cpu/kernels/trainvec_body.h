/* trainvec_body.h - the kernels of trainvec.h; included by the file of each instruction set, which
 * defines TRAINVEC_TABLE and the other macros of vec_body.h. The loops are plain, so that the
 * compiler vectorises them.
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/trainvec.h"
#include "common/compute/cpu/kernels/vec_gates.h"
#include "common/compute/dropout.h"

#define INLINE static inline __attribute__((always_inline))

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

static void scale_rows(const struct cov_trainvec_rows *x, const float *restrict scale,
                       const float *restrict shift, float *restrict y, size_t y_stride)
{
    const size_t rows = x->rows, c = x->c, r_stride = x->r_stride;
    const float *restrict r = x->r;
    for (size_t t = 0; t < rows; t++)
        for (size_t k = 0; k < c; k++)
            y[t * y_stride + k] = r[t * r_stride + k] * scale[k] + shift[k];
}

static void norm_backward_sums(const struct cov_trainvec_rows *x, const float *restrict mean,
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

static void relu_backward(const struct cov_trainvec_rows *x, const float *restrict by_d,
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
INLINE void prefetch_units(const struct cov_trainvec_lstm *s, size_t r, size_t u, size_t y_stride)
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
INLINE void forward_units(const size_t n, const struct cov_trainvec_lstm *s, size_t r, size_t u,
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

static void lstm_forward(const struct cov_trainvec_lstm *of, const float *sums, const float *bias,
                         float *h, size_t h_stride)
{
    const struct cov_trainvec_lstm s = *of; /* a copy, which no store can change */
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

INLINE void backward_units(const size_t n, const struct cov_trainvec_lstm *s, size_t r, size_t u,
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

static void lstm_backward(const struct cov_trainvec_lstm *of, const float *dy, size_t dy_stride,
                          const float *from_next, float *dc)
{
    const struct cov_trainvec_lstm s = *of; /* a copy, which no store can change */
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

const struct cov_trainvec TRAINVEC_TABLE = {
    VEC_NAME,           VEC_NEEDS,     norm_sums, scale_rows,
    norm_backward_sums, relu_backward, combine,   column_sums,
    lstm_forward,       lstm_backward, dropout};
