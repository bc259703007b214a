/* lstm_fp32.cu - the steps of an LSTM in single precision, for any size: prediction, and training forward
 * and backward (kernels.h). lstm_resident.cu is faster for the sizes that it supports.
 *
 * A block runs SEQUENCES sequences of one direction through all steps by itself. A thread computes the
 * four gates of a unit for all of its sequences: one read of four weights, from the L2 cache, serves
 * four products per sequence. Shared memory holds h, c, and the gates that resting sequences reuse. In
 * the backward pass shared memory holds the gate gradients of a step, from which the gradients of the
 * previous h are computed.
 *
 * Bound: a step reads all weights, 256 KB for 128 units. At the 64 bytes per cycle that the cache delivers
 * to a multiprocessor, that takes 4,096 cycles, 2.3 us. An H200 takes 17 us, mostly waiting for the cache.
 * SPDX-License-Identifier: MIT */
#include "common/compute/cuda/lstm_steps.h"

enum { MAX_THREADS = 256, MANY = 8, FEW = 2 };

SIMT_DEVICE float sigmoid(float v)
{
    return 1.0f / (1.0f + expf(-v));
}

/* Adds to sum[s] the products of w[h, unit, gate] and h[k][s], for the four gates of unit u. */
template <int SEQUENCES, int UNROLL>
SIMT_DEVICE void add_products(const float *w, const float *h, int units, int u,
                              float4 (&sum)[SEQUENCES])
{
#pragma unroll UNROLL
    for (int k = 0; k < units; k++) {
        float4 v = simt_read4(w + ((size_t)k * units + u) * 4);
#pragma unroll
        for (int s = 0; s < SEQUENCES; s++) {
            float x = h[k * SEQUENCES + s];
            sum[s].x = fmaf(v.x, x, sum[s].x);
            sum[s].y = fmaf(v.y, x, sum[s].y);
            sum[s].z = fmaf(v.z, x, sum[s].z);
            sum[s].w = fmaf(v.w, x, sum[s].w);
        }
    }
}

/* ---- prediction ---- */

/* The block's sequences and direction, and its shared memory: arrays [units][SEQUENCES]. */
template <int SEQUENCES> struct block {
    int direction, first, size;
    float *h; /* [2], by step */
    float *c;
    float *f, *ig, *o, *ref_h; /* with `rest`: kept gates, and the h that they were computed from */
    uint32_t *moved;           /* [3], by step: the sequences whose gates are computed */
    struct cov_cuda_extent extents[SEQUENCES];
    int ref_row[SEQUENCES]; /* rows of the kept gates */
};

template <int SEQUENCES>
SIMT_DEVICE void begin_block(const struct cov_cuda_lstm &l, struct block<SEQUENCES> *b)
{
    b->direction = (int)blockIdx.y;
    b->first = (int)blockIdx.x * SEQUENCES;
    b->size = l.units * SEQUENCES;
    b->h = (float *)simt_shared();
    b->c = b->h + 2 * b->size;
    b->f = b->c + b->size;
    b->ig = b->f + b->size;
    b->o = b->ig + b->size;
    b->ref_h = b->o + b->size;
    b->moved = (uint32_t *)(b->c + (l.rest ? 5 : 1) * b->size);
    for (int i = (int)threadIdx.x; i < b->size; i += (int)blockDim.x)
        b->h[i] = b->c[i] = 0;
    if (threadIdx.x < 3)
        b->moved[threadIdx.x] = threadIdx.x ? 0 : (1U << SEQUENCES) - 1;
}

/* Reads the extents; returns the number of steps that the block runs. */
template <int SEQUENCES>
SIMT_DEVICE int read_extents(const struct cov_cuda_lstm &l, struct block<SEQUENCES> *b)
{
    int steps = b->direction ? l.t : 0;
#pragma unroll
    for (int s = 0; s < SEQUENCES; s++) {
        b->ref_row[s] = 0;
        b->extents[s].head = b->extents[s].tail = l.t;
        if (b->first + s >= l.n)
            continue;
        b->extents[s] = l.extents[(size_t)(b->first + s) * l.extent_pitch];
        if (b->extents[s].forward > steps)
            steps = b->extents[s].forward;
    }
    return steps;
}

/* Reads the sums over x of unit u from a row of gates. */
template <int SEQUENCES>
SIMT_DEVICE float4 gates_at(const struct cov_cuda_lstm &l, const struct block<SEQUENCES> &b, int s,
                            int row, int u)
{
    return b.first + s < l.n
               ? simt_read4(l.gates + lstm_place(l, b.first + s, row, b.direction, u) * 4)
               : make_float4(0, 0, 0, 0);
}

