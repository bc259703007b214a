/* train_point.h - a point of training that can be gone on from, and its checkpoint.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_POINT_H
#define COV_JOB_TRAIN_TRAIN_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/ckpt/ckpt_training.h"
#include "common/net/hparams.h"
#include "common/net/shape.h"
#include "common/net/train.h"

/* What is trained. */
struct cov_train_network {
    struct cov_hparams hp;
    char **datasets; /* [hp.output_size]. Owned, as is each */
    double learning_rate;
    size_t L;                 /* positions of a chunk */
    struct cov_params params; /* of hp. Owned */
};

/* Copies the names and makes the table. hp is sound (cov_hparams_check). */
int cov_train_network_init(struct cov_train_network *n, const struct cov_hparams *hp,
                           const char *const *datasets, double learning_rate, size_t L,
                           struct cov_err *e) COV_MUST_USE;
void cov_train_network_fini(struct cov_train_network *n); /* harmless on zeros */

struct cov_train_point {
    int64_t epoch;     /* the last one that is complete; -1: none */
    int64_t n_batches; /* that the norms have seen, over all epochs */
    bool has_moments;  /* of the optimiser */
    bool has_average;
    struct cov_train_state state;      /* arrays of n_floats. Owned */
    struct cov_ckpt_training training; /* of it: stopping, saving, seed, loops, rates. Owned */
};

/* Room for the state of a network. */
int cov_train_point_init(struct cov_train_point *p, const struct cov_train_network *n,
                         struct cov_err *e) COV_MUST_USE;
void cov_train_point_fini(struct cov_train_point *p); /* harmless on zeros */

/* Reads a checkpoint, of Predmoter's or ours: its network for chunks of L, and its point. With averaged
 * weights the ones in training are the point's, and those of the state dict the average. COV_EINPUT as
 * cov_model_open, and for states of the optimiser that do not fit the network. */
int cov_train_point_read(const char *path, size_t L, struct cov_train_network *n,
                         struct cov_train_point *p, struct cov_err *e) COV_MUST_USE;

/* Writes it to `path` (an outfile's temporary name) and reads it back. */
int cov_train_point_write(const char *path, const struct cov_train_network *n,
                          const struct cov_train_point *p, struct cov_err *e) COV_MUST_USE;

#endif
