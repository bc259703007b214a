/* training.h - training, specified by tests/lib/reference/ref_train.h, on matrix products (gemm.h,
 * toom_cook.h), sums of outer products (outer.h) and element-wise kernels (trainvec.h), in single
 * precision or with products in bf16.
 *
 * Work is split into fixed pieces of layers and sequences, and rows of a product do not depend on
 * one another, so results do not depend on the number of threads.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_TRAIN_TRAINING_H
#define COV_COMPUTE_CPU_TRAIN_TRAINING_H

#include "common/compute/cpu/kernels/outer.h"
#include "common/compute/cpu/kernels/trainvec.h"
#include "common/compute/cpu/layers/conv.h"
#include "common/compute/cpu/layers/precision.h"
#include "common/compute/device.h"
#include "common/seq/alphabet.h"

struct cov_training_kernels {
    struct cov_cpu_kernels plain; /* single-precision kernels */
    struct cov_cpu_arithmetic arithmetic;
    const struct cov_trainvec *vec;
};

int cov_cpu_training_new(const struct cov_training_kernels *kernels,
                         const struct cov_training_spec *spec, struct cov_training **out,
                         struct cov_err *e) COV_MUST_USE;

/* Returns true if a position counts in the loss: it is neither padding nor masked. */
static inline bool cov_train_counts(uint8_t code, float target)
{
    return code != COV_CODE_PAD && !(target < 0);
}
/* Computes the batch's score over all processes from scores[n_chunks, D, 3]: the loss, the accuracy
 * and the number of columns (0: not counted) of each row. Sets *weight_sum to the sum of the
 * weights of rows. Reads loss_weights (not NULL) and reduce from the spec. Returns COV_EINPUT if
 * the loss is not finite. */
int cov_train_batch_score(const struct cov_training_spec *spec, const double *scores,
                          size_t n_chunks, size_t D, struct cov_train_score *score,
                          double *weight_sum, struct cov_err *e) COV_MUST_USE;

#endif
