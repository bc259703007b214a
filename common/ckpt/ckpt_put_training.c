/* ckpt_put_training.c - see ckpt_training.h: the state of training as Lightning 2 has it in a
 * checkpoint.
 *
 * Lightning's trainer/connectors/checkpoint_connector.py, and the state_dict functions of loops and
 * callbacks, say what is there; reference checkpoints of Predmoter's, in which order.
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/ckpt/ckpt_private.h"
#include "common/ckpt/ckpt_training.h"
#include "common/ckpt/mt19937.h"

static void begin_dict(struct cov_pickle_writer *w, const char *key)
{
    cov_pickle_text(w, key);
    cov_pickle_begin_dict(w);
}

static void put_empty(struct cov_pickle_writer *w, const char *key)
{
    begin_dict(w, key);
    cov_pickle_end_dict(w);
}

static void put_int(struct cov_pickle_writer *w, const char *key, int64_t value)
{
    cov_pickle_text(w, key);
    cov_pickle_int(w, value);
}

static void put_bool(struct cov_pickle_writer *w, const char *key, bool value)
{
    cov_pickle_text(w, key);
    cov_pickle_bool(w, value);
}

static void put_text(struct cov_pickle_writer *w, const char *key, const char *value)
{
    cov_pickle_text(w, key);
    cov_pickle_text(w, value ? value : "");
}

/* A tensor without dimensions. */
static void put_scalar(struct cov_ckpt_put *p, double value, struct cov_ckpt_scratch *scratch)
{
    assert(scratch->n_scalars < scratch->cap_scalars);
    float *at = &scratch->scalars[scratch->n_scalars++];
    *at = (float)value;
    cov_ckpt_put_tensor(p, "FloatStorage", sizeof *at, 1, 0, NULL, at);
}

/* ---------------------------------------------------------------- loops */

enum counts { READY = 1, COMPLETED = 2, STARTED = 4, PROCESSED = 8 };

static void put_counts(struct cov_pickle_writer *w, const char *key, unsigned which, int64_t n,
                       int64_t n_completed)
{
    begin_dict(w, key);
    put_int(w, "ready", n);
    put_int(w, "completed", n_completed);
    if (which & STARTED)
        put_int(w, "started", n);
    if (which & PROCESSED)
        put_int(w, "processed", n);
    cov_pickle_end_dict(w);
}

/* {"total": ..., "current": ...} without its end. */
static void begin_progress(struct cov_pickle_writer *w, const char *key, unsigned which,
                           int64_t total, int64_t current)
{
    begin_dict(w, key);
    put_counts(w, "total", which, total, total);
    put_counts(w, "current", which, current, current);
}

static void put_progress(struct cov_pickle_writer *w, const char *key, unsigned which,
                         int64_t total, int64_t current)
{
    begin_progress(w, key, which, total, current);
    cov_pickle_end_dict(w);
}

static void put_batches(struct cov_pickle_writer *w, const char *key, int64_t total,
                        int64_t current, bool is_last)
{
    begin_progress(w, key, STARTED | PROCESSED, total, current);
    put_bool(w, "is_last_batch", is_last);
    cov_pickle_end_dict(w);
}

static void put_fit_loop(struct cov_pickle_writer *w, const struct cov_ckpt *c,
                         const struct cov_ckpt_training *t)
{
    begin_dict(w, "fit_loop");
    put_empty(w, "state_dict");
    begin_dict(w, "epoch_loop.state_dict");
    put_int(w, "_batches_that_stepped", c->global_step);
    cov_pickle_end_dict(w);
    put_batches(w, "epoch_loop.batch_progress", t->n_batches, t->n_epoch_batches, true);
    put_progress(w, "epoch_loop.scheduler_progress", 0, 0, 0);
    put_empty(w, "epoch_loop.automatic_optimization.state_dict");
    begin_dict(w, "epoch_loop.automatic_optimization.optim_progress");
    begin_dict(w, "optimizer");
    put_progress(w, "step", 0, c->global_step, t->n_epoch_steps);
    put_progress(w, "zero_grad", STARTED, c->global_step, t->n_epoch_steps);
    cov_pickle_end_dict(w);
    cov_pickle_end_dict(w);
    put_empty(w, "epoch_loop.manual_optimization.state_dict");
    put_progress(w, "epoch_loop.manual_optimization.optim_step_progress", 0, 0, 0);
    put_empty(w, "epoch_loop.val_loop.state_dict");
    put_batches(w, "epoch_loop.val_loop.batch_progress", t->n_val_batches, t->n_val_batches, true);
    /* At the time of saving the epoch is not completed yet. */
    begin_dict(w, "epoch_progress");
    put_counts(w, "total", STARTED | PROCESSED, c->epoch + 1, c->epoch);
    put_counts(w, "current", STARTED | PROCESSED, c->epoch + 1, c->epoch);
    cov_pickle_end_dict(w);
    cov_pickle_end_dict(w);
}

