/* precision.h - maps a named precision to the operands of each product, as far as the CPU's
 * instructions make it worthwhile.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_PRECISION_H
#define COV_COMPUTE_CPU_LAYERS_PRECISION_H

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/level.h"
#include "common/compute/cpu/kernels/outer.h"
#include "common/compute/cpu/layers/conv.h"
#include "common/compute/cpu/layers/lstm.h"
#include "common/compute/device.h"

struct cov_cpu_arithmetic {
    unsigned features;            /* COV_CPU_* bits that are allowed */
    enum cov_precision precision; /* the precision in use; never EXACT */
    const char *why;              /* why it is not the requested one; NULL if it is */
    enum cov_arithmetic conv, lstm;
    const struct cov_gemm *lstm_gemm; /* NULL for single precision */
};

/* Chooses the operands for the requested precision. A more exact arithmetic, single precision or
 * 16-bit integers, replaces a requested one that is not faster. With `edits`, chunks after edits are
 * wanted, which only single precision computes without computing whole chunks. */
void cov_cpu_arithmetic_choose(enum cov_precision wanted, const struct cov_cpu_choice *cpu,
                               bool edits, struct cov_cpu_arithmetic *out);

/* Returns the operands of a layer. The first convolution is a look-up, in single precision. So is
 * the last one, whose rounding the last layer amplifies; with LSTMs in bf16, it is in bf16x3 if its
 * rows are joined. */
enum cov_arithmetic cov_cpu_arithmetic_of(const struct cov_cpu_arithmetic *a,
                                          const struct cov_layer *layer, bool last_conv);
/* Returns what the LSTM layers may skip: changes below the rounding of their operands, or of the
 * convolutions before them, whose rounding differs from row to row even where their input is
 * constant. */
struct cov_lstm_rest cov_cpu_lstm_rest(const struct cov_cpu_arithmetic *a);
/* Returns the kernels of a convolution with these operands; `plain` are the single-precision kernels
 * for few channels. */
struct cov_cpu_kernels cov_cpu_conv_kernels(const struct cov_cpu_arithmetic *a,
                                            const struct cov_layer *layer,
                                            enum cov_arithmetic operands,
                                            const struct cov_cpu_kernels *plain);
/* Returns the products of an LSTM. */
const struct cov_gemm *cov_cpu_lstm_gemm(const struct cov_cpu_arithmetic *a,
                                         const struct cov_layer *layer);
/* Returns how many sequences an LSTM computes side by side: as many as make it fast. */
size_t cov_cpu_lstm_rows(const struct cov_cpu_arithmetic *a);
/* Returns the gates of an LSTM. */
const struct cov_vec *cov_cpu_lstm_vec(const struct cov_cpu_arithmetic *a,
                                       const struct cov_layer *layer);
/* Returns the kernel for the gradients of a layer's weights; it multiplies bf16 where the layer
 * multiplies bf16 or integers. */
const struct cov_outer *cov_cpu_outer(const struct cov_cpu_arithmetic *a,
                                      const struct cov_layer *layer, enum cov_arithmetic operands);

#endif
