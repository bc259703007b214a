/* gemm_mma.cu - products of matrices on tensor cores (kernels.h): bf16, tf32, and tf32 in three
 * products.
 *
 * A block of 4 warps makes 128 rows by 128 columns, or 256 by 64; a warp 64 by 64 of them. Both
 * operands are rows of k, 64 bytes at a time, copied to shared memory two steps ahead (cp.async), x
 * gathered as in gemm_fp32.cu, zeros where there is no row. As 32 bytes of k are 16 of bf16 or 8 of
 * tf32, the fragments of both are the same bytes, and one kernel does for all.
 *
 * The bound, for 128 by 128 by 32 of bf16 on a multiprocessor of an H200: 256 products of 16x8x16,
 * 256 cycles at what the hardware has, 420 at the 60 % that mma.sync reaches; fragments read from
 * shared memory, 8 of 512 bytes a warp and 16 of k, 256 cycles of 128 bytes, tiles written to it, 128:
 * 384. (Warps of 64 by 32 would read half as much again, 512, and be bound by that.) Registers allow two
 * blocks, so that one multiplies while the other waits. So some 550 TFLOP/s at best; convolutions
 * and sums over x are 7.6 GFLOP of a chunk, 14 us of the 50 that 20,000 chunks/s leave. wgmma would
 * read one operand from shared memory once a block, and have the rest of the hardware.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"
#include "common/compute/cuda/products.h"

enum { THREADS = 32 * WARPS, ROW_BYTES = 64, STAGES = 3 };

template <int PRODUCTS, int BN> SIMT_KERNEL(THREADS) gemm_mma(struct cov_cuda_gemm g)
{
    constexpr int ELEMENT = PRODUCTS == COV_CUDA_BF16 ? 2 : 4; /* bytes */
    constexpr int BK = ROW_BYTES / ELEMENT, PIECE = 16 / ELEMENT, BM = block<BN>::ROWS;
    constexpr int WARPS_ACROSS = BN / WARP_SIDE;
    constexpr int STAGE = (BM + BN) * ROW_BYTES, A_PARTS = BM * 4 / THREADS,
                  B_PARTS = BN * 4 / THREADS;
    char *const shared = simt_shared();
    const int tid = (int)threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int m = g.n * g.phase.rows;
    const int across = (g.n_cols + BN - 1) / BN;
    const int m_first = (int)blockIdx.x / across * BM, n_first = (int)blockIdx.x % across * BN;
    const int piece = tid % 4;

    const char *sequence[A_PARTS];
    int row_of[A_PARTS];
    for (int i = 0; i < A_PARTS; i++) {
        int row = m_first + tid / 4 + i * (THREADS / 4), b = row / g.phase.rows;
        sequence[i] = row < m ? (const char *)g.x + (size_t)b * g.t_in * g.c * ELEMENT : NULL;
        row_of[i] = cov_conv_phase_row(&g.phase, row - b * g.phase.rows) * g.phase.in_stride +
                    g.phase.first;
    }
    int tap = piece * PIECE / g.c, channel = piece * PIECE % g.c;

    auto copy = [&](int step) {
        char *const a = shared + step % STAGES * STAGE, *const b = a + BM * ROW_BYTES;
        for (int i = 0; i < A_PARTS; i++) {
            int row = row_of[i] + tap * g.phase.step;
            bool there = sequence[i] && tap < g.phase.n_taps && row >= 0 && row < g.t_in;
            const char *from =
                there ? sequence[i] + ((size_t)row * g.c + channel) * ELEMENT : (const char *)g.x;
            simt_copy16(a + cov_tile_place(tid / 4 + i * (THREADS / 4), piece), from, there);
        }
        for (int i = 0; i < B_PARTS; i++) {
            int row = tid / 4 + i * (THREADS / 4);
            simt_copy16(b + cov_tile_place(row, piece),
                        (const char *)g.w +
                            ((size_t)(n_first + row) * g.k + step * BK + piece * PIECE) * ELEMENT,
                        true);
        }
        channel += BK;
        while (channel >= g.c) {
            channel -= g.c;
            tap++;
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

    const int steps = g.k / BK;
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps)
            copy(step);
        simt_copy_group();
    }
    /* Where the matrices that this lane addresses begin: of A, rows 0-7 and 8-15 of 16 bytes and of
     * the next 16; of B, 8 columns of 16 bytes and of the next 16, and the next 8 columns. */
    const int warp_m = warp / WARPS_ACROSS * WARP_SIDE, warp_n = warp % WARPS_ACROSS * WARP_SIDE;
    const int a_row = warp_m + lane / 8 % 2 * 8 + lane % 8, a_piece = lane / 16;
    const int b_row = warp_n + lane / 16 * 8 + lane % 8, b_piece = lane / 8 % 2;
    for (int step = 0; step < steps; step++) {
        simt_copy_wait<STAGES - 2>();
        __syncthreads(); /* this stage is there, and the one that is filled next was read */
        if (step + STAGES - 1 < steps)
            copy(step + STAGES - 1);
        simt_copy_group();
        const char *const a = shared + step % STAGES * STAGE, *const b = a + BM * ROW_BYTES;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint32_t av[MT][4], bv[NT / 2][4];
#pragma unroll
            for (int mt = 0; mt < MT; mt++)
                simt_load_matrices(av[mt], a + cov_tile_place(a_row + mt * 16, half * 2 + a_piece));
#pragma unroll
            for (int i = 0; i < NT / 2; i++)
                simt_load_matrices(bv[i], b + cov_tile_place(b_row + i * 16, half * 2 + b_piece));
            multiply<PRODUCTS>(sum, av, bv);
        }
    }

    size_t to[MT][2];
    bool there[MT][2];
