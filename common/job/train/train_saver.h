/* train_saver.h - decides which checkpoints of a training are kept and under which names, and when
 * training stops: Lightning's ModelCheckpoint and EarlyStopping as Predmoter uses them.
 *
 * The state of both is in a point's `training`, and is resumed with it. Also messages about epochs,
 * steps and checkpoints; epochs are numbered as in checkpoints and metrics, from 0.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_SAVER_H
#define COV_JOB_TRAIN_TRAIN_SAVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/ckpt/ckpt.h"
#include "common/job/train/train_ckpt.h"
#include "common/job/train/train_log.h"
#include "common/job/train/train_setup.h"

/* Prefix of the names of checkpoints of epochs; COV_CKPT_BEST is the copy of the best of them. */
#define COV_CKPT_NAME "predmoter_v0.3.2"

struct cov_train_saver {
    const char *dir; /* exists; borrowed */
    enum cov_train_quantity save_by, stop_by;
    int64_t top_k; /* number of best checkpoints to keep in addition to last.ckpt; -1: all */
    int64_t patience;
    /* The epoch of best.ckpt and its score. Set by cov_train_saver_resume and _save. */
    bool has_best;
    int64_t best_epoch;
    double best_score;
};

/* Prepares a point before training starts or resumes: drops states that belong to other metrics,
 * and checkpoints that are not in the directory. */
int cov_train_saver_begin(const struct cov_train_saver *s, struct cov_train_ckpt *p,
                          struct cov_err *e) COV_MUST_USE;

/* Called after cov_train_saver_begin for a point to resume: finds the best epoch up to this point
 * whose checkpoint is in the directory. If best.ckpt has another one, of a later epoch or by another
 * metric, replaces it. */
int cov_train_saver_resume(struct cov_train_saver *s, const struct cov_train_ckpt *p,
                           struct cov_err *e) COV_MUST_USE;

/* Evaluates the values of epoch p->epoch. Sets *stop if training should stop, also if a value is
 * not finite. */
void cov_train_saver_check(const struct cov_train_saver *s, struct cov_train_ckpt *p,
                           const double values[COV_TRAIN_QUANTITIES], bool *stop);

/* Writes the checkpoints of the point after an epoch with these values:
 * DIR/predmoter_v0.3.2_epoch=E_QUANTITY=V.ckpt, if that one is kept, DIR/best.ckpt, if no epoch
 * before was as good, and DIR/last.ckpt. A file gets its name only when it is complete. Then
 * removes checkpoints that are no longer kept. */
int cov_train_saver_save(struct cov_train_saver *s, const struct cov_train_network *n,
                         struct cov_train_ckpt *p, const double values[COV_TRAIN_QUANTITIES],
                         struct cov_err *e) COV_MUST_USE;

/* Writes last.ckpt within an epoch (p->training.part). */
int cov_train_saver_save_part(struct cov_train_saver *s, const struct cov_train_network *n,
                              const struct cov_train_ckpt *p, struct cov_err *e) COV_MUST_USE;

/* Called after the first save of a training run that replaces another run: removes checkpoints of
 * epochs in the directory that are not in this run's list, and best.ckpt if this run has not written
 * it, except the file `keep` (may be NULL). */
int cov_train_saver_clear(const struct cov_train_saver *s, const struct cov_train_ckpt *p,
                          const char *keep, struct cov_err *e) COV_MUST_USE;

/* Says which epoch was the best, and what to do with it. */
void cov_train_saver_report(const struct cov_train_saver *s);

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
