/* bench.c - see bench.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/file/textfile.h"

/* Share of a processor that a compute thread gets on an idle machine. */
#define UNDISTURBED 0.9

static void free_advice(struct bench_advice *a)
{
    free(a->what);
    free(a->value);
    free(a->how);
    free(a->reason);
}

void bench_fini(struct bench *b)
{
    figures_fini(&b->figures);
    cov_charts_fini(&b->charts);
    for (size_t i = 0; i < b->n_notes; i++)
        free(b->notes[i]);
    for (size_t i = 0; i < b->n_advice; i++)
        free_advice(&b->advice[i]);
    cov_tmpdir_remove(&b->work);
    cov_newdir_fini(&b->directory);
    free(b->fasta);
    free(b->model);
    free(b->speeds);
    free(b->notes);
    free(b->advice);
    free(b->flame);
}

int bench_begin(struct bench *b, double seconds, struct cov_err *e)
{
    struct cov_pool *pool = NULL;
    int rc = cov_tmpdir_make(&b->work, b->tmpdir ? b->tmpdir : b->dir, "benchmark", e);
    if (rc)
        return rc;
    machine_describe(&b->machine);
    cov_progress_begin(b->progress, "probing the machine", "", -1);
    rc = cov_pool_new(b->threads, &pool, e);
    if (!rc)
        rc = machine_probe(&b->machine, pool, seconds, e);
    cov_pool_free(pool);
    cov_progress_end(b->progress);
    return rc;
}

int bench_note(struct bench *b, struct cov_err *e, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (COV_RESERVE(&b->notes, &b->cap_notes, b->n_notes + 1, e))
        return COV_ENOMEM;
    b->notes[b->n_notes] = cov_strdup(text, e);
    if (!b->notes[b->n_notes])
        return COV_ENOMEM;
    b->n_notes++;
    return COV_OK;
}

int bench_advise(struct bench *b, const char *what, const char *value, char *how, char *reason,
                 struct cov_err *e)
{
    struct bench_advice a = {.what = cov_strdup(what, e), .value = cov_strdup(value, e)};
    a.how = how;
    a.reason = reason;
    if (!a.what || !a.value || !how || !reason ||
        COV_RESERVE(&b->advice, &b->cap_advice, b->n_advice + 1, e)) {
        free_advice(&a);
        return COV_ENOMEM;
    }
    b->advice[b->n_advice++] = a;
    return COV_OK;
}

void bench_print_advice(const struct bench *b, FILE *out)
{
    (void)fprintf(out, "setting\tvalue\thow\treason\n");
    for (size_t i = 0; i < b->n_advice; i++) {
        const struct bench_advice *a = &b->advice[i];
        (void)fprintf(out, "%s\t%s\t%s\t%s\n", a->what, a->value, a->how, a->reason);
    }
}

bool bench_is_disturbed(const struct bench *b)
{
    return b->processor_had < UNDISTURBED * b->processor_wanted;
}

int bench_read_json(const char *path, struct cov_json_value **out, struct cov_err *e)
{
    return cov_textfile_read_json(path, BENCH_MAX_TEXT, out, e);
}

int bench_cases_add(struct bench_cases *list, void *arg, struct cov_err *e, const char *fmt, ...)
{
    char name[256];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    if (COV_RESERVE(&list->items, &list->cap, list->n + 1, e))
        return COV_ENOMEM;
    struct bench_case *c = &list->items[list->n];
    *c = (struct bench_case){cov_strdup(name, e), arg};
    list->n += c->name != NULL;
    return c->name ? COV_OK : COV_ENOMEM;
}

void bench_cases_fini(struct bench_cases *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i].name);
    free(list->items);
}

int bench_repeat(int (*once)(void *arg, struct cov_err *e), void *arg, double seconds, double *each,
                 struct cov_err *e)
{
    double start = cov_clock(), spent;
    size_t n = 0;
    int rc;
    do {
        rc = once(arg, e);
        n++;
        spent = cov_clock() - start;
    } while (!rc && spent < seconds);
    *each = spent / (double)n;
    return rc;
}

/* value: NULL to check the case and run it once, untimed */
static int run_case(const struct bench *b, const struct bench_cases *cases, size_t i, double *value,
                    struct cov_err *e)
{
    const struct bench_case *c = &cases->items[i];
    double ignored;
    int rc = !value && cases->check ? cases->check(c->arg, e) : COV_OK;
    if (!rc)
        rc = cases->run(c->arg, value ? b->seconds : 0, value ? value : &ignored, e);
    cov_progress_add(b->progress, 1);
    return rc ? cov_err_prefix(e, "%s", c->name) : COV_OK;
}

int bench_run(struct bench *b, const char *what, const struct bench_cases *cases, struct cov_err *e)
{
    size_t n = cases->n;
    double *values = cov_calloc(n * b->repeats + 1, sizeof *values, e);
    int rc = values ? COV_OK : COV_ENOMEM;
    cov_progress_begin(b->progress, what, "runs", (int64_t)(n * (b->repeats + 1)));
    for (size_t i = 0; i < n && !rc; i++)
        rc = run_case(b, cases, i, NULL, e);
    for (size_t round = 0; round < b->repeats && !rc; round++)
        for (size_t k = 0; k < n && !rc; k++) {
            size_t i = round % 2 ? n - 1 - k : k;
            rc = run_case(b, cases, i, &values[i * b->repeats + round], e);
        }
    for (size_t i = 0; i < n && !rc; i++)
        rc = figures_add(&b->figures, cases->items[i].name, values + i * b->repeats, b->repeats, e);
    cov_progress_end(b->progress);
    free(values);
    return rc;
}

/* ---------------------------------------------------------------- charts */

static struct cov_chart_point point_of(double x, const struct figure *f, double factor)
{
    return (struct cov_chart_point){x, factor * f->median, factor * f->low, factor * f->high};
}

int chart_add_figure(struct cov_chart *c, const char *series, double x, const struct figure *f,
                     double factor, struct cov_err *e)
{
    if (!f)
        return COV_OK;
    const struct cov_chart_point point = point_of(x, f, factor);
    return cov_chart_add_point(c, series, &point, e);
}

int chart_add_bar(struct cov_chart *c, const char *series, const char *group,
                  const struct figure *f, double factor, struct cov_err *e)
{
    if (!f)
        return COV_OK;
    const struct cov_chart_point point = point_of(0, f, factor);
    return cov_chart_add_bar(c, series, group, &point, e);
}

int bench_draw(struct bench *b, const struct cov_chart *like, const struct bench_cases *cases,
               double (*place)(const void *arg, char series[64], double *x), struct cov_err *e)
{
    struct cov_chart *chart;
    int rc = cov_charts_add(&b->charts, like, &chart, e);
    for (size_t i = 0; i < cases->n && !rc; i++) {
        char series[64];
        double x = 0, factor = place(cases->items[i].arg, series, &x);
        if (factor > 0)
            rc = chart_add_figure(chart, series, x, figures_find(&b->figures, cases->items[i].name),
                                  factor, e);
    }
    return rc;
}
