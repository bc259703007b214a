/* lstm_fp32.cu - the steps of an LSTM in single precision, for any size (kernels.h).
 *
 * A block takes SEQUENCES sequences of one direction through all steps by itself. A thread makes the
 * four gates of a unit, for all of its sequences: a read of four weights, from the cache of the chip,
 * serves four products a sequence. h and c are in shared memory.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

enum { MAX_THREADS = 256, MANY = 8, FEW = 2 };

SIMT_DEVICE float sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

template <int SEQUENCES> SIMT_KERNEL(MAX_THREADS) lstm_fp32(struct cov_cuda_lstm l)
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
            for (int s = 0; s < SEQUENCES; s++) {
                size_t row = ((size_t)(first + s) * l.t + t) * l.directions + direction;
                sum[s] = first + s < l.n ? simt_read4(l.gates + (row * units + u) * 4)
                                         : make_float4(0, 0, 0, 0);
            }
#pragma unroll 8
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
                float state = sigmoid(sum[s].y) * c[at] + sigmoid(sum[s].x) * tanhf(sum[s].z);
                float value = sigmoid(sum[s].w) * tanhf(state);
                c[at] = state;
                after[at] = value;
                if (first + s < l.n)
                    store1(l.y,
                           (((size_t)(first + s) * l.t + t) * l.directions + direction) * units + u,
                           l.y_bf16, value);
            }
        }
        __syncthreads();
    }
}

static size_t shared_bytes(int units, int sequences)
{
    return (size_t)3 * units * sequences * sizeof(float);
}

/* What every card gives without being asked. */
static const size_t SMALL_SHARED = 48 * 1024;

bool cov_cuda_lstm_fp32_fits(int units, size_t bytes)
{
    return shared_bytes(units, FEW) <= bytes;
}

void cov_cuda_lstm_fp32(const struct cov_cuda_lstm *l, void *stream)
{
    bool many = shared_bytes(l->units, MANY) <= SMALL_SHARED;
    int sequences = many ? MANY : FEW;
    int threads = l->units < MAX_THREADS ? cov_round_up(l->units, 32) : MAX_THREADS;
    simt_launch(many ? lstm_fp32<MANY> : lstm_fp32<FEW>,
                dim3((unsigned)((l->n + sequences - 1) / sequences), (unsigned)l->directions),
                threads, shared_bytes(l->units, sequences), stream, *l);
}
