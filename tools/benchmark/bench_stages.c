/* bench_stages.c - benchmark stages: the tools as users run them, by genome size.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/mem.h"
#include "common/seq/genome.h"
#include "tools/benchmark/child.h"
#include "tools/benchmark/measuring.h"

enum stage { ENCODE, PREDICT, BIGWIG, BEDGRAPH, STAGES };
static const char *const stage_names[STAGES] = {"fasta2h5", "covpredict", "bigwig", "bedgraph"};

enum { MAX_ARGUMENTS = 16 };

#define FIGURE "stages/%s/stage=%s,bases=%lld"

/* One stage of one genome. */
struct stage_case {
    enum stage stage;
    int64_t n_bases;
    const char *arguments[MAX_ARGUMENTS];
    char *output, *h5chunk; /* output: file or folder. Owned */
    const char *tmpdir;
    struct child_cost *costs; /* [repeats] */
    size_t n;
};

static int run_stage(struct stage_case *c, struct child_cost *cost, struct cov_err *e)
{
    struct child child = {.arguments = c->arguments};
    int rc = children_run(&child, 1, c->tmpdir, NULL, e);
    *cost = child.cost;
    return rc;
}

/* Makes the input of the next stage, and verifies HDF5 files. */
static int check_stage(void *arg, struct cov_err *e)
{
    struct stage_case *c = arg;
    struct child_cost ignored;
    int rc = run_stage(c, &ignored, e);
    if (!rc && c->stage <= PREDICT) {
        const char *const verify[] = {c->h5chunk, "verify", "-q", c->output, NULL};
        rc = child_run(verify, c->tmpdir, e);
    }
    return rc;
}

static int time_stage(void *arg, double seconds, double *value, struct cov_err *e)
{
    struct stage_case *c = arg;
    *value = 0;
    if (seconds <= 0) /* check_stage has run it */
        return COV_OK;
    int rc = run_stage(c, &c->costs[c->n], e);
    *value = c->costs[c->n++].wall;
    return rc;
}

struct stages {
    struct bench *b;
    const struct bench_genome *genomes;
    size_t n_genomes;
    struct child_tools tools;
    char threads[16];
    struct stage_case *stages; /* [n_genomes][STAGES] */
    struct bench_cases cases;  /* the same order */
};

static const struct figure *find_figure(const struct stages *s, const char *figure,
                                        const struct stage_case *c)
{
    return figures_findf(&s->b->figures, FIGURE, figure, stage_names[c->stage],
                         (long long)c->n_bases);
}

/* Sets the command of a stage. */
static void set_arguments(const struct stages *s, struct stage_case *c, const char *input,
                          const char *model)
{
    const char *const encode[] = {s->tools.fasta2h5, "-fq", "-@", s->threads, "-o",
                                  c->output,         input, NULL};
    const char *const predict[] = {s->tools.covpredict, "-fq", "-@", s->threads, "-m", model, "-o",
                                   c->output,           input, NULL};
    const char *const tracks[] = {s->tools.cov2bigwig,
                                  "-fq",
                                  "-@",
                                  s->threads,
                                  "--format",
                                  c->stage == BIGWIG ? "bigwig" : "bedgraph.gz",
                                  "-o",
                                  c->output,
                                  input,
                                  NULL};
    if (c->stage == ENCODE)
        memcpy(c->arguments, encode, sizeof encode);
    else if (c->stage == PREDICT)
        memcpy(c->arguments, predict, sizeof predict);
    else
        memcpy(c->arguments, tracks, sizeof tracks);
}

static int plan_genome(struct stages *s, size_t g, const char *model, struct cov_err *e)
{
    const char *work = s->b->work.path;
    struct stage_case *of = s->stages + g * STAGES;
    const char *input = s->genomes[g].path;
    for (int i = 0; i < STAGES; i++) {
        struct stage_case *c = &of[i];
        static const char *const suffixes[STAGES] = {".h5", ".predictions.h5", ".bigwig/",
                                                     ".bedgraph/"};
        *c = (struct stage_case){.stage = (enum stage)i,
                                 .n_bases = s->genomes[g].n_bases,
                                 .tmpdir = work,
                                 .h5chunk = s->tools.h5chunk,
                                 .output = cov_strfmt(e, "%s/stage%zu%s", work, g, suffixes[i]),
                                 .costs = cov_calloc(s->b->repeats, sizeof *c->costs, e)};
        if (!c->output || !c->costs)
            return COV_ENOMEM;
        if (i >= BIGWIG && mkdir(c->output, 0777) != 0)
            return cov_fail_errno(e, "%s", c->output);
        set_arguments(s, c, input, model);
        input = i < PREDICT ? c->output : of[PREDICT].output;
        const struct bench_case timed = {
            .name = cov_strfmt(e, FIGURE, "wall_seconds", stage_names[i], (long long)c->n_bases),
            .unit = "s",
            .check = check_stage,
            .run = time_stage,
            .arg = c};
        if (bench_cases_add(&s->cases, timed, e))
            return COV_ENOMEM;
    }
    return COV_OK;
}

