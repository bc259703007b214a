/* model.c - see model.h.
 * SPDX-License-Identifier: MIT */
#include "common/input/model.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/ckpt/ckpt.h"
#include "common/compute/device_open.h"
#include "common/net/shape.h"

static const char *const kind_names[] = {
    [COV_HPARAM_NONE] = "None",       [COV_HPARAM_BOOL] = "a bool",
    [COV_HPARAM_INT] = "an int",      [COV_HPARAM_FLOAT] = "a float",
    [COV_HPARAM_STRING] = "a string", [COV_HPARAM_STRINGS] = "a list of strings",
};

/* Fails with the actual and expected type of a hyperparameter. */
static int wrong_kind(const struct cov_hparam *h, const char *wanted, struct cov_err *e)
{
    const char *is = h->kind == COV_HPARAM_OTHER ? h->string : kind_names[h->kind];
    return cov_fail(e, COV_EINPUT, "hyperparameter %s is %s, not %s", h->name, is, wanted);
}

static int find(const struct cov_ckpt *c, const char *name, const struct cov_hparam **out,
                struct cov_err *e)
{
    *out = cov_ckpt_hparam(c, name);
    if (!*out)
        return cov_fail(e, COV_EINPUT, "hyperparameter %s is missing", name);
    return COV_OK;
}

/* Reads an integer, stored as int or float. */
static int read_integer(const struct cov_ckpt *c, const char *name, int64_t *out, struct cov_err *e)
{
    const struct cov_hparam *h;
    if (find(c, name, &h, e))
        return COV_EINPUT;
    if (h->kind == COV_HPARAM_INT) {
        *out = h->integer;
        return COV_OK;
    }
    if (h->kind != COV_HPARAM_FLOAT)
        return wrong_kind(h, "an integer", e);
    /* Also false for NaN. Every integer up to 2^53 is exact in a double. */
    if (!(fabs(h->number) <= 0x1p53 && h->number == floor(h->number)))
        return cov_fail(e, COV_EINPUT, "hyperparameter %s is %g, not an integer", name, h->number);
    *out = (int64_t)h->number;
    return COV_OK;
}

static int read_number(const struct cov_ckpt *c, const char *name, double *out, struct cov_err *e)
{
    const struct cov_hparam *h;
    if (find(c, name, &h, e))
        return COV_EINPUT;
    if (h->kind != COV_HPARAM_INT && h->kind != COV_HPARAM_FLOAT)
        return wrong_kind(h, "a number", e);
    *out = h->number;
    return COV_OK;
}

/* Reads a bool, stored as bool, 0 or 1. */
static int read_bool(const struct cov_ckpt *c, const char *name, bool *out, struct cov_err *e)
{
    const struct cov_hparam *h;
    if (find(c, name, &h, e))
        return COV_EINPUT;
    if (h->kind == COV_HPARAM_BOOL) {
        *out = h->boolean;
        return COV_OK;
    }
    if ((h->kind != COV_HPARAM_INT && h->kind != COV_HPARAM_FLOAT) ||
        (h->number != 0 && h->number != 1))
        return wrong_kind(h, "True or False", e);
    *out = h->number != 0;
    return COV_OK;
}

/* Hyperparameters that are sizes, in the order of a checkpoint. */
static const struct {
    const char *name;
    size_t field; /* int64_t of struct cov_hparams */
    bool of_lstm;
} sizes[] = {
    {"cnn_layers", offsetof(struct cov_hparams, cnn_layers), false},
    {"filter_size", offsetof(struct cov_hparams, filter_size), false},
    {"kernel_size", offsetof(struct cov_hparams, kernel_size), false},
    {"step", offsetof(struct cov_hparams, step), false},
    {"up", offsetof(struct cov_hparams, up), false},
    {"dilation", offsetof(struct cov_hparams, dilation), false},
    {"lstm_layers", offsetof(struct cov_hparams, lstm_layers), true},
    {"hidden_size", offsetof(struct cov_hparams, hidden_size), true},
};

static int64_t *size_of(struct cov_hparams *hp, size_t i)
{
    return (int64_t *)(void *)((char *)hp + sizes[i].field);
}

