/* train_saver.h - which checkpoints of a training are kept, under which names, and when it is to stop:
 * what Lightning's ModelCheckpoint and EarlyStopping do for Predmoter.
 *
 * The state of both is in a point's `training`, so that it goes on with it.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_SAVER_H
#define COV_JOB_TRAIN_TRAIN_SAVER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/train/train_log.h"
#include "common/job/train/train_point.h"

/* Of which a checkpoint's name begins. */
#define COV_CKPT_NAME "predmoter_v0.3.2"

struct cov_train_saver {
    const char *dir; /* that exists; borrowed */
    enum cov_train_quantity save_by, stop_by;
    int64_t top_k; /* checkpoints that are kept beside last.ckpt, the best ones; -1: all */
    int64_t patience;
};

/* Of a point that training begins or goes on from: states that are of other quantities, and checkpoints
 * that are not in the folder, are forgotten. Their names are kept without it. */
int cov_train_saver_begin(const struct cov_train_saver *s, struct cov_train_point *p,
                          struct cov_err *e) COV_MUST_USE;

/* The epoch p->epoch had these values: *stop says whether to stop, in place of more epochs. A value
 * that is not finite stops, too. */
void cov_train_saver_judge(const struct cov_train_saver *s, struct cov_train_point *p,
                           const double values[COV_TRAIN_QUANTITIES], bool *stop);

/* Writes the checkpoints of the point after its epoch with these values: DIR/predmoter_v0.3.2_epoch=E_
 * QUANTITY=V.ckpt, if it is to be kept, and DIR/last.ckpt; each appears whole under its name, and only
 * then what is no longer kept is removed. */
int cov_train_saver_save(const struct cov_train_saver *s, const struct cov_train_network *n,
                         struct cov_train_point *p, const double values[COV_TRAIN_QUANTITIES],
                         struct cov_err *e) COV_MUST_USE;

/* Behind the first save of a training in place of another one: removes the checkpoints of epochs that are in
 * the folder and not this one's, but the file `keep` (may be NULL). */
int cov_train_saver_clear(const struct cov_train_saver *s, const struct cov_train_point *p,
                          const char *keep, struct cov_err *e) COV_MUST_USE;

#endif
