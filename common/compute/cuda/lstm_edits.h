/* lstm_edits.h - shared by the LSTM kernels of both precisions for sequences after edits (struct
 * cov_cuda_lstm_edits): the rows that a sequence walks over, and when it may stop.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_LSTM_EDITS_H
#define COV_COMPUTE_CUDA_LSTM_EDITS_H

#include "common/compute/cuda/lstm_steps.h"

/* A cell and an h have settled if they differ from the kept ones by less, relative to |kept| + 1/4. */
#define LSTM_SETTLED 0x1p-19f

/* A unit of an edited sequence in one direction. Floats of a row: those of h; gates have four times as many. */
struct edit_walk {
    int t, forth, last; /* the row to compute next, the way to the one after it, and the last row */
    int beg, end;       /* rows of new sums */
    int row;            /* floats of a row */
    int stop;           /* what the kernel reports */
    bool there;         /* the sequence exists, and has rows to compute */
    const char *sums, *kept_sums; /* of row 0 */
    size_t at, kept;              /* index of row 0 in y, and in the kept y and cells */
};

/* `element`: bytes of a sum. */
SIMT_DEVICE struct edit_walk edit_walk_of(const struct cov_cuda_lstm_edits &l, int sequence,
                                          int direction, int unit, int element)
{
    struct edit_walk w;
    const int k = sequence < l.n ? sequence : l.n - 1;
    const struct cov_cuda_edit e = l.edits[k];
    const size_t place = (size_t)direction * l.units + unit;
    w.row = l.directions * l.units;
    w.beg = e.beg;
    w.end = e.end;
    w.forth = direction ? -1 : 1;
    w.t = direction ? e.end - 1 : e.beg;
    w.last = direction ? e.limit[1] : e.limit[0] - 1;
    w.stop = direction ? e.end : e.beg;
    w.there = sequence < l.n && e.beg < e.end && (direction ? w.t >= w.last : w.t <= w.last);
    if (!w.there)
        w.t = w.last = 0;
    w.sums = (const char *)l.gates +
             (((ptrdiff_t)e.row - e.beg) * w.row + (ptrdiff_t)place) * 4 * element;
    w.kept_sums = (const char *)l.kept_gates + ((size_t)e.of * l.t * w.row + place) * 4 * element;
    w.at = (size_t)k * l.t * w.row + place;
    w.kept = (size_t)e.of * l.t * w.row + place;
    return w;
}

/* Reads the sums over x of row t. */
template <bool FP16> SIMT_DEVICE float4 edit_sums(const struct edit_walk &w, int t)
{
    const char *from = (t >= w.beg && t < w.end ? w.sums : w.kept_sums) +
                       (ptrdiff_t)t * w.row * 4 * (FP16 ? 2 : 4);
    if (!FP16)
        return simt_read4((const float *)from);
    const uint2 halves = *(const uint2 *)from;
    const float2 a = simt_of_fp16_pair(halves.x), b = simt_of_fp16_pair(halves.y);
    return make_float4(a.x, a.y, b.x, b.y);
}

SIMT_DEVICE int edit_next(const struct edit_walk &w)
{
    return w.t == w.last ? w.t : w.t + w.forth;
}

/* Returns h of a kept row. */
SIMT_DEVICE float edit_kept_h(const struct cov_cuda_lstm_edits &l, const struct edit_walk &w, int t)
{
    const size_t i = w.kept + (ptrdiff_t)t * w.row;
    return l.y_bf16 ? simt_float((uint32_t)((const uint16_t *)l.kept_y)[i] << 16)
                    : ((const float *)l.kept_y)[i];
}

SIMT_DEVICE float edit_kept_cell(const struct cov_cuda_lstm_edits &l, const struct edit_walk &w,
                                 int t)
{
    return l.kept_cells[w.kept + (ptrdiff_t)t * w.row];
}

/* Returns true if a step follows that is computed from kept values, not from zeros. */
SIMT_DEVICE bool edit_starts_inside(const struct cov_cuda_lstm_edits &l, const struct edit_walk &w)
{
    return w.there && (w.forth < 0 ? w.end < l.t : w.beg > 0);
}

SIMT_DEVICE bool edit_differs(float v, float kept)
{
    return !(fabsf(v - kept) <= LSTM_SETTLED * (fabsf(kept) + 0.25f));
}

/* Writes h and, of an original, the cell of the current row. */
SIMT_DEVICE void edit_write(const struct cov_cuda_lstm_edits &l, struct edit_walk *w, float h,
                            float cell)
{
    const size_t i = w->at + (ptrdiff_t)w->t * w->row;
    store1(l.y, i, l.y_bf16, h);
    if (l.cells)
        l.cells[i] = cell;
    w->stop = w->forth < 0 ? w->t : w->t + 1;
}

/* Returns true if the steps after the current row are needed as far as this unit knows. */
SIMT_DEVICE bool edit_moves(const struct cov_cuda_lstm_edits &l, const struct edit_walk &w,
                            bool differs)
{
    const bool inside = w.forth < 0 ? w.t > w.beg : w.t + 1 < w.end;
    return w.t != w.last && (l.cells || inside || differs);
}

#endif
