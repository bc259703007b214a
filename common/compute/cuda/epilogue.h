/* epilogue.h - what happens to a sum of products before it is stored, for all kernels of
 * kernels.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_EPILOGUE_H
#define COV_COMPUTE_CUDA_EPILOGUE_H

#include "common/compute/cuda/simt.h"

/* norm(relu(sum + bias)). */
SIMT_DEVICE float finish(float sum, float bias, float scale, float shift, bool relu)
{
    float v = sum + bias;
    if (relu)
        v = v < 0.0f ? 0.0f : v; /* NaN stays */
    return fmaf(v, scale, shift);
}

/* Element i and the next of y; i is even. */
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
