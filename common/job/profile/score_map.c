/* score_map.c - see profile_jobs.h.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/path.h"
#include "common/file/peek_kind.h"
#include "common/file/textfile.h"
#include "common/job/profile/heat_map.h"
#include "common/job/profile/profile_jobs.h"
#include "common/seq/names.h"

/* A value, and where it is. */
struct cell {
    size_t file, model, dataset; /* in the names */
    double value;
    size_t line; /* of the model's table */
};

/* The columns of a table. */
struct layout {
    size_t file, dataset, value; /* dataset: SIZE_MAX if there is none */
    size_t n;
};

/* Lives until --stats has been printed. */
struct map_job {
    struct cov_score_map_options o; /* strings: until the tables have been read */
    struct cov_names *files, *models, *datasets;
    struct cell *cells; /* Owned */
    size_t n_cells, cap;
    char *title;
    const char **rows; /* [files]: borrowed names. Owned */
    char **columns;    /* [n_columns]: names. Owned */
    size_t n_columns;
    double *values; /* [files][n_columns]. Owned */
};

/* ---------------------------------------------------------------- a table */

/* Splits a line at its tabs into n words, or more, of which the last are lost. Returns their number. */
static size_t split(const char *text, size_t length, struct cov_word *words, size_t n)
{
    const char *end = text + length;
    size_t k = 0;
    for (;; k++) {
        const char *tab = memchr(text, '\t', (size_t)(end - text));
        if (k < n)
            words[k] = (struct cov_word){text, (size_t)((tab ? tab : end) - text)};
        if (!tab)
            return k + 1;
        text = tab + 1;
    }
}

enum { MOST_COLUMNS = 64 };

static int find_column(const char *path, const struct cov_word *words, size_t n, const char *name,
                       size_t *column, struct cov_err *e)
{
    struct cov_listing there = {0};
    for (*column = 0; *column < n; ++*column) {
        char text[64];
        if (cov_word_is(words[*column], name))
            return COV_OK;
        (void)snprintf(text, sizeof text, "%.*s", (int)words[*column].n, words[*column].text);
        cov_listing_add(&there, text);
    }
    *column = SIZE_MAX;
    return cov_fail(e, COV_EINPUT, "%s:1: no column %s; the columns are: %s%s", path, name,
                    there.text, cov_listing_more(&there));
}

static int read_head(const struct map_job *j, const char *path, const struct cov_word *words,
                     struct layout *l, struct cov_err *e)
{
    if (l->n > MOST_COLUMNS)
        return cov_fail(e, COV_EINPUT, "%s:1: too many columns (%zu)", path, l->n);
    int rc = find_column(path, words, l->n, "file", &l->file, e);
    if (!rc)
        rc = find_column(path, words, l->n, j->o.value, &l->value, e);
    if (find_column(path, words, l->n, "dataset", &l->dataset, NULL))
        l->dataset = SIZE_MAX;
    return rc;
}

/* Is the dataset one of --datasets? Without these, all are but the total. */
static bool is_wanted(const struct map_job *j, struct cov_word dataset)
{
    const struct cov_strings *wanted = &j->o.datasets;
    for (size_t i = 0; i < wanted->n; i++)
        if (cov_word_is(dataset, wanted->items[i]))
            return true;
    return wanted->n == 0 && !cov_word_is(dataset, "total");
}

static int add_name(struct cov_names *names, struct cov_word w, size_t *index, struct cov_err *e)
{
    bool is_new;
    return cov_names_add(names, w.text, w.n, index, &is_new, e);
}

/* Adds the file by its stem. */
static int add_file(struct map_job *j, struct cov_word w, size_t *index, struct cov_err *e)
{
    char *path = cov_strfmt(e, "%.*s", (int)w.n, w.text);
    char *stem = path ? cov_path_stem(path, e) : NULL;
    int rc =
        stem ? add_name(j->files, (struct cov_word){stem, strlen(stem)}, index, e) : COV_ENOMEM;
    free(path);
    free(stem);
    return rc;
}

static int read_value(const struct map_job *j, const char *place, struct cov_word w, double *out,
                      struct cov_err *e)
{
    char text[64];
    *out = (double)NAN;
    if (cov_word_is(w, "NA"))
        return COV_OK;
    (void)snprintf(text, sizeof text, "%.*s", (int)w.n, w.text);
    return w.n < sizeof text && !cov_parse_double(text, "", -HUGE_VAL, HUGE_VAL, out, NULL)
               ? COV_OK
               : cov_fail(e, COV_EINPUT, "%s: %s: '%s' is not a number", place, j->o.value, text);
}

