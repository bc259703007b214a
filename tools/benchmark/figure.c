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
#include "common/base/sort.h"

enum { MAX_NAME = 256, DRAWS = 2000, SEED = 1979 };

double spread_median(const double *v, size_t n)
{
    return n % 2 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
}

/* sorted: [n], set to v in ascending order */
static double median_of(const double *v, size_t n, double *sorted)
{
    memcpy(sorted, v, n * sizeof *v);
    cov_sort_doubles(sorted, n);
    return spread_median(sorted, n);
}

/* ---------------------------------------------------------------- collecting */

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

/* What is measured, by the end of the second part of a figure's name: "epoch_seconds" in
 * "loader/epoch_seconds/strategy=original". The last row is for all others. */
static const struct kind {
    const char *end, *unit;
    bool higher_is_better;
} kinds[] = {
    {"chunks_per_second", "chunks/s", true},
    {"bases_per_second", "bases/s", true},
    {"seconds_per_mbp", "s", false},
    {"seconds", "s", false},
    {"bytes_per_base", "bytes", false},
    {"bytes", "bytes", false},
    {"limit_share", "of the limit", true},
    {"memory_share", "of the limit", false},
    {"padding_share", "of positions", false},
    {"device_use", "of an epoch", true},
    {"ratio_to_original", "times", true},
    {"relative_error", "of fp32", false},
    {"one_minus_r", "of fp32", false},
    {"fit_r2", "of variance", true},
    {"instructions_per_cycle", "instructions", true},
    {"cache_misses", "misses", false},
    {"page_faults", "faults", false},
    {"positions_computed", "positions", false},
    {"", "", false},
};

static const struct kind *kind_of(const char *name)
{
    const struct kind *kind = kinds;
    const char *start = strchr(name, '/') ? strchr(name, '/') + 1 : name;
    size_t n = strcspn(start, "/"), k;
    while ((k = strlen(kind->end)) > n || strncmp(start + n - k, kind->end, k) != 0)
        kind++;
    return kind;
}

/* Appends a figure without values. */
static struct figure *append(struct figures *f, const char *name, const struct kind *kind,
                             struct cov_err *e)
{
    if (COV_RESERVE(&f->items, &f->cap, f->n + 1, e))
        return NULL;
    struct figure *figure = &f->items[f->n];
    *figure = (struct figure){.name = cov_strdup(name, e),
                              .unit = cov_strdup(kind->unit, e),
                              .higher_is_better = kind->higher_is_better};
    if (!figure->name || !figure->unit) {
        free(figure->name);
        free(figure->unit);
        return NULL;
    }
    f->n++;
    return figure;
}

static int add_values(struct figure *figure, const double *values, size_t n, struct cov_err *e)
{
    double *grown = cov_realloc(figure->values, figure->n + n, sizeof *grown, e);
    double *sorted = cov_malloc(figure->n + n, sizeof *sorted, e);
    figure->values = grown ? grown : figure->values;
    if (!grown || !sorted) {
        free(sorted);
        return COV_ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i]))
            grown[figure->n++] = values[i];
    figure->median = median_of(grown, figure->n, sorted);
    figure->low = sorted[0];
    figure->high = sorted[figure->n - 1];
    free(sorted);
    return COV_OK;
}

/* kind: of a new figure */
static int add(struct figures *f, const char *name, const struct kind *kind, const double *values,
               size_t n, struct cov_err *e)
{
    size_t first = 0;
    while (first < n && !isfinite(values[first]))
        first++;
    if (first == n)
        return COV_OK;
    struct figure *figure = figures_find(f, name);
    if (!figure)
        figure = append(f, name, kind, e);
    return figure ? add_values(figure, values, n, e) : COV_ENOMEM;
}

int figures_add(struct figures *f, const char *name, const double *values, size_t n,
                struct cov_err *e)
{
    return add(f, name, kind_of(name), values, n, e);
}

int figures_add_one(struct figures *f, double value, struct cov_err *e, const char *fmt, ...)
{
    char name[MAX_NAME];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    return figures_add(f, name, &value, 1, e);
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
        rc = add(f, name, &(struct kind){"", unit ? unit : "", way[0] == 'h'}, values, n, e);
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

/* Returns the median of n values drawn from v with replacement; scratch: [n]. */
static double draw(struct cov_rng *rng, const double *v, size_t n, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = v[cov_rng_below(rng, n)];
    cov_sort_doubles(scratch, n);
    return spread_median(scratch, n);
}

/* Sets the interval: the middle 95 % of the draws, widened to hold the value itself. */
static void set_interval(double *draws, struct spread *out)
{
    cov_sort_doubles(draws, DRAWS);
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
    return (struct line){xy / xx, yy > 0 ? xy * xy / (xx * yy) : 1};
}
