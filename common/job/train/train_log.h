/* train_log.h - what training writes beside checkpoints: metrics.log (Predmoter's columns),
 * metrics.jsonl (a line a step, a line an epoch), and TensorBoard's events.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_LOG_H
#define COV_JOB_TRAIN_TRAIN_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"

/* Of an epoch, by Predmoter's names. */
enum cov_train_quantity { COV_VAL_LOSS, COV_VAL_ACCURACY, COV_TRAIN_LOSS, COV_TRAIN_ACCURACY };
enum { COV_TRAIN_QUANTITIES = 4 };
extern const char *const cov_train_quantity_names[COV_TRAIN_QUANTITIES + 1]; /* "avg_val_loss" */

struct cov_train_step {
    int64_t step; /* the first is 1 */
    double loss, accuracy, learning_rate;
};

/* The table of epochs, in the folder. */
#define COV_TRAIN_TABLE "metrics.log"

/* Whether a table has anything but its head: false for what a training leaves that ends in its first epoch.
 * True if it cannot be read. */
bool cov_train_log_has_epochs(const char *path);

struct cov_train_log;

/* Opens the logs in the folder `dir`. Of what is there, the epochs up to `epoch` and the steps up to
 * `step` are kept (both of the point that is gone on from; -1 and 0 for none). With `replaces`,
 * what is there stays until the first epoch is complete, and for good if none is. `events` (may be NULL): the
 * folder of events, in which the steps after `step` are no longer shown. Free with cov_train_log_close. */
int cov_train_log_open(const char *dir, const char *events, int64_t epoch, int64_t step,
                       bool replaces, struct cov_train_log **out, struct cov_err *e) COV_MUST_USE;
int cov_train_log_step(struct cov_train_log *l, const struct cov_train_step *s,
                       struct cov_err *e) COV_MUST_USE;
/* Flushes, too. `step`: the last one. */
int cov_train_log_epoch(struct cov_train_log *l, int64_t epoch, int64_t step,
                        const double values[COV_TRAIN_QUANTITIES], struct cov_err *e) COV_MUST_USE;
/* Flushes and closes; frees *l in any case. A failure before is one again. NULL is accepted. */
int cov_train_log_close(struct cov_train_log *l, struct cov_err *e) COV_MUST_USE;

#endif
