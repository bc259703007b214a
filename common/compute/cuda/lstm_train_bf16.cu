/* lstm_train_bf16.cu - the steps of an LSTM in training, forth and back, on tensor cores
 * (train_kernels.h).
 *
 * As in lstm_bf16.cu a block takes 8 sequences of one direction through all steps by itself, and the
 * weights are fragments that stay in registers. Forward, a warp makes the four gates of 8 units from h.
 * Back, a warp makes the gradients of h of 16 units, rows of operand A, from those of all gates of
 * the step behind, which are operand B: they go through shared memory as bf16, gate by gate of a
 * unit. What a step reads besides is on its way in registers while the one before is computed, and a
 * step needs one barrier.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/lstm_train.h"

enum { SEQUENCES = 8, CHAINS = 4 };

SIMT_DEVICE float sigmoid(float v)
{
    return 1.0f / (1.0f + simt_exp_fast(-v));
}

SIMT_DEVICE float tanh_fast(float v)
{
    return 1.0f - 2.0f / (1.0f + simt_exp_fast(2.0f * v));
}

SIMT_DEVICE float4 read_gates(const struct cov_cuda_lstm_train &l, int sequence, int t,
                              int direction, int unit)
{
    if (sequence >= l.n)
        return make_float4(0, 0, 0, 0);
    return *(const float4 *)(l.gates + cov_lstm_place(l, sequence, t, direction, unit) * 4);
}

/* K16 * 16 units, four threads each. */
template <int K16> SIMT_KERNEL(K16 * 64) lstm_forward_bf16(struct cov_cuda_lstm_train l)
{
    constexpr int UNITS = K16 * 16, PITCH = UNITS + 8; /* rows of h in different banks */
    uint16_t *const h = (uint16_t *)simt_shared();     /* [2][SEQUENCES][PITCH] */
    const int tid = (int)threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int direction = (int)blockIdx.y, first = (int)blockIdx.x * SEQUENCES;
    const int unit = warp * 8 + lane / 4, s0 = lane % 4 * 2; /* of this thread; and s0 + 1 */

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

    for (int i = tid; i < 2 * SEQUENCES * PITCH; i += K16 * 64)
        h[i] = 0;
    float c[2] = {0, 0};
    float4 next[2];
    const int t_first = direction ? l.t - 1 : 0, forth = direction ? -1 : 1;
    for (int s = 0; s < 2; s++)
        next[s] = read_gates(l, first + s0 + s, t_first, direction, unit);
    __syncthreads();

    for (int step = 0; step < l.t; step++) {
        const int t = t_first + step * forth;
        const uint16_t *before = h + step % 2 * SEQUENCES * PITCH;
        uint16_t *after = h + (step + 1) % 2 * SEQUENCES * PITCH;
        /* Two chains each, as a product waits for the one before. */
        float even[2][4] = {{next[0].x, next[1].x, next[0].y, next[1].y},
                            {next[0].z, next[1].z, next[0].w, next[1].w}};
        float odd[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
        if (step + 1 < l.t)
            for (int s = 0; s < 2; s++)
                next[s] = read_gates(l, first + s0 + s, t + forth, direction, unit);
        const uint16_t *column = before + lane / 4 * PITCH + lane % 4 * 2;
#pragma unroll
        for (int k = 0; k < K16; k += 2) {
            uint32_t b[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                b[i] = *(const uint32_t *)(column + k * 16 + i * 8);
#pragma unroll
            for (int pair = 0; pair < 2; pair++) {
                simt_mma_bf16(even[pair], w[pair][k], b[0], b[1]);
                simt_mma_bf16(odd[pair], w[pair][k + 1], b[2], b[3]);
            }
        }
#pragma unroll
        for (int s = 0; s < 2; s++) {
            float4 gates = make_float4(
                sigmoid(even[0][s] + odd[0][s]), sigmoid(even[0][2 + s] + odd[0][2 + s]),
                tanh_fast(even[1][s] + odd[1][s]), sigmoid(even[1][2 + s] + odd[1][2 + s]));
            c[s] = fmaf(gates.y, c[s], gates.x * gates.z);
            float value = gates.w * tanh_fast(c[s]);
            after[(s0 + s) * PITCH + unit] = (uint16_t)simt_bf16(value);
            if (first + s0 + s < l.n)
                lstm_keep(l, cov_lstm_place(l, first + s0 + s, t, direction, unit), gates, c[s],
                          value);
        }
        __syncthreads();
    }
}

/* What a thread of the way back reads for a step: of its two units and two sequences. */
struct reading {
    float4 gates[4];
    float past[4], dy[4]; /* past: c of the step before */
};

/* The unit and the sequence of value i of a thread: those of the fragment that it gets. */
SIMT_DEVICE int unit_of(int i, int lane, int warp)
{
    return warp * 16 + lane / 4 + i / 2 * 8;
}

SIMT_DEVICE int sequence_of(int i, int lane)
{
    return lane % 4 * 2 + i % 2;
}

SIMT_DEVICE void read_step(const struct cov_cuda_lstm_train &l, int first, int direction, int step,
                           int lane, int warp, struct reading *r)
{
    const int t = direction ? l.t - 1 - step : step, before = direction ? t + 1 : t - 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int unit = unit_of(i, lane, warp), s = first + sequence_of(i, lane);
        bool there = s < l.n;
        r->gates[i] = read_gates(l, s, t, direction, unit);
        r->dy[i] = there ? l.dy[cov_lstm_place(l, s, t, direction, unit)] : 0;
        r->past[i] = there && step > 0 ? l.cells[cov_lstm_place(l, s, before, direction, unit)] : 0;
    }
}

/* K16 * 16 units, two threads each. */
template <int K16> SIMT_KERNEL(K16 * 32) lstm_backward_bf16(struct cov_cuda_lstm_train l)
{
    constexpr int UNITS = K16 * 16, DEPTH = 4 * K16, PITCH = 4 * UNITS + 8, THREADS = K16 * 32;
    uint16_t *const gradients = (uint16_t *)simt_shared(); /* [2][SEQUENCES][PITCH] */
    const int tid = (int)threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int direction = (int)blockIdx.y, first = (int)blockIdx.x * SEQUENCES;

    uint32_t w[DEPTH][4];
    const uint32_t *from =
        (const uint32_t *)l.w + ((size_t)direction * K16 + warp) * DEPTH * 32 * 4 + lane * 4;
#pragma unroll
    for (int k = 0; k < DEPTH; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            w[k][i] = from[k * 128 + i];
    for (int i = tid; i < 2 * SEQUENCES * PITCH; i += THREADS)
        gradients[i] = 0;

    float dc[4] = {0, 0, 0, 0}, state[4];
    struct reading next;
    read_step(l, first, direction, l.t - 1, lane, warp, &next);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int s = first + sequence_of(i, lane), t = direction ? 0 : l.t - 1;
        state[i] =
            s < l.n ? l.cells[cov_lstm_place(l, s, t, direction, unit_of(i, lane, warp))] : 0;
    }
    __syncthreads();
    for (int step = l.t - 1; step >= 0; step--) {
        const int t = direction ? l.t - 1 - step : step;
        const uint16_t *behind = gradients + (l.t - 1 - step) % 2 * SEQUENCES * PITCH;
        uint16_t *here = gradients + (l.t - step) % 2 * SEQUENCES * PITCH;
        const struct reading now = next;
        if (step > 0)
            read_step(l, first, direction, step - 1, lane, warp, &next);
        float dh[CHAINS][4];
#pragma unroll
        for (int chain = 0; chain < CHAINS; chain++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                dh[chain][i] = chain ? 0 : now.dy[i];
        const uint16_t *column = behind + lane / 4 * PITCH + lane % 4 * 2;
#pragma unroll
        for (int k = 0; k < DEPTH; k++)
            simt_mma_bf16(dh[k % CHAINS], w[k], *(const uint32_t *)(column + k * 16),
                          *(const uint32_t *)(column + k * 16 + 8));
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int unit = unit_of(i, lane, warp), s = sequence_of(i, lane);
            float sum = (dh[0][i] + dh[1][i]) + (dh[2][i] + dh[3][i]);
            float4 by = lstm_gradient(now.gates[i], tanh_fast(state[i]), now.past[i], sum, &dc[i]);
            state[i] = now.past[i];
            if (first + s < l.n)
                lstm_give(l, cov_lstm_place(l, first + s, t, direction, unit), by);
            uint32_t *to = (uint32_t *)(here + s * PITCH + unit * 4);
            to[0] = simt_bf16(by.x) | simt_bf16(by.y) << 16;
            to[1] = simt_bf16(by.z) | simt_bf16(by.w) << 16;
        }
        __syncthreads();
    }
}

static dim3 grid_of(const struct cov_cuda_lstm_train *l)
{
    return dim3((unsigned)((l->n + SEQUENCES - 1) / SEQUENCES), (unsigned)l->directions);
}

template <int K16> static void launch(const struct cov_cuda_lstm_train *l, bool back, void *stream)
{
    if (back)
        simt_launch(lstm_backward_bf16<K16>, grid_of(l), K16 * 32,
                    (size_t)2 * SEQUENCES * (K16 * 64 + 8) * 2, stream, *l);
    else
        simt_launch(lstm_forward_bf16<K16>, grid_of(l), K16 * 64,
                    (size_t)2 * SEQUENCES * (K16 * 16 + 8) * 2, stream, *l);
}

static void choose(const struct cov_cuda_lstm_train *l, bool back, void *stream)
{
    if (l->n == 0)
        return;
    switch (l->units / 32) {
    case 1:
        launch<2>(l, back, stream);
        break;
    case 2:
        launch<4>(l, back, stream);
        break;
    case 3:
        launch<6>(l, back, stream);
        break;
    default:
        launch<8>(l, back, stream);
        break;
    }
}

void cov_cuda_lstm_forward_bf16(const struct cov_cuda_lstm_train *l, void *stream)
{
    choose(l, false, stream);
}

void cov_cuda_lstm_backward_bf16(const struct cov_cuda_lstm_train *l, void *stream)
{
    choose(l, true, stream);
}
