/* products_fp32.cu - products of matrices, and gradients of weights, in single precision (kernels.h).
 *
 * A block computes a tile of BM rows by BN columns, and each of its threads TM rows by TN columns.
 * Both operands pass through shared memory in steps of BK elements of depth; while a step is
 * multiplied, the next one is loaded into registers. Rows of x are gathered as they are read, so
 * that a convolution needs no copy of its input. Each value is one chain of fused multiply-adds in
 * the order of depth. In a gradient the rows of a split are the depth, so that both operands are
 * read as rows and neither needs to be transposed.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/products.h"

enum { BK = 16, THREADS = 256 };

/* Adds the product of a[BK][A_PITCH] and b[BK][BN] to sum, for the rows and columns of a thread. */
template <int A_PITCH, int BN, int TM, int TN>
SIMT_DEVICE void multiply_step(const float *a, const float *b, float (&sum)[TM][TN])
{
    const int across = (int)threadIdx.x % (BN / TN), down = (int)threadIdx.x / (BN / TN);
#pragma unroll
    for (int k = 0; k < BK; k++) {
        float av[TM], bv[TN];
#pragma unroll
        for (int i = 0; i < TM; i++)
            av[i] = a[k * A_PITCH + down * TM + i];
#pragma unroll
        for (int j = 0; j < TN; j++)
            bv[j] = b[k * BN + cov_tile_column(BN, TN, across, j)];
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++)
                sum[i][j] = fmaf(av[i], bv[j], sum[i][j]);
    }
}

/* Sets sum to the products of `steps` steps. load() reads the operands of the next step into
 * registers, and store(half) writes them to a half of shared memory: a[2][BK][A_PITCH],
 * b[2][BK][BN]. */
template <int A_PITCH, int BN, int TM, int TN, typename Load, typename Store>
SIMT_DEVICE void multiply_steps(int steps, Load load, Store store, float (&sum)[TM][TN])
{
    const float *const a = (const float *)simt_shared(), *const b = a + 2 * BK * A_PITCH;
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
            sum[i][j] = 0;
    if (steps > 0) {
        load();
        store(0);
    }
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        if (step + 1 < steps)
            load();
        multiply_step<A_PITCH, BN>(a + step % 2 * BK * A_PITCH, b + step % 2 * BK * BN, sum);
        if (step + 1 < steps)
            store((step + 1) % 2);
        __syncthreads();
    }
}

/* Stores a thread's vectors of a row-major operand, which has PIECES vectors per step. */
template <int PIECES, int PARTS>
SIMT_DEVICE void store_pieces(float *to, const float4 (&next)[PARTS])
{
    for (int i = 0; i < PARTS; i++)
        if ((int)threadIdx.x + i * THREADS < PIECES)
            *(float4 *)(to + (threadIdx.x + i * THREADS) * 4) = next[i];
}

/* Writes y for a thread's rows and columns. */
template <int STORE, int BN, int TM, int TN>
SIMT_DEVICE void write_y(const struct cov_cuda_gemm &g, int m_first, int n_first,
                         const float (&sum)[TM][TN])
{
    constexpr int ELEMENT = STORE == STORE_FLOAT ? 4 : 2;
    const int across = (int)threadIdx.x % (BN / TN), down = (int)threadIdx.x / (BN / TN);
    const float least = least_of(g.relu);
    struct columns_of<4> c[TN / 4]; /* all read before anything is stored */
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
        int o = n_first + cov_tile_column(BN, TN, across, j);
        c[j / 4] = read_columns<4>(g.bias + o, g.scale + o, g.shift + o);
    }
    char *to[TM];
    int end[TM]; /* columns of the row */
#pragma unroll
    for (int i = 0; i < TM; i++) {
        end[i] = m_first + down * TM + i < g.n * g.phase.rows ? g.n_cols : 0;
        to[i] = (char *)g.y + y_offset(g, m_first + down * TM + i) * ELEMENT;
    }
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
        int o = n_first + cov_tile_column(BN, TN, across, j);
#pragma unroll
        for (int i = 0; i < TM; i++)
            store_finished<STORE>(to[i] + o * ELEMENT, o < end[i], &sum[i][j], c[j / 4], least);
    }
}

template <int BM, int BN, int TM, int TN>
SIMT_KERNEL_BLOCKS(THREADS, 2)
gemm_fp32(struct cov_cuda_gemm g)
{
    static_assert((BM / TM) * (BN / TN) == THREADS, "one tile per thread");
    constexpr int PITCH = BM + 4, A_PARTS = BM * 4 / THREADS;
    constexpr int B_ACROSS = BN / 4, B_PIECES = BK * B_ACROSS;
    constexpr int B_PARTS = (B_PIECES + THREADS - 1) / THREADS;
    float *const a_tile = (float *)simt_shared();  /* [2][BK][PITCH] */
    float *const b_tile = a_tile + 2 * BK * PITCH; /* [2][BK][BN] */
    const int tid = (int)threadIdx.x, piece = tid % 4;
    const int across = (g.n_cols + BN - 1) / BN;
    const int m_first = (int)blockIdx.x / across * BM, n_first = (int)blockIdx.x % across * BN;
    struct gather<A_PARTS> x =
        gather_begin<4, A_PARTS>(g, m_first + tid / 4, THREADS / 4, piece * 4);
    const float *w =
        (const float *)g.w + (size_t)(tid / B_ACROSS) * g.width + n_first + tid % B_ACROSS * 4;
    float4 a_next[A_PARTS], b_next[B_PARTS];
    float sum[TM][TN];

    auto load = [&]() {
        const char *from;
        for (int i = 0; i < A_PARTS; i++)
            a_next[i] = gather_next(g, x, i, &from) ? simt_read4((const float *)from)
                                                    : make_float4(0, 0, 0, 0);
        for (int i = 0; i < B_PARTS; i++)
            if (tid + i * THREADS < B_PIECES)
                b_next[i] = simt_read4(w + (size_t)(i * (THREADS / B_ACROSS)) * g.width);
        gather_advance<4>(g, &x, BK);
        w += (size_t)BK * g.width;
    };
    auto store = [&](int half) {
        for (int i = 0; i < A_PARTS; i++) { /* transposed */
            float *to = a_tile + (half * BK + piece * 4) * PITCH + tid / 4 + i * (THREADS / 4);
            to[0] = a_next[i].x;
            to[PITCH] = a_next[i].y;
            to[2 * PITCH] = a_next[i].z;
            to[3 * PITCH] = a_next[i].w;
        }
        store_pieces<B_PIECES>(b_tile + half * BK * BN, b_next);
    };
    multiply_steps<PITCH, BN>(g.k / BK, load, store, sum);
    if (g.y_bf16)
        write_y<STORE_BF16, BN>(g, m_first, n_first, sum);
    else
        write_y<STORE_FLOAT, BN>(g, m_first, n_first, sum);
}

