/* products_mma.cu - products of matrices, and gradients of weights, on tensor cores (kernels.h): bf16,
 * tf32, and tf32 in three products.
 *
 * A block of 4 warps computes a tile of 128 rows by 128 columns, or of 256 by 64; each warp
 * computes 64 rows by 64 columns. A pipeline of STAGES stages copies the operands to shared memory
 * (cp.async) two steps ahead. A step is 64 bytes of depth: 32 elements of bf16 or 16 of tf32. Since
 * 32 bytes of depth are 16 bf16 or 8 tf32, the fragments of both types have the same layout in
 * bytes, and one kernel serves both.
 *
 * Product: both operands are rows of 64 bytes. Rows of x are gathered as in products_fp32.cu.
 *
 * Gradient: the rows of a split are the depth. Both operands have the same layout in shared memory
 * as in global memory, so their fragments run across rows. ldmatrix transposes bf16 fragments; tf32
 * fragments have one register per element and are read element by element. Rows are padded by 8
 * elements, so that the lanes of a warp read from different banks.
 *
 * Bound of a bf16 product of 128 by 128 by 32 on a multiprocessor of an H200: 256 products of
 * 16x8x16 take 256 cycles at the peak rate, or 420 at the 60 % that mma.sync reaches. Each warp
 * reads 8 fragments of 512 bytes from shared memory per 16 of depth, which takes 256 cycles at 128
 * bytes per cycle. Writing the tiles takes another 128 cycles, 384 in total. (With 64 by 32 per
 * warp, reading would take 512 cycles and be the bottleneck.) Registers allow two blocks per
 * multiprocessor, so that one multiplies while the other waits. That is about 550 TFLOP/s at best.
 * The products of a chunk are 7.6 GFLOP and take 14 us, where 20,000 chunks/s leave 50 us per
 * chunk. On cards of compute capability 9.0, products_wgmma.cu computes bf16 and tf32 in predictions.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/products.h"

/* A warp computes WARP_SIDE rows by WARP_SIDE columns: MT by NT products of 16 by 8. */
enum { WARPS = 4, WARP_SIDE = 64, MT = WARP_SIDE / 16, NT = WARP_SIDE / 8 };
enum { THREADS = 32 * WARPS, ROW_BYTES = 64, STAGES = 3 };

/* The tile of a block with BN columns, and the sizes of a step. */
template <int PRODUCTS, int BN> struct tile {
    static constexpr bool BF16 = PRODUCTS == COV_CUDA_BF16;
    static constexpr int ELEMENT = BF16 ? 2 : 4;   /* bytes */
    static constexpr int PIECE = 16 / ELEMENT;     /* elements of a copy */
    static constexpr int BK = ROW_BYTES / ELEMENT; /* depth of a step */
    static constexpr int WARPS_ACROSS = BN / WARP_SIDE, BM = WARP_SIDE * (WARPS / WARPS_ACROSS);
    /* For a gradient: elements of a padded row, bytes of an operand. */
    static constexpr int A_PITCH = BM + 8, B_PITCH = BN + 8;
    static constexpr int A_BYTES = BK * A_PITCH * ELEMENT, B_BYTES = BK * B_PITCH * ELEMENT;
};

/* The warp's part of a tile: its lane, and its first row and column. */
struct warp_part {
    int lane, m, n;
};

template <int WARPS_ACROSS> SIMT_DEVICE struct warp_part warp_part_of(void)
{
    struct warp_part w;
    int warp = (int)threadIdx.x / 32;
    w.lane = (int)threadIdx.x % 32;
    w.m = warp / WARPS_ACROSS * WARP_SIDE;
    w.n = warp % WARPS_ACROSS * WARP_SIDE;
    return w;
}

/* ---- products of fragments ---- */

/* A float is a tf32, which has 10 bits of fraction, plus a rest, of which tensor cores read the first 11
 * bits. */
