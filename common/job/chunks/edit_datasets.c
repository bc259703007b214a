/* edit_datasets.c - see chunk_jobs.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/chunks/chunk_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/chunk/coverage_file.h"
#include "common/chunk/predictions.h"

#define GROUP COV_COVERAGE_GROUP "/"

struct edit {
    const char *path;
    const struct cov_dataset_edit *edits;
    size_t n;
    struct cov_chunk_file *file;
    const struct cov_chunk_head *head; /* of the file */
    struct cov_chunk_head from, to;
    /* Of the predictions. */
    char **names; /* [n_names] */
    size_t n_names;
    size_t *columns; /* that stay */
    size_t n_columns;
};

/* ---- names ---- */

/* Returns the part of a dataset's name after evaluation/DATASET if it belongs to coverage of
 * `dataset`; else NULL. */
static const char *part_of(const char *name, const char *dataset)
{
    size_t n = strlen(dataset);
    if (strncmp(name, GROUP, strlen(GROUP)) != 0 || strncmp(name + strlen(GROUP), dataset, n) != 0)
        return NULL;
    const char *part = name + strlen(GROUP) + n;
    bool is_part = strcmp(part, "_coverage") == 0 || strcmp(part, "_spliced_coverage") == 0 ||
                   strncmp(part, "_meta/", strlen("_meta/")) == 0;
    return is_part ? part : NULL;
}

/* Returns the name of a dataset of coverage, which has *n bytes; NULL if `set` is another one. */
static const char *coverage_name(const struct cov_chunk_set *set, size_t *n)
{
    if (strncmp(set->name, GROUP, strlen(GROUP)) != 0)
        return NULL;
    const char *name = set->name + strlen(GROUP);
    *n = cov_coverage_prefix_length(name);
    return *n > 0 ? name : NULL;
}

static bool has_dataset(const struct edit *j, const char *dataset)
{
    size_t n;
    for (size_t i = 0; i < j->head->n_sets; i++) {
        const char *name = coverage_name(&j->head->sets[i], &n);
        if (name && n == strlen(dataset) && memcmp(name, dataset, n) == 0)
            return true;
    }
    for (size_t i = 0; i < j->n_names; i++)
        if (strcmp(j->names[i], dataset) == 0)
            return true;
    return false;
}

static int fail_unknown(const struct edit *j, const char *dataset, struct cov_err *e)
{
    struct cov_listing known = {0};
    for (size_t i = 0; i < j->head->n_sets; i++) {
        size_t n;
        const char *found = coverage_name(&j->head->sets[i], &n);
        char *name = found ? cov_strndup(found, n, e) : NULL;
        if (name)
            cov_listing_add(&known, name);
        free(name);
    }
    for (size_t i = 0; i < j->n_names; i++)
        cov_listing_add(&known, j->names[i]);
    return cov_fail(e, COV_EINPUT, "%s: unknown dataset '%s'%s%s%s", j->path, dataset,
                    known.n ? "; it has: " : "; it has none", known.text, cov_listing_more(&known));
}

static int check_edits(const struct edit *j, struct cov_err *e)
{
    for (size_t i = 0; i < j->n; i++) {
        const struct cov_dataset_edit *edit = &j->edits[i];
        if (!has_dataset(j, edit->name))
            return fail_unknown(j, edit->name, e);
        if (edit->new_name && has_dataset(j, edit->new_name))
            return cov_fail(e, COV_EINPUT, "%s: already has a dataset '%s'", j->path,
                            edit->new_name);
        for (size_t k = 0; k < i; k++) {
            const struct cov_dataset_edit *other = &j->edits[k];
            bool same =
                edit->new_name && other->new_name && strcmp(edit->new_name, other->new_name) == 0;
            if (same || strcmp(edit->name, other->name) == 0)
                return cov_fail(e, COV_EUSAGE, "--datasets: duplicate '%s'",
                                same ? edit->new_name : edit->name);
        }
    }
    return COV_OK;
}

/* Sets *out to the new name of a dataset of the file; NULL if it is removed. Caller frees. */
static int new_name(const struct edit *j, const char *name, char **out, struct cov_err *e)
{
    *out = NULL;
    for (size_t i = 0; i < j->n; i++) {
        const char *part = part_of(name, j->edits[i].name);
        if (!part)
            continue;
        if (!j->edits[i].new_name)
            return COV_OK;
        *out = cov_strfmt(e, GROUP "%s%s", j->edits[i].new_name, part);
        return *out ? COV_OK : COV_ENOMEM;
    }
    *out = cov_strdup(name, e);
    return *out ? COV_OK : COV_ENOMEM;
}

/* ---- predictions ---- */

static int read_names(struct edit *j, struct cov_err *e)
{
    const struct cov_chunk_table *t = cov_chunk_head_table(j->head, COV_PREDICTIONS_DATASETS);
    if (!t || !cov_chunk_table_is_list(t, t->dims[0]))
        return COV_OK;
    j->names = cov_calloc(t->dims[0], sizeof *j->names, e);
    j->columns = cov_calloc(t->dims[0], sizeof *j->columns, e);
    if (!j->names || !j->columns)
        return COV_ENOMEM;
    for (size_t i = 0; i < t->dims[0]; i++, j->n_names++) {
        j->names[i] = cov_chunk_table_text(t, i, e);
        if (!j->names[i])
            return COV_ENOMEM;
    }
    return COV_OK;
}

