/* model.h - a checkpoint as a network: hyper-parameters, parameters, names of its data sets.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_MODEL_H
#define COV_JOB_PREDICT_MODEL_H

#include "common/compute/device.h"
#include "common/net/hparams.h"

struct cov_model {
    char *path; /* as given. Owned */
    struct cov_hparams hp;
    char **datasets;     /* [hp.output_size]: not empty, all different. Owned, as is each */
    float *block;        /* parameters in the order of shape.h, 64-byte aligned. Owned */
    size_t n_parameters; /* trained ones */
    /* "bi-hybrid, 3 convolutions, 2 LSTM layers, 1.53 M parameters: atacseq, h3k4me3". Owned. */
    char *description;
};

/* Reads the checkpoint at `path`. Hyper-parameters that do not shape the network are ignored; of a
 * cnn, lstm_layers, hidden_size and dropout too. COV_EINPUT names file and hyper-parameter or
 * tensor: one that is missing, of another type or shape (both shapes are said), or that the network
 * has no place for (the norms' num_batches_tracked is passed over); hyper-parameters that make no
 * network; data sets whose number is not output_size, without a name, or twice there. Nothing
 * larger than the file is allocated. Free with cov_model_close. */
int cov_model_open(const char *path, struct cov_model **out, struct cov_err *e) COV_MUST_USE;
void cov_model_close(struct cov_model *m); /* NULL is accepted */

/* Whether the network can take chunks of L positions; COV_EINPUT says which lengths it can take, as
 * cov_shape. For knowing before a genome is read. */
int cov_model_check_length(const struct cov_model *m, size_t L, struct cov_err *e) COV_MUST_USE;

/* Lets GPUs refuse the network for chunks of L positions, or give way to the CPU, before threads are started
 * for them; does nothing on the CPU. */
int cov_model_try(const struct cov_model *m, struct cov_device *dev, size_t L,
                  struct cov_err *e) COV_MUST_USE;

struct cov_ckpt;
/* Adds to a checkpoint that is being made what cov_model_open reads of a network for chunks of L positions,
 * by Predmoter's names; datasets[output_size] are copied. */
int cov_model_add_hparams(struct cov_ckpt *c, const struct cov_hparams *hp, size_t L,
                          double learning_rate, const char *const *datasets,
                          struct cov_err *e) COV_MUST_USE;

#endif
