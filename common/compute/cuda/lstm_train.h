/* lstm_train.h - a unit at a step of an LSTM in training, forth and back, for its kernels.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_LSTM_TRAIN_H
#define COV_COMPUTE_CUDA_LSTM_TRAIN_H

#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/train_kernels.h"

/* Where a unit stands in y and cells; its gates at four times that. */
COV_HD size_t cov_lstm_place(const struct cov_cuda_lstm_train &l, int sequence, int t,
                             int direction, int unit)
{
    return (((size_t)sequence * l.t + t) * l.directions + direction) * l.units + unit;
}

/* Keeps what the way back needs, and h. */
SIMT_DEVICE void lstm_keep(const struct cov_cuda_lstm_train &l, size_t place, float4 gates,
                           float state, float h)
{
    *(float4 *)(l.gates + place * 4) = gates;
    l.cells[place] = state;
    store1(l.y, place, l.y_bf16, h);
    if (l.h_bf16)
        l.h_bf16[place] = (uint16_t)simt_bf16(h);
}

/* The gradient by what stands before sigmoid and tanh of gates i, f, g, o, of that by h; `shown` is
 * tanh of the cell, `past` the cell of the step before. *dc goes from the step behind to this one. */
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

SIMT_DEVICE void lstm_give(const struct cov_cuda_lstm_train &l, size_t place, float4 by)
{
    store2(l.dgates, place * 4, l.dgates_bf16, by.x, by.y);
    store2(l.dgates, place * 4 + 2, l.dgates_bf16, by.z, by.w);
}

#endif