static int add_costs(struct bench *b, const struct stage_case *c, struct cov_err *e)
{
    static const char *const names[] = {"cpu_seconds", "peak_rss_bytes", "read_bytes",
                                        "written_bytes"};
    int rc = COV_OK;
    for (size_t i = 0; i < c->n; i++) {
        const struct child_cost *cost = &c->costs[i];
        const double values[] = {cost->cpu, (double)cost->max_rss, (double)cost->read_bytes,
                                 (double)cost->written_bytes};
        for (size_t k = 0; k < COV_COUNT(names) && !rc; k++)
            if (values[k] >= 0)
                rc =
                    figures_add_one(&b->figures, k == 0 ? "s" : "bytes", false, values[k], e,
                                    FIGURE, names[k], stage_names[c->stage], (long long)c->n_bases);
    }
    return rc;
}

/* Adds the times of a stage to the chart, and fits a line to them. */
static int fit(struct stages *s, int stage, struct cov_chart *chart, struct cov_err *e)
{
    double *x = cov_calloc(s->n_genomes, sizeof *x, e), *y = cov_calloc(s->n_genomes, sizeof *y, e);
    int rc = x && y ? COV_OK : COV_ENOMEM;
    bool differ = false;
    for (size_t g = 0; g < s->n_genomes && !rc; g++) {
        const struct figure *f =
            find_figure(s, "wall_seconds", &s->stages[g * STAGES + (size_t)stage]);
        x[g] = (double)s->genomes[g].n_bases * 1e-6;
        y[g] = f ? f->median : 0;
        differ = differ || x[g] != x[0];
        rc = chart_add_figure(chart, stage_names[stage], x[g], f, 1, e);
    }
    if (!rc && differ) {
        struct line line = spread_line(x, y, s->n_genomes);
        rc = figures_add_one(&s->b->figures, "s", false, line.slope, e,
                             "stages/seconds_per_mbp/stage=%s", stage_names[stage]);
        if (!rc)
            rc = figures_add_one(&s->b->figures, "of variance", true, line.r2, e,
                                 "stages/fit_r2/stage=%s", stage_names[stage]);
        cov_chart_set_line(chart, stage_names[stage], line.slope, line.offset);
    }
    free(x);
    free(y);
    return rc;
}

static int report(struct stages *s, struct cov_err *e)
{
    /* Prediction takes many times as long as the others, so the y axis is logarithmic. */
    static const struct cov_chart like_times = {.kind = COV_CHART_LINES,
                                                .file = "stages_time",
                                                .title = "Time of each stage by genome size",
                                                .x = "million bases",
                                                .y = "seconds",
                                                .log_y = true};
    static const struct cov_chart like_memory = {.kind = COV_CHART_LINES,
                                                 .file = "stages_memory",
                                                 .title =
                                                     "Peak memory of each stage by genome size",
                                                 .x = "million bases",
                                                 .y = "MB"};
    struct cov_chart *times, *memory;
    int rc = cov_charts_add(&s->b->charts, &like_times, &times, e);
    if (!rc)
        rc = cov_charts_add(&s->b->charts, &like_memory, &memory, e);
    for (size_t i = 0; i < s->n_genomes * STAGES && !rc; i++)
        rc = add_costs(s->b, &s->stages[i], e);
    for (int i = 0; i < STAGES && !rc; i++)
        rc = fit(s, i, times, e);
    for (size_t i = 0; i < s->n_genomes * STAGES && !rc; i++) {
        const struct stage_case *c = &s->stages[i];
        rc = chart_add_figure(memory, stage_names[c->stage], (double)c->n_bases * 1e-6,
                              find_figure(s, "peak_rss_bytes", c), 1e-6, e);
    }
    return rc;
}

