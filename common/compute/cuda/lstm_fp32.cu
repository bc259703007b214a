/* lstm_fp32.cu - the steps of an LSTM in single precision, for any size (kernels.h).
 *
 * A block takes SEQUENCES sequences of one direction through all steps by itself. A thread makes the
 * four gates of a unit, for all of its sequences: a read of four weights, from the cache of the chip,
 * serves four products a sequence. h and c are in shared memory, and what is kept while a sequence
 * rests. A step reads all weights, 256 KB for 128 units: at the 64 bytes a cycle that the cache gives
 * a multiprocessor that is 4,096 cycles, 2.3 us, and the bound of this kernel.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

enum { MAX_THREADS = 256, MANY = 8, FEW = 2 };

/* What h may have moved by of itself and of 1/32, and a sum over x of itself and of 1, and rest:
 * about what a sum over them is rounded by. */
#define STILL 0x1p-20f

SIMT_DEVICE float sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

SIMT_DEVICE bool moved_by(float v, float ref, float least)
{
    return !(fabsf(v - ref) <= STILL * (fabsf(ref) + least));
}

SIMT_DEVICE bool moved_from(const float4 &v, const float4 &ref)
{
    return moved_by(v.x, ref.x, 1) || moved_by(v.y, ref.y, 1) || moved_by(v.z, ref.z, 1) ||
           moved_by(v.w, ref.w, 1);
}

/* The row of a sequence's gates at step t. */
SIMT_DEVICE int gates_row(const struct cov_cuda_extent &e, int t)
{
    return t >= e.head && t < e.tail ? e.head - 1 : t;
}

template <int SEQUENCES> SIMT_KERNEL(MAX_THREADS) lstm_fp32(struct cov_cuda_lstm l)
{
    const int units = l.units, direction = (int)blockIdx.y, first = (int)blockIdx.x * SEQUENCES;
    const int threads = (int)blockDim.x, size = units * SEQUENCES;
    float *const h = (float *)simt_shared(); /* [2][units][SEQUENCES] */
    float *const c = h + 2 * size;           /* [units][SEQUENCES] */
    /* With rest: f, i g and o, and the h that they are of; [units][SEQUENCES] each. */
    float *const kept_f = c + size, *const kept_ig = kept_f + size, *const kept_o = kept_ig + size;
    float *const ref_h = kept_o + size;
    uint32_t *const moved =
        (uint32_t *)(c + (l.rest ? 5 : 1) * size); /* [3] sequences, of a step */
    const float *const w = (const float *)l.w + (size_t)direction * units * units * 4;
    const uint32_t all = (1U << SEQUENCES) - 1;

    struct cov_cuda_extent extents[SEQUENCES];
    int ref_row[SEQUENCES], steps = direction ? l.t : 0, n_products = 0; /* row of gates kept */
#pragma unroll
    for (int s = 0; s < SEQUENCES; s++) {
        ref_row[s] = 0;
        extents[s].head = extents[s].tail = l.t;
        if (first + s >= l.n)
            continue;
        extents[s] = l.extents[(size_t)(first + s) * l.extent_pitch];
        if (extents[s].forward > steps)
            steps = extents[s].forward;
    }
    auto gates_at = [&](int s, int row, int u) {
        size_t at = ((size_t)(first + s) * l.t + row) * l.directions + direction;
        return first + s < l.n ? simt_read4(l.gates + (at * units + u) * 4)
                               : make_float4(0, 0, 0, 0);
    };

    for (int i = (int)threadIdx.x; i < size; i += threads)
        h[i] = c[i] = 0;
    if (threadIdx.x < 3)
        moved[threadIdx.x] = threadIdx.x ? 0 : all;
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        const int t = direction ? l.t - 1 - step : step, t_next = direction ? t - 1 : t + 1;
        const float *before = h + step % 2 * size;
        float *after = h + (step + 1) % 2 * size;
        const uint32_t moving = l.rest ? moved[step % 3] : all;
        uint32_t moves = 0; /* before the next step */
        n_products += moving != 0;
#pragma unroll
        for (int s = 0; s < SEQUENCES; s++)
            if (moving >> s & 1)
                ref_row[s] = gates_row(extents[s], t);
        for (int u = (int)threadIdx.x; u < units; u += threads) {
            float4 sum[SEQUENCES];
            if (moving) {
#pragma unroll
                for (int s = 0; s < SEQUENCES; s++)
                    sum[s] = gates_at(s, gates_row(extents[s], t), u);
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
            }
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++) {
                int at = u * SEQUENCES + s;
                float f, ig, o;
                if (moving >> s & 1) {
                    f = sigmoid(sum[s].y);
                    ig = sigmoid(sum[s].x) * tanhf(sum[s].z);
                    o = sigmoid(sum[s].w);
                    if (l.rest) {
                        kept_f[at] = f;
                        kept_ig[at] = ig;
                        kept_o[at] = o;
                        ref_h[at] = before[at];
                    }
                } else {
                    f = kept_f[at];
                    ig = kept_ig[at];
                    o = kept_o[at];
                }
                float state = fmaf(f, c[at], ig), value = o * tanhf(state);
                c[at] = state;
                after[at] = value;
                if (first + s < l.n)
                    store1(l.y,
                           (((size_t)(first + s) * l.t + t) * l.directions + direction) * units + u,
                           l.y_bf16, value);
                if (!l.rest || step + 1 == steps)
                    continue;
                int row = gates_row(extents[s], t_next);
                if (moved_by(value, ref_h[at], 0x1p-5f) ||
                    (row != ref_row[s] &&
                     moved_from(gates_at(s, row, u), gates_at(s, ref_row[s], u))))
                    moves |= 1U << s;
            }
        }
        if (l.rest) {
            uint32_t of_warp = 0;
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++)
                of_warp |= simt_ballot(moves >> s & 1) ? 1U << s : 0;
            if (threadIdx.x % 32 == 0 && of_warp)
                simt_or(&moved[(step + 1) % 3], of_warp);
            if (threadIdx.x == 0)
                moved[(step + 2) % 3] = 0;
        }
        __syncthreads();
    }
    if (threadIdx.x < SEQUENCES && first + (int)threadIdx.x < l.n)
        l.extents[(size_t)(first + (int)threadIdx.x) * l.extent_pitch].products[direction] =
            n_products;
}

static size_t shared_bytes(int units, int sequences, bool rest)
{
    return (size_t)(rest ? 7 : 3) * units * sequences * sizeof(float) + 16;
}

/* What every card gives without being asked. */
static const size_t SMALL_SHARED = 48 * 1024;

bool cov_cuda_lstm_fp32_fits(int units, size_t bytes)
{
    return shared_bytes(units, FEW, false) <= bytes;
}

void cov_cuda_lstm_fp32(const struct cov_cuda_lstm *layer, void *stream)
{
    struct cov_cuda_lstm l = *layer;
    l.rest = l.rest && shared_bytes(l.units, FEW, true) <= SMALL_SHARED;
    bool many = shared_bytes(l.units, MANY, l.rest) <= SMALL_SHARED;
    int sequences = many ? MANY : FEW;
    int threads = l.units < MAX_THREADS ? cov_round_up(l.units, 32) : MAX_THREADS;
    simt_launch(many ? lstm_fp32<MANY> : lstm_fp32<FEW>,
                dim3((unsigned)((l.n + sequences - 1) / sequences), (unsigned)l.directions),
                threads, shared_bytes(l.units, sequences, l.rest), stream, l);
}
