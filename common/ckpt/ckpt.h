/* ckpt.h - PyTorch Lightning 2 checkpoints, as Predmoter writes and reads them.
 *
 * Reads what prediction needs, the hyperparameters and the state dict; and, separately, the
 * state of training. torch_file.h gives access to the rest. The network, not this file, checks that
 * the tensors fit the hyperparameters.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_CKPT_H
#define COV_CKPT_CKPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/ckpt/torch_file.h"

/* covtrain's copy of its best checkpoint. */
#define COV_CKPT_BEST "best.ckpt"

enum cov_hparam_kind {
    COV_HPARAM_NONE,
    COV_HPARAM_BOOL,
    COV_HPARAM_INT,
    COV_HPARAM_FLOAT,
    COV_HPARAM_STRING,
    COV_HPARAM_STRINGS, /* a list or tuple of strings, possibly empty */
    COV_HPARAM_OTHER,   /* anything else: only its type is kept */
};

/* The key of the part of an epoch that is done (struct cov_ckpt_part). */
#define COV_CKPT_PART "covtools_epoch"

struct cov_hparam {
    char *name; /* Owned */
    enum cov_hparam_kind kind;
    bool boolean;    /* BOOL */
    int64_t integer; /* INT */
    double number;   /* FLOAT; also INT, so that 0 is accepted for 0.0 */
    char *string;    /* STRING; OTHER: its type, for messages ("dict"). Owned */
    char **strings;  /* STRINGS: [n_strings]. Owned, like each string */
    size_t n_strings;
};

struct cov_ckpt {
    int64_t epoch, global_step;
    char *lightning_version;    /* "2.0.2". Owned */
    struct cov_hparam *hparams; /* [n_hparams] in the file's order. Owned */
    size_t n_hparams;
    struct cov_torch_tensor *tensors; /* the state dict: [n_tensors] in the file's order. Owned */
    size_t n_tensors;
    struct cov_hparam *made; /* how covtools made it, in the dict "covtools": [n_made]. Owned */
    size_t n_made;
    /* Of a checkpoint that was read: */
    bool has_optimiser; /* it has the state of an optimiser */
    bool within_epoch;  /* its epoch is not complete */
};

#define COV_CKPT_INIT                                                                              \
    {                                                                                              \
        .epoch = 0                                                                                 \
    }

/* Reads a checkpoint. Names of tensors lose the prefixes of wrappers (torch.compile's "_orig_mod.",
 * DistributedDataParallel's "module."). Free *out with cov_ckpt_free. Fails like cov_torch_open; also fails with
 * COV_EINPUT for a missing epoch, global_step, pytorch-lightning_version, state_dict or
 * hyper_parameters; a duplicate name; a state_dict item that is not a tensor; and a weight that
 * is NaN or infinite. The message names the file and the key or tensor. */
int cov_ckpt_read(const char *path, struct cov_ckpt **out, struct cov_err *e) COV_MUST_USE;

/* Writes a checkpoint to `path` (the temporary name of an outfile) that torch.load and
 * Predmoter's LitHybridNet.load_from_checkpoint can open. Floating-point tensors are written as
 * float32, others as int64, each in its own storage. Loops, callbacks, optimiser states and
 * schedulers are empty. The same contents give the same bytes. Refuses what cov_ckpt_read would
 * refuse: fails with COV_EINPUT for a weight that is NaN or infinite and for a duplicate name.
 * Fails with COV_EUNSUPPORTED for a hyperparameter of kind OTHER. */
int cov_ckpt_write(const char *path, const struct cov_ckpt *c, struct cov_err *e) COV_MUST_USE;

void cov_ckpt_fini(struct cov_ckpt *c); /* frees what *c owns */
void cov_ckpt_free(struct cov_ckpt *c); /* frees *c too. NULL is accepted */

/* Find an item by name; return NULL if there is none. Borrowed until free. */
const struct cov_hparam *cov_ckpt_hparam(const struct cov_ckpt *c, const char *name);
const struct cov_torch_tensor *cov_ckpt_tensor(const struct cov_ckpt *c, const char *name);

/* Fails with COV_EINPUT if two hyperparameters or two tensors have the same name. */
int cov_ckpt_check_names(const struct cov_ckpt *c, struct cov_err *e) COV_MUST_USE;

/* Build a checkpoint, starting from COV_CKPT_INIT or from one that was read. Copy all texts. */
int cov_ckpt_set_version(struct cov_ckpt *c, const char *lightning_version,
                         struct cov_err *e) COV_MUST_USE;
int cov_ckpt_add_bool(struct cov_ckpt *c, const char *name, bool value,
                      struct cov_err *e) COV_MUST_USE;
int cov_ckpt_add_int(struct cov_ckpt *c, const char *name, int64_t value,
                     struct cov_err *e) COV_MUST_USE;
int cov_ckpt_add_float(struct cov_ckpt *c, const char *name, double value,
                       struct cov_err *e) COV_MUST_USE;
int cov_ckpt_add_string(struct cov_ckpt *c, const char *name, const char *value,
                        struct cov_err *e) COV_MUST_USE;
int cov_ckpt_add_strings(struct cov_ckpt *c, const char *name, const char *const *values, size_t n,
                         struct cov_err *e) COV_MUST_USE;
/* Adds a fact about how the checkpoint was made, such as "version". */
int cov_ckpt_add_made(struct cov_ckpt *c, const char *name, const char *value,
                      struct cov_err *e) COV_MUST_USE;
/* Adds a tensor of zeros, FLOAT32 or INT64; the caller fills (*out)->f32 or i64. *out is valid
 * until the next call. */
int cov_ckpt_add_tensor(struct cov_ckpt *c, const char *name, enum cov_torch_dtype dtype,
                        int n_dims, const int64_t *shape, struct cov_torch_tensor **out,
                        struct cov_err *e) COV_MUST_USE;

/* ---- the state of training ----
 *
 * From it, Predmoter (PyTorch Lightning 2) and covtrain resume: optimizer_states (Adam), callbacks
 * (EarlyStopping, ModelCheckpoint, the seed) and loops. If state_dict holds averaged weights,
 * current_model_state holds the weights being trained, as in checkpoints of Lightning's
 * WeightAveraging callback. */

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
