/* ensemble.c - see ensemble.h.
 * SPDX-License-Identifier: MIT */
#include "common/input/ensemble.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/compute/device_open.h"

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
