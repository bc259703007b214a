/* chunk_file.c - see chunk_file.h: reading.
 * SPDX-License-Identifier: MIT */
#include "common/chunk/chunk_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/chunk/chunk_table.h"
#include "common/chunk/predictions.h"
#include "common/h5/h5.h"

/* Upper bound of the size of all tables of a file together. Tables are lists of names and similar
 * data. */
#define MAX_TABLE_BYTES ((size_t)1 << 28)

#define START_ENDS "data/start_ends"

struct cov_chunk_file {
    struct cov_h5 *h5;
    struct cov_bases *bases;  /* NULL: there are none */
    struct cov_h5_set **sets; /* in the order of head.sets */
    size_t n_sets, n_rows, table_bytes;
    bool is_whole; /* all datasets are read */
    struct cov_chunk_head head;
    struct cov_grid *grid;
};

/* ---- opening ---- */

static int open_bases(struct cov_chunk_file *f, struct cov_err *e)
{
    int rc = cov_bases_open(f->h5, &f->bases, e);
    if (rc)
        return rc;
    f->head.has_bases = true;
    f->head.L = cov_bases_length(f->bases);
    f->n_rows = cov_bases_n_rows(f->bases);
    return COV_OK;
}

static int count_rows(struct cov_chunk_file *f, struct cov_err *e)
{
    struct cov_h5_set *set;
    int rc = cov_h5_set_open(f->h5, START_ENDS, 2, &set, e);
    if (rc)
        return rc;
    f->n_rows = cov_h5_set_rows(set)->dims[0];
    cov_h5_set_close(set);
    return COV_OK;
}

