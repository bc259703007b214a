/* lstm_bf16.cu - the steps of an LSTM on tensor cores, with h and weights as bf16: prediction, and training
 * forward and backward (kernels.h).
 *
 * A block runs 8 sequences of one direction through all steps by itself, so that blocks never wait for
 * each other. A warp computes the four gates of 8 units. The weights stay in its registers as
 * fragments of operand A, whose rows are gates of units: i and f in one fragment, g and o in the
 * next. Operand B is h, with the sequences as columns. All four gates of a unit and a sequence end
 * up in one thread, which therefore also keeps c. Only h passes through shared memory, as bf16, and
 * a step needs one barrier. The sums over x of all steps are computed in advance (products_mma.cu),
 * as fp16 for predictions unless cuBLAS computes them. A thread copies some of them to shared memory a
 * few steps ahead, since a step is shorter than the latency of memory.
 *
 * In the backward pass a warp computes the gradients of h for 16 units, which are the rows of
 * operand A. Operand B holds the gradients of all gates of the following step, which pass through
 * shared memory as bf16. Everything else that a step reads is loaded into registers during the
 * previous step, and into the L2 cache some steps before.
 *
 * Steps follow each other, so the time of a block is the latency of a step. What does not wait for h
 * of the previous step is placed among the products: addresses, copies, the comparison of sums, and
 * writing the previous h. In prediction, half of the warps do it before their products and the others
 * after them, so that products of some warps overlap exponentials of others.
 *
 * Bound of a prediction step with 128 units on an H200 (132 multiprocessors at 1.98 GHz, each with
 * one block of 16 warps):
 *   - the 256 products of 16x8x16 take 260 to 420 cycles (mma.sync reaches some 60 % of the peak);
 *   - in parallel, reading h, 16 times 2 KB, takes 256 cycles of shared memory;
 *   - the gates, 7 exponentials and reciprocals per unit and sequence, take 450 cycles of
 *     the unit that computes them;
 *   - issuing some 160 instructions per thread takes 640 cycles (180 with sums over x as floats).
 * Measured with sums as floats, it takes 0.91 us, 1,800 cycles, with 2, 16 or 64 blocks; a step of
 * training takes 1.33 to 1.51 us forward and 1.22 us backward. A chunk of the published size has
 * 4 x 2673 steps, and each uses an eighth of a block. So a chunk takes 9 us of the whole card; 20,000 chunks/s allow 50 us.
 * More sequences per block (N = 16) would save barriers, but leave multiprocessors idle; fewer
 * would leave the products half empty. Reading the sums over x, 5.5 MB per chunk and layer, takes
 * 2.3 us for both layers at 4.8 TB/s.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/lstm_edits.h"
#include "common/compute/cuda/lstm_sums.h"

#include <limits.h>

/* PADDING, between sequences in h, puts their rows into different banks. */
enum { CHAINS = 4, AHEAD = 4, PADDING = 8 };

/* Sets w to the fragments of the block's weights from number `first` on. */
template <int N>
SIMT_DEVICE void load_weights(const void *weights, size_t first, uint32_t (&w)[N][4])
{
    const uint32_t *from = (const uint32_t *)weights + first * 128 + threadIdx.x % 32 * 4;
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            w[k][i] = from[k * 128 + i];
}

/* How a thread copies h as bf16 from shared memory to y: 16 bytes of the step before, in each step. */
struct rows {
    char *to;  /* where the next ones go */
    int pace;  /* bytes from there to those of the next step */
    int begin; /* the first step in which this thread copies; INT_MAX: it does not */
    int from;  /* within h of a step */
};

/* `to` is y[n, t, direction, unit], or NULL if it is not wanted. */
template <int K16, int EACH = 2, typename Layer>
SIMT_DEVICE struct rows begin_rows(const Layer &l, const struct seat &my, void *to)
{
    constexpr int UNITS = K16 * 16;
    int s = my.tid / (UNITS / 8), unit = my.tid % (UNITS / 8) * 8, sequence = my.first + s;
    struct rows r = {NULL, l.directions * UNITS * (my.direction ? -2 : 2), INT_MAX,
                     s * (2 / EACH) * (UNITS + PADDING) + unit};
    if (to && s < 4 * EACH && sequence < l.n) {
        r.begin = 1;
        r.to = (char *)to +
               lstm_place(l, sequence, my.direction ? l.t - 1 : 0, my.direction, unit) * 2;
    }
    return r;
}