#pragma unroll
    for (int mt = 0; mt < MT; mt++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int row = m_first + warp_m + mt * 16 + half * 8 + lane / 4;
            int b = row / g.phase.rows, t = cov_conv_phase_row(&g.phase, row - b * g.phase.rows);
            there[mt][half] = row < m;
            to[mt][half] =
                ((size_t)b * g.t_out + t * g.phase.out_stride + g.phase.out_first) * g.pitch;
        }
#pragma unroll
    for (int nt = 0; nt < NT; nt++) {
        int o = n_first + warp_n + nt * 8 + lane % 4 * 2;
        if (o >= g.n_cols)
            continue;
        float2 bias = *(const float2 *)(g.bias + o), scale = *(const float2 *)(g.scale + o),
               shift = *(const float2 *)(g.shift + o);
#pragma unroll
        for (int mt = 0; mt < MT; mt++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                float v0 = sum[mt][nt][half * 2], v1 = sum[mt][nt][half * 2 + 1];
                v0 = finish(v0, bias.x, scale.x, shift.x, g.relu);
                v1 = finish(v1, bias.y, scale.y, shift.y, g.relu);
                if (there[mt][half])
                    store2(g.y, to[mt][half] + o, g.y_bf16, v0, v1);
            }
    }
}

template <int PRODUCTS, int BN> static void launch(const struct cov_cuda_gemm *g, void *stream)
{
    constexpr int BM = block<BN>::ROWS;
    int m = g->n * g->phase.rows;
    if (m == 0)
        return;
    simt_launch(gemm_mma<PRODUCTS, BN>,
                dim3((unsigned)(m + BM - 1) / BM * ((unsigned)(g->n_cols + BN - 1) / BN)), THREADS,
                (size_t)STAGES * (BM + BN) * ROW_BYTES, stream, *g);
}

template <int PRODUCTS> static void choose(const struct cov_cuda_gemm *g, void *stream)
{
    if (g->n_cols <= 64)
        launch<PRODUCTS, 64>(g, stream);
    else
        launch<PRODUCTS, 128>(g, stream);
}

void cov_cuda_gemm_mma(enum cov_cuda_products products, const struct cov_cuda_gemm *g, void *stream)
{
    if (products == COV_CUDA_BF16)
        choose<COV_CUDA_BF16>(g, stream);
    else if (products == COV_CUDA_TF32)
        choose<COV_CUDA_TF32>(g, stream);
    else
        choose<COV_CUDA_TF32X3>(g, stream);
}

void cov_cuda_gemm_sizes(enum cov_cuda_products products, int n_taps, int c, int n_cols, int *k,
                         int *width)
{
    *k = cov_round_up(n_taps * c, products == COV_CUDA_BF16 ? 32 : 16);
    *width = n_cols > 64                                ? cov_round_up(n_cols, 128)
             : products == COV_CUDA_FP32 && n_cols <= 8 ? 8
                                                        : 64;
}

void cov_cuda_gemm(enum cov_cuda_products products, const struct cov_cuda_gemm *g, void *stream)
{
    if (products == COV_CUDA_FP32)
        cov_cuda_gemm_fp32(g, stream);
    else
        cov_cuda_gemm_mma(products, g, stream);
}
