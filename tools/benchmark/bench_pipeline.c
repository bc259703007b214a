/* bench_pipeline.c - see bench_stages.h: the pipeline in shards.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_stages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/path.h"
#include "tools/benchmark/child.h"
#include "tools/benchmark/flame.h"

enum step { ENCODE, PREDICT, MERGE, BIGWIG, BEDGRAPH, ALL, STEPS };
static const char *const step_names[STEPS] = {"fasta2h5", "covpredict", "merge",
                                              "bigwig",   "bedgraph",   "all"};

enum { MAX_ARGUMENTS = 16, MAX_SHARDS = 64, CACHE_LINE = 64 };

/* A program and its arguments. */
struct command {
    const char *arguments[MAX_SHARDS + MAX_ARGUMENTS];
};

struct pipeline {
    struct cov_bench *b;
    const struct cov_bench_pipeline_options *o;
    char *fasta2h5, *covpredict, *cov2bigwig, *h5chunk;
    char threads[16], shard_threads[16];
    char *genome, *merged, *bigwig, *bedgraph; /* files and folders of the run */
    char *parts[MAX_SHARDS], shards[MAX_SHARDS][24];
    struct command commands[MAX_SHARDS + ALL];
    struct cov_child_cost *costs; /* [repeats][STEPS], of shards together */
    size_t n_repeats;
};

static const struct cov_child_cost no_cost = {.counters = {-1, -1, -1, -1, -1, -1}};

static void add_cost(struct cov_child_cost *to, const struct cov_child_cost *c)
{
    to->cpu += c->cpu;
    to->max_rss += c->max_rss;
    to->max_vms += c->max_vms;
    to->max_uss += c->max_uss;
    to->max_pss += c->max_pss;
    to->read_bytes += c->read_bytes > 0 ? c->read_bytes : 0;
    to->written_bytes += c->written_bytes > 0 ? c->written_bytes : 0;
    for (int i = 0; i < COV_CHILD_COUNTERS; i++)
        if (c->counters[i] >= 0)
            to->counters[i] = (to->counters[i] > 0 ? to->counters[i] : 0) + c->counters[i];
}

/* ---------------------------------------------------------------- commands */

static int name_files(struct pipeline *p, struct cov_err *e)
{
    const char *work = p->b->work.path;
    p->genome = cov_strfmt(e, "%s/pipeline.h5", work);
    p->merged = cov_strfmt(e, "%s/pipeline_predictions.h5", work);
    p->bigwig = cov_strfmt(e, "%s/pipeline_bigwig", work);
    p->bedgraph = cov_strfmt(e, "%s/pipeline_bedgraph", work);
    if (!p->genome || !p->merged || !p->bigwig || !p->bedgraph)
        return COV_ENOMEM;
    for (unsigned i = 0; i < p->o->shards; i++) {
        p->parts[i] = cov_strfmt(e, "%s/pipeline_part%u.h5", work, i + 1);
        (void)snprintf(p->shards[i], sizeof p->shards[i], "%u/%u", i + 1, p->o->shards);
        if (!p->parts[i])
            return COV_ENOMEM;
    }
    if (mkdir(p->bigwig, 0777) != 0 || mkdir(p->bedgraph, 0777) != 0)
        return cov_fail_errno(e, "%s", work);
    return COV_OK;
}

