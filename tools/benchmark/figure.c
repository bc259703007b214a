/* figure.c - see figure.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "tools/benchmark/spread.h"

void cov_figures_fini(struct cov_figures *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->items[i].name);
        free(f->items[i].unit);
        free(f->items[i].values);
    }
    free(f->items);
    *f = (struct cov_figures){NULL, 0, 0};
}

static struct cov_figure *find(const struct cov_figures *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->items[i].name, name) == 0)
            return &f->items[i];
    return NULL;
}

const struct cov_figure *cov_figures_find(const struct cov_figures *f, const char *name)
{
    return find(f, name);
}

/* An empty one at the end of the list. */
static struct cov_figure *append(struct cov_figures *f, const char *name, const char *unit,
                                 bool higher_is_better, struct cov_err *e)
{
    if (COV_RESERVE(&f->items, &f->cap, f->n + 1, e))
        return NULL;
    struct cov_figure *figure = &f->items[f->n];
    *figure = (struct cov_figure){.name = cov_strdup(name, e),
                                  .unit = cov_strdup(unit, e),
                                  .higher_is_better = higher_is_better};
    if (!figure->name || !figure->unit) {
        free(figure->name);
        free(figure->unit);
        return NULL;
    }
    f->n++;
    return figure;
}

/* `scratch` has room for all values. */
static void summarize(struct cov_figure *figure, double *scratch)
{
    memcpy(scratch, figure->values, figure->n * sizeof *scratch);
    cov_spread_sort(scratch, figure->n);
    figure->median = cov_spread_median(scratch, figure->n);
    figure->low = scratch[0];
    figure->high = scratch[figure->n - 1];
}

int cov_figures_add(struct cov_figures *f, const char *name, const char *unit,
                    bool higher_is_better, const double *values, size_t n, struct cov_err *e)
{
    size_t n_finite = 0;
    for (size_t i = 0; i < n; i++)
        n_finite += isfinite(values[i]) != 0;
    if (n_finite == 0)
        return COV_OK;
    struct cov_figure *figure = find(f, name);
    if (!figure)
        figure = append(f, name, unit, higher_is_better, e);
    if (!figure)
        return COV_ENOMEM;
    double *grown = cov_realloc(figure->values, figure->n + n_finite, sizeof *grown, e);
    if (!grown)
        return COV_ENOMEM;
    figure->values = grown;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i]))
            grown[figure->n++] = values[i];
    double *scratch = cov_malloc(figure->n, sizeof *scratch, e);
    if (!scratch)
        return COV_ENOMEM;
    summarize(figure, scratch);
    free(scratch);
    return COV_OK;
}

int cov_figures_add_one(struct cov_figures *f, const char *name, const char *unit,
                        bool higher_is_better, double value, struct cov_err *e)
{
    return cov_figures_add(f, name, unit, higher_is_better, &value, 1, e);
}

/* ---------------------------------------------------------------- printing */

static const char *better(const struct cov_figure *figure)
{
    return figure->higher_is_better ? "higher" : "lower";
}

void cov_figures_print_json(const struct cov_figures *f, struct cov_json *j)
{
    cov_json_begin_array(j, "figures");
    for (size_t i = 0; i < f->n; i++) {
        const struct cov_figure *figure = &f->items[i];
        cov_json_begin_object(j, NULL);
        cov_json_string(j, "name", figure->name);
        cov_json_string(j, "unit", figure->unit);
        cov_json_string(j, "better", better(figure));
        cov_json_int(j, "n", (int64_t)figure->n);
        cov_json_double(j, "median", figure->median);
        cov_json_double(j, "low", figure->low);
        cov_json_double(j, "high", figure->high);
        cov_json_begin_array(j, "values");
        for (size_t k = 0; k < figure->n; k++)
            cov_json_double(j, NULL, figure->values[k]);
        cov_json_end_array(j);
        cov_json_end_object(j);
    }
    cov_json_end_array(j);
}