static bool starts_with(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

/* Returns true if dataset `name` is in a group whose rows are chunks. */
static bool is_in_rows(const char *name)
{
    static const char *const groups[] = {"data", "evaluation", "prediction", "scores"};
    static const char annotations[] = "alternative/"; /* with a group for each */
    const char *slash = strrchr(name, '/');
    if (!slash || strcmp(name, COV_PREDICTIONS_MODEL) == 0 ||
        strcmp(name, COV_PREDICTIONS_DATASETS) == 0)
        return false;
    if (starts_with(name, annotations))
        return strchr(name + strlen(annotations), '/') == slash;
    for (size_t i = 0; i < COV_COUNT(groups); i++)
        if (starts_with(name, groups[i]) && name + strlen(groups[i]) == slash)
            return true;
    return false;
}

/* Sets *yes to whether dataset `name` has one row per chunk. Fails if it should have, but its
 * number of rows is wrong. */
static int is_by_chunk(const struct cov_chunk_file *f, const char *name, int rank, size_t n_rows,
                       bool *yes, struct cov_err *e)
{
    *yes = false;
    if (!is_in_rows(name))
        return COV_OK;
    *yes = n_rows == f->n_rows;
    if (!*yes && (starts_with(name, "data/") || rank > 1))
        return cov_fail(e, COV_EINPUT, "%s: %s: %zu rows, but there are %zu chunks",
                        cov_h5_path(f->h5), name, n_rows, f->n_rows);
    return COV_OK;
}

/* Swaps the byte order of n elements in place. */
static void swap_elements(uint8_t *p, size_t bytes, size_t n)
{
    for (; n-- > 0; p += bytes)
        for (size_t i = 0; i < bytes / 2; i++) {
            uint8_t byte = p[i];
            p[i] = p[bytes - 1 - i];
            p[bytes - 1 - i] = byte;
        }
}

/* Takes ownership of *s. */
static int add_set(struct cov_chunk_file *f, const char *name, int rank, struct cov_h5_set *s,
                   struct cov_err *e)
{
    const struct cov_h5_rows *r = cov_h5_set_rows(s);
    uint8_t *fill = cov_malloc(r->type.bytes, 1, e);
    struct cov_chunk_set set = {
        .name = cov_strdup(name, e),
        .type = r->type,
        .rank = rank,
        .dims = {r->dims[1], r->dims[2]},
        .fill = fill,
    };
    int rc = set.name && fill ? COV_OK : COV_ENOMEM;
    if (!rc) {
        memcpy(fill, r->fill, r->type.bytes);
        if (r->type.big_endian)
            swap_elements(fill, r->type.bytes, 1);
        set.type.big_endian = false;
        rc = cov_chunk_head_add_set(&f->head, &set, e);
        if (rc)
            rc = cov_err_prefix(e, rc, "%s", cov_h5_path(f->h5));
    }
    free(set.name);
    free(fill);
    if (rc)
        cov_h5_set_close(s);
    else
        f->sets[f->n_sets++] = s;
    return rc;
}

static int read_table(struct cov_chunk_file *f, const char *name, int rank, struct cov_h5_set *s,
                      struct cov_err *e)
{
    const struct cov_h5_rows *r = cov_h5_set_rows(s);
    size_t n_elems, n_bytes;
    if (cov_size_mul(r->dims[0], r->dims[1] * r->dims[2], &n_elems) ||
        cov_size_mul(n_elems, r->type.bytes, &n_bytes) ||
        n_bytes > MAX_TABLE_BYTES - f->table_bytes)
        return cov_fail(e, COV_EINPUT, "%s: %s: more than 256 MiB of tables", cov_h5_path(f->h5),
                        name);
    int rc = cov_h5_set_check_claims(f->h5, s, e);
    if (rc)
        return rc;
    f->table_bytes += n_bytes;
    struct cov_chunk_table table = {
        .name = cov_strdup(name, e),
        .type = r->type,
        .rank = rank,
        .dims = {r->dims[0], r->dims[1], r->dims[2]},
        .elems = cov_malloc(n_bytes, 1, e),
        .n_bytes = n_bytes,
    };
    rc = table.name && table.elems ? COV_OK : COV_ENOMEM;
    if (!rc && n_elems > 0)
        rc = cov_h5_set_read(s, 0, r->dims[0], 0, r->dims[2], table.elems, e);
    if (!rc) {
        if (r->type.big_endian)
            swap_elements(table.elems, r->type.bytes, n_elems);
        table.type.big_endian = false;
        rc = cov_chunk_head_add_table(&f->head, &table, e);
        if (rc)
            rc = cov_err_prefix(e, rc, "%s", cov_h5_path(f->h5));
    }
    free(table.name);
    free(table.elems);
    return rc;
}

static int add_data(struct cov_chunk_file *f, const char *name, struct cov_err *e)
{
    struct cov_h5_set *s;
    struct cov_h5_storage storage;
    bool by_chunk = false;
    int rc = cov_h5_set_open_unchecked(f->h5, name, 0, &s, e);
    if (rc)
        return rc;
    rc = cov_h5_set_storage(s, &storage, e);
    if (!rc)
        rc = is_by_chunk(f, name, storage.rank, cov_h5_set_rows(s)->dims[0], &by_chunk, e);
    if (!rc && by_chunk)
        rc = cov_h5_set_check_claims(f->h5, s, e);
    if (!rc && by_chunk)
        return add_set(f, name, storage.rank, s, e);
    if (!rc)
        rc = read_table(f, name, storage.rank, s, e);
    cov_h5_set_close(s);
    return rc;
}

/* Adds the attributes of a dataset or group, or of the file if `set` is NULL. */
static int add_attrs(struct cov_chunk_file *f, const char *set, struct cov_err *e)
{
    struct cov_h5_attr *attrs;
    size_t n;
    int rc = cov_h5_list_attrs(f->h5, set, &attrs, &n, e);
    for (size_t i = 0; !rc && i < n; i++) {
        const char *name = attrs[i].name;
        if (!set && strcmp(name, "partial") == 0)
            continue;
        if (!attrs[i].text) {
            if (f->is_whole)
                cov_warn("%s: %s%sattribute %.100s is not a string; skipped", cov_h5_path(f->h5),
                         set ? set : "", set ? ": " : "", name);
            continue;
        }
        rc = cov_chunk_head_add_attr(&f->head, set, name, attrs[i].text, e);
        if (rc)
            rc = cov_err_prefix(e, rc, "%s", cov_h5_path(f->h5));
    }
    cov_h5_free_attrs(attrs, n);
    return rc;
}

/* Adds those of these datasets that the file has, and all attributes. */
static int add_named(struct cov_chunk_file *f, const char *const *names, size_t n,
                     struct cov_err *e)
{
    f->sets = cov_calloc(n, sizeof(struct cov_h5_set *), e);
    int rc = f->sets ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        int found = cov_chunk_head_is_reserved(names[i]) ? 0 : cov_h5_has(f->h5, names[i], e);
        rc = found > 0 ? add_data(f, names[i], e) : found;
    }
    if (!rc)
        rc = add_attrs(f, NULL, e);
    for (size_t i = 0; !rc && i < f->head.n_sets; i++)
        rc = add_attrs(f, f->head.sets[i].name, e);
    for (size_t i = 0; !rc && i < f->head.n_tables; i++)
        rc = add_attrs(f, f->head.tables[i].name, e);
    return rc;
}

