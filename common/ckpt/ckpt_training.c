/* ckpt_training.c - see ckpt.h: reads the state of training. (ckpt_writer.c writes it.)
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/ckpt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/ckpt/torch_file.h"

/* A file with more than these is considered damaged. */
enum { MAX_PARAMS = 100000, MAX_SAVED = 100000 };

void cov_ckpt_training_forget(struct cov_ckpt_training *t)
{
    for (size_t i = 0; t->adam.moments && i < t->adam.n_params; i++) {
        cov_torch_tensor_fini(&t->adam.moments[i].mean);
        cov_torch_tensor_fini(&t->adam.moments[i].square);
    }
    free(t->adam.moments);
    for (size_t i = 0; t->current && i < t->n_current; i++)
        cov_torch_tensor_fini(&t->current[i]);
    free(t->current);
    t->adam.moments = NULL;
    t->current = NULL;
    t->n_current = 0;
}

void cov_ckpt_training_fini(struct cov_ckpt_training *t)
{
    cov_ckpt_training_forget(t);
    free(t->stopping.monitor);
    free(t->saving.monitor);
    free(t->saving.dir);
    free(t->saving.best_path);
    free(t->saving.kth_path);
    free(t->saving.last_path);
    for (size_t i = 0; t->saving.saved && i < t->saving.n_saved; i++)
        free(t->saving.saved[i].path);
    free(t->saving.saved);
    *t = (struct cov_ckpt_training){0};
}

/* ---------------------------------------------------------------- values */

static bool is_dict(const struct cov_pickle_value *v)
{
    return v && (v->kind == COV_PICKLE_DICT || v->kind == COV_PICKLE_OBJECT);
}

static int wrong(const char *what, const struct cov_pickle_value *v, struct cov_err *e)
{
    if (!v)
        return cov_fail(e, COV_EINPUT, "%s is missing", what);
    return cov_fail(e, COV_EINPUT, "%s has type %s", what, cov_pickle_type(v));
}

/* Converts a number, or a tensor of one element, to a double. */
static int to_number(struct cov_torch_file *f, const struct cov_pickle_value *v, const char *what,
                     double *out, struct cov_err *e)
{
    if (v && v->kind == COV_PICKLE_INT) {
        *out = (double)v->u.integer;
        return COV_OK;
    }
    if (v && v->kind == COV_PICKLE_FLOAT) {
        *out = v->u.number;
        return COV_OK;
    }
    if (!v || v->kind != COV_PICKLE_OBJECT)
        return wrong(what, v, e);
    struct cov_torch_tensor t;
    int rc = cov_torch_read_tensor(f, v, what, &t, e);
    if (rc)
        return rc;
    if (t.n_elems != 1)
        rc = cov_fail(e, COV_EINPUT, "%s has %zu elements", what, t.n_elems);
    else
        *out = t.f32 ? (double)t.f32[0] : (double)t.i64[0];
    cov_torch_tensor_fini(&t);
    return rc;
}

static int get_number(struct cov_torch_file *f, const struct cov_pickle_value *dict,
                      const char *key, double *out, struct cov_err *e)
{
    return to_number(f, cov_pickle_get(dict, key), key, out, e);
}

static int get_int(const struct cov_pickle_value *dict, const char *key, int64_t *out,
                   struct cov_err *e)
{
    const struct cov_pickle_value *v = cov_pickle_get(dict, key);
    if (!v || v->kind != COV_PICKLE_INT)
        return wrong(key, v, e);
    *out = v->u.integer;
    return COV_OK;
}

static int get_text(const struct cov_pickle_value *dict, const char *key, char **out,
                    struct cov_err *e)
{
    const struct cov_pickle_value *v = cov_pickle_get(dict, key);
    if (!v || v->kind != COV_PICKLE_STRING)
        return wrong(key, v, e);
    return cov_pickle_string(v, out, e);
}

/* ---------------------------------------------------------------- the optimiser */

