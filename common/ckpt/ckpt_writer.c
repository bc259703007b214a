/* ckpt_writer.c - see ckpt.h: writing.
 *
 * Keys are in the same order as in Predmoter's checkpoints. The values follow Lightning 2's
 * trainer/connectors/checkpoint_connector.py and the state_dict functions of its loops and
 * callbacks.
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/ckpt.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/ckpt/pickle_writer.h"
#include "common/ckpt/zip.h"

/* The data of a tensor, a separate archive entry after the pickle. */
struct storage {
    const void *data;
    size_t n_bytes;
};

/* A checkpoint being written. */
struct put {
    struct cov_pickle_writer w;
    struct storage *storages; /* a tensor's key is its index here */
    size_t n_storages, cap_storages;
    /* The data of tensors that exist only in the file; must not move. */
    float *scalars;
    size_t n_scalars, cap_scalars;
    uint8_t *torch_rng;
};

/* ---------------------------------------------------------------- values */

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

static void put_float(struct cov_pickle_writer *w, const char *key, double value)
{
    cov_pickle_text(w, key);
    cov_pickle_float(w, value);
}

static void put_text(struct cov_pickle_writer *w, const char *key, const char *value)
{
    cov_pickle_text(w, key);
    cov_pickle_text(w, value ? value : "");
}

static void put_tensor(struct put *p, const char *storage, size_t elem_bytes, size_t n_elems,
                       int n_dims, const int64_t *shape, const void *data)
{
    struct cov_pickle_writer *w = &p->w;
    char key[24];
    int rc = COV_RESERVE(&p->storages, &p->cap_storages, p->n_storages + 1, &w->err);
    if (rc)
        return;
    (void)snprintf(key, sizeof key, "%zu", p->n_storages);
    p->storages[p->n_storages++] = (struct storage){data, n_elems * elem_bytes};
    cov_pickle_global(w, "torch._utils", "_rebuild_tensor_v2");
    cov_pickle_begin_tuple(w);
    cov_pickle_begin_tuple(w);
    cov_pickle_text(w, "storage");
    cov_pickle_global(w, "torch", storage);
    cov_pickle_text(w, key);
    put_int(w, "cpu", (int64_t)n_elems);
    cov_pickle_end_tuple(w);
    cov_pickle_persistent(w);
    cov_pickle_int(w, 0); /* offset */
    cov_pickle_begin_tuple(w);
    for (int i = 0; i < n_dims; i++)
        cov_pickle_int(w, shape[i]);
    cov_pickle_end_tuple(w);
    cov_pickle_begin_tuple(w);
    for (int i = 0; i < n_dims; i++) {
        int64_t stride = 1;
        for (int k = i + 1; k < n_dims; k++)
            stride *= shape[k] > 0 ? shape[k] : 1;
        cov_pickle_int(w, stride);
    }
    cov_pickle_end_tuple(w);
    cov_pickle_bool(w, false); /* requires_grad */
    cov_pickle_begin_ordered_dict(w);
    cov_pickle_end_dict(w); /* hooks */
    cov_pickle_end_tuple(w);
    cov_pickle_call(w);
}

static void put_torch(struct put *p, const struct cov_torch_tensor *t)
{
    put_tensor(p, t->f32 ? "FloatStorage" : "LongStorage", t->f32 ? sizeof *t->f32 : sizeof *t->i64,
               t->n_elems, t->n_dims, t->shape, t->f32 ? (const void *)t->f32 : t->i64);
}