/* Copies h of the step before `step`. */
SIMT_DEVICE void copy_row(struct rows *r, int step, const uint16_t *h)
{
    if (step >= r->begin) {
        *(uint4 *)r->to = *(const uint4 *)(h + r->from);
        r->to += r->pace;
    }
}

/* ---- prediction ---- */

/* The shared memory of a block of K16 * 16 units in the forward kernels. */
template <int K16> struct block {
    static constexpr int PITCH = K16 * 16 + PADDING;
    float4 ring[STAGES * 2 * K16 * 64];
    uint16_t h[2][SEQUENCES * PITCH]; /* by step */
    uint32_t moved[4]; /* by step: not 0 if h or a sum over x has changed since the step before */
};

static constexpr size_t shared_bytes(int units)
{
    return (size_t)STAGES * 2 * (units * 4) * 16 + (size_t)2 * SEQUENCES * (units + PADDING) * 2 +
           16;
}

/* Adds the products of w and units 16 k to 16 k + 32 of h, b, to even + odd, for gates i and f, then
 * g and o. A product waits for the previous one of its chain: even and odd are two chains per sum, or
 * the same array. */
template <int K16>
SIMT_DEVICE void multiply_h(const uint32_t (&w)[2 * K16][4], int k, const uint32_t b[4],
                            float even[2][4], float odd[2][4])
{
#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
        simt_mma_bf16(even[pair], w[pair * K16 + k], b[0], b[1]);
        simt_mma_bf16(odd[pair], w[pair * K16 + k + 1], b[2], b[3]);
    }
}

/* A block has K16 * 16 units, with four threads each. FP16: the sums over x. */
template <int K16, bool BF16, bool FP16> SIMT_KERNEL(K16 * 64) lstm_bf16(struct cov_cuda_lstm l)
{
    constexpr int UNITS = K16 * 16, PITCH = block<K16>::PITCH, HALF = SEQUENCES * PITCH;
    struct block<K16> &b = *simt_keep_address((struct block<K16> *)simt_shared());
    const struct seat my = seat_of();
    const int steps = lstm_count_steps(l, my.direction, my.first, SEQUENCES);
    uint32_t w[2 * K16][4]; /* gates i and f, then g and o */
    load_weights(l.w, ((size_t)my.direction * (UNITS / 8) + my.warp) * 2 * K16, w);
    for (int i = my.tid; i < 2 * HALF; i += K16 * 64)
        b.h[0][i] = 0;
    if (my.tid < 4)
        b.moved[my.tid] = !my.tid;
    auto x = begin_sums_of<K16, FP16>(l, my, steps, b.ring);
    using Value = typename decltype(x)::Value;
    struct rows rows = begin_rows<K16>(l, my, BF16 ? l.y : NULL);
    float *y[2]; /* of t = 0 */
    const int float_bytes = l.directions * l.units * 4;
#pragma unroll
    for (int s = 0; s < 2; s++) {
        y[s] = (float *)l.y + lstm_place(l, my.first + my.s0 + s, 0, my.direction, my.unit);
        read_extent(&x, s, l.extents[(size_t)sequence_of(l, my, s) * l.extent_pitch]);
    }
    Value now[2];
    float c[2] = {0, 0};
    struct lstm_gates gates[2] = {};
    uint32_t pair = 0; /* h of the last step, as bf16 */
    int n_products = 0;
    if (steps > 0)
        first_sums(&x, now);
    __syncthreads();

    const uint16_t *row = b.h[0] + my.lane % 8 * PITCH + my.lane / 8 * 8;
    uint16_t *const mine = b.h[0] + my.s0 * PITCH + my.unit;
    const bool early = my.warp >= K16;
    /* A block looks for changes only once the step before had none, so that it does not wait for
     * the answer in every step. */
    bool may_rest = false;
    int before = 0, t = my.direction ? l.t - 1 : 0;
    for (int step = 0; step < steps; step++) {
        Value next[2];
        uint32_t moved, part[4]; /* of h */
        simt_load_matrices(part, row + before);
        /* What does not depend on h of this step. */
        auto prepare = [&]() {
            next_sums(&x, step + 1, next);
            moved = difference(now[0], next[0]) | difference(now[1], next[1]) | !l.rest;
            copy_row(&rows, step, b.h[0] + before);
        };
        if (!may_rest || b.moved[step % 4]) {
            const float4 v0 = sums_of(now[0]), v1 = sums_of(now[1]);
            float sum[2][4] = {{v0.x, v1.x, v0.y, v1.y}, {v0.z, v1.z, v0.w, v1.w}};
            n_products++;
            if (early)
                prepare();
            multiply_h<K16>(w, 0, part, sum, sum);
            may_rest = !b.moved[step % 4];
#pragma unroll
            for (int k = 2; k < K16; k += 2) {
                simt_load_matrices(part, row + before + k * 16);
                multiply_h<K16>(w, k, part, sum, sum);
            }
            if (!early)
                prepare();
#pragma unroll
            for (int s = 0; s < 2; s++)
                gates[s] = lstm_gates_of(sum[0][s], sum[0][2 + s], sum[1][s], sum[1][2 + s]);
        } else {
            prepare();
        }
        float value[2];
#pragma unroll
        for (int s = 0; s < 2; s++) {
            now[s] = next[s];
            value[s] = lstm_advance(gates[s], &c[s]);
        }
        uint32_t last = pair;
        pair = simt_bf16_pair(value[0], value[1]);
        before = HALF - before;
        mine[before] = (uint16_t)pair;
        mine[before + PITCH] = (uint16_t)(pair >> 16);
        b.moved[(step + 2) % 4] = 0;
        simt_mark(&b.moved[(step + 1) % 4], moved | (pair ^ last));
        if (!BF16)
#pragma unroll
            for (int s = 0; s < 2; s++)
                if (my.first + my.s0 + s < l.n)
                    *(float *)simt_row(y[s], t, float_bytes) = value[s];
        t += x.forth;
        __syncthreads();
    }
    copy_row(&rows, steps, b.h[0] + before);
    simt_copy_wait<0>();
    if (my.tid < SEQUENCES && my.first + my.tid < l.n)
        l.extents[(size_t)(my.first + my.tid) * l.extent_pitch].products[my.direction] = n_products;
}