static void put_loops(struct cov_pickle_writer *w, const struct cov_ckpt *c,
                      const struct cov_ckpt_training *t)
{
    static const char *const others[] = {"validate_loop", "test_loop"};
    begin_dict(w, "loops");
    if (t) {
        put_fit_loop(w, c, t);
        for (size_t i = 0; i < COV_COUNT(others); i++) {
            begin_dict(w, others[i]);
            put_empty(w, "state_dict");
            put_batches(w, "batch_progress", 0, 0, false);
            cov_pickle_end_dict(w);
        }
        begin_dict(w, "predict_loop");
        put_empty(w, "state_dict");
        put_progress(w, "batch_progress", STARTED | PROCESSED, 0, 0);
        cov_pickle_end_dict(w);
    }
    cov_pickle_end_dict(w);
}

/* ---------------------------------------------------------------- callbacks */

/* PyTorch's generator on the CPU after manual_seed: seed, 1 number left, seeded, the next one, the
 * state in words of 64 bits, and nothing of normal numbers. */
static int put_torch_rng(struct cov_ckpt_put *p, uint32_t seed, struct cov_ckpt_scratch *scratch,
                         struct cov_err *e)
{
    enum { BYTES = 5056, HEAD = 24 };
    static const int64_t shape[] = {BYTES};
    uint32_t state[COV_MT19937_N];
    scratch->torch_rng = cov_calloc(BYTES, 1, e);
    if (!scratch->torch_rng)
        return COV_ENOMEM;
    const uint64_t seed64 = seed;
    const int32_t ones[2] = {1, 1};
    memcpy(scratch->torch_rng, &seed64, sizeof seed64);
    memcpy(scratch->torch_rng + sizeof seed64, ones, sizeof ones);
    cov_mt19937_seed(seed, state);
    for (size_t i = 0; i < COV_MT19937_N; i++)
        memcpy(scratch->torch_rng + HEAD + 8 * i, &state[i], sizeof state[i]);
    cov_pickle_text(&p->w, "torch");
    cov_ckpt_put_tensor(p, "ByteStorage", 1, BYTES, 1, shape, scratch->torch_rng);
    return COV_OK;
}

static void put_numpy_rng(struct cov_pickle_writer *w, uint32_t seed)
{
    uint32_t state[COV_MT19937_N];
    cov_mt19937_seed(seed, state);
    cov_pickle_text(w, "numpy");
    cov_pickle_begin_tuple(w);
    cov_pickle_text(w, "MT19937");
    cov_pickle_begin_list(w);
    for (size_t i = 0; i < COV_MT19937_N; i++)
        cov_pickle_int(w, state[i]);
    cov_pickle_end_list(w);
    cov_pickle_int(w, COV_MT19937_N);
    cov_pickle_int(w, 0);
    cov_pickle_float(w, 0);
    cov_pickle_end_tuple(w);
}

static void put_python_rng(struct cov_pickle_writer *w, uint32_t seed)
{
    uint32_t state[COV_MT19937_N];
    cov_mt19937_seed_array(seed, state);
    cov_pickle_text(w, "random");
    cov_pickle_begin_tuple(w);
    cov_pickle_int(w, 3);
    cov_pickle_begin_tuple(w);
    for (size_t i = 0; i < COV_MT19937_N; i++)
        cov_pickle_int(w, state[i]);
    cov_pickle_int(w, COV_MT19937_N);
    cov_pickle_end_tuple(w);
    cov_pickle_none(w);
    cov_pickle_end_tuple(w);
}

static int put_seed(struct cov_ckpt_put *p, uint32_t seed, struct cov_ckpt_scratch *scratch,
                    struct cov_err *e)
{
    struct cov_pickle_writer *w = &p->w;
    begin_dict(w, "SeedCallback");
    put_int(w, "seed", seed);
    begin_dict(w, "rng_states");
    int rc = put_torch_rng(p, seed, scratch, e);
    put_numpy_rng(w, seed);
    put_python_rng(w, seed);
    cov_pickle_end_dict(w);
    cov_pickle_end_dict(w);
    return rc;
}

static void put_stopping(struct cov_ckpt_put *p, const struct cov_ckpt_stopping *s,
                         struct cov_ckpt_scratch *scratch)
{
    struct cov_pickle_writer *w = &p->w;
    char key[200];
    (void)snprintf(key, sizeof key, "EarlyStopping{'monitor': '%s', 'mode': '%s'}", s->monitor,
                   s->is_max ? "max" : "min");
    begin_dict(w, key);
    put_int(w, "wait_count", s->wait_count);
    put_int(w, "stopped_epoch", s->stopped_epoch);
    cov_pickle_text(w, "best_score");
    put_scalar(p, s->best_score, scratch);
    put_int(w, "patience", s->patience);
    cov_pickle_end_dict(w);
}