static int read_hparams(const struct cov_ckpt *c, struct cov_hparams *hp, struct cov_err *e)
{
    const struct cov_hparam *type;
    if (find(c, "model_type", &type, e))
        return COV_EINPUT;
    if (type->kind != COV_HPARAM_STRING)
        return wrong_kind(type, "a string", e);
    if (cov_model_type_parse(type->string, &hp->model_type, e))
        return COV_EINPUT;
    bool lstm = hp->model_type != COV_MODEL_CNN;
    for (size_t i = 0; i < COV_COUNT(sizes); i++)
        if ((lstm || !sizes[i].of_lstm) && read_integer(c, sizes[i].name, size_of(hp, i), e))
            return COV_EINPUT;
    if (read_integer(c, "input_size", &hp->input_size, e) ||
        read_integer(c, "output_size", &hp->output_size, e))
        return COV_EINPUT;
    if (read_bool(c, "bnorm", &hp->bnorm, e))
        return COV_EINPUT;
    if (lstm && read_number(c, "dropout", &hp->dropout, e))
        return COV_EINPUT;
    return cov_hparams_check(hp, e);
}

static int copy_datasets(const struct cov_ckpt *c, struct cov_model *m, struct cov_err *e)
{
    const struct cov_hparam *h;
    if (find(c, "datasets", &h, e))
        return COV_EINPUT;
    if (h->kind != COV_HPARAM_STRINGS)
        return wrong_kind(h, "a list of strings", e);
    if (h->n_strings != (size_t)m->hp.output_size)
        return cov_fail(e, COV_EINPUT, "datasets has %zu names, but output_size is %lld",
                        h->n_strings, (long long)m->hp.output_size);
    m->datasets = cov_calloc(h->n_strings, sizeof *m->datasets, e);
    if (!m->datasets)
        return COV_ENOMEM;
    for (size_t i = 0; i < h->n_strings; i++) {
        const char *name = h->strings[i];
        if (!*name)
            return cov_fail(e, COV_EINPUT, "datasets: name %zu is empty", i + 1);
        for (size_t j = 0; j < i; j++)
            if (strcmp(name, m->datasets[j]) == 0)
                return cov_fail(e, COV_EINPUT, "datasets: duplicate name \"%s\"", name);
        m->datasets[i] = cov_strdup(name, e);
        if (!m->datasets[i])
            return COV_ENOMEM;
    }
    return COV_OK;
}

enum { SHAPE_TEXT = COV_TORCH_MAX_DIMS * 24 };

/* Returns "64 x 4 x 9", or "a scalar". */
static const char *shape_text(int n_dims, const int64_t *shape, char text[SHAPE_TEXT])
{
    size_t n = 0;
    if (n_dims == 0)
        return "a scalar";
    for (int d = 0; d < n_dims; d++)
        n += (size_t)snprintf(text + n, SHAPE_TEXT - n, "%s%lld", d ? " x " : "",
                              (long long)shape[d]);
    return text;
}

static int check_shape(const struct cov_torch_tensor *t, const struct cov_param *param,
                       struct cov_err *e)
{
    int64_t wanted[3];
    bool same = t->n_dims == param->n_dims;
    for (int d = 0; d < param->n_dims; d++) {
        wanted[d] = (int64_t)param->shape[d];
        same = same && t->shape[d] == wanted[d];
    }
    char is[SHAPE_TEXT], should[SHAPE_TEXT];
    if (!same)
        return cov_fail(e, COV_EINPUT, "tensor %s is %s, but the hyperparameters make it %s",
                        param->name, shape_text(t->n_dims, t->shape, is),
                        shape_text(param->n_dims, wanted, should));
    if (!t->f32)
        return cov_fail(e, COV_EINPUT, "tensor %s has type %s, not a floating-point one",
                        param->name, cov_torch_dtype_name(t->dtype));
    return COV_OK;
}

/* Returns true if `name` is the count of batches that a norm of the network saw in training. */
static bool is_batch_count(const struct cov_params *params, const char *name)
{
    char mean[sizeof params->items[0].name];
    size_t n = strlen(name), n_suffix = sizeof COV_MODEL_COUNT - 1;
    if (n < n_suffix || n >= sizeof mean || strcmp(name + n - n_suffix, COV_MODEL_COUNT) != 0)
        return false;
    (void)snprintf(mean, sizeof mean, "%.*s.running_mean", (int)(n - n_suffix), name);
    return cov_params_find(params, mean) != NULL;
}

