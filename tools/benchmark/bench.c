/* bench.c - see bench.h: options, a run, and timed cases.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/text.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "common/input/model.h"
#include "common/seq/fasta.h"
#include "tools/benchmark/child.h"

/* ---------------------------------------------------------------- options */

static int read_numbers(const struct cov_opt *row, struct numbers *out, struct cov_err *e)
{
    char option[40];
    (void)snprintf(option, sizeof option, "--%s", row->name);
    if (out->text.n > NUMBERS_MAX)
        return cov_fail(e, COV_EUSAGE, "%s: more than %d numbers", option, NUMBERS_MAX);
    const int64_t min = row->min > 1 ? (int64_t)row->min : 1;
    for (size_t i = 0; i < out->text.n; i++) {
        const char *text = out->text.items[i];
        if (row->min == 0 && strcmp(text, "unlimited") == 0)
            out->items[i] = 0;
        else if (cov_parse_size(text, option, min, (int64_t)row->max, &out->items[i], e))
            return COV_EUSAGE;
    }
    out->n = out->text.n;
    return COV_OK;
}

int benchmark_numbers(const struct cov_opt *rows, void *config, struct cov_err *e)
{
    int rc = COV_OK;
    for (const struct cov_opt *row = rows; row->name && !rc; row++)
        if (row->type == COV_OPT_LIST && row->max > 0)
            rc = read_numbers(row, (struct numbers *)((char *)config + row->field), e);
    return rc;
}

struct numbers benchmark_threads(unsigned all)
{
    struct numbers list = {.items = {all}, .n = 1};
    for (int64_t n = 1; n < all; n *= 2)
        list.items[list.n++] = n;
    return list;
}

/* ---------------------------------------------------------------- a run */

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

bool bench_is_disturbed(const struct bench *b)
{
    return b->processor_had < UNDISTURBED * b->processor_wanted;
}

int bench_read_json(const char *path, struct cov_json_value **out, struct cov_err *e)
{
    return cov_textfile_read_json(path, BENCH_MAX_TEXT, out, e);
}

/* ---------------------------------------------------------------- timed cases */

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
    return rc ? cov_err_prefix(e, rc, "%s", c->name) : COV_OK;
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
/* ---------------------------------------------------------------- inputs */

/* Fails if the FASTA cannot be read, is not a regular file, or has no record. */
static int check_fasta(const char *path, struct cov_err *e)
{
    struct cov_fasta_header header;
    struct cov_fasta *f = NULL;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return cov_fail(e, COV_EINPUT, "%s: not a regular file; it is read several times", path);
    int rc = cov_fasta_open(path, 1, &f, e);
    int found = rc ? rc : cov_fasta_next(f, &header, e);
    if (found == 0)
        found = cov_fail(e, COV_EINPUT, "%s: no sequence: the file is empty", path);
    cov_fasta_free(f);
    return found < 0 ? found : COV_OK;
}

static int check_inputs(const struct benchmark_config *c, struct cov_err *e)
{
    struct cov_model *m = NULL;
    int rc = c->fasta ? check_fasta(c->fasta, e) : COV_OK;
    if (!rc && c->model && strcmp(c->model, BENCH_NET_COMBINED) != 0)
        rc = cov_model_open(c->model, &m, e);
    cov_model_close(m);
    return rc;
}

static int make_inputs(struct bench *b, const struct benchmark_config *c, bool runs_tools,
                       struct cov_err *e)
{
    int rc = COV_OK;
    if (c->fasta && !(b->fasta = cov_strdup(c->fasta, e)))
        rc = COV_ENOMEM;
    else if (!c->fasta && c->size > 0)
        rc = benchmark_genome(b, "synthetic.fa", c->size, &b->fasta, e);
    if (rc || !runs_tools)
        return rc;
    b->model = c->model ? cov_strdup(c->model, e) : cov_path_join(b->work.path, "random.ckpt", e);
    if (!b->model)
        return COV_ENOMEM;
    return c->model ? COV_OK : bench_net_write_random(b->model, e);
}

/* ---------------------------------------------------------------- a subcommand */

/* Prints a table with the header setting, value, how, reason. */
static void print_advice(const struct bench *b, FILE *out)
{
    (void)fprintf(out, "setting\tvalue\thow\treason\n");
    for (size_t i = 0; i < b->n_advice; i++) {
        const struct bench_advice *a = &b->advice[i];
        (void)fprintf(out, "%s\t%s\t%s\t%s\n", a->what, a->value, a->how, a->reason);
    }
}

static int write_results(struct cov_common *common, const struct bench *b, struct cov_err *e)
{
    int rc = bench_output_write(b, &common->stats, e);
    if (rc)
        return rc;
    if (!common->quiet && b->n_advice > 0)
        print_advice(b, stdout);
    else if (!common->quiet)
        figures_print_tsv(&b->figures, stdout);
    if (bench_is_disturbed(b))
        cov_warn("the machine was busy; results are unreliable");
    char *page = cov_path_join(b->dir, "report.html", e);
    if (!page)
        return COV_ENOMEM;
    cov_info("report: %s", page);
    free(page);
    return COV_OK;
}

/* Creates `work`, describes the machine, and runs its probes for about `seconds` each. */
static int begin(struct bench *b, double seconds, struct cov_err *e)
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

int benchmark_run(struct cov_common *common, const void *config, bool runs_tools,
                  int (*measure)(struct bench *b, const void *config, struct cov_err *e),
                  struct cov_err *e)
{
    const struct benchmark_config *c = config;
    struct bench b = {
        .dir = common->output ? common->output : BENCHMARK_DIRECTORY,
        .tmpdir = common->tmpdir,
        .command = common->stats.command,
        .force = common->force,
        .threads = (unsigned)common->threads,
        .repeats = (size_t)c->repeats,
        .seconds = c->seconds > 0 ? c->seconds : 1,
        .progress = &common->progress,
    };
    /* Of a probe. */
    double seconds = c->seconds > 0 ? 4 * c->seconds : 0.1;
    seconds = seconds < 0.02 ? 0.02 : seconds < 1 ? seconds : 1;
    if (cov_path_is_std(b.dir))
        return cov_fail(e, COV_EUSAGE, "-o: must be a directory, not standard output");
    int rc = check_inputs(c, e);
    if (!rc)
        rc = child_prefer_own(e);
    if (!rc)
        rc = bench_output_begin(&b, e);
    if (!rc)
        rc = begin(&b, seconds, e);
    if (!rc)
        rc = make_inputs(&b, c, runs_tools, e);
    if (!rc)
        rc = measure(&b, config, e);
    if (!rc)
        rc = write_results(common, &b, e);
    bench_fini(&b);
    return rc;
}
