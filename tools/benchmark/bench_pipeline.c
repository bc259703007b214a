/* bench_pipeline.c - benchmark pipeline: FASTA to tracks, with prediction in shards.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/mem.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "tools/benchmark/child.h"
#include "tools/benchmark/flame.h"
#include "tools/benchmark/measuring.h"

enum step { ENCODE, PREDICT, MERGE, BIGWIG, BEDGRAPH, ALL, STEPS };
static const char *const step_names[STEPS] = {"fasta2h5", "covpredict", "merge",
                                              "bigwig",   "bedgraph",   "all"};

enum { MAX_ARGUMENTS = 16, MAX_SHARDS = 64, CACHE_LINE = 64 };

struct command {
    const char *arguments[MAX_SHARDS + MAX_ARGUMENTS];
};

struct pipeline {
    struct bench *b;
    const struct bench_pipeline_options *o;
    struct child_tools tools;
    char threads[16], shard_threads[16];
    char *genome, *merged, *bigwig, *bedgraph; /* paths */
    char *parts[MAX_SHARDS], shards[MAX_SHARDS][24];
    struct command commands[MAX_SHARDS + ALL];
    struct child_cost *costs; /* [repeats][STEPS], sums over shards */
};

static const struct child_cost no_cost = {.counters = {-1, -1, -1, -1}};

static int64_t join_peaks(int64_t a, int64_t b, bool at_once)
{
    return at_once ? a + b : a > b ? a : b;
}

/* Adds a cost; peaks of memory add up only if the programs run at once. */
static void add_cost(struct child_cost *to, const struct child_cost *c, bool at_once)
{
    to->cpu += c->cpu;
    to->max_rss = join_peaks(to->max_rss, c->max_rss, at_once);
    to->max_vms = join_peaks(to->max_vms, c->max_vms, at_once);
    to->max_uss = join_peaks(to->max_uss, c->max_uss, at_once);
    to->max_pss = join_peaks(to->max_pss, c->max_pss, at_once);
    to->read_bytes += c->read_bytes > 0 ? c->read_bytes : 0;
    to->written_bytes += c->written_bytes > 0 ? c->written_bytes : 0;
    for (int i = 0; i < CHILD_COUNTERS; i++)
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
    const char *const encode[] = {p->tools.fasta2h5, "-fq",       "-@", p->threads, "-o",
                                  p->genome,         p->o->fasta, NULL};
    const char *const merge[] = {p->tools.h5chunk, "merge", "-fq",     "-@",
                                 p->threads,       "-o",    p->merged, NULL};
    const char *const bigwig[] = {p->tools.cov2bigwig, "-fq",    "-@", p->threads,
                                  "--format",          "bigwig", "-o", p->bigwig,
                                  p->merged,           NULL};
    const char *const bedgraph[] = {p->tools.cov2bigwig, "-fq", "-@",        p->threads, "--format",
                                    "bedgraph.gz",       "-o",  p->bedgraph, p->merged,  NULL};
    memcpy(p->commands[ENCODE].arguments, encode, sizeof encode);
    memcpy(p->commands[MERGE].arguments, merge, sizeof merge);
    memcpy(p->commands[BIGWIG].arguments, bigwig, sizeof bigwig);
    memcpy(p->commands[BEDGRAPH].arguments, bedgraph, sizeof bedgraph);
    for (unsigned i = 0; i < p->o->shards; i++) {
        const char *const predict[] = {
            p->tools.covpredict, "-fq",        "-@", p->shard_threads, "-m",      p->o->model,
            "--shard",           p->shards[i], "-o", p->parts[i],      p->genome, NULL};
        memcpy(p->commands[ALL + i].arguments, predict, sizeof predict);
        p->commands[MERGE].arguments[COV_COUNT(merge) - 1 + i] = p->parts[i];
    }
}

/* ---------------------------------------------------------------- running */

static int run_step(struct pipeline *p, int step, struct child_cost *cost, struct cov_err *e)
{
    struct child children[MAX_SHARDS] = {{0}};
    size_t n = step == PREDICT ? p->o->shards : 1;
    for (size_t i = 0; i < n; i++)
        children[i] = (struct child){
            .arguments = p->commands[step == PREDICT ? ALL + i : (size_t)step].arguments,
            .sample = true,
            .count = true};
    *cost = no_cost;
    int rc = children_run(children, n, p->b->work.path, &cost->wall, e);
    for (size_t i = 0; i < n && !rc; i++)
        add_cost(cost, &children[i].cost, true);
    return rc;
}

static int run_all(struct pipeline *p, struct child_cost costs[STEPS], struct cov_err *e)
{
    int rc = COV_OK;
    costs[ALL] = no_cost;
    for (int step = 0; step < ALL && !rc; step++) {
        rc = run_step(p, step, &costs[step], e);
        if (rc)
            return rc;
        add_cost(&costs[ALL], &costs[step], false);
        costs[ALL].wall += costs[step].wall;
        cov_progress_add(p->b->progress, 1);
    }
    return rc;
}