SIMT_DEVICE uint32_t tf32_part(uint32_t v)
{
    return v & 0xffffe000;
}

SIMT_DEVICE uint32_t tf32_rest(uint32_t v)
{
    return simt_bits(simt_float(v) - simt_float(tf32_part(v)));
}

/* Returns the operand of a tensor core for v: a float, or two bf16. */
template <int PRODUCTS> SIMT_DEVICE uint32_t tensor_operand(uint32_t v)
{
    return PRODUCTS == COV_CUDA_BF16   ? v
           : PRODUCTS == COV_CUDA_TF32 ? simt_tf32(simt_float(v))
                                       : tf32_part(v);
}

/* Adds `a` times `b` to sum in three products of tf32. Tensor cores truncate bits that do not fit
 * into the sum. So the products are summed separately, and their sum is added to the total with
 * rounding. */
SIMT_DEVICE void multiply_x3(float sum[4], const uint32_t a[4], const uint32_t a_low[4],
                             const uint32_t b[2], const uint32_t b_low[2])
{
    float part[4] = {0, 0, 0, 0};
    simt_mma_tf32(part, a_low, b[0], b[1]);
    simt_mma_tf32(part, a, b_low[0], b_low[1]);
    simt_mma_tf32(part, a, b[0], b[1]);
#pragma unroll
    for (int i = 0; i < 4; i++)
        sum[i] += part[i];
}

/* Adds `a` times `b` to sum, for 32 bytes of depth: MT fragments of 16 rows by NT fragments of 8
 * columns. */
template <int PRODUCTS>
SIMT_DEVICE void multiply(float sum[MT][NT][4], const uint32_t a[MT][4],
                          const uint32_t b[NT / 2][4])
{
    uint32_t av[MT][4], low[MT][4];
#pragma unroll
    for (int mt = 0; mt < MT; mt++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            av[mt][i] = tensor_operand<PRODUCTS>(a[mt][i]);
            low[mt][i] = PRODUCTS == COV_CUDA_TF32X3 ? tf32_rest(a[mt][i]) : 0;
        }
#pragma unroll
    for (int nt = 0; nt < NT; nt++) {
        const uint32_t *const v = &b[nt / 2][nt % 2 * 2];
        const uint32_t bv[2] = {tensor_operand<PRODUCTS>(v[0]), tensor_operand<PRODUCTS>(v[1])};
        const uint32_t b_low[2] = {tf32_rest(v[0]), tf32_rest(v[1])};
#pragma unroll
        for (int mt = 0; mt < MT; mt++) {
            if (PRODUCTS == COV_CUDA_TF32X3)
                multiply_x3(sum[mt][nt], av[mt], low[mt], bv, b_low);
            else if (PRODUCTS == COV_CUDA_TF32)
                simt_mma_tf32(sum[mt][nt], av[mt], bv[0], bv[1]);
            else
                simt_mma_bf16(sum[mt][nt], av[mt], bv[0], bv[1]);
        }
    }
}

/* Sets sum to the products of `steps` steps. copy(step, stage) starts the copies of a step into a
 * stage of shared memory; load(stage, half, a, b) reads the fragments of one half of a stage. */
template <int PRODUCTS, typename Copy, typename Load>
SIMT_DEVICE void multiply_steps(int steps, Copy copy, Load load, float sum[MT][NT][4])
{
#pragma unroll
    for (int mt = 0; mt < MT; mt++)
#pragma unroll
        for (int nt = 0; nt < NT; nt++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[mt][nt][i] = 0;
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps)
            copy(step, step % STAGES);
        simt_copy_group();
    }
    for (int step = 0; step < steps; step++) {
        simt_copy_wait<STAGES - 2>();
        __syncthreads(); /* this stage has arrived, and all warps have read the one that is filled
                          * next */
        if (step + STAGES - 1 < steps)
            copy(step + STAGES - 1, (step + STAGES - 1) % STAGES);
        simt_copy_group();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint32_t a[MT][4], b[NT / 2][4];
            load(step % STAGES, half, a, b);
            multiply<PRODUCTS>(sum, a, b);
        }
    }
}

