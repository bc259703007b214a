/* bench_stages.c - benchmark stages: the tools by genome size, or earlier runs of them; and
 * benchmark pipeline: FASTA to tracks, with prediction in shards.
 *
 * Both run chains: the tools from FASTA to tracks, stage by stage, as child processes whose cost is
 * measured. The stages of all chains are the cases of one bench_run. The check of a case runs its
 * stage for the first time, which makes the input of the next stage.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/file/path.h"
#include "common/file/textfile.h"
#include "tools/benchmark/bench.h"
#include "tools/benchmark/child.h"

const char *const chain_stages[CHAIN_STAGES] = {"fasta2h5", "covpredict", "merge",
                                                "bigwig",   "bedgraph",   "all"};

enum { CACHE_LINE = 64 };

/* The programs of a stage, which run at once. */
struct chain_run {
    struct bench *b;
    struct child *children; /* [n]. Owned, like the commands */
    size_t n, cap;
    char *output;             /* an HDF5 file to verify once; NULL: none. Owned */
    char label[64];           /* the end of its figures' names: "stage=S,bases=N" */
    struct child_cost *costs; /* [repeats], each the sum over the programs. Owned */
    size_t n_costs;
};

/* The stages for one genome. */
struct chain {
    struct bench *b;
    const char *section; /* "stages" or "pipeline", the start of names of figures and files */
    char *fasta;         /* Owned */
    int64_t n_bases;     /* for the names of figures; 0: omitted */
    unsigned shards;     /* of prediction, which share the threads; 0: one process and no merge */
    struct chain_run runs[CHAIN_STAGES];
};

/* ---------------------------------------------------------------- costs */

static const struct child_cost no_cost = {
    .read_bytes = -1, .written_bytes = -1, .counters = {-1, -1, -1, -1}};

/* Negative numbers are unknown. */
static int64_t sum(int64_t a, int64_t b)
{
    return b < 0 ? a : a < 0 ? b : a + b;
}

static int64_t join_peaks(int64_t a, int64_t b, bool at_once)
{
    return at_once ? a + b : a > b ? a : b;
}

/* Adds a cost; peaks of memory add up only if the programs run at once, and times only if not. */
static void add_cost(struct child_cost *to, const struct child_cost *c, bool at_once)
{
    to->wall += at_once ? 0 : c->wall;
    to->cpu += c->cpu;
    to->max_rss = join_peaks(to->max_rss, c->max_rss, at_once);
    to->read_bytes = sum(to->read_bytes, c->read_bytes);
    to->written_bytes = sum(to->written_bytes, c->written_bytes);
    for (int i = 0; i < CHILD_COUNTERS; i++)
        to->counters[i] = sum(to->counters[i], c->counters[i]);
}

/* ---------------------------------------------------------------- commands */

/* Adds a command to a stage; NULL: out of memory. */
static int add(struct chain *c, enum chain_stage stage, char *command, struct cov_err *e)
{
    struct chain_run *r = &c->runs[stage];
    if (!command || COV_RESERVE(&r->children, &r->cap, r->n + 1, e)) {
        free(command);
        return COV_ENOMEM;
    }
    r->children[r->n++] = (struct child){.command = command};
    return COV_OK;
}

static int add_prediction(struct chain *c, const char *stem, struct cov_err *e)
{
    static const char merge[] =
        "exec h5chunk merge -fq -@ \"$0\" -o \"$1.predictions.h5\" \"$1\".shard*.h5";
    unsigned threads = c->b->threads, each = c->shards ? threads / c->shards : 0;
    int rc = COV_OK;
    if (c->shards == 0)
        return add(c, CHAIN_PREDICT,
                   child_command(e, "covpredict -fq -@ %u -m %s -o %s.predictions.h5 %s.h5",
                                 threads, c->b->model, stem, stem),
                   e);
    for (unsigned i = 1; i <= c->shards && !rc; i++)
        rc = add(c, CHAIN_PREDICT,
                 child_command(e, "covpredict -fq -@ %u -m %s --shard %u/%u -o %s.shard%u.h5 %s.h5",
                               each ? each : 1, c->b->model, i, c->shards, stem, i, stem),
                 e);
    return rc ? rc
              : add(c, CHAIN_MERGE, child_command(e, "sh -c %s %u %s", merge, threads, stem), e);
}