static void put_saving(struct cov_ckpt_put *p, const struct cov_ckpt_saving *s,
                       struct cov_ckpt_scratch *scratch)
{
    struct cov_pickle_writer *w = &p->w;
    char key[300];
    (void)snprintf(key, sizeof key,
                   "ModelCheckpoint{'monitor': '%s', 'mode': '%s', 'every_n_train_steps': 0, "
                   "'every_n_epochs': 1, 'train_time_interval': None}",
                   s->monitor, s->is_max ? "max" : "min");
    begin_dict(w, key);
    put_text(w, "monitor", s->monitor);
    cov_pickle_text(w, "best_model_score");
    put_scalar(p, s->best_score, scratch);
    put_text(w, "best_model_path", s->best_path);
    cov_pickle_text(w, "current_score");
    put_scalar(p, s->current_score, scratch);
    put_text(w, "dirpath", s->dir);
    begin_dict(w, "best_k_models");
    for (size_t i = 0; i < s->n_saved; i++) {
        cov_pickle_text(w, s->saved[i].path);
        put_scalar(p, s->saved[i].score, scratch);
    }
    cov_pickle_end_dict(w);
    put_text(w, "kth_best_model_path", s->kth_path);
    cov_pickle_text(w, "kth_value");
    put_scalar(p, s->kth_score, scratch);
    put_text(w, "last_model_path", s->last_path);
    cov_pickle_end_dict(w);
}

/* ---------------------------------------------------------------- the optimiser */

static void put_group(struct cov_pickle_writer *w, const struct cov_ckpt_adam *a)
{
    static const struct {
        const char *key;
        bool none;
    } flags[] = {{"amsgrad", false},    {"maximize", false},       {"foreach", true},
                 {"capturable", false}, {"differentiable", false}, {"fused", true}};
    cov_pickle_begin_dict(w);
    cov_pickle_text(w, "lr");
    cov_pickle_float(w, a->learning_rate);
    cov_pickle_text(w, "betas");
    cov_pickle_begin_tuple(w);
    cov_pickle_float(w, a->beta1);
    cov_pickle_float(w, a->beta2);
    cov_pickle_end_tuple(w);
    cov_pickle_text(w, "eps");
    cov_pickle_float(w, a->eps);
    put_int(w, "weight_decay", 0);
    for (size_t i = 0; i < COV_COUNT(flags); i++) {
        cov_pickle_text(w, flags[i].key);
        if (flags[i].none)
            cov_pickle_none(w);
        else
            cov_pickle_bool(w, false);
    }
    cov_pickle_text(w, "params");
    cov_pickle_begin_list(w);
    for (size_t i = 0; i < a->n_params; i++)
        cov_pickle_int(w, (int64_t)i);
    cov_pickle_end_list(w);
    cov_pickle_end_dict(w);
}

static void put_adam(struct cov_ckpt_put *p, const struct cov_ckpt_adam *a,
                     struct cov_ckpt_scratch *scratch)
{
    struct cov_pickle_writer *w = &p->w;
    cov_pickle_begin_dict(w);
    begin_dict(w, "state");
    for (size_t i = 0; a->moments && i < a->n_params; i++) {
        cov_pickle_int(w, (int64_t)i);
        cov_pickle_begin_dict(w);
        cov_pickle_text(w, "step");
        put_scalar(p, a->moments[i].step, scratch);
        cov_pickle_text(w, "exp_avg");
        cov_ckpt_put_torch(p, &a->moments[i].mean);
        cov_pickle_text(w, "exp_avg_sq");
        cov_ckpt_put_torch(p, &a->moments[i].square);
        cov_pickle_end_dict(w);
    }
    cov_pickle_end_dict(w);
    cov_pickle_text(w, "param_groups");
    cov_pickle_begin_list(w);
    put_group(w, a);
    cov_pickle_end_list(w);
    cov_pickle_end_dict(w);
}

int cov_ckpt_put_training(struct cov_ckpt_put *p, const struct cov_ckpt *c,
                          const struct cov_ckpt_training *t, struct cov_ckpt_scratch *scratch,
                          struct cov_err *e)
{
    struct cov_pickle_writer *w = &p->w;
    int rc = COV_OK;
    /* All scalars: their addresses must not change. */
    scratch->cap_scalars = t ? t->adam.n_params + t->saving.n_saved + 4 : 1;
    scratch->scalars = cov_calloc(scratch->cap_scalars, sizeof *scratch->scalars, e);
    if (!scratch->scalars)
        return COV_ENOMEM;
    put_loops(w, c, t);
    begin_dict(w, "callbacks");
    if (t && t->has_seed)
        rc = put_seed(p, t->seed, scratch, e);
    if (t && t->stopping.is_there && isfinite(t->stopping.best_score))
        put_stopping(p, &t->stopping, scratch);
    if (t && t->saving.is_there)
        put_saving(p, &t->saving, scratch);
    cov_pickle_end_dict(w);
    cov_pickle_text(w, "optimizer_states");
    cov_pickle_begin_list(w);
    if (t && t->adam.is_there)
        put_adam(p, &t->adam, scratch);
    cov_pickle_end_list(w);
    cov_pickle_text(w, "lr_schedulers");
    cov_pickle_begin_list(w);
    cov_pickle_end_list(w);
    return rc;
}