static void set_commands(struct pipeline *p)
{
    const char *const encode[] = {p->fasta2h5, "-fq",     "-@",        p->threads,
                                  "-o",        p->genome, p->o->fasta, NULL};
    const char *const merge[] = {p->h5chunk, "merge", "-fq",     "-@",
                                 p->threads, "-o",    p->merged, NULL};
    const char *const bigwig[] = {p->cov2bigwig, "-fq", "-@",      p->threads, "--format",
                                  "bigwig",      "-o",  p->bigwig, p->merged,  NULL};
    const char *const bedgraph[] = {p->cov2bigwig, "-fq", "-@",        p->threads, "--format",
                                    "bedgraph.gz", "-o",  p->bedgraph, p->merged,  NULL};
    memcpy(p->commands[ENCODE].arguments, encode, sizeof encode);
    memcpy(p->commands[MERGE].arguments, merge, sizeof merge);
    memcpy(p->commands[BIGWIG].arguments, bigwig, sizeof bigwig);
    memcpy(p->commands[BEDGRAPH].arguments, bedgraph, sizeof bedgraph);
    for (unsigned i = 0; i < p->o->shards; i++) {
        const char *const predict[] = {p->covpredict, "-fq",       "-@",      p->shard_threads,
                                       "-m",          p->o->model, "--shard", p->shards[i],
                                       "-o",          p->parts[i], p->genome, NULL};
        memcpy(p->commands[ALL + i].arguments, predict, sizeof predict);
        p->commands[MERGE].arguments[COV_COUNT(merge) - 1 + i] = p->parts[i];
    }
}

/* ---------------------------------------------------------------- running */

static int run_step(struct pipeline *p, int step, struct cov_child_cost *cost, struct cov_err *e)
{
    struct cov_child children[MAX_SHARDS] = {{0}};
    size_t n = step == PREDICT ? p->o->shards : 1;
    for (size_t i = 0; i < n; i++)
        children[i] = (struct cov_child){
            .arguments = p->commands[step == PREDICT ? ALL + i : (size_t)step].arguments,
            .sample = true,
            .count = true};
    *cost = no_cost;
    int rc = cov_children_run(children, n, p->b->work.path, &cost->wall, e);
    for (size_t i = 0; i < n && !rc; i++)
        add_cost(cost, &children[i].cost);
    return rc;
}

static int run_all(struct pipeline *p, struct cov_child_cost costs[STEPS], struct cov_err *e)
{
    int rc = COV_OK;
    costs[ALL] = no_cost;
    for (int step = 0; step < ALL && !rc; step++) {
        rc = run_step(p, step, &costs[step], e);
        if (rc)
            return rc;
        struct cov_child_cost most = costs[ALL];
        add_cost(&costs[ALL], &costs[step]);
        costs[ALL].wall += costs[step].wall;
        /* One after the other they hold what the largest does. */
        costs[ALL].max_rss =
            most.max_rss > costs[step].max_rss ? most.max_rss : costs[step].max_rss;
        costs[ALL].max_vms =
            most.max_vms > costs[step].max_vms ? most.max_vms : costs[step].max_vms;
        costs[ALL].max_uss =
            most.max_uss > costs[step].max_uss ? most.max_uss : costs[step].max_uss;
        costs[ALL].max_pss =
            most.max_pss > costs[step].max_pss ? most.max_pss : costs[step].max_pss;
        cov_progress_add(p->b->progress, 1);
    }
    return rc;
}

/* The merged predictions are sound, and cover the genome. */
static int check_result(const struct pipeline *p, struct cov_err *e)
{
    const char *const verify[] = {p->h5chunk, "verify", "-q", p->merged, NULL};
    struct cov_child child = {.arguments = verify};
    return cov_children_run(&child, 1, p->b->work.path, NULL, e);
}

static int measure(struct pipeline *p, struct cov_err *e)
{
    struct cov_child_cost warm_up[STEPS];
    cov_progress_begin(p->b->progress, "running the pipeline", "stages",
                       (int64_t)((p->n_repeats + 1) * ALL));
    int rc = run_all(p, warm_up, e);
    if (!rc)
        rc = check_result(p, e);
    for (size_t i = 0; i < p->n_repeats && !rc; i++)
        rc = run_all(p, p->costs + i * STEPS, e);
    cov_progress_end(p->b->progress);
    return rc;
}

/* ---------------------------------------------------------------- figures */

