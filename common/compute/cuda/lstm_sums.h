/* lstm_sums.h - the threads of the LSTM kernels in bf16, and how they read sums over x: as floats, or as fp16
 * in predictions. A thread copies them to a ring in shared memory, some steps ahead.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_LSTM_SUMS_H
#define COV_COMPUTE_CUDA_LSTM_SUMS_H

#include "common/compute/cuda/lstm_steps.h"

/* Sequences of a block, and steps in the ring. */
enum { SEQUENCES = 8, STAGES = 4 };

/* A thread of a forward kernel. It handles one unit of its block's direction in EACH sequences, numbers
 * s0 and, with two, s0 + 1 of the block, which are columns column and column + 1 of operand B. With one,
 * a block has half of the sequences, in even columns, and its steps are shorter. */
struct seat {
    int tid, lane, warp, direction, first, unit, s0, column;
};

template <int EACH = 2> SIMT_DEVICE struct seat seat_of(void)
{
    struct seat my;
    my.tid = (int)threadIdx.x;
    my.lane = my.tid % 32;
    my.warp = my.tid / 32;
    my.direction = (int)blockIdx.y;
    my.first = (int)blockIdx.x * 4 * EACH;
    my.unit = my.warp * 8 + my.lane / 4;
    my.s0 = my.lane % 4 * EACH;
    my.column = my.lane % 4 * 2;
    return my;
}

/* The sums over x of a thread's unit in its sequences. It copies them to a ring in shared memory, as one
 * group of copies per step. */
template <int K16, int EACH = 2> struct sums {
    using Value = float4; /* i, f, g, o */
    static constexpr int THREADS = K16 * 64;
    const float *from[EACH]; /* of row 0 */
    int head[EACH], tail[EACH], row_bytes;
    int t, forth, steps; /* the row to copy next, the way to the one after it, and rows left */
    float4 *ring;        /* [STAGES][EACH][THREADS], from this thread's place on */
};

/* The number of a thread's sequence s. Past the last one, it is the last one, which the thread then
 * computes again without writing it, so that it moves and rests with it. */
template <typename Layer> SIMT_DEVICE int sequence_of(const Layer &l, const struct seat &my, int s)
{
    int sequence = my.first + my.s0 + s;
    return sequence < l.n ? sequence : l.n - 1;
}

template <int K16, int EACH = 2, typename Layer>
SIMT_DEVICE sums<K16, EACH> begin_sums(const Layer &l, const struct seat &my, int steps,
                                       float4 *ring)
{
    sums<K16, EACH> x;
    x.t = my.direction ? l.t - 1 : 0;
    x.forth = my.direction ? -1 : 1;
    x.steps = steps;
    x.row_bytes = l.directions * l.units * 16;
    x.ring = simt_keep_address(ring + my.tid);
#pragma unroll
    for (int s = 0; s < EACH; s++) {
        x.from[s] = l.gates + lstm_place(l, sequence_of(l, my, s), 0, my.direction, my.unit) * 4;
        x.head[s] = x.tail[s] = l.t;
    }
    return x;
}

template <int K16>
SIMT_DEVICE void read_extent(sums<K16> *x, int s, const struct cov_cuda_extent &e)
{
    x->head[s] = e.head;
    x->tail[s] = e.tail;
}

/* Starts to copy the next row; after the last one, copies that again. */
template <int K16, int EACH> SIMT_DEVICE void fetch_sums(sums<K16, EACH> *x, float4 *to)
{
#pragma unroll
    for (int s = 0; s < EACH; s++)
        simt_copy16(to + s * x->THREADS,
                    simt_row(x->from[s], gates_row(x->head[s], x->tail[s], x->t), x->row_bytes),
                    true);
    simt_copy_group();
    x->t += --x->steps > 0 ? x->forth : 0;
}

/* Sets `next` to the sums of a step, once they have arrived, and starts to copy those of step +
 * STAGES to their place. */
template <int K16, int EACH>
SIMT_DEVICE void next_sums(sums<K16, EACH> *x, int step, float4 next[EACH])
{
    float4 *at = x->ring + step % STAGES * EACH * x->THREADS;
    simt_copy_wait<STAGES - 1>();
#pragma unroll
    for (int s = 0; s < EACH; s++)
        next[s] = at[s * x->THREADS];
    fetch_sums(x, at);
}

/* Sets `next` to the sums of step 0, and starts to copy those of steps 1 to STAGES. */
template <int K16, int EACH> SIMT_DEVICE void first_sums(sums<K16, EACH> *x, float4 next[EACH])
{
    for (int step = 0; step < STAGES; step++)
        fetch_sums(x, x->ring + step * EACH * x->THREADS);
    next_sums(x, 0, next);
}

