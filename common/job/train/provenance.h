/* provenance.h - what a checkpoint records about the training that made it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_PROVENANCE_H
#define COV_JOB_TRAIN_PROVENANCE_H

#include "common/compute/device.h"
#include "common/job/train/train_setup.h"

/* Adds version, options, precision, device and the names of the files to s->network.made. Options
 * that do not change weights, and those for which a resumed training may have other values
 * (epochs), are left out, so that a resumed training writes the same bytes. */
int cov_train_provenance(struct cov_train_setup *s, const struct cov_train_options *o,
                         const struct cov_device *device, struct cov_err *e) COV_MUST_USE;

#endif
