/* train_setup.h - what training needs before its first step: the output folder, the network with its
 * first weights, the data. For train_epochs.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_SETUP_H
#define COV_JOB_TRAIN_TRAIN_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/tmpfile.h"
#include "common/compute/device_open.h"
#include "common/job/predict/loader.h"
#include "common/job/train/examples.h"
#include "common/job/train/ranks.h"
#include "common/job/train/train_log.h"
#include "common/job/train/train_point.h"
#include "common/net/hparams.h"

/* Hyper-parameters that may be asked for, which a checkpoint must not contradict. */
enum cov_train_field {
    COV_FIELD_MODEL_TYPE,
    COV_FIELD_CNN_LAYERS,
    COV_FIELD_FILTER_SIZE,
    COV_FIELD_KERNEL_SIZE,
    COV_FIELD_STEP,
    COV_FIELD_UP,
    COV_FIELD_DILATION,
    COV_FIELD_LSTM_LAYERS,
    COV_FIELD_HIDDEN_SIZE,
    COV_FIELD_BNORM,
    COV_FIELD_DROPOUT,
    COV_FIELD_DATASETS,
    COV_FIELD_LEARNING_RATE,
    COV_TRAIN_FIELDS
};
extern const char *const cov_train_field_names[COV_TRAIN_FIELDS]; /* "cnn-layers" */

enum cov_train_schedule { COV_SCHEDULE_CONSTANT, COV_SCHEDULE_COSINE };

struct cov_train_options {
    const char *input;  /* the folder with train/ and val/ */
    const char *output; /* a folder, made if it is not there */
    bool force;         /* a training that is there already is begun afresh */
    /* The network, unless a checkpoint says it; `asked` are the fields that it must not contradict
     * (COV_EUSAGE). A learning rate that was asked for goes before that of the checkpoint. */
    struct cov_hparams hp;
    const char *const *datasets; /* [hp.output_size] */
    double learning_rate;
    bool asked[COV_TRAIN_FIELDS];
    const char *resume;    /* checkpoint to go on from; NULL: none */
    const char *init_from; /* checkpoint to begin with; NULL: none */
    /* The data. */
    enum cov_loading loading;
    bool blacklist, shuffle, pair_strands, random_offset;
    size_t batch;      /* chunks of a batch */
    size_t accumulate; /* batches of a step */
    /* The course. */
    bool has_seed;
    uint32_t seed;
    int64_t epochs, max_steps; /* max_steps 0: any number */
    enum cov_train_schedule schedule;
    int64_t warmup_steps; /* the rate rises to its full in so many steps */
    double clip;          /* norm that a gradient may have; 0: any */
    double average;       /* 0: the weights themselves are validated and saved; else their moving
                             average, which keeps so much of itself in a step */
    const float *loss_weights; /* [hp.output_size]; NULL: all 1 */
    size_t n_loss_weights;
    /* What is kept, and when it ends. */
    enum cov_train_quantity save_by, stop_by;
    int64_t top_k, patience;
    const char *tensorboard; /* folder of event files; NULL: none */
    struct cov_device_choice device;
    struct cov_cpu_options cpu; /* its precision is that of any device */
    unsigned n_threads;
};

struct cov_train_setup {
    int lock; /* on the output folder; -1: none */
    struct cov_newfolder
        folder; /* that one, if it was not there: it goes again unless something is in it */
    uint32_t seed;
    bool has_random_seed; /* nobody gave it */
    bool replaces;        /* another training that is in the output folder */
    bool has_remains;     /* metrics in the output folder of one that never had a checkpoint */
    struct cov_train_network network;
    struct cov_train_point point;
    struct cov_examples *train, *val;
};

/* All zero but lock = -1 is an empty one. Free with cov_train_setup_fini, after a failure too. Sequences
 * are not read yet (cov_examples_prepare). Of several processes the first one has the output folder, and its
 * seed is that of all. */
int cov_train_setup_open(struct cov_train_setup *s, const struct cov_train_options *o,
                         struct cov_ranks *ranks, struct cov_err *e) COV_MUST_USE;
void cov_train_setup_fini(struct cov_train_setup *s);

#endif