/* ---- products ---- */

/* Applies the epilogue to a warp's results and writes them. Reads the values of AHEAD columns before it
 * stores, so that it seldom waits for memory. */
template <int STORE, int AHEAD>
SIMT_DEVICE void write_y(const struct cov_cuda_gemm &g, int m_first, int n_first, int lane,
                         const float sum[MT][NT][4])
{
    constexpr int ELEMENT = STORE == STORE_FLOAT ? 4 : 2;
    const float least = least_of(g.relu);
    const int column = n_first + lane % 4 * 2;
    char *to[MT][2];
    int end[MT][2]; /* columns of the row */
#pragma unroll
    for (int mt = 0; mt < MT; mt++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int row = m_first + mt * 16 + half * 8 + lane / 4;
            end[mt][half] = row < g.n * g.phase.rows ? g.n_cols : 0;
            to[mt][half] = (char *)g.y + (y_offset(g, row) + column) * ELEMENT;
        }
    struct columns_of<2> c[AHEAD];
#pragma unroll
    for (int nt = 0; nt < NT; nt++) {
#pragma unroll
        for (int i = 0; nt % AHEAD == 0 && i < AHEAD; i++) {
            int o = column + (nt + i) * 8;
            c[i] = read_columns<2>(g.bias + o, g.scale + o, g.shift + o);
        }
#pragma unroll
        for (int mt = 0; mt < MT; mt++)
#pragma unroll
            for (int half = 0; half < 2; half++)
                store_finished<STORE>(to[mt][half] + nt * 8 * ELEMENT,
                                      column + nt * 8 < end[mt][half], &sum[mt][nt][half * 2],
                                      c[nt % AHEAD], least);
    }
}

template <int PRODUCTS, int BN> SIMT_KERNEL(THREADS) gemm_mma(struct cov_cuda_gemm g)
{
    using T = struct tile<PRODUCTS, BN>;
    constexpr int BM = T::BM, BK = T::BK, ELEMENT = T::ELEMENT;
    constexpr int A_PARTS = BM * 4 / THREADS, B_PARTS = BN * 4 / THREADS, APART = THREADS / 4;
    char *const shared = simt_shared(); /* [STAGES][BM + BN] rows */
    const int tid = (int)threadIdx.x, piece = tid % 4;
    const int across = (g.n_cols + BN - 1) / BN;
    const int m_first = (int)blockIdx.x / across * BM, n_first = (int)blockIdx.x % across * BN;
    const struct warp_part warp = warp_part_of<T::WARPS_ACROSS>();
    struct gather<A_PARTS> x =
        gather_begin<ELEMENT, A_PARTS>(g, m_first + tid / 4, APART, piece * T::PIECE);

    /* Rows 8 apart have the same permutation of vectors (cov_tile_place). */
    const int copied = cov_tile_place(tid / 4, piece);
    const char *w =
        (const char *)g.w + ((size_t)(n_first + tid / 4) * g.k + piece * T::PIECE) * ELEMENT;
    auto copy = [&](int, int stage) {
        char *const a = shared + stage * (BM + BN) * ROW_BYTES + copied, *const b =
                                                                             a + BM * ROW_BYTES;
        const char *from;
#pragma unroll
        for (int i = 0; i < A_PARTS; i++) {
            bool there = gather_next(g, x, i, &from);
            simt_copy16(a + i * APART * ROW_BYTES, from, there);
        }
#pragma unroll
        for (int i = 0; i < B_PARTS; i++)
            simt_copy16(b + i * APART * ROW_BYTES, w + (size_t)i * APART * g.k * ELEMENT, true);
        gather_advance<ELEMENT>(g, &x, BK);
        w += ROW_BYTES;
    };
    /* The matrices that this lane addresses. In A: rows 0-7, then rows 8-15 of a vector of 16
     * bytes, then the same for the next vector. In B: 8 columns of a vector, the same columns of
     * the next vector, then the same for the next 8 columns. */
    const int lane = warp.lane;
    const int a_row = warp.m + lane / 8 % 2 * 8 + lane % 8, a_piece = lane / 16;
    const int b_row = warp.n + lane / 16 * 8 + lane % 8, b_piece = lane / 8 % 2;
    const int a_at[2] = {cov_tile_place(a_row, a_piece), cov_tile_place(a_row, 2 + a_piece)};
    const int b_at[2] = {BM * ROW_BYTES + cov_tile_place(b_row, b_piece),
                         BM * ROW_BYTES + cov_tile_place(b_row, 2 + b_piece)};
    auto load = [&](int stage, int half, uint32_t av[MT][4], uint32_t bv[NT / 2][4]) {
        const char *const from = shared + stage * (BM + BN) * ROW_BYTES;
#pragma unroll
        for (int mt = 0; mt < MT; mt++)
            simt_load_matrices(av[mt], from + a_at[half] + mt * 16 * ROW_BYTES);
#pragma unroll
        for (int i = 0; i < NT / 2; i++)
            simt_load_matrices(bv[i], from + b_at[half] + i * 16 * ROW_BYTES);
    };
    float sum[MT][NT][4];
    multiply_steps<PRODUCTS>(g.k / BK, copy, load, sum);
    constexpr int AHEAD = PRODUCTS == COV_CUDA_TF32X3 ? 1 : NT / 2; /* registers are scarce */
    const int m = m_first + warp.m, n = n_first + warp.n;
    if (PRODUCTS == COV_CUDA_BF16 && g.y_fp16)
        write_y<STORE_FP16, AHEAD>(g, m, n, lane, sum);
    else if (g.y_bf16)
        write_y<STORE_BF16, AHEAD>(g, m, n, lane, sum);
    else
        write_y<STORE_FLOAT, AHEAD>(g, m, n, lane, sum);
}

