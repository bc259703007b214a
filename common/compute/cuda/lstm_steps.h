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
