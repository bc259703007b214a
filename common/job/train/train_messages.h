/* train_messages.h - messages of a training about its epochs, steps and checkpoints.
 *
 * Epochs are numbered as in checkpoints and metrics, from 0.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_MESSAGES_H
#define COV_JOB_TRAIN_TRAIN_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/train/train_setup.h"

/* Writes the label of the epoch after the point: "epoch 4 (5 of 5), loss 0.25", or with
 * o->max_steps "epoch 4, step 12 of 100, loss 0.25", where 100 is n_steps. `loss` may be NULL. */
void cov_train_describe(const struct cov_train_options *o, const struct cov_train_ckpt *p,
                        int64_t n_steps, const double *loss, char *text, size_t n);

/* Extends the message in *e, an overflow of the network, with the place (learning rate `rate`, and
 * the validation of epoch point.epoch or the step after it), advice, and the last usable checkpoint
 * (n_saved: checkpoints that this run wrote). Returns COV_EINPUT. */
int cov_train_fail_diverged(const struct cov_train_options *o, const struct cov_train_ckpt *p,
                            double rate, bool in_validation, int64_t n_saved, struct cov_err *e);

/* Sets the message of a run that a signal ends (cov_log_set_last_words), as of the point that was
 * saved; NULL: this run has saved none. */
void cov_train_set_last_words(const struct cov_train_options *o, const struct cov_train_ckpt *p);

/* Returns true if an epoch has n steps now but the last epoch of the resumed training had a
 * different number, since a checkpoint does not record all options. Sets *had to that number, or to
 * the mean if the checkpoint lacks it. Ignores an epoch that --max-steps may have cut short, and
 * small differences due to --random-offset. */
bool cov_train_steps_differ(const struct cov_train_options *o, const struct cov_train_ckpt *p,
                            int64_t n, double *had);

#endif
