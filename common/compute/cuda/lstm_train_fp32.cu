/* lstm_train_fp32.cu - the steps of an LSTM in training, forth and back, in single precision and for any
 * size (train_kernels.h).
 *
 * As in lstm_fp32.cu a block takes SEQUENCES sequences of one direction through all steps by itself,
 * and a thread a unit at a time, for all of its sequences: a read of four weights serves four
 * products a sequence. On the way forward h is in shared memory; on the way back the gradients of a
 * step's gates are, from which those of h before it are made.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/lstm_train.h"

enum { MAX_THREADS = 256, MANY = 8, FEW = 2 };

SIMT_DEVICE float sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

template <int SEQUENCES> SIMT_KERNEL(MAX_THREADS) lstm_forward_fp32(struct cov_cuda_lstm_train l)
{
    const int units = l.units, direction = (int)blockIdx.y, first = (int)blockIdx.x * SEQUENCES;
    const int threads = (int)blockDim.x;
    float *const h = (float *)simt_shared();    /* [2][units][SEQUENCES] */
    float *const c = h + 2 * units * SEQUENCES; /* [units][SEQUENCES] */
    const float *const w = (const float *)l.w + (size_t)direction * units * units * 4;
    for (int i = (int)threadIdx.x; i < units * SEQUENCES; i += threads)
        h[i] = c[i] = 0;
    __syncthreads();
    for (int step = 0; step < l.t; step++) {
        const int t = direction ? l.t - 1 - step : step;
        const float *before = h + step % 2 * units * SEQUENCES;
        float *after = h + (step + 1) % 2 * units * SEQUENCES;
        for (int u = (int)threadIdx.x; u < units; u += threads) {
            float4 sum[SEQUENCES];
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++)
                sum[s] = first + s < l.n
                             ? *(const float4 *)(l.gates +
                                                 cov_lstm_place(l, first + s, t, direction, u) * 4)
                             : make_float4(0, 0, 0, 0);
#pragma unroll 4
            for (int k = 0; k < units; k++) {
                float4 v = simt_read4(w + ((size_t)k * units + u) * 4);
#pragma unroll
                for (int s = 0; s < SEQUENCES; s++) {
                    float x = before[k * SEQUENCES + s];
                    sum[s].x = fmaf(v.x, x, sum[s].x);
                    sum[s].y = fmaf(v.y, x, sum[s].y);
                    sum[s].z = fmaf(v.z, x, sum[s].z);
                    sum[s].w = fmaf(v.w, x, sum[s].w);
                }
            }
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++) {
                int at = u * SEQUENCES + s;
                float4 gates = make_float4(sigmoid(sum[s].x), sigmoid(sum[s].y), tanhf(sum[s].z),
                                           sigmoid(sum[s].w));
                float state = gates.y * c[at] + gates.x * gates.z;
                float value = gates.w * tanhf(state);
                c[at] = state;
                after[at] = value;
                if (first + s < l.n)
                    lstm_keep(l, cov_lstm_place(l, first + s, t, direction, u), gates, state,
                              value);
            }
        }
        __syncthreads();
    }
}

template <int SEQUENCES> SIMT_KERNEL(MAX_THREADS) lstm_backward_fp32(struct cov_cuda_lstm_train l)
{
    const int units = l.units, direction = (int)blockIdx.y, first = (int)blockIdx.x * SEQUENCES;
    const int threads = (int)blockDim.x;
    float *const gradients = (float *)simt_shared();     /* [2][units][SEQUENCES][4] */
    float *const dc = gradients + 8 * units * SEQUENCES; /* [units][SEQUENCES] */
    const float *const w = (const float *)l.w + (size_t)direction * units * units * 4;
    for (int i = (int)threadIdx.x; i < units * SEQUENCES; i += threads) {
        ((float4 *)gradients)[i] = make_float4(0, 0, 0, 0);
        dc[i] = 0;
    }
    __syncthreads();
    for (int step = l.t - 1; step >= 0; step--) {
        const int t = direction ? l.t - 1 - step : step, before = direction ? t + 1 : t - 1;
        const float *behind = gradients + (l.t - 1 - step) % 2 * units * SEQUENCES * 4;
        float *here = gradients + (l.t - step) % 2 * units * SEQUENCES * 4;
        for (int u = (int)threadIdx.x; u < units; u += threads) {
            float dh[SEQUENCES];
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++)
                dh[s] = first + s < l.n ? l.dy[cov_lstm_place(l, first + s, t, direction, u)] : 0;
#pragma unroll 4
            for (int k = 0; k < units; k++) {
                float4 v = simt_read4(w + ((size_t)k * units + u) * 4);
#pragma unroll
                for (int s = 0; s < SEQUENCES; s++) {
                    float4 x = *(const float4 *)(behind + (k * SEQUENCES + s) * 4);
                    dh[s] = fmaf(v.x, x.x, fmaf(v.y, x.y, fmaf(v.z, x.z, fmaf(v.w, x.w, dh[s]))));
                }
            }
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++) {
                int at = u * SEQUENCES + s;
                float4 by = make_float4(0, 0, 0, 0);
                if (first + s < l.n) {
                    size_t place = cov_lstm_place(l, first + s, t, direction, u);
                    float state = l.cells[place], past = 0;
                    if (step > 0)
                        past = l.cells[cov_lstm_place(l, first + s, before, direction, u)];
                    by = lstm_gradient(*(const float4 *)(l.gates + place * 4), tanhf(state), past,
                                       dh[s], &dc[at]);
                    lstm_give(l, place, by);
                }
                *(float4 *)(here + at * 4) = by;
            }
        }
        __syncthreads();
    }
}

static size_t forward_bytes(int units, int sequences)
{
    return (size_t)3 * units * sequences * sizeof(float);
}

static size_t backward_bytes(int units, int sequences)
{
    return (size_t)9 * units * sequences * sizeof(float);
}

/* What every card gives without being asked. */
static const size_t SMALL_SHARED = 48 * 1024;

bool cov_cuda_lstm_train_fits(int units, size_t bytes)
{
    return backward_bytes(units, FEW) <= bytes;
}

static int threads_of(const struct cov_cuda_lstm_train *l)
{
    return l->units < MAX_THREADS ? cov_round_up(l->units, 32) : MAX_THREADS;
}

static dim3 grid_of(const struct cov_cuda_lstm_train *l, int sequences)
{
    return dim3((unsigned)((l->n + sequences - 1) / sequences), (unsigned)l->directions);
}

void cov_cuda_lstm_forward_fp32(const struct cov_cuda_lstm_train *l, void *stream)
{
    bool many = forward_bytes(l->units, MANY) <= SMALL_SHARED;
    int sequences = many ? MANY : FEW;
    if (l->n > 0)
        simt_launch(many ? lstm_forward_fp32<MANY> : lstm_forward_fp32<FEW>, grid_of(l, sequences),
                    threads_of(l), forward_bytes(l->units, sequences), stream, *l);
}

void cov_cuda_lstm_backward_fp32(const struct cov_cuda_lstm_train *l, void *stream)
{
    bool many = backward_bytes(l->units, MANY) <= SMALL_SHARED;
    int sequences = many ? MANY : FEW;
    if (l->n > 0)
        simt_launch(many ? lstm_backward_fp32<MANY> : lstm_backward_fp32<FEW>,
                    grid_of(l, sequences), threads_of(l), backward_bytes(l->units, sequences),
                    stream, *l);
}
