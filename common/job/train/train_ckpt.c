/* train_ckpt.c - see train_ckpt.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/train/train_ckpt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/input/model.h"

/* Version of PyTorch Lightning whose format the checkpoints have. */
#define LIGHTNING "2.0.2"

/* Limit of epochs, steps and batches; a larger number means damage. */
#define MAX_COUNT INT64_C(1000000000000000)

int cov_train_network_init(struct cov_train_network *n, const struct cov_hparams *hp,
                           const char *const *datasets, double learning_rate, size_t L,
                           struct cov_err *e)
{
    *n = (struct cov_train_network){.hp = *hp, .learning_rate = learning_rate, .L = L};
    n->datasets = cov_calloc((size_t)hp->output_size, sizeof *n->datasets, e);
    int rc = n->datasets ? cov_params_init(hp, &n->params, e) : COV_ENOMEM;
    if (!rc) {
        n->frozen = cov_calloc(n->params.n_items, sizeof *n->frozen, e);
        rc = n->frozen ? COV_OK : COV_ENOMEM;
    }
    for (int64_t d = 0; !rc && d < hp->output_size; d++) {
        n->datasets[d] = cov_strdup(datasets[d], e);
        rc = n->datasets[d] ? COV_OK : COV_ENOMEM;
    }
    if (rc)
        cov_train_network_fini(n);
    return rc;
}

void cov_train_network_fini(struct cov_train_network *n)
{
    for (int64_t d = 0; n->datasets && d < n->hp.output_size; d++)
        free(n->datasets[d]);
    free(n->datasets);
    free(n->frozen);
    cov_params_fini(&n->params);
    cov_ckpt_fini(&n->made);
    *n = (struct cov_train_network){0};
}

int cov_train_ckpt_init(struct cov_train_ckpt *p, const struct cov_train_network *n,
                        struct cov_err *e)
{
    *p = (struct cov_train_ckpt){.epoch = -1};
    float **const arrays[] = {&p->state.block, &p->state.moment1, &p->state.moment2,
                              &p->state.average};
    for (size_t i = 0; i < COV_COUNT(arrays); i++) {
        *arrays[i] = cov_calloc64(n->params.n_floats, sizeof **arrays[i], e);
        if (!*arrays[i]) {
            cov_train_ckpt_fini(p);
            return COV_ENOMEM;
        }
    }
    return COV_OK;
}

void cov_train_ckpt_fini(struct cov_train_ckpt *p)
{
    free(p->state.block);
    free(p->state.moment1);
    free(p->state.moment2);
    free(p->state.average);
    cov_ckpt_training_fini(&p->training);
    *p = (struct cov_train_ckpt){0};
}

/* ---------------------------------------------------------------- frozen layers */

static const struct {
    const char *name, *prefixes[2]; /* of the layers */
} groups[] = {
    {"conv", {"down_layer_list.", "up_layer_list."}},
    {"lstm", {"lstm_layer_list.", NULL}},
    {"linear", {"out", NULL}},
};

/* Returns the length of the name of the layer of parameter i. */
static size_t layer_length(const struct cov_params *params, size_t i)
{
    const char *name = params->items[i].name, *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : strlen(name);
}

static bool is_in_group(const struct cov_params *params, size_t i, size_t group)
{
    const char *const *prefixes = groups[group].prefixes;
    const char *name = params->items[i].name;
    return strncmp(name, prefixes[0], strlen(prefixes[0])) == 0 ||
           (prefixes[1] && strncmp(name, prefixes[1], strlen(prefixes[1])) == 0);
}

/* Returns true if parameter i is the first one of its layer. */
static bool begins_layer(const struct cov_params *params, size_t i)
{
    size_t n = layer_length(params, i);
    return i == 0 || n != layer_length(params, i - 1) ||
           strncmp(params->items[i].name, params->items[i - 1].name, n) != 0;
}

static bool is_named(const struct cov_params *params, size_t i, const char *name)
{
    size_t n = layer_length(params, i);
    for (size_t g = 0; g < COV_COUNT(groups); g++)
        if (strcmp(name, groups[g].name) == 0)
            return is_in_group(params, i, g);
    return strlen(name) == n && strncmp(name, params->items[i].name, n) == 0;
}

