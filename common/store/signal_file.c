/* signal_file.c - see signal_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/signal_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/path.h"
#include "common/store/chunk_file.h"
#include "common/store/chunk_table.h"
#include "common/store/coverage_file.h"
#include "common/store/h5.h"
#include "common/store/int_to_float.h"
#include "common/store/predictions.h"

/* A file with more is damaged. */
enum { MAX_DATASETS = 4096 };

#define GROUP COV_COVERAGE_GROUP

struct cov_signal_file {
    struct cov_h5 *h5;
    struct cov_h5_set **opened;
    size_t n_opened;
    struct cov_signal_part *datasets; /* `set` is an index of `opened` */
    size_t n_datasets;
    struct cov_grid *grid;
    bool gaps; /* only regions were predicted */
    char *path;
};

static int open_set(struct cov_signal_file *f, const char *name, struct cov_h5_set **out,
                    struct cov_err *e)
{
    struct cov_h5_set *s;
    int rc = cov_h5_set_open(f->h5, name, 3, &s, e);
    if (rc)
        return rc;
    f->opened[f->n_opened++] = s;
    const struct cov_h5_rows *r = cov_h5_set_rows(s), *first = cov_h5_set_rows(f->opened[0]);
    if (r->type.kind == COV_H5_STRING)
        return cov_fail(e, COV_EINPUT, "%s: %s: the elements are not numbers", f->path, name);
    if (r->dims[2] == 0)
        return cov_fail(e, COV_EINPUT, "%s: %s: no columns", f->path, name);
    if (r->dims[0] != first->dims[0] || r->dims[1] != first->dims[1])
        return cov_fail(e, COV_EINPUT,
                        "%s: %s: %zu x %zu positions, but other data sets have %zu x %zu", f->path,
                        name, r->dims[0], r->dims[1], first->dims[0], first->dims[1]);
    *out = s;
    return COV_OK;
}

static int make_lists(struct cov_signal_file *f, size_t n_sets, size_t n_datasets,
                      struct cov_err *e)
{
    f->opened = cov_calloc(n_sets, sizeof *f->opened, e);
    f->datasets = cov_calloc(n_datasets, sizeof *f->datasets, e);
    return f->opened && f->datasets ? COV_OK : COV_ENOMEM;
}

/* Reads the names of the columns of the predictions. */
static int read_names(struct cov_signal_file *f, size_t n, struct cov_err *e)
{
    struct cov_h5_set *s;
    int rc = cov_h5_set_open(f->h5, COV_PREDICTIONS_DATASETS, 1, &s, e);
    if (rc)
        return rc;
    const struct cov_h5_rows *r = cov_h5_set_rows(s);
    char *text = NULL;
    if (r->type.kind != COV_H5_STRING) {
        rc = cov_fail(e, COV_EINPUT, "%s: %s: the elements are not strings", f->path,
                      COV_PREDICTIONS_DATASETS);
        goto out;
    }
    if (r->dims[0] != n) {
        rc = cov_fail(e, COV_EINPUT, "%s: %s: %zu names, but the predictions have %zu columns",
                      f->path, COV_PREDICTIONS_DATASETS, r->dims[0], n);
        goto out;
    }
    text = cov_malloc(n, r->type.bytes, e);
    rc = text ? cov_h5_set_read(s, 0, n, 0, 1, text, e) : COV_ENOMEM;
    for (size_t k = 0; !rc && k < n; k++) {
        const char *name = text + k * r->type.bytes;
        struct cov_signal_part *d = &f->datasets[f->n_datasets++];
        *d = (struct cov_signal_part){NULL, 0, k, 1};
        d->name = cov_strndup(name, cov_h5_string_length(&r->type, name), e);
        if (!d->name)
            rc = COV_ENOMEM;
        else if (!d->name[0])
            rc = cov_fail(e, COV_EINPUT, "%s: %s: name %zu is empty", f->path,
                          COV_PREDICTIONS_DATASETS, k);
        for (size_t j = 0; !rc && j < k; j++)
            if (strcmp(f->datasets[j].name, d->name) == 0)
                rc = cov_fail(e, COV_EINPUT, "%s: %s: duplicate name %s", f->path,
                              COV_PREDICTIONS_DATASETS, d->name);
    }
out:
    free(text);
    cov_h5_set_close(s);
    return rc;
}