static int add_figure(struct pipeline *p, const char *figure, const char *unit, bool higher,
                      int step,
                      double (*value)(const struct pipeline *, const struct cov_child_cost *),
                      struct cov_err *e)
{
    char name[96];
    double *values = cov_malloc(p->n_repeats, sizeof *values, e);
    if (!values)
        return COV_ENOMEM;
    (void)snprintf(name, sizeof name, "pipeline/%s/stage=%s", figure, step_names[step]);
    for (size_t i = 0; i < p->n_repeats; i++)
        values[i] = value(p, &p->costs[i * STEPS + (size_t)step]);
    int rc = cov_figures_add(&p->b->figures, name, unit, higher, values, p->n_repeats, e);
    free(values);
    return rc;
}

static double wall(const struct pipeline *p, const struct cov_child_cost *c)
{
    (void)p;
    return c->wall;
}

static double cpu(const struct pipeline *p, const struct cov_child_cost *c)
{
    (void)p;
    return c->cpu;
}

static double rss(const struct pipeline *p, const struct cov_child_cost *c)
{
    (void)p;
    return (double)c->max_rss;
}

static double written(const struct pipeline *p, const struct cov_child_cost *c)
{
    (void)p;
    return (double)c->written_bytes;
}

static double instructions_a_cycle(const struct pipeline *p, const struct cov_child_cost *c)
{
    (void)p;
    return (double)c->counters[COV_COUNT_INSTRUCTIONS] / (double)c->counters[COV_COUNT_CYCLES];
}

/* Lines that came from memory, of what memory can give: near 1, it is bound by bandwidth. */
static double memory_share(const struct pipeline *p, const struct cov_child_cost *c)
{
    double limit = cov_machine_probe_value(&p->b->machine, "memory_gb_per_second") * 1e9;
    return (double)c->counters[COV_COUNT_CACHE_MISSES] * CACHE_LINE / c->wall / limit;
}

static double cache_misses(const struct pipeline *p, const struct cov_child_cost *c)
{
    (void)p;
    return (double)c->counters[COV_COUNT_CACHE_MISSES];
}

static double page_faults(const struct pipeline *p, const struct cov_child_cost *c)
{
    (void)p;
    return (double)c->counters[COV_COUNT_PAGE_FAULTS];
}

static int add_counters(struct pipeline *p, int step, struct cov_err *e)
{
    const int64_t *counted = p->costs[step].counters;
    int rc = COV_OK;
    if (counted[COV_COUNT_CYCLES] > 0 && counted[COV_COUNT_INSTRUCTIONS] > 0)
        rc = add_figure(p, "instructions_per_cycle", "instructions", true, step,
                        instructions_a_cycle, e);
    if (!rc && counted[COV_COUNT_CACHE_MISSES] > 0) {
        rc = add_figure(p, "cache_misses", "misses", false, step, cache_misses, e);
        if (!rc)
            rc = add_figure(p, "memory_share", "of the limit", false, step, memory_share, e);
    }
    if (!rc && counted[COV_COUNT_PAGE_FAULTS] > 0)
        rc = add_figure(p, "page_faults", "faults", false, step, page_faults, e);
    return rc;
}

static int note_counters(struct pipeline *p, struct cov_err *e)
{
    const struct cov_child_cost *c = &p->costs[PREDICT];
    if (c->counters[COV_COUNT_CACHE_MISSES] <= 0)
        return cov_bench_note(
            p->b, e,
            "Pipeline: this machine does not let cycles, instructions and cache "
            "misses be counted (perf_event_open): whether a stage is bound by the "
            "bandwidth of memory was not measured.");
    double share = memory_share(p, c);
    return cov_bench_note(
        p->b, e,
        "Pipeline: prediction reads %.0f %% of what memory can give; it is %sbound "
        "by its bandwidth.",
        100 * share, share > 0.7 ? "" : "not ");
}