/* Appends ",NAME", or NAME to an empty text. */
static void append(char **text, const char *name, size_t n, struct cov_err *e)
{
    cov_strappend(text, e, "%s%.*s", *text && **text ? "," : "", (int)n, name);
}

/* Fails because no layer has this name. */
static int fail_unknown(const struct cov_params *params, const char *name, struct cov_err *e)
{
    char *text = cov_strdup("", e);
    for (size_t g = 0; g < COV_COUNT(groups); g++)
        for (size_t i = 0, n = 0; i < params->n_items; i++)
            if (is_in_group(params, i, g) && n++ == 0)
                append(&text, groups[g].name, strlen(groups[g].name), e);
    for (size_t i = 0; i < params->n_items; i++)
        if (begins_layer(params, i))
            append(&text, params->items[i].name, layer_length(params, i), e);
    int rc = text ? cov_fail(e, COV_EINPUT, "--freeze: the network has no layer %s; it has %s",
                             name, text)
                  : COV_ENOMEM;
    free(text);
    return rc;
}

int cov_freeze_parse(const struct cov_params *params, const char *const *names, size_t n,
                     bool *frozen, struct cov_err *e)
{
    size_t n_left = 0;
    for (size_t i = 0; i < params->n_items; i++)
        frozen[i] = false;
    for (size_t k = 0; k < n; k++) {
        size_t n_found = 0;
        for (size_t i = 0; i < params->n_items; i++)
            if (is_named(params, i, names[k])) {
                frozen[i] = params->items[i].trained;
                n_found++;
            }
        if (n_found == 0)
            return fail_unknown(params, names[k], e);
    }
    for (size_t i = 0; i < params->n_items; i++)
        n_left += params->items[i].trained && !frozen[i];
    return n_left > 0
               ? COV_OK
               : cov_fail(e, COV_EINPUT, "--freeze: all layers are frozen: nothing to train");
}

/* Checks that a checkpoint lacks the optimiser state of whole layers only: frozen[i] is whether
 * parameter i has none. */
static int check_frozen(const struct cov_params *params, const bool *frozen, struct cov_err *e)
{
    size_t first = 0; /* parameter of the layer, which is always trained */
    for (size_t i = 0; i < params->n_items; i++) {
        first = begins_layer(params, i) ? i : first;
        if (params->items[i].trained && frozen[i] != frozen[first])
            return cov_fail(e, COV_EINPUT,
                            "optimizer_states: %s has no state, but other parameters of its layer "
                            "have one",
                            params->items[frozen[i] ? i : first].name);
    }
    return COV_OK;
}

/* Returns true if the group has layers, and all are frozen. */
static bool is_all_frozen(const struct cov_params *params, const bool *frozen, size_t group)
{
    size_t n = 0;
    for (size_t i = 0; i < params->n_items; i++)
        if (is_in_group(params, i, group) && params->items[i].trained) {
            if (!frozen[i])
                return false;
            n++;
        }
    return n > 0;
}

char *cov_freeze_text(const struct cov_params *params, const bool *frozen, struct cov_err *e)
{
    char *text = cov_strdup("", e);
    for (size_t g = 0; g < COV_COUNT(groups); g++) {
        bool all = is_all_frozen(params, frozen, g);
        if (all)
            append(&text, groups[g].name, strlen(groups[g].name), e);
        for (size_t i = 0; !all && i < params->n_items; i++)
            if (frozen[i] && is_in_group(params, i, g) && begins_layer(params, i))
                append(&text, params->items[i].name, layer_length(params, i), e);
    }
    return text;
}

/* ---------------------------------------------------------------- reading */

/* Reads the count of batches that the norms saw, which is the same for all; -1 if absent. */
static int64_t read_count(const struct cov_ckpt *c)
{
    for (size_t i = 0; i < c->n_tensors; i++) {
        const struct cov_torch_tensor *t = &c->tensors[i];
        size_t n = strlen(t->name), n_suffix = sizeof COV_MODEL_COUNT - 1;
        if (n > n_suffix && strcmp(t->name + n - n_suffix, COV_MODEL_COUNT) == 0 && t->i64 &&
            t->n_elems == 1)
            return t->i64[0];
    }
    return -1;
}

