/* bench_stages.c - benchmark stages: the tools by genome size, or earlier runs of them; and
 * benchmark pipeline: FASTA to tracks, with prediction in shards.
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
#include "common/seq/genome.h"
#include "tools/benchmark/chain.h"
#include "tools/benchmark/flame.h"
#include "tools/benchmark/measuring.h"

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
        rc = figures_add_one(figures, "s", false, line.slope, e, "stages/seconds_per_mbp/stage=%s",
                             name);
        if (!rc)
            rc = figures_add_one(figures, "of variance", true, line.r2, e, "stages/fit_r2/stage=%s",
                                 name);
        cov_chart_set_line(chart, name, line.slope, line.offset);
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

static int count_bases(const char *path, const char *tmpdir, int64_t *n, struct cov_err *e)
{
    const struct cov_genome_options options = {.tmpdir = tmpdir, .n_threads = 1};
    struct cov_genome *g;
    int rc = cov_genome_read(path, &options, NULL, &g, e);
    if (rc)
        return rc;
    *n = g->n_bases;
    cov_genome_free(g);
    return COV_OK;
}

/* Sets the genome of a chain: files[i], or without files a synthetic one. */
static int choose_genome(struct bench *b, const struct cov_strings *files,
                         const struct numbers *sizes, size_t i, struct chain *c, struct cov_err *e)
{
    char name[48];
    *c = (struct chain){.b = b, .section = "stages"};
    if (files && files->n > 0) {
        c->fasta = cov_strdup(files->items[i], e);
        return c->fasta ? count_bases(c->fasta, b->work.path, &c->n_bases, e) : COV_ENOMEM;
    }
    (void)snprintf(name, sizeof name, BENCH_STAGES_GENOME, i + 1);
    c->n_bases = sizes->items[i];
    return benchmark_genome(b, name, c->n_bases, &c->fasta, e);
}

int bench_stages(struct bench *b, const struct cov_strings *files, const struct numbers *sizes,
                 struct cov_err *e)
{
    size_t n = files && files->n > 0 ? files->n : sizes->n;
    struct chain *chains = cov_calloc(n, sizeof *chains, e);
    int rc = chains ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++)
        rc = choose_genome(b, files, sizes, i, &chains[i], e);
    if (!rc)
        rc = chains_run(chains, n, e);
    if (!rc)
        rc = report_stages(b, chains, n, e);
    for (size_t i = 0; chains && i < n; i++)
        chain_fini(&chains[i]);
    free(chains);
    return rc;
}

/* ---------------------------------------------------------------- earlier runs */

/* A run of a tool, from the file that --stats wrote. */
struct earlier {
    char *label; /* the end of its figures' names: "run=NAME,region=REGION". Owned */
    double bases, wall;
};

static int add_earlier(struct bench *b, struct earlier *r, const char *unit, const char *figure,
                       double value, struct cov_err *e)
{
    return figures_add_one(&b->figures, unit, false, value, e, "stages/%s/%s", figure, r->label);
}