static int report(struct pipeline *p, struct cov_err *e)
{
    struct cov_chart *c;
    int rc = cov_charts_add(&p->b->charts, COV_CHART_BARS, "pipeline_stages",
                            "What each stage of the pipeline takes", "stage", "seconds", &c, e);
    for (int step = 0; step < STEPS && !rc; step++) {
        char name[96];
        rc = add_figure(p, "wall_seconds", "s", false, step, wall, e);
        if (!rc)
            rc = add_figure(p, "cpu_seconds", "s", false, step, cpu, e);
        if (!rc)
            rc = add_figure(p, "peak_rss_bytes", "bytes", false, step, rss, e);
        if (!rc)
            rc = add_figure(p, "written_bytes", "bytes", false, step, written, e);
        if (!rc)
            rc = add_counters(p, step, e);
        for (int k = 0; k < 2 && !rc; k++) {
            (void)snprintf(name, sizeof name, "pipeline/%s/stage=%s",
                           k ? "cpu_seconds" : "wall_seconds", step_names[step]);
            const struct cov_figure *f = cov_figures_find(&p->b->figures, name);
            if (f)
                rc = cov_chart_add_bar(c, k ? "CPU" : "wall", step_names[step], f->median, f->low,
                                       f->high, e);
        }
    }
    return rc ? rc : note_counters(p, e);
}

/* ---------------------------------------------------------------- files of their own */

/* The columns of Snakemake's `benchmark:`, of the last repeat. */
static int write_table(struct pipeline *p, struct cov_err *e)
{
    static const char name[] = "pipeline_snakemake.tsv";
    char *path = cov_path_join(p->b->work.path, name, e);
    FILE *f = path ? fopen(path, "we") : NULL;
    int rc = !path ? COV_ENOMEM : f ? COV_OK : cov_fail_errno(e, "%s", path);
    if (f) {
        (void)fprintf(f, "stage\ts\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\t"
                         "mean_load\tcpu_time\n");
        for (int step = 0; step < STEPS; step++) {
            const struct cov_child_cost *c = &p->costs[(p->n_repeats - 1) * STEPS + (size_t)step];
            const double mb = 1 << 20;
            long s = (long)c->wall;
            (void)fprintf(f,
                          "%s\t%.4f\t%ld:%02ld:%02ld\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t"
                          "%.2f\n",
                          step_names[step], c->wall, s / 3600, s / 60 % 60, s % 60,
                          (double)c->max_rss / mb, (double)c->max_vms / mb, (double)c->max_uss / mb,
                          (double)c->max_pss / mb, (double)c->read_bytes / mb,
                          (double)c->written_bytes / mb, c->wall > 0 ? 100 * c->cpu / c->wall : 0,
                          c->cpu);
        }
        bool bad = ferror(f);
        if (fclose(f) != 0 || bad)
            rc = cov_fail_errno(e, "%s", path);
    }
    if (!rc)
        rc = cov_bench_add_file(p->b, name, NULL, e);
    free(path);
    return rc;
}

static const char flame_name[] = "pipeline_flame.svg";

/* What `perf script` said. */
static int draw_flame(const struct pipeline *p, const char *script, struct cov_err *e)
{
    struct stat st = {0};
    char *path = cov_path_join(p->b->work.path, flame_name, e), *text = NULL;
    FILE *in = fopen(script, "re"), *f = NULL;
    int rc = path ? COV_OK : COV_ENOMEM;
    if (!rc && (!in || fstat(fileno(in), &st) != 0))
        rc = cov_fail_errno(e, "%s", script);
    if (!rc && !(text = cov_malloc((size_t)st.st_size + 1, 1, e)))
        rc = COV_ENOMEM;
    size_t n = text ? fread(text, 1, (size_t)st.st_size, in) : 0;
    if (!rc && !(f = fopen(path, "we")))
        rc = cov_fail_errno(e, "%s", path);
    if (!rc)
        rc = cov_flame_draw(text, n, "Where the time of prediction goes", f, e);
    if (f && fclose(f) != 0 && !rc)
        rc = cov_fail_errno(e, "%s", path);
    if (in)
        (void)fclose(in);
    free(text);
    free(path);
    return rc;
}

