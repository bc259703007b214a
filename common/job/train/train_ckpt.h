/* train_ckpt.h - the network of a training, a point from which training can resume, and its
 * checkpoint.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_CKPT_H
#define COV_JOB_TRAIN_TRAIN_CKPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/ckpt/ckpt.h"
#include "common/net/shape.h"
#include "common/net/train.h"

/* A larger weight decay means damage. */
#define COV_TRAIN_MAX_DECAY 1000.0

/* The network that is trained. */
struct cov_train_network {
    struct cov_hparams hp;
    char **datasets; /* [hp.output_size]. Owned, as is each */
    double learning_rate;
    bool *frozen;             /* [params.n_items]: parameters that do not change. Owned */
    size_t L;                 /* positions per chunk */
    struct cov_ckpt made;     /* only `made` is used: how it is trained. Owned */
    struct cov_params params; /* of hp. Owned */
};

/* Copies the names and builds the table of parameters. hp must be valid (cov_hparams_check). */
int cov_train_network_init(struct cov_train_network *n, const struct cov_hparams *hp,
                           const char *const *datasets, double learning_rate, size_t L,
                           struct cov_err *e) COV_MUST_USE;
void cov_train_network_fini(struct cov_train_network *n); /* accepts an all-zero struct */

/* Layers whose weights do not change: covtrain's --freeze. A layer is a module of PyTorch, named as in
 * the state dict: "down_layer_list.0". Groups of layers are "conv" (convolutions and their norms),
 * "lstm" and "linear". */

/* Sets frozen[i] to whether parameter i of the table is trained otherwise, and belongs to one of
 * the n layers or groups.
 * COV_EINPUT for a name that the network does not have, listing its layers, and if all parameters
 * would be frozen. */
int cov_freeze_parse(const struct cov_params *params, const char *const *names, size_t n,
                     bool *frozen, struct cov_err *e) COV_MUST_USE;

/* Returns the names of frozen layers, or of groups where all layers are frozen, separated by
 * commas; empty without any. Caller frees. NULL without memory. */
char *cov_freeze_text(const struct cov_params *params, const bool *frozen,
                      struct cov_err *e) COV_MUST_USE;

struct cov_train_ckpt {
    int64_t epoch;     /* last complete epoch; -1: none */
    int64_t n_batches; /* seen by the norms, over all epochs */
    bool has_moments;  /* the optimiser has a state */
    bool has_average;
    bool has_scaled_targets;      /* was trained with --target-scale, which earlier versions had */
    struct cov_train_state state; /* arrays of n_floats. Owned */
    struct cov_ckpt_training training; /* stopping, saving, seed, loops, rates, and the part of
                                        * epoch + 1 that is done, if any. Owned */
};

/* Allocates the state of a network. */
int cov_train_ckpt_init(struct cov_train_ckpt *p, const struct cov_train_network *n,
                        struct cov_err *e) COV_MUST_USE;
void cov_train_ckpt_fini(struct cov_train_ckpt *p); /* accepts an all-zero struct */

/* Reads a checkpoint of Predmoter or covtrain: its network for chunks of L positions, and its
 * point. With averaged weights, state.block has the weights being trained and state.average
 * those of the state dict. n->frozen is true for the parameters of layers without a state of the
 * optimiser, if others have one. COV_EINPUT as for cov_model_open, and for an optimiser state that
 * does not match the network or lacks part of a layer. */
int cov_train_ckpt_read(const char *path, size_t L, struct cov_train_network *n,
                        struct cov_train_ckpt *p, struct cov_err *e) COV_MUST_USE;

/* Writes a checkpoint to `path` (the temporary name of an outfile) and verifies it. */
int cov_train_ckpt_write(const char *path, const struct cov_train_network *n,
                         const struct cov_train_ckpt *p, struct cov_err *e) COV_MUST_USE;

#endif
