/* bench_stages.c - see bench_stages.h: the stages one by one.
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
#include "common/seq/genome.h"
#include "tools/benchmark/child.h"
#include "tools/benchmark/spread.h"

enum stage { ENCODE, PREDICT, BIGWIG, BEDGRAPH, STAGES };
static const char *const stage_names[STAGES] = {"fasta2h5", "covpredict", "bigwig", "bedgraph"};

enum { MAX_REPEATS = 1000, MAX_ARGUMENTS = 16 };

int cov_bench_count_bases(const char *path, const char *tmpdir, int64_t *n, struct cov_err *e)
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

struct tools {
    char *fasta2h5, *covpredict, *cov2bigwig, *h5chunk;
};

static int find_tools(struct tools *t, struct cov_err *e)
{
    int rc = cov_child_find("fasta2h5", &t->fasta2h5, e);
    if (!rc)
        rc = cov_child_find("covpredict", &t->covpredict, e);
    if (!rc)
        rc = cov_child_find("cov2bigwig", &t->cov2bigwig, e);
    return rc ? rc : cov_child_find("h5chunk", &t->h5chunk, e);
}

static void free_tools(struct tools *t)
{
    free(t->fasta2h5);
    free(t->covpredict);
    free(t->cov2bigwig);
    free(t->h5chunk);
}

/* One stage of one genome. */
struct stage_case {
    enum stage stage;
    int64_t n_bases;
    const char *arguments[MAX_ARGUMENTS];
    char *output, *h5chunk; /* output: file or folder. Owned */
    const char *tmpdir;
    struct cov_child_cost *costs; /* [repeats] */
    size_t n;
};

static int run_stage(struct stage_case *c, struct cov_child_cost *cost, struct cov_err *e)
{
    struct cov_child child = {.arguments = c->arguments};
    int rc = cov_children_run(&child, 1, c->tmpdir, NULL, e);
    *cost = child.cost;
    return rc;
}

/* Makes what the next stage needs, and has HDF5 files looked at. */
static int check_stage(void *arg, struct cov_err *e)
{
    struct stage_case *c = arg;
    struct cov_child_cost ignored;
    int rc = run_stage(c, &ignored, e);
    if (!rc && c->stage <= PREDICT) {
        const char *const verify[] = {c->h5chunk, "verify", "-q", c->output, NULL};
        struct cov_child child = {.arguments = verify};
        rc = cov_children_run(&child, 1, c->tmpdir, NULL, e);
    }
    return rc;
}

static int time_stage(void *arg, double seconds, double *value, struct cov_err *e)
{
    struct stage_case *c = arg;
    *value = 0;
    if (seconds <= 0) /* it was run to be checked */
        return COV_OK;
    int rc = run_stage(c, &c->costs[c->n], e);
    *value = c->costs[c->n++].wall;
    return rc;
}

struct stages {
    struct cov_bench *b;
    const struct cov_bench_genome *genomes;
    size_t n_genomes;
    struct tools tools;
    char threads[16];
    struct stage_case *stages; /* [n_genomes][STAGES] */
    struct cov_bench_case *cases;
};

static char *name_figure(const char *figure, const struct stage_case *c, struct cov_err *e)
{
    return cov_strfmt(e, "stages/%s/stage=%s,bases=%lld", figure, stage_names[c->stage],
                      (long long)c->n_bases);
}

/* The command of a stage of genome g. */
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
        s->cases[g * STAGES + (size_t)i] =
            (struct cov_bench_case){.name = name_figure("wall_seconds", c, e),
                                    .unit = "s",
                                    .check = check_stage,
                                    .run = time_stage,
                                    .arg = c};
        if (!s->cases[g * STAGES + (size_t)i].name)
            return COV_ENOMEM;
    }
    return COV_OK;
}

static int add_costs(struct cov_bench *b, const struct stage_case *c, struct cov_err *e)
{
    static const char *const names[] = {"cpu_seconds", "peak_rss_bytes", "read_bytes",
                                        "written_bytes"};
    int rc = COV_OK;
    for (size_t k = 0; k < COV_COUNT(names) && !rc; k++) {
        char *name = name_figure(names[k], c, e);
        double *values = cov_calloc(c->n + 1, sizeof *values, e);
        rc = name && values ? COV_OK : COV_ENOMEM;
        for (size_t i = 0; i < c->n && !rc; i++) {
            const struct cov_child_cost *cost = &c->costs[i];
            values[i] = k == 0   ? cost->cpu
                        : k == 1 ? (double)cost->max_rss
                        : k == 2 ? (double)cost->read_bytes
                                 : (double)cost->written_bytes;
        }
        if (!rc && c->n > 0 && values[0] >= 0)
            rc = cov_figures_add(&b->figures, name, k == 0 ? "s" : "bytes", false, values, c->n, e);
        free(values);
        free(name);
    }
    return rc;
}

