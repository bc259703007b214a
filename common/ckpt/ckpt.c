/* ckpt.c - see ckpt.h: builds checkpoints, and reads all but the state of training
 * (ckpt_training.c). ckpt_writer.c writes.
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/ckpt.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/file/path.h"

#define MADE "covtools"

/* ---------------------------------------------------------------- memory and look-up */

static void hparam_fini(struct cov_hparam *h)
{
    free(h->name);
    free(h->string);
    for (size_t i = 0; i < h->n_strings; i++)
        free(h->strings[i]);
    free(h->strings);
}

static void hparams_fini(struct cov_hparam *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hparam_fini(&h[i]);
    free(h);
}

void cov_ckpt_fini(struct cov_ckpt *c)
{
    free(c->lightning_version);
    hparams_fini(c->hparams, c->n_hparams);
    hparams_fini(c->made, c->n_made);
    for (size_t i = 0; i < c->n_tensors; i++)
        cov_torch_tensor_fini(&c->tensors[i]);
    free(c->tensors);
    *c = (struct cov_ckpt)COV_CKPT_INIT;
}

void cov_ckpt_free(struct cov_ckpt *c)
{
    if (c)
        cov_ckpt_fini(c);
    free(c);
}

const struct cov_hparam *cov_ckpt_hparam(const struct cov_ckpt *c, const char *name)
{
    for (size_t i = 0; i < c->n_hparams; i++)
        if (strcmp(c->hparams[i].name, name) == 0)
            return &c->hparams[i];
    return NULL;
}