/* Writes a tensor without dimensions. */
static void put_scalar(struct put *p, double value)
{
    assert(p->n_scalars < p->cap_scalars);
    float *at = &p->scalars[p->n_scalars++];
    *at = (float)value;
    put_tensor(p, "FloatStorage", sizeof *at, 1, 0, NULL, at);
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

/* Writes {"total": ..., "current": ... without the closing brace. */
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
    const struct cov_ckpt_part *part = &t->part;
    int64_t n_batches = part->is_there ? part->n_batches : t->n_epoch_batches;
    int64_t n_steps = part->is_there ? part->n_steps : t->n_epoch_steps;
    put_batches(w, "epoch_loop.batch_progress", t->n_batches + part->n_batches, n_batches,
                !part->is_there);
    put_progress(w, "epoch_loop.scheduler_progress", 0, 0, 0);
    put_empty(w, "epoch_loop.automatic_optimization.state_dict");
    begin_dict(w, "epoch_loop.automatic_optimization.optim_progress");
    begin_dict(w, "optimizer");
    put_progress(w, "step", 0, c->global_step, n_steps);
    put_progress(w, "zero_grad", STARTED, c->global_step, n_steps);
    cov_pickle_end_dict(w);
    cov_pickle_end_dict(w);
    put_empty(w, "epoch_loop.manual_optimization.state_dict");
    put_progress(w, "epoch_loop.manual_optimization.optim_step_progress", 0, 0, 0);
    put_empty(w, "epoch_loop.val_loop.state_dict");
    put_batches(w, "epoch_loop.val_loop.batch_progress", t->n_val_batches, t->n_val_batches, true);
    /* The epoch is not yet complete when the checkpoint is saved. */
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

/* ---------------------------------------------------------------- random numbers */

/* States of the Mersenne Twister, which checkpoints of Python programs contain. Source: Matsumoto
 * and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudorandom number
 * generator", 1998, with the initialisation of 2002. */
enum { MT19937_N = 624 };

/* Seeds with an integer, like NumPy and PyTorch. */
static void seed_state(uint32_t seed, uint32_t state[MT19937_N])
{
    state[0] = seed;
    for (uint32_t i = 1; i < MT19937_N; i++)
        state[i] = 1812433253U * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
}

/* Mixes word i with the word before it. */
static void mix(uint32_t *state, size_t i, uint32_t factor, uint32_t plus)
{
    uint32_t before = state[i - 1];
    state[i] = (state[i] ^ ((before ^ (before >> 30)) * factor)) + plus;
}

/* Seeds with an array that holds only this integer, like Python's random.seed. */
static void seed_array(uint32_t seed, uint32_t state[MT19937_N])
{
    seed_state(19650218U, state);
    size_t i = 1;
    for (int round = 0; round < 2; round++)
        for (size_t k = MT19937_N - (size_t)round; k > 0; k--) {
            mix(state, i, round ? 1566083941U : 1664525U, round ? 0U - (uint32_t)i : seed);
            if (++i == MT19937_N) {
                state[0] = state[MT19937_N - 1];
                i = 1;
            }
        }
    state[0] = 0x80000000U;
}

/* Writes the state of PyTorch's CPU generator after manual_seed: the seed, 1 number left, the
 * seeded flag, the index of the next number, the state as 64-bit words, and no cached normal
 * number. */
static int put_torch_rng(struct put *p, uint32_t seed, struct cov_err *e)
{
    enum { BYTES = 5056, HEAD = 24 };
    static const int64_t shape[] = {BYTES};
    uint32_t state[MT19937_N];
    p->torch_rng = cov_calloc(BYTES, 1, e);
    if (!p->torch_rng)
        return COV_ENOMEM;
    const uint64_t seed64 = seed;
    const int32_t ones[2] = {1, 1};
    memcpy(p->torch_rng, &seed64, sizeof seed64);
    memcpy(p->torch_rng + sizeof seed64, ones, sizeof ones);
    seed_state(seed, state);
    for (size_t i = 0; i < MT19937_N; i++)
        memcpy(p->torch_rng + HEAD + 8 * i, &state[i], sizeof state[i]);
    cov_pickle_text(&p->w, "torch");
    put_tensor(p, "ByteStorage", 1, BYTES, 1, shape, p->torch_rng);
    return COV_OK;
}

static void put_numpy_rng(struct cov_pickle_writer *w, uint32_t seed)
{
    uint32_t state[MT19937_N];
    seed_state(seed, state);
    cov_pickle_text(w, "numpy");
    cov_pickle_begin_tuple(w);
    cov_pickle_text(w, "MT19937");
    cov_pickle_begin_list(w);
    for (size_t i = 0; i < MT19937_N; i++)
        cov_pickle_int(w, state[i]);
    cov_pickle_end_list(w);
    cov_pickle_int(w, MT19937_N);
    cov_pickle_int(w, 0);
    cov_pickle_float(w, 0);
    cov_pickle_end_tuple(w);
}

static void put_python_rng(struct cov_pickle_writer *w, uint32_t seed)
{
    uint32_t state[MT19937_N];
    seed_array(seed, state);
    cov_pickle_text(w, "random");
    cov_pickle_begin_tuple(w);
    cov_pickle_int(w, 3);
    cov_pickle_begin_tuple(w);
    for (size_t i = 0; i < MT19937_N; i++)
        cov_pickle_int(w, state[i]);
    cov_pickle_int(w, MT19937_N);
    cov_pickle_end_tuple(w);
    cov_pickle_none(w);
    cov_pickle_end_tuple(w);
}

/* ---------------------------------------------------------------- callbacks */

static int put_seed(struct put *p, uint32_t seed, struct cov_err *e)
{
    struct cov_pickle_writer *w = &p->w;
    begin_dict(w, "SeedCallback");
    put_int(w, "seed", seed);
    begin_dict(w, "rng_states");
    int rc = put_torch_rng(p, seed, e);
    put_numpy_rng(w, seed);
    put_python_rng(w, seed);
    cov_pickle_end_dict(w);
    cov_pickle_end_dict(w);
    return rc;
}

static void put_stopping(struct put *p, const struct cov_ckpt_stopping *s)
{
    struct cov_pickle_writer *w = &p->w;
    char key[200];
    (void)snprintf(key, sizeof key, "EarlyStopping{'monitor': '%s', 'mode': '%s'}", s->monitor,
                   s->is_max ? "max" : "min");
    begin_dict(w, key);
    put_int(w, "wait_count", s->wait_count);
    put_int(w, "stopped_epoch", s->stopped_epoch);
    cov_pickle_text(w, "best_score");
    put_scalar(p, s->best_score);
    put_int(w, "patience", s->patience);
    cov_pickle_end_dict(w);
}

static void put_saving(struct put *p, const struct cov_ckpt_saving *s)
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
    put_scalar(p, s->best_score);
    put_text(w, "best_model_path", s->best_path);
    cov_pickle_text(w, "current_score");
    put_scalar(p, s->current_score);
    put_text(w, "dirpath", s->dir);
    begin_dict(w, "best_k_models");
    for (size_t i = 0; i < s->n_saved; i++) {
        cov_pickle_text(w, s->saved[i].path);
        put_scalar(p, s->saved[i].score);
    }
    cov_pickle_end_dict(w);
    put_text(w, "kth_best_model_path", s->kth_path);
    cov_pickle_text(w, "kth_value");
    put_scalar(p, s->kth_score);
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
    put_float(w, "lr", a->learning_rate);
    cov_pickle_text(w, "betas");
    cov_pickle_begin_tuple(w);
    cov_pickle_float(w, a->beta1);
    cov_pickle_float(w, a->beta2);
    cov_pickle_end_tuple(w);
    put_float(w, "eps", a->eps);
    if (a->weight_decay > 0) {
        put_float(w, "weight_decay", a->weight_decay);
        put_bool(w, "decoupled_weight_decay", true); /* since PyTorch 2.7 */
    } else
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

static void put_adam(struct put *p, const struct cov_ckpt_adam *a)
{
    struct cov_pickle_writer *w = &p->w;
    cov_pickle_begin_dict(w);
    begin_dict(w, "state");
    for (size_t i = 0; a->moments && i < a->n_params; i++) {
        if (a->moments[i].mean.n_elems == 0)
            continue;
        cov_pickle_int(w, (int64_t)i);
        cov_pickle_begin_dict(w);
        cov_pickle_text(w, "step");
        put_scalar(p, a->moments[i].step);
        cov_pickle_text(w, "exp_avg");
        put_torch(p, &a->moments[i].mean);
        cov_pickle_text(w, "exp_avg_sq");
        put_torch(p, &a->moments[i].square);
        cov_pickle_end_dict(w);
    }
    cov_pickle_end_dict(w);
    cov_pickle_text(w, "param_groups");
    cov_pickle_begin_list(w);
    put_group(w, a);
    cov_pickle_end_list(w);
    cov_pickle_end_dict(w);
}

static int put_training(struct put *p, const struct cov_ckpt *c, const struct cov_ckpt_training *t,
                        struct cov_err *e)
{
    struct cov_pickle_writer *w = &p->w;
    int rc = COV_OK;
    /* Room for all scalars, so that they never move. */
    p->cap_scalars = t ? t->adam.n_params + t->saving.n_saved + 4 : 1;
    p->scalars = cov_calloc(p->cap_scalars, sizeof *p->scalars, e);
    if (!p->scalars)
        return COV_ENOMEM;
    put_loops(w, c, t);
    begin_dict(w, "callbacks");
    if (t && t->has_seed)
        rc = put_seed(p, t->seed, e);
    if (t && t->stopping.is_there && isfinite(t->stopping.best_score))
        put_stopping(p, &t->stopping);
    if (t && t->saving.is_there)
        put_saving(p, &t->saving);
    cov_pickle_end_dict(w);
    cov_pickle_text(w, "optimizer_states");
    cov_pickle_begin_list(w);
    if (t && t->adam.is_there)
        put_adam(p, &t->adam);
    cov_pickle_end_list(w);
    cov_pickle_text(w, "lr_schedulers");
    cov_pickle_begin_list(w);
    cov_pickle_end_list(w);
    return rc;
}

/* ---------------------------------------------------------------- the checkpoint */

static void put_hparam(struct cov_pickle_writer *w, const struct cov_hparam *h)
{
    cov_pickle_text(w, h->name);
    switch (h->kind) {
    case COV_HPARAM_BOOL:
        cov_pickle_bool(w, h->boolean);
        break;
    case COV_HPARAM_INT:
        cov_pickle_int(w, h->integer);
        break;
    case COV_HPARAM_FLOAT:
        cov_pickle_float(w, h->number);
        break;
    case COV_HPARAM_STRING:
        cov_pickle_text(w, h->string);
        break;
    case COV_HPARAM_STRINGS:
        cov_pickle_begin_list(w);
        for (size_t i = 0; i < h->n_strings; i++)
            cov_pickle_text(w, h->strings[i]);
        cov_pickle_end_list(w);
        break;
    case COV_HPARAM_NONE:
    case COV_HPARAM_OTHER:
        cov_pickle_none(w);
        break;
    }
}

static void put_state(struct put *p, const char *key, const struct cov_torch_tensor *tensors,
                      size_t n)
{
    cov_pickle_text(&p->w, key);
    cov_pickle_begin_ordered_dict(&p->w);
    for (size_t i = 0; i < n; i++) {
        cov_pickle_text(&p->w, tensors[i].name);
        put_torch(p, &tensors[i]);
    }
    cov_pickle_end_dict(&p->w);
}

static void put_part(struct cov_pickle_writer *w, const struct cov_ckpt_part *part)
{
    begin_dict(w, COV_CKPT_PART);
    put_int(w, "batches", part->n_batches);
    put_int(w, "steps", part->n_steps);
    put_int(w, "plan", part->plan);
    put_float(w, "loss", part->loss);
    put_float(w, "accuracy", part->accuracy);
    put_float(w, "chunks", part->chunks);
    cov_pickle_end_dict(w);
}

static int put_checkpoint(struct put *p, const struct cov_ckpt *c,
                          const struct cov_ckpt_training *t, struct cov_err *e)
{
    struct cov_pickle_writer *w = &p->w;
    cov_pickle_begin(w);
    cov_pickle_begin_dict(w);
    put_int(w, "epoch", c->epoch);
    put_int(w, "global_step", c->global_step);
    put_text(w, "pytorch-lightning_version", c->lightning_version);
    put_state(p, "state_dict", c->tensors, c->n_tensors);
    int rc = put_training(p, c, t, e);
    if (rc)
        return rc;
    put_text(w, "hparams_name", "kwargs");
    begin_dict(w, "hyper_parameters");
    for (size_t i = 0; i < c->n_hparams; i++)
        put_hparam(w, &c->hparams[i]);
    cov_pickle_end_dict(w);
    if (c->n_made > 0) {
        begin_dict(w, "covtools");
        for (size_t i = 0; i < c->n_made; i++)
            put_hparam(w, &c->made[i]);
        cov_pickle_end_dict(w);
    }
    if (t && t->part.is_there)
        put_part(w, &t->part);
    if (t && t->n_current > 0)
        put_state(p, "current_model_state", t->current, t->n_current);
    cov_pickle_end_dict(w);
    return cov_pickle_stop(w, e);
}

/* Fails if a value is not finite. `what` says where a tensor without a name is. */
static int check_finite(const struct cov_torch_tensor *t, size_t n, const char *what,
                        struct cov_err *e)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; t[i].f32 && k < t[i].n_elems; k++)
            if (!isfinite(t[i].f32[k]))
                return cov_fail(e, COV_EINPUT, "tensor %s: element %zu is NaN or infinite",
                                t[i].name ? t[i].name : what, k);
    return COV_OK;
}