/* Checks that tensors and parameters match before allocating, so that the parameters are no
 * larger than the tensors read from the file. */
static int copy_tensors(const struct cov_ckpt *c, const struct cov_params *params,
                        struct cov_model *m, struct cov_err *e)
{
    for (size_t i = 0; i < c->n_tensors; i++) {
        const char *name = c->tensors[i].name;
        if (!cov_params_find(params, name) && !is_batch_count(params, name))
            return cov_fail(
                e, COV_EINPUT,
                "unknown tensor %s: a network with these hyperparameters does not have it", name);
    }
    for (size_t i = 0; i < params->n_items; i++) {
        const struct cov_torch_tensor *t = cov_ckpt_tensor(c, params->items[i].name);
        if (!t)
            return cov_fail(e, COV_EINPUT, "tensor %s is missing", params->items[i].name);
        if (check_shape(t, &params->items[i], e))
            return COV_EINPUT;
    }
    m->block = cov_calloc64(params->n_floats, sizeof *m->block, e);
    if (!m->block)
        return COV_ENOMEM;
    for (size_t i = 0; i < params->n_items; i++) {
        const struct cov_param *param = &params->items[i];
        memcpy(m->block + param->offset, cov_ckpt_tensor(c, param->name)->f32,
               param->n * sizeof *m->block);
        if (param->trained)
            m->n_parameters += param->n;
    }
    return COV_OK;
}

static int describe_network(struct cov_model *m, struct cov_err *e)
{
    const struct cov_hparams *hp = &m->hp;
    char lstm[64] = "";
    if (hp->model_type != COV_MODEL_CNN)
        (void)snprintf(lstm, sizeof lstm, " %lld LSTM layer%s,", (long long)hp->lstm_layers,
                       cov_text_s(hp->lstm_layers));
    char *names = cov_strjoin((const char *const *)m->datasets, (size_t)hp->output_size, ", ", e);
    if (!names)
        return COV_ENOMEM;
    m->description = cov_strfmt(e, "%s, %lld convolution%s,%s %zu parameters: %s",
                                cov_model_type_name(hp->model_type), (long long)hp->cnn_layers,
                                cov_text_s(hp->cnn_layers), lstm, m->n_parameters, names);
    free(names);
    if (!m->description)
        return COV_ENOMEM;
    cov_make_printable(m->description);
    return COV_OK;
}

static int fill_model(const struct cov_ckpt *c, struct cov_model *m, struct cov_err *e)
{
    struct cov_params params = {0};
    int rc = read_hparams(c, &m->hp, e);
    if (rc)
        return rc;
    rc = copy_datasets(c, m, e);
    if (rc)
        return rc;
    rc = cov_params_init(&m->hp, &params, e);
    if (rc)
        return rc;
    rc = copy_tensors(c, &params, m, e);
    cov_params_fini(&params);
    return rc ? rc : describe_network(m, e);
}

int cov_model_open(const char *path, struct cov_model **out, struct cov_err *e)
{
    struct cov_ckpt *c = NULL;
    struct cov_model *m = NULL;
    *out = NULL;
    int rc = cov_ckpt_read(path, &c, e); /* errors name the file */
    if (rc)
        return rc;
    m = cov_calloc(1, sizeof *m, e);
    if (m)
        m->path = cov_strdup(path, e);
    if (!m || !m->path) {
        rc = COV_ENOMEM;
        goto out;
    }
    rc = fill_model(c, m, e);
    if (rc) {
        (void)cov_err_prefix(e, rc, "%s", path);
        goto out;
    }
    rc = cov_sha256_file(path, m->sha256, e);
    if (rc)
        goto out;
    *out = m;
    m = NULL;
out:
    cov_model_close(m);
    cov_ckpt_free(c);
    return rc;
}

void cov_model_close(struct cov_model *m)
{
    if (!m)
        return;
    for (int64_t i = 0; m->datasets && i < m->hp.output_size; i++)
        free(m->datasets[i]);
    free(m->datasets);
    free(m->block);
    free(m->description);
    free(m->path);
    free(m);
}

int cov_model_check_length(const struct cov_model *m, size_t L, struct cov_err *e)
{
    struct cov_params params = {0};
    struct cov_layers layers;
    int rc = cov_params_init(&m->hp, &params, e);
    if (rc)
        return rc;
    rc = cov_shape(&m->hp, L, &params, NULL, &layers, e);
    cov_layers_fini(&layers);
    cov_params_fini(&params);
    return rc;
}

