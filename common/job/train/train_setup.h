/* train_setup.h - trains a network on genome files with measured coverage, which is what covtrain
 * does: its options, and what it needs before its first step: output directory, network with initial
 * weights, data.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_TRAIN_SETUP_H
#define COV_JOB_TRAIN_TRAIN_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/cli/opt.h"
#include "common/cli/stats.h"
#include "common/compute/device_open.h"
#include "common/examples/example_batches.h"
#include "common/examples/examples.h"
#include "common/examples/ranks.h"
#include "common/file/tmpfile.h"
#include "common/input/device_options.h"
#include "common/input/loader.h"
#include "common/job/train/train_ckpt.h"
#include "common/job/train/train_log.h"
#include "common/net/shape.h"

/* Options that, if given, must not contradict the checkpoint. */
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
    COV_FIELD_WEIGHT_DECAY,
    COV_TRAIN_FIELDS
};
extern const char *const cov_train_field_names[COV_TRAIN_FIELDS]; /* "cnn-layers" */

enum cov_train_schedule { COV_SCHEDULE_CONSTANT, COV_SCHEDULE_COSINE };

struct cov_train_options {
    const char *input;  /* directory with train/ and val/ */
    const char *output; /* directory, created if missing */
    bool force;         /* replace a training in the output directory */
    /* The network, unless a checkpoint defines it. Fields in `requested` must not contradict the
     * checkpoint (COV_EINPUT); requested numbers of the optimiser override those of the
     * checkpoint. */
    struct cov_hparams hp;
    struct cov_strings datasets; /* hp.output_size of them; n = 0: all that the files have */
    double learning_rate, weight_decay;
    struct cov_strings freeze; /* layers that do not change. A resumed training must have
                                * the same ones, and keeps them if none are given */
    bool requested[COV_TRAIN_FIELDS];
    const char *resume;    /* checkpoint to resume; NULL: none */
    const char *init_from; /* checkpoint to start from; NULL: none */
    /* The data. */
    enum cov_loading loading;
    bool blacklist, in_order, random_offset;
    enum cov_example_strands strands;
    int balance_species; /* 1: yes; not with in_order */
    /* Species of the files in `input`, which then has no train/ and val/: the files of these are for
     * validation, all others for training. */
    struct cov_strings leave_out;
    const char *blacklist_path; /* regions or sequences to omit; NULL: none */
    size_t batch;               /* chunks per batch */
    size_t accumulate;          /* batches per step */
    /* Optimisation. */
    bool has_seed;
    int64_t seed;              /* a uint32_t */
    int64_t epochs, max_steps; /* max_steps 0: no limit */
    enum cov_train_schedule schedule;
    int64_t warmup_steps; /* steps in which the learning rate rises */
    double clip;          /* maximum norm of a gradient; 0: no limit */
    double
        average; /* decay of the moving average of weights that is validated and saved; 0: the weights themselves */
    const float *loss_weights; /* [hp.output_size]; NULL: all 1 */
    size_t n_loss_weights;
    /* Checkpoints and early stopping. */
    enum cov_train_quantity save_by, stop_by;
    int64_t top_k, patience;
    int64_t save_every;      /* steps after which last.ckpt is written, too; 0: only after epochs */
    double max_hours;        /* stop before this time; 0: no limit */
    const char *tensorboard; /* directory for event files; NULL: none */
    struct cov_device_options device;
    struct cov_cpu_options cpu; /* its precision applies to any device */
    bool recompute;             /* keep few activations */
    unsigned n_threads;
    uint64_t fingerprint; /* of all options that processes which train together must share */
};

/* Where data are, for messages: "data/train". */
struct cov_train_places {
    char *train, *val;
};

struct cov_train_setup {
    int lock; /* of the output directory; -1: none */
    struct cov_newdir
        directory; /* the output directory, if it was created; removed again if it stays empty */
    uint32_t seed;
    bool has_random_seed; /* the seed was not given */
    bool replaces;        /* replaces another training run in the output directory */
    bool
        has_remains; /* the output directory has metrics of a training that never wrote a checkpoint */
    struct cov_train_network network;
    struct cov_train_ckpt ckpt;
    struct cov_blacklist *list; /* NULL: none */
    struct cov_examples *train, *val;
    struct cov_train_places places;
};

/* Opens network and data. Without a checkpoint and `datasets`, chooses the datasets that files of
 * both train/ and val/ have, by name, and reports them. COV_EINPUT for a dataset that the files of
 * train/ or val/ lack; only a warning if a checkpoint has it and `datasets` names it, too.
 *
 * Does not read sequences yet (cov_examples_prepare). With several processes, the first opens the
 * output directory, and all use the seed of the first; COV_EINPUT if they have different files.
 * `{.lock = -1}` is an empty setup. Free with cov_train_setup_fini, even after a failure. */
int cov_train_setup_open(struct cov_train_setup *s, const struct cov_train_options *o,
                         struct cov_ranks *ranks, struct cov_err *e) COV_MUST_USE;
void cov_train_setup_fini(struct cov_train_setup *s);

/* Adds version, options, precision, device and the names of the files to s->network.made. Options
 * that do not change weights, and those for which a resumed training may have other values
 * (epochs), are left out, so that a resumed training writes the same bytes. */
int cov_train_provenance(struct cov_train_setup *s, const struct cov_train_options *o,
                         const struct cov_device *device, struct cov_err *e) COV_MUST_USE;

/* Trains a network. After each epoch, and after every `save_every` steps, writes the lines of
 * train_log.h, then the checkpoints of train_saver.h; an interrupted run leaves the previous ones
 * intact. The same seed gives the same bytes of weights on a CPU, or on GPUs of one kind, for any
 * number of threads; training three epochs gives the same bytes as training two and resuming for a
 * third, and as resuming from a checkpoint within an epoch. COV_EEXIST for an output directory that
 * contains a training run, unless `force` is set or `resume` is in that directory. Adds to
 * `stats` (may be NULL). */
int cov_train(const struct cov_train_options *options, struct cov_progress *progress,
              struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

#endif