static int read_moments(struct cov_torch_file *f, const struct cov_pickle_value *v, size_t i,
                        struct cov_ckpt_moments *m, struct cov_err *e)
{
    char name[64];
    const struct cov_pickle_value *mean = cov_pickle_get(v, "exp_avg");
    const struct cov_pickle_value *square = cov_pickle_get(v, "exp_avg_sq");
    (void)snprintf(name, sizeof name, "step of parameter %zu", i);
    int rc = to_number(f, cov_pickle_get(v, "step"), name, &m->step, e);
    if (rc)
        return rc;
    if (!mean || !square)
        return cov_fail(e, COV_EINPUT,
                        "parameter %zu has no exp_avg or exp_avg_sq: not an Adam optimiser", i);
    (void)snprintf(name, sizeof name, "exp_avg of parameter %zu", i);
    rc = cov_torch_read_tensor(f, mean, name, &m->mean, e);
    (void)snprintf(name, sizeof name, "exp_avg_sq of parameter %zu", i);
    if (!rc)
        rc = cov_torch_read_tensor(f, square, name, &m->square, e);
    if (!rc && (m->mean.n_elems == 0 || m->square.n_elems == 0))
        rc = cov_fail(e, COV_EINPUT, "exp_avg or exp_avg_sq of parameter %zu is empty", i);
    return rc;
}

/* Reads the states, whose keys are parameter numbers. A parameter that is frozen has none. */
static int read_states(struct cov_torch_file *f, const struct cov_pickle_value *state,
                       struct cov_ckpt_adam *a, struct cov_err *e)
{
    bool *found = cov_calloc(a->n_params, sizeof *found, e);
    a->moments = cov_calloc(a->n_params, sizeof *a->moments, e);
    int rc = found && a->moments ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; !rc && k + 1 < state->n_items; k += 2) {
        const struct cov_pickle_value *key = state->items[k];
        if (key->kind != COV_PICKLE_INT || key->u.integer < 0 ||
            (uint64_t)key->u.integer >= a->n_params || found[key->u.integer])
            rc = cov_fail(e, COV_EINPUT, "a state of an unknown or repeated parameter");
        if (rc)
            break;
        found[key->u.integer] = true;
        rc = read_moments(f, state->items[k + 1], (size_t)key->u.integer,
                          &a->moments[key->u.integer], e);
    }
    free(found);
    return rc;
}

/* Reads the weight decay; 0 if absent. The key decoupled_weight_decay is new in PyTorch 2.7. */
static int read_decay(struct cov_torch_file *f, const struct cov_pickle_value *group, double *out,
                      struct cov_err *e)
{
    const struct cov_pickle_value *decay = cov_pickle_get(group, "weight_decay");
    const struct cov_pickle_value *decoupled = cov_pickle_get(group, "decoupled_weight_decay");
    int rc = decay ? to_number(f, decay, "weight_decay", out, e) : COV_OK;
    if (!rc && *out != 0 && decoupled && decoupled->kind == COV_PICKLE_BOOL &&
        !decoupled->u.boolean)
        rc = cov_fail(e, COV_EINPUT, "weight_decay is that of Adam, not of AdamW");
    return rc;
}

static int read_adam(struct cov_torch_file *f, const struct cov_pickle_value *list,
                     struct cov_ckpt_adam *a, struct cov_err *e)
{
    if (!list || list->kind != COV_PICKLE_LIST || list->n_items == 0)
        return COV_OK;
    const struct cov_pickle_value *groups = cov_pickle_get(list->items[0], "param_groups");
    const struct cov_pickle_value *state = cov_pickle_get(list->items[0], "state");
    if (list->n_items != 1 || !groups || groups->kind != COV_PICKLE_LIST || groups->n_items != 1 ||
        !is_dict(state))
        return cov_fail(e, COV_EINPUT, "expected one optimiser with one group of parameters");
    const struct cov_pickle_value *group = groups->items[0];
    const struct cov_pickle_value *betas = cov_pickle_get(group, "betas");
    const struct cov_pickle_value *params = cov_pickle_get(group, "params");
    if (!betas || (betas->kind != COV_PICKLE_TUPLE && betas->kind != COV_PICKLE_LIST) ||
        betas->n_items != 2 || !params || params->kind != COV_PICKLE_LIST)
        return cov_fail(e, COV_EINPUT, "not an Adam optimiser");
    if (params->n_items > MAX_PARAMS)
        return cov_fail(e, COV_EINPUT, "%zu parameters are too many", params->n_items);
    a->is_there = true;
    a->n_params = params->n_items;
    int rc = get_number(f, group, "lr", &a->learning_rate, e);
    if (!rc)
        rc = to_number(f, betas->items[0], "betas", &a->beta1, e);
    if (!rc)
        rc = to_number(f, betas->items[1], "betas", &a->beta2, e);
    if (!rc)
        rc = get_number(f, group, "eps", &a->eps, e);
    if (!rc)
        rc = read_decay(f, group, &a->weight_decay, e);
    if (!rc && state->n_items > 0)
        rc = read_states(f, state, a, e);
    return rc;
}

/* ---------------------------------------------------------------- callbacks */

