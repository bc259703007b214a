/* outer_mma.cu - gradients of weights on tensor cores (train_kernels.h): bf16, tf32, and tf32 in three
 * products.
 *
 * A block of 4 warps makes 128 rows by 128 columns of the gradient over the rows of a split, or 256 by
 * 64; a warp 64 by 64, as in gemm_mma.cu. The split's rows are the depth of the product: BK of them a
 * stage, copied to shared memory two steps ahead. Both operands stand there as rows, so that their
 * fragments go across them: ldmatrix turns those of bf16 around, and those of tf32, a register an
 * element, are read one by one. Rows are 16 bytes (bf16) or 32 (tf32) longer than a multiple of 128,
 * so that what a warp reads at once is in different banks.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/outer_rows.h"
#include "common/compute/cuda/products.h"

enum { THREADS = 32 * WARPS, STAGES = 3 };

template <int PRODUCTS, int BN>
SIMT_KERNEL(THREADS)
outer_mma(struct cov_cuda_outer o, int tiles, size_t split_rows)
{
    constexpr bool BF16 = PRODUCTS == COV_CUDA_BF16;
    constexpr int ELEMENT = BF16 ? 2 : 4, PIECE = 16 / ELEMENT, BK = BF16 ? 32 : 16;
    constexpr int BM = block<BN>::ROWS, WARPS_ACROSS = BN / WARP_SIDE;
    constexpr int A_PITCH = BM + 8, B_PITCH = BN + 8; /* elements */
    constexpr int A_BYTES = BK * A_PITCH * ELEMENT, STAGE = A_BYTES + BK * B_PITCH * ELEMENT;
    constexpr int A_ACROSS = BM / PIECE, A_PARTS = BK * A_ACROSS / THREADS;
    constexpr int B_ACROSS = BN / PIECE, B_PARTS = BK * B_ACROSS / THREADS;
    static_assert(A_PARTS * THREADS == BK * A_ACROSS && B_PARTS * THREADS == BK * B_ACROSS,
                  "whole pieces a thread");
    char *const shared = simt_shared();
    const int tid = (int)threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int split = (int)blockIdx.x / tiles;
    const int k_first = (int)blockIdx.x % tiles * BM, n_first = (int)blockIdx.y * BN;
    const int a_column = tid % A_ACROSS * PIECE, b_column = tid % B_ACROSS * PIECE;
    const int tap = (k_first + a_column) / o.c, channel = (k_first + a_column) % o.c;
    const bool a_there = tap < o.phase.n_taps, b_there = n_first + b_column < o.n_cols;
    const size_t rows = (size_t)o.n * o.phase.rows, beg = split * split_rows;
    const size_t end = beg + split_rows < rows ? beg + split_rows : rows;

    /* Those that this thread copies next; a stage takes each BK rows further. */
    struct cov_outer_row a_row = cov_outer_row_at(&o, beg + tid / A_ACROSS);
    struct cov_outer_row b_row = cov_outer_row_at(&o, beg + tid / B_ACROSS);

    auto copy = [&](int step) {
        char *const a = shared + step % STAGES * STAGE, *const b = a + A_BYTES;
#pragma unroll
        for (int i = 0; i < A_PARTS; i++) {
            int row = cov_outer_x_row(&o, a_row, tap);
            bool there = a_there && a_row.m < end && row >= 0 && row < o.t_in;
            size_t at = there ? ((size_t)a_row.b * o.t_in + row) * o.x_pitch + channel : 0;
            simt_copy16(a + ((tid + i * THREADS) / A_ACROSS * A_PITCH + a_column) * ELEMENT,
                        (const char *)o.x + at * ELEMENT, there);
            cov_outer_row_forth(&o, &a_row, THREADS / A_ACROSS);
        }
#pragma unroll
        for (int i = 0; i < B_PARTS; i++) {
            bool there = b_there && b_row.m < end;
            size_t at = there ? cov_outer_z_row(&o, b_row) * o.z_pitch + n_first + b_column : 0;
            simt_copy16(b + ((tid + i * THREADS) / B_ACROSS * B_PITCH + b_column) * ELEMENT,
                        (const char *)o.z + at * ELEMENT, there);
            cov_outer_row_forth(&o, &b_row, THREADS / B_ACROSS);
        }
    };

    float sum[MT][NT][4];
#pragma unroll
    for (int mt = 0; mt < MT; mt++)