static int plan(struct chain *c, const char *stem, struct cov_err *e)
{
    unsigned threads = c->b->threads;
    int rc = add(c, CHAIN_ENCODE,
                 child_command(e, "fasta2h5 -fq -@ %u -o %s.h5 %s", threads, stem, c->fasta), e);
    if (!rc)
        rc = add_prediction(c, stem, e);
    if (!rc)
        rc = add(c, CHAIN_BIGWIG,
                 child_command(e,
                               "cov2bigwig -fq -@ %u --format bigwig -o %s.bigwig/ "
                               "%s.predictions.h5",
                               threads, stem, stem),
                 e);
    if (!rc)
        rc = add(c, CHAIN_BEDGRAPH,
                 child_command(e,
                               "cov2bigwig -fq -@ %u --format bedgraph.gz -o %s.bedgraph/ "
                               "%s.predictions.h5",
                               threads, stem, stem),
                 e);
    if (rc)
        return rc;
    char **output = &c->runs[c->shards ? CHAIN_MERGE : CHAIN_PREDICT].output;
    *output = cov_strfmt(e, "%s.predictions.h5", stem);
    return *output ? COV_OK : COV_ENOMEM;
}

static void chain_fini(struct chain *c)
{
    free(c->fasta);
    for (int i = 0; i < CHAIN_STAGES; i++) {
        struct chain_run *r = &c->runs[i];
        for (size_t k = 0; k < r->n; k++)
            free(r->children[k].command);
        free(r->children);
        free(r->output);
        free(r->costs);
    }
}

/* ---------------------------------------------------------------- running */

static int run_once(struct chain_run *r, struct child_cost *cost, struct cov_err *e)
{
    *cost = no_cost;
    int rc = children_run(r->children, r->n, r->b->work.path, &cost->wall, e);
    for (size_t i = 0; i < r->n && !rc; i++)
        add_cost(cost, &r->children[i].cost, true);
    return rc;
}

/* Makes the input of the next stage. */
static int check(void *arg, struct cov_err *e)
{
    struct chain_run *r = arg;
    struct child_cost ignored;
    int rc = run_once(r, &ignored, e);
    return rc || !r->output ? rc : child_run(r->b->work.path, e, "h5chunk verify -q %s", r->output);
}

static int run(void *arg, double seconds, double *value, struct cov_err *e)
{
    struct chain_run *r = arg;
    *value = 0;
    if (seconds <= 0) /* check has run it */
        return COV_OK;
    int rc = run_once(r, &r->costs[r->n_costs], e);
    *value = r->costs[r->n_costs++].wall;
    return rc;
}

/* ---------------------------------------------------------------- figures */

/* Returns a figure of a stage; NULL if it was not measured. */
static const struct figure *chain_figure(const struct chain *c, const char *figure,
                                         enum chain_stage stage)
{
    return figures_findf(&c->b->figures, "%s/%s/%s", c->section, figure, c->runs[stage].label);
}

static double known(int64_t n)
{
    return n >= 0 ? (double)n : (double)NAN;
}

/* Adds the figures of a repeat of a stage; those that are NaN are left out. */
static int add_figures(const struct chain *c, const struct chain_run *r,
                       const struct child_cost *cost, struct cov_err *e)
{
    const int64_t *n = cost->counters;
    double limit = c->b->machine.probes[PROBE_MEMORY] * 1e9;
    const struct {
        const char *name;
        double value;
    } all[] = {
        {"cpu_seconds", cost->cpu},
        {"peak_rss_bytes", (double)cost->max_rss},
        {"read_bytes", known(cost->read_bytes)},
        {"written_bytes", known(cost->written_bytes)},
        {"instructions_per_cycle", known(n[COUNT_INSTRUCTIONS]) / known(n[COUNT_CYCLES])},
        {"cache_misses", known(n[COUNT_CACHE_MISSES])},
        /* The traffic of cache misses, as a share of the probed bandwidth. */
        {"memory_share", known(n[COUNT_CACHE_MISSES]) * CACHE_LINE / cost->wall / limit},
        {"page_faults", known(n[COUNT_PAGE_FAULTS])},
    };
    int rc = COV_OK;
    for (size_t i = 0; i < COV_COUNT(all) && !rc; i++)
        rc = figures_add_one(&c->b->figures, all[i].value, e, "%s/%s/%s", c->section, all[i].name,
                             r->label);
    return rc;
}

