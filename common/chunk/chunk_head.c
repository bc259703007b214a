/* chunk_head.c - see chunk_head.h.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/chunk_head.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"

/* Bytes of a name with its terminator, as in h5.h. */
enum { NAME_BYTES = 256, MAX_STRING_BYTES = 65536 };

void cov_chunk_head_fini(struct cov_chunk_head *h)
{
    for (size_t i = 0; i < h->n_sets; i++) {
        free(h->sets[i].name);
        free(h->sets[i].fill);
    }
    for (size_t i = 0; i < h->n_tables; i++) {
        free(h->tables[i].name);
        free(h->tables[i].elems);
    }
    for (size_t i = 0; i < h->n_attrs; i++) {
        free(h->attrs[i].set);
        free(h->attrs[i].name);
        free(h->attrs[i].text);
    }
    free(h->sets);
    free(h->tables);
    free(h->attrs);
    memset(h, 0, sizeof *h);
}

int cov_chunk_head_copy(const struct cov_chunk_head *from, struct cov_chunk_head *to,
                        struct cov_err *e)
{
    memset(to, 0, sizeof *to);
    to->L = from->L;
    to->has_bases = from->has_bases;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < from->n_sets; i++)
        rc = cov_chunk_head_add_set(to, &from->sets[i], e);
    for (size_t i = 0; !rc && i < from->n_tables; i++)
        rc = cov_chunk_head_add_table(to, &from->tables[i], e);
    for (size_t i = 0; !rc && i < from->n_attrs; i++)
        rc = cov_chunk_head_add_attr(to, from->attrs[i].set, from->attrs[i].name,
                                     from->attrs[i].text, e);
    if (rc)
        cov_chunk_head_fini(to);
    return rc;
}

/* ---- checks ---- */

bool cov_chunk_head_is_reserved(const char *name)
{
    static const char *const reserved[] = {
        "data/X",          "data/X_packed",  "data/seqids",      "data/species",
        "data/start_ends", "data/seq_names", "data/seq_species", "data/seq_lengths",
    };
    for (size_t i = 0; i < COV_COUNT(reserved); i++)
        if (strcmp(name, reserved[i]) == 0)
            return true;
    return false;
}

/* Returns true for a path without empty, "." or ".." components. */
static bool is_path(const char *name)
{
    size_t n = strlen(name), beg = 0;
    if (n == 0 || n >= NAME_BYTES)
        return false;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && name[i] != '/')
            continue;
        if (i == beg || (i == beg + 1 && name[beg] == '.') ||
            (i == beg + 2 && memcmp(name + beg, "..", 2) == 0))
            return false;
        beg = i + 1;
    }
    return true;
}

static int check_name(const struct cov_chunk_head *h, const char *name, struct cov_err *e)
{
    if (!is_path(name))
        return cov_fail(e, COV_EINPUT, "\"%s\" is not a valid dataset name", name);
    if (cov_chunk_head_is_reserved(name))
        return cov_fail(e, COV_EINPUT, "%s: the name is reserved for the grid or the bases", name);
    if (cov_chunk_head_set(h, name) || cov_chunk_head_table(h, name))
        return cov_fail(e, COV_EINPUT, "%s: duplicate dataset", name);
    return COV_OK;
}

static bool is_type(const struct cov_h5_type *t)
{
    size_t n = t->bytes;
    switch (t->kind) {
    case COV_H5_INT:
        return !t->big_endian && (n == 1 || n == 2 || n == 4 || n == 8);
    case COV_H5_FLOAT:
        return !t->big_endian && (n == 2 || n == 4 || n == 8);
    case COV_H5_STRING:
        return n > 0 && n <= MAX_STRING_BYTES && (t->padding == '\0' || t->padding == ' ');
    case COV_H5_BOOL:
        return n == 1;
    }
    return false;
}

/* Sets *n to the bytes of all elements. dims[n_dims] holds the last of up to 3 dimensions; those
 * past the rank are 1. */
static int check_shape(const char *name, const struct cov_h5_type *type, int rank,
                       const size_t *dims, int n_dims, size_t *n, struct cov_err *e)
{
    enum { MAX_RANK = 3 };
    if (!is_type(type))
        return cov_fail(e, COV_EINPUT, "%s: unsupported type", name);
    if (rank < 1 || rank > MAX_RANK)
        return cov_fail(e, COV_EINPUT, "%s: %d dimensions", name, rank);
    *n = type->bytes;
    bool too_large = false;
    for (int i = 0; i < n_dims; i++) {
        if (i >= rank - (MAX_RANK - n_dims) && dims[i] != 1)
            return cov_fail(e, COV_EINPUT, "%s: damaged shape", name);
        too_large = too_large || cov_size_mul(*n, dims[i], n);
    }
    if (too_large || *n > COV_H5_MAX_BYTES)
        return cov_fail(e, COV_EINPUT, "%s: more than 1 GiB in one piece is not supported", name);
    return COV_OK;
}