static int check_result(const struct pipeline *p, struct cov_err *e)
{
    const char *const verify[] = {p->tools.h5chunk, "verify", "-q", p->merged, NULL};
    return child_run(verify, p->b->work.path, e);
}

static int measure(struct pipeline *p, struct cov_err *e)
{
    struct child_cost warm_up[STEPS];
    cov_progress_begin(p->b->progress, "running the pipeline", "stages",
                       (int64_t)((p->b->repeats + 1) * ALL));
    int rc = run_all(p, warm_up, e);
    if (!rc)
        rc = check_result(p, e);
    for (size_t i = 0; i < p->b->repeats && !rc; i++)
        rc = run_all(p, p->costs + i * STEPS, e);
    cov_progress_end(p->b->progress);
    return rc;
}

/* ---------------------------------------------------------------- figures */

static const struct {
    const char *name, *unit;
    bool higher_is_better;
} kinds[] = {
    {"wall_seconds", "s", false},
    {"cpu_seconds", "s", false},
    {"peak_rss_bytes", "bytes", false},
    {"written_bytes", "bytes", false},
    {"instructions_per_cycle", "instructions", true},
    {"cache_misses", "misses", false},
    {"memory_share", "of the limit", false},
    {"page_faults", "faults", false},
};

/* Returns the memory traffic of cache misses as a share of the measured bandwidth; NAN if not
 * counted. */
static double memory_share(const struct pipeline *p, const struct child_cost *c)
{
    double limit = machine_probe_value(&p->b->machine, "memory_gb_per_second") * 1e9;
    int64_t misses = c->counters[COUNT_CACHE_MISSES];
    return misses > 0 ? (double)misses * CACHE_LINE / c->wall / limit : (double)NAN;
}

/* Adds the figures of a step; counters that were not read become NAN, which figures_add skips. */
static int add_figures(struct pipeline *p, int step, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; i < p->b->repeats; i++) {
        const struct child_cost *c = &p->costs[i * STEPS + (size_t)step];
        const int64_t *n = c->counters;
        const double values[COV_COUNT(kinds)] = {
            c->wall,
            c->cpu,
            (double)c->max_rss,
            (double)c->written_bytes,
            n[COUNT_CYCLES] > 0 && n[COUNT_INSTRUCTIONS] > 0
                ? (double)n[COUNT_INSTRUCTIONS] / (double)n[COUNT_CYCLES]
                : (double)NAN,
            n[COUNT_CACHE_MISSES] > 0 ? (double)n[COUNT_CACHE_MISSES] : (double)NAN,
            memory_share(p, c),
            n[COUNT_PAGE_FAULTS] > 0 ? (double)n[COUNT_PAGE_FAULTS] : (double)NAN,
        };
        for (size_t k = 0; k < COV_COUNT(kinds) && !rc; k++)
            rc =
                figures_add_one(&p->b->figures, kinds[k].unit, kinds[k].higher_is_better, values[k],
                                e, "pipeline/%s/stage=%s", kinds[k].name, step_names[step]);
    }
    return rc;
}

static int note_counters(struct pipeline *p, struct cov_err *e)
{
    double share = memory_share(p, &p->costs[PREDICT]);
    if (isnan(share))
        return bench_note(
            p->b, e,
            "Pipeline: hardware counters cannot be read here (perf_event_open); memory "
            "bandwidth was not measured.");
    return bench_note(p->b, e,
                      "Pipeline: prediction uses %.0f %% of the memory bandwidth; it is "
                      "%smemory-bound.",
                      100 * share, share > 0.7 ? "" : "not ");
}

static int report(struct pipeline *p, struct cov_err *e)
{
    static const struct cov_chart like = {.kind = COV_CHART_BARS,
                                          .file = "pipeline_stages",
                                          .title = "Time of each stage of the pipeline",
                                          .x = "stage",
                                          .y = "seconds"};
    struct cov_chart *c;
    int rc = cov_charts_add(&p->b->charts, &like, &c, e);
    for (int step = 0; step < STEPS && !rc; step++) {
        rc = add_figures(p, step, e);
        for (int k = 0; k < 2 && !rc; k++)
            rc = chart_add_bar(c, k ? "CPU" : "wall", step_names[step],
                               figures_findf(&p->b->figures, "pipeline/%s/stage=%s", kinds[k].name,
                                             step_names[step]),
                               1, e);
    }
    return rc ? rc : note_counters(p, e);
}

/* ---------------------------------------------------------------- additional files */

/* Writes the last repeat, in the columns of Snakemake's `benchmark:`. */
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
            const struct child_cost *c = &p->costs[(p->b->repeats - 1) * STEPS + (size_t)step];
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
        rc = bench_add_file(p->b, name, NULL, e);
    free(path);
    return rc;
}

static const char flame_name[] = "pipeline_flame.svg";
static const char flame_title[] = "CPU time of prediction";