static int look_for_regions(struct cov_signal_file *f, struct cov_err *e)
{
    struct cov_h5_attr *attrs;
    size_t n;
    int rc = cov_h5_list_attrs(f->h5, COV_PREDICTIONS_SET, &attrs, &n, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        f->gaps = f->gaps || strcmp(attrs[i].name, COV_PREDICTIONS_OUTSIDE_ATTR) == 0;
    cov_h5_free_attrs(attrs, n);
    return COV_OK;
}

static int open_predicted(struct cov_signal_file *f, struct cov_err *e)
{
    int predicted = cov_h5_has(f->h5, COV_PREDICTIONS_SET, e);
    int genome = predicted ? 0 : cov_h5_has(f->h5, "data/X", e);
    int measured = genome > 0 ? cov_h5_has(f->h5, GROUP, e) : 0;
    if (predicted < 0 || genome < 0 || measured < 0)
        return predicted < 0 ? predicted : genome < 0 ? genome : measured;
    if (genome)
        return cov_fail(e, COV_EINPUT, "%s: a genome file%s, not a predictions file", f->path,
                        measured ? " with measured coverage (use --experimental)" : "");
    struct cov_h5_set *s = NULL;
    int rc = make_lists(f, 1, MAX_DATASETS, e);
    if (!rc)
        rc = open_set(f, COV_PREDICTIONS_SET, &s, e);
    if (rc)
        return rc;
    size_t n = cov_h5_set_rows(f->opened[0])->dims[2];
    if (n > MAX_DATASETS)
        return cov_fail(e, COV_EINPUT, "%s: " COV_PREDICTIONS_SET ": %zu columns are too many",
                        f->path, n);
    rc = look_for_regions(f, e);
    return rc ? rc : read_names(f, n, e);
}

static int open_measured(struct cov_signal_file *f, struct cov_err *e)
{
    char **names;
    size_t n_names, n = 0;
    int rc = cov_h5_list(f->h5, GROUP, &names, &n_names, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < n_names; i++)
        n += cov_coverage_prefix_length(names[i]) > 0;
    if (n == 0 || n > MAX_DATASETS) {
        /* In a message, what cannot be read may count as missing. */
        bool is_genome = cov_h5_has(f->h5, "data/X", NULL) > 0;
        bool predicted = cov_h5_has(f->h5, COV_PREDICTIONS_SET, NULL) > 0;
        const char *what = n > 0       ? "a genome file with too much"
                           : predicted ? "a predictions file without"
                           : is_genome ? "a genome file without"
                                       : "a file without";
        rc = cov_fail(e, COV_EINPUT, "%s: %s measured coverage (" GROUP "/<name>_coverage)%s",
                      f->path, what, n == 0 && is_genome ? "; bam2h5 adds it" : "");
    }
    if (!rc)
        rc = make_lists(f, n, n, e);
    for (size_t i = 0; !rc && i < n_names; i++) {
        size_t n_prefix = cov_coverage_prefix_length(names[i]);
        if (n_prefix == 0)
            continue;
        struct cov_h5_set *s = NULL;
        char *full = cov_strfmt(e, GROUP "/%s", names[i]);
        rc = full ? open_set(f, full, &s, e) : COV_ENOMEM;
        free(full);
        if (rc)
            break;
        struct cov_signal_part *d = &f->datasets[f->n_datasets++];
        *d = (struct cov_signal_part){NULL, f->n_opened - 1, 0, cov_h5_set_rows(s)->dims[2]};
        d->name = cov_strndup(names[i], n_prefix, e);
        if (!d->name)
            rc = COV_ENOMEM;
    }
    cov_h5_free_names(names, n_names);
    return rc;
}

static int open_parts(struct cov_signal_file *f, enum cov_signal_kind kind, struct cov_err *e)
{
    int rc = cov_h5_open(f->path, &f->h5, e);
    if (!rc)
        rc = cov_chunk_table_expect(
            f->h5, kind == COV_SIGNAL_PREDICTED ? COV_PREDICTIONS_SET : "data/X", e);
    if (!rc)
        rc = kind == COV_SIGNAL_PREDICTED ? open_predicted(f, e) : open_measured(f, e);
    if (rc)
        return rc;
    const size_t *dims = cov_h5_set_rows(f->opened[0])->dims;
    return cov_chunk_table_read(f->h5, dims[0], dims[1], &f->grid, e);
}

int cov_signal_file_open(const char *path, enum cov_signal_kind kind, struct cov_signal_file **out,
                         struct cov_err *e)
{
    *out = NULL;
    struct cov_signal_file *f = cov_calloc(1, sizeof *f, e);
    if (!f)
        return COV_ENOMEM;
    f->path = cov_strdup(path, e);
    int rc = f->path ? open_parts(f, kind, e) : COV_ENOMEM;
    if (rc) {
        cov_signal_file_close(f);
        return rc;
    }
    *out = f;
    return COV_OK;
}

void cov_signal_file_close(struct cov_signal_file *f)
{
    if (!f)
        return;
    cov_grid_free(f->grid);
    cov_signal_free_parts(f->datasets, f->n_datasets);
    for (size_t i = 0; i < f->n_opened; i++)
        cov_h5_set_close(f->opened[i]);
    free(f->opened);
    cov_h5_close(f->h5);
    free(f->path);
    free(f);
}

const struct cov_grid *cov_signal_file_grid(const struct cov_signal_file *f)
{
    return f->grid;
}

size_t cov_signal_file_n_datasets(const struct cov_signal_file *f)
{
    return f->n_datasets;
}

const char *cov_signal_file_dataset(const struct cov_signal_file *f, size_t k)
{
    return f->datasets[k].name;
}

bool cov_signal_file_has_gaps(const struct cov_signal_file *f)
{
    return f->gaps;
}

bool cov_signal_file_is_float(const struct cov_signal_file *f, size_t k)
{
    return cov_h5_set_rows(f->opened[f->datasets[k].set])->type.kind == COV_H5_FLOAT;
}

size_t cov_signal_file_n_columns(const struct cov_signal_file *f, size_t k)
{
    return f->datasets[k].n_cols;
}

struct cov_h5 *cov_signal_file_h5(const struct cov_signal_file *f)
{
    return f->h5;
}

/* ---- rows ---- */

int cov_signal_file_fetch(struct cov_signal_file *f, size_t i, const size_t *ks, size_t n_ks,
                          struct cov_blob *raw, struct cov_err *e)
{
    cov_blob_clear(raw);
    int rc = COV_OK;
    for (size_t j = 0; !rc && j < n_ks; j++) {
        const struct cov_signal_part *d = &f->datasets[ks[j]];
        rc = cov_h5_set_fetch(f->opened[d->set], i, d->col, d->n_cols, raw, e);
    }
    return rc;
}

/* Sets each of values[0..n) to the mean of the next n_cols elements. */
static void take_means(const struct cov_h5_type *type, const uint8_t *elems, size_t n,
                       size_t n_cols, float *values)
{
    enum { TILE = 512 };
    double tile[TILE], sum = 0;
    size_t n_elems = n * n_cols, col = 0;
    for (size_t beg = 0; beg < n_elems; beg += TILE) {
        size_t m = n_elems - beg < TILE ? n_elems - beg : TILE;
        cov_h5_to_double(type, elems + beg * type->bytes, m, tile);
        if (n_cols == 1) {
            for (size_t j = 0; j < m; j++)
                values[beg + j] = (float)tile[j];
            continue;
        }
        for (size_t j = 0; j < m; j++) {
            sum += tile[j];
            if (++col < n_cols)
                continue;
            *values++ = (float)(sum / (double)n_cols);
            col = 0;
            sum = 0;
        }
    }
}

/* The same for only some of the columns. Gathers their elements, a few rows at a time. */
static void take_some(const struct cov_signal_columns *c, const uint8_t *elems, size_t n,
                      float *values)
{
    uint8_t some[4096];
    size_t row = c->n_columns * c->type->bytes, part = c->n_cols * c->type->bytes;
    if (part > sizeof some) {
        for (size_t t = 0; t < n; t++)
            take_means(c->type, elems + t * row, 1, c->n_cols, values + t);
        return;
    }
    for (size_t beg = 0, m; beg < n; beg += m) {
        m = n - beg < sizeof some / part ? n - beg : sizeof some / part;
        for (size_t t = 0; t < m; t++)
            memcpy(some + t * part, elems + (beg + t) * row, part);
        take_means(c->type, some, m, c->n_cols, values + beg);
    }
}

size_t cov_signal_means(const struct cov_signal_columns *c, const uint8_t *elems, size_t length,
                        size_t L, float *values)
{
    for (size_t t = length; t < L; t++)
        values[t] = COV_SIGNAL_PAD;
    if (c->n_columns == 1 && cov_int_to_float(c->type, elems, length, values))
        return length;
    if (c->n_cols == c->n_columns)
        take_means(c->type, elems, length, c->n_cols, values);
    else
        take_some(c, elems + c->col * c->type->bytes, length, values);
    size_t t = cov_count_valid(values, length);
    while (c->gaps && t < length && values[t] == COV_SIGNAL_PAD) {
        t++;
        t += cov_count_valid(values + t, length - t);
    }
    return t;
}

int cov_signal_file_decode(const struct cov_signal_file *f, size_t i, const size_t *ks, size_t n_ks,
                           struct cov_blob *raw, float *values, struct cov_err *e)
{
    size_t L = cov_grid_chunk_length(f->grid), first_piece = 0;
    struct cov_chunk chunk = cov_grid_chunk(f->grid, i);
    size_t length = (size_t)(chunk.end - chunk.beg);
    char row[COV_ROW_TEXT_BYTES];
    for (size_t j = 0; j < n_ks; j++, values += L) {
        const struct cov_signal_part *d = &f->datasets[ks[j]];
        const struct cov_h5_rows *r = cov_h5_set_rows(f->opened[d->set]);
        const uint8_t *elems = NULL;
        int rc = cov_h5_unpack(r, (struct cov_h5_block){i, 1, d->col, d->n_cols}, raw, first_piece,
                               &elems, e);
        if (rc)
            return cov_err_prefix(e, "%s: %s: %s", f->path, d->name, cov_row_text(f->grid, i, row));
        first_piece += cov_h5_n_pieces(r, d->col, d->n_cols);
        const struct cov_signal_columns columns = {&r->type, d->n_cols, 0, d->n_cols, f->gaps};
        size_t good = cov_signal_means(&columns, elems, length, L, values);
        if (good < length)
            return cov_fail(e, COV_EINPUT, "%s: %s: %s, index %zu: %g is not a valid coverage",
                            f->path, d->name, cov_row_text(f->grid, i, row), good,
                            (double)values[good]);
    }
    return COV_OK;
}

/* ---- data sets in a head ---- */

void cov_signal_free_parts(struct cov_signal_part *parts, size_t n)
{
    for (size_t i = 0; parts && i < n; i++)
        free(parts[i].name);
    free(parts);
}

static int check_set(const struct cov_chunk_head *h, const struct cov_chunk_set *s,
                     struct cov_err *e)
{
    if (s->type.kind == COV_H5_STRING || s->rank != 3)
        return cov_fail(e, COV_EINPUT, "%s: not a matrix of numbers per chunk", s->name);
    if (s->dims[0] != h->L)
        return cov_fail(e, COV_EINPUT, "%s: rows of %zu positions, but chunks have %zu", s->name,
                        s->dims[0], h->L);
    return COV_OK;
}

static int predicted_parts(const struct cov_chunk_head *h, struct cov_signal_part *parts, size_t *n,
                           struct cov_err *e)
{
    const struct cov_chunk_set *set = cov_chunk_head_set(h, COV_PREDICTIONS_SET);
    const struct cov_chunk_table *names = cov_chunk_head_table(h, COV_PREDICTIONS_DATASETS);
    if (!set || !names)
        return cov_fail(e, COV_EINPUT, "no data set %s",
                        set ? COV_PREDICTIONS_DATASETS : COV_PREDICTIONS_SET);
    int rc = check_set(h, set, e);
    if (rc)
        return rc;
    if (names->type.kind != COV_H5_STRING || names->rank != 1 || names->dims[0] != set->dims[1])
        return cov_fail(e, COV_EINPUT, COV_PREDICTIONS_DATASETS ": not the names of %zu columns",
                        set->dims[1]);
    for (size_t k = 0; k < set->dims[1]; k++) {
        const char *text = (const char *)names->elems + k * names->type.bytes;
        parts[k] = (struct cov_signal_part){NULL, (size_t)(set - h->sets), k, 1};
        parts[k].name = cov_strndup(text, cov_h5_string_length(&names->type, text), e);
        if (!parts[k].name)
            return COV_ENOMEM;
        *n = k + 1;
        if (!parts[k].name[0])
            return cov_fail(e, COV_EINPUT, COV_PREDICTIONS_DATASETS ": name %zu is empty", k);
        for (size_t j = 0; j < k; j++)
            if (strcmp(parts[j].name, parts[k].name) == 0)
                return cov_fail(e, COV_EINPUT, COV_PREDICTIONS_DATASETS ": duplicate name %s",
                                parts[k].name);
    }
    return COV_OK;
}

/* Moves the last of n parts to its position in the order of set names. */
static void sort_last(const struct cov_chunk_head *h, struct cov_signal_part *parts, size_t n)
{
    struct cov_signal_part last = parts[n - 1];
    size_t i = n - 1;
    for (; i > 0 && strcmp(h->sets[parts[i - 1].set].name, h->sets[last.set].name) > 0; i--)
        parts[i] = parts[i - 1];
    parts[i] = last;
}

static int measured_parts(const struct cov_chunk_head *h, struct cov_signal_part *parts, size_t *n,
                          struct cov_err *e)
{
    static const char group[] = GROUP "/";
    for (size_t k = 0; k < h->n_sets; k++) {
        const struct cov_chunk_set *s = &h->sets[k];
        const char *name = s->name + sizeof group - 1;
        if (strncmp(s->name, group, sizeof group - 1) != 0 || cov_coverage_prefix_length(name) == 0)
            continue;
        int rc = check_set(h, s, e);
        if (rc)
            return rc;
        parts[*n] = (struct cov_signal_part){NULL, k, 0, s->dims[1]};
        parts[*n].name = cov_strndup(name, cov_coverage_prefix_length(name), e);
        if (!parts[*n].name)
            return COV_ENOMEM;
        sort_last(h, parts, ++*n);
    }
    if (*n == 0)
        return cov_fail(e, COV_EINPUT,
                        "no measured coverage (" GROUP "/<name>_coverage); bam2h5 adds it");
    return COV_OK;
}

int cov_signal_find_parts(const struct cov_chunk_head *head, enum cov_signal_kind kind,
                          struct cov_signal_part **parts, size_t *n, struct cov_err *e)
{
    const struct cov_chunk_set *p = cov_chunk_head_set(head, COV_PREDICTIONS_SET);
    size_t cap = kind == COV_SIGNAL_MEASURED ? head->n_sets : p ? p->dims[1] : 0;
    *parts = NULL;
    *n = 0;
    if (cap > MAX_DATASETS)
        return cov_fail(e, COV_EINPUT, COV_PREDICTIONS_SET ": %zu columns are too many", cap);
    struct cov_signal_part *list = cov_calloc(cap, sizeof *list, e);
    if (!list)
        return COV_ENOMEM;
    int rc = kind == COV_SIGNAL_PREDICTED ? predicted_parts(head, list, n, e)
                                          : measured_parts(head, list, n, e);
    if (rc) {
        cov_signal_free_parts(list, *n);
        *n = 0;
        return rc;
    }
    *parts = list;
    return COV_OK;
}

/* ---- columns as data sets ---- */

/* Fills stems[n] with the names of the columns' files, without folder and suffix. *differ: they can
 * tell the columns apart. */
static int find_stems(const struct cov_chunk_table *files, char **stems, size_t n, bool *differ,
                      struct cov_err *e)
{
    *differ = true;
    for (size_t i = 0; i < n; i++) {
        const char *text = (const char *)files->elems + i * files->type.bytes;
        char *path = cov_strndup(text, cov_h5_string_length(&files->type, text), e);
        stems[i] = path ? cov_path_stem(path, e) : NULL;
        free(path);
        if (!stems[i])
            return COV_ENOMEM;
        *differ = *differ && stems[i][0];
        for (size_t k = 0; k < i; k++)
            *differ = *differ && strcmp(stems[i], stems[k]) != 0;
    }
    return COV_OK;
}

int cov_signal_split_part(struct cov_signal_part **parts, size_t *n, size_t k,
                          const struct cov_chunk_table *files, struct cov_err *e)
{
    const size_t n_cols = (*parts)[k].n_cols;
    if (files &&
        (files->type.kind != COV_H5_STRING || files->rank != 1 || files->dims[0] != n_cols))
        return cov_fail(e, COV_EINPUT, "%s: not the names of %zu columns", files->name, n_cols);
    struct cov_signal_part *list = cov_realloc(*parts, *n + n_cols, sizeof *list, e);
    if (!list)
        return COV_ENOMEM;
    *parts = list;
    char **stems = cov_calloc(n_cols, sizeof(char *), e);
    bool differ = false;
    int rc = stems ? COV_OK : COV_ENOMEM;
    if (!rc && files)
        rc = find_stems(files, stems, n_cols, &differ, e);
    for (size_t i = 0; !rc && i < n_cols; i++) {
        char *name = differ ? cov_strfmt(e, "%s_%s", list[k].name, stems[i])
                            : cov_strfmt(e, "%s_%zu", list[k].name, i + 1);
        if (name)
            list[(*n)++] = (struct cov_signal_part){name, list[k].set, list[k].col + i, 1};
        else
            rc = COV_ENOMEM;
    }
    for (size_t i = 0; stems && i < n_cols; i++)
        free(stems[i]);
    free(stems);
    return rc;
}

int cov_signal_file_split(struct cov_signal_file *f, size_t k, struct cov_err *e)
{
    struct cov_chunk_table files = {.name = cov_signal_files_table(f->datasets[k].name, e)};
    struct cov_h5_set *s = NULL;
    int rc = files.name ? cov_h5_set_find(f->h5, files.name, 1, &s, e) : COV_ENOMEM;
    if (s) {
        const struct cov_h5_rows *r = cov_h5_set_rows(s);
        files.type = r->type;
        files.rank = 1;
        files.dims[0] = r->dims[0];
        files.elems = cov_malloc(r->dims[0], r->type.bytes, e);
        rc = files.elems ? cov_h5_set_read(s, 0, r->dims[0], 0, 1, files.elems, e) : COV_ENOMEM;
    }
    if (!rc && cov_signal_split_part(&f->datasets, &f->n_datasets, k, s ? &files : NULL, e))
        rc = cov_err_prefix(e, "%s", f->path);
    cov_h5_set_close(s);
    free(files.elems);
    free(files.name);
    return rc;
}

char *cov_signal_files_table(const char *dataset, struct cov_err *e)
{
    return cov_strfmt(e, GROUP "/%s_meta/bam_files", dataset);
}