/* ---- gradients ---- */

/* Reads the fragments of half a stage: MATRICES bf16 matrices of 16 depths by 16 columns each. The
 * matrices that this lane addresses begin at `lane_depth` and `lane_column`. */
template <int MATRICES, int PITCH>
SIMT_DEVICE void load_transposed(const char *rows, int lane_depth, int lane_column,
                                 uint32_t v[MATRICES][4])
{
#pragma unroll
    for (int i = 0; i < MATRICES; i++)
        simt_load_transposed(v[i], rows + (lane_depth * PITCH + lane_column + i * 16) * 2);
}

/* Writes the warp's part of the gradient. */
SIMT_DEVICE void write_partial(const struct cov_cuda_outer &o, const struct outer_block &at,
                               const struct warp_part &warp, const float sum[MT][NT][4])
{
#pragma unroll
    for (int mt = 0; mt < MT; mt++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            int k = at.k_first + warp.m + mt * 16 + half * 8 + warp.lane / 4;
            if (k >= o.phase.n_taps * o.c)
                continue;
            float *to = at.partial + (size_t)k * o.n_cols;
#pragma unroll
            for (int nt = 0; nt < NT; nt++) {
                int column = at.n_first + warp.n + nt * 8 + warp.lane % 4 * 2;
                if (column < o.n_cols)
                    *(float2 *)(to + column) =
                        make_float2(sum[mt][nt][half * 2], sum[mt][nt][half * 2 + 1]);
            }
        }
}