static int take_earlier(struct bench *b, struct earlier *r, const struct cov_json_value *v,
                        struct cov_err *e)
{
    static const struct {
        const char *key, *unit;
    } kinds[] = {{"wall_seconds", "s"},
                 {"cpu_seconds", "s"},
                 {"peak_rss_bytes", "bytes"},
                 {"positions_computed", "positions"}};
    double value, cpu;
    if (!cov_json_number(cov_json_member(v, "bases"), &r->bases) ||
        !cov_json_number(cov_json_member(v, "wall_seconds"), &r->wall) ||
        !cov_json_number(cov_json_member(v, "cpu_seconds"), &cpu) || !(r->bases > 0))
        return cov_fail(e, COV_EINPUT, "not written by --stats of a run on a genome");
    int rc = add_earlier(b, r, "s", "seconds_per_mbp", r->wall / r->bases * 1e6, e);
    if (!rc)
        rc = add_earlier(b, r, "s", "cpu_seconds_per_mbp", cpu / r->bases * 1e6, e);
    for (size_t i = 0; i < COV_COUNT(kinds) && !rc; i++)
        if (cov_json_number(cov_json_member(v, kinds[i].key), &value))
            rc = add_earlier(b, r, kinds[i].unit, kinds[i].key, value, e);
    const struct cov_json_value *stages = cov_json_member(v, "stages");
    for (const struct cov_json_value *s = cov_json_first(stages); s && !rc; s = cov_json_next(s)) {
        char figure[64];
        (void)snprintf(figure, sizeof figure, "%s_seconds", cov_json_key(s));
        if (cov_json_number(s, &value))
            rc = add_earlier(b, r, "s", figure, value, e);
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
            rc = cov_err_prefix(e, "%s", path);
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

int bench_pipeline(struct bench *b, const char *fasta, unsigned shards, bool profiled,
                   struct cov_err *e)
{
    struct chain c = {.b = b, .section = "pipeline", .shards = shards};
    unsigned each = b->threads / shards > 0 ? b->threads / shards : 1;
    c.fasta = cov_strdup(fasta, e);
    int rc = c.fasta ? chains_run(&c, 1, e) : COV_ENOMEM;
    if (!rc)
        rc = report_pipeline(b, &c, e);
    if (!rc && profiled)
        rc = profile(b, e);
    if (!rc)
        rc = bench_note(b, e, "Pipeline: prediction in %u concurrent shard%s of %u thread%s each.",
                        shards, cov_text_s(shards), each, cov_text_s(each));
    chain_fini(&c);
    return rc;
}

/* ---------------------------------------------------------------- the subcommands */

struct stages_config {
    struct benchmark_config common;
    struct cov_strings files, lists;
    struct cov_strings earlier; /* borrowed operands */
    struct numbers sizes;
};

enum { ROW_FASTA, ROW_SIZES };

static const struct cov_opt stages_options[] = {
    [ROW_FASTA] = COV_OPT(LIST, "fasta", 0, offsetof(struct stages_config, files), "FASTA,...",
                          "genomes (default: synthetic ones)", .flags = COV_OPT_PATH_IN),
    [ROW_SIZES] = BENCHMARK_LIST("sizes", offsetof(struct stages_config, lists), "N", "1M,2M,4M",
                                 "bases of the synthetic genomes"),
    BENCHMARK_MODEL,
    BENCHMARK_REPEATS("3"),
    {.name = NULL},
};

static int measure_stages(struct bench *b, const void *arg, struct cov_err *e)
{
    const struct stages_config *c = arg;
    return c->earlier.n > 0 ? report_earlier(b, &c->earlier, e)
                            : bench_stages(b, &c->files, &c->sizes, e);
}

static int stages_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    struct stages_config *c = config;
    const struct number_list sizes = {.list = &c->lists,
                                      .option = "--sizes",
                                      .min = 1000,
                                      .max = (int64_t)1e12,
                                      .out = &c->sizes};
    c->earlier = (struct cov_strings){operands, (size_t)n_operands};
    for (const struct cov_opt *o = stages_options; n_operands > 0 && o->name; o++)
        if (given[o - stages_options])
            return cov_fail(e, COV_EUSAGE, "--%s cannot be used with STATS.json", o->name);
    int rc = given[ROW_FASTA] && given[ROW_SIZES]
                 ? cov_fail(e, COV_EUSAGE, "--fasta and --sizes contradict each other")
                 : benchmark_numbers(&sizes, 1, e);
    for (size_t i = 0; i < c->files.n && !rc; i++)
        rc = benchmark_check_fasta(c->files.items[i], e);
    return rc ? rc
              : benchmark_run(common, &c->common, n_operands ? BENCH_RUNS : BENCH_STAGES,
                              measure_stages, c, e);
}

const struct cov_tool benchmark_stages = {
    .name = "stages",
    .formerly = "shards",
    .summary = "measure each tool by genome size, or compare runs with --stats",
    BENCHMARK_OUTPUT(" [STATS.json...]"),
    .examples = "  benchmark stages -m model.ckpt --fasta rice.fa,maize.fa -o results/\n"
                "  benchmark stages -o shards/ stats/shard.*.json\n",
    .options = stages_options,
    .config_bytes = sizeof(struct stages_config),
    .max_operands = -1,
    .run = stages_run,
};

struct pipeline_config {
    struct benchmark_config common;
    int64_t shards;
    bool profile;
};

static const struct cov_opt pipeline_options[] = {
    BENCHMARK_MODEL,
    BENCHMARK_FASTA("the genome"),
    BENCHMARK_SIZE("4M"),
    BENCHMARK_COUNT("shards", offsetof(struct pipeline_config, shards), "2", 64,
                    "concurrent shards of prediction, which share the threads"),
    COV_OPT(FLAG, "profile", 0, offsetof(struct pipeline_config, profile), NULL,
            "also draw a flame graph of prediction (needs perf)"),
    BENCHMARK_REPEATS("3"),
    {.name = NULL},
};

static int measure_pipeline(struct bench *b, const void *arg, struct cov_err *e)
{
    const struct pipeline_config *c = arg;
    return bench_pipeline(b, b->fasta, (unsigned)c->shards, c->profile, e);
}

static int pipeline_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                        char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct pipeline_config *c = config;
    return benchmark_run(common, &c->common, BENCH_PIPELINE, measure_pipeline, c, e);
}

const struct cov_tool benchmark_pipeline = {
    .name = "pipeline",
    .summary = "measure FASTA to tracks in shards, with hardware counters and a flame graph",
    BENCHMARK_OUTPUT(""),
    .examples =
        "  benchmark pipeline -m model.ckpt --fasta rice.fa --shards 8 --profile -o results/\n",
    .options = pipeline_options,
    .config_bytes = sizeof(struct pipeline_config),
    .run = pipeline_run,
};
