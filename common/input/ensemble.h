/* ensemble.h - one or several checkpoints that predict the same datasets: what covpredict
 * computes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_INPUT_ENSEMBLE_H
#define COV_INPUT_ENSEMBLE_H

#include "common/compute/device.h"
#include "common/input/model.h"
#include "common/net/net.h"

struct cov_ensemble {
    struct cov_model **models; /* [n] */
    size_t n;
    bool sd;
    /* [n_datasets]: of a checkpoint; with `sd`, then also NAME_sd of each. Owned, as is each */
    char **datasets;
    size_t n_datasets;
    char *path, *sha256; /* of all checkpoints, joined by commas. Owned */
    char *description;   /* as of struct cov_model. Owned */
};

/* Reads checkpoints, as cov_model_open does, to predict the means of what they predict and, with
 * `sd`, the standard deviations (net.h). COV_EUSAGE if there is only one with `sd`;
 * COV_EINPUT if two are the same or their datasets differ. Free with cov_ensemble_close. */
int cov_ensemble_open(const char *const *paths, size_t n, bool sd, struct cov_ensemble **out,
                      struct cov_err *e) COV_MUST_USE;
void cov_ensemble_close(struct cov_ensemble *m); /* NULL is accepted */

/* cov_model_check_length for each checkpoint. */
int cov_ensemble_check_length(const struct cov_ensemble *m, size_t L,
                              struct cov_err *e) COV_MUST_USE;

/* Lets GPUs reject the networks for chunks of L positions, or fall back to the CPU, before any
 * threads are started for them. Does nothing on the CPU. */
int cov_ensemble_try(const struct cov_ensemble *m, struct cov_device *dev, size_t L,
                     struct cov_err *e) COV_MUST_USE;

/* cov_net_new_ensemble for these networks. */
int cov_ensemble_net(const struct cov_ensemble *m, struct cov_device *dev, struct cov_net_size size,
                     struct cov_net **out, struct cov_err *e) COV_MUST_USE;

#endif
