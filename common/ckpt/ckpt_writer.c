/* ckpt_writer.c - see ckpt.h: writing.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/ckpt/ckpt.h"
#include "common/ckpt/ckpt_private.h"
#include "common/ckpt/zip.h"

void cov_ckpt_put_tensor(struct cov_ckpt_put *p, const char *storage, size_t elem_bytes,
                         size_t n_elems, int n_dims, const int64_t *shape, const void *data)
{
    struct cov_pickle_writer *w = &p->w;
    char key[24];
    int rc = COV_RESERVE(&p->storages, &p->cap_storages, p->n_storages + 1, &w->err);
    if (rc)
        return;
    (void)snprintf(key, sizeof key, "%zu", p->n_storages);
    p->storages[p->n_storages++] = (struct cov_ckpt_storage){data, n_elems * elem_bytes};
    cov_pickle_global(w, "torch._utils", "_rebuild_tensor_v2");
    cov_pickle_begin_tuple(w);
    cov_pickle_begin_tuple(w);
    cov_pickle_text(w, "storage");
    cov_pickle_global(w, "torch", storage);
    cov_pickle_text(w, key);
    cov_pickle_text(w, "cpu");
    cov_pickle_int(w, (int64_t)n_elems);
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

void cov_ckpt_put_torch(struct cov_ckpt_put *p, const struct cov_torch_tensor *t)
{
    cov_ckpt_put_tensor(p, t->f32 ? "FloatStorage" : "LongStorage",
                        t->f32 ? sizeof *t->f32 : sizeof *t->i64, t->n_elems, t->n_dims, t->shape,
                        t->f32 ? (const void *)t->f32 : t->i64);
}

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

static void put_state(struct cov_ckpt_put *p, const char *key,
                      const struct cov_torch_tensor *tensors, size_t n)
{
    cov_pickle_text(&p->w, key);
    cov_pickle_begin_ordered_dict(&p->w);
    for (size_t i = 0; i < n; i++) {
        cov_pickle_text(&p->w, tensors[i].name);
        cov_ckpt_put_torch(p, &tensors[i]);
    }
    cov_pickle_end_dict(&p->w);
}

static int put_checkpoint(struct cov_ckpt_put *p, const struct cov_ckpt *c,
                          const struct cov_ckpt_training *t, struct cov_ckpt_scratch *scratch,
                          struct cov_err *e)
{
    struct cov_pickle_writer *w = &p->w;
    cov_pickle_begin(w);
    cov_pickle_begin_dict(w);
    cov_pickle_text(w, "epoch");
    cov_pickle_int(w, c->epoch);
    cov_pickle_text(w, "global_step");
    cov_pickle_int(w, c->global_step);
    cov_pickle_text(w, "pytorch-lightning_version");
    cov_pickle_text(w, c->lightning_version);
    put_state(p, "state_dict", c->tensors, c->n_tensors);
    int rc = cov_ckpt_put_training(p, c, t, scratch, e);
    if (rc)
        return rc;
    cov_pickle_text(w, "hparams_name");
    cov_pickle_text(w, "kwargs");
    cov_pickle_text(w, "hyper_parameters");
    cov_pickle_begin_dict(w);
    for (size_t i = 0; i < c->n_hparams; i++)
        put_hparam(w, &c->hparams[i]);
    cov_pickle_end_dict(w);
    if (t && t->n_current > 0)
        put_state(p, "current_model_state", t->current, t->n_current);
    cov_pickle_end_dict(w);
    return cov_pickle_stop(w, e);
}

/* `what` there is of those without names of their own. */
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
            return cov_fail(e, COV_EUNSUPPORTED, "hyper-parameter %s of type %s cannot be written",
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

static int write_archive(const char *path, const struct cov_ckpt_put *p, struct cov_err *e)
{
    struct cov_zip_writer *zip = NULL;
    /* 512 bytes are more than a storage needs beside its data. */
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
    struct cov_ckpt_put p = {.w = COV_PICKLE_WRITER_INIT};
    struct cov_ckpt_scratch scratch = {0};
    int rc = check_writable(c, t, e);
    if (!rc)
        rc = put_checkpoint(&p, c, t, &scratch, e);
    if (!rc)
        rc = write_archive(path, &p, e);
    free(p.w.data);
    free(p.storages);
    free(scratch.scalars);
    free(scratch.torch_rng);
    return rc;
}

int cov_ckpt_write(const char *path, const struct cov_ckpt *c, struct cov_err *e)
{
    return cov_ckpt_write_training(path, c, NULL, e);
}