int bench_stages(struct bench *b, const struct bench_genome *genomes, size_t n, const char *model,
                 struct cov_err *e)
{
    struct stages s = {.b = b, .genomes = genomes, .n_genomes = n};
    (void)snprintf(s.threads, sizeof s.threads, "%u", b->threads);
    s.stages = cov_calloc(n * STAGES, sizeof *s.stages, e);
    int rc = s.stages ? child_tools_find(&s.tools, e) : COV_ENOMEM;
    for (size_t g = 0; g < n && !rc; g++)
        rc = plan_genome(&s, g, model, e);
    if (!rc)
        rc = bench_run(b, "running the stages", &s.cases, e);
    if (!rc)
        rc = report(&s, e);
    for (size_t i = 0; s.stages && i < n * STAGES; i++) {
        if (s.stages[i].output)
            bench_remove(s.stages[i].output);
        free(s.stages[i].output);
        free(s.stages[i].costs);
    }
    free(s.stages);
    bench_cases_fini(&s.cases);
    child_tools_free(&s.tools);
    return rc;
}

/* ---------------------------------------------------------------- genomes */

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

void bench_genomes_free(struct bench_genome *genomes, size_t n)
{
    for (size_t i = 0; genomes && i < n; i++)
        free(genomes[i].path);
    free(genomes);
}

int bench_genomes_make(const struct bench *b, const int64_t *sizes, size_t n,
                       struct bench_genome **out, struct cov_err *e)
{
    struct bench_genome *genomes = *out = cov_calloc(n, sizeof *genomes, e);
    int rc = genomes ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "synthetic_%zu.fa", i + 1);
        genomes[i].n_bases = sizes[i];
        rc = benchmark_genome(b, NULL, name, sizes[i], &genomes[i].path, e);
    }
    return rc;
}

static int read_genomes(const struct bench *b, const struct cov_strings *files,
                        struct bench_genome **out, struct cov_err *e)
{
    struct bench_genome *genomes = *out = cov_calloc(files->n, sizeof *genomes, e);
    int rc = genomes ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < files->n && !rc; i++) {
        genomes[i].path = cov_strdup(files->items[i], e);
        rc = genomes[i].path ? count_bases(files->items[i], b->work.path, &genomes[i].n_bases, e)
                             : COV_ENOMEM;
    }
    return rc;
}

/* ---------------------------------------------------------------- the subcommand */

struct stages_config {
    struct benchmark_config common;
    const char *model;
    struct cov_strings files, sizes;
};

enum { ROW_MODEL, ROW_FASTA, ROW_SIZES };

static const struct cov_opt stages_options[] = {
    [ROW_MODEL] = BENCHMARK_MODEL(offsetof(struct stages_config, model)),
    [ROW_FASTA] = COV_OPT(LIST, "fasta", 0, offsetof(struct stages_config, files), "FASTA,...",
                          "genomes (default: synthetic ones)", .flags = COV_OPT_PATH_IN),
    [ROW_SIZES] = BENCHMARK_LIST("sizes", offsetof(struct stages_config, sizes), "N", "1M,2M,4M",
                                 "bases of the synthetic genomes"),
    BENCHMARK_REPEATS("3"),
    {.name = NULL},
};

static int stages_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    const struct stages_config *c = config;
    const struct number_limits limits = {.option = "--sizes", .min = 1000, .max = (int64_t)1e12};
    struct bench b = {0};
    struct bench_genome *genomes = NULL;
    struct numbers sizes = {0};
    char *model = NULL;
    int rc = given[ROW_FASTA] && given[ROW_SIZES]
                 ? cov_fail(e, COV_EUSAGE, "--fasta and --sizes contradict each other")
                 : benchmark_numbers(&c->sizes, &limits, &sizes, e);
    for (size_t i = 0; i < c->files.n && !rc; i++)
        rc = benchmark_check_inputs(c->files.items[i], NULL, e);
    if (!rc)
        rc = benchmark_check_inputs(NULL, c->model, e);
    if (!rc)
        rc = benchmark_begin(common, &c->common, BENCH_STAGES, 0.1, &b, e);
    if (!rc)
        rc = c->files.n ? read_genomes(&b, &c->files, &genomes, e)
                        : bench_genomes_make(&b, sizes.items, sizes.n, &genomes, e);
    if (!rc)
        rc = benchmark_model_file(&b, c->model, &model, e);
    size_t n = c->files.n ? c->files.n : sizes.n;
    if (!rc)
        rc = bench_stages(&b, genomes, n, model, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    free(model);
    bench_genomes_free(genomes, n);
    bench_fini(&b);
    free(sizes.items);
    return rc;
}

const struct cov_tool benchmark_stages = {
    .name = "stages",
    .summary = "measure each tool by genome size",
    BENCHMARK_OUTPUT,
    .examples = "  benchmark stages -m model.ckpt --fasta rice.fa,maize.fa -o results/\n",
    .options = stages_options,
    .config_bytes = sizeof(struct stages_config),
    .run = stages_run,
};