void cov_figures_print_tsv(const struct cov_figures *f, FILE *out)
{
    (void)fprintf(out, "name\tunit\tbetter\tn\tmedian\tlow\thigh\n");
    for (size_t i = 0; i < f->n; i++) {
        const struct cov_figure *figure = &f->items[i];
        (void)fprintf(out, "%s\t%s\t%s\t%zu\t%.6g\t%.6g\t%.6g\n", figure->name, figure->unit,
                      better(figure), figure->n, figure->median, figure->low, figure->high);
    }
}

const char *cov_figure_text(double value, char text[32])
{
    static const struct {
        double from, unit;
        const char *letter;
    } units[] = {{999.95e6, 1e9, " G"}, {999.95e3, 1e6, " M"}, {9999.5, 1e3, " k"}, {0, 1, ""}};
    double size = fabs(value);
    size_t i = 0;
    while (size < units[i].from)
        i++;
    double shown = value / units[i].unit;
    size = fabs(shown);
    if (value != 0 && size < 1e-3)
        (void)snprintf(text, 32, "%.2e", value);
    else
        (void)snprintf(text, 32, "%.*f%s",
                       size >= 999.5    ? 0
                       : size >= 99.95  ? 1
                       : size >= 0.9995 ? 2
                                        : 4,
                       shown, units[i].letter);
    return text;
}

/* ---------------------------------------------------------------- reading */

static int read_values(const struct cov_json_value *item, const char *name, double **values,
                       size_t *n, struct cov_err *e)
{
    const struct cov_json_value *list = cov_json_member(item, "values");
    size_t cap = 0;
    double median;
    *values = NULL;
    *n = 0;
    for (const struct cov_json_value *v = cov_json_first(list); v; v = cov_json_next(v)) {
        if (COV_RESERVE(values, &cap, *n + 1, e))
            return COV_ENOMEM;
        if (!cov_json_number(v, &(*values)[*n]))
            return cov_fail(e, COV_EINPUT, "figure %s: a value is not a number", name);
        ++*n;
    }
    if (*n > 0)
        return COV_OK;
    /* What is left of a figure when its values have been thrown away. */
    if (!cov_json_number(cov_json_member(item, "median"), &median))
        return cov_fail(e, COV_EINPUT, "figure %s: no values", name);
    if (COV_RESERVE(values, &cap, 1, e))
        return COV_ENOMEM;
    (*values)[(*n)++] = median;
    return COV_OK;
}

static int read_figure(const struct cov_json_value *item, struct cov_figures *f, struct cov_err *e)
{
    const char *name = cov_json_text(item, "name"), *unit = cov_json_text(item, "unit");
    const char *way = cov_json_text(item, "better");
    double *values = NULL;
    size_t n = 0;
    if (!name)
        return cov_fail(e, COV_EINPUT, "a figure has no name");
    if (find(f, name))
        return cov_fail(e, COV_EINPUT, "figure %s stands twice", name);
    if (!way || (strcmp(way, "higher") != 0 && strcmp(way, "lower") != 0))
        return cov_fail(e, COV_EINPUT, "figure %s: better is neither higher nor lower", name);
    int rc = read_values(item, name, &values, &n, e);
    if (!rc)
        rc = cov_figures_add(f, name, unit ? unit : "", way[0] == 'h', values, n, e);
    free(values);
    return rc;
}

int cov_figures_read(const struct cov_json_value *file, struct cov_figures *f, struct cov_err *e)
{
    const struct cov_json_value *list = cov_json_member(file, "figures");
    int rc = cov_json_is_array(list) ? COV_OK : cov_fail(e, COV_EINPUT, "no list of figures");
    for (const struct cov_json_value *v = cov_json_first(list); v && !rc; v = cov_json_next(v))
        rc = read_figure(v, f, e);
    return rc;
}