/* ---- adding ---- */

/* Fails if there are already as many as a sound file can have. */
static int check_count(size_t n, const char *what, struct cov_err *e)
{
    return n < COV_CHUNK_MAX_SETS
               ? COV_OK
               : cov_fail(e, COV_EINPUT, "more than %d %s", COV_CHUNK_MAX_SETS, what);
}

int cov_chunk_head_add_set(struct cov_chunk_head *h, const struct cov_chunk_set *set,
                           struct cov_err *e)
{
    size_t n = 0;
    int rc = check_name(h, set->name, e);
    if (!rc)
        rc = check_shape(set->name, &set->type, set->rank, set->dims, 2, &n, e);
    if (rc)
        return rc;
    if (n == 0)
        return cov_fail(e, COV_EINPUT, "%s: its rows are empty", set->name);
    rc = check_count(h->n_sets, "datasets", e);
    if (!rc)
        rc = COV_RESERVE(&h->sets, &h->cap_sets, h->n_sets + 1, e);
    if (rc)
        return rc;
    struct cov_chunk_set *s = &h->sets[h->n_sets];
    *s = *set;
    s->name = cov_strdup(set->name, e);
    s->fill = cov_calloc(set->type.bytes, 1, e);
    if (!s->name || !s->fill) {
        free(s->name);
        free(s->fill);
        return COV_ENOMEM;
    }
    if (set->fill)
        memcpy(s->fill, set->fill, set->type.bytes);
    h->n_sets++;
    return COV_OK;
}

int cov_chunk_head_add_table(struct cov_chunk_head *h, const struct cov_chunk_table *table,
                             struct cov_err *e)
{
    size_t n = 0;
    int rc = check_name(h, table->name, e);
    if (!rc)
        rc = check_shape(table->name, &table->type, table->rank, table->dims, 3, &n, e);
    if (!rc && n != table->n_bytes)
        rc =
            cov_fail(e, COV_EINPUT, "%s: %zu bytes instead of %zu", table->name, table->n_bytes, n);
    if (rc)
        return rc;
    rc = check_count(h->n_tables, "tables", e);
    if (!rc)
        rc = COV_RESERVE(&h->tables, &h->cap_tables, h->n_tables + 1, e);
    if (rc)
        return rc;
    struct cov_chunk_table *t = &h->tables[h->n_tables];
    *t = *table;
    t->name = cov_strdup(table->name, e);
    t->elems = cov_malloc(n, 1, e);
    if (!t->name || !t->elems) {
        free(t->name);
        free(t->elems);
        return COV_ENOMEM;
    }
    if (n > 0)
        memcpy(t->elems, table->elems, n);
    h->n_tables++;
    return COV_OK;
}

int cov_chunk_head_add_texts(struct cov_chunk_head *h, const char *name, size_t width, size_t n,
                             const char *const *texts, struct cov_err *e)
{
    size_t n_bytes;
    if (width == 0)
        width = 1;
    for (size_t i = 0; i < n; i++)
        if (strlen(texts[i]) > width)
            width = strlen(texts[i]);
    if (cov_size_mul(n, width, &n_bytes))
        return cov_fail(e, COV_ENOMEM, "out of memory: %zu strings of %zu bytes", n, width);
    struct cov_chunk_table table = {
        .name = cov_strdup(name, e),
        .type = {COV_H5_STRING, width, false, false, '\0'},
        .rank = 1,
        .dims = {n, 1, 1},
        .elems = cov_calloc(n_bytes, 1, e),
        .n_bytes = n_bytes,
    };
    int rc = table.name && table.elems ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        memcpy(table.elems + i * width, texts[i], strlen(texts[i]));
    if (!rc)
        rc = cov_chunk_head_add_table(h, &table, e);
    free(table.name);
    free(table.elems);
    return rc;
}