static int check_moment(const struct cov_torch_tensor *t, const struct cov_param *param,
                        struct cov_err *e)
{
    if (t->n_elems != param->n || !t->f32)
        return cov_fail(e, COV_EINPUT, "optimizer_states: %s has %zu elements, but %s has %zu",
                        t->name, t->n_elems, param->name, param->n);
    return COV_OK;
}

/* Copies Adam's moments, which are in the order of the parameters. */
static int take_moments(struct cov_train_network *n, struct cov_train_ckpt *p, struct cov_err *e)
{
    const struct cov_ckpt_adam *a = &p->training.adam;
    const struct cov_ckpt_moments *first = NULL;
    size_t k = 0;
    for (size_t i = 0; i < n->params.n_items; i++) {
        const struct cov_param *param = &n->params.items[i];
        if (!param->trained)
            continue;
        if (k == a->n_params)
            break;
        const struct cov_ckpt_moments *m = &a->moments[k++];
        n->frozen[i] = m->mean.n_elems == 0;
        if (n->frozen[i])
            continue;
        first = first ? first : m;
        if (m->step != first->step)
            return cov_fail(e, COV_EINPUT,
                            "optimizer_states: %s has taken %g steps, but other parameters %g",
                            param->name, m->step, first->step);
        int rc = check_moment(&m->mean, param, e);
        if (!rc)
            rc = check_moment(&m->square, param, e);
        if (rc)
            return rc;
        memcpy(p->state.moment1 + param->offset, m->mean.f32, param->n * sizeof(float));
        memcpy(p->state.moment2 + param->offset, m->square.f32, param->n * sizeof(float));
        p->state.n_steps = (int64_t)m->step;
    }
    size_t n_trained = 0;
    for (size_t i = 0; i < n->params.n_items; i++)
        n_trained += n->params.items[i].trained;
    if (n_trained != a->n_params)
        return cov_fail(e, COV_EINPUT, "optimizer_states: %zu parameters, but the network has %zu",
                        a->n_params, n_trained);
    p->has_moments = true;
    return check_frozen(&n->params, n->frozen, e);
}

/* Copies the weights being trained, if the state dict holds averaged ones. */
static int take_current(const struct cov_train_network *n, struct cov_train_ckpt *p,
                        struct cov_err *e)
{
    const struct cov_ckpt_training *t = &p->training;
    memcpy(p->state.average, p->state.block, n->params.n_floats * sizeof(float));
    for (size_t i = 0; i < n->params.n_items; i++) {
        const struct cov_param *param = &n->params.items[i];
        const struct cov_torch_tensor *found = NULL;
        for (size_t k = 0; k < t->n_current && !found; k++)
            if (strcmp(t->current[k].name, param->name) == 0)
                found = &t->current[k];
        if (!found || found->n_elems != param->n || !found->f32)
            return cov_fail(e, COV_EINPUT, "current_model_state: tensor %s %s", param->name,
                            found ? "has another shape" : "is missing");
        memcpy(p->state.block + param->offset, found->f32, param->n * sizeof(float));
    }
    p->has_average = true;
    return COV_OK;
}