/* ---- sequences after edits ---- */

struct edits_block {
    uint32_t moves[4][SEQUENCES]; /* by step: not 0 if the sequence is not at rest */
};

/* A block has K16 * 16 units, with four threads each. Shared memory holds a struct edits_block, then h of
 * two steps. Sums over x are read a step ahead, and kept values at the start of their step. */
template <int K16, bool FP16> SIMT_KERNEL(K16 * 64) lstm_edits_bf16(struct cov_cuda_lstm_edits l)
{
    constexpr int UNITS = K16 * 16, PITCH = UNITS + PADDING, HALF = SEQUENCES * PITCH;
    struct edits_block &b = *simt_keep_address((struct edits_block *)simt_shared());
    uint16_t *const h = (uint16_t *)(&b + 1);
    const struct seat my = seat_of();
    uint32_t w[2 * K16][4];
    load_weights(l.w, ((size_t)my.direction * (UNITS / 8) + my.warp) * 2 * K16, w);
    struct edit_walk at[2];
    float4 next[2];
    float c[2];
    if (my.tid < 4 * SEQUENCES)
        b.moves[0][my.tid] = 0;
    __syncthreads();
#pragma unroll
    for (int s = 0; s < 2; s++) {
        at[s] = edit_walk_of(l, my.first + my.s0 + s, my.direction, my.unit, FP16 ? 2 : 4);
        const bool inside = edit_starts_inside(l, at[s]);
        const int before = at[s].t - at[s].forth;
        c[s] = inside ? edit_kept_cell(l, at[s], before) : 0;
        h[(my.s0 + s) * PITCH + my.unit] =
            (uint16_t)simt_bf16(inside ? edit_kept_h(l, at[s], before) : 0);
        next[s] = edit_sums<FP16>(at[s], at[s].t);
        if (at[s].there)
            b.moves[0][my.s0 + s] = 1;
    }
    __syncthreads();

    const uint16_t *const row = h + my.lane % 8 * PITCH + my.lane / 8 * 8;
    int before = 0;
    for (int step = 0;; step++) {
        const uint32_t *const moving = b.moves[step % 4];
        uint32_t any = 0;
#pragma unroll
        for (int s = 0; s < SEQUENCES; s++)
            any |= moving[s];
        if (!any)
            break;
        float sum[2][4] = {{next[0].x, next[1].x, next[0].y, next[1].y},
                           {next[0].z, next[1].z, next[0].w, next[1].w}};
        float kept_h[2], kept_c[2];
        bool moves[2];
#pragma unroll
        for (int s = 0; s < 2; s++) {
            moves[s] = moving[my.s0 + s] != 0;
            next[s] = edit_sums<FP16>(at[s], edit_next(at[s]));
            kept_h[s] = l.cells ? 0 : edit_kept_h(l, at[s], at[s].t);
            kept_c[s] = l.cells ? 0 : edit_kept_cell(l, at[s], at[s].t);
        }
#pragma unroll
        for (int k = 0; k < K16; k += 2) {
            uint32_t part[4];
            simt_load_matrices(part, row + before + k * 16);
            multiply_h<K16>(w, k, part, sum, sum);
        }
        before = HALF - before;
#pragma unroll
        for (int s = 0; s < 2; s++) {
            const float value = lstm_advance(
                lstm_gates_of(sum[0][s], sum[0][2 + s], sum[1][s], sum[1][2 + s]), &c[s]);
            const uint32_t bits = simt_bf16(value);
            h[before + (my.s0 + s) * PITCH + my.unit] = (uint16_t)bits;
            if (!moves[s])
                continue;
            edit_write(l, &at[s], value, c[s]);
            simt_mark(&b.moves[(step + 1) % 4][my.s0 + s],
                      edit_moves(l, at[s],
                                 bits != simt_bf16(kept_h[s]) || edit_differs(c[s], kept_c[s])));
            at[s].t = edit_next(at[s]);
        }
        if (my.tid < SEQUENCES)
            b.moves[(step + 2) % 4][my.tid] = 0;
        __syncthreads();
    }
#pragma unroll
    for (int s = 0; s < 2; s++)
        if (my.unit == 0 && my.first + my.s0 + s < l.n)
            l.edits[my.first + my.s0 + s].stop[my.direction] = at[s].stop;
}