int cov_chunk_head_add_attr(struct cov_chunk_head *h, const char *set, const char *name,
                            const char *text, struct cov_err *e)
{
    const char *place = set ? set : "the file";
    if (!*name || strlen(name) >= NAME_BYTES)
        return cov_fail(e, COV_EINPUT, "%s: \"%s\" is not a valid attribute name", place, name);
    if (cov_chunk_head_attr(h, set, name))
        return cov_fail(e, COV_EINPUT, "%s: duplicate attribute %s", place, name);
    if (set && !cov_chunk_head_set(h, set) && !cov_chunk_head_table(h, set) &&
        !cov_chunk_head_has_group(h, set))
        return cov_fail(e, COV_EINPUT, "attribute %s of %s, which is missing", name, set);
    int rc = check_count(h->n_attrs, "attributes", e);
    if (!rc)
        rc = COV_RESERVE(&h->attrs, &h->cap_attrs, h->n_attrs + 1, e);
    if (rc)
        return rc;
    struct cov_chunk_attr *a = &h->attrs[h->n_attrs];
    a->set = set ? cov_strdup(set, e) : NULL;
    a->name = cov_strdup(name, e);
    a->text = cov_strdup(text, e);
    if ((set && !a->set) || !a->name || !a->text) {
        free(a->set);
        free(a->name);
        free(a->text);
        return COV_ENOMEM;
    }
    h->n_attrs++;
    return COV_OK;
}

void cov_chunk_head_drop_attr(struct cov_chunk_head *h, const char *set, const char *name)
{
    for (size_t i = 0; i < h->n_attrs; i++) {
        struct cov_chunk_attr *a = &h->attrs[i];
        if (!cov_text_same(a->set, set) || strcmp(a->name, name) != 0)
            continue;
        free(a->set);
        free(a->name);
        free(a->text);
        memmove(a, a + 1, (--h->n_attrs - i) * sizeof *a);
        return;
    }
}

/* ---- looking up ---- */

static bool is_in_group(const char *name, const char *group)
{
    const size_t n = strlen(group);
    return strncmp(name, group, n) == 0 && name[n] == '/';
}

bool cov_chunk_head_has_group(const struct cov_chunk_head *h, const char *name)
{
    for (size_t i = 0; i < h->n_sets; i++)
        if (is_in_group(h->sets[i].name, name))
            return true;
    for (size_t i = 0; i < h->n_tables; i++)
        if (is_in_group(h->tables[i].name, name))
            return true;
    return strcmp(name, "data") == 0; /* of the grid */
}

const struct cov_chunk_set *cov_chunk_head_set(const struct cov_chunk_head *h, const char *name)
{
    for (size_t i = 0; i < h->n_sets; i++)
        if (strcmp(h->sets[i].name, name) == 0)
            return &h->sets[i];
    return NULL;
}

const struct cov_chunk_table *cov_chunk_head_table(const struct cov_chunk_head *h, const char *name)
{
    for (size_t i = 0; i < h->n_tables; i++)
        if (strcmp(h->tables[i].name, name) == 0)
            return &h->tables[i];
    return NULL;
}

const char *cov_chunk_head_attr(const struct cov_chunk_head *h, const char *set, const char *name)
{
    for (size_t i = 0; i < h->n_attrs; i++)
        if (cov_text_same(h->attrs[i].set, set) && strcmp(h->attrs[i].name, name) == 0)
            return h->attrs[i].text;
    return NULL;
}

bool cov_chunk_head_same_attr(const struct cov_chunk_head *a, const struct cov_chunk_head *b,
                              const char *set, const char *name)
{
    return cov_text_same(cov_chunk_head_attr(a, set, name), cov_chunk_head_attr(b, set, name));
}

bool cov_chunk_table_is_list(const struct cov_chunk_table *t, size_t n)
{
    return t->type.kind == COV_H5_STRING && t->rank == 1 && t->dims[0] == n;
}

char *cov_chunk_table_text(const struct cov_chunk_table *t, size_t i, struct cov_err *e)
{
    const char *text = (const char *)t->elems + i * t->type.bytes;
    return cov_strndup(text, cov_h5_string_length(&t->type, text), e);
}

size_t cov_chunk_set_row_bytes(const struct cov_chunk_set *set)
{
    return set->dims[0] * set->dims[1] * set->type.bytes;
}

int cov_chunk_head_check_fill(const struct cov_chunk_head *h, int64_t longest, bool so_far,
                              struct cov_err *e)
{
    enum { MIN_SHARE = 16, BASE_BYTES = 8 };
    const size_t large = (size_t)1 << (so_far ? 28 : 26);
    if ((uint64_t)longest >= h->L / MIN_SHARE)
        return COV_OK;
    size_t bytes = h->has_bases ? h->L * BASE_BYTES : h->L;
    for (size_t k = 0; k < h->n_sets && bytes <= large; k++)
        bytes += cov_chunk_set_row_bytes(&h->sets[k]);
    return bytes <= large
               ? COV_OK
               : cov_fail(e, COV_EINPUT,
                          "chunks of %zu positions are nearly empty: the longest "
                          "sequence%s has %lld bases%s",
                          h->L, so_far ? " so far" : "", (long long)longest,
                          so_far ? "; a stream of such chunks must start with the longest" : "");
}