int cov_model_add_hparams(struct cov_ckpt *c, const struct cov_hparams *hp, size_t L,
                          double learning_rate, const char *const *datasets, struct cov_err *e)
{
    struct cov_hparams copy = *hp;
    int rc = cov_ckpt_add_string(c, "model_type", cov_model_type_name(hp->model_type), e);
    for (size_t i = 0; !rc && i < COV_COUNT(sizes); i++)
        rc = cov_ckpt_add_int(c, sizes[i].name, *size_of(&copy, i), e);
    if (!rc)
        rc = cov_ckpt_add_bool(c, "bnorm", hp->bnorm, e);
    if (!rc)
        rc = cov_ckpt_add_float(c, "dropout", hp->dropout, e);
    if (!rc)
        rc = cov_ckpt_add_float(c, "learning_rate", learning_rate, e);
    if (!rc)
        rc = cov_ckpt_add_int(c, "seq_len", (int64_t)L, e);
    if (!rc)
        rc = cov_ckpt_add_int(c, "input_size", hp->input_size, e);
    if (!rc)
        rc = cov_ckpt_add_int(c, "output_size", hp->output_size, e);
    return rc ? rc : cov_ckpt_add_strings(c, "datasets", datasets, (size_t)hp->output_size, e);
}

int cov_model_add_tensors(struct cov_ckpt *c, const struct cov_params *params, const float *block,
                          int64_t n_batches, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < params->n_items; i++) {
        const struct cov_param *p = &params->items[i];
        const char *var = strstr(p->name, ".running_var");
        char name[sizeof p->name + sizeof COV_MODEL_COUNT];
        const int64_t shape[] = {(int64_t)p->shape[0], (int64_t)p->shape[1], (int64_t)p->shape[2]};
        struct cov_torch_tensor *t;
        rc = cov_ckpt_add_tensor(c, p->name, COV_TORCH_FLOAT32, p->n_dims, shape, &t, e);
        if (!rc)
            memcpy(t->f32, block + p->offset, p->n * sizeof *block);
        if (rc || !var)
            continue;
        (void)snprintf(name, sizeof name, "%.*s" COV_MODEL_COUNT, (int)(var - p->name), p->name);
        rc = cov_ckpt_add_tensor(c, name, COV_TORCH_INT64, 0, NULL, &t, e);
        if (!rc)
            t->i64[0] = n_batches;
    }
    return rc;
}

/* ---------------------------------------------------------------- ensembles */

void cov_ensemble_close(struct cov_ensemble *m)
{
    if (!m)
        return;
    for (size_t i = 0; m->models && i < m->n; i++)
        cov_model_close(m->models[i]);
    for (size_t d = 0; m->datasets && d < m->n_datasets; d++)
        free(m->datasets[d]);
    free(m->models);
    free(m->datasets);
    free(m->path);
    free(m->sha256);
    free(m->description);
    free(m);
}

static char *join_datasets(const struct cov_model *m, struct cov_err *e)
{
    return cov_strjoin((const char *const *)m->datasets, (size_t)m->hp.output_size, ", ", e);
}

static int fail_datasets(const struct cov_model *a, const struct cov_model *b, struct cov_err *e)
{
    char *first = join_datasets(a, e), *other = join_datasets(b, e);
    int rc = first && other ? cov_fail(e, COV_EINPUT,
                                       "%s: its datasets are %s, but those of %s are %s; an "
                                       "ensemble needs the same ones in the same order",
                                       b->path, other, a->path, first)
                            : COV_ENOMEM;
    free(first);
    free(other);
    return rc;
}

/* Checks that model i differs from those before it, and predicts the same. */
static int check_model(const struct cov_ensemble *m, size_t i, struct cov_err *e)
{
    const struct cov_model *first = m->models[0], *b = m->models[i];
    for (size_t k = 0; k < i; k++)
        if (strcmp(m->models[k]->sha256, b->sha256) == 0)
            return cov_fail(e, COV_EINPUT, "--model: %s and %s are the same checkpoint",
                            m->models[k]->path, b->path);
    bool same = b->hp.output_size == first->hp.output_size;
    for (int64_t d = 0; same && d < b->hp.output_size; d++)
        same = strcmp(b->datasets[d], first->datasets[d]) == 0;
    return same ? COV_OK : fail_datasets(first, b, e);
}

