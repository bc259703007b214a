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

/* The work of a block of the gradient kernels: a tile of BM by BN weights and a split of a sequence. */
struct outer_block {
    int k_first, n_first;
    int beg, end;      /* rows of the split */
    const char *x, *z; /* of the sequence */
    float *partial;
};

template <int BM, int BN, int ELEMENT>
SIMT_DEVICE struct outer_block outer_block_of(const struct cov_cuda_outer &o, int tiles,
                                              int split_rows)
{
    struct outer_block at;
    const int split = (int)blockIdx.x / tiles, b = split / o.splits;
    at.k_first = (int)blockIdx.x % tiles * BM;
    at.n_first = (int)blockIdx.y * BN;
    at.beg = split % o.splits * split_rows;
    at.end = at.beg + split_rows < o.phase.rows ? at.beg + split_rows : o.phase.rows;
    at.x = (const char *)o.x + (size_t)b * o.t_in * o.x_pitch * ELEMENT;
    at.z = (const char *)o.z + (size_t)b * o.t_out * o.z_pitch * ELEMENT;
    at.partial = o.partial + split * o.stride;
    return at;
}

/* Returns the number of steps, of `depth` rows each, in a split. */
SIMT_DEVICE int outer_steps(const struct outer_block &at, int depth)
{
    return at.end > at.beg ? (at.end - at.beg + depth - 1) / depth : 0;
}

/* Returns the first row that a thread reads, which is `first` rows after the split's first one; the end
 * of the split if it reads none. */
SIMT_DEVICE int outer_row(const struct outer_block &at, int first, bool reads)
{
    return reads ? at.beg + first : at.end;
}

/* Returns true if x has the row that a tap reads for row t of the split; *from is then the address of
 * its element `channel`. */
template <int ELEMENT>
SIMT_DEVICE bool outer_x(const struct cov_cuda_outer &o, const struct outer_block &at, int t,
                         int tap, int channel, const char **from)
{
    int row = cov_conv_x_row(&o.phase, t, tap);
    bool there = t < at.end && (unsigned)row < (unsigned)o.t_in;
    *from = there ? at.x + ((size_t)row * o.x_pitch + channel) * ELEMENT : at.x;
    return there;
}

/* The same for column `column` of z. */
template <int ELEMENT>
SIMT_DEVICE bool outer_z(const struct cov_cuda_outer &o, const struct outer_block &at, int t,
                         int column, const char **from)
{
    bool there = t < at.end;
    *from =
        there ? at.z + ((size_t)cov_conv_y_row(&o.phase, t) * o.z_pitch + column) * ELEMENT : at.z;
    return there;
}

/* Queues a gradient kernel with tiles of BM by BN weights. */
template <int BM, int BN, typename Kernel>
static void outer_launch(Kernel kernel, const struct cov_cuda_outer *o, int threads,
                         size_t shared_bytes, void *stream)
{
    int tiles = (o->phase.n_taps * o->c + BM - 1) / BM;
    if (tiles > 0 && o->n > 0)
        simt_launch(kernel,
                    dim3((unsigned)(tiles * o->n * o->splits), (unsigned)(o->n_cols + BN - 1) / BN),
                    threads, shared_bytes, stream, *o, tiles,
                    cov_conv_split_rows(o->phase.rows, o->splits));
}

/* products_wgmma.cu: the kernels for products with g->wgmma. */
void cov_cuda_launch_wgmma(enum cov_cuda_products products, const struct cov_cuda_gemm *g,
                           void *stream);

/* products_fp32.cu: the kernels of COV_CUDA_FP32. */
void cov_cuda_launch_fp32(const struct cov_cuda_gemm *g, void *stream);
void cov_cuda_launch_fp32(const struct cov_cuda_outer *o, void *stream);

#endif