template <int PRODUCTS, int BN>
SIMT_KERNEL(THREADS)
outer_mma(struct cov_cuda_outer o, int tiles, int split_rows)
{
    using T = struct tile<PRODUCTS, BN>;
    constexpr int BM = T::BM, BK = T::BK, ELEMENT = T::ELEMENT, STAGE = T::A_BYTES + T::B_BYTES;
    constexpr int A_ACROSS = BM / T::PIECE, A_PARTS = BK * A_ACROSS / THREADS;
    constexpr int B_ACROSS = BN / T::PIECE, B_PARTS = BK * B_ACROSS / THREADS;
    static_assert(A_PARTS * THREADS == BK * A_ACROSS && B_PARTS * THREADS == BK * B_ACROSS,
                  "whole vectors per thread");
    char *const shared = simt_shared();
    const int tid = (int)threadIdx.x;
    const struct outer_block at = outer_block_of<BM, BN, ELEMENT>(o, tiles, split_rows);
    const struct warp_part warp = warp_part_of<T::WARPS_ACROSS>();
    const int a_column = tid % A_ACROSS * T::PIECE, b_column = tid % B_ACROSS * T::PIECE;
    const int tap = (at.k_first + a_column) / o.c, channel = (at.k_first + a_column) % o.c;
    /* The rows that this thread copies next. */
    int a_row = outer_row(at, tid / A_ACROSS, tap < o.phase.n_taps);
    int b_row = outer_row(at, tid / B_ACROSS, at.n_first + b_column < o.n_cols);

    auto copy = [&](int, int stage) {
        char *const a = shared + stage * STAGE, *const b = a + T::A_BYTES;
        const char *from;
#pragma unroll
        for (int i = 0; i < A_PARTS; i++) {
            bool there = outer_x<ELEMENT>(o, at, a_row, tap, channel, &from);
            int to = (tid + i * THREADS) / A_ACROSS * T::A_PITCH + a_column;
            simt_copy16(a + to * ELEMENT, from, there);
            a_row += THREADS / A_ACROSS;
        }
#pragma unroll
        for (int i = 0; i < B_PARTS; i++) {
            bool there = outer_z<ELEMENT>(o, at, b_row, at.n_first + b_column, &from);
            int to = (tid + i * THREADS) / B_ACROSS * T::B_PITCH + b_column;
            simt_copy16(b + to * ELEMENT, from, there);
            b_row += THREADS / B_ACROSS;
        }
    };
    auto load = [&](int stage, int half, uint32_t av[MT][4], uint32_t bv[NT / 2][4]) {
        const char *const a = shared + stage * STAGE, *const b = a + T::A_BYTES;
        const int lane = warp.lane;
        if constexpr (T::BF16) {
            /* In A: columns 0-7 and 8-15 at depths 0-7, then at depths 8-15. In B: depths 0-7 and
             * 8-15 of 8 columns, then of the next 8 columns. */
            load_transposed<MT, T::A_PITCH>(a, half * 16 + lane / 16 * 8 + lane % 8,
                                            warp.m + lane / 8 % 2 * 8, av);
            load_transposed<NT / 2, T::B_PITCH>(b, half * 16 + lane / 8 % 2 * 8 + lane % 8,
                                                warp.n + lane / 16 * 8, bv);
        } else {
            int depth = half * 8 + lane % 4;
            const uint32_t *a_at = (const uint32_t *)a + depth * T::A_PITCH + warp.m + lane / 4;
            const uint32_t *b_at = (const uint32_t *)b + depth * T::B_PITCH + warp.n + lane / 4;
#pragma unroll
            for (int mt = 0; mt < MT; mt++)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    av[mt][i] = a_at[i / 2 * 4 * T::A_PITCH + mt * 16 + i % 2 * 8];
#pragma unroll
            for (int i = 0; i < NT * 2; i++)
                bv[i / 4][i % 4] = b_at[i % 2 * 4 * T::B_PITCH + i / 2 * 8];
        }
    };
    float sum[MT][NT][4];
    multiply_steps<PRODUCTS>(outer_steps(at, BK), copy, load, sum);
    write_partial(o, at, warp, sum);
}

/* ---- launches ---- */