static int add_row(struct map_job *j, const char *place, const struct layout *l,
                   const struct cov_word *words, const struct cell *like, struct cov_err *e)
{
    const struct cov_word one = {"", 0}, dataset = l->dataset < l->n ? words[l->dataset] : one;
    struct cell c = *like;
    if (!is_wanted(j, dataset))
        return COV_OK;
    int rc = read_value(j, place, words[l->value], &c.value, e);
    if (!rc)
        rc = add_file(j, words[l->file], &c.file, e);
    if (!rc)
        rc = add_name(j->datasets, dataset, &c.dataset, e);
    for (size_t i = 0; !rc && i < j->n_cells; i++) {
        const struct cell *d = &j->cells[i];
        if (d->file == c.file && d->model == c.model && d->dataset == c.dataset)
            rc = cov_fail(e, COV_EINPUT, "%s: %s is also on line %zu", place,
                          cov_names_get(j->files, c.file, NULL), d->line);
    }
    if (!rc)
        rc = COV_RESERVE(&j->cells, &j->cap, j->n_cells + 1, e);
    if (!rc)
        j->cells[j->n_cells++] = c;
    return rc;
}

static int read_table(struct map_job *j, const char *path, size_t model, struct cov_err *e)
{
    struct cov_lines *lines;
    struct cov_word words[MOST_COLUMNS];
    struct layout l = {0};
    struct cell like = {.model = model};
    const char *text, *name = cov_path_of_input(path);
    size_t length;
    int more = 1;
    if (cov_kind_of_file(path, NULL) != COV_KIND_UNKNOWN)
        return cov_fail_kind(e, path, "not a table of scores");
    int rc = cov_lines_open(path, &lines, e);
    while (!rc && (more = cov_lines_next(lines, &text, &length, &like.line, e)) == 1) {
        length -= length > 0 && text[length - 1] == '\r';
        const size_t n = split(text, length, words, MOST_COLUMNS);
        char place[512];
        (void)snprintf(place, sizeof place, "%s:%zu", name, like.line);
        if (like.line == 1) {
            l.n = n;
            rc = read_head(j, name, words, &l, e);
        } else if (n != l.n) {
            rc = cov_fail(e, COV_EINPUT, "%s: %zu columns, but the first line has %zu", place, n,
                          l.n);
        } else {
            rc = add_row(j, place, &l, words, &like, e);
        }
    }
    if (!rc && more < 0)
        rc = more;
    if (!rc && l.n == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: empty", name);
    cov_lines_close(lines);
    return rc;
}

/* ---------------------------------------------------------------- the map */

/* Names the column of a table by its label or its file. */
static int add_model(struct map_job *j, const char *path, size_t i, size_t *model,
                     struct cov_err *e)
{
    const struct cov_strings *labels = &j->o.labels;
    char *name = labels->n ? cov_strdup(labels->items[i], e) : cov_path_stem(path, e);
    const size_t n = name ? strlen(name) - 4 * cov_path_has_suffix(name, ".tsv") : 0;
    bool is_new = false;
    int rc = name ? cov_names_add(j->models, name, n, model, &is_new, e) : COV_ENOMEM;
    if (!rc && !is_new)
        rc = cov_names_add(j->models, path, strlen(path), model, &is_new, e);
    free(name);
    return rc;
}

/* Adds a column for a model and dataset, unless it has no values. */
static int add_column(struct map_job *j, size_t model, size_t dataset, struct cov_err *e)
{
    const size_t n_all = cov_names_count(j->models) * cov_names_count(j->datasets);
    const bool is_single = cov_names_count(j->datasets) == 1;
    const char *name = cov_names_get(j->models, model, NULL);
    bool has_values = false;
    for (size_t i = 0; i < j->n_cells; i++) {
        const struct cell *c = &j->cells[i];
        if (c->model != model || c->dataset != dataset)
            continue;
        j->values[c->file * n_all + j->n_columns] = c->value;
        has_values = has_values || !isnan(c->value);
    }
    if (!has_values)
        return COV_OK;
    char *text = is_single
                     ? cov_strdup(name, e)
                     : cov_strfmt(e, "%s_%s", name, cov_names_get(j->datasets, dataset, NULL));
    j->columns[j->n_columns] = text;
    j->n_columns += text != NULL;
    return text ? COV_OK : COV_ENOMEM;
}

/* Makes the map of the cells: columns by dataset, then by model. */
static int make_map(struct map_job *j, struct cov_err *e)
{
    const size_t n_models = cov_names_count(j->models), n_datasets = cov_names_count(j->datasets);
    const size_t n_rows = cov_names_count(j->files), n = n_models * n_datasets;
    size_t n_values;
    int rc = cov_size_mul(n_rows, n, &n_values);
    j->values = rc ? NULL : cov_malloc(n_values, sizeof *j->values, e);
    j->rows = cov_calloc(n_rows + 1, sizeof *j->rows, e);
    j->columns = cov_calloc(n + 1, sizeof *j->columns, e);
    if (!j->values || !j->rows || !j->columns)
        return COV_ENOMEM;
    for (size_t i = 0; i < n_rows; i++)
        j->rows[i] = cov_names_get(j->files, i, NULL);
    for (size_t i = 0; i < n_values; i++)
        j->values[i] = (double)NAN;
    for (size_t d = 0; !rc && d < n_datasets; d++)
        for (size_t m = 0; !rc && m < n_models; m++)
            rc = add_column(j, m, d, e);
    if (!rc && j->n_columns == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no values of %s", cov_names_get(j->models, 0, NULL),
                      j->o.value);
    for (size_t i = 1; i < n_rows; i++) /* closes the gap of columns without values */
        memmove(j->values + i * j->n_columns, j->values + i * n, j->n_columns * sizeof *j->values);
    return rc;
}

static int check_datasets(const struct map_job *j, struct cov_err *e)
{
    size_t unused;
    for (size_t i = 0; i < j->o.datasets.n; i++) {
        const char *name = j->o.datasets.items[i];
        if (!cov_names_find(j->datasets, name, strlen(name), &unused))
            return cov_fail(e, COV_EINPUT, "--datasets: no table has the dataset %s", name);
    }
    return COV_OK;
}

static int read_tables(void *arg, const struct cov_profile_request *request, struct cov_err *e)
{
    struct map_job *j = arg;
    int rc = cov_names_new(&j->files, e);
    if (!rc)
        rc = cov_names_new(&j->models, e);
    if (!rc)
        rc = cov_names_new(&j->datasets, e);
    for (size_t i = 0; !rc && i < request->n_inputs; i++) {
        size_t model;
        rc = add_model(j, request->inputs[i], i, &model, e);
        if (!rc)
            rc = read_table(j, request->inputs[i], model, e);
    }
    if (!rc)
        rc = check_datasets(j, e);
    if (!rc)
        rc = make_map(j, e);
    if (rc)
        return rc;
    const char *dataset = cov_names_get(j->datasets, 0, NULL);
    const bool is_single = cov_names_count(j->datasets) == 1 && *dataset;
    j->title =
        cov_strfmt(e, "%s%s%s", j->o.value, is_single ? " of " : "", is_single ? dataset : "");
    return j->title ? COV_OK : COV_ENOMEM;
}

/* ---------------------------------------------------------------- outputs */

static struct cov_heat_map map_of(const struct map_job *j)
{
    return (struct cov_heat_map){.title = j->title,
                                 .values = j->values,
                                 .rows = j->rows,
                                 .columns = (const char *const *)j->columns,
                                 .n_rows = cov_names_count(j->files),
                                 .n_columns = j->n_columns,
                                 .has_numbers = true};
}

static void print_table(const void *arg, FILE *f)
{
    const struct cov_heat_map map = map_of(arg);
    cov_heat_map_print(&map, "file", f);
}

static int draw(const void *arg, const struct cov_picture *picture, struct cov_err *e)
{
    const struct cov_heat_map map = map_of(arg);
    return cov_heat_map_draw(&map, picture, e);
}

/* The map of a MultiQC report. */
static void put_cells(const void *arg, const char *sample, struct cov_json *json)
{
    const struct cov_heat_map map = map_of(arg);
    (void)sample;
    cov_heat_map_put_json(&map, json);
}

const struct cov_stats_plot cov_score_map_cells = {
    .type = COV_STATS_CELLS,
    .name = "scores",
    .section = "Scores of models",
    .description = "A score of each file, such as a species, for several models.",
    .x_axis = "Model",
    .rows = "File",
    .axis = "score",
    .put_data = put_cells,
};

/* "heatmap": {...} of --stats. */
static void print_json(struct cov_json *json, const void *arg)
{
    const struct map_job *j = arg;
    const struct cov_heat_map map = map_of(j);
    cov_json_begin_object(json, "heatmap");
    cov_json_string(json, "title", j->title);
    cov_heat_map_put_json(&map, json);
    cov_json_end_object(json);
}

/* ---------------------------------------------------------------- all of it */

static int tell(const void *arg, struct cov_stats *stats, struct cov_err *e)
{
    const struct map_job *j = arg;
    (void)stats;
    (void)e;
    cov_info("%s: rows: %zu, columns: %zu", j->title, cov_names_count(j->files), j->n_columns);
    return COV_OK;
}

static void free_job(void *arg)
{
    struct map_job *j = arg;
    for (size_t k = 0; k < j->n_columns; k++)
        free(j->columns[k]);
    cov_names_free(j->files);
    cov_names_free(j->models);
    cov_names_free(j->datasets);
    free(j->cells);
    free(j->title);
    free(j->rows);
    free(j->columns);
    free(j->values);
    free(j);
}

int cov_score_map_run(const struct cov_profile_request *request,
                      const struct cov_score_map_options *options, struct cov_err *e)
{
    static const struct cov_profile_steps steps = {.read = read_tables,
                                                   .print_table = print_table,
                                                   .draw = draw,
                                                   .tell = tell,
                                                   .print_json = print_json,
                                                   .free_job = free_job};
    struct map_job *j = cov_calloc(1, sizeof *j, e);
    if (!j)
        return COV_ENOMEM;
    j->o = *options;
    return cov_profile_job_run(j, &steps, request, e);
}