/* Checks that counts and Adam's parameters are plausible. */
static int check_counts(const struct cov_ckpt *c, const struct cov_ckpt_training *t,
                        struct cov_err *e)
{
    const struct cov_ckpt_adam *a = &t->adam;
    if (c->epoch > MAX_COUNT || c->global_step > MAX_COUNT || t->n_batches > MAX_COUNT ||
        t->stopping.wait_count < 0 || t->stopping.wait_count > MAX_COUNT)
        return cov_fail(e, COV_EINPUT, "implausible counts: %lld epochs and %lld steps",
                        (long long)c->epoch, (long long)c->global_step);
    if (a->is_there &&
        !(a->beta1 >= 0 && a->beta1 < 1 && a->beta2 >= 0 && a->beta2 < 1 && a->eps >= 0))
        return cov_fail(e, COV_EINPUT, "optimizer_states: betas %g, %g and eps %g are not Adam's",
                        a->beta1, a->beta2, a->eps);
    if (a->is_there && !(a->weight_decay >= 0 && a->weight_decay <= COV_TRAIN_MAX_DECAY))
        return cov_fail(e, COV_EINPUT, "optimizer_states: implausible weight_decay %g",
                        a->weight_decay);
    const struct cov_ckpt_part *part = &t->part;
    if (part->is_there && (part->n_steps > c->global_step || !isfinite(part->loss) ||
                           !isfinite(part->accuracy) || !(part->chunks >= 0)))
        return cov_fail(e, COV_EINPUT, COV_CKPT_PART ": implausible values");
    for (size_t i = 0; a->moments && i < a->n_params; i++)
        if (!(a->moments[i].step >= 0 && a->moments[i].step <= (double)MAX_COUNT))
            return cov_fail(e, COV_EINPUT, "optimizer_states: parameter %zu has %g steps", i,
                            a->moments[i].step);
    return COV_OK;
}

static int fill_point(const struct cov_model *m, const struct cov_ckpt *c,
                      struct cov_train_network *n, struct cov_train_ckpt *p, struct cov_err *e)
{
    int rc = check_counts(c, &p->training, e);
    if (rc)
        return rc;
    memcpy(p->state.block, m->block, n->params.n_floats * sizeof(float));
    p->epoch = c->epoch - p->training.part.is_there;
    p->state.n_steps = c->global_step;
    p->n_batches = read_count(c);
    if (p->n_batches < 0)
        p->n_batches = p->training.n_batches > 0
                           ? p->training.n_batches + p->training.part.n_batches
                           : c->global_step;
    rc = p->training.adam.moments ? take_moments(n, p, e) : COV_OK;
    if (!rc && p->training.n_current > 0)
        rc = take_current(n, p, e);
    cov_ckpt_training_forget(&p->training);
    return rc;
}

int cov_train_ckpt_read(const char *path, size_t L, struct cov_train_network *n,
                        struct cov_train_ckpt *p, struct cov_err *e)
{
    struct cov_model *m = NULL;
    struct cov_ckpt *c = NULL;
    struct cov_ckpt_training training = {0};
    *n = (struct cov_train_network){0};
    *p = (struct cov_train_ckpt){0};
    int rc = cov_model_open(path, &m, e);
    if (!rc)
        rc = cov_ckpt_read(path, &c, e);
    if (!rc)
        rc = cov_ckpt_read_training(path, &training, e);
    if (rc)
        goto out;
    const struct cov_hparam *rate = cov_ckpt_hparam(c, "learning_rate");
    rc = cov_train_network_init(n, &m->hp, (const char *const *)m->datasets,
                                rate && rate->number > 0 ? rate->number : 0.001, L, e);
    if (!rc)
        rc = cov_train_ckpt_init(p, n, e);
    if (rc)
        goto out;
    for (size_t i = 0; i < c->n_made; i++)
        p->has_scaled_targets =
            p->has_scaled_targets || strcmp(c->made[i].name, "target_scale") == 0;
    p->training = training;
    training = (struct cov_ckpt_training){0};
    rc = fill_point(m, c, n, p, e);
    if (rc)
        (void)cov_err_prefix(e, rc, "%s", path);
out:
    cov_ckpt_training_fini(&training);
    cov_ckpt_free(c);
    cov_model_close(m);
    if (rc) {
        cov_train_network_fini(n);
        cov_train_ckpt_fini(p);
    }
    return rc;
}

/* ---------------------------------------------------------------- writing */

/* Returns a tensor that borrows its elements. */
static struct cov_torch_tensor borrow(const struct cov_param *param, float *elems)
{
    struct cov_torch_tensor t = {
        .dtype = COV_TORCH_FLOAT32, .n_dims = param->n_dims, .n_elems = param->n};
    t.f32 = elems;
    for (int d = 0; d < param->n_dims; d++)
        t.shape[d] = (int64_t)param->shape[d];
    return t;
}

/* Lists Adam's state of all trained parameters. Caller frees a->moments, but not the borrowed
 * elements. */
