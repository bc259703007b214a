/* freeze.h - layers whose weights do not change in training: covtrain's --freeze.
 *
 * A layer is a module of PyTorch, named as in the state dict: "down_layer_list.0". Groups of layers
 * are "conv" (convolutions and their norms), "lstm" and "linear".
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_FREEZE_H
#define COV_JOB_TRAIN_FREEZE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/net/shape.h"

/* Sets frozen[i] to whether parameter i of the table is trained otherwise, and belongs to one of
 * the n layers or groups.
 * COV_EINPUT for a name that the network does not have, listing its layers, and if all parameters
 * would be frozen. */
int cov_freeze_parse(const struct cov_params *params, const char *const *names, size_t n,
                     bool *frozen, struct cov_err *e) COV_MUST_USE;

/* Checks that a checkpoint lacks the optimiser state of whole layers only: frozen[i] is whether
 * parameter i has none. COV_EINPUT names a parameter without one. */
int cov_freeze_check(const struct cov_params *params, const bool *frozen,
                     struct cov_err *e) COV_MUST_USE;

/* Returns the names of frozen layers, or of groups where all layers are frozen, separated by
 * commas; empty without any. Caller frees. NULL without memory. */
char *cov_freeze_text(const struct cov_params *params, const bool *frozen,
                      struct cov_err *e) COV_MUST_USE;

#endif
