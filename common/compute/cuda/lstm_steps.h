/* lstm_steps.h - shared by the LSTM kernels of both precisions: offsets in memory, and a training step
 * of one unit, forward and backward.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_LSTM_STEPS_H
#define COV_COMPUTE_CUDA_LSTM_STEPS_H

#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

/* Returns the index of a unit in y and cells, [n, t, direction, unit]; its gates start at four
 * times that index. `l` is a struct cov_cuda_lstm or struct cov_cuda_lstm_train. */
template <typename Layer>
SIMT_DEVICE size_t lstm_place(const Layer &l, int sequence, int t, int direction, int unit)
{
    return (((size_t)sequence * l.t + t) * l.directions + direction) * l.units + unit;
}

/* Returns a grid with one block per direction and SEQUENCES sequences. */
template <typename Layer> static dim3 lstm_grid(const Layer *l, int sequences)
{
    return dim3((unsigned)((l->n + sequences - 1) / sequences), (unsigned)l->directions);
}

/* Returns the row that holds a sequence's gates of step t. */
SIMT_DEVICE int gates_row(int head, int tail, int t)
{
    return t >= head && t < tail ? head - 1 : t;
}

/* Returns the number of steps that a block with n sequences from `first` on runs. */
SIMT_DEVICE int lstm_count_steps(const struct cov_cuda_lstm &l, int direction, int first, int n)
{
    int steps = 0;
    if (direction)
        return l.t;
    for (int s = first; s < first + n && s < l.n; s++) {
        int forward = l.extents[(size_t)s * l.extent_pitch].forward;
        steps = forward > steps ? forward : steps;
    }
    return steps;
}

/* Smaller relative changes are ignored by resting sequences in single precision. A change of h is relative to |h| + 1/32,
 * and a change of a sum over x is relative to |sum| + 1. The limit is about the rounding error of a gate's sum. */
#define LSTM_STILL 0x1p-20f

SIMT_DEVICE bool lstm_moved(float v, float ref, float least)
{
    return !(fabsf(v - ref) <= LSTM_STILL * (fabsf(ref) + least));
}

SIMT_DEVICE bool lstm_moved(const float4 &v, const float4 &ref)
{
    return lstm_moved(v.x, ref.x, 1) || lstm_moved(v.y, ref.y, 1) || lstm_moved(v.z, ref.z, 1) ||
           lstm_moved(v.w, ref.w, 1);
}

#define LSTM_LOG2_E 1.44269504f

/* Returns exp(min(factor v, 28)). A product of three factors 1 + exp(28) is still finite, and the limit changes a gate by
 * less than 1e-12. NaN stays NaN. */
SIMT_DEVICE float lstm_exp_limited(float factor, float v)
{
    return simt_exp2_fast(simt_min(factor * LSTM_LOG2_E * v, 28.0f * LSTM_LOG2_E));
}

/* The values that a step uses: sigmoid(f), sigmoid(i) tanh(g), and 1 / sigmoid(o). */
struct lstm_gates {
    float f, ig, o;
};

SIMT_DEVICE struct lstm_gates lstm_gates_of(float i, float f, float g, float o)
{
    struct lstm_gates k;
    float eg = lstm_exp_limited(-2, g), a = (1.0f + lstm_exp_limited(-1, i)) * (1.0f + eg);
    float b = 1.0f + lstm_exp_limited(-1, f), r = simt_reciprocal_fast(a * b);
    k.f = a * r;
    k.ig = (1.0f - eg) * b * r;
    k.o = 1.0f + lstm_exp_limited(-1, o);
    return k;
}

/* Advances *c by a step; returns its h. */
SIMT_DEVICE float lstm_advance(const struct lstm_gates &k, float *c)
{
    *c = fmaf(k.f, *c, k.ig);
    float e = lstm_exp_limited(-2, *c);
    return (1.0f - e) * simt_reciprocal_fast(k.o * (1.0f + e));
}

SIMT_DEVICE float lstm_sigmoid(float v)
{
    return simt_reciprocal_fast(1.0f + simt_exp2_fast(-LSTM_LOG2_E * v));
}

SIMT_DEVICE float lstm_tanh(float v)
{
    return 1.0f - 2.0f * simt_reciprocal_fast(1.0f + simt_exp2_fast(2 * LSTM_LOG2_E * v));
}

/* Writes h, and the values that the backward pass needs. */
SIMT_DEVICE void lstm_keep(const struct cov_cuda_lstm_train &l, size_t place, float4 gates,
                           float state, float h)
{
    *(float4 *)(l.gates + place * 4) = gates;
    l.cells[place] = state;
    store1(l.y, place, l.y_bf16, h);
    if (l.h_bf16)
        l.h_bf16[place] = (uint16_t)simt_bf16(h);
}

/* Returns the gradient of the gates i, f, g, o before sigmoid and tanh, given dh, the gradient of
 * h. `shown` is tanh of the cell, and `past` is the cell of the previous step. *dc is the gradient
 * of the cell: on entry from the next step, on return for the previous step. */
SIMT_DEVICE float4 lstm_gradient(float4 gates, float shown, float past, float dh, float *dc)
{
    float by_cell = fmaf(dh * gates.w, 1.0f - shown * shown, *dc);
    float4 by;
    by.x = by_cell * gates.z * gates.x * (1.0f - gates.x);
    by.y = by_cell * past * gates.y * (1.0f - gates.y);
    by.z = by_cell * gates.x * (1.0f - gates.z * gates.z);
    by.w = dh * shown * gates.w * (1.0f - gates.w);
    *dc = by_cell * gates.y;
    return by;
}

SIMT_DEVICE void lstm_write_gradient(const struct cov_cuda_lstm_train &l, size_t place, float4 by)
{
    store2(l.dgates, place * 4, l.dgates_bf16, by.x, by.y);
    store2(l.dgates, place * 4 + 2, l.dgates_bf16, by.z, by.w);
}

#endif
