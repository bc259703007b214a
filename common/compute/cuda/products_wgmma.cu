/* products_wgmma.cu - products of matrices (kernels.h) by warpgroups, on the tensor cores of compute
 * capability 9.0: bf16, and tf32.
 *
 * A block of two warpgroups computes a tile of 128 rows by 64 or 128 columns; a warpgroup has 64 rows.
 * As in products_mma.cu, depth counts bytes, so that one kernel serves both types: a step is 128 bytes,
 * 64 elements of bf16 or 32 of tf32, and a wgmma multiplies 32 bytes.
 *
 * Operand B, the weights, is in shared memory, which a wgmma reads once for 64 rows. The host stores
 * weights in the order that they have there (cov_wgmma_place). So the weights of a step are contiguous
 * in memory, and one instruction copies them, up to STAGES - 1 steps ahead.
 *
 * Operand A, the rows of x, goes from memory to registers, one step ahead. (Through shared memory, it
 * would be written and read there, at a cost of as many bytes as the weights of 64 columns.) A lane reads
 * 16 bytes of a row, which are operands of two wgmma; the order of the weights fits. The taps of a
 * convolution read the same rows, mostly from L1. Columns are ordered such that a lane has eight
 * neighbouring ones, and stores them at once.
 *
 * Bound of a step of a warpgroup with 128 columns: the products take 256 cycles. In this time, 128 bytes
 * per cycle are 32 KB: 16 KB of weights and 8 KB of x are read, and 8 KB of weights are copied, half of
 * the tile of two warpgroups. So shared memory and L1 are the limit, together with the products. Four
 * warpgroups fit into a multiprocessor: some multiply while others wait or store.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/products.h"

enum { WARPGROUPS = 2, THREADS = 128 * WARPGROUPS, BM = 64 * WARPGROUPS };
enum { STEP_BYTES = COV_WGMMA_STEP, PIECES_APART = STEP_BYTES / 2, STAGES = 4 };
/* A wgmma computes PART columns from BYTES of depth; a lane has SUMS sums of them. */
enum { PART = 64, BYTES = 32, SUMS = PART / 2 };

/* ---- operands ---- */

/* What a lane reads of x for a step: two pieces of each of its two rows. `mask` is zero where x has no
 * such row. */
struct pieces {
    uint4 v[2][2]; /* [piece][row] */
    uint32_t mask[2][2];
};

/* A lane's operands A of a step: those of each wgmma. */
typedef uint32_t (&Operands)[STEP_BYTES / BYTES][4];

/* Starts to read the next step. */
template <int ELEMENT>
SIMT_DEVICE void read_pieces(const struct cov_cuda_gemm &g, struct gather<2> *x, struct pieces *p)
{
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int row = 0; row < 2; row++) {
            const char *from;
            bool there = gather_next(g, *x, row, &from);
            p->v[i][row] = simt_read16(from, there);
            p->mask[i][row] = there ? 0xffffffff : 0;
        }
        gather_advance<ELEMENT>(g, x, PIECES_APART / ELEMENT);
    }
}

template <bool BF16> SIMT_DEVICE uint32_t operand_of(uint32_t v, uint32_t mask)
{
    return BF16 ? v & mask : simt_tf32(simt_float(v & mask));
}

/* Register i of a wgmma is of row i % 2. */
template <bool BF16> SIMT_DEVICE void set_operands(const struct pieces &p, Operands a)
{
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int row = 0; row < 2; row++) {
            const uint4 v = p.v[i][row];
            const uint32_t mask = p.mask[i][row];
            a[2 * i][row] = operand_of<BF16>(v.x, mask);
            a[2 * i][2 + row] = operand_of<BF16>(v.y, mask);
            a[2 * i + 1][row] = operand_of<BF16>(v.z, mask);
            a[2 * i + 1][2 + row] = operand_of<BF16>(v.w, mask);
        }
}

/* The descriptor of operand B at an address of shared memory, with rows of 128 bytes, swizzled: groups of
 * eight rows are 1024 bytes apart. */