/* Adds prediction/datasets to the new head, and finds the columns that stay. */
static int edit_names(struct edit *j, const struct cov_chunk_table *t, struct cov_err *e)
{
    const char **kept = cov_calloc(j->n_names, sizeof *kept, e);
    if (!kept)
        return COV_ENOMEM;
    for (size_t i = 0; i < j->n_names; i++) {
        const char *name = j->names[i];
        for (size_t k = 0; k < j->n; k++)
            if (strcmp(j->names[i], j->edits[k].name) == 0)
                name = j->edits[k].new_name;
        if (name) {
            kept[j->n_columns] = name;
            j->columns[j->n_columns++] = i;
        }
    }
    int rc =
        j->n_columns ? COV_OK : cov_fail(e, COV_EINPUT, "%s: no dataset would be left", j->path);
    if (!rc)
        rc = cov_chunk_head_add_texts(&j->to, COV_PREDICTIONS_DATASETS, t->type.bytes, j->n_columns,
                                      kept, e);
    free(kept);
    return rc;
}

/* ---- heads ---- */

static int edit_table(struct edit *j, const struct cov_chunk_table *t, struct cov_err *e)
{
    struct cov_chunk_table copy = *t;
    if (strcmp(t->name, COV_PREDICTIONS_DATASETS) == 0 && j->names)
        return edit_names(j, t, e);
    int rc = new_name(j, t->name, &copy.name, e);
    if (!rc && copy.name)
        rc = cov_chunk_head_add_table(&j->to, &copy, e);
    free(copy.name);
    return rc;
}

static int edit_set(struct edit *j, const struct cov_chunk_set *s, struct cov_err *e)
{
    struct cov_chunk_set copy = *s;
    int rc = new_name(j, s->name, &copy.name, e);
    if (rc || !copy.name)
        return rc;
    if (strcmp(s->name, COV_PREDICTIONS_SET) == 0 && j->names) {
        if (s->rank != 3 || s->dims[1] != j->n_names)
            rc = cov_fail(e, COV_EINPUT,
                          "%s: " COV_PREDICTIONS_SET " and " COV_PREDICTIONS_DATASETS
                          " do not match",
                          j->path);
        copy.dims[1] = j->n_columns;
    }
    if (!rc)
        rc = cov_chunk_head_add_set(&j->from, s, e);
    if (!rc)
        rc = cov_chunk_head_add_set(&j->to, &copy, e);
    free(copy.name);
    return rc;
}

static int edit_attr(struct edit *j, const struct cov_chunk_attr *a, struct cov_err *e)
{
    char *set = NULL;
    int rc = a->set ? new_name(j, a->set, &set, e) : COV_OK;
    const bool was_group = a->set && cov_chunk_head_has_group(j->head, a->set);
    const bool is_left = set && (!was_group || cov_chunk_head_has_group(&j->to, set));
    if (!rc && (!a->set || is_left))
        rc = cov_chunk_head_add_attr(&j->to, set, a->name, a->text, e);
    free(set);
    return rc;
}

static int make_heads(struct edit *j, struct cov_err *e)
{
    const struct cov_chunk_head *h = j->head;
    int rc = COV_OK;
    j->from.L = j->to.L = h->L;
    j->from.has_bases = j->to.has_bases = h->has_bases;
    for (size_t i = 0; !rc && i < h->n_tables; i++)
        rc = edit_table(j, &h->tables[i], e);
    for (size_t i = 0; !rc && i < h->n_sets; i++)
        rc = edit_set(j, &h->sets[i], e);
    for (size_t i = 0; !rc && i < h->n_attrs; i++)
        rc = edit_attr(j, &h->attrs[i], e);
    return rc;
}

/* ---- the job ---- */

static int write_file(const struct edit *j, const char *tmp, const struct cov_job *job,
                      struct cov_err *e)
{
    const struct cov_grid *grid = cov_chunk_file_grid(j->file);
    size_t n = cov_grid_n_chunks(grid);
    struct cov_rewrite_row *rows = cov_calloc(n, sizeof *rows, e);
    for (size_t i = 0; rows && i < n; i++)
        rows[i].row = i;
    const struct cov_rewrite_plan plan = {.file = j->file,
                                          .paths = &j->path,
                                          .n_files = 1,
                                          .rows = rows,
                                          .grid = grid,
                                          .from = &j->from,
                                          .to = &j->to,
                                          .columns = j->columns};
    int rc = rows ? cov_rewrite(&plan, tmp, job, e) : COV_ENOMEM;
    free(rows);
    return rc;
}

int cov_edit_datasets(const char *input, const char *output, const struct cov_dataset_edit *edits,
                      size_t n, const struct cov_rewrite_job *job, struct cov_err *e)
{
    struct edit j = {.path = input, .edits = edits, .n = n};
    struct cov_outfile out = COV_OUTFILE_INIT;
    int rc = cov_chunk_file_open(input, &j.file, e);
    if (!rc) {
        j.head = cov_chunk_file_head(j.file);
        rc = read_names(&j, e);
    }
    if (!rc)
        rc = check_edits(&j, e);
    if (!rc)
        rc = make_heads(&j, e);
    if (!rc)
        rc = output ? cov_rewrite_begin(&out, output, &input, 1, job->force, e)
                    : cov_outfile_begin_update(&out, input, job->force, e);
    if (!rc)
        rc = write_file(&j, out.tmp, &job->job, e);
    if (!rc)
        rc = cov_outfile_commit(&out, e);
    for (size_t i = 0; i < j.n_names; i++)
        free(j.names[i]);
    free(j.names);
    free(j.columns);
    cov_chunk_head_fini(&j.from);
    cov_chunk_head_fini(&j.to);
    cov_chunk_file_close(j.file);
    cov_outfile_end(&out, e);
    return rc;
}
