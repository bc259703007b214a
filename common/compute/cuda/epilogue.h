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

/* Returns norm(relu(sum + bias)). */
SIMT_DEVICE float finish(float sum, float bias, float scale, float shift, bool relu)
{
    float v = sum + bias;
    if (relu)
        v = v < 0.0f ? 0.0f : v; /* keeps NaN */
    return fmaf(v, scale, shift);
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
