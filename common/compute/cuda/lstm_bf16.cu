/* lstm_bf16.cu - the steps of an LSTM on tensor cores, with h and weights as bf16: prediction, and training
 * forward and backward (kernels.h).
 *
 * A block runs 8 sequences of one direction through all steps by itself, so that blocks never wait for
 * each other. A warp computes the four gates of 8 units. The weights stay in its registers as
 * fragments of operand A, whose rows are gates of units: i and f in one fragment, g and o in the
 * next. Operand B is h, with the sequences as columns. All four gates of a unit and a sequence end
 * up in one thread, which therefore also keeps c. Only h passes through shared memory, as bf16, and
 * a step needs one barrier. The sums over x of all steps are computed in advance (products_mma.cu).
 * A thread fetches the sums that it needs three steps ahead, since a step is shorter than the
 * latency of memory.
 *
 * In the backward pass a warp computes the gradients of h for 16 units, which are the rows of
 * operand A. Operand B holds the gradients of all gates of the following step, which pass through
 * shared memory as bf16. Everything else that a step reads is loaded into registers during the
 * previous step.
 *
 * Bound of a prediction step with 128 units on an H200 (132 multiprocessors at 1.76 GHz, each with
 * one block of 16 warps):
 *   - the 256 products of 16x8x16 take 260 to 420 cycles (mma.sync reaches some 60 % of the peak);
 *   - in parallel, reading h, 16 times 2 KB, takes 256 cycles of shared memory;
 *   - the gates, 7 exponentials and reciprocals per unit and sequence, take 450 cycles of
 *     the unit that computes them;
 *   - issuing some 360 instructions per thread takes 1,440 cycles.
 * That is about 0.8 us. A chunk of the published size has 4 x 2673 steps, and each uses an eighth of a
 * block. So a chunk takes 8 us of the whole card, where 20,000 chunks/s leave 50 us.
 * More sequences per block (N = 16) would save barriers, but lose the overlap of blocks; fewer
 * would leave the products half empty. Reading the sums over x, 11 MB per chunk and layer, takes
 * 4.5 us at 4.8 TB/s.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/lstm_steps.h"

enum { SEQUENCES = 8, ALL = (1 << SEQUENCES) - 1, STAGES = 4, CHAINS = 4 };

/* A thread of a forward kernel. It handles one unit of its block's direction in two sequences,
 * numbers s0 and s0 + 1 of the block. */
struct seat {
    int tid, lane, warp, direction, first, unit, s0;
};

SIMT_DEVICE struct seat seat_of(void)
{
    struct seat my;
    my.tid = (int)threadIdx.x;
    my.lane = my.tid % 32;
    my.warp = my.tid / 32;
    my.direction = (int)blockIdx.y;
    my.first = (int)blockIdx.x * SEQUENCES;
    my.unit = my.warp * 8 + my.lane / 4;
    my.s0 = my.lane % 4 * 2;
    return my;
}

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

/* ---- prediction ---- */

/* The shared memory of a block of K16 * 16 units. */
template <int K16> struct block {
    static constexpr int UNITS = K16 * 16, THREADS = K16 * 64;
    static constexpr int PITCH = UNITS + 8; /* padding that puts rows of h into different banks */
    float4 ring[STAGES][2][THREADS];        /* buffers that sums over x are copied to */
    uint16_t h[2][SEQUENCES * PITCH];       /* by step */
    uint32_t moved[4]; /* [3], by step: the sequences whose gates are computed */
    int head[SEQUENCES], tail[SEQUENCES];
};

static constexpr size_t shared_bytes(int units)
{
    return (size_t)STAGES * 2 * (units * 4) * 16 + (size_t)2 * SEQUENCES * (units + 8) * 2 + 16 +
           2 * SEQUENCES * sizeof(int);
}

#define LOG2_E 1.44269504f

/* Returns exp(min(factor v, 28)). A product of three factors 1 + exp(28) is still finite, and the
 * limit changes a gate by less than 1e-12. NaN stays NaN. */
