/* train_epochs.h - training of a network on genome files with measured coverage: what covtrain does.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_EPOCHS_H
#define COV_JOB_TRAIN_TRAIN_EPOCHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/train/train_setup.h"

/* Trains. After each epoch there are the checkpoints of train_saver.h and the lines of train_log.h; what
 * ends the run leaves the last ones whole. The same seed gives the same bytes of weights on a CPU or a
 * GPU of one kind, whatever the threads; so do three epochs, and two and a third one resumed. COV_EEXIST for an output folder with a
 * training in it, without `force`, unless `resume` is of that folder. Adds to `stats` (may be NULL). */
int cov_train(const struct cov_train_options *options, struct cov_progress *progress,
              struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

/* ---- messages; visible for their tests ----
 *
 * Epochs are numbered as in checkpoints and metrics, from 0. */

/* For the progress of the epoch behind the point: "epoch 4 (5 of 5), loss 0.25", or with o->max_steps "epoch 4,
 * step 12 of 100, loss 0.25", of n_steps in all. Without a loss where that is NULL. */
void cov_train_describe(const struct cov_train_options *o, const struct cov_train_point *p,
                        int64_t n_steps, const double *loss, char *text, size_t n);

/* Puts around *e, which says that numbers have left what a float can be, where that was (at the learning rate
 * `rate`; in the validation of the epoch that the point has, or in the step behind it), what helps, and what is
 * left: n_saved epochs of this run. Returns COV_EINPUT. */
int cov_train_fail_diverged(const struct cov_train_options *o, const struct cov_train_point *p,
                            double rate, bool in_validation, int64_t n_saved, struct cov_err *e);

/* What is to be said after a signal from now on, the point being saved (cov_log_set_last_words). */
void cov_train_set_last_words(const struct cov_train_options *o, const struct cov_train_point *p);

/* Whether the last epoch of a training that is gone on from had another number of steps than n, which one has
 * now: not all options are in the checkpoint. *had: that number; of a checkpoint without it, the mean. An epoch
 * that --max-steps may have cut off is no other one, nor one that differs a little because epochs are cut
 * anew (--random-offset). */
bool cov_train_steps_differ(const struct cov_train_options *o, const struct cov_train_point *p,
                            int64_t n, double *had);

#endif
