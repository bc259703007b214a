/* coverage_reader.c - see coverage_reader.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/coverage_reader.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/store/h5.h"

/* More columns than this are a damaged file. */
enum { MAX_COLUMNS = 4096 };

void cov_coverage_reader_close(struct cov_coverage_reader *r)
{
    if (!r)
        return;
    for (int which = 0; which < COV_COVERAGE_SETS; which++)
        cov_h5_set_close(r->sets[which]);
    cov_h5_close(r->h5);
    for (size_t b = 0; b < r->n_columns; b++) {
        if (r->files)
            free(r->files[b]);
        if (r->settings)
            free(r->settings[b]);
    }
    free(r->files);
    free(r->settings);
    free(r);
}

static int open_set(struct cov_coverage_reader *r, const char *prefix, int which, size_t n_rows,
                    size_t L, struct cov_err *e)
{
    char *name = cov_coverage_set_name(prefix, which, e);
    int rc = name ? COV_OK : COV_ENOMEM;
    if (rc || !cov_h5_has(r->h5, name))
        goto out;
    rc = cov_h5_set_open(r->h5, name, 3, &r->sets[which], e);
    if (rc)
        goto out;
    const struct cov_h5_rows *rows = cov_h5_set_rows(r->sets[which]);
    if (rows->type.kind != COV_H5_INT)
        rc = cov_fail(e, COV_EINPUT, "%s: %s: the elements are not integers", cov_h5_path(r->h5),
                      name);
    else if (rows->dims[0] != n_rows || rows->dims[1] != L || rows->dims[2] == 0 ||
             rows->dims[2] > MAX_COLUMNS || (which && rows->dims[2] != r->n_columns))
        rc = cov_fail(e, COV_EINPUT, "%s: %s: %zu x %zu x %zu elements do not fit the file",
                      cov_h5_path(r->h5), name, rows->dims[0], rows->dims[1], rows->dims[2]);
    else if (rows->type.bytes > r->elem_bytes)
        r->elem_bytes = rows->type.bytes;
    if (!rc)
        r->n_columns = rows->dims[2];
out:
    free(name);
    return rc;
}

/* The names of the columns, as far as they are noted. */
static int read_files(struct cov_coverage_reader *r, const char *prefix, struct cov_err *e)
{
    struct cov_h5_set *s = NULL;
    char *texts = NULL, *name = cov_strfmt(e, "evaluation/%s_meta/bam_files", prefix);
    int rc = name ? COV_OK : COV_ENOMEM;
    const struct cov_h5_type *type = NULL;
    if (!rc && cov_h5_has(r->h5, name))
        rc = cov_h5_set_open(r->h5, name, 1, &s, e);
    if (!rc && s) {
        type = &cov_h5_set_rows(s)->type;
        if (type->kind != COV_H5_STRING || cov_h5_set_rows(s)->dims[0] != r->n_columns)
            rc = cov_fail(e, COV_EINPUT, "%s: %s: %zu names of files are wanted",
                          cov_h5_path(r->h5), name, r->n_columns);
    }
    if (!rc && s) {
        texts = cov_malloc(r->n_columns, type->bytes, e);
        rc = texts ? cov_h5_set_read(s, 0, r->n_columns, 0, 1, texts, e) : COV_ENOMEM;
    }
    for (size_t b = 0; !rc && b < r->n_columns; b++) {
        const char *text = texts ? texts + b * type->bytes : "";
        r->files[b] = cov_strndup(text, texts ? cov_h5_string_length(type, text) : 0, e);
        rc = r->files[b] ? COV_OK : COV_ENOMEM;
    }
    cov_h5_set_close(s);
    free(texts);
    free(name);
    return rc;
}

/* The attribute `settings` has a line a column, in files written here. */
static int read_settings(struct cov_coverage_reader *r, const char *prefix, struct cov_err *e)
{
    struct cov_h5_attr *attrs = NULL;
    size_t n = 0;
    const char *at = "";
    char *name = cov_coverage_set_name(prefix, COV_COVERAGE, e);
    int rc = name ? cov_h5_list_attrs(r->h5, name, &attrs, &n, e) : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++)
        if (strcmp(attrs[i].name, "settings") == 0 && attrs[i].text)
            at = attrs[i].text;
    for (size_t b = 0; !rc && b < r->n_columns; b++) {
        size_t length = strcspn(at, "\n");
        r->settings[b] = cov_strndup(at, length, e);
        rc = r->settings[b] ? COV_OK : COV_ENOMEM;
        at += length + (at[length] == '\n');
    }
    cov_h5_free_attrs(attrs, n);
    free(name);
    return rc;
}

int cov_coverage_reader_open(const char *path, const char *prefix, size_t n_rows, size_t L,
                             struct cov_coverage_reader **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_coverage_reader *r = cov_calloc(1, sizeof *r, e);
    if (!r)
        return COV_ENOMEM;
    int rc = cov_h5_open(path, &r->h5, e);
    if (!rc)
        rc = open_set(r, prefix, COV_COVERAGE, n_rows, L, e);
    if (!rc && r->n_columns > 0)
        rc = open_set(r, prefix, COV_SPLICED, n_rows, L, e);
    if (!rc && r->n_columns > 0) {
        r->files = cov_calloc(r->n_columns, sizeof *r->files, e);
        r->settings = cov_calloc(r->n_columns, sizeof *r->settings, e);
        rc = r->files && r->settings ? read_files(r, prefix, e) : COV_ENOMEM;
        if (!rc)
            rc = read_settings(r, prefix, e);
    }
    if (rc)
        cov_coverage_reader_close(r);
    else
        *out = r;
    return rc;
}

int cov_coverage_fetch(struct cov_coverage_reader *r, size_t i, struct cov_blob *raw,
                       struct cov_err *e)
{
    int rc = COV_OK;
    for (int which = 0; !rc && which < COV_COVERAGE_SETS; which++)
        for (size_t b = 0; !rc && r->sets[which] && b < r->n_columns; b++)
            rc = cov_h5_set_fetch(r->sets[which], i, b, 1, raw, e);
    return rc;
}

int cov_coverage_decode(const struct cov_coverage_reader *r, size_t i, int which, size_t col,
                        size_t n, struct cov_blob *raw, size_t first_piece, int64_t *values,
                        struct cov_err *e)
{
    if (!r->sets[which]) {
        memset(values, 0, n * sizeof *values);
        return COV_OK;
    }
    for (int k = 0; k <= which; k++) {
        const struct cov_h5_rows *rows = cov_h5_set_rows(r->sets[k]);
        size_t n_columns = k < which ? r->n_columns : col;
        for (size_t b = 0; b < n_columns; b++)
            first_piece += cov_h5_n_pieces(rows, b, 1);
    }
    const struct cov_h5_rows *rows = cov_h5_set_rows(r->sets[which]);
    const uint8_t *elems = NULL;
    int rc = cov_h5_unpack(rows, i, 1, col, 1, raw, first_piece, &elems, e);
    return rc ? rc : cov_h5_to_int64(&rows->type, elems, n, values, e);
}
