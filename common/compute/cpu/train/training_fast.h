/* training_fast.h - the training that ref_train.h specifies, on matrix products (gemm.h,
 * minimal.h), sums of outer products (outer.h) and element-wise kernels (trainvec.h), in single
 * precision or with products in bf16.
 *
 * Work is split into fixed pieces of layers and sequences, and rows of a product do not depend on
 * one another, so results do not depend on the number of threads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_TRAIN_TRAINING_FAST_H
#define COV_COMPUTE_CPU_TRAIN_TRAINING_FAST_H

#include "common/compute/cpu/kernels/outer.h"
#include "common/compute/cpu/kernels/trainvec.h"
#include "common/compute/cpu/layers/fast.h"
#include "common/compute/cpu/layers/precision.h"
#include "common/compute/device.h"

struct cov_training_kernels {
    struct cov_cpu_kernels plain; /* single-precision kernels */
    struct cov_cpu_arithmetic arithmetic;
    const struct cov_trainvec *vec;
};

int cov_fast_training_new(const struct cov_training_kernels *kernels,
                          const struct cov_training_spec *spec, struct cov_training **out,
                          struct cov_err *e) COV_MUST_USE;

#endif