static int add_all(struct cov_chunk_file *f, struct cov_err *e)
{
    char **names;
    size_t n;
    int rc = cov_h5_list_sets(f->h5, &names, &n, e);
    if (rc)
        return rc;
    f->is_whole = true;
    rc = add_named(f, (const char *const *)names, n, e);
    cov_h5_free_names(names, n);
    if (!rc)
        rc = cov_h5_list_groups(f->h5, &names, &n, e);
    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < n; i++)
        if (cov_chunk_head_has_group(&f->head, names[i]))
            rc = add_attrs(f, names[i], e);
    cov_h5_free_names(names, n);
    return rc;
}

/* Finds L in a file without bases. */
static int find_length(struct cov_chunk_file *f, struct cov_err *e)
{
    const struct cov_chunk_set *p = cov_chunk_head_set(&f->head, COV_PREDICTIONS_SET);
    f->head.L = p ? p->dims[0] : 0;
    for (size_t i = 0; !p && i < f->head.n_sets; i++)
        if (f->head.sets[i].rank > 1 && f->head.sets[i].dims[0] > f->head.L)
            f->head.L = f->head.sets[i].dims[0];
    if (f->head.L == 0)
        return cov_fail(e, COV_EINPUT, "%s: no chunks: neither bases nor other datasets with rows",
                        cov_h5_path(f->h5));
    return COV_OK;
}

static int check_fill(const struct cov_chunk_file *f, struct cov_err *e)
{
    int rc = cov_chunk_head_check_fill(&f->head, cov_grid_longest(f->grid), false, e);
    return rc ? cov_err_prefix(e, rc, "%s", cov_h5_path(f->h5)) : COV_OK;
}

/* `wanted`: NULL for all. */
static int open_parts(struct cov_chunk_file *f, const struct cov_chunk_wanted *wanted,
                      struct cov_err *e)
{
    const bool needs_bases = wanted && wanted->bases;
    int rc = cov_chunk_table_expect(f->h5, "data/X", e);
    if (rc)
        return rc;
    int has_bases = !wanted || needs_bases ? cov_bases_are_in(f->h5, e) : 0;
    int predicted = needs_bases && !has_bases ? cov_h5_has(f->h5, COV_PREDICTIONS_SET, e) : 0;
    if (has_bases < 0 || predicted < 0)
        return has_bases < 0 ? has_bases : predicted;
    if (predicted)
        return cov_fail(e, COV_EINPUT, "%s: a predictions file, not a genome file",
                        cov_h5_path(f->h5));
    rc = has_bases || needs_bases ? open_bases(f, e) : count_rows(f, e);
    if (!rc)
        rc = wanted ? add_named(f, wanted->names, wanted->n_names, e) : add_all(f, e);
    if (!rc && !f->bases)
        rc = find_length(f, e);
    if (!rc)
        rc = cov_chunk_table_read(f->h5, f->n_rows, f->head.L, &f->grid, e);
    return rc ? rc : check_fill(f, e);
}

