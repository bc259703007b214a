/* figure.c - see figure.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/rng.h"

enum { MAX_NAME = 256, DRAWS = 2000, SEED = 1979 };

void figures_fini(struct figures *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->items[i].name);
        free(f->items[i].unit);
        free(f->items[i].values);
    }
    free(f->items);
    *f = (struct figures){NULL, 0, 0};
}

struct figure *figures_find(const struct figures *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->items[i].name, name) == 0)
            return &f->items[i];
    return NULL;
}

const struct figure *figures_findf(const struct figures *f, const char *fmt, ...)
{
    char name[MAX_NAME];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    return figures_find(f, name);
}

/* Appends a figure without values. */
static struct figure *append(struct figures *f, const char *name, const char *unit,
                             bool higher_is_better, struct cov_err *e)
{
    if (COV_RESERVE(&f->items, &f->cap, f->n + 1, e))
        return NULL;
    struct figure *figure = &f->items[f->n];
    *figure = (struct figure){.name = cov_strdup(name, e),
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

/* scratch: [figure->n] */
static void summarize(struct figure *figure, double *scratch)
{
    memcpy(scratch, figure->values, figure->n * sizeof *scratch);
    spread_sort(scratch, figure->n);
    figure->median = spread_median(scratch, figure->n);
    figure->low = scratch[0];
    figure->high = scratch[figure->n - 1];
}

int figures_add(struct figures *f, const char *name, const char *unit, bool higher_is_better,
                const double *values, size_t n, struct cov_err *e)
{
    size_t n_finite = 0;
    for (size_t i = 0; i < n; i++)
        n_finite += isfinite(values[i]) != 0;
    if (n_finite == 0)
        return COV_OK;
    struct figure *figure = figures_find(f, name);
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

int figures_add_one(struct figures *f, const char *unit, bool higher_is_better, double value,
                    struct cov_err *e, const char *fmt, ...)
{
    char name[MAX_NAME];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    return figures_add(f, name, unit, higher_is_better, &value, 1, e);
}

/* ---------------------------------------------------------------- printing */

static const char *better(const struct figure *figure)
{
    return figure->higher_is_better ? "higher" : "lower";
}

void figures_print_json(const struct figures *f, struct cov_json *j)
{
    cov_json_begin_array(j, "figures");
    for (size_t i = 0; i < f->n; i++) {
        const struct figure *figure = &f->items[i];
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

void figures_print_tsv(const struct figures *f, FILE *out)
{
    (void)fprintf(out, "name\tunit\tbetter\tn\tmedian\tlow\thigh\n");
    for (size_t i = 0; i < f->n; i++) {
        const struct figure *figure = &f->items[i];
        (void)fprintf(out, "%s\t%s\t%s\t%zu\t%.6g\t%.6g\t%.6g\n", figure->name, figure->unit,
                      better(figure), figure->n, figure->median, figure->low, figure->high);
    }
}

const char *figure_text(double value, char text[32])
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
    *values = NULL;
    *n = 0;
    for (const struct cov_json_value *v = cov_json_first(list); v; v = cov_json_next(v)) {
        if (COV_RESERVE(values, &cap, *n + 1, e))
            return COV_ENOMEM;
        if (!cov_json_number(v, &(*values)[*n]))
            return cov_fail(e, COV_EINPUT, "figure %s: a value is not a number", name);
        ++*n;
    }
    return *n > 0 ? COV_OK : cov_fail(e, COV_EINPUT, "figure %s: no values", name);
}

static int read_figure(const struct cov_json_value *item, struct figures *f, struct cov_err *e)
{
    const char *name = cov_json_text(item, "name"), *unit = cov_json_text(item, "unit");
    const char *way = cov_json_text(item, "better");
    double *values = NULL;
    size_t n = 0;
    if (!name)
        return cov_fail(e, COV_EINPUT, "a figure without name");
    if (figures_find(f, name))
        return cov_fail(e, COV_EINPUT, "figure %s: duplicate", name);
    if (!way || (strcmp(way, "higher") != 0 && strcmp(way, "lower") != 0))
        return cov_fail(e, COV_EINPUT, "figure %s: \"better\" is neither higher nor lower", name);
    int rc = read_values(item, name, &values, &n, e);
    if (!rc)
        rc = figures_add(f, name, unit ? unit : "", way[0] == 'h', values, n, e);
    free(values);
    return rc;
}

int figures_read(const struct cov_json_value *file, struct figures *f, struct cov_err *e)
{
    const struct cov_json_value *list = cov_json_member(file, "figures");
    int rc = cov_json_is_array(list) ? COV_OK : cov_fail(e, COV_EINPUT, "missing array of figures");
    for (const struct cov_json_value *v = cov_json_first(list); v && !rc; v = cov_json_next(v))
        rc = read_figure(v, f, e);
    return rc;
}

/* ---------------------------------------------------------------- statistics */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void spread_sort(double *v, size_t n)
{
    if (n > 1)
        qsort(v, n, sizeof *v, ascending);
}

double spread_median(const double *v, size_t n)
{
    return n % 2 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
}

/* Returns the median of n values drawn from v with replacement; scratch: [n]. */
static double draw(struct cov_rng *rng, const double *v, size_t n, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = v[cov_rng_below(rng, n)];
    spread_sort(scratch, n);
    return spread_median(scratch, n);
}

static double median_of(const double *v, size_t n, double *scratch)
{
    memcpy(scratch, v, n * sizeof *v);
    spread_sort(scratch, n);
    return spread_median(scratch, n);
}

/* Sets the interval: the middle 95 % of the draws, widened to hold the value itself. */
static void set_interval(double *draws, struct spread *out)
{
    spread_sort(draws, DRAWS);
    out->low = draws[DRAWS / 40];
    out->high = draws[DRAWS - 1 - DRAWS / 40];
    out->low = out->low < out->at ? out->low : out->at;
    out->high = out->high > out->at ? out->high : out->at;
}

int spread_ratio(const double *a, size_t na, const double *b, size_t nb, struct spread *out,
                 struct cov_err *e)
{
    size_t n = na > nb ? na : nb;
    double *draws = cov_malloc(DRAWS + n, sizeof *draws, e);
    if (!draws)
        return COV_ENOMEM;
    double *scratch = draws + DRAWS;
    struct cov_rng rng;
    cov_rng_init(&rng, SEED);
    out->at = median_of(b, nb, scratch) / median_of(a, na, scratch);
    for (int i = 0; i < DRAWS; i++) {
        double under = draw(&rng, a, na, scratch);
        draws[i] = draw(&rng, b, nb, scratch) / under;
    }
    set_interval(draws, out);
    free(draws);
    return COV_OK;
}

struct line spread_line(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    struct line line = {.slope = xy / xx, .r2 = yy > 0 ? xy * xy / (xx * yy) : 1};
    line.offset = my - line.slope * mx;
    return line;
}