static int check_writable(const struct cov_ckpt *c, const struct cov_ckpt_training *t,
                          struct cov_err *e)
{
    if (!c->lightning_version || c->epoch < 0 || c->global_step < 0)
        return cov_fail(e, COV_EINPUT, "a checkpoint needs an epoch, a step and a version");
    for (size_t i = 0; i < c->n_hparams; i++)
        if (c->hparams[i].kind == COV_HPARAM_OTHER)
            return cov_fail(e, COV_EUNSUPPORTED, "hyperparameter %s of type %s cannot be written",
                            c->hparams[i].name, c->hparams[i].string);
    int rc = check_finite(c->tensors, c->n_tensors, "of state_dict", e);
    if (!rc && t)
        rc = check_finite(t->current, t->n_current, "of current_model_state", e);
    for (size_t i = 0; !rc && t && t->adam.moments && i < t->adam.n_params; i++) {
        rc = check_finite(&t->adam.moments[i].mean, 1, "of optimizer_states", e);
        if (!rc)
            rc = check_finite(&t->adam.moments[i].square, 1, "of optimizer_states", e);
    }
    return rc ? rc : cov_ckpt_check_names(c, e);
}

static int write_archive(const char *path, const struct put *p, struct cov_err *e)
{
    struct cov_zip_writer *zip = NULL;
    /* The headers of an entry take less than 512 bytes. */
    uint64_t n_bytes = p->w.n_bytes + 4096;
    for (size_t i = 0; i < p->n_storages; i++)
        n_bytes += p->storages[i].n_bytes + 512;
    int rc = cov_zip_create(path, n_bytes > UINT32_MAX || p->n_storages > 60000, &zip, e);
    if (!rc)
        rc = cov_zip_add(zip, "archive/data.pkl", p->w.data, p->w.n_bytes, e);
    if (!rc)
        rc = cov_zip_add(zip, "archive/byteorder", "little", 6, e);
    for (size_t i = 0; !rc && i < p->n_storages; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "archive/data/%zu", i);
        rc = cov_zip_add(zip, name, p->storages[i].data, p->storages[i].n_bytes, e);
    }
    if (!rc)
        rc = cov_zip_add(zip, "archive/version", "3\n", 2, e);
    if (!rc)
        return cov_zip_finish(zip, e);
    cov_zip_abort(zip);
    return rc;
}

int cov_ckpt_write_training(const char *path, const struct cov_ckpt *c,
                            const struct cov_ckpt_training *t, struct cov_err *e)
{
    struct put p = {.w = COV_PICKLE_WRITER_INIT};
    int rc = check_writable(c, t, e);
    if (!rc)
        rc = put_checkpoint(&p, c, t, e);
    if (!rc)
        rc = write_archive(path, &p, e);
    free(p.w.data);
    free(p.storages);
    free(p.scalars);
    free(p.torch_rng);
    return rc;
}

int cov_ckpt_write(const char *path, const struct cov_ckpt *c, struct cov_err *e)
{
    return cov_ckpt_write_training(path, c, NULL, e);
}