/* Returns the state of the callback whose key starts with `begin` and the monitor's name, or
 * NULL. Sets *is_max from the rest of the key. */
static const struct cov_pickle_value *find_callback(const struct cov_pickle_value *callbacks,
                                                    const char *begin, char **monitor, bool *is_max,
                                                    int *rc, struct cov_err *e)
{
    size_t n = strlen(begin);
    for (size_t i = 0; i + 1 < callbacks->n_items; i += 2) {
        char *key = NULL;
        if (callbacks->items[i]->kind != COV_PICKLE_STRING || !is_dict(callbacks->items[i + 1]) ||
            (*rc = cov_pickle_string(callbacks->items[i], &key, e)) != 0)
            continue;
        char *end = strncmp(key, begin, n) == 0 ? strchr(key + n, '\'') : NULL;
        if (end) {
            *is_max = strstr(end, "'mode': 'max'") != NULL;
            *monitor = cov_strndup(key + n, (size_t)(end - key) - n, e);
            *rc = *monitor ? COV_OK : COV_ENOMEM;
        }
        free(key);
        if (end)
            return callbacks->items[i + 1];
    }
    return NULL;
}

static int read_stopping(struct cov_torch_file *f, const struct cov_pickle_value *callbacks,
                         struct cov_ckpt_stopping *s, struct cov_err *e)
{
    int rc = COV_OK;
    const struct cov_pickle_value *v =
        find_callback(callbacks, "EarlyStopping{'monitor': '", &s->monitor, &s->is_max, &rc, e);
    if (rc || !v)
        return rc;
    s->is_there = true;
    rc = get_int(v, "wait_count", &s->wait_count, e);
    if (!rc)
        rc = get_int(v, "stopped_epoch", &s->stopped_epoch, e);
    if (!rc)
        rc = get_int(v, "patience", &s->patience, e);
    return rc ? rc : get_number(f, v, "best_score", &s->best_score, e);
}

static int read_saved(struct cov_torch_file *f, const struct cov_pickle_value *dict,
                      struct cov_ckpt_saving *s, struct cov_err *e)
{
    if (!is_dict(dict) || dict->n_items / 2 > MAX_SAVED)
        return wrong("best_k_models", dict, e);
    s->saved = cov_calloc(dict->n_items / 2, sizeof *s->saved, e);
    int rc = s->saved ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i + 1 < dict->n_items; i += 2) {
        struct cov_ckpt_saved *saved = &s->saved[s->n_saved++];
        rc = cov_pickle_string(dict->items[i], &saved->path, e);
        if (!rc)
            rc = to_number(f, dict->items[i + 1], "score", &saved->score, e);
    }
    return rc;
}

static int read_saving(struct cov_torch_file *f, const struct cov_pickle_value *callbacks,
                       struct cov_ckpt_saving *s, struct cov_err *e)
{
    int rc = COV_OK;
    const struct cov_pickle_value *v =
        find_callback(callbacks, "ModelCheckpoint{'monitor': '", &s->monitor, &s->is_max, &rc, e);
    if (rc || !v)
        return rc;
    s->is_there = true;
    const struct {
        const char *key;
        char **text;
    } texts[] = {{"dirpath", &s->dir},
                 {"best_model_path", &s->best_path},
                 {"kth_best_model_path", &s->kth_path},
                 {"last_model_path", &s->last_path}};
    const struct {
        const char *key;
        double *score;
    } scores[] = {{"best_model_score", &s->best_score},
                  {"current_score", &s->current_score},
                  {"kth_value", &s->kth_score}};
    for (size_t i = 0; !rc && i < COV_COUNT(texts); i++)
        rc = get_text(v, texts[i].key, texts[i].text, e);
    for (size_t i = 0; !rc && i < COV_COUNT(scores); i++)
        rc = get_number(f, v, scores[i].key, scores[i].score, e);
    return rc ? rc : read_saved(f, cov_pickle_get(v, "best_k_models"), s, e);
}

static int read_callbacks(struct cov_torch_file *f, const struct cov_pickle_value *callbacks,
                          struct cov_ckpt_training *t, struct cov_err *e)
{
    if (!is_dict(callbacks))
        return COV_OK;
    const struct cov_pickle_value *seed = cov_pickle_get(callbacks, "SeedCallback");
    seed = seed ? cov_pickle_get(seed, "seed") : NULL;
    if (seed && seed->kind == COV_PICKLE_INT && seed->u.integer >= 0 &&
        seed->u.integer <= UINT32_MAX) {
        t->has_seed = true;
        t->seed = (uint32_t)seed->u.integer;
    }
    int rc = read_stopping(f, callbacks, &t->stopping, e);
    return rc ? rc : read_saving(f, callbacks, &t->saving, e);
}

