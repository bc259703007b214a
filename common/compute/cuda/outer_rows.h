/* outer_rows.h - which rows a gradient of weights is summed over, for host and device alike: row m of a
 * phase is row t of sequence b, m = b rows + t (conv_index.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_OUTER_ROWS_H
#define COV_COMPUTE_CUDA_OUTER_ROWS_H

#include "common/compute/cuda/train_kernels.h"

struct cov_outer_row {
    size_t m;
    int b, t;
};

COV_HD struct cov_outer_row cov_outer_row_at(const struct cov_cuda_outer *o, size_t m)
{
    struct cov_outer_row r;
    int rows = o->phase.rows > 0 ? o->phase.rows : 1;
    r.m = m;
    r.b = (int)(m / rows);
    r.t = (int)(m - (size_t)r.b * rows);
    return r;
}

/* `by` rows further. */
COV_HD void cov_outer_row_forth(const struct cov_cuda_outer *o, struct cov_outer_row *r, int by)
{
    r->m += by;
    r->t += by;
    while (r->t >= o->phase.rows && r->m < (size_t)o->n * o->phase.rows) {
        r->t -= o->phase.rows;
        r->b++;
    }
}

/* The row of x in its sequence; it may be outside of it. */
COV_HD int cov_outer_x_row(const struct cov_cuda_outer *o, struct cov_outer_row r, int tap)
{
    return r.t * o->phase.in_stride + o->phase.first + tap * o->phase.step;
}

/* The row of z among all. */
COV_HD size_t cov_outer_z_row(const struct cov_cuda_outer *o, struct cov_outer_row r)
{
    return (size_t)r.b * o->t_out + r.t * o->phase.out_stride + o->phase.out_first;
}

/* Rows of a split: a multiple of 32, that all have but the last ones. */
COV_HD size_t cov_outer_split_rows(const struct cov_cuda_outer *o)
{
    size_t rows = (size_t)o->n * o->phase.rows;
    return (rows + (size_t)o->splits * 32 - 1) / ((size_t)o->splits * 32) * 32;
}

/* Column j < tn of a thread of a tile of bn columns, so that neighbours read neighbours: pieces of four, or single
 * ones. */
COV_HD int cov_outer_column(int bn, int tn, int across, int j)
{
    return tn >= 4 ? j / 4 * (bn / (tn / 4)) + across * 4 + j % 4 : j * (bn / tn) + across;
}

#endif