/* script: output of `perf script` */
static int draw_flame(const struct pipeline *p, const char *script, struct cov_err *e)
{
    char *path = cov_path_join(p->b->work.path, flame_name, e), *text = NULL;
    FILE *f = NULL;
    size_t n;
    int rc = path ? cov_textfile_read(script, BENCH_MAX_TEXT, &text, &n, e) : COV_ENOMEM;
    if (!rc && !(f = fopen(path, "we")))
        rc = cov_fail_errno(e, "%s", path);
    if (!rc)
        rc = flame_draw(text, n, flame_title, f, e);
    if (f && fclose(f) != 0 && !rc)
        rc = cov_fail_errno(e, "%s", path);
    free(text);
    free(path);
    return rc;
}

/* Makes the flame graph; if perf is missing or not permitted, adds a note instead. */
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
    int rc = child_find("perf", &perf, &why);
    const char *const record[] = {perf,
                                  "record",
                                  "-q",
                                  "-F",
                                  "99",
                                  "--call-graph",
                                  "dwarf,8192",
                                  "-o",
                                  data,
                                  "--",
                                  p->tools.covpredict,
                                  "-fq",
                                  "-@",
                                  p->threads,
                                  "-m",
                                  p->o->model,
                                  "-o",
                                  p->merged,
                                  p->genome,
                                  NULL};
    const char *const print[] = {perf, "script", "--no-inline", "-F", "comm,ip,sym,dso",
                                 "-i", data,     NULL};
    struct child printing = {.arguments = print, .output = script};
    if (!rc)
        rc = child_run(record, p->b->work.path, &why);
    if (!rc)
        rc = children_run(&printing, 1, p->b->work.path, NULL, &why);
    if (!rc)
        rc = draw_flame(p, script, &why);
    (void)remove(data);
    (void)remove(script);
    free(perf);
    free(data);
    free(script);
    if (rc == COV_ENOMEM)
        return cov_fail(e, rc, "%s", why.text);
    return rc ? bench_note(p->b, e, "Pipeline: no flame graph: %s.", why.text)
              : bench_add_file(p->b, flame_name, flame_title, e);
}

/* ---------------------------------------------------------------- all of it */

static int open_pipeline(struct pipeline *p, struct cov_err *e)
{
    unsigned each = p->b->threads / p->o->shards;
    (void)snprintf(p->threads, sizeof p->threads, "%u", p->b->threads);
    (void)snprintf(p->shard_threads, sizeof p->shard_threads, "%u", each ? each : 1);
    p->costs = cov_calloc(p->b->repeats * STEPS, sizeof *p->costs, e);
    int rc = p->costs ? child_tools_find(&p->tools, e) : COV_ENOMEM;
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
            bench_remove(file);
        free(file);
    }
    child_tools_free(&p->tools);
    free(p->costs);
    free(p);
}

int bench_pipeline(struct bench *b, const struct bench_pipeline_options *options, struct cov_err *e)
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
        rc = bench_note(b, e, "Pipeline: prediction in %u concurrent shards of %s thread%s each.",
                        options->shards, p->shard_threads,
                        strcmp(p->shard_threads, "1") == 0 ? "" : "s");
    close_pipeline(p);
    return rc;
}

/* ---------------------------------------------------------------- the subcommand */

struct pipeline_config {
    struct benchmark_config common;
    const char *model, *fasta;
    int64_t size, shards;
    bool profile;
};

static const struct cov_opt pipeline_options[] = {
    BENCHMARK_MODEL(offsetof(struct pipeline_config, model)),
    BENCHMARK_FASTA(offsetof(struct pipeline_config, fasta), "the genome"),
    BENCHMARK_SIZE(offsetof(struct pipeline_config, size), "4M"),
    BENCHMARK_COUNT("shards", offsetof(struct pipeline_config, shards), "2", 64,
                    "concurrent shards of prediction, which share the threads"),
    COV_OPT(FLAG, "profile", 0, offsetof(struct pipeline_config, profile), NULL,
            "also draw a flame graph of prediction (needs perf)"),
    BENCHMARK_REPEATS("3"),
    {.name = NULL},
};

static int pipeline_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                        char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct pipeline_config *c = config;
    struct bench b = {0};
    char *fasta = NULL, *model = NULL;
    int rc = benchmark_check_inputs(c->fasta, c->model, e);
    if (!rc)
        rc = benchmark_begin(common, &c->common, BENCH_PIPELINE, 0.1, &b, e);
    if (!rc)
        rc = benchmark_genome(&b, c->fasta, "synthetic.fa", c->size, &fasta, e);
    if (!rc)
        rc = benchmark_model_file(&b, c->model, &model, e);
    const struct bench_pipeline_options o = {fasta, model, (unsigned)c->shards, c->profile};
    if (!rc)
        rc = bench_pipeline(&b, &o, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    free(fasta);
    free(model);
    bench_fini(&b);
    return rc;
}

const struct cov_tool benchmark_pipeline = {
    .name = "pipeline",
    .summary = "measure FASTA to tracks in shards, with hardware counters and a flame graph",
    BENCHMARK_OUTPUT,
    .examples =
        "  benchmark pipeline -m model.ckpt --fasta rice.fa --shards 8 --profile -o results/\n",
    .options = pipeline_options,
    .config_bytes = sizeof(struct pipeline_config),
    .run = pipeline_run,
};