/* The line through the times of a stage, as figures, and in the chart. */
static int fit(struct stages *s, int stage, struct cov_chart *chart, struct cov_err *e)
{
    double *x = cov_calloc(s->n_genomes, sizeof *x, e), *y = cov_calloc(s->n_genomes, sizeof *y, e);
    int rc = x && y ? COV_OK : COV_ENOMEM;
    bool differ = false;
    char name[96];
    for (size_t g = 0; g < s->n_genomes && !rc; g++) {
        const struct cov_bench_case *c = &s->cases[g * STAGES + (size_t)stage];
        const struct cov_figure *f = cov_figures_find(&s->b->figures, c->name);
        x[g] = (double)s->genomes[g].n_bases * 1e-6;
        y[g] = f ? f->median : 0;
        differ = differ || x[g] != x[0];
        if (f)
            rc = cov_chart_add(chart, stage_names[stage], x[g], f->median, f->low, f->high, e);
    }
    if (!rc && differ) {
        struct cov_line line = cov_spread_line(x, y, s->n_genomes);
        (void)snprintf(name, sizeof name, "stages/seconds_per_mbp/stage=%s", stage_names[stage]);
        rc = cov_figures_add_one(&s->b->figures, name, "s", false, line.slope, e);
        (void)snprintf(name, sizeof name, "stages/fit_r2/stage=%s", stage_names[stage]);
        if (!rc)
            rc = cov_figures_add_one(&s->b->figures, name, "of variance", true, line.r2, e);
        cov_chart_set_line(chart, stage_names[stage], line.slope, line.offset);
    }
    free(x);
    free(y);
    return rc;
}

static int report(struct stages *s, struct cov_err *e)
{
    struct cov_chart *times, *memory;
    int rc = cov_charts_add(&s->b->charts, COV_CHART_LINES, "stages_time",
                            "Time of each stage over the size of the genome", "million bases",
                            "seconds", &times, e);
    if (!rc)
        times->log_y = true; /* prediction takes many times as long as the others */
    if (!rc)
        rc = cov_charts_add(&s->b->charts, COV_CHART_LINES, "stages_memory",
                            "Memory of each stage over the size of the genome", "million bases",
                            "MB held at most", &memory, e);
    for (size_t i = 0; i < s->n_genomes * STAGES && !rc; i++)
        rc = add_costs(s->b, &s->stages[i], e);
    for (int i = 0; i < STAGES && !rc; i++)
        rc = fit(s, i, times, e);
    for (size_t i = 0; i < s->n_genomes * STAGES && !rc; i++) {
        const struct stage_case *c = &s->stages[i];
        char *name = name_figure("peak_rss_bytes", c, e);
        const struct cov_figure *f = name ? cov_figures_find(&s->b->figures, name) : NULL;
        if (f)
            rc = cov_chart_add(memory, stage_names[c->stage], (double)c->n_bases * 1e-6,
                               f->median * 1e-6, f->low * 1e-6, f->high * 1e-6, e);
        free(name);
    }
    return rc;
}

int cov_bench_stages(struct cov_bench *b, const struct cov_bench_genome *genomes, size_t n,
                     const char *model, struct cov_err *e)
{
    struct stages s = {.b = b, .genomes = genomes, .n_genomes = n};
    (void)snprintf(s.threads, sizeof s.threads, "%u", b->threads);
    s.stages = cov_calloc(n * STAGES, sizeof *s.stages, e);
    s.cases = cov_calloc(n * STAGES, sizeof *s.cases, e);
    int rc = s.stages && s.cases ? find_tools(&s.tools, e) : COV_ENOMEM;
    for (size_t g = 0; g < n && !rc; g++)
        rc = plan_genome(&s, g, model, e);
    if (!rc)
        rc = cov_bench_run(b, "running the stages", s.cases, n * STAGES, e);
    if (!rc)
        rc = report(&s, e);
    for (size_t i = 0; i < n * STAGES; i++) {
        if (s.stages && s.stages[i].output)
            cov_bench_remove(s.stages[i].output);
        if (s.stages) {
            free(s.stages[i].output);
            free(s.stages[i].costs);
        }
        if (s.cases)
            free(s.cases[i].name);
    }
    free(s.stages);
    free(s.cases);
    free_tools(&s.tools);
    return rc;
}