/* Computes the next c of unit u and its h, from new gates if `fresh`, else from the kept ones. */
template <int SEQUENCES>
SIMT_DEVICE float advance(const struct cov_cuda_lstm &l, const struct block<SEQUENCES> &b, int at,
                          bool fresh, const float4 &sum, const float *before)
{
    float f, ig, o;
    if (fresh) {
        f = sigmoid(sum.y);
        ig = sigmoid(sum.x) * tanhf(sum.z);
        o = sigmoid(sum.w);
        if (l.rest) {
            b.f[at] = f;
            b.ig[at] = ig;
            b.o[at] = o;
            b.ref_h[at] = before[at];
        }
    } else {
        f = b.f[at];
        ig = b.ig[at];
        o = b.o[at];
    }
    float state = fmaf(f, b.c[at], ig);
    b.c[at] = state;
    return o * tanhf(state);
}

/* Records which sequences moved in this thread, for the next step; clears the mask of the step after
 * it. */
template <int SEQUENCES>
SIMT_DEVICE void note_moved(const struct block<SEQUENCES> &b, int step, uint32_t moves)
{
    uint32_t of_warp = 0;
#pragma unroll
    for (int s = 0; s < SEQUENCES; s++)
        of_warp |= simt_ballot(moves >> s & 1) ? 1U << s : 0;
    if (threadIdx.x % 32 == 0 && of_warp)
        simt_or(&b.moved[(step + 1) % 3], of_warp);
    if (threadIdx.x == 0)
        b.moved[(step + 2) % 3] = 0;
}

template <int SEQUENCES> SIMT_KERNEL(MAX_THREADS) lstm_fp32(struct cov_cuda_lstm l)
{
    struct block<SEQUENCES> b;
    begin_block(l, &b);
    const int steps = read_extents(l, &b), units = l.units;
    const float *const w = (const float *)l.w + (size_t)b.direction * units * units * 4;
    int n_products = 0;
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        const int t = b.direction ? l.t - 1 - step : step, t_next = b.direction ? t - 1 : t + 1;
        const float *before = b.h + step % 2 * b.size;
        float *after = b.h + (step + 1) % 2 * b.size;
        const uint32_t moving = l.rest ? b.moved[step % 3] : (1U << SEQUENCES) - 1;
        uint32_t moves = 0;
        n_products += moving != 0;
#pragma unroll
        for (int s = 0; s < SEQUENCES; s++)
            if (moving >> s & 1)
                b.ref_row[s] = gates_row(b.extents[s].head, b.extents[s].tail, t);
        for (int u = (int)threadIdx.x; u < units; u += (int)blockDim.x) {
            float4 sum[SEQUENCES];
            if (moving) {
#pragma unroll
                for (int s = 0; s < SEQUENCES; s++)
                    sum[s] =
                        gates_at(l, b, s, gates_row(b.extents[s].head, b.extents[s].tail, t), u);
                add_products<SEQUENCES, 8>(w, before, units, u, sum);
            }
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++) {
                int at = u * SEQUENCES + s;
                float h = advance(l, b, at, moving >> s & 1, sum[s], before);
                after[at] = h;
                if (b.first + s < l.n)
                    store1(l.y, lstm_place(l, b.first + s, t, b.direction, u), l.y_bf16, h);
                if (!l.rest || step + 1 == steps)
                    continue;
                int row = gates_row(b.extents[s].head, b.extents[s].tail, t_next);
                if (lstm_moved(h, b.ref_h[at], 0x1p-5f) ||
                    (row != b.ref_row[s] &&
                     lstm_moved(gates_at(l, b, s, row, u), gates_at(l, b, s, b.ref_row[s], u))))
                    moves |= 1U << s;
            }
        }
        if (l.rest)
            note_moved(b, step, moves);
        __syncthreads();
    }
    int sequence = b.first + (int)threadIdx.x;
    if (threadIdx.x < SEQUENCES && sequence < l.n)
        l.extents[(size_t)sequence * l.extent_pitch].products[b.direction] = n_products;
}

/* ---- training ---- */

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
                sum[s] =
                    first + s < l.n
                        ? *(const float4 *)(l.gates + lstm_place(l, first + s, t, direction, u) * 4)
                        : make_float4(0, 0, 0, 0);
            add_products<SEQUENCES, 4>(w, before, units, u, sum);
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
                    lstm_keep(l, lstm_place(l, first + s, t, direction, u), gates, state, value);
            }
        }
        __syncthreads();
    }
}

/* Adds to dh[s] the products of w[unit of the gate, unit of h, gate] and the gate gradients
 * after[k][s][gate], for unit u. */