/* The same for sums in fp16. 16 bytes are two units of a sequence. A thread whose unit is even copies those
 * of its first sequence; the thread of the next unit copies those of the second. Sums must arrive a
 * barrier before they are read, but twice as many stages fit into the ring. */
template <int K16> struct half_sums {
    using Value = uint2;
    static constexpr int THREADS = K16 * 64, STAGES = 2 * ::STAGES;
    const char *from; /* of row 0 */
    int head, tail, row_bytes;
    int t, forth, steps;
    uint4 *to;       /* [STAGES][THREADS], from where this thread copies to */
    const uint2 *at; /* its sums: at[0] and at[NEXT] */
};
enum { NEXT = 16 };

template <int K16>
SIMT_DEVICE half_sums<K16> begin_sums_fp16(const struct cov_cuda_lstm &l, const struct seat &my,
                                           int steps, uint4 *ring)
{
    /* Bits 2 and 3 of the thread's number are swapped in its place, so that reads of 16 threads are
     * in different banks. */
    const int odd = my.tid >> 2 & 1, place = (my.tid & ~12) | (my.tid & 8) >> 1;
    half_sums<K16> x;
    x.t = my.direction ? l.t - 1 : 0;
    x.forth = my.direction ? -1 : 1;
    x.steps = steps;
    x.row_bytes = l.directions * l.units * 8;
    x.to = simt_keep_address(ring + place + odd * 8);
    x.at = (const uint2 *)simt_keep_address(ring + place) + odd;
    x.from =
        (const char *)(l.gates_fp16 +
                       lstm_place(l, sequence_of(l, my, odd), 0, my.direction, my.unit & ~1) * 4);
    x.head = x.tail = l.t;
    return x;
}

template <int K16>
SIMT_DEVICE void read_extent(half_sums<K16> *x, int s, const struct cov_cuda_extent &e)
{
    if (s == ((int)threadIdx.x >> 2 & 1)) {
        x->head = e.head;
        x->tail = e.tail;
    }
}

template <int K16> SIMT_DEVICE void fetch_sums(half_sums<K16> *x, int step)
{
    simt_copy16(x->to + step % x->STAGES * x->THREADS,
                simt_row(x->from, gates_row(x->head, x->tail, x->t), x->row_bytes), true);
    simt_copy_group();
    x->t += --x->steps > 0 ? x->forth : 0;
}

/* Sets `next` to the sums of a step, starts to copy those of step + STAGES - 1, to the place of those
 * that were read before the last barrier, and waits for those of the step after this one. */
template <int K16> SIMT_DEVICE void next_sums(half_sums<K16> *x, int step, uint2 next[2])
{
    const uint2 *at = x->at + step % x->STAGES * 2 * x->THREADS;
    next[0] = at[0];
    next[1] = at[NEXT];
    fetch_sums(x, step - 1);
    simt_copy_wait<half_sums<K16>::STAGES - 2>();
}

template <int K16> SIMT_DEVICE void first_sums(half_sums<K16> *x, uint2 next[2])
{
    for (int step = 0; step < x->STAGES; step++)
        fetch_sums(x, step);
    simt_copy_wait<half_sums<K16>::STAGES - 2>();
    __syncthreads();
    next[0] = x->at[0];
    next[1] = x->at[NEXT];
}

/* The sums that begin_sums has begun to copy; fp16: `ring` is as large in bytes. */
template <int K16, bool FP16>
SIMT_DEVICE auto begin_sums_of(const struct cov_cuda_lstm &l, const struct seat &my, int steps,
                               float4 *ring)
{
    if constexpr (FP16)
        return begin_sums_fp16<K16>(l, my, steps, (uint4 *)ring);
    else
        return begin_sums<K16>(l, my, steps, ring);
}

SIMT_DEVICE float4 sums_of(const float4 &v)
{
    return v;
}

SIMT_DEVICE float4 sums_of(const uint2 &v)
{
    const float2 a = simt_of_fp16_pair(v.x), b = simt_of_fp16_pair(v.y);
    return make_float4(a.x, a.y, b.x, b.y);
}

/* Returns a number other than 0 if a bit of a and b differs. */
SIMT_DEVICE uint32_t difference(const float4 &a, const float4 &b)
{
    return (simt_bits(a.x) ^ simt_bits(b.x)) | (simt_bits(a.y) ^ simt_bits(b.y)) |
           (simt_bits(a.z) ^ simt_bits(b.z)) | (simt_bits(a.w) ^ simt_bits(b.w));
}

SIMT_DEVICE uint32_t difference(const uint2 &a, const uint2 &b)
{
    return (a.x ^ b.x) | (a.y ^ b.y);
}

#endif
