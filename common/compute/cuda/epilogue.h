/* epilogue.h - the parts of kernels other than products: unpacking bases; bias, ReLU and norm; and
 * storing floats or bf16.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_EPILOGUE_H
#define COV_COMPUTE_CUDA_EPILOGUE_H

#include "common/compute/cuda/simt.h"

/* Returns the base code at position t of sequence b. codes[n, (length + 1) / 2] is packed by
 * cov_codes_pack. */
SIMT_DEVICE int packed_code(const uint8_t *codes, size_t b, int length, int t)
{
    return codes[b * (((size_t)length + 1) / 2) + t / 2] >> (t % 2 ? 0 : 4) & 15;
}

/* Returns the lower limit of values before the norm. */
SIMT_DEVICE float least_of(bool relu)
{
    return relu ? 0.0f : simt_float(0xff800000); /* -infinity */
}

/* Returns norm(max(sum + bias, least)); NaN stays NaN. */
SIMT_DEVICE float finish(float sum, float bias, float scale, float shift, float least)
{
    return fmaf(simt_max(sum + bias, least), scale, shift);
}

/* Values of V neighbouring columns that all rows share. */
template <int V> struct columns_of {
    float bias[V], scale[V], shift[V];
};

template <int V>
SIMT_DEVICE struct columns_of<V> read_columns(const float *bias, const float *scale,
                                              const float *shift) {
    struct columns_of<V> c;
#pragma unroll
    for (int i = 0; i < V; i += 2) {
        float2 b = *(const float2 *)(bias + i), by = *(const float2 *)(scale + i),
               plus = *(const float2 *)(shift + i);
        c.bias[i] = b.x;
        c.bias[i + 1] = b.y;
        c.scale[i] = by.x;
        c.scale[i + 1] = by.y;
        c.shift[i] = plus.x;
        c.shift[i + 1] = plus.y;
    }
    return c;
}

/* How a kernel stores values. */
enum {
    STORE_FLOAT,
    STORE_BF16,
    STORE_FP16
};

/* Finishes the sums of V neighbouring columns of a row; stores them if `there`. */
template <int STORE, int V>
SIMT_DEVICE void store_finished(char *y, bool there, const float *sum,
                                const struct columns_of<V> &c, float least)
{
#pragma unroll
    for (int i = 0; i < V; i += 2) {
        float a = finish(sum[i], c.bias[i], c.scale[i], c.shift[i], least),
              b = finish(sum[i + 1], c.bias[i + 1], c.scale[i + 1], c.shift[i + 1], least);
        uint32_t pair = STORE == STORE_FP16 ? simt_fp16_pair(a, b) : simt_bf16_pair(a, b);
        if (there && STORE != STORE_FLOAT)
            *(uint32_t *)(y + i * 2) = pair;
        else if (there)
            *(float2 *)(y + i * 4) = make_float2(a, b);
    }
}

/* Stores `a` in y[i] and `b` in y[i + 1]; i is even. */
SIMT_DEVICE void store2(void *y, size_t i, bool bf16, float a, float b)
{
    if (bf16)
        ((uint32_t *)y)[i / 2] = simt_bf16_pair(a, b);
    else
        *(float2 *)((float *)y + i) = make_float2(a, b);
}

SIMT_DEVICE void store1(void *y, size_t i, bool bf16, float a)
{
    if (bf16)
        ((uint16_t *)y)[i] = (uint16_t)simt_bf16(a);
    else
        ((float *)y)[i] = a;
}

#endif