int cov_chunk_file_open_some(struct cov_h5 *h5, const struct cov_chunk_wanted *wanted,
                             struct cov_chunk_file **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_chunk_file *f = cov_calloc(1, sizeof *f, e);
    if (!f) {
        cov_h5_close(h5);
        return COV_ENOMEM;
    }
    f->h5 = h5;
    int rc = open_parts(f, wanted, e);
    if (rc) {
        cov_chunk_file_close(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

int cov_chunk_file_open(const char *path, struct cov_chunk_file **out, struct cov_err *e)
{
    struct cov_h5 *h5;
    *out = NULL;
    int rc = cov_h5_open(path, &h5, e);
    return rc ? rc : cov_chunk_file_open_some(h5, NULL, out, e);
}

int cov_chunk_file_open_bases(const char *path, struct cov_chunk_file **out, struct cov_err *e)
{
    static const struct cov_chunk_wanted bases = {.bases = true};
    struct cov_h5 *h5;
    *out = NULL;
    int rc = cov_h5_open(path, &h5, e);
    return rc ? rc : cov_chunk_file_open_some(h5, &bases, out, e);
}

void cov_chunk_file_close(struct cov_chunk_file *f)
{
    if (!f)
        return;
    cov_grid_free(f->grid);
    cov_bases_close(f->bases);
    for (size_t k = 0; k < f->n_sets; k++)
        cov_h5_set_close(f->sets[k]);
    free(f->sets);
    cov_chunk_head_fini(&f->head);
    cov_h5_close(f->h5);
    free(f);
}

const struct cov_grid *cov_chunk_file_grid(const struct cov_chunk_file *f)
{
    return f->grid;
}

const struct cov_chunk_head *cov_chunk_file_head(const struct cov_chunk_file *f)
{
    return &f->head;
}

struct cov_h5 *cov_chunk_file_h5(const struct cov_chunk_file *f)
{
    return f->h5;
}

struct cov_h5_set *cov_chunk_file_set(const struct cov_chunk_file *f, size_t k)
{
    return f->sets[k];
}

/* ---- rows ---- */

int cov_chunk_file_fetch(struct cov_chunk_file *f, size_t i, struct cov_chunk_parts parts,
                         struct cov_blob *raw, struct cov_err *e)
{
    int rc = parts.bases ? cov_bases_fetch(f->bases, i, raw, e) : COV_OK;
    for (size_t j = 0; !rc && j < parts.n_ks; j++) {
        struct cov_h5_set *s = f->sets[parts.ks[j]];
        rc = cov_h5_set_fetch(s, i, 0, cov_h5_set_rows(s)->dims[2], raw, e);
    }
    return rc;
}

int cov_chunk_file_decode(const struct cov_chunk_file *f, size_t i, struct cov_chunk_parts parts,
                          struct cov_blob *raw, uint8_t *codes, uint8_t *const *elems,
                          struct cov_err *e)
{
    size_t piece = 0;
    if (parts.bases) {
        int rc = cov_bases_decode(f->bases, f->grid, i, raw, piece, codes, e);
        if (rc)
            return rc;
        piece = cov_bases_n_pieces(f->bases);
    }
    for (size_t j = 0; j < parts.n_ks; j++) {
        const struct cov_h5_rows *r = cov_h5_set_rows(f->sets[parts.ks[j]]);
        const uint8_t *block = NULL;
        int rc =
            cov_h5_unpack(r, (struct cov_h5_block){i, 1, 0, r->dims[2]}, raw, piece, &block, e);
        if (rc) {
            char row[COV_ROW_TEXT_BYTES];
            return cov_err_prefix(e, rc, "%s: %s: %s", cov_h5_path(f->h5),
                                  f->head.sets[parts.ks[j]].name, cov_row_text(f->grid, i, row));
        }
        piece += cov_h5_n_pieces(r, 0, r->dims[2]);
        size_t n = r->dims[1] * r->dims[2];
        memcpy(elems[j], block, n * r->type.bytes);
        if (r->type.big_endian)
            swap_elements(elems[j], r->type.bytes, n);
    }
    return COV_OK;
}

/* ---- description ---- */

const char *cov_chunk_file_bases_name(const struct cov_chunk_file *f)
{
    return f->bases ? cov_bases_name(f->bases) : NULL;
}

int cov_chunk_file_storage(struct cov_chunk_file *f, const char *set, struct cov_h5_storage *out,
                           struct cov_err *e)
{
    struct cov_h5_set *s;
    memset(out, 0, sizeof *out);
    int rc = cov_h5_set_find(f->h5, set, 0, &s, e);
    if (!s)
        return rc;
    rc = cov_h5_set_storage(s, out, e);
    cov_h5_set_close(s);
    return rc;
}