SIMT_DEVICE uint64_t descriptor(uint32_t address)
{
    return (address & 0x3ffff) >> 4 | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

/* ---- results ---- */

/* Finishes and stores a lane's eight neighbouring columns of a row. */
template <int STORE>
SIMT_DEVICE void store8(char *y, const float sum[8], const struct columns_of<8> &c, float least)
{
    float v[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        v[i] = finish(sum[i], c.bias[i], c.scale[i], c.shift[i], least);
    if constexpr (STORE == STORE_FLOAT) {
        *(float4 *)y = make_float4(v[0], v[1], v[2], v[3]);
        *(float4 *)(y + 16) = make_float4(v[4], v[5], v[6], v[7]);
    } else {
        uint32_t pair[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            pair[i] = STORE == STORE_FP16 ? simt_fp16_pair(v[2 * i], v[2 * i + 1])
                                          : simt_bf16_pair(v[2 * i], v[2 * i + 1]);
        *(uint4 *)y = uint4{pair[0], pair[1], pair[2], pair[3]};
    }
}

/* Applies the epilogue to the results of a lane, for rows m and m + 8, and writes them. */
template <int STORE, int PARTS>
SIMT_DEVICE void write_y(const struct cov_cuda_gemm &g, int m, int n_first,
                         const float sum[PARTS][SUMS])
{
    constexpr int ELEMENT = STORE == STORE_FLOAT ? 4 : 2, GROUP = 32;
    const float least = least_of(g.relu);
    const int first = n_first + (int)threadIdx.x % 4 * 8;
    char *to[2];
#pragma unroll
    for (int row = 0; row < 2; row++)
        to[row] = (char *)g.y + (y_offset(g, m + row * 8) + first) * ELEMENT;
#pragma unroll
    for (int group = 0; group < PARTS * PART / GROUP; group++) {
        const int o = first + group * GROUP;
        const struct columns_of<8> c = read_columns<8>(g.bias + o, g.scale + o, g.shift + o);
#pragma unroll
        for (int row = 0; row < 2; row++) {
            float v[8];
#pragma unroll
            for (int i = 0; i < 8; i++) /* a register holds two columns of a row */
                v[i] = sum[group / 2][group % 2 * 16 + i / 2 * 4 + row * 2 + i % 2];
            if (o < g.n_cols && m + row * 8 < g.n * g.phase.rows)
                store8<STORE>(to[row] + group * GROUP * ELEMENT, v, c, least);
        }
    }
}

/* ---- the kernel ---- */

template <bool BF16, int PARTS> SIMT_KERNEL_BLOCKS(THREADS, 2) gemm_wgmma(struct cov_cuda_gemm g)
{
    constexpr int BN = PARTS * PART, STAGE = BN * STEP_BYTES;
    constexpr int ELEMENT = BF16 ? 2 : 4;
    const int tid = (int)threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int across = (g.n_cols + BN - 1) / BN, steps = g.k * ELEMENT / STEP_BYTES;
    const int n_tile = (int)blockIdx.x % across;
    const int m = (int)blockIdx.x / across * BM + warp * 16 + lane / 4;
    struct gather<2> x = gather_begin<ELEMENT, 2>(g, m, 8, lane % 4 * (16 / ELEMENT));
    /* Swizzling depends on the address, so stages start at multiples of 1024. */
    const uint32_t start = simt_shared_address(simt_shared());
    char *const shared =
        simt_shared() + (COV_WGMMA_ALIGNMENT - start % COV_WGMMA_ALIGNMENT) % COV_WGMMA_ALIGNMENT;
    uint64_t *const arrival = (uint64_t *)(shared + STAGES * STAGE); /* of each stage */
    const uint64_t b = descriptor(simt_shared_address(shared));
    const char *const w = (const char *)g.w + (size_t)n_tile * (size_t)steps * STAGE;
    auto copy = [&](int step) {
        if (tid == 0 && step < steps)
            simt_copy_bulk(shared + step % STAGES * STAGE, w + (size_t)step * STAGE, STAGE,
                           arrival + step % STAGES);
    };

    float sum[PARTS][SUMS];
#pragma unroll
    for (int part = 0; part < PARTS; part++)
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            sum[part][i] = 0;
    uint32_t a[STEP_BYTES / BYTES][4];
    struct pieces next;
    read_pieces<ELEMENT>(g, &x, &next);
    if (tid < STAGES)
        simt_arrival_init(arrival + tid);
    __syncthreads();
    for (int step = 0; step < STAGES - 1; step++)
        copy(step);
    for (int step = 0; step < steps; step++) {
        simt_wgmma_wait<0>();
        __syncthreads(); /* all warps have used the stage of the step before, which is filled next */
        copy(step + STAGES - 1);
        set_operands<BF16>(next, a);
        simt_arrival_wait(arrival + step % STAGES, step / STAGES % 2);
        const uint64_t stage = b + (uint64_t)(step % STAGES * (STAGE >> 4));
        simt_wgmma_fence();
#pragma unroll
        for (int i = 0; i < STEP_BYTES / BYTES; i++)
#pragma unroll
            for (int part = 0; part < PARTS; part++)
                simt_wgmma<BF16>(sum[part], a[i],
                                 stage + (part * PART * STEP_BYTES >> 4) + i * (BYTES >> 4));
        simt_wgmma_group();
        read_pieces<ELEMENT>(g, &x, &next);
    }
    simt_wgmma_wait<0>();
#pragma unroll
    for (int part = 0; part < PARTS; part++)
        simt_wgmma_results(sum[part]);
    const int n_first = n_tile * BN;
    if (BF16 && g.y_fp16)
        write_y<STORE_FP16, PARTS>(g, m, n_first, sum);
    else if (g.y_bf16)
        write_y<STORE_BF16, PARTS>(g, m, n_first, sum);
    else
        write_y<STORE_FLOAT, PARTS>(g, m, n_first, sum);
}

/* ---- launches ---- */

template <bool BF16, int PARTS> static void launch(const struct cov_cuda_gemm *g, void *stream)
{
    constexpr int BN = PARTS * PART;
    int m = g->n * g->phase.rows;
    if (m > 0)
        simt_launch(gemm_wgmma<BF16, PARTS>,
                    dim3((unsigned)(m + BM - 1) / BM * ((unsigned)(g->n_cols + BN - 1) / BN)),
                    THREADS, COV_WGMMA_ALIGNMENT + (size_t)STAGES * (BN * STEP_BYTES + 8), stream,
                    *g);
}

template <bool BF16> static void choose_tile(const struct cov_cuda_gemm *g, void *stream)
{
    if (g->width % COV_WGMMA_COLUMNS == 0)
        launch<BF16, 2>(g, stream);
    else
        launch<BF16, 1>(g, stream);
}

bool cov_cuda_wgmma_can(enum cov_cuda_products products)
{
    return products == COV_CUDA_BF16 || products == COV_CUDA_TF32;
}

void cov_cuda_launch_wgmma(enum cov_cuda_products products, const struct cov_cuda_gemm *g,
                           void *stream)
{
    if (products == COV_CUDA_BF16)
        choose_tile<true>(g, stream);
    else
        choose_tile<false>(g, stream);
}
