/* gemm_fp32.cu - products of matrices in single precision (kernels.h).
 *
 * A block makes BM rows by BN columns, 16 of k at a time from shared memory, of which the next 16 are
 * on their way in registers; a thread TM by TN of them. Rows of x are gathered as they are read, so
 * that a convolution needs no copy of its input. Each value is one chain of fused multiply-adds in
 * the order of k.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

enum { BK = 16, THREADS = 256 };

/* The row of x that a thread reads for one row of its block. */
struct gather {
    const float *sequence; /* NULL: the row is beyond the last */
    int row;               /* of tap 0 */
};

template <int BM, int BN, int TM, int TN> SIMT_KERNEL(THREADS) gemm_fp32(struct cov_cuda_gemm g)
{
    constexpr int PITCH = BM + 4, A_PARTS = BM * 4 / THREADS;
    constexpr int B_PIECES = BK * BN / 4, B_PARTS = (B_PIECES + THREADS - 1) / THREADS;
    constexpr int ACROSS = BN / TN;
    static_assert((BM / TM) * ACROSS == THREADS, "one tile a thread");
    float *const a_tile = (float *)simt_shared();  /* [2][BK][PITCH] */
    float *const b_tile = a_tile + 2 * BK * PITCH; /* [2][BK][BN] */
    const int tid = (int)threadIdx.x, m = g.n * g.phase.rows;
    const int m_first = (int)blockIdx.x * BM, n_first = (int)blockIdx.y * BN;
    const int piece = tid % 4;

    struct gather from[A_PARTS];
    for (int i = 0; i < A_PARTS; i++) {
        int row = m_first + tid / 4 + i * (THREADS / 4), b = row / g.phase.rows;
        from[i].sequence = row < m ? (const float *)g.x + (size_t)b * g.t_in * g.c : NULL;
        from[i].row = cov_conv_phase_row(&g.phase, row - b * g.phase.rows) * g.phase.in_stride +
                      g.phase.first;
    }
    /* Of the piece that this thread reads next: its tap, and its channel in it. */
    int tap = piece * 4 / g.c, channel = piece * 4 % g.c;
    float4 a_next[A_PARTS], b_next[B_PARTS];
    float sum[TM][TN];
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            sum[i][j] = 0;

    auto read = [&](int k0) {
        for (int i = 0; i < A_PARTS; i++) {
            int row = from[i].row + tap * g.phase.step;
            bool there = from[i].sequence && tap < g.phase.n_taps && row >= 0 && row < g.t_in;
            a_next[i] = there ? simt_read4(from[i].sequence + (size_t)row * g.c + channel)
                              : make_float4(0, 0, 0, 0);
        }
        for (int i = 0; i < B_PARTS; i++) {
            int at = tid + i * THREADS;
            if (at < B_PIECES)
                b_next[i] = simt_read4((const float *)g.w + (size_t)(k0 + at / (BN / 4)) * g.width +
                                       n_first + at % (BN / 4) * 4);
        }
        channel += BK;
        while (channel >= g.c) {
            channel -= g.c;
            tap++;
        }
    };
    auto keep = [&](int half) {
        for (int i = 0; i < A_PARTS; i++) {
            float *to = a_tile + (half * BK + piece * 4) * PITCH + tid / 4 + i * (THREADS / 4);
            to[0] = a_next[i].x;
            to[PITCH] = a_next[i].y;
            to[2 * PITCH] = a_next[i].z;
            to[3 * PITCH] = a_next[i].w;
        }
        for (int i = 0; i < B_PARTS; i++) {
            int at = tid + i * THREADS;
            if (at < B_PIECES)
                *(float4 *)(b_tile + half * BK * BN + at * 4) = b_next[i];
        }
    };

    const int across = tid % ACROSS, down = tid / ACROSS;
    const int steps = g.k / BK;
    if (steps > 0) {
        read(0);
        keep(0);
    }
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        if (step + 1 < steps)
            read((step + 1) * BK);
        const float *a = a_tile + step % 2 * BK * PITCH, *b = b_tile + step % 2 * BK * BN;
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float av[TM], bv[TN];
#pragma unroll
            for (int i = 0; i < TM; i++)
                av[i] = a[k * PITCH + down * TM + i];
#pragma unroll
            for (int j = 0; j < TN; j++)
                bv[j] = b[k * BN + j / 4 * (BN / 2) + across * 4 + j % 4];
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++)
                    sum[i][j] = fmaf(av[i], bv[j], sum[i][j]);
        }
        if (step + 1 < steps)
            keep((step + 1) % 2);
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < TM; i++) {
        int row = m_first + down * TM + i;
        if (row >= m)
            continue;
        int b = row / g.phase.rows, t = cov_conv_phase_row(&g.phase, row - b * g.phase.rows);
        size_t to = ((size_t)b * g.t_out + t * g.phase.out_stride + g.phase.out_first) * g.pitch;
#pragma unroll
        for (int j = 0; j < TN; j += 2) {
            int o = n_first + j / 4 * (BN / 2) + across * 4 + j % 4;
            if (o < g.n_cols)
                store2(
                    g.y, to + o, g.y_bf16,
                    finish(sum[i][j], g.bias[o], g.scale[o], g.shift[o], g.relu),
                    finish(sum[i][j + 1], g.bias[o + 1], g.scale[o + 1], g.shift[o + 1], g.relu));
        }
    }
}

template <int BM, int BN, int TM, int TN>
static void launch(const struct cov_cuda_gemm *g, void *stream)
{
    int m = g->n * g->phase.rows;
    if (m == 0)
        return;
    simt_launch(gemm_fp32<BM, BN, TM, TN>,
                dim3((unsigned)(m + BM - 1) / BM, (unsigned)(g->n_cols + BN - 1) / BN), THREADS,
                2 * BK * (BM + 4 + BN) * sizeof(float), stream, *g);
}

void cov_cuda_gemm_fp32(const struct cov_cuda_gemm *g, void *stream)
{
    if (g->n_cols <= 8)
        launch<256, 8, 1, 8>(g, stream);
    else if (g->n_cols <= 64)
        launch<128, 64, 8, 4>(g, stream);
    else
        launch<128, 128, 8, 8>(g, stream);
}
