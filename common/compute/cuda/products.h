/* products.h - how products of matrices read rows of x and write rows of y (struct cov_cuda_gemm).
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_PRODUCTS_H
#define COV_COMPUTE_CUDA_PRODUCTS_H

#include <limits.h>

#include "common/compute/cuda/epilogue.h"
#include "common/compute/cuda/kernels.h"

/* The part of x that a thread reads: vectors of 16 bytes from PARTS rows, at the same depth of the
 * product. */
template <int PARTS> struct gather {
    const char *at[PARTS]; /* channel 0 of the row that tap 0 reads, even if x lacks that row */
    int row[PARTS];        /* that row; NO_ROW: past the last row of the product */
    int tap, channel;      /* tap and channel of the next vector */
    int by_tap;            /* rows from that of tap 0 */
    ptrdiff_t offset;      /* bytes from at[] */
};

enum { NO_ROW = INT_MIN / 2 };

/* Starts at rows `first`, first + `apart`, ..., at element `k` of depth. */
template <int ELEMENT, int PARTS>
SIMT_DEVICE struct gather<PARTS> gather_begin(const struct cov_cuda_gemm &g, int first, int apart,
                                              int k) {
    struct gather<PARTS> x;
    for (int i = 0; i < PARTS; i++) {
        int m = first + i * apart, b = m / g.phase.rows;
        int row =
            cov_conv_phase_row(&g.phase, m - b * g.phase.rows) * g.phase.in_stride + g.phase.first;
        x.at[i] = (const char *)g.x + ((ptrdiff_t)b * g.t_in + row) * g.c * ELEMENT;
        x.row[i] = m < g.n * g.phase.rows ? row : NO_ROW;
    }
    x.tap = k / g.c;
    x.channel = k % g.c;
    x.by_tap = x.tap * g.phase.step;
    x.offset = ((ptrdiff_t)x.by_tap * g.c + x.channel) * ELEMENT;
    return x;
}

/* Returns true if x has the vector of row i; *from is then its address. */
template <int PARTS>
SIMT_DEVICE bool gather_next(const struct cov_cuda_gemm &g, const struct gather<PARTS> &x, int i,
                             const char **from)
{
    *from = x.at[i] + x.offset;
    return x.tap < g.phase.n_taps && (unsigned)(x.row[i] + x.by_tap) < (unsigned)g.t_in;
}

/* Advances by `by` elements of depth. */
template <int ELEMENT, int PARTS>
SIMT_DEVICE void gather_advance(const struct cov_cuda_gemm &g, struct gather<PARTS> *x, int by)
{
    x->channel += by;
    x->offset += by * ELEMENT;
    while (x->channel >= g.c) {
        x->channel -= g.c;
        x->tap++;
        x->by_tap += g.phase.step;
        x->offset += (ptrdiff_t)(g.phase.step - 1) * g.c * ELEMENT;
    }
}

/* Returns the index in y where a row of the product begins. */
SIMT_DEVICE size_t y_offset(const struct cov_cuda_gemm &g, int row)
{
    int b = row / g.phase.rows, t = cov_conv_phase_row(&g.phase, row - b * g.phase.rows);
    return ((size_t)b * g.t_out + t * g.phase.out_stride + g.phase.out_first) * g.pitch;
}

/* The work of a block of the gradient kernels: a tile of BM by BN weights and a split of the rows. */
struct outer_block {
    int split, k_first, n_first;
    size_t beg, end; /* rows of the split */
};

template <int BM, int BN>
SIMT_DEVICE struct outer_block outer_block_of(const struct cov_cuda_outer &o, int tiles,
                                              size_t split_rows)
{
    struct outer_block at;
    const size_t rows = (size_t)o.n * o.phase.rows;
    at.split = (int)blockIdx.x / tiles;
    at.k_first = (int)blockIdx.x % tiles * BM;
    at.n_first = (int)blockIdx.y * BN;
    at.beg = at.split * split_rows;
    at.end = at.beg + split_rows < rows ? at.beg + split_rows : rows;
    return at;
}

/* Returns the number of steps, of `depth` rows each, in a split. */
SIMT_DEVICE int outer_steps(const struct outer_block &at, int depth)
{
    return at.end > at.beg ? (int)((at.end - at.beg + depth - 1) / depth) : 0;
}

/* Returns the first row of an operand that a thread reads, or the end of the rows if the thread
 * reads none. */
SIMT_DEVICE struct cov_conv_row outer_row(const struct cov_cuda_outer &o, size_t m, bool reads)
{
    return cov_conv_row_at(&o.phase, reads ? m : (size_t)o.n * o.phase.rows);
}

/* Returns true if x has the row that a tap reads for row r of the split; *offset is then the index of
 * its element `channel`. */
SIMT_DEVICE bool outer_x(const struct cov_cuda_outer &o, const struct outer_block &at,
                         const struct cov_conv_row &r, int tap, int channel, size_t *offset)
{
    int row = cov_conv_x_row(&o.phase, r, tap);
    bool there = r.m < at.end && row >= 0 && row < o.t_in;
    *offset = there ? ((size_t)r.b * o.t_in + row) * o.x_pitch + channel : 0;
    return there;
}

/* The same for column `column` of z. */
SIMT_DEVICE bool outer_z(const struct cov_cuda_outer &o, const struct outer_block &at,
                         const struct cov_conv_row &r, int column, size_t *offset)
{
    bool there = r.m < at.end;
    *offset = there ? cov_conv_y_row(&o.phase, r, o.t_out) * o.z_pitch + column : 0;
    return there;
}

/* Queues a gradient kernel with tiles of BM by BN weights. */
template <int BM, int BN, typename Kernel>
static void outer_launch(Kernel kernel, const struct cov_cuda_outer *o, int threads,
                         size_t shared_bytes, void *stream)
{
    int tiles = (o->phase.n_taps * o->c + BM - 1) / BM;
    if (tiles > 0)
        simt_launch(kernel,
                    dim3((unsigned)(tiles * o->splits), (unsigned)(o->n_cols + BN - 1) / BN),
                    threads, shared_bytes, stream, *o, tiles,
                    cov_conv_split_rows((size_t)o->n * o->phase.rows, o->splits));
}

#endif
