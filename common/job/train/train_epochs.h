/* train_epochs.h - trains a network on genome files with measured coverage: what covtrain does.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_EPOCHS_H
#define COV_JOB_TRAIN_TRAIN_EPOCHS_H

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/stats.h"
#include "common/job/train/train_setup.h"

/* Trains a network. After each epoch, and after every `save_every` steps, writes the lines of
 * train_log.h, then the checkpoints of train_saver.h; an interrupted run leaves the previous ones
 * intact. The same seed gives the same bytes of weights on a CPU, or on GPUs of one kind, for any
 * number of threads; training three epochs gives the same bytes as training two and resuming for a
 * third, and as resuming from a checkpoint within an epoch. COV_EEXIST for an output directory that
 * contains a training run, unless `force` is set or `resume` is in that directory. Adds to
 * `stats` (may be NULL). */
int cov_train(const struct cov_train_options *options, struct cov_progress *progress,
              struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

#endif