template <int BM, int BN, int TM, int TN>
SIMT_KERNEL_BLOCKS(THREADS, 2)
outer_fp32(struct cov_cuda_outer o, int tiles, int split_rows)
{
    static_assert((BM / TM) * (BN / TN) == THREADS, "one tile per thread");
    constexpr int A_PIECES = BK * BM / 4, A_PARTS = (A_PIECES + THREADS - 1) / THREADS;
    constexpr int B_PIECES = BK * BN / 4, B_PARTS = (B_PIECES + THREADS - 1) / THREADS;
    float *const a_tile = (float *)simt_shared(); /* [2][BK][BM] */
    float *const b_tile = a_tile + 2 * BK * BM;   /* [2][BK][BN] */
    const int tid = (int)threadIdx.x;
    const struct outer_block at = outer_block_of<BM, BN, 4>(o, tiles, split_rows);
    const int a_column = at.k_first + tid % (BM / 4) * 4;
    const int b_column = at.n_first + tid % (BN / 4) * 4;
    const int tap = a_column / o.c, channel = a_column % o.c;
    int a_row = outer_row(at, tid / (BM / 4), tap < o.phase.n_taps);
    int b_row = outer_row(at, tid / (BN / 4), b_column < o.n_cols);
    float4 a_next[A_PARTS], b_next[B_PARTS];
    float sum[TM][TN];

    auto load = [&]() {
        const char *from;
        for (int i = 0; i < A_PARTS; i++) {
            bool there = outer_x<4>(o, at, a_row + i * (THREADS / (BM / 4)), tap, channel, &from);
            a_next[i] = there ? simt_read4((const float *)from) : make_float4(0, 0, 0, 0);
        }
        for (int i = 0; i < B_PARTS; i++) {
            bool there = outer_z<4>(o, at, b_row + i * (THREADS / (BN / 4)), b_column, &from);
            b_next[i] = there ? simt_read4((const float *)from) : make_float4(0, 0, 0, 0);
        }
        a_row += BK;
        b_row += BK;
    };
    auto store = [&](int half) {
        store_pieces<A_PIECES>(a_tile + half * BK * BM, a_next);
        store_pieces<B_PIECES>(b_tile + half * BK * BN, b_next);
    };
    multiply_steps<BM, BN>(outer_steps(at, BK), load, store, sum);

    const int across = tid % (BN / TN), down = tid / (BN / TN);
#pragma unroll
    for (int i = 0; i < TM; i++) {
        int k = at.k_first + down * TM + i;
        if (k >= o.phase.n_taps * o.c)
            continue;
        float *to = at.partial + (size_t)k * o.n_cols;
#pragma unroll
        for (int j = 0; j < TN; j++) {
            int column = at.n_first + cov_tile_column(BN, TN, across, j);
            if (column < o.n_cols)
                to[column] = sum[i][j];
        }
    }
}

template <int BM, int BN, int TM, int TN>
static void launch(const struct cov_cuda_gemm *g, void *stream)
{
    int m = g->n * g->phase.rows;
    if (m > 0)
        simt_launch(gemm_fp32<BM, BN, TM, TN>,
                    dim3((unsigned)(m + BM - 1) / BM * ((unsigned)(g->n_cols + BN - 1) / BN)),
                    THREADS, 2 * BK * (BM + 4 + BN) * sizeof(float), stream, *g);
}

void cov_cuda_launch_fp32(const struct cov_cuda_gemm *g, void *stream)
{
    if (g->n_cols <= 8)
        launch<256, 8, 1, 8>(g, stream);
    else if (g->n_cols <= 64)
        launch<128, 64, 8, 4>(g, stream);
    else
        launch<128, 128, 8, 8>(g, stream);
}

template <int BM, int BN, int TM, int TN>
static void launch(const struct cov_cuda_outer *o, void *stream)
{
    outer_launch<BM, BN>(outer_fp32<BM, BN, TM, TN>, o, THREADS, 2 * BK * (BM + BN) * sizeof(float),
                         stream);
}

void cov_cuda_launch_fp32(const struct cov_cuda_outer *o, void *stream)
{
    if (o->n_cols <= 8)
        launch<64, 8, 2, 1>(o, stream);
    else if (o->n_cols <= 64)
        launch<128, 64, 8, 4>(o, stream);
    else
        launch<128, 128, 8, 8>(o, stream);
}