/* ---- training ---- */

/* A block has K16 * 16 units, with four threads each. */
template <int K16, bool BF16, int EACH>
SIMT_KERNEL(K16 * 64)
lstm_forward_bf16(struct cov_cuda_lstm_train l)
{
    constexpr int UNITS = K16 * 16, PITCH = block<K16>::PITCH, HALF = SEQUENCES * PITCH;
    struct block<K16> &b = *simt_keep_address((struct block<K16> *)simt_shared());
    const struct seat my = seat_of<EACH>();
    uint32_t w[2 * K16][4];
    load_weights(l.w, ((size_t)my.direction * (UNITS / 8) + my.warp) * 2 * K16, w);
    for (int i = my.tid; i < 2 * HALF; i += K16 * 64)
        b.h[0][i] = 0;
    sums<K16, EACH> x = begin_sums<K16, EACH>(l, my, l.t, b.ring);
    struct rows rows = begin_rows<K16, EACH>(l, my, BF16 ? l.y : l.h_bf16);
    float *cells[EACH], *y[EACH]; /* of t = 0 */
#pragma unroll
    for (int s = 0; s < EACH; s++) {
        size_t place = lstm_place(l, my.first + my.s0 + s, 0, my.direction, my.unit);
        cells[s] = l.cells + place;
        y[s] = (float *)l.y + place;
    }
    float4 next[EACH];
    float c[EACH] = {0};
    first_sums(&x, next);
    __syncthreads();

    const uint16_t *row = b.h[0] + my.lane % 8 * PITCH + my.lane / 8 * 8;
    uint16_t *const mine = b.h[0] + my.column * PITCH + my.unit;
    int before = 0, t = my.direction ? l.t - 1 : 0;
    for (int step = 0; step < l.t; step++) {
        const float4 v0 = next[0], v1 = next[EACH - 1]; /* an unused column is a copy */
        float even[2][4] = {{v0.x, v1.x, v0.y, v1.y}, {v0.z, v1.z, v0.w, v1.w}};
        float odd[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
#pragma unroll
        for (int k = 0; k < K16; k += 2) {
            uint32_t part[4];
            simt_load_matrices(part, row + before + k * 16);
            multiply_h<K16>(w, k, part, even, odd);
            if (k == 0) {
                next_sums(&x, step + 1, next);
                copy_row(&rows, step, b.h[0] + before);
            }
        }
        float4 gates[EACH];
        float value[EACH];
#pragma unroll
        for (int s = 0; s < EACH; s++) {
            float i = even[0][s] + odd[0][s], f = even[0][2 + s] + odd[0][2 + s];
            float g = even[1][s] + odd[1][s], o = even[1][2 + s] + odd[1][2 + s];
            gates[s] = make_float4(lstm_sigmoid(i), lstm_sigmoid(f), lstm_tanh(g), lstm_sigmoid(o));
            c[s] = fmaf(gates[s].y, c[s], gates[s].x * gates[s].z);
            value[s] = gates[s].w * lstm_tanh(c[s]);
        }
        uint32_t pair = simt_bf16_pair(value[0], value[EACH - 1]);
        before = HALF - before;
        mine[before] = (uint16_t)pair;
        if (EACH == 2)
            mine[before + PITCH] = (uint16_t)(pair >> 16);
#pragma unroll
        for (int s = 0; s < EACH; s++)
            if (my.first + my.s0 + s < l.n) {
                *(float4 *)simt_row(x.from[s], t, x.row_bytes) = gates[s];
                *(float *)simt_row(cells[s], t, x.row_bytes / 4) = c[s];
                if (!BF16)
                    *(float *)simt_row(y[s], t, x.row_bytes / 4) = value[s];
            }
        t += x.forth;
        __syncthreads();
    }
    copy_row(&rows, l.t, b.h[0] + before);
    simt_copy_wait<0>();
}

/* What a thread of the backward pass reads and writes, for two units and EACH sequences: a value i is
 * that of sequence i % 2 and of unit i / 2 * 8 of these, as in the product's fragments. */
template <int EACH> struct place {
    /* By sequence, of t = 0 and the first unit. */
    const float *gates[EACH], *cells[EACH], *dy[EACH];
    uint2 *dgates[EACH]; /* NULL: past the last sequence */
    int pace;            /* units of a step, of all directions */
};

/* Sequences past the last one read the values of the last. */
template <int EACH>
SIMT_DEVICE place<EACH> place_of(const struct cov_cuda_lstm_train &l, int first, int direction,
                                 int unit)
{
    place<EACH> p;
    p.pace = l.directions * l.units;
#pragma unroll
    for (int s = 0; s < EACH; s++) {
        int sequence = first + (int)threadIdx.x % 4 * EACH + s;
        size_t at = lstm_place(l, sequence < l.n ? sequence : l.n - 1, 0, direction, unit);
        p.gates[s] = l.gates + at * 4;
        p.cells[s] = l.cells + at;
        p.dy[s] = l.dy + at;
        p.dgates[s] = sequence < l.n ? (uint2 *)l.dgates + at : NULL;
    }
    return p;
}

template <int EACH>
SIMT_DEVICE void read_floats(const float *const (&from)[EACH], int t, int pace, float v[4])
{
#pragma unroll
    for (int s = 0; s < EACH; s++) {
        const float *at = (const float *)simt_row(from[s], t, pace * 4);
        v[s] = at[0];
        v[s + 2] = at[8];
    }
}

/* The values that a step of the backward pass reads. */
struct reading {
    float4 gates[4];
    float past[4], dy[4]; /* past: c of the previous step */
};

/* Reads the values of step t, whose previous step is t_past; `begins`: it is the first one. */
template <int EACH>
SIMT_DEVICE void read_step(const place<EACH> &p, int t, int t_past, bool begins, struct reading *r)
{
#pragma unroll
    for (int s = 0; s < EACH; s++) {
        const float4 *at = (const float4 *)simt_row(p.gates[s], t, p.pace * 16);
        r->gates[s] = at[0];
        r->gates[s + 2] = at[8];
    }
    read_floats(p.dy, t, p.pace, r->dy);
#pragma unroll
    for (int i = 0; i < 4; i++)
        r->past[i] = 0;
    if (!begins)
        read_floats(p.cells, t_past, p.pace, r->past);
}

/* Starts to read the values of step t into the L2 cache. */
template <int EACH> SIMT_DEVICE void prefetch_step(const place<EACH> &p, int t)
{
#pragma unroll
    for (int s = 0; s < EACH; s++) {
        const float4 *gates = (const float4 *)simt_row(p.gates[s], t, p.pace * 16);
        simt_prefetch(gates);
        simt_prefetch(gates + 8);
        simt_prefetch(simt_row(p.dy[s], t, p.pace * 4));
        simt_prefetch(simt_row(p.cells[s], t, p.pace * 4));
    }
}

/* A block has K16 * 16 units, with two threads each. */
template <int K16, int EACH> SIMT_KERNEL(K16 * 32) lstm_backward_bf16(struct cov_cuda_lstm_train l)
{
    constexpr int UNITS = K16 * 16, DEPTH = 4 * K16, PITCH = 4 * UNITS + 8, THREADS = K16 * 32;
    constexpr int HALF = SEQUENCES * PITCH;
    /* [2][SEQUENCES][PITCH] */
    uint16_t *const gradients = simt_keep_address((uint16_t *)simt_shared());
    const int tid = (int)threadIdx.x, lane = tid % 32, warp = tid / 32, unit = warp * 16 + lane / 4;
    const int direction = (int)blockIdx.y, first = (int)blockIdx.x * 4 * EACH;
    const int back = direction ? 1 : -1;
    uint32_t w[DEPTH][4];
    load_weights(l.w, ((size_t)direction * K16 + warp) * DEPTH, w);
    for (int i = tid; i < 2 * HALF; i += THREADS)
        gradients[i] = 0;

    const place<EACH> p = place_of<EACH>(l, first, direction, unit);
    int t = direction ? 0 : l.t - 1;
    float dc[4] = {0, 0, 0, 0}, state[4];
    struct reading next;
    read_step(p, t, t + back, l.t == 1, &next);
    read_floats(p.cells, t, p.pace, state);
    __syncthreads();

    const uint16_t *row = gradients + lane % 8 * PITCH + lane / 8 * 8;
    uint16_t *const mine = gradients + lane % 4 * 2 * PITCH + unit * 4;
    int after = 0;
    for (int step = l.t - 1; step >= 0; step--) {
        const struct reading now = next;
        float dh[CHAINS][4];
#pragma unroll
        for (int chain = 0; chain < CHAINS; chain++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                dh[chain][i] = chain || i % 2 >= EACH ? 0 : now.dy[i];
#pragma unroll
        for (int k = 0; k < DEPTH; k += 2) {
            uint32_t b[4];
            simt_load_matrices(b, row + after + k * 16);
            simt_mma_bf16(dh[k % CHAINS], w[k], b[0], b[1]);
            simt_mma_bf16(dh[(k + 1) % CHAINS], w[k + 1], b[2], b[3]);
            if (k == 2 && step > 0) {
                read_step(p, t + back, t + 2 * back, step == 1, &next);
                prefetch_step(p, t + (step < AHEAD ? step : AHEAD) * back);
            }
        }
        after = HALF - after;
        uint2 by[4]; /* the gradients of a value's gates */
#pragma unroll
        for (int i = 0; i < 4; i++) {
            if (i % 2 >= EACH)
                continue;
            float sum = (dh[0][i] + dh[1][i]) + (dh[2][i] + dh[3][i]);
            float4 d = lstm_gradient(now.gates[i], lstm_tanh(state[i]), now.past[i], sum, &dc[i]);
            state[i] = now.past[i];
            by[i] = make_uint2(simt_bf16_pair(d.x, d.y), simt_bf16_pair(d.z, d.w));
            *(uint2 *)(mine + after + i % 2 * PITCH + i / 2 * 32) = by[i];
        }
#pragma unroll
        for (int s = 0; s < EACH; s++)
            if (p.dgates[s]) {
                uint2 *to = (uint2 *)simt_row(p.dgates[s], t, p.pace * 8);
                to[0] = by[s];
                to[8] = by[s + 2];
            }
        t += back;
        __syncthreads();
    }
}

/* ---- launches ---- */

template <int K16> struct predict {
    static void launch(const struct cov_cuda_lstm *l, void *stream)
    {
        static_assert(sizeof(struct block<K16>) == shared_bytes(K16 * 16), "as _fits assumes");
        const auto kernel =
            l->gates_fp16 ? l->y_bf16 ? lstm_bf16<K16, true, true> : lstm_bf16<K16, false, true>
            : l->y_bf16 ? lstm_bf16<K16, true, false>
                          : lstm_bf16<K16, false, false>;
        simt_launch_at(l->priority, kernel, lstm_grid(l, SEQUENCES), K16 * 64,
                       sizeof(struct block<K16>), stream, *l);
    }
};

/* True if the card has a multiprocessor for each block of half as many sequences. */
static bool halves(const struct cov_cuda_lstm_train *l)
{
    const dim3 grid = lstm_grid(l, SEQUENCES / 2);
    return (size_t)grid.x * grid.y <= (size_t)l->multiprocessors;
}

template <int K16> struct train_forward {
    static void launch(const struct cov_cuda_lstm_train *l, void *stream)
    {
        const bool half = halves(l);
        const auto kernel =
            half ? l->y_bf16 ? lstm_forward_bf16<K16, true, 1> : lstm_forward_bf16<K16, false, 1>
            : l->y_bf16 ? lstm_forward_bf16<K16, true, 2>
                        : lstm_forward_bf16<K16, false, 2>;
        simt_launch(kernel, lstm_grid(l, half ? SEQUENCES / 2 : SEQUENCES), K16 * 64,
                    sizeof(struct block<K16>), stream, *l);
    }
};

template <int K16> struct train_backward {
    static void launch(const struct cov_cuda_lstm_train *l, void *stream)
    {
        const bool half = halves(l);
        simt_launch(half ? lstm_backward_bf16<K16, 1> : lstm_backward_bf16<K16, 2>,
                    lstm_grid(l, half ? SEQUENCES / 2 : SEQUENCES), K16 * 32,
                    (size_t)2 * SEQUENCES * (K16 * 64 + 8) * 2, stream, *l);
    }
};

template <int K16> struct predict_edits {
    static void launch(const struct cov_cuda_lstm_edits *l, void *stream)
    {
        simt_launch(l->gates_fp16 ? lstm_edits_bf16<K16, true> : lstm_edits_bf16<K16, false>,
                    lstm_grid(l, SEQUENCES), K16 * 64,
                    sizeof(struct edits_block) + (size_t)2 * SEQUENCES * (K16 * 16 + PADDING) * 2,
                    stream, *l);
    }
};

/* Launches the kernel for the layer's number of units. */
template <template <int> class Kernel, typename Layer>
static void choose(const Layer *l, void *stream)
{
    if (l->n == 0)
        return;
    switch (l->units / 32) {
    case 1:
        Kernel<2>::launch(l, stream);
        break;
    case 2:
        Kernel<4>::launch(l, stream);
        break;
    case 3:
        Kernel<6>::launch(l, stream);
        break;
    default:
        Kernel<8>::launch(l, stream);
        break;
    }
}

bool cov_cuda_lstm_bf16_fits(int units, size_t bytes)
{
    return units <= COV_CUDA_LSTM_UNITS && shared_bytes(units) <= bytes;
}

void cov_cuda_lstm_bf16(const struct cov_cuda_lstm *l, void *stream)
{
    choose<predict>(l, stream);
}

void cov_cuda_lstm_edits_bf16(const struct cov_cuda_lstm_edits *l, void *stream)
{
    choose<predict_edits>(l, stream);
}

void cov_cuda_lstm_forward_bf16(const struct cov_cuda_lstm_train *l, void *stream)
{
    choose<train_forward>(l, stream);
}

void cov_cuda_lstm_backward_bf16(const struct cov_cuda_lstm_train *l, void *stream)
{
    choose<train_backward>(l, stream);
}
