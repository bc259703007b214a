/* conv.h - convolutions and the linear layer on matrix products (gemm.h, or OpenBLAS) and
 * element-wise kernels (vec.h).
 *
 * Rows of a product do not depend on one another (gemm.h), and OpenBLAS gets fixed tiles of one
 * sequence's rows. So the values of a sequence do not depend on the batch, its position in the
 * batch, or the threads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_CONV_H
#define COV_COMPUTE_CPU_LAYERS_CONV_H

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/toom_cook.h"
#include "common/compute/cpu/kernels/vec.h"
#include "common/compute/device.h"
#include "common/compute/plan.h"

/* The kernels to use. */
struct cov_cpu_kernels {
    const struct cov_gemm *gemm;
    const struct cov_vec *vec;
    bool openblas; /* for the convolutions; cov_blas_load has returned true */
    /* NULL: all convolutions are direct products, as with OpenBLAS. */
    const struct cov_toom_cook_kernels *minimal;
};

/* One layer, not an LSTM, with its weights packed. */
struct cov_conv;

/* Returns true if a layer with operands in bf16x3 is computed with several rows of y as one. */
bool cov_conv_joins(const struct cov_layer *layer);
int cov_conv_new(const struct cov_layer *layer, const struct cov_layer_weights *w,
                 const struct cov_cpu_kernels *kernels, struct cov_conv **out,
                 struct cov_err *e) COV_MUST_USE;
/* Computes only the sums of a convolution, without bias, ReLU and norm. This gives gradients of the
 * input: the gradient for a convolution is computed by the transposed convolution with the same
 * weights, and vice versa. */
int cov_conv_sums_new(const struct cov_layer *layer, const float *weight,
                      const struct cov_cpu_kernels *kernels, struct cov_conv **out,
                      struct cov_err *e) COV_MUST_USE;
void cov_conv_free(struct cov_conv *f); /* NULL is accepted */
/* Returns the floats of scratch that the layer needs. The scratch must start on a cache line. */
size_t cov_conv_scratch(const struct cov_conv *f);

/* Computes rows `rows` of y for one sequence. They start at a multiple of cov_plan_unit(layer), and
 * end at a multiple or at the end of the layer. Where rows are joined, io->y_stride is c_out. */
void cov_conv_rows(const struct cov_conv *f, struct cov_rows rows, const struct cov_layer_io *io,
                   float *scratch);

/* Does the same for a first layer by table look-up, from codes[t_in] instead of one-hot rows. Call
 * it only if cov_conv_reads_codes returns true. */
bool cov_conv_reads_codes(const struct cov_conv *f);
void cov_conv_rows_of_codes(const struct cov_conv *f, struct cov_rows rows, const uint8_t *codes,
                            float *y, size_t y_stride);

#endif
