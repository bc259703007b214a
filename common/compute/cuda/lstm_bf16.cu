/* lstm_bf16.cu - the steps of an LSTM on tensor cores (kernels.h).
 *
 * A block takes 8 sequences of one direction through all steps by itself, so that no two blocks wait
 * for each other. A warp makes the four gates of 8 units: their weights are fragments that stay in
 * its registers (operand A: rows are gates of units, i and f, g and o; operand B: h, its columns the
 * sequences), and as all four gates of a unit and a sequence come out in one thread, so does c. Only
 * h goes through shared memory, as bf16, and a step needs one barrier. The sums over x are made
 * before, for all steps (gemm_mma.cu); a thread fetches its own of them three steps ahead, as a
 * step is shorter than a read of memory.
 *
 * The bound, for 128 units on an H200 (132 multiprocessors of 1.76 GHz; 16 warps, one block on each):
 * a step's 256 products of 16x8x16 are 260 to 420 cycles (mma.sync reaches some 60 % of what the
 * hardware has), its reads of h, 16 times 2 KB, 256 of shared memory beside them, its gates 7
 * exponentials and reciprocals for each unit and sequence, 450 cycles of their unit, and some 200
 * instructions a thread, 800 of issue. So about 900 cycles, 0.5 us; a chunk of the published size is
 * 4 x 2673 steps, an eighth of a block each: 5 us of the whole card where 50 are to be had for
 * 20,000 chunks/s. More sequences a block (N = 16) would save barriers and cost the overlap of
 * blocks; fewer leave the products half empty. What it reads is more: the sums over x, 11 MB a chunk
 * and layer, 4.5 us at 4.8 TB/s.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

enum { SEQUENCES = 8, ALL = (1 << SEQUENCES) - 1, STAGES = 4 };

/* Largest exponent: three factors 1 + exp of it are still a float, and what lies beyond is below
 * 1e-12 of a gate. NaN stays. */
SIMT_DEVICE float exp_limited(float v)
{
    return simt_exp_fast(v > 28.0f ? 28.0f : v);
}

/* What a step takes from its gates: sigmoid(f), sigmoid(i) tanh(g), and 1 / sigmoid(o). */
struct kept {
    float f, ig, o;
};

SIMT_DEVICE struct kept keep(float i, float f, float g, float o)
{
    struct kept k;
    float eg = exp_limited(-2.0f * g), a = (1.0f + exp_limited(-i)) * (1.0f + eg);
    float b = 1.0f + exp_limited(-f), r = simt_reciprocal_fast(a * b);
    k.f = a * r;
    k.ig = (1.0f - eg) * b * r;
    k.o = 1.0f + exp_limited(-o);
    return k;
}

/* The next c and its h. */
SIMT_DEVICE float advance(const struct kept &k, float *c)
{
    *c = fmaf(k.f, *c, k.ig);
    float e = exp_limited(-2.0f * *c);
    return (1.0f - e) * simt_reciprocal_fast(k.o * (1.0f + e));
}