#pragma unroll
        for (int nt = 0; nt < NT; nt++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[mt][nt][i] = 0;

    const int steps = end > beg ? (int)((end - beg + BK - 1) / BK) : 0;
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps)
            copy(step);
        simt_copy_group();
    }
    const int warp_m = warp / WARPS_ACROSS * WARP_SIDE, warp_n = warp % WARPS_ACROSS * WARP_SIDE;
    for (int step = 0; step < steps; step++) {
        simt_copy_wait<STAGES - 2>();
        __syncthreads(); /* this stage is there, and the one that is filled next was read */
        if (step + STAGES - 1 < steps)
            copy(step + STAGES - 1);
        simt_copy_group();
        const char *const a = shared + step % STAGES * STAGE, *const b = a + A_BYTES;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint32_t av[MT][4], bv[NT / 2][4];
            if (BF16) {
                /* Matrices of 8 rows of depth: of A, its first and last 8 rows at depth 0-7, the same
                 * at 8-15; of B, depths 0-7 and 8-15 of 8 columns, and of the next 8. */
                int a_depth = half * 16 + lane / 16 * 8 + lane % 8;
                int b_depth = half * 16 + lane / 8 % 2 * 8 + lane % 8;
#pragma unroll
                for (int mt = 0; mt < MT; mt++)
                    simt_load_transposed(
                        av[mt],
                        a + (a_depth * A_PITCH + warp_m + mt * 16 + lane / 8 % 2 * 8) * ELEMENT);
#pragma unroll
                for (int i = 0; i < NT / 2; i++)
                    simt_load_transposed(
                        bv[i], b + (b_depth * B_PITCH + warp_n + i * 16 + lane / 16 * 8) * ELEMENT);
            } else {
                const uint32_t *a_at =
                    (const uint32_t *)a + (half * 8 + lane % 4) * A_PITCH + warp_m + lane / 4;
                const uint32_t *b_at =
                    (const uint32_t *)b + (half * 8 + lane % 4) * B_PITCH + warp_n + lane / 4;
#pragma unroll
                for (int mt = 0; mt < MT; mt++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        av[mt][i] = a_at[i / 2 * 4 * A_PITCH + mt * 16 + i % 2 * 8];
#pragma unroll
                for (int i = 0; i < NT * 2; i++)
                    bv[i / 4][i % 4] = b_at[i % 2 * 4 * B_PITCH + i / 2 * 8];
            }
            multiply<PRODUCTS>(sum, av, bv);
        }
    }

#pragma unroll
    for (int mt = 0; mt < MT; mt++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int k = k_first + warp_m + mt * 16 + half * 8 + lane / 4;
            if (k >= o.phase.n_taps * o.c)
                continue;
            float *to = o.partial + split * o.stride + (size_t)k * o.n_cols;
#pragma unroll
            for (int nt = 0; nt < NT; nt++) {
                int column = n_first + warp_n + nt * 8 + lane % 4 * 2;
                if (column < o.n_cols)
                    *(float2 *)(to + column) =
                        make_float2(sum[mt][nt][half * 2], sum[mt][nt][half * 2 + 1]);
            }
        }
}

template <int PRODUCTS, int BN> static void launch(const struct cov_cuda_outer *o, void *stream)
{
    constexpr int ELEMENT = PRODUCTS == COV_CUDA_BF16 ? 2 : 4, BK = 64 / ELEMENT,
                  BM = block<BN>::ROWS;
    int tiles = (o->phase.n_taps * o->c + BM - 1) / BM;
    if (tiles == 0)
        return;
    simt_launch(outer_mma<PRODUCTS, BN>,
                dim3((unsigned)(tiles * o->splits), (unsigned)(o->n_cols + BN - 1) / BN), THREADS,
                (size_t)STAGES * BK * (BM + 8 + BN + 8) * ELEMENT, stream, *o, tiles,
                cov_outer_split_rows(o));
}

template <int PRODUCTS> static void choose(const struct cov_cuda_outer *o, void *stream)
{
    if (o->n_cols <= 64)
        launch<PRODUCTS, 64>(o, stream);
    else
        launch<PRODUCTS, 128>(o, stream);
}

void cov_cuda_outer_mma(enum cov_cuda_products products, const struct cov_cuda_outer *o,
                        void *stream)
{
    if (products == COV_CUDA_BF16)
        choose<COV_CUDA_BF16>(o, stream);
    else if (products == COV_CUDA_TF32)
        choose<COV_CUDA_TF32>(o, stream);
    else
        choose<COV_CUDA_TF32X3>(o, stream);
}