template <int PRODUCTS, int BN> static void launch(const struct cov_cuda_gemm *g, void *stream)
{
    constexpr int BM = tile<PRODUCTS, BN>::BM;
    int m = g->n * g->phase.rows;
    if (m > 0)
        simt_launch(gemm_mma<PRODUCTS, BN>,
                    dim3((unsigned)(m + BM - 1) / BM * ((unsigned)(g->n_cols + BN - 1) / BN)),
                    THREADS, (size_t)STAGES * (BM + BN) * ROW_BYTES, stream, *g);
}

template <int PRODUCTS, int BN> static void launch(const struct cov_cuda_outer *o, void *stream)
{
    using T = struct tile<PRODUCTS, BN>;
    outer_launch<T::BM, BN>(outer_mma<PRODUCTS, BN>, o, THREADS,
                            (size_t)STAGES * (T::A_BYTES + T::B_BYTES), stream);
}

/* `args`: struct cov_cuda_gemm or struct cov_cuda_outer. */
template <int PRODUCTS, typename Args> static void choose_tile(const Args *args, void *stream)
{
    if (args->n_cols <= 64)
        launch<PRODUCTS, 64>(args, stream);
    else
        launch<PRODUCTS, 128>(args, stream);
}

template <typename Args>
static void choose(enum cov_cuda_products products, const Args *args, void *stream)
{
    switch (products) {
    case COV_CUDA_FP32:
        cov_cuda_launch_fp32(args, stream);
        break;
    case COV_CUDA_TF32X3:
        choose_tile<COV_CUDA_TF32X3>(args, stream);
        break;
    case COV_CUDA_TF32:
        choose_tile<COV_CUDA_TF32>(args, stream);
        break;
    case COV_CUDA_BF16:
        choose_tile<COV_CUDA_BF16>(args, stream);
        break;
    }
}

void cov_cuda_gemm(enum cov_cuda_products products, const struct cov_cuda_gemm *g, void *stream)
{
    if (g->wgmma)
        cov_cuda_launch_wgmma(products, g, stream);
    else
        choose(products, g, stream);
}

void cov_cuda_outer(enum cov_cuda_products products, const struct cov_cuda_outer *o, void *stream)
{
    choose(products, o, stream);
}

/* ---- sizes ---- */

void cov_cuda_gemm_sizes(enum cov_cuda_products products, struct cov_cuda_gemm *g)
{
    const int n_cols = g->n_cols, element = products == COV_CUDA_BF16 ? 2 : 4;
    int step = ROW_BYTES;
    if (g->wgmma)
        step = COV_WGMMA_STEP;
    g->k = cov_round_up(g->phase.n_taps * g->c, step / element);
    g->width = n_cols > 64                                ? cov_round_up(n_cols, 128)
               : products == COV_CUDA_FP32 && n_cols <= 8 ? 8
                                                          : 64;
}

size_t cov_cuda_gemm_weight(enum cov_cuda_products products, const struct cov_cuda_gemm *g, int row,
                            int column)
{
    const size_t element = products == COV_CUDA_BF16 ? 2 : 4;
    if (g->wgmma)
        return cov_wgmma_place(g->width < COV_WGMMA_COLUMNS ? g->width : COV_WGMMA_COLUMNS,
                               (size_t)g->k * element, column, (size_t)row * element) /
               element;
    return products == COV_CUDA_FP32 ? (size_t)row * g->width + column
                                     : (size_t)column * g->k + row;
}

/* Chooses about BLOCKS blocks per sequence, so that a batch of 32 sequences keeps a large card busy,
 * and splits of at least LEAST_ROWS rows. */
int cov_cuda_outer_splits(int n_taps, int c, int n_cols, int rows)
{
    enum { BLOCKS = 16, LEAST_ROWS = 512, TILE = 128 };
    int tiles = ((n_taps * c + TILE - 1) / TILE) * ((n_cols + TILE - 1) / TILE);
    int splits = tiles > 0 ? (BLOCKS + tiles - 1) / tiles : 1, most = rows / LEAST_ROWS;
    return splits < most ? splits : most > 1 ? most : 1;
}
