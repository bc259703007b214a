/* train_agree.h - the processes of a training that mpirun started must have the same options, files
 * and precision: otherwise each would add gradients of something else.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_AGREE_H
#define COV_JOB_TRAIN_TRAIN_AGREE_H

#include "common/compute/device.h"
#include "common/examples/ranks.h"
#include "common/job/train/train_setup.h"

/* Collective, like all here: compares the version and the options that change what is computed, not
 * paths, threads and devices. Call it before any other collective. */
int cov_train_agree_on_options(const struct cov_train_options *o, struct cov_ranks *r,
                               struct cov_err *e) COV_MUST_USE;
/* Compares names, sizes and samples of the contents of all files that are open in s, the checkpoint
 * and the blacklist. */
int cov_train_agree_on_files(const struct cov_train_setup *s, const struct cov_train_options *o,
                             struct cov_ranks *r, struct cov_err *e) COV_MUST_USE;
int cov_train_agree_on_precision(const struct cov_device *device, struct cov_ranks *r,
                                 struct cov_err *e) COV_MUST_USE;

#endif
