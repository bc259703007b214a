/* precision.h - what a named precision comes to on a CPU: which products are made of which
 * operands.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_PRECISION_H
#define COV_COMPUTE_CPU_LAYERS_PRECISION_H

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/level.h"
#include "common/compute/cpu/layers/fast.h"
#include "common/compute/device.h"

struct cov_cpu_arithmetic {
    enum cov_precision precision; /* what it comes to; not EXACT */
    const char *why;              /* it is another one than the one that was asked for; or NULL */
    enum cov_arithmetic conv, lstm;
    /* Kernels for these; NULL: single precision. */
    const struct cov_gemm *conv_gemm, *lstm_gemm;
};

/* What `wanted` comes to. Where what is more exact is at least as fast, it is taken: single
 * precision, or whole numbers of 16 bits, of training in the convolutions alone, and not in sums of
 * outer products (outer.h). */
void cov_cpu_arithmetic_choose(enum cov_precision wanted, const struct cov_cpu_choice *cpu,
                               bool training, struct cov_cpu_arithmetic *out);

/* What becomes of the operands of a layer. The last convolution, whose rounding the last layer
 * amplifies, is never in bf16 alone. */
enum cov_arithmetic cov_cpu_arithmetic_of(const struct cov_cpu_arithmetic *a,
                                          const struct cov_layer *layer, bool last_conv);
/* The kernels of a convolution with these operands; `plain` are those of single precision. */
struct cov_cpu_kernels cov_cpu_conv_kernels(const struct cov_cpu_arithmetic *a,
                                            enum cov_arithmetic operands,
                                            const struct cov_cpu_kernels *plain);

#endif
