/* model.h - reads a checkpoint as a network (hyperparameters, parameters, names of its datasets), and one
 * or several as an ensemble that predicts the same datasets, which is what covpredict computes.
 * SPDX-License-Identifier: MIT */
#ifndef COV_INPUT_MODEL_H
#define COV_INPUT_MODEL_H

#include "common/base/err.h"
#include "common/compute/device.h"
#include "common/file/hash.h"
#include "common/net/net.h"
#include "common/net/shape.h"

struct cov_model {
    char *path;                   /* Owned */
    char sha256[COV_SHA256_TEXT]; /* of the file */
    struct cov_hparams hp;
    char **datasets;     /* [hp.output_size]: unique, none empty. Owned, as is each */
    float *block;        /* in the order of shape.h, 64-byte aligned. Owned */
    size_t n_parameters; /* trained parameters */
    /* "bi-hybrid, 3 convolutions, 2 LSTM layers, 1.53 M parameters: atacseq, h3k4me3". Owned. */
    char *description;
};

/* Reads the checkpoint at `path`. Ignores hyperparameters that do not shape the network; for a cnn,
 * these include lstm_layers, hidden_size and dropout. COV_EINPUT for a hyperparameter or tensor
 * that is missing, of the wrong type or shape, or unknown (the message names it and the file;
 * num_batches_tracked of norms is ignored), for hyperparameters that do not make a valid network,
 * and for datasets whose number is not output_size or whose names are empty or duplicate.
 * Allocates no more than the size of the file. Free with cov_model_close. */
int cov_model_open(const char *path, struct cov_model **out, struct cov_err *e) COV_MUST_USE;
void cov_model_close(struct cov_model *m); /* NULL is accepted */

/* Checks that the network accepts chunks of L positions; COV_EINPUT lists acceptable lengths, as
 * cov_shape does. Lets the caller fail before it reads a genome. */
int cov_model_check_length(const struct cov_model *m, size_t L, struct cov_err *e) COV_MUST_USE;

struct cov_ckpt;
struct cov_params;
/* Adds the hyperparameters that cov_model_open reads to checkpoint *c, under Predmoter's names, for
 * chunks of L positions. Copies datasets[hp->output_size]. */
int cov_model_add_hparams(struct cov_ckpt *c, const struct cov_hparams *hp, size_t L,
                          double learning_rate, const char *const *datasets,
                          struct cov_err *e) COV_MUST_USE;
/* Adds the state dict: the parameters of a block, and after each norm the number of batches that it
 * saw in training, whose name ends in COV_MODEL_COUNT. */
#define COV_MODEL_COUNT ".num_batches_tracked"
int cov_model_add_tensors(struct cov_ckpt *c, const struct cov_params *params, const float *block,
                          int64_t n_batches, struct cov_err *e) COV_MUST_USE;

struct cov_ensemble {
    struct cov_model **models; /* [n] */
    size_t n;
    bool sd;
    /* [n_datasets]: of a checkpoint; with `sd`, then also NAME_sd of each. Owned, as is each */
    char **datasets;
    size_t n_datasets;
    char *path, *sha256; /* of all checkpoints, joined by commas. Owned */
    char *description;   /* as of struct cov_model. Owned */
};

/* Reads checkpoints, as cov_model_open does, to predict the means of what they predict and, with
 * `sd`, the standard deviations (net.h). COV_EUSAGE if there is only one with `sd`;
 * COV_EINPUT if two are the same or their datasets differ. Free with cov_ensemble_close. */
int cov_ensemble_open(const char *const *paths, size_t n, bool sd, struct cov_ensemble **out,
                      struct cov_err *e) COV_MUST_USE;
void cov_ensemble_close(struct cov_ensemble *m); /* NULL is accepted */

/* cov_model_check_length for each checkpoint. */
int cov_ensemble_check_length(const struct cov_ensemble *m, size_t L,
                              struct cov_err *e) COV_MUST_USE;

/* Lets GPUs reject the networks for chunks of L positions, or fall back to the CPU, before any
 * threads are started for them. Does nothing on the CPU. */
int cov_ensemble_try(const struct cov_ensemble *m, struct cov_device *dev, size_t L,
                     struct cov_err *e) COV_MUST_USE;

/* cov_net_new_ensemble for these networks. */
int cov_ensemble_net(const struct cov_ensemble *m, struct cov_device *dev, struct cov_net_size size,
                     struct cov_net **out, struct cov_err *e) COV_MUST_USE;

#endif
