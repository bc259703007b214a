/* self_check.h - whether a card computes what the scalar reference does: a small network through all kinds of
 * kernels, before any other is trusted to it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_SELF_CHECK_H
#define COV_COMPUTE_CUDA_SELF_CHECK_H

#include "common/compute/cuda/cuda_program.h"

/* COV_EIO, with the card's name, if card `which` of the list computes something else. */
int cov_cuda_self_check(const struct cov_cuda_cards *cards, size_t which,
                        struct cov_cuda_arithmetic arithmetic, size_t shared_bytes,
                        struct cov_err *e) COV_MUST_USE;

#endif