SIMT_DEVICE bool same(const float4 &a, const float4 &b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

/* The steps that the block makes. */
SIMT_DEVICE int count_steps(const struct cov_cuda_lstm &l, int first, int direction)
{
    int steps = 0;
    if (direction)
        return l.t;
    for (int s = first; s < first + SEQUENCES && s < l.n; s++) {
        int forward = l.extents[(size_t)s * l.extent_pitch].forward;
        steps = forward > steps ? forward : steps;
    }
    return steps;
}

/* K16 * 16 units, four threads each. */
template <int K16> SIMT_KERNEL(K16 * 64) lstm_bf16(struct cov_cuda_lstm l)
{
    constexpr int UNITS = K16 * 16, PITCH = UNITS + 8; /* rows of h in different banks */
    constexpr int THREADS = K16 * 64;
    float4 *const ring = (float4 *)simt_shared();                    /* [STAGES][2][THREADS] */
    uint16_t *const h = (uint16_t *)(ring + STAGES * 2 * THREADS);   /* [2][SEQUENCES][PITCH] */
    uint32_t *const moved = (uint32_t *)(h + 2 * SEQUENCES * PITCH); /* [3] sequences, of a step */
    int *const spans = (int *)(moved + 4); /* [2][SEQUENCES] heads and tails */
    const int tid = (int)threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int direction = (int)blockIdx.y, first = (int)blockIdx.x * SEQUENCES;
    const int unit = warp * 8 + lane / 4, s0 = lane % 4 * 2; /* of this thread; and s0 + 1 */
    const int steps = count_steps(l, first, direction);
    const int t_first = direction ? l.t - 1 : 0, forth = direction ? -1 : 1;

    uint32_t w[2][K16][4];
    const uint32_t *from = (const uint32_t *)l.w +
                           ((size_t)direction * (UNITS / 8) + warp) * 2 * K16 * 32 * 4 + lane * 4;
#pragma unroll
    for (int pair = 0; pair < 2; pair++)
#pragma unroll
        for (int k = 0; k < K16; k++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                w[pair][k][i] = from[(pair * K16 + k) * 128 + i];

    if (tid < SEQUENCES && first + tid < l.n) {
        const struct cov_cuda_extent &e = l.extents[(size_t)(first + tid) * l.extent_pitch];
        spans[tid] = e.head;
        spans[SEQUENCES + tid] = e.tail;
    }
    __syncthreads();
    /* The sums over x of a step, each thread for itself, as a group of copies. */
    const int row_bytes = l.directions * UNITS * 16;
    const char *gates_of[2];
#pragma unroll
    for (int s = 0; s < 2; s++)
        gates_of[s] =
            (const char *)l.gates +
            (((size_t)(first + s0 + s) * l.t * l.directions + direction) * UNITS + unit) * 16;
    auto fetch = [&](int step) {
        int t = t_first + step * forth;
#pragma unroll
        for (int s = 0; s < 2; s++) {
            bool there = first + s0 + s < l.n && step < steps;
            int head = spans[s0 + s],
                row = t >= head && t < spans[SEQUENCES + s0 + s] ? head - 1 : t;
            simt_copy16(ring + (step % STAGES * 2 + s) * THREADS + tid,
                        gates_of[s] + (ptrdiff_t)row * row_bytes, there);
        }
        simt_copy_group();
    };
    float4 next[2];
    auto read = [&](int step) {
#pragma unroll
        for (int s = 0; s < 2; s++)
            next[s] = ring[(step % STAGES * 2 + s) * THREADS + tid];
    };

    for (int i = tid; i < 2 * SEQUENCES * PITCH; i += THREADS)
        h[i] = 0;
    if (tid < 3)
        moved[tid] = tid ? 0 : ALL;
    float c[2] = {0, 0};
    struct kept gates[2] = {{0, 0, 0}, {0, 0, 0}};
    /* What they were made of. */
    float4 ref_x[2];
    uint32_t ref_h[2] = {0, 0};
    int n_products = 0;
    for (int step = 0; step < STAGES - 1; step++)
        fetch(step);
    simt_copy_wait<STAGES - 2>();
    read(0);
    ref_x[0] = next[0];
    ref_x[1] = next[1];
    __syncthreads();

    for (int step = 0; step < steps; step++) {
        const int t = t_first + step * forth;
        const uint16_t *before = h + step % 2 * SEQUENCES * PITCH;
        uint16_t *after = h + (step + 1) % 2 * SEQUENCES * PITCH;
        const uint32_t moving = l.rest ? moved[step % 3] : (uint32_t)ALL;
        fetch(step + STAGES - 1);
#pragma unroll
        for (int s = 0; s < 2; s++)
            if (moving >> (s0 + s) & 1) {
                ref_x[s] = next[s];
                ref_h[s] = before[(s0 + s) * PITCH + unit];
            }
        /* Products wait for those before, of two chains a warp; the four warps of a scheduler fill
         * that time. */
        float sum[2][4] = {{next[0].x, next[1].x, next[0].y, next[1].y},
                           {next[0].z, next[1].z, next[0].w, next[1].w}};
        if (moving) {
            n_products++;
            const uint16_t *row = before + lane % 8 * PITCH + lane / 8 * 8;
#pragma unroll
            for (int k = 0; k < K16; k += 2) {
                uint32_t b[4];
                simt_load_matrices(b, row + k * 16);
#pragma unroll
                for (int pair = 0; pair < 2; pair++) {
                    simt_mma_bf16(sum[pair], w[pair][k], b[0], b[1]);
                    simt_mma_bf16(sum[pair], w[pair][k + 1], b[2], b[3]);
                }
            }
        }
        uint32_t bits[2];
#pragma unroll
        for (int s = 0; s < 2; s++) {
            if (moving >> (s0 + s) & 1)
                gates[s] = keep(sum[0][s], sum[0][2 + s], sum[1][s], sum[1][2 + s]);
            float value = advance(gates[s], &c[s]);
            bits[s] = simt_bf16(value);
            after[(s0 + s) * PITCH + unit] = (uint16_t)bits[s];
            if (!l.y_bf16 && first + s0 + s < l.n)
                ((float *)l
                     .y)[(((size_t)(first + s0 + s) * l.t + t) * l.directions + direction) * UNITS +
                         unit] = value;
        }
        simt_copy_wait<STAGES - 2>();
        read(step + 1);
        if (l.rest) {
            /* Who has moved before the next step: lanes of each s0 are 4 apart. */
            uint32_t of0 = simt_ballot(bits[0] != ref_h[0] || !same(next[0], ref_x[0]));
            uint32_t of1 = simt_ballot(bits[1] != ref_h[1] || !same(next[1], ref_x[1]));
            if (lane == 0) {
                uint32_t all = 0;
#pragma unroll
                for (int i = 0; i < SEQUENCES / 2; i++)
                    all |= (of0 & 0x11111111U << i ? 1U << 2 * i : 0) |
                           (of1 & 0x11111111U << i ? 2U << 2 * i : 0);
                if (all)
                    simt_or(&moved[(step + 1) % 3], all);
            }
            if (tid == 0)
                moved[(step + 2) % 3] = 0;
        }
        __syncthreads();
        /* The rows of h that are whole now; the next step only reads them. */
        if (l.y_bf16 && tid < SEQUENCES * UNITS / 8) {
            int s = tid / (UNITS / 8), piece = tid % (UNITS / 8) * 8;
            if (first + s < l.n)
                *(uint4 *)((uint16_t *)l.y +
                           (((size_t)(first + s) * l.t + t) * l.directions + direction) * UNITS +
                           piece) = *(const uint4 *)(after + s * PITCH + piece);
        }
    }
    if (tid < SEQUENCES && first + tid < l.n)
        l.extents[(size_t)(first + tid) * l.extent_pitch].products[direction] = n_products;
}

static size_t shared_bytes(int units)
{
    return (size_t)STAGES * 2 * (units * 4) * 16 + (size_t)2 * SEQUENCES * (units + 8) * 2 + 16 +
           2 * SEQUENCES * sizeof(int);
}

bool cov_cuda_lstm_bf16_fits(int units, size_t bytes)
{
    return units <= COV_CUDA_LSTM_UNITS && shared_bytes(units) <= bytes;
}

template <int K16> static void launch(const struct cov_cuda_lstm *l, void *stream)
{
    simt_launch(lstm_bf16<K16>,
                dim3((unsigned)((l->n + SEQUENCES - 1) / SEQUENCES), (unsigned)l->directions),
                K16 * 64, shared_bytes(K16 * 16), stream, *l);
}

void cov_cuda_lstm_bf16(const struct cov_cuda_lstm *l, void *stream)
{
    switch (l->units / 32) {
    case 1:
        launch<2>(l, stream);
        break;
    case 2:
        launch<4>(l, stream);
        break;
    case 3:
        launch<6>(l, stream);
        break;
    default:
        launch<8>(l, stream);
        break;
    }
}
