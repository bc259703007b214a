/* training_ref.h - training on the scalar reference (ref_train.h), all in double. spec->recompute is
 * ignored, since it changes no value.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_LIB_REFERENCE_TRAINING_REF_H
#define TESTS_LIB_REFERENCE_TRAINING_REF_H

#include "common/compute/device.h"

int cov_ref_training_new(struct cov_device *dev, const struct cov_training_spec *spec,
                         struct cov_training **out, struct cov_err *e) COV_MUST_USE;

/* Returns a device for training alone, on the reference; closing it does nothing. */
struct cov_device *cov_ref_training_device(void);

/* Like gradients->run, but with the gradient in double. `block` [n_floats] replaces the
 * loaded parameters. */
int cov_ref_training_run_double(struct cov_training *base, uint64_t step, const double *block,
                                const struct cov_train_batch *batch, double *gradient,
                                struct cov_train_score *score, struct cov_err *e) COV_MUST_USE;

#endif
