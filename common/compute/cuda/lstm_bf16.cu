/* lstm_bf16.cu - the steps of an LSTM on tensor cores (kernels.h).
 *
 * A block takes 8 sequences of one direction through all steps by itself, so that no two blocks wait
 * for each other. A warp makes the four gates of 8 units: their weights are fragments that stay in
 * its registers (operand A: rows are gates of units, i and f, g and o; operand B: h, its columns the
 * sequences), and as all four gates of a unit and a sequence come out in one thread, so does c. Only
 * h goes through shared memory, as bf16, and a step needs one barrier.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

enum { SEQUENCES = 8 };

SIMT_DEVICE float sigmoid(float v)
{
    return 1.0f / (1.0f + simt_exp_fast(-v));
}

SIMT_DEVICE float tanh_fast(float v)
{
    return 1.0f - 2.0f / (1.0f + simt_exp_fast(2.0f * v));
}

/* The gates of a unit before step t, of one sequence. */
SIMT_DEVICE float4 read_gates(const struct cov_cuda_lstm &l, int sequence, int t, int direction,
                              int unit)
{
    if (sequence >= l.n)
        return make_float4(0, 0, 0, 0);
    size_t row = ((size_t)sequence * l.t + t) * l.directions + direction;
    return simt_read4(l.gates + (row * l.units + unit) * 4);
}

/* K16 * 16 units, four threads each. */
template <int K16> SIMT_KERNEL(K16 * 64) lstm_bf16(struct cov_cuda_lstm l)
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
            float i = even[0][s] + odd[0][s], f = even[0][2 + s] + odd[0][2 + s];
            float g = even[1][s] + odd[1][s], o = even[1][2 + s] + odd[1][2 + s];
            c[s] = sigmoid(f) * c[s] + sigmoid(i) * tanh_fast(g);
            float value = sigmoid(o) * tanh_fast(c[s]);
            after[(s0 + s) * PITCH + unit] = (uint16_t)simt_bf16(value);
            if (!l.y_bf16 && first + s0 + s < l.n)
                ((float *)l
                     .y)[(((size_t)(first + s0 + s) * l.t + t) * l.directions + direction) * UNITS +
                         unit] = value;
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
}

template <int K16> static void launch(const struct cov_cuda_lstm *l, void *stream)
{
    simt_launch(lstm_bf16<K16>,
                dim3((unsigned)((l->n + SEQUENCES - 1) / SEQUENCES), (unsigned)l->directions),
                K16 * 64, (size_t)2 * SEQUENCES * (K16 * 16 + 8) * 2, stream, *l);
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
