/* outer_fp32.cu - gradients of weights in single precision (train_kernels.h).
 *
 * A block makes BM rows by BN columns of the gradient over the rows of a split, 16 of them at a time
 * from shared memory, of which the next 16 are on their way in registers; a thread TM by TN of it. As
 * both operands are rows, neither is turned around.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/outer_rows.h"
#include "common/compute/cuda/simt.h"

enum { BK = 16, THREADS = 256 };

template <int BM, int BN, int TM, int TN>
SIMT_KERNEL(THREADS)
outer_fp32(struct cov_cuda_outer o, int tiles, size_t split_rows)
{
    constexpr int ACROSS = BN / TN;
    static_assert((BM / TM) * ACROSS == THREADS, "one tile a thread");
    constexpr int A_PIECES = BK * BM / 4, A_PARTS = (A_PIECES + THREADS - 1) / THREADS;
    constexpr int B_PIECES = BK * BN / 4, B_PARTS = (B_PIECES + THREADS - 1) / THREADS;
    float *const a_tile = (float *)simt_shared(); /* [2][BK][BM] */
    float *const b_tile = a_tile + 2 * BK * BM;   /* [2][BK][BN] */
    const int tid = (int)threadIdx.x, split = (int)blockIdx.x / tiles;
    const int k_first = (int)blockIdx.x % tiles * BM, n_first = (int)blockIdx.y * BN;
    const int a_column = tid % (BM / 4) * 4, b_column = tid % (BN / 4) * 4;
    const int tap = (k_first + a_column) / o.c, channel = (k_first + a_column) % o.c;
    const bool a_there = tap < o.phase.n_taps, b_there = n_first + b_column < o.n_cols;
    const size_t rows = (size_t)o.n * o.phase.rows, beg = split * split_rows;
    const size_t end = beg + split_rows < rows ? beg + split_rows : rows;

    struct cov_outer_row a_row[A_PARTS], b_row[B_PARTS];
    for (int i = 0; i < A_PARTS; i++)
        a_row[i] = cov_outer_row_at(&o, beg + (tid + i * THREADS) / (BM / 4));
    for (int i = 0; i < B_PARTS; i++)
        b_row[i] = cov_outer_row_at(&o, beg + (tid + i * THREADS) / (BN / 4));
    float4 a_next[A_PARTS], b_next[B_PARTS];
    float sum[TM][TN];
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            sum[i][j] = 0;

    auto read = [&]() {
        for (int i = 0; i < A_PARTS; i++) {
            int row = cov_outer_x_row(&o, a_row[i], tap);
            bool there = a_there && a_row[i].m < end && row >= 0 && row < o.t_in;
            a_next[i] = there
                            ? simt_read4((const float *)o.x +
                                         ((size_t)a_row[i].b * o.t_in + row) * o.x_pitch + channel)
                            : make_float4(0, 0, 0, 0);
            cov_outer_row_forth(&o, &a_row[i], BK);
        }
        for (int i = 0; i < B_PARTS; i++) {
            bool there = b_there && b_row[i].m < end;
            b_next[i] =
                there ? simt_read4((const float *)o.z + cov_outer_z_row(&o, b_row[i]) * o.z_pitch +
                                   n_first + b_column)
                      : make_float4(0, 0, 0, 0);
            cov_outer_row_forth(&o, &b_row[i], BK);
        }
    };
    auto keep = [&](int half) {
        for (int i = 0; i < A_PARTS; i++)
            if (tid + i * THREADS < A_PIECES)
                *(float4 *)(a_tile + half * BK * BM + (tid + i * THREADS) * 4) = a_next[i];
        for (int i = 0; i < B_PARTS; i++)
            if (tid + i * THREADS < B_PIECES)
                *(float4 *)(b_tile + half * BK * BN + (tid + i * THREADS) * 4) = b_next[i];
    };

    const int across = tid % ACROSS, down = tid / ACROSS;
    const int steps = end > beg ? (int)((end - beg + BK - 1) / BK) : 0;
    if (steps > 0) {
        read();
        keep(0);
    }
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        if (step + 1 < steps)
            read();
        const float *a = a_tile + step % 2 * BK * BM, *b = b_tile + step % 2 * BK * BN;
#pragma unroll
        for (int k = 0; k < BK; k++) {
            float av[TM], bv[TN];
#pragma unroll
            for (int i = 0; i < TM; i++)
                av[i] = a[k * BM + down * TM + i];
#pragma unroll
            for (int j = 0; j < TN; j++)
                bv[j] = b[k * BN + cov_outer_column(BN, TN, across, j)];
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
        int k = k_first + down * TM + i;
        if (k >= o.phase.n_taps * o.c)
            continue;
        float *to = o.partial + split * o.stride + (size_t)k * o.n_cols;
#pragma unroll
        for (int j = 0; j < TN; j++) {
            int column = n_first + cov_outer_column(BN, TN, across, j);
            if (column < o.n_cols)
                to[column] = sum[i][j];
        }
    }
}

template <int BM, int BN, int TM, int TN>
static void launch(const struct cov_cuda_outer *o, void *stream)
{
    int tiles = (o->phase.n_taps * o->c + BM - 1) / BM;
    if (tiles == 0)
        return;
    simt_launch(outer_fp32<BM, BN, TM, TN>,
                dim3((unsigned)(tiles * o->splits), (unsigned)(o->n_cols + BN - 1) / BN), THREADS,
                2 * BK * (BM + BN) * sizeof(float), stream, *o, tiles, cov_outer_split_rows(o));
}

void cov_cuda_outer_fp32(const struct cov_cuda_outer *o, void *stream)
{
    if (o->n_cols <= 8)
        launch<64, 8, 2, 1>(o, stream);
    else if (o->n_cols <= 64)
        launch<128, 64, 8, 4>(o, stream);
    else
        launch<128, 128, 8, 8>(o, stream);
}

/* About as many blocks as a large card takes at a time, and splits that are worth a block. */
int cov_cuda_outer_splits(int n_taps, int c, int n_cols, size_t rows)
{
    enum { BLOCKS = 264, LEAST_ROWS = 512, TILE = 128 };
    int tiles = ((n_taps * c + TILE - 1) / TILE) * ((n_cols + TILE - 1) / TILE);
    size_t most = (rows + LEAST_ROWS - 1) / LEAST_ROWS;
    int splits = tiles > 0 && tiles < BLOCKS ? BLOCKS / tiles : 1;
    return most < 1 ? 1 : (size_t)splits > most ? (int)most : splits;
}

void cov_cuda_outer(enum cov_cuda_products products, const struct cov_cuda_outer *o, void *stream)
{
    if (products == COV_CUDA_FP32)
        cov_cuda_outer_fp32(o, stream);
    else
        cov_cuda_outer_mma(products, o, stream);
}