/* Sums the costs of the stages of a repeat, and adds their time, too. */
static int add_sum(const struct chain *c, size_t repeat, struct cov_err *e)
{
    const struct chain_run *all = &c->runs[CHAIN_ALL];
    all->costs[repeat] = no_cost;
    for (int i = 0; i < CHAIN_ALL; i++)
        add_cost(&all->costs[repeat], &c->runs[i].costs[repeat], false);
    return figures_add_one(&c->b->figures, all->costs[repeat].wall, e, "%s/wall_seconds/%s",
                           c->section, all->label);
}

static int report_costs(const struct chain *c, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t k = 0; k < c->b->repeats && c->shards > 0 && !rc; k++)
        rc = add_sum(c, k, e);
    for (int i = 0; i < CHAIN_STAGES; i++)
        for (size_t k = 0; k < c->b->repeats && c->runs[i].costs && !rc; k++)
            rc = add_figures(c, &c->runs[i], &c->runs[i].costs[k], e);
    return rc;
}

/* Adds a case for each stage that has commands. */
static int add_cases(struct chain *c, struct bench_cases *cases, struct cov_err *e)
{
    int rc = COV_OK;
    for (int i = 0; i < CHAIN_STAGES && !rc; i++) {
        struct chain_run *r = &c->runs[i];
        r->b = c->b;
        int n = snprintf(r->label, sizeof r->label, "stage=%s", chain_stages[i]);
        if (c->n_bases > 0)
            (void)snprintf(r->label + n, sizeof r->label - (size_t)n, ",bases=%lld",
                           (long long)c->n_bases);
        if (r->n == 0 && (i != CHAIN_ALL || c->shards == 0))
            continue;
        r->costs = cov_calloc(c->b->repeats, sizeof *r->costs, e);
        if (!r->costs)
            return COV_ENOMEM;
        if (i != CHAIN_ALL)
            rc = bench_cases_add(cases, r, e, "%s/wall_seconds/%s", c->section, r->label);
    }
    return rc;
}

/* Runs b->repeats of all stages and adds their figures. The caller frees each chain, in any case. */
static int chains_run(struct chain *chains, size_t n, struct cov_err *e)
{
    struct bench *b = chains[0].b;
    struct bench_cases cases = {.check = check, .run = run};
    int rc = COV_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        char *stem = cov_strfmt(e, "%s/%s%zu", b->work.path, chains[i].section, i);
        rc = stem ? plan(&chains[i], stem, e) : COV_ENOMEM;
        if (!rc)
            rc = add_cases(&chains[i], &cases, e);
        free(stem);
    }
    if (!rc)
        rc = bench_run(b, "running the tools", &cases, e);
    for (size_t i = 0; i < n && !rc; i++)
        rc = report_costs(&chains[i], e);
    bench_cases_fini(&cases);
    return rc;
}

/* ---------------------------------------------------------------- stages by genome size */

/* Adds the times of a stage to the chart, and fits a line to them. */
static int fit(const struct chain *chains, size_t n, enum chain_stage stage,
               struct cov_chart *chart, struct cov_err *e)
{
    struct figures *figures = &chains[0].b->figures;
    const char *name = chain_stages[stage];
    double *x = cov_calloc(2 * n, sizeof *x, e), *y = x + n;
    int rc = x ? COV_OK : COV_ENOMEM;
    bool differ = false;
    for (size_t i = 0; i < n && !rc; i++) {
        const struct figure *f = chain_figure(&chains[i], "wall_seconds", stage);
        x[i] = (double)chains[i].n_bases * 1e-6;
        y[i] = f ? f->median : 0;
        differ = differ || x[i] != x[0];
        rc = chart_add_figure(chart, name, x[i], f, 1, e);
    }
    if (!rc && differ) {
        struct line line = spread_line(x, y, n);
        rc = figures_add_one(figures, line.slope, e, "stages/seconds_per_mbp/stage=%s", name);
        if (!rc)
            rc = figures_add_one(figures, line.r2, e, "stages/fit_r2/stage=%s", name);
    }
    free(x);
    return rc;
}