/* Without perf, or where it may not look, there is a note instead. */
static int profile(struct pipeline *p, struct cov_err *e)
{
    struct cov_err why = COV_ERR_INIT;
    char *perf = NULL, *data = cov_strfmt(e, "%s/perf.data", p->b->work.path);
    char *script = cov_strfmt(e, "%s/perf.txt", p->b->work.path);
    if (!data || !script) {
        free(data);
        free(script);
        return COV_ENOMEM;
    }
    int rc = cov_child_find("perf", &perf, &why);
    const char *const record[] = {perf,           "record",     "-q",      "-F",       "99",
                                  "--call-graph", "dwarf,8192", "-o",      data,       "--",
                                  p->covpredict,  "-fq",        "-@",      p->threads, "-m",
                                  p->o->model,    "-o",         p->merged, p->genome,  NULL};
    const char *const print[] = {perf, "script", "--no-inline", "-F", "comm,ip,sym,dso",
                                 "-i", data,     NULL};
    struct cov_child recording = {.arguments = record},
                     printing = {.arguments = print, .output = script};
    if (!rc)
        rc = cov_children_run(&recording, 1, p->b->work.path, NULL, &why);
    if (!rc)
        rc = cov_children_run(&printing, 1, p->b->work.path, NULL, &why);
    if (!rc)
        rc = draw_flame(p, script, &why);
    (void)remove(data);
    (void)remove(script);
    free(perf);
    free(data);
    free(script);
    if (rc == COV_ENOMEM)
        return cov_fail(e, rc, "%s", why.text);
    return rc ? cov_bench_note(p->b, e, "Pipeline: there is no flame graph: %s.", why.text)
              : cov_bench_add_file(p->b, flame_name, "Where the time of prediction goes", e);
}

/* ---------------------------------------------------------------- all of it */

static int open_pipeline(struct pipeline *p, struct cov_err *e)
{
    unsigned each = p->b->threads / p->o->shards;
    (void)snprintf(p->threads, sizeof p->threads, "%u", p->b->threads);
    (void)snprintf(p->shard_threads, sizeof p->shard_threads, "%u", each ? each : 1);
    p->n_repeats = p->b->repeats;
    p->costs = cov_calloc(p->n_repeats * STEPS, sizeof *p->costs, e);
    int rc = p->costs ? cov_child_find("fasta2h5", &p->fasta2h5, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_child_find("covpredict", &p->covpredict, e);
    if (!rc)
        rc = cov_child_find("cov2bigwig", &p->cov2bigwig, e);
    if (!rc)
        rc = cov_child_find("h5chunk", &p->h5chunk, e);
    if (!rc)
        rc = name_files(p, e);
    if (!rc)
        set_commands(p);
    return rc;
}

static void close_pipeline(struct pipeline *p)
{
    char **const files[] = {&p->genome, &p->merged, &p->bigwig, &p->bedgraph};
    for (size_t i = 0; i < COV_COUNT(files) + MAX_SHARDS; i++) {
        char *file = i < COV_COUNT(files) ? *files[i] : p->parts[i - COV_COUNT(files)];
        if (file)
            cov_bench_remove(file);
        free(file);
    }
    free(p->fasta2h5);
    free(p->covpredict);
    free(p->cov2bigwig);
    free(p->h5chunk);
    free(p->costs);
    free(p);
}

int cov_bench_pipeline(struct cov_bench *b, const struct cov_bench_pipeline_options *options,
                       struct cov_err *e)
{
    if (options->shards > MAX_SHARDS)
        return cov_fail(e, COV_EUSAGE, "--shards: at most %d", MAX_SHARDS);
    struct pipeline *p = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    p->b = b;
    p->o = options;
    int rc = open_pipeline(p, e);
    if (!rc)
        rc = measure(p, e);
    if (!rc)
        rc = report(p, e);
    if (!rc)
        rc = write_table(p, e);
    if (!rc && options->profile)
        rc = profile(p, e);
    if (!rc)
        rc = cov_bench_note(
            b, e, "Pipeline: prediction in %u shards at the same time, of %s thread%s each.",
            options->shards, p->shard_threads, strcmp(p->shard_threads, "1") == 0 ? "" : "s");
    close_pipeline(p);
    return rc;
}
