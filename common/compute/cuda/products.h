/* products.h - products of fragments on tensor cores, of each kind of operands, for all kernels that
 * make tiles with them.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_PRODUCTS_H
#define COV_COMPUTE_CUDA_PRODUCTS_H

#include "common/compute/cuda/kernels.h"
#include "common/compute/cuda/simt.h"

/* Warps of a block, each of which makes WARP_SIDE rows and as many columns: MT by NT tiles. */
enum { WARPS = 4, WARP_SIDE = 64, MT = WARP_SIDE / 16, NT = WARP_SIDE / 8 };

/* Rows of a block of so many columns. */
template <int COLUMNS> struct block {
    static constexpr int ROWS = WARP_SIDE * (WARPS / (COLUMNS / WARP_SIDE));
};

/* What is left of v when its tf32 is taken off, as tf32. */
SIMT_DEVICE uint32_t tf32_rest(uint32_t v)
{
    return simt_tf32(simt_float(v) - simt_float(simt_tf32(simt_float(v))));
}

/* sum += a b, of 32 bytes of k: MT tiles of 16 rows by NT of 8 columns. */
template <int PRODUCTS>
SIMT_DEVICE void multiply(float sum[MT][NT][4], const uint32_t a[MT][4],
                          const uint32_t b[NT / 2][4])
{
    uint32_t high[MT][4], low[MT][4];
#pragma unroll
    for (int mt = 0; mt < MT; mt++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            high[mt][i] = PRODUCTS == COV_CUDA_BF16 ? a[mt][i] : simt_tf32(simt_float(a[mt][i]));
            low[mt][i] = PRODUCTS == COV_CUDA_TF32X3 ? tf32_rest(a[mt][i]) : 0;
        }
#pragma unroll
    for (int nt = 0; nt < NT; nt++) {
        uint32_t b0 = b[nt / 2][nt % 2 * 2], b1 = b[nt / 2][nt % 2 * 2 + 1];
        if (PRODUCTS == COV_CUDA_BF16) {
#pragma unroll
            for (int mt = 0; mt < MT; mt++)
                simt_mma_bf16(sum[mt][nt], high[mt], b0, b1);
            continue;
        }
        uint32_t high0 = simt_tf32(simt_float(b0)), high1 = simt_tf32(simt_float(b1));
        if (PRODUCTS == COV_CUDA_TF32X3) {
            /* Tensor cores cut off what does not fit into the sum: so a sum of their own, and the whole
             * one by additions that round. */
            uint32_t low0 = tf32_rest(b0), low1 = tf32_rest(b1);
#pragma unroll
            for (int mt = 0; mt < MT; mt++) {
                float part[4] = {0, 0, 0, 0};
                simt_mma_tf32(part, low[mt], high0, high1);
                simt_mma_tf32(part, high[mt], low0, low1);
                simt_mma_tf32(part, high[mt], high0, high1);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    sum[mt][nt][i] += part[i];
            }
            continue;
        }
#pragma unroll
        for (int mt = 0; mt < MT; mt++)
            simt_mma_tf32(sum[mt][nt], high[mt], high0, high1);
    }
}

#endif