static int report_stages(struct bench *b, const struct chain *chains, size_t n, struct cov_err *e)
{
    static const enum chain_stage stages[] = {CHAIN_ENCODE, CHAIN_PREDICT, CHAIN_BIGWIG,
                                              CHAIN_BEDGRAPH};
    /* Prediction takes many times as long as the others, so the y axis is logarithmic. */
    static const struct cov_chart like_times = {.file = "stages_time",
                                                .title = "Time of each stage by genome size",
                                                .x = "million bases",
                                                .y = "seconds",
                                                .log_y = true};
    static const struct cov_chart like_memory = {.file = "stages_memory",
                                                 .title = "Peak memory by genome size",
                                                 .x = "million bases",
                                                 .y = "MB"};
    struct cov_chart *times, *memory;
    int rc = cov_charts_add(&b->charts, &like_times, &times, e);
    if (!rc)
        rc = cov_charts_add(&b->charts, &like_memory, &memory, e);
    for (size_t i = 0; i < COV_COUNT(stages) && !rc; i++) {
        rc = fit(chains, n, stages[i], times, e);
        for (size_t k = 0; k < n && !rc; k++)
            rc = chart_add_figure(memory, chain_stages[stages[i]], (double)chains[k].n_bases * 1e-6,
                                  chain_figure(&chains[k], "peak_rss_bytes", stages[i]), 1e-6, e);
    }
    return rc;
}

static int report_genomes(struct bench *b, const struct numbers *sizes, struct cov_err *e)
{
    struct chain chains[NUMBERS_MAX] = {{.b = NULL}};
    const size_t n = sizes->n;
    int rc = COV_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, BENCH_STAGES_GENOME, i + 1);
        chains[i] = (struct chain){.b = b, .section = "stages", .n_bases = sizes->items[i]};
        rc = benchmark_genome(b, name, sizes->items[i], &chains[i].fasta, e);
    }
    if (!rc)
        rc = chains_run(chains, n, e);
    if (!rc)
        rc = report_stages(b, chains, n, e);
    for (size_t i = 0; i < n; i++)
        chain_fini(&chains[i]);
    return rc;
}

/* ---------------------------------------------------------------- earlier runs */

/* A run of a tool, from the file that --stats wrote. */
struct earlier {
    char *label; /* the end of its figures' names: "run=NAME,region=REGION". Owned */
    double bases, wall;
};

static int add_earlier(struct bench *b, const struct earlier *r, const char *figure, double value,
                       struct cov_err *e)
{
    return figures_add_one(&b->figures, value, e, "stages/%s/%s", figure, r->label);
}

static int take_earlier(struct bench *b, struct earlier *r, const struct cov_json_value *v,
                        struct cov_err *e)
{
    static const char *const keys[] = {"wall_seconds", "cpu_seconds", "peak_rss_bytes",
                                       "positions_computed"};
    double value, cpu;
    if (!cov_json_number(cov_json_member(v, "bases"), &r->bases) ||
        !cov_json_number(cov_json_member(v, "wall_seconds"), &r->wall) ||
        !cov_json_number(cov_json_member(v, "cpu_seconds"), &cpu) || !(r->bases > 0))
        return cov_fail(e, COV_EINPUT, "not written by --stats of a run on a genome");
    int rc = add_earlier(b, r, "seconds_per_mbp", r->wall / r->bases * 1e6, e);
    if (!rc)
        rc = add_earlier(b, r, "cpu_seconds_per_mbp", cpu / r->bases * 1e6, e);
    for (size_t i = 0; i < COV_COUNT(keys) && !rc; i++)
        if (cov_json_number(cov_json_member(v, keys[i]), &value))
            rc = add_earlier(b, r, keys[i], value, e);
    const struct cov_json_value *stages = cov_json_member(v, "stages");
    for (const struct cov_json_value *s = cov_json_first(stages); s && !rc; s = cov_json_next(s)) {
        char figure[64];
        (void)snprintf(figure, sizeof figure, "%s_seconds", cov_json_key(s));
        if (cov_json_number(s, &value))
            rc = add_earlier(b, r, figure, value, e);
    }
    return rc;
}

static int read_earlier(struct bench *b, const char *path, struct earlier *r, struct cov_err *e)
{
    struct cov_json_value *v;
    char *name = cov_path_stem(path, e);
    int rc = name ? bench_read_json(path, &v, e) : COV_ENOMEM;
    if (!rc) {
        char *suffix = strstr(name, ".json");
        if (suffix)
            *suffix = '\0';
        const char *region = cov_json_text(v, "region");
        r->label =
            cov_strfmt(e, "run=%s%s%s", name, region ? ",region=" : "", region ? region : "");
        rc = r->label ? take_earlier(b, r, v, e) : COV_ENOMEM;
        if (rc)
            rc = cov_err_prefix(e, rc, "%s", path);
        cov_json_free(v);
    }
    free(name);
    return rc;
}

