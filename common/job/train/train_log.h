/* train_log.h - the logs of a training run: metrics.log (Predmoter's columns), metrics.jsonl (a
 * line per step and per epoch), runs.jsonl (a line per checkpoint: the totals of all runs), and
 * TensorBoard's events.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_LOG_H
#define COV_JOB_TRAIN_TRAIN_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"

/* Metrics of an epoch, by Predmoter's names. */
enum cov_train_quantity { COV_VAL_LOSS, COV_VAL_ACCURACY, COV_TRAIN_LOSS, COV_TRAIN_ACCURACY };
enum { COV_TRAIN_QUANTITIES = 4 };
extern const char *const cov_train_quantity_names[COV_TRAIN_QUANTITIES + 1]; /* "avg_val_loss" */

struct cov_train_step {
    int64_t step; /* the first is 1 */
    double loss, accuracy, learning_rate;
};

/* The table of epochs. */
#define COV_TRAIN_TABLE "metrics.log"

/* Returns true if a table has epochs after the first, or cannot be read; false for the table of a
 * training that ended before its first checkpoint, which is written after the epoch is logged. */
bool cov_train_log_has_epochs(const char *path);

/* What all runs of a training have computed until a step. */
struct cov_train_totals {
    int64_t n_runs, chunks, bases;
    double wall_seconds, cpu_seconds;
};

/* Reads what is logged next to a checkpoint for its epoch and step, from which another run resumes.
 * Values stay as they are, and *totals is zero, where there is nothing. */
int cov_train_log_read(const char *ckpt, int64_t epoch, int64_t step,
                       double values[COV_TRAIN_QUANTITIES], struct cov_train_totals *totals,
                       struct cov_err *e) COV_MUST_USE;

struct cov_train_log;

/* Opens the logs in the directory `dir`. Keeps existing epochs up to `epoch` and steps up to `step`,
 * those of the point to resume (-1 and 0: keep none). With `replaces`, existing logs stay until
 * cov_train_log_commit. `events` (may be NULL): directory for TensorBoard's events, where steps
 * after `step` are hidden. Free with cov_train_log_close. */
int cov_train_log_open(const char *dir, const char *events, int64_t epoch, int64_t step,
                       bool replaces, struct cov_train_log **out, struct cov_err *e) COV_MUST_USE;
int cov_train_log_step(struct cov_train_log *l, const struct cov_train_step *s,
                       struct cov_err *e) COV_MUST_USE;
/* Adds an epoch. `step` is the last step of the epoch. */
int cov_train_log_epoch(struct cov_train_log *l, int64_t epoch, int64_t step,
                        const double values[COV_TRAIN_QUANTITIES], struct cov_err *e) COV_MUST_USE;
/* Adds the totals of earlier runs and of this run up to a step. */
int cov_train_log_totals(struct cov_train_log *l, int64_t step,
                         const struct cov_train_totals *earlier, const struct cov_train_totals *run,
                         struct cov_err *e) COV_MUST_USE;
/* Writes to disk what was added. Call it before a checkpoint is written: the logs then have all that
 * it has, and cov_train_log_open drops what it lacks. */
int cov_train_log_sync(struct cov_train_log *l, struct cov_err *e) COV_MUST_USE;
/* Replaces existing logs. */
int cov_train_log_commit(struct cov_train_log *l, struct cov_err *e) COV_MUST_USE;
/* Flushes and closes; also reports earlier write errors. Frees *l, even on failure. NULL is
 * accepted. */
int cov_train_log_close(struct cov_train_log *l, struct cov_err *e) COV_MUST_USE;

#endif