/* ---------------------------------------------------------------- the whole state */

/* Returns the integer found by following a path of `depth` dictionary keys, or 0. */
static int64_t count_of(const struct cov_pickle_value *v, const char *const *path, size_t depth)
{
    for (size_t i = 0; v && i < depth; i++)
        v = cov_pickle_get(v, path[i]);
    return v && v->kind == COV_PICKLE_INT && v->u.integer > 0 ? v->u.integer : 0;
}

static void read_loops(const struct cov_pickle_value *loops, struct cov_ckpt_training *t)
{
    static const char *const batches[] = {"fit_loop", "epoch_loop.batch_progress", "total",
                                          "completed"};
    static const char *const steps[] = {
        "fit_loop",  "epoch_loop.automatic_optimization.optim_progress",
        "optimizer", "step",
        "current",   "completed"};
    t->n_batches = count_of(loops, batches, COV_COUNT(batches));
    t->n_epoch_steps = count_of(loops, steps, COV_COUNT(steps));
}

static int read_part(struct cov_torch_file *f, const struct cov_pickle_value *dict,
                     struct cov_ckpt_training *t, struct cov_err *e)
{
    struct cov_ckpt_part *p = &t->part;
    const struct {
        const char *key;
        double *sum;
    } sums[] = {{"loss", &p->loss}, {"accuracy", &p->accuracy}, {"chunks", &p->chunks}};
    if (!dict)
        return COV_OK;
    if (!is_dict(dict))
        return wrong(COV_CKPT_PART, dict, e);
    p->is_there = true;
    int rc = get_int(dict, "batches", &p->n_batches, e);
    if (!rc)
        rc = get_int(dict, "steps", &p->n_steps, e);
    if (!rc)
        rc = get_int(dict, "plan", &p->plan, e);
    for (size_t i = 0; !rc && i < COV_COUNT(sums); i++)
        rc = get_number(f, dict, sums[i].key, sums[i].sum, e);
    if (!rc && (p->n_batches < 0 || p->n_batches > t->n_batches || p->n_steps < 0))
        rc = cov_fail(e, COV_EINPUT, "implausible counts: %lld batches and %lld steps",
                      (long long)p->n_batches, (long long)p->n_steps);
    if (!rc)
        t->n_batches -= p->n_batches;
    return rc;
}

static int read_current(struct cov_torch_file *f, const struct cov_pickle_value *dict,
                        struct cov_ckpt_training *t, struct cov_err *e)
{
    if (!is_dict(dict))
        return COV_OK;
    t->current = cov_calloc(dict->n_items / 2, sizeof *t->current, e);
    int rc = t->current ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i + 1 < dict->n_items; i += 2) {
        char *name = NULL;
        rc = cov_pickle_string(dict->items[i], &name, e);
        if (!rc)
            rc = cov_torch_read_tensor(f, dict->items[i + 1], name, &t->current[t->n_current++], e);
        free(name);
    }
    return rc;
}

int cov_ckpt_read_training(const char *path, struct cov_ckpt_training *out, struct cov_err *e)
{
    struct cov_torch_file *f = NULL;
    struct cov_err why = COV_ERR_INIT;
    *out = (struct cov_ckpt_training){0};
    int rc = cov_torch_open(path, &f, e);
    if (rc)
        return rc;
    const struct cov_pickle_value *root = cov_torch_root(f);
    const char *part = "optimizer_states";
    rc = read_adam(f, cov_pickle_get(root, part), &out->adam, &why);
    if (!rc) {
        part = "callbacks";
        rc = read_callbacks(f, cov_pickle_get(root, part), out, &why);
    }
    if (!rc) {
        part = "current_model_state";
        rc = read_current(f, cov_pickle_get(root, part), out, &why);
    }
    read_loops(cov_pickle_get(root, "loops"), out);
    if (!rc) {
        part = COV_CKPT_PART;
        rc = read_part(f, cov_pickle_get(root, part), out, &why);
    }
    cov_torch_close(f);
    if (rc) {
        cov_ckpt_training_fini(out);
        /* Messages about tensors already name the file. */
        if (strncmp(why.text, path, strlen(path)) == 0)
            return cov_fail(e, rc, "%s", why.text);
        return cov_fail(e, rc, "%s: %s: %s", path, part, why.text);
    }
    return COV_OK;
}