/* Draws the cost of a base along the genome: a point in the middle of each run. */
static int draw_earlier(struct bench *b, const struct earlier *runs, size_t n, struct cov_err *e)
{
    static const char *const series[][2] = {{"wall", "seconds_per_mbp"},
                                            {"CPU", "cpu_seconds_per_mbp"}};
    static const struct cov_chart like = {.file = "stages_runs",
                                          .title = "Time of earlier runs",
                                          .x = "million bases, run after run",
                                          .y = "seconds per million bases"};
    struct cov_chart *chart;
    double before = 0;
    int rc = cov_charts_add(&b->charts, &like, &chart, e);
    for (size_t i = 0; i < n && !rc; i++) {
        double middle = (before + runs[i].bases / 2) * 1e-6;
        before += runs[i].bases;
        for (size_t k = 0; k < COV_COUNT(series) && !rc; k++)
            rc = chart_add_figure(
                chart, series[k][0], middle,
                figures_findf(&b->figures, "stages/%s/%s", series[k][1], runs[i].label), 1, e);
    }
    return rc;
}

static int report_earlier(struct bench *b, const struct cov_strings *files, struct cov_err *e)
{
    struct earlier *runs = cov_calloc(files->n, sizeof *runs, e);
    const struct earlier *slowest = runs;
    double sum = 0;
    int rc = runs ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < files->n && !rc; i++) {
        rc = read_earlier(b, files->items[i], &runs[i], e);
        sum += runs[i].wall;
        slowest = runs[i].wall > slowest->wall ? &runs[i] : slowest;
    }
    if (!rc)
        rc = draw_earlier(b, runs, files->n, e);
    if (!rc)
        rc = bench_note(b, e, "%zu run%s, %.3g s on average; slowest: %s, %.3g s", files->n,
                        cov_text_s((int64_t)files->n), sum / (double)files->n, slowest->label,
                        slowest->wall);
    if (!rc)
        cov_info("%s", b->notes[b->n_notes - 1]);
    for (size_t i = 0; runs && i < files->n; i++)
        free(runs[i].label);
    free(runs);
    return rc;
}

int bench_stages(struct bench *b, const void *options, struct cov_err *e)
{
    const struct stages_options *o = options;
    return o->earlier.n > 0 ? report_earlier(b, &o->earlier, e) : report_genomes(b, &o->sizes, e);
}

/* ---------------------------------------------------------------- the pipeline */

/* Draws what `perf script` wrote. */
static int draw_flame(const struct bench *b, const char *path, struct cov_err *e)
{
    char *text = NULL, *script = cov_strfmt(e, "%s/perf.txt", b->work.path);
    size_t n;
    int rc = script ? cov_textfile_read(script, BENCH_MAX_TEXT, &text, &n, e) : COV_ENOMEM;
    FILE *f = rc ? NULL : fopen(path, "we");
    if (!rc)
        rc =
            f ? flame_draw(text, n, "CPU time of prediction", f, e) : cov_fail_errno(e, "%s", path);
    if (f && fclose(f) != 0 && !rc)
        rc = cov_fail_errno(e, "%s", path);
    free(script);
    free(text);
    return rc;
}

/* Makes the flame graph; if perf is missing or not permitted, adds a note instead. */
static int profile(struct bench *b, struct cov_err *e)
{
    static const char print[] = "exec perf script --no-inline -F comm,ip,sym,dso "
                                "-i \"$0/perf.data\" >\"$0/perf.txt\"";
    struct cov_err why = COV_ERR_INIT;
    const char *work = b->work.path;
    char *picture = cov_strfmt(e, "%s/flame.svg", work);
    if (!picture)
        return COV_ENOMEM;
    int rc = child_run(work, &why,
                       "perf record -q -F 99 --call-graph dwarf,8192 -o %s/perf.data -- "
                       "covpredict -fq -@ %u -m %s -o %s/profiled.h5 %s/pipeline0.h5",
                       work, b->threads, b->model, work, work);
    if (!rc)
        rc = child_run(work, &why, "sh -c %s %s", print, work);
    if (!rc)
        rc = draw_flame(b, picture, &why);
    if (!rc) {
        b->flame = picture;
        return COV_OK;
    }
    free(picture);
    return bench_note(b, e, "Pipeline: no flame graph: %s.", why.text);
}

