/* chain.c - see chain.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"

const char *const chain_stages[CHAIN_STAGES] = {"fasta2h5", "covpredict", "merge",
                                                "bigwig",   "bedgraph",   "all"};

enum { CACHE_LINE = 64 };

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

void chain_fini(struct chain *c)
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

const struct figure *chain_figure(const struct chain *c, const char *figure, enum chain_stage stage)
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
    double limit = machine_probe_value(&c->b->machine, "memory_gb_per_second") * 1e9;
    const struct {
        const char *name, *unit;
        bool higher_is_better;
        double value;
    } all[] = {
        {"cpu_seconds", "s", false, cost->cpu},
        {"peak_rss_bytes", "bytes", false, (double)cost->max_rss},
        {"read_bytes", "bytes", false, known(cost->read_bytes)},
        {"written_bytes", "bytes", false, known(cost->written_bytes)},
        {"instructions_per_cycle", "instructions", true,
         known(n[COUNT_INSTRUCTIONS]) / known(n[COUNT_CYCLES])},
        {"cache_misses", "misses", false, known(n[COUNT_CACHE_MISSES])},
        /* The traffic of cache misses, as a share of the probed bandwidth. */
        {"memory_share", "of the limit", false,
         known(n[COUNT_CACHE_MISSES]) * CACHE_LINE / cost->wall / limit},
        {"page_faults", "faults", false, known(n[COUNT_PAGE_FAULTS])},
    };
    int rc = COV_OK;
    for (size_t i = 0; i < COV_COUNT(all) && !rc; i++)
        rc = figures_add_one(&c->b->figures, all[i].unit, all[i].higher_is_better, all[i].value, e,
                             "%s/%s/%s", c->section, all[i].name, r->label);
    return rc;
}

/* Sums the costs of the stages of a repeat, and adds their time, too. */
static int add_sum(const struct chain *c, size_t repeat, struct cov_err *e)
{
    const struct chain_run *all = &c->runs[CHAIN_ALL];
    all->costs[repeat] = no_cost;
    for (int i = 0; i < CHAIN_ALL; i++)
        add_cost(&all->costs[repeat], &c->runs[i].costs[repeat], false);
    return figures_add_one(&c->b->figures, "s", false, all->costs[repeat].wall, e, "%s/%s/%s",
                           c->section, "wall_seconds", all->label);
}

static int report(const struct chain *c, struct cov_err *e)
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
        struct bench_case timed = {.unit = "s", .check = check, .run = run, .arg = r};
        if (i == CHAIN_ALL)
            continue;
        timed.name = cov_strfmt(e, "%s/wall_seconds/%s", c->section, r->label);
        rc = bench_cases_add(cases, timed, e);
    }
    return rc;
}

int chains_run(struct chain *chains, size_t n, struct cov_err *e)
{
    struct bench *b = chains[0].b;
    struct bench_cases cases = {0};
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
        rc = report(&chains[i], e);
    bench_cases_fini(&cases);
    return rc;
}
