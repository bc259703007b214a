/* vec_body.h - the kernels of vec.h; included by the file of each instruction set, which defines
 * VEC_TABLE, VEC_NAME and VEC_NEEDS.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/compute/cpu/vec.h"

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

/* 2^n for n in -126..127; for any other n some float, which then meets NaN. */
static inline float power_of_2(int32_t n)
{
    return from_bits((uint32_t)(n + 127) << 23);
}

/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2) / 2; exp(r) = 1 + r + r^2 P(r), P minimax of
 * degree 4 (relative error 3e-9). Adding 1.5 * 2^23 rounds, and leaves n in the low bits. ln 2 is
 * 355/512 - 2.12e-4, so that n * 355/512 is exact. 2^n goes in as two factors, since at both ends n
 * is beyond the exponents of one. */
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

static inline float sigmoid(float x)
{
    return 1.0f / (1.0f + exp_core(-x));
}

/* Near 0, where 1 - 2 / (exp(2x) + 1) would cancel, an odd polynomial (minimax, relative error
 * 4e-9). */
static inline float tanh_(float x)
{
    float s = x * x;
    float p = -5.717045e-3f;
    p = p * s + 2.0650588e-2f;
    p = p * s - 5.3743497e-2f;
    p = p * s + 1.3331491e-1f;
    p = p * s - 3.3333284e-1f;
    float near = p * s * x + x;
    float a = x < 0 ? -x : x;
    float far = 1.0f - 2.0f / (exp_core(2.0f * a) + 1.0f);
    far = x < 0 ? -far : far;
    return a < 0.625f ? near : far;
}

static void finish(size_t rows, size_t n, const float *restrict acc, const float *restrict bias,
                   const float *restrict scale, const float *restrict shift, float *restrict y,
                   size_t y_stride)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < n; c++) {
            float v = acc[r * n + c] + bias[c];
            v = v < 0.0f ? 0.0f : v;
            y[r * y_stride + c] = v * scale[c] + shift[c];
        }
}

/* The four gates of one row stand apart, which the compiler is told here. */
static void gates_of_row(size_t hidden, const float *restrict bias, float *restrict i,
                         float *restrict f, float *restrict g, float *restrict o,
                         float *restrict cell, float *restrict h)
{
    for (size_t u = 0; u < hidden; u++) {
        i[u] = sigmoid(i[u] + bias[u]);
        f[u] = sigmoid(f[u] + bias[hidden + u]);
        g[u] = tanh_(g[u] + bias[2 * hidden + u]);
        o[u] = sigmoid(o[u] + bias[3 * hidden + u]);
        float v = f[u] * cell[u] + i[u] * g[u];
        cell[u] = v;
        h[u] = o[u] * tanh_(v);
    }
}

static void lstm_cell(size_t rows, size_t hidden, float *gates, const float *bias, float *cell,
                      float *h, size_t h_stride)
{
    for (size_t r = 0; r < rows; r++) {
        float *i = gates + r * 4 * hidden;
        gates_of_row(hidden, bias, i, i + hidden, i + 2 * hidden, i + 3 * hidden, cell + r * hidden,
                     h + r * h_stride);
    }
}

/* n <= REST_UNITS units of lstm_rest. */
enum { REST_UNITS = 16 };
static inline __attribute__((always_inline)) void
rest_units(const size_t n, const float *restrict i, const float *restrict f,
           const float *restrict g, const float *restrict o, float *restrict cell,
           const float *restrict before, float *restrict h)
{
    float v[REST_UNITS];
    int32_t changed = 0;
    for (size_t u = 0; u < n; u++) {
        v[u] = f[u] * cell[u] + i[u] * g[u];
        changed |= to_bits(v[u]) ^ to_bits(cell[u]);
    }
    if (!changed) {
        memcpy(h, before, n * sizeof *h);
        return;
    }
    for (size_t u = 0; u < n; u++) {
        cell[u] = v[u];
        h[u] = o[u] * tanh_(v[u]);
    }
}

static void lstm_rest(size_t hidden, const float *gates, float *cell, const float *before, float *h)
{
    const float *i = gates, *f = i + hidden, *g = f + hidden, *o = g + hidden;
    size_t u = 0;
    for (; u + REST_UNITS <= hidden; u += REST_UNITS)
        rest_units(REST_UNITS, i + u, f + u, g + u, o + u, cell + u, before + u, h + u);
    if (u < hidden)
        rest_units(hidden - u, i + u, f + u, g + u, o + u, cell + u, before + u, h + u);
}

/* The largest |a - b| of n and the largest |b|, as bits, which order as the numbers do; NaN is above
 * all. */
static inline void distance(size_t n, const float *a, const float *b, int32_t *moved,
                            int32_t *largest)
{
    int32_t d = 0, m = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t di = to_bits(a[i] - b[i]) & INT32_MAX, mi = to_bits(b[i]) & INT32_MAX;
        d = di > d ? di : d;
        m = mi > m ? mi : m;
    }
    *moved = d;
    *largest = m;
}

static bool still(size_t n, const float *a, const float *ref)
{
    enum { FIRST = 16 };
    size_t first = n < FIRST ? n : FIRST;
    int32_t d, m, d_rest, m_rest;
    distance(first, a, ref, &d, &m);
    if (!(from_bits((uint32_t)d) <= COV_VEC_LEAP * from_bits((uint32_t)m)))
        return false;
    distance(n - first, a + first, ref + first, &d_rest, &m_rest);
    d = d_rest > d ? d_rest : d;
    m = m_rest > m ? m_rest : m;
    float largest = from_bits((uint32_t)m);
    return largest <= FLT_MAX && from_bits((uint32_t)d) <= COV_VEC_STILL * largest;
}

static void exp_all(size_t n, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = exp_core(y[i]);
}

const struct cov_vec VEC_TABLE = {VEC_NAME,  VEC_NEEDS, finish, lstm_cell,
                                  lstm_rest, still,     exp_all};