template <int SEQUENCES>
SIMT_DEVICE void add_gradients(const float *w, const float *after, int units, int u,
                               float (&dh)[SEQUENCES])
{
#pragma unroll 4
    for (int k = 0; k < units; k++) {
        float4 v = simt_read4(w + ((size_t)k * units + u) * 4);
#pragma unroll
        for (int s = 0; s < SEQUENCES; s++) {
            float4 x = *(const float4 *)(after + (k * SEQUENCES + s) * 4);
            dh[s] = fmaf(v.x, x.x, fmaf(v.y, x.y, fmaf(v.z, x.z, fmaf(v.w, x.w, dh[s]))));
        }
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
        const int t = direction ? l.t - 1 - step : step, t_past = direction ? t + 1 : t - 1;
        const float *after = gradients + (l.t - 1 - step) % 2 * units * SEQUENCES * 4;
        float *here = gradients + (l.t - step) % 2 * units * SEQUENCES * 4;
        for (int u = (int)threadIdx.x; u < units; u += threads) {
            float dh[SEQUENCES];
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++)
                dh[s] = first + s < l.n ? l.dy[lstm_place(l, first + s, t, direction, u)] : 0;
            add_gradients(w, after, units, u, dh);
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++) {
                int at = u * SEQUENCES + s;
                float4 by = make_float4(0, 0, 0, 0);
                if (first + s < l.n) {
                    size_t place = lstm_place(l, first + s, t, direction, u);
                    float state = l.cells[place], past = 0;
                    if (step > 0)
                        past = l.cells[lstm_place(l, first + s, t_past, direction, u)];
                    by = lstm_gradient(*(const float4 *)(l.gates + place * 4), tanhf(state), past,
                                       dh[s], &dc[at]);
                    lstm_write_gradient(l, place, by);
                }
                *(float4 *)(here + at * 4) = by;
            }
        }
        __syncthreads();
    }
}

/* ---- launches ---- */

/* Returns the size of a block's shared memory with `floats` floats per unit and sequence. */
static size_t shared_bytes(int units, int sequences, int floats)
{
    return (size_t)floats * units * sequences * sizeof(float);
}

enum {
    FLOATS = 3,      /* h twice, c */
    FLOATS_REST = 7, /* the same, f, i g, o, and the h of the gates */
    FLOATS_BACK = 9, /* gate gradients twice, dc */
    MASK_BYTES = 16
};

/* The shared memory that every card provides without an explicit request. */
static const size_t SMALL_SHARED = 48 * 1024;

bool cov_cuda_lstm_fp32_fits(int units, size_t bytes)
{
    return shared_bytes(units, FEW, FLOATS) + MASK_BYTES <= bytes;
}

bool cov_cuda_lstm_train_fits(int units, size_t bytes)
{
    return shared_bytes(units, FEW, FLOATS_BACK) <= bytes;
}

/* Launches the version with MANY sequences per block if they fit, else the one with FEW. */
template <typename Layer>
static void launch(int priority, void (*many)(Layer), void (*few)(Layer), const Layer &l,
                   int floats, size_t more_bytes, void *stream)
{
    bool fits = shared_bytes(l.units, MANY, floats) + more_bytes <= SMALL_SHARED;
    int sequences = fits ? MANY : FEW;
    int threads = l.units < MAX_THREADS ? cov_round_up(l.units, 32) : MAX_THREADS;
    if (l.n > 0)
        simt_launch_at(priority, fits ? many : few, lstm_grid(&l, sequences), threads,
                       shared_bytes(l.units, sequences, floats) + more_bytes, stream, l);
}

void cov_cuda_lstm_fp32(const struct cov_cuda_lstm *layer, void *stream)
{
    if (layer->resident) {
        cov_cuda_lstm_resident(layer, stream);
        return;
    }
    struct cov_cuda_lstm l = *layer;
    l.rest = l.rest && shared_bytes(l.units, FEW, FLOATS_REST) + MASK_BYTES <= SMALL_SHARED;
    launch(l.priority, lstm_fp32<MANY>, lstm_fp32<FEW>, l, l.rest ? FLOATS_REST : FLOATS,
           MASK_BYTES, stream);
}

void cov_cuda_lstm_forward_fp32(const struct cov_cuda_lstm_train *l, void *stream)
{
    if (l->resident)
        cov_cuda_lstm_resident_forward(l, stream);
    else
        launch(0, lstm_forward_fp32<MANY>, lstm_forward_fp32<FEW>, *l, FLOATS, 0, stream);
}

void cov_cuda_lstm_backward_fp32(const struct cov_cuda_lstm_train *l, void *stream)
{
    if (l->resident)
        cov_cuda_lstm_resident_backward(l, stream);
    else
        launch(0, lstm_backward_fp32<MANY>, lstm_backward_fp32<FEW>, *l, FLOATS_BACK, 0, stream);
}