SIMT_DEVICE float exp_limited(float factor, float v)
{
    return simt_exp2_fast(simt_min(factor * LOG2_E * v, 28.0f * LOG2_E));
}

/* The values that a step uses: sigmoid(f), sigmoid(i) tanh(g), and 1 / sigmoid(o). */
struct kept {
    float f, ig, o;
};

SIMT_DEVICE struct kept keep(float i, float f, float g, float o)
{
    struct kept k;
    float eg = exp_limited(-2, g), a = (1.0f + exp_limited(-1, i)) * (1.0f + eg);
    float b = 1.0f + exp_limited(-1, f), r = simt_reciprocal_fast(a * b);
    k.f = a * r;
    k.ig = (1.0f - eg) * b * r;
    k.o = 1.0f + exp_limited(-1, o);
    return k;
}

/* Advances *c by a step; returns its h. */
SIMT_DEVICE float advance(const struct kept &k, float *c)
{
    *c = fmaf(k.f, *c, k.ig);
    float e = exp_limited(-2, *c);
    return (1.0f - e) * simt_reciprocal_fast(k.o * (1.0f + e));
}

SIMT_DEVICE bool same(const float4 &a, const float4 &b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

/* A thread's unit in one of its sequences. */
struct cell {
    float c;
    struct kept gates;
    float4 ref_x; /* the inputs that the gates were computed from: sums over x, and h as bf16 */
    uint32_t ref_h;
    uint32_t h; /* the last one, as bf16 */
};

/* The number of steps that the block runs. */
SIMT_DEVICE int count_steps(const struct cov_cuda_lstm &l, const struct seat &my)
{
    int steps = 0;
    if (my.direction)
        return l.t;
    for (int s = my.first; s < my.first + SEQUENCES && s < l.n; s++) {
        int forward = l.extents[(size_t)s * l.extent_pitch].forward;
        steps = forward > steps ? forward : steps;
    }
    return steps;
}

template <int K16>
SIMT_DEVICE void begin_block(const struct cov_cuda_lstm &l, const struct seat &my,
                             struct block<K16> *b)
{
    if (my.tid < SEQUENCES && my.first + my.tid < l.n) {
        const struct cov_cuda_extent &e = l.extents[(size_t)(my.first + my.tid) * l.extent_pitch];
        b->head[my.tid] = e.head;
        b->tail[my.tid] = e.tail;
    }
    for (int i = my.tid; i < SEQUENCES * b->PITCH; i += b->THREADS)
        b->h[0][i] = b->h[1][i] = 0;
    if (my.tid < 3)
        b->moved[my.tid] = my.tid ? 0 : ALL;
}

/* Adds w h to `sum`, for gates i and f, then g and o; `rows` is h[SEQUENCES]. A product waits for
 * the previous one of its chain. A warp has two chains, and a scheduler fills the wait with its
 * four warps. */
template <int K16>
SIMT_DEVICE void multiply_h(const uint32_t (&w)[2 * K16][4], const uint16_t *rows, int lane,
                            float sum[2][4])
{
    const uint16_t *row = rows + lane % 8 * block<K16>::PITCH + lane / 8 * 8;
#pragma unroll
    for (int k = 0; k < K16; k += 2) {
        uint32_t b[4];
        simt_load_matrices(b, row + k * 16);
#pragma unroll
        for (int pair = 0; pair < 2; pair++) {
            simt_mma_bf16(sum[pair], w[pair * K16 + k], b[0], b[1]);
            simt_mma_bf16(sum[pair], w[pair * K16 + k + 1], b[2], b[3]);
        }
    }
}

/* Runs step t of a thread's two cells; `sum` holds their gates before sigmoid and tanh. */
template <int K16>
SIMT_DEVICE void step_cells(const struct cov_cuda_lstm &l, const struct seat &my, int t,
                            uint32_t moving, const float sum[2][4], struct cell cells[2],
                            uint16_t *after)
{
    constexpr int UNITS = K16 * 16;
#pragma unroll
    for (int s = 0; s < 2; s++) {
        if (moving >> (my.s0 + s) & 1)
            cells[s].gates = keep(sum[0][s], sum[0][2 + s], sum[1][s], sum[1][2 + s]);
        float h = advance(cells[s].gates, &cells[s].c);
        cells[s].h = simt_bf16(h);
        after[(my.s0 + s) * block<K16>::PITCH + my.unit] = (uint16_t)cells[s].h;
        if (!l.y_bf16 && my.first + my.s0 + s < l.n)
            ((float *)l.y)[lstm_place(l, my.first + my.s0 + s, 0, my.direction, my.unit) +
                           (size_t)t * l.directions * UNITS] = h;
    }
}

/* Records the sequences that moved before the next step, and clears the mask of the step after it.
 * `next` holds the sums over x of the next step. Lanes with the same s0 are 4 apart. */
SIMT_DEVICE void note_moved(const struct seat &my, int step, const struct cell cells[2],
                            const float4 next[2], uint32_t *moved)
{
    uint32_t of0 = simt_ballot(cells[0].h != cells[0].ref_h || !same(next[0], cells[0].ref_x));
    uint32_t of1 = simt_ballot(cells[1].h != cells[1].ref_h || !same(next[1], cells[1].ref_x));
    if (my.lane == 0) {
        uint32_t all = 0;
#pragma unroll
        for (int i = 0; i < SEQUENCES / 2; i++)
            all |= (of0 & 0x11111111U << i ? 1U << 2 * i : 0) |
                   (of1 & 0x11111111U << i ? 2U << 2 * i : 0);
        if (all)
            simt_or(&moved[(step + 1) % 3], all);
    }
    if (my.tid == 0)
        moved[(step + 2) % 3] = 0;
}

/* Writes the block's h of step t as bf16; the next step only reads it. */
template <int K16>
SIMT_DEVICE void write_rows(const struct cov_cuda_lstm &l, const struct seat &my, int t,
                            const uint16_t *h)
{
    constexpr int UNITS = K16 * 16;
    int s = my.tid / (UNITS / 8), unit = my.tid % (UNITS / 8) * 8;
    if (my.tid < SEQUENCES * UNITS / 8 && my.first + s < l.n)
        *(uint4 *)((uint16_t *)l.y + lstm_place(l, my.first + s, 0, my.direction, unit) +
                   (size_t)t * l.directions * UNITS) =
            *(const uint4 *)(h + s * block<K16>::PITCH + unit);
}

/* A block has K16 * 16 units, with four threads each. */
template <int K16> SIMT_KERNEL(K16 * 64) lstm_bf16(struct cov_cuda_lstm l)
{
    constexpr int UNITS = K16 * 16;
    struct block<K16> &b = *(struct block<K16> *)simt_shared();
    const struct seat my = seat_of();
    const int steps = count_steps(l, my);
    const int t_first = my.direction ? l.t - 1 : 0, forth = my.direction ? -1 : 1;
    uint32_t w[2 * K16][4]; /* gates i and f, then g and o */
    load_weights(l.w, ((size_t)my.direction * (UNITS / 8) + my.warp) * 2 * K16, w);
    begin_block(l, my, &b);
    __syncthreads();

    /* Each thread copies the sums over x that it reads, as one group of copies per step. */
    const uint32_t row_bytes = (uint32_t)l.directions * UNITS * 16;
    const char *gates_of[2];
#pragma unroll
    for (int s = 0; s < 2; s++)
        gates_of[s] =
            (const char *)l.gates +
            (((size_t)(my.first + my.s0 + s) * l.t * l.directions + my.direction) * UNITS +
             my.unit) *
                16;
    auto fetch = [&](int step) {
        int t = t_first + step * forth;
#pragma unroll
        for (int s = 0; s < 2; s++) {
            int row = gates_row(b.head[my.s0 + s], b.tail[my.s0 + s], t);
            simt_copy16(&b.ring[step % STAGES][s][my.tid],
                        gates_of[s] + (size_t)(uint32_t)row * row_bytes,
                        my.first + my.s0 + s < l.n && step < steps);
        }
        simt_copy_group();
    };
    float4 next[2];
    auto read = [&](int step) {
#pragma unroll
        for (int s = 0; s < 2; s++)
            next[s] = b.ring[step % STAGES][s][my.tid];
    };

    struct cell cells[2] = {};
    int n_products = 0;
    for (int step = 0; step < STAGES - 1; step++)
        fetch(step);
    simt_copy_wait<STAGES - 2>();
    read(0);
    __syncthreads();

    for (int step = 0; step < steps; step++) {
        const int t = t_first + step * forth;
        const uint16_t *before = b.h[step % 2];
        uint16_t *after = b.h[(step + 1) % 2];
        const uint32_t moving = l.rest ? b.moved[step % 3] : (uint32_t)ALL;
        fetch(step + STAGES - 1);
#pragma unroll
        for (int s = 0; s < 2; s++)
            if (moving >> (my.s0 + s) & 1) {
                cells[s].ref_x = next[s];
                cells[s].ref_h = before[(my.s0 + s) * b.PITCH + my.unit];
            }
        float sum[2][4] = {{next[0].x, next[1].x, next[0].y, next[1].y},
                           {next[0].z, next[1].z, next[0].w, next[1].w}};
        if (moving) {
            n_products++;
            multiply_h<K16>(w, before, my.lane, sum);
        }
        step_cells<K16>(l, my, t, moving, sum, cells, after);
        simt_copy_wait<STAGES - 2>();
        read(step + 1);
        if (l.rest)
            note_moved(my, step, cells, next, b.moved);
        __syncthreads();
        if (l.y_bf16)
            write_rows<K16>(l, my, t, after);
    }
    if (my.tid < SEQUENCES && my.first + my.tid < l.n)
        l.extents[(size_t)(my.first + my.tid) * l.extent_pitch].products[my.direction] = n_products;
}

/* ---- training ---- */

SIMT_DEVICE float sigmoid(float v)
{
    return simt_reciprocal_fast(1.0f + simt_exp2_fast(-LOG2_E * v));
}

SIMT_DEVICE float tanh_fast(float v)
{
    return 1.0f - 2.0f * simt_reciprocal_fast(1.0f + simt_exp2_fast(2 * LOG2_E * v));
}

SIMT_DEVICE float4 read_gates(const struct cov_cuda_lstm_train &l, int sequence, int t,
                              int direction, int unit)
{
    if (sequence >= l.n)
        return make_float4(0, 0, 0, 0);
    return *(const float4 *)(l.gates + lstm_place(l, sequence, t, direction, unit) * 4);
}

/* Adds w h to even + odd, for gates i and f, then g and o; `rows` is h[SEQUENCES]. Each sum has two
 * chains, since a product waits for the previous one of its chain. */
template <int K16>
SIMT_DEVICE void multiply_h_chains(const uint32_t (&w)[2 * K16][4], const uint16_t *rows, int lane,
                                   float even[2][4], float odd[2][4])
{
    const uint16_t *column = rows + lane / 4 * block<K16>::PITCH + lane % 4 * 2;
#pragma unroll
    for (int k = 0; k < K16; k += 2) {
        uint32_t b[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            b[i] = *(const uint32_t *)(column + k * 16 + i * 8);
#pragma unroll
        for (int pair = 0; pair < 2; pair++) {
            simt_mma_bf16(even[pair], w[pair * K16 + k], b[0], b[1]);
            simt_mma_bf16(odd[pair], w[pair * K16 + k + 1], b[2], b[3]);
        }
    }
}

/* A block has K16 * 16 units, with four threads each. */
template <int K16> SIMT_KERNEL(K16 * 64) lstm_forward_bf16(struct cov_cuda_lstm_train l)
{
    constexpr int UNITS = K16 * 16, PITCH = block<K16>::PITCH;
    uint16_t *const h = (uint16_t *)simt_shared(); /* [2][SEQUENCES][PITCH] */
    const struct seat my = seat_of();
    uint32_t w[2 * K16][4];
    load_weights(l.w, ((size_t)my.direction * (UNITS / 8) + my.warp) * 2 * K16, w);
    for (int i = my.tid; i < 2 * SEQUENCES * PITCH; i += K16 * 64)
        h[i] = 0;
    float c[2] = {0, 0};
    float4 next[2];
    const int t_first = my.direction ? l.t - 1 : 0, forth = my.direction ? -1 : 1;
    for (int s = 0; s < 2; s++)
        next[s] = read_gates(l, my.first + my.s0 + s, t_first, my.direction, my.unit);
    __syncthreads();

    for (int step = 0; step < l.t; step++) {
        const int t = t_first + step * forth;
        uint16_t *after = h + (step + 1) % 2 * SEQUENCES * PITCH;
        float even[2][4] = {{next[0].x, next[1].x, next[0].y, next[1].y},
                            {next[0].z, next[1].z, next[0].w, next[1].w}};
        float odd[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
        if (step + 1 < l.t)
            for (int s = 0; s < 2; s++)
                next[s] = read_gates(l, my.first + my.s0 + s, t + forth, my.direction, my.unit);
        multiply_h_chains<K16>(w, h + step % 2 * SEQUENCES * PITCH, my.lane, even, odd);
#pragma unroll
        for (int s = 0; s < 2; s++) {
            float4 gates = make_float4(
                sigmoid(even[0][s] + odd[0][s]), sigmoid(even[0][2 + s] + odd[0][2 + s]),
                tanh_fast(even[1][s] + odd[1][s]), sigmoid(even[1][2 + s] + odd[1][2 + s]));
            c[s] = fmaf(gates.y, c[s], gates.x * gates.z);
            float value = gates.w * tanh_fast(c[s]);
            after[(my.s0 + s) * PITCH + my.unit] = (uint16_t)simt_bf16(value);
            if (my.first + my.s0 + s < l.n)
                lstm_keep(l, lstm_place(l, my.first + my.s0 + s, t, my.direction, my.unit), gates,
                          c[s], value);
        }
        __syncthreads();
    }
}

/* The values that a thread of the backward pass reads per step, for two units and two sequences. */
struct reading {
    float4 gates[4];
    float past[4], dy[4]; /* past: c of the previous step */
};

/* These return the unit and the sequence of a thread's value i, as in the product's fragments. */
SIMT_DEVICE int unit_of(int i)
{
    return (int)threadIdx.x / 32 * 16 + (int)threadIdx.x % 32 / 4 + i / 2 * 8;
}

SIMT_DEVICE int sequence_of(int i)
{
    return (int)threadIdx.x % 4 * 2 + i % 2;
}

SIMT_DEVICE void read_step(const struct cov_cuda_lstm_train &l, int first, int direction, int step,
                           struct reading *r)
{
    const int t = direction ? l.t - 1 - step : step, t_past = direction ? t + 1 : t - 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int unit = unit_of(i), s = first + sequence_of(i);
        bool there = s < l.n;
        r->gates[i] = read_gates(l, s, t, direction, unit);
        r->dy[i] = there ? l.dy[lstm_place(l, s, t, direction, unit)] : 0;
        r->past[i] = there && step > 0 ? l.cells[lstm_place(l, s, t_past, direction, unit)] : 0;
    }
}

/* A block has K16 * 16 units, with two threads each. */
template <int K16> SIMT_KERNEL(K16 * 32) lstm_backward_bf16(struct cov_cuda_lstm_train l)
{
    constexpr int UNITS = K16 * 16, DEPTH = 4 * K16, PITCH = 4 * UNITS + 8, THREADS = K16 * 32;
    uint16_t *const gradients = (uint16_t *)simt_shared(); /* [2][SEQUENCES][PITCH] */
    const int tid = (int)threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int direction = (int)blockIdx.y, first = (int)blockIdx.x * SEQUENCES;
    uint32_t w[DEPTH][4];
    load_weights(l.w, ((size_t)direction * K16 + warp) * DEPTH, w);
    for (int i = tid; i < 2 * SEQUENCES * PITCH; i += THREADS)
        gradients[i] = 0;

    float dc[4] = {0, 0, 0, 0}, state[4];
    struct reading next;
    read_step(l, first, direction, l.t - 1, &next);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int s = first + sequence_of(i), t = direction ? 0 : l.t - 1;
        state[i] = s < l.n ? l.cells[lstm_place(l, s, t, direction, unit_of(i))] : 0;
    }
    __syncthreads();
    for (int step = l.t - 1; step >= 0; step--) {
        const int t = direction ? l.t - 1 - step : step;
        const uint16_t *after = gradients + (l.t - 1 - step) % 2 * SEQUENCES * PITCH;
        uint16_t *here = gradients + (l.t - step) % 2 * SEQUENCES * PITCH;
        const struct reading now = next;
        if (step > 0)
            read_step(l, first, direction, step - 1, &next);
        float dh[CHAINS][4];
#pragma unroll
        for (int chain = 0; chain < CHAINS; chain++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                dh[chain][i] = chain ? 0 : now.dy[i];
        const uint16_t *column = after + lane / 4 * PITCH + lane % 4 * 2;
#pragma unroll
        for (int k = 0; k < DEPTH; k++)
            simt_mma_bf16(dh[k % CHAINS], w[k], *(const uint32_t *)(column + k * 16),
                          *(const uint32_t *)(column + k * 16 + 8));
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int unit = unit_of(i), s = sequence_of(i);
            float sum = (dh[0][i] + dh[1][i]) + (dh[2][i] + dh[3][i]);
            float4 by = lstm_gradient(now.gates[i], tanh_fast(state[i]), now.past[i], sum, &dc[i]);
            state[i] = now.past[i];
            if (first + s < l.n)
                lstm_write_gradient(l, lstm_place(l, first + s, t, direction, unit), by);
            uint32_t *to = (uint32_t *)(here + s * PITCH + unit * 4);
            to[0] = simt_bf16_pair(by.x, by.y);
            to[1] = simt_bf16_pair(by.z, by.w);
        }
        __syncthreads();
    }
}

/* ---- launches ---- */

template <int K16> struct predict {
    static void launch(const struct cov_cuda_lstm *l, void *stream)
    {
        static_assert(sizeof(struct block<K16>) == shared_bytes(K16 * 16), "as _fits assumes");
        simt_launch(lstm_bf16<K16>, lstm_grid(l, SEQUENCES), K16 * 64, sizeof(struct block<K16>),
                    stream, *l);
    }
};

template <int K16> struct train_forward {
    static void launch(const struct cov_cuda_lstm_train *l, void *stream)
    {
        simt_launch(lstm_forward_bf16<K16>, lstm_grid(l, SEQUENCES), K16 * 64,
                    (size_t)2 * SEQUENCES * (K16 * 16 + 8) * 2, stream, *l);
    }
};

template <int K16> struct train_backward {
    static void launch(const struct cov_cuda_lstm_train *l, void *stream)
    {
        simt_launch(lstm_backward_bf16<K16>, lstm_grid(l, SEQUENCES), K16 * 32,
                    (size_t)2 * SEQUENCES * (K16 * 64 + 8) * 2, stream, *l);
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

void cov_cuda_lstm_forward_bf16(const struct cov_cuda_lstm_train *l, void *stream)
{
    choose<train_forward>(l, stream);
}

void cov_cuda_lstm_backward_bf16(const struct cov_cuda_lstm_train *l, void *stream)
{
    choose<train_backward>(l, stream);
}
