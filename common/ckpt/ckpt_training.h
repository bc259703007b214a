/* ckpt_training.h - the state of training in a checkpoint, from which Predmoter (PyTorch Lightning
 * 2) and covtrain resume: optimizer_states (Adam), callbacks (EarlyStopping, ModelCheckpoint, the
 * seed) and loops. If state_dict holds averaged weights, current_model_state holds the weights
 * being trained, as in checkpoints of Lightning's WeightAveraging callback.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_CKPT_TRAINING_H
#define COV_CKPT_CKPT_TRAINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/ckpt/ckpt.h"

/* Adam's state of one tensor. */
struct cov_ckpt_moments {
    double step;
    struct cov_torch_tensor mean, square; /* exp_avg, exp_avg_sq. Owned. Without elements: no
                                           * state, since the parameter is frozen */
};

struct cov_ckpt_adam {
    bool is_there;
    double learning_rate, beta1, beta2, eps, weight_decay; /* decoupled, as in AdamW */
    size_t n_params;                  /* trained tensors, in state dict order */
    struct cov_ckpt_moments *moments; /* [n_params]; NULL before the first step. Owned */
};

/* EarlyStopping. */
struct cov_ckpt_stopping {
    bool is_there;
    char *monitor; /* "avg_train_loss". Owned */
    bool is_max;   /* true: larger is better */
    int64_t wait_count, stopped_epoch, patience;
    double best_score;
};

/* A saved checkpoint. */
struct cov_ckpt_saved {
    char *path; /* Owned */
    double score;
};

/* ModelCheckpoint. */
struct cov_ckpt_saving {
    bool is_there;
    char *monitor; /* Owned, like the strings below */
    bool is_max;
    double best_score, current_score, kth_score;
    char *dir, *best_path, *kth_path, *last_path;
    struct cov_ckpt_saved *saved; /* [n_saved]. Owned */
    size_t n_saved;
};

/* The part of an epoch that is done, in a checkpoint that covtrain wrote within the epoch. */
struct cov_ckpt_part {
    bool is_there;
    int64_t n_batches, n_steps;
    int64_t plan;                  /* fingerprint of the batches of the epoch */
    double loss, accuracy, chunks; /* sums over the batches that have a target */
};

struct cov_ckpt_training {
    struct cov_ckpt_adam adam;
    struct cov_ckpt_stopping stopping;
    struct cov_ckpt_saving saving;
    bool has_seed;
    uint32_t seed;
    struct cov_ckpt_part part;
    /* From the loops: training batches in all complete epochs and in the last one; validation
     * batches; steps in the last epoch. */
    int64_t n_batches, n_epoch_batches, n_val_batches, n_epoch_steps;
    struct cov_torch_tensor *current; /* [n_current], like cov_ckpt.tensors. Owned */
    size_t n_current;
};

/* An all-zero struct is empty. */
void cov_ckpt_training_fini(struct cov_ckpt_training *t);

/* Frees the tensors in adam.moments and current. Call it once they are no longer needed. */
void cov_ckpt_training_forget(struct cov_ckpt_training *t);

/* Reads the state from the checkpoint at `path` into *out. Missing parts stay empty. Fails with
 * COV_EINPUT if the file is damaged or the optimiser is not Adam. */
int cov_ckpt_read_training(const char *path, struct cov_ckpt_training *out,
                           struct cov_err *e) COV_MUST_USE;

/* Like cov_ckpt_write, but also writes the state of training *t. The states of the random number
 * generators of Python, NumPy and PyTorch, which Predmoter requires, are those right after
 * seeding. */
int cov_ckpt_write_training(const char *path, const struct cov_ckpt *c,
                            const struct cov_ckpt_training *t, struct cov_err *e) COV_MUST_USE;

#endif
