/* ckpt_info.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/ckpt/ckpt.h"
#include "common/file/hash.h"
#include "common/file/peek_kind.h"

struct facts {
    const char *path;
    struct cov_ckpt *ckpt;
    char sha256[COV_SHA256_TEXT];
    int64_t n_bytes, n_parameters;
};

bool cov_ckpt_info_applies(const char *path)
{
    bool packed;
    enum cov_kind kind = cov_kind_of_file(path, &packed);
    return !packed && (kind == COV_KIND_CKPT || kind == COV_KIND_ZIP);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Counts trained parameters, as Predmoter does: no statistics of norms. */
static int64_t count_parameters(const struct cov_ckpt *c)
{
    int64_t n = 0;
    for (size_t i = 0; i < c->n_tensors; i++) {
        const struct cov_torch_tensor *t = &c->tensors[i];
        if (t->f32 && !ends_with(t->name, ".running_mean") && !ends_with(t->name, ".running_var"))
            n += (int64_t)t->n_elems;
    }
    return n;
}

/* Returns the value as text. Caller frees. */
static char *value_text(const struct cov_hparam *h, struct cov_err *e)
{
    switch (h->kind) {
    case COV_HPARAM_BOOL:
        return cov_strdup(h->boolean ? "true" : "false", e);
    case COV_HPARAM_INT:
        return cov_strfmt(e, "%" PRId64, h->integer);
    case COV_HPARAM_FLOAT:
        return cov_strfmt(e, "%.10g", h->number);
    case COV_HPARAM_STRING:
        return cov_strdup(h->string, e);
    case COV_HPARAM_STRINGS:
        return cov_strjoin((const char *const *)h->strings, h->n_strings, ", ", e);
    case COV_HPARAM_NONE:
        return cov_strdup("none", e);
    case COV_HPARAM_OTHER:
        break;
    }
    return cov_strfmt(e, "a value of type %s", h->string);
}

/* ---- text ---- */

/* Prints "  WHAT NAME: TEXT" without control characters; frees `text`. */
static int print_line(FILE *out, const char *what, const char *name, char *text, struct cov_err *e)
{
    char *line = text ? cov_strfmt(e, "%-14s  %s%s%s", what, name, *name ? ": " : "", text) : NULL;
    free(text);
    if (!line)
        return COV_ENOMEM;
    cov_make_printable(line);
    (void)fprintf(out, "  %s\n", line);
    free(line);
    return COV_OK;
}

static int print_list(FILE *out, const char *what, const struct cov_hparam *list, size_t n,
                      struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = print_line(out, what, list[i].name, value_text(&list[i], e), e);
    return rc;
}

static int print_facts(const struct facts *f, FILE *out, struct cov_err *e)
{
    const struct cov_ckpt *c = f->ckpt;
    char *path = cov_strdup(f->path, e);
    if (!path)
        return COV_ENOMEM;
    cov_make_printable(path);
    (void)fprintf(out, "%s: checkpoint of a network\n", path);
    free(path);
    (void)fprintf(out, "  %-14s  %" PRId64 " bytes\n", "size", f->n_bytes);
    (void)fprintf(out, "  %-14s  %s\n", "SHA-256", f->sha256);
    (void)fprintf(out, "  %-14s  %" PRId64 " in %zu tensors\n", "parameters", f->n_parameters,
                  c->n_tensors);
    (void)fprintf(out, "  %-14s  epoch %" PRId64 "%s, %" PRId64 " steps, %s\n", "training",
                  c->epoch, c->within_epoch ? " (not complete)" : "", c->global_step,
                  c->has_optimiser ? "with the state of the optimiser"
                                   : "without the state of an optimiser");
    int rc = c->n_made ? print_list(out, "made by", c->made, c->n_made, e)
                       : print_line(out, "made by", "",
                                    cov_strfmt(e, "PyTorch Lightning %s, such as Predmoter",
                                               c->lightning_version),
                                    e);
    return rc ? rc : print_list(out, "hyperparameter", c->hparams, c->n_hparams, e);
}

/* ---- JSON ---- */

static void put_value(struct cov_json *j, const struct cov_hparam *h)
{
    switch (h->kind) {
    case COV_HPARAM_BOOL:
        cov_json_bool(j, h->name, h->boolean);
        return;
    case COV_HPARAM_INT:
        cov_json_int(j, h->name, h->integer);
        return;
    case COV_HPARAM_FLOAT:
        cov_json_double(j, h->name, h->number);
        return;
    case COV_HPARAM_STRINGS:
        cov_json_begin_array(j, h->name);
        for (size_t i = 0; i < h->n_strings; i++)
            cov_json_string(j, NULL, h->strings[i]);
        cov_json_end_array(j);
        return;
    case COV_HPARAM_STRING:
    case COV_HPARAM_NONE:
    case COV_HPARAM_OTHER:
        cov_json_string(j, h->name, h->kind == COV_HPARAM_STRING ? h->string : NULL);
    }
}

static void put_list(struct cov_json *j, const char *key, const struct cov_hparam *list, size_t n)
{
    cov_json_begin_object(j, key);
    for (size_t i = 0; i < n; i++)
        put_value(j, &list[i]);
    cov_json_end_object(j);
}

static void put_facts(const struct facts *f, struct cov_json *j)
{
    const struct cov_ckpt *c = f->ckpt;
    cov_json_begin_object(j, NULL);
    cov_json_string(j, "path", f->path);
    cov_json_string(j, "format", "pytorch");
    cov_json_string(j, "kind", "checkpoint");
    cov_json_int(j, "file_bytes", f->n_bytes);
    cov_json_string(j, "sha256", f->sha256);
    cov_json_int(j, "parameters", f->n_parameters);
    cov_json_int(j, "tensors", (int64_t)c->n_tensors);
    cov_json_int(j, "epoch", c->epoch);
    cov_json_bool(j, "epoch_complete", !c->within_epoch);
    cov_json_int(j, "steps", c->global_step);
    cov_json_bool(j, "optimiser", c->has_optimiser);
    cov_json_string(j, "lightning_version", c->lightning_version);
    put_list(j, "made_by", c->made, c->n_made);
    put_list(j, "hyperparameters", c->hparams, c->n_hparams);
    cov_json_end_object(j);
}

int cov_ckpt_info(const char *path, struct cov_json *j, FILE *out, int64_t *n_bytes,
                  struct cov_err *e)
{
    struct stat st;
    struct facts f = {.path = path};
    *n_bytes = 0;
    if (stat(path, &st))
        return cov_fail_errno(e, "%s", path);
    *n_bytes = f.n_bytes = st.st_size;
    int rc = cov_ckpt_read(path, &f.ckpt, e);
    if (rc)
        return rc;
    f.n_parameters = count_parameters(f.ckpt);
    rc = cov_sha256_file(path, f.sha256, e);
    if (!rc && j)
        put_facts(&f, j);
    else if (!rc)
        rc = print_facts(&f, out, e);
    cov_ckpt_free(f.ckpt);
    return rc;
}