const struct cov_torch_tensor *cov_ckpt_tensor(const struct cov_ckpt *c, const char *name)
{
    for (size_t i = 0; i < c->n_tensors; i++)
        if (strcmp(c->tensors[i].name, name) == 0)
            return &c->tensors[i];
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Fails if two of names[0..n) are equal. Sorts them. */
static int check_unique(const char **names, size_t n, const char *what, struct cov_err *e)
{
    qsort(names, n, sizeof *names, by_text);
    for (size_t i = 1; i < n; i++)
        if (strcmp(names[i], names[i - 1]) == 0)
            return cov_fail(e, COV_EINPUT, "duplicate %s %s", what, names[i]);
    return COV_OK;
}

int cov_ckpt_check_names(const struct cov_ckpt *c, struct cov_err *e)
{
    size_t n = c->n_hparams > c->n_tensors ? c->n_hparams : c->n_tensors;
    const char **names = cov_malloc(n, sizeof *names, e);
    if (!names)
        return COV_ENOMEM;
    for (size_t i = 0; i < c->n_hparams; i++)
        names[i] = c->hparams[i].name;
    int rc = check_unique(names, c->n_hparams, "hyperparameter", e);
    for (size_t i = 0; i < c->n_tensors; i++)
        names[i] = c->tensors[i].name;
    if (!rc)
        rc = check_unique(names, c->n_tensors, "tensor", e);
    free(names);
    return rc;
}

/* ---------------------------------------------------------------- building */

static int set_text(char **to, const char *text, struct cov_err *e)
{
    char *copy = cov_strdup(text, e);
    if (!copy)
        return COV_ENOMEM;
    free(*to);
    *to = copy;
    return COV_OK;
}

int cov_ckpt_set_version(struct cov_ckpt *c, const char *lightning_version, struct cov_err *e)
{
    return set_text(&c->lightning_version, lightning_version, e);
}

/* Appends *h with a copy of `name` to (*list)[*n]. Takes what *h owns, even on failure. */
static int append_hparam(struct cov_hparam **list, size_t *n, const char *name,
                         struct cov_hparam *h, struct cov_err *e)
{
    struct cov_hparam *grown = cov_realloc(*list, *n + 1, sizeof *grown, e);
    if (grown)
        *list = grown;
    int rc = grown ? set_text(&h->name, name, e) : COV_ENOMEM;
    if (rc)
        hparam_fini(h);
    else
        (*list)[(*n)++] = *h;
    return rc;
}

static int add_hparam(struct cov_ckpt *c, const char *name, struct cov_hparam *h, struct cov_err *e)
{
    return append_hparam(&c->hparams, &c->n_hparams, name, h, e);
}

int cov_ckpt_add_made(struct cov_ckpt *c, const char *name, const char *value, struct cov_err *e)
{
    struct cov_hparam h = {.kind = COV_HPARAM_STRING};
    int rc = set_text(&h.string, value, e);
    return rc ? rc : append_hparam(&c->made, &c->n_made, name, &h, e);
}

int cov_ckpt_add_bool(struct cov_ckpt *c, const char *name, bool value, struct cov_err *e)
{
    struct cov_hparam h = {.kind = COV_HPARAM_BOOL, .boolean = value};
    return add_hparam(c, name, &h, e);
}

int cov_ckpt_add_int(struct cov_ckpt *c, const char *name, int64_t value, struct cov_err *e)
{
    struct cov_hparam h = {.kind = COV_HPARAM_INT, .integer = value, .number = (double)value};
    return add_hparam(c, name, &h, e);
}

int cov_ckpt_add_float(struct cov_ckpt *c, const char *name, double value, struct cov_err *e)
{
    struct cov_hparam h = {.kind = COV_HPARAM_FLOAT, .number = value};
    return add_hparam(c, name, &h, e);
}

int cov_ckpt_add_string(struct cov_ckpt *c, const char *name, const char *value, struct cov_err *e)
{
    struct cov_hparam h = {.kind = COV_HPARAM_STRING};
    int rc = set_text(&h.string, value, e);
    return rc ? rc : add_hparam(c, name, &h, e);
}

int cov_ckpt_add_strings(struct cov_ckpt *c, const char *name, const char *const *values, size_t n,
                         struct cov_err *e)
{
    struct cov_hparam h = {.kind = COV_HPARAM_STRINGS};
    h.strings = cov_calloc(n, sizeof *h.strings, e);
    int rc = h.strings ? COV_OK : COV_ENOMEM;
    for (; !rc && h.n_strings < n; h.n_strings++)
        rc = set_text(&h.strings[h.n_strings], values[h.n_strings], e);
    if (!rc)
        return add_hparam(c, name, &h, e);
    hparam_fini(&h);
    return rc;
}

int cov_ckpt_add_tensor(struct cov_ckpt *c, const char *name, enum cov_torch_dtype dtype,
                        int n_dims, const int64_t *shape, struct cov_torch_tensor **out,
                        struct cov_err *e)
{
    struct cov_torch_tensor t = {.dtype = dtype, .n_dims = n_dims, .n_elems = 1};
    if (n_dims < 0 || n_dims > COV_TORCH_MAX_DIMS ||
        (dtype != COV_TORCH_FLOAT32 && dtype != COV_TORCH_INT64))
        return cov_fail(e, COV_EUNSUPPORTED, "tensor %s: %d dimensions of %s", name, n_dims,
                        cov_torch_dtype_name(dtype));
    for (int i = 0; i < n_dims; i++) {
        t.shape[i] = shape[i];
        if (shape[i] < 0 || cov_size_mul(t.n_elems, (size_t)shape[i], &t.n_elems))
            return cov_fail(e, COV_ENOMEM, "tensor %s: too large", name);
    }
    struct cov_torch_tensor *grown = cov_realloc(c->tensors, c->n_tensors + 1, sizeof *grown, e);
    if (grown)
        c->tensors = grown;
    int rc = grown ? set_text(&t.name, name, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_torch_tensor_alloc(&t, e);
    if (rc) {
        cov_torch_tensor_fini(&t);
        return rc;
    }
    c->tensors[c->n_tensors] = t;
    *out = &c->tensors[c->n_tensors++];
    return COV_OK;
}

/* ---------------------------------------------------------------- reading */

/* Sets *out to the value of `key`, which must be of kind `kind`. */
static int get_value(const struct cov_pickle_value *root, const char *key,
                     enum cov_pickle_kind kind, const struct cov_pickle_value **out,
                     struct cov_err *e)
{
    const struct cov_pickle_value *v = cov_pickle_get(root, key);
    *out = v;
    if (!v)
        return cov_fail(e, COV_EINPUT, "not a PyTorch Lightning checkpoint: %s is missing", key);
    /* A dict may be an instance of a subclass. */
    bool dict = kind == COV_PICKLE_DICT && v->kind == COV_PICKLE_OBJECT;
    if (v->kind != kind && !dict)
        return cov_fail(e, COV_EINPUT, "%s has type %s", key, cov_pickle_type(v));
    return COV_OK;
}

static int get_count(const struct cov_pickle_value *root, const char *key, int64_t *out,
                     struct cov_err *e)
{
    const struct cov_pickle_value *v;
    int rc = get_value(root, key, COV_PICKLE_INT, &v, e);
    if (!rc && v->u.integer < 0)
        rc = cov_fail(e, COV_EINPUT, "%s is negative", key);
    if (!rc)
        *out = v->u.integer;
    return rc;
}

static bool is_strings(const struct cov_pickle_value *v)
{
    if (v->kind != COV_PICKLE_LIST && v->kind != COV_PICKLE_TUPLE)
        return false;
    for (size_t i = 0; i < v->n_items; i++)
        if (v->items[i]->kind != COV_PICKLE_STRING)
            return false;
    return true;
}

/* Fills *h. The caller must free it with hparam_fini, even on failure. */
static int read_hparam_value(const struct cov_pickle_value *v, struct cov_hparam *h,
                             struct cov_err *e)
{
    switch (v->kind) {
    case COV_PICKLE_NONE:
        h->kind = COV_HPARAM_NONE;
        return COV_OK;
    case COV_PICKLE_BOOL:
        h->kind = COV_HPARAM_BOOL;
        h->boolean = v->u.boolean;
        return COV_OK;
    case COV_PICKLE_INT:
        h->kind = COV_HPARAM_INT;
        h->integer = v->u.integer;
        h->number = (double)v->u.integer;
        return COV_OK;
    case COV_PICKLE_FLOAT:
        h->kind = COV_HPARAM_FLOAT;
        h->number = v->u.number;
        return COV_OK;
    case COV_PICKLE_STRING:
        h->kind = COV_HPARAM_STRING;
        return cov_pickle_string(v, &h->string, e);
    default:
        break;
    }
    if (!is_strings(v)) {
        h->kind = COV_HPARAM_OTHER;
        return set_text(&h->string, cov_pickle_type(v), e);
    }
    h->kind = COV_HPARAM_STRINGS;
    h->strings = cov_calloc(v->n_items, sizeof *h->strings, e);
    int rc = h->strings ? COV_OK : COV_ENOMEM;
    for (; !rc && h->n_strings < v->n_items; h->n_strings++)
        rc = cov_pickle_string(v->items[h->n_strings], &h->strings[h->n_strings], e);
    return rc;
}

/* Reads a dict to (*list)[0..*n). `name` is for messages. */
static int read_hparams(const struct cov_pickle_value *dict, const char *name,
                        struct cov_hparam **list, size_t *n, struct cov_err *e)
{
    *list = cov_calloc(dict->n_items / 2, sizeof **list, e);
    int rc = *list ? COV_OK : COV_ENOMEM;
    for (; !rc && *n < dict->n_items / 2; (*n)++) {
        struct cov_hparam *h = &(*list)[*n];
        rc = cov_pickle_string(dict->items[2 * *n], &h->name, e);
        if (!rc)
            rc = read_hparam_value(dict->items[2 * *n + 1], h, e);
    }
    if (rc)
        (void)cov_err_prefix(e, rc, "%s", name);
    return rc;
}

static int read_tensors(struct cov_torch_file *f, const struct cov_pickle_value *dict,
                        struct cov_ckpt *c, struct cov_err *e)
{
    c->tensors = cov_calloc(dict->n_items / 2, sizeof *c->tensors, e);
    int rc = c->tensors ? COV_OK : COV_ENOMEM;
    for (; !rc && c->n_tensors < dict->n_items / 2; c->n_tensors++) {
        char *name;
        rc = cov_pickle_string(dict->items[2 * c->n_tensors], &name, e);
        if (!rc)
            rc = cov_torch_read_tensor(f, dict->items[2 * c->n_tensors + 1], name,
                                       &c->tensors[c->n_tensors], e);
        free(name);
    }
    return rc;
}

/* Removes `prefix` from the names of the tensors if all have it; else returns false. */
static bool strip_prefix(struct cov_ckpt *c, const char *prefix)
{
    const size_t n = strlen(prefix);
    for (size_t i = 0; i < c->n_tensors; i++)
        if (strncmp(c->tensors[i].name, prefix, n) != 0)
            return false;
    for (size_t i = 0; i < c->n_tensors; i++)
        memmove(c->tensors[i].name, c->tensors[i].name + n, strlen(c->tensors[i].name + n) + 1);
    return c->n_tensors > 0;
}

/* Removes what wrappers add to names: DistributedDataParallel puts "module." before all of them,
 * torch.compile "_orig_mod." before those of the module that was compiled. */
static void strip_wrappers(struct cov_ckpt *c)
{
    static const char compiled[] = "._orig_mod.";
    while (strip_prefix(c, compiled + 1) || strip_prefix(c, "module."))
        ;
    for (size_t i = 0; i < c->n_tensors; i++)
        for (char *at = c->tensors[i].name; (at = strstr(at, compiled)) != NULL;)
            memmove(at, at + sizeof compiled - 2, strlen(at + sizeof compiled - 2) + 1);
}

/* Reads all but the tensors. Messages do not name the file yet. */
static int read_plain(const struct cov_pickle_value *root, struct cov_ckpt *c,
                      const struct cov_pickle_value **state, struct cov_err *e)
{
    const struct cov_pickle_value *version, *hparams;
    int rc = get_value(root, "state_dict", COV_PICKLE_DICT, state, e);
    if (!rc)
        rc = get_value(root, "hyper_parameters", COV_PICKLE_DICT, &hparams, e);
    if (!rc)
        rc = get_count(root, "epoch", &c->epoch, e);
    if (!rc)
        rc = get_count(root, "global_step", &c->global_step, e);
    if (!rc)
        rc = get_value(root, "pytorch-lightning_version", COV_PICKLE_STRING, &version, e);
    if (!rc)
        rc = cov_pickle_string(version, &c->lightning_version, e);
    if (!rc)
        rc = read_hparams(hparams, "hyper_parameters", &c->hparams, &c->n_hparams, e);
    const struct cov_pickle_value *optimisers = cov_pickle_get(root, "optimizer_states"),
                                  *made = cov_pickle_get(root, MADE);
    c->has_optimiser = optimisers && optimisers->n_items > 0;
    c->within_epoch = cov_pickle_get(root, COV_CKPT_PART) != NULL;
    return rc || !made || made->kind != COV_PICKLE_DICT
               ? rc
               : read_hparams(made, MADE, &c->made, &c->n_made, e);
}

/* `path` was not opened. If it is a directory that covtrain wrote, hints at a checkpoint. */
static void hint_at_best(const char *path, struct cov_err *e)
{
    char *best = cov_path_join(path, COV_CKPT_BEST, NULL);
    if (best && access(best, F_OK) == 0)
        cov_err_append(e, "; did you mean %s?", best);
    free(best);
}

int cov_ckpt_read(const char *path, struct cov_ckpt **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_torch_file *f = NULL;
    const struct cov_pickle_value *state = NULL;
    struct cov_ckpt *c = cov_calloc(1, sizeof *c, e);
    if (!c)
        return COV_ENOMEM;
    int rc = cov_torch_open(path, &f, e);
    if (rc) {
        hint_at_best(path, e);
        goto out;
    }
    rc = read_plain(cov_torch_root(f), c, &state, e);
    if (rc) {
        (void)cov_err_prefix(e, rc, "%s", path);
        goto out;
    }
    rc = read_tensors(f, state, c, e);
    if (rc)
        goto out;
    strip_wrappers(c);
    rc = cov_ckpt_check_names(c, e);
    if (rc)
        (void)cov_err_prefix(e, rc, "%s", path);
out:
    cov_torch_close(f);
    if (rc)
        cov_ckpt_free(c);
    else
        *out = c;
    return rc;
}