static int name_datasets(struct cov_ensemble *m, struct cov_err *e)
{
    const struct cov_model *first = m->models[0];
    const size_t n = (size_t)first->hp.output_size;
    m->datasets = cov_calloc(2 * n, sizeof *m->datasets, e);
    if (!m->datasets)
        return COV_ENOMEM;
    for (; m->n_datasets < (m->sd ? 2 * n : n); m->n_datasets++) {
        const size_t d = m->n_datasets;
        m->datasets[d] = d < n ? cov_strdup(first->datasets[d], e)
                               : cov_strfmt(e, "%s_sd", first->datasets[d - n]);
        if (!m->datasets[d])
            return COV_ENOMEM;
        for (size_t k = 0; d >= n && k < n; k++)
            if (strcmp(m->datasets[k], m->datasets[d]) == 0)
                return cov_fail(e, COV_EINPUT,
                                "%s: --ensemble sd would add %s, which is already a dataset",
                                first->path, m->datasets[d]);
    }
    return COV_OK;
}

/* Fills in the texts that describe all models. */
static int describe_models(struct cov_ensemble *m, struct cov_err *e)
{
    const char **texts = cov_calloc(m->n, sizeof *texts, e);
    char *names = join_datasets(m->models[0], e);
    if (texts && names) {
        for (size_t i = 0; i < m->n; i++)
            texts[i] = m->models[i]->path;
        m->path = cov_strjoin(texts, m->n, ",", e);
        for (size_t i = 0; i < m->n; i++)
            texts[i] = m->models[i]->sha256;
        m->sha256 = cov_strjoin(texts, m->n, ",", e);
        m->description =
            m->n == 1 ? cov_strdup(m->models[0]->description, e)
                      : cov_strfmt(e, "%s of %zu networks: %s",
                                   m->sd ? "mean and standard deviation" : "mean", m->n, names);
    }
    free(texts);
    free(names);
    return m->path && m->sha256 && m->description ? COV_OK : COV_ENOMEM;
}

int cov_ensemble_open(const char *const *paths, size_t n, bool sd, struct cov_ensemble **out,
                      struct cov_err *e)
{
    *out = NULL;
    if (sd && n < 2)
        return cov_fail(e, COV_EUSAGE, "--ensemble sd: needs at least two checkpoints");
    struct cov_ensemble *m = cov_calloc(1, sizeof *m, e);
    if (!m)
        return COV_ENOMEM;
    m->sd = sd;
    m->models = cov_calloc(n, sizeof *m->models, e);
    int rc = m->models ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        rc = cov_model_open(paths[i], &m->models[i], e);
        m->n += !rc;
        if (!rc)
            rc = check_model(m, i, e);
    }
    if (!rc)
        rc = name_datasets(m, e);
    if (!rc)
        rc = describe_models(m, e);
    if (rc) {
        cov_ensemble_close(m);
        return rc;
    }
    *out = m;
    return COV_OK;
}

int cov_ensemble_check_length(const struct cov_ensemble *m, size_t L, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < m->n; i++)
        rc = cov_model_check_length(m->models[i], L, e);
    return rc;
}

int cov_ensemble_try(const struct cov_ensemble *m, struct cov_device *dev, size_t L,
                     struct cov_err *e)
{
    unsigned n_waiting = cov_device_waiting(dev);
    int rc = COV_OK;
    for (size_t i = 0; !rc && n_waiting > 0 && i < m->n; i++)
        rc = cov_net_try(dev, &m->models[i]->hp, m->models[i]->block, L, n_waiting, e);
    return rc;
}

int cov_ensemble_net(const struct cov_ensemble *m, struct cov_device *dev, struct cov_net_size size,
                     struct cov_net **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_net_member *members = cov_calloc(m->n, sizeof *members, e);
    if (!members)
        return COV_ENOMEM;
    for (size_t i = 0; i < m->n; i++)
        members[i] = (struct cov_net_member){&m->models[i]->hp, m->models[i]->block};
    int rc = cov_net_new_ensemble(dev, members, m->n, m->sd, size, out, e);
    free(members);
    return rc;
}