static int report_pipeline(struct bench *b, const struct chain *c, struct cov_err *e)
{
    static const struct cov_chart like = {.kind = COV_CHART_BARS,
                                          .file = "pipeline_stages",
                                          .title = "Time of each stage of the pipeline",
                                          .x = "stage",
                                          .y = "seconds"};
    struct cov_chart *chart;
    int rc = cov_charts_add(&b->charts, &like, &chart, e);
    for (int i = 0; i < CHAIN_STAGES && !rc; i++)
        for (int k = 0; k < 2 && !rc; k++)
            rc = chart_add_bar(
                chart, k ? "CPU" : "wall", chain_stages[i],
                chain_figure(c, k ? "cpu_seconds" : "wall_seconds", (enum chain_stage)i), 1, e);
    if (!rc && !chain_figure(c, "memory_share", CHAIN_PREDICT))
        rc = bench_note(b, e, "Pipeline: hardware counters cannot be read (perf_event_open).");
    return rc;
}

int bench_pipeline(struct bench *b, const void *options, struct cov_err *e)
{
    const struct pipeline_options *o = options;
    struct chain c = {.b = b, .section = "pipeline", .shards = (unsigned)o->shards};
    unsigned each = b->threads / c.shards > 0 ? b->threads / c.shards : 1;
    c.fasta = cov_strdup(b->fasta, e);
    int rc = c.fasta ? chains_run(&c, 1, e) : COV_ENOMEM;
    if (!rc)
        rc = report_pipeline(b, &c, e);
    if (!rc && o->profile)
        rc = profile(b, e);
    if (!rc)
        rc = bench_note(b, e, "Pipeline: prediction in %u concurrent shard%s of %u thread%s each.",
                        c.shards, cov_text_s(c.shards), each, cov_text_s(each));
    chain_fini(&c);
    return rc;
}

/* ---------------------------------------------------------------- the subcommands */

static const struct cov_opt stages_rows[] = {
    BENCHMARK_LIST("sizes", offsetof(struct stages_options, sizes), "1M,2M,4M", 1000, 1e12,
                   "bases of the synthetic genomes"),
    BENCHMARK_MODEL,
    BENCHMARK_REPEATS("3"),
    {.name = NULL},
};

static int stages_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    struct stages_options *o = config;
    o->earlier = (struct cov_strings){operands, (size_t)n_operands};
    for (const struct cov_opt *row = stages_rows; n_operands > 0 && row->name; row++)
        if (given[row - stages_rows])
            return cov_fail(e, COV_EUSAGE, "--%s cannot be used with STATS.json", row->name);
    int rc = benchmark_numbers(stages_rows, config, e);
    return rc ? rc : benchmark_run(common, config, n_operands == 0, bench_stages, e);
}

const struct cov_tool benchmark_stages = {
    .name = "stages",
    .summary = "measure each tool by genome size, or compare runs with --stats",
    BENCHMARK_OUTPUT(" [STATS.json...]"),
    .examples = "  benchmark stages -m model.ckpt --sizes 10M,20M,40M -o results/\n"
                "  benchmark stages -o shards/ stats/shard.*.json\n",
    .options = stages_rows,
    .config_bytes = sizeof(struct stages_options),
    .max_operands = -1,
    .run = stages_run,
};

static const struct cov_opt pipeline_rows[] = {
    BENCHMARK_MODEL,
    BENCHMARK_FASTA("the genome"),
    BENCHMARK_SIZE("4M"),
    BENCHMARK_COUNT("shards", offsetof(struct pipeline_options, shards), "2", 64,
                    "concurrent shards of prediction, which share the threads"),
    COV_OPT(FLAG, "profile", 0, offsetof(struct pipeline_options, profile), NULL,
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
    return benchmark_run(common, config, true, bench_pipeline, e);
}

const struct cov_tool benchmark_pipeline = {
    .name = "pipeline",
    .summary = "measure FASTA to tracks in shards, with hardware counters and a flame graph",
    BENCHMARK_OUTPUT(""),
    .examples =
        "  benchmark pipeline -m model.ckpt --fasta rice.fa --shards 8 --profile -o results/\n",
    .options = pipeline_rows,
    .config_bytes = sizeof(struct pipeline_options),
    .run = pipeline_run,
};
