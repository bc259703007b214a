/* random_model.h - checkpoints with random weights, for measuring.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BENCHMARK_RANDOM_MODEL_H
#define COV_BENCHMARK_RANDOM_MODEL_H

#include <stdint.h>

#include "common/base/err.h"
#include "common/net/hparams.h"

/* The size of Predmoter's published models for two data sets: 1.53 M parameters. */
extern const struct cov_hparams cov_combined_size;

/* Writes a network that cov_hparams_check found sound, with PyTorch's initial weights from `seed`, to
 * `path`, which is made or replaced. Its data sets are called random1, random2 and so on. */
int cov_random_model_write(const char *path, const struct cov_hparams *hp, uint64_t seed,
                           struct cov_err *e) COV_MUST_USE;

#endif
