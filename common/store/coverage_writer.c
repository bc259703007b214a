/* coverage_writer.c - see coverage_writer.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/coverage_writer.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/store/chunk_table.h"
#include "common/store/coverage_codec.h"
#include "common/store/h5.h"

enum { NAME_BYTES = 512 }; /* as in Helixer's files */

struct cov_coverage_writer {
    struct cov_h5 *h5;
    struct cov_h5_set *sets[COV_COVERAGE_SETS];
    size_t n_columns;
};

char *cov_coverage_set_name(const char *prefix, int which, struct cov_err *e)
{
    return cov_strfmt(e, "evaluation/%s%s", prefix,
                      which == COV_SPLICED ? "_spliced_coverage" : "_coverage");
}

static const char *nth_text(const void *arg, size_t i)
{
    const char *const *texts = arg;
    return texts[i];
}

static int write_files(struct cov_coverage_writer *w, const struct cov_coverage_options *o,
                       struct cov_err *e)
{
    static const struct cov_codec_choice none = {COV_CODEC_NONE, 0};
    char *name = cov_strfmt(e, "evaluation/%s_meta/bam_files", o->prefix);
    if (!name)
        return COV_ENOMEM;
    int rc = cov_h5_has(w->h5, name) ? cov_h5_remove(w->h5, name, e) : COV_OK;
    size_t width = cov_text_width(name, NAME_BYTES, o->n_columns, nth_text, o->files);
    if (!rc)
        rc = cov_texts_write(w->h5, name, width, o->n_columns, nth_text, o->files, o->n_columns,
                             none, e);
    free(name);
    return rc;
}

static char *join_lines(const char *const *lines, size_t n, struct cov_err *e)
{
    char *text = cov_strdup(n > 0 ? lines[0] : "", e);
    for (size_t i = 1; text && i < n; i++) {
        char *longer = cov_strfmt(e, "%s\n%s", text, lines[i]);
        free(text);
        text = longer;
    }
    return text;
}

static int create_set(struct cov_coverage_writer *w, const struct cov_coverage_options *o,
                      int which, const char *settings, struct cov_err *e)
{
    struct cov_h5_new spec = {
        .type = {COV_H5_INT, o->elem_bytes, true, false, '\0'},
        .rank = 3,
        .dims = {o->n_rows, o->L, o->n_columns},
        .unlimited = {true, false, true},
        .chunk = {1, o->L, 1},
        .fill = -1,
    };
    spec.n_filters = cov_coverage_filters(o->elem_bytes, spec.filters);
    char *name = cov_coverage_set_name(o->prefix, which, e);
    if (!name)
        return COV_ENOMEM;
    int rc = cov_h5_has(w->h5, name) ? cov_h5_remove(w->h5, name, e) : COV_OK;
    if (!rc)
        rc = cov_h5_set_create(w->h5, name, &spec, &w->sets[which], e);
    if (!rc)
        rc = cov_h5_write_attr(w->h5, name, "settings", settings, e);
    free(name);
    return rc;
}

int cov_coverage_writer_new(const char *path, const struct cov_coverage_options *o,
                            struct cov_coverage_writer **out, struct cov_err *e)
{
    *out = NULL;
    struct cov_coverage_writer *w = cov_calloc(1, sizeof *w, e);
    if (!w)
        return COV_ENOMEM;
    w->n_columns = o->n_columns;
    char *settings = join_lines(o->settings, o->n_columns, e);
    int rc = settings ? cov_h5_open_to_change(path, &w->h5, e) : COV_ENOMEM;
    for (int which = 0; !rc && which < COV_COVERAGE_SETS; which++)
        rc = create_set(w, o, which, settings, e);
    if (!rc)
        rc = write_files(w, o, e);
    free(settings);
    if (rc)
        cov_coverage_writer_abort(w);
    else
        *out = w;
    return rc;
}

int cov_coverage_put(struct cov_coverage_writer *w, size_t i, const struct cov_blob *blob,
                     size_t first_piece, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < COV_COVERAGE_SETS * w->n_columns; k++) {
        size_t n;
        const uint8_t *piece = cov_blob_piece(blob, first_piece + k, &n);
        rc = cov_h5_set_put(w->sets[k / w->n_columns], (size_t[3]){i, 0, k % w->n_columns}, piece,
                            n, e);
    }
    return rc;
}

static void close_sets(struct cov_coverage_writer *w)
{
    for (int which = 0; which < COV_COVERAGE_SETS; which++)
        cov_h5_set_close(w->sets[which]);
}

int cov_coverage_writer_close(struct cov_coverage_writer *w, struct cov_err *e)
{
    close_sets(w);
    int rc = cov_h5_finish(w->h5, e);
    free(w);
    return rc;
}

void cov_coverage_writer_abort(struct cov_coverage_writer *w)
{
    if (!w)
        return;
    close_sets(w);
    cov_h5_close(w->h5);
    free(w);
}
