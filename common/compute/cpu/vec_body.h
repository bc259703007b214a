/* vec_body.h - the kernels of vec.h; included by the file of each instruction set, which defines
 * VEC_TABLE, VEC_NAME and VEC_NEEDS.
 * SPDX-License-Identifier: MIT */
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

static void lstm_cell(size_t rows, size_t hidden, const float *restrict gates,
                      const float *restrict bias, float *restrict cell, float *restrict h,
                      size_t h_stride)
{
    for (size_t r = 0; r < rows; r++) {
        const float *in = gates + r * 4 * hidden;
        float *c = cell + r * hidden, *out = h + r * h_stride;
        for (size_t u = 0; u < hidden; u++) {
            float i = sigmoid(in[u] + bias[u]);
            float f = sigmoid(in[hidden + u] + bias[hidden + u]);
            float g = tanh_(in[2 * hidden + u] + bias[2 * hidden + u]);
            float o = sigmoid(in[3 * hidden + u] + bias[3 * hidden + u]);
            float v = f * c[u] + i * g;
            c[u] = v;
            out[u] = o * tanh_(v);
        }
    }
}

static void exp_all(size_t n, float *restrict y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = exp_core(y[i]);
}

const struct cov_vec VEC_TABLE = {VEC_NAME, VEC_NEEDS, finish, lstm_cell, exp_all};
