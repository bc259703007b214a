/* vec_body.h - the kernels of vec.h; included by the file of each instruction set, which defines
 * VEC_TABLE, VEC_NAME and VEC_NEEDS.
 *
 * exp: 2^k by the exponent's bits times a polynomial on [-ln2/2, ln2/2], relative error below 2e-7. tanh: a polynomial near 0, where
 * 1 - 2 / (exp(2x) + 1) would cancel, and that formula elsewhere.
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

/* exp(x) for x in [-87.3, 88.3]; what is outside is taken to the border. */
static inline float exp_core(float x)
{
    const float round = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    x = x < -87.3f ? -87.3f : x;
    x = x > 88.3f ? 88.3f : x;
    float k = (x * 1.44269504f + round) - round;
    float r = (x - k * 0.693359375f) - k * -2.12194440e-4f; /* ln 2 in two parts */
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return p * from_bits(((uint32_t)(int32_t)k + 127U) << 23);
}

static inline float sigmoid(float x)
{
    return 1.0f / (1.0f + exp_core(-x));
}

static inline float tanh_(float x)
{
    float s = x * x;
    float p = -5.70498872745e-3f;
    p = p * s + 2.06390887954e-2f;
    p = p * s + -5.37397155531e-2f;
    p = p * s + 1.33314422036e-1f;
    p = p * s + -3.33332819422e-1f;
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
    for (size_t i = 0; i < n; i++) {
        float x = y[i], v = exp_core(x);
        v = x > 88.3f ? exp_core(x - 1.0f) * 2.71828183f : v; /* overflows to infinity */
        v = x < -87.3f ? 0.0f : v;
        y[i] = x == x ? v : x;
    }
}

const struct cov_vec VEC_TABLE = {VEC_NAME, VEC_NEEDS, finish, lstm_cell, exp_all};