static int list_moments(const struct cov_train_network *n, const struct cov_train_ckpt *p,
                        struct cov_ckpt_adam *a, struct cov_err *e)
{
    a->is_there = true;
    a->n_params = 0;
    a->moments = cov_calloc(n->params.n_items, sizeof *a->moments, e);
    if (!a->moments)
        return COV_ENOMEM;
    for (size_t i = 0; i < n->params.n_items; i++) {
        const struct cov_param *param = &n->params.items[i];
        if (!param->trained)
            continue;
        struct cov_ckpt_moments *m = &a->moments[a->n_params++];
        if (n->frozen[i])
            continue;
        *m = (struct cov_ckpt_moments){(double)p->state.n_steps,
                                       borrow(param, p->state.moment1 + param->offset),
                                       borrow(param, p->state.moment2 + param->offset)};
    }
    if (!p->has_moments) {
        free(a->moments);
        a->moments = NULL;
    }
    return COV_OK;
}

/* Checks that the file has the weights and moments that were written. */
static int read_back(const char *path, const struct cov_train_network *n,
                     const struct cov_train_ckpt *p, struct cov_err *e)
{
    struct cov_train_network n2;
    struct cov_train_ckpt p2;
    int rc = cov_train_ckpt_read(path, n->L, &n2, &p2, e);
    if (rc)
        return rc;
    size_t n_bytes = n->params.n_floats * sizeof(float);
    bool same = n2.params.n_floats == n->params.n_floats && p2.epoch == p->epoch &&
                p2.state.n_steps == p->state.n_steps && p2.has_average == p->has_average &&
                p2.has_moments == p->has_moments &&
                (!p->has_moments ||
                 memcmp(n2.frozen, n->frozen, n->params.n_items * sizeof *n->frozen) == 0) &&
                memcmp(p2.state.block, p->state.block, n_bytes) == 0;
    for (size_t i = 0; same && p->has_moments && i < n->params.n_items; i++) {
        const struct cov_param *param = &n->params.items[i];
        size_t at = param->offset, size = param->trained ? param->n * sizeof(float) : 0;
        same = memcmp(p2.state.moment1 + at, p->state.moment1 + at, size) == 0 &&
               memcmp(p2.state.moment2 + at, p->state.moment2 + at, size) == 0;
    }
    if (same && p->has_average)
        same = memcmp(p2.state.average, p->state.average, n_bytes) == 0;
    cov_train_network_fini(&n2);
    cov_train_ckpt_fini(&p2);
    return same ? COV_OK
                : cov_fail(e, COV_EIO, "%s: data read back differs from data written", path);
}

int cov_train_ckpt_write(const char *path, const struct cov_train_network *n,
                         const struct cov_train_ckpt *p, struct cov_err *e)
{
    struct cov_ckpt c = COV_CKPT_INIT, current = COV_CKPT_INIT;
    struct cov_ckpt_training t = p->training; /* borrows its strings */
    t.current = NULL;
    t.n_current = 0;
    int rc = list_moments(n, p, &t.adam, e);
    if (!rc)
        rc = cov_ckpt_set_version(&c, LIGHTNING, e);
    c.epoch = p->epoch + p->training.part.is_there;
    c.global_step = p->state.n_steps;
    if (!rc)
        rc = cov_model_add_hparams(&c, &n->hp, n->L, n->learning_rate,
                                   (const char *const *)n->datasets, e);
    if (!rc)
        rc = cov_model_add_tensors(
            &c, &n->params, p->has_average ? p->state.average : p->state.block, p->n_batches, e);
    if (!rc && p->has_average) {
        rc = cov_model_add_tensors(&current, &n->params, p->state.block, p->n_batches, e);
        t.current = current.tensors;
        t.n_current = current.n_tensors;
    }
    c.made = n->made.made; /* borrowed */
    c.n_made = n->made.n_made;
    if (!rc)
        rc = cov_ckpt_write_training(path, &c, &t, e);
    c.made = NULL;
    c.n_made = 0;
    if (!rc)
        rc = read_back(path, n, p, e);
    free(t.adam.moments);
    cov_ckpt_fini(&c);
    cov_ckpt_fini(&current);
    return rc;
}
