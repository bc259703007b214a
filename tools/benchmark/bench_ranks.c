/* bench_ranks.c - benchmark loader --ranks: training data distributed over the memory of several
 * processes (covtrain --loading ranks), by the number of processes and the size of the genome.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "tools/benchmark/child.h"
#include "tools/benchmark/measuring.h"

/* The first epoch is not faster than the others, so a few are enough. */
enum { EPOCHS = 2 };

#define LABEL "ranks=%lld,bases=%lld"

/* A training run with a number of processes. */
struct rank_case {
    struct bench *b;
    const struct loader_options *o;
    char *dir; /* of a genome with coverage: the directories train/ and val/. Owned */
    long long ranks, bases;
};

/* Makes training data of a synthetic genome; `dir` is a new directory. */
static int make_data(const struct rank_case *c, struct cov_err *e)
{
    const char *dir = c->dir, *work = c->b->work.path;
    unsigned threads = c->b->threads;
    unsigned long long seed = c->b->seed;
    int rc = child_run(work, e, "benchmark synth -q --size %lld --depth 1 --seed %llu -o %s/",
                       c->bases, seed, dir);
    if (!rc)
        rc = child_run(work, e,
                       "fasta2h5 -q -@ %u --subsequence-length %lld -o %s/all.h5 "
                       "%s/genome.fa",
                       threads, (long long)c->o->length, dir, dir);
    if (!rc)
        rc = child_run(work, e, "bam2h5 -q -@ %u -p coverage %s/all.h5 %s/reads.sam", threads, dir,
                       dir);
    return rc ? rc
              : child_run(work, e,
                          "h5chunk split -q --by chunk --val-fraction 0.02 --seed %llu "
                          "-o %s/ %s/all.h5",
                          seed, dir, dir);
}

/* Trains for EPOCHS epochs, or for max_steps steps unless it is 0. With `rdma`, no process maps the
 * windows of others before it reads them. */
static int train(const struct rank_case *c, int max_steps, struct cov_json_value **stats,
                 struct cov_err *e)
{
    char *path = cov_strfmt(e, "%s/stats.json", c->dir);
    int rc = path ? COV_OK : COV_ENOMEM;
    if (!rc)
        rc = child_run(c->b->work.path, e,
                       "mpirun -n %lld --oversubscribe --mca osc rdma covtrain -fq -i %s -o %s/out "
                       "-@ 1 --device cpu --loading ranks --model-type cnn --filter-size 1 "
                       "--kernel-size 1 --step 1 -b %lld -e %d --max-steps %d --seed 1 --stats %s",
                       c->ranks, c->dir, c->dir, (long long)c->o->batch, EPOCHS, max_steps, path);
    if (!rc)
        rc = bench_read_json(path, stats, e);
    free(path);
    return rc;
}

static int add_figure(const struct rank_case *c, const char *figure, const struct cov_json_value *v,
                      struct cov_err *e)
{
    double value;
    if (!cov_json_number(v, &value))
        return cov_fail(e, COV_EINPUT, "%s is missing in the statistics of covtrain", figure);
    return figures_add_one(&c->b->figures, value, e, "loader/%s/" LABEL, figure, c->ranks,
                           c->bases);
}

/* The untimed run measures memory: after a step, a process has hardly touched the data of others. On
 * one machine, it reads them from memory that is shared, which would count, too. */
static int time_epoch(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct rank_case *c = arg;
    struct cov_json_value *v;
    int rc = train(c, seconds > 0 ? 0 : 1, &v, e);
    if (rc)
        return rc;
    const struct cov_json_value *stages = cov_json_member(v, "stages");
    *value = 0;
    if (seconds <= 0)
        rc = add_figure(c, "ranks_peak_rss_bytes", cov_json_member(v, "peak_rss_bytes"), e);
    else if (!cov_json_number(cov_json_member(stages, "train"), value))
        rc = cov_fail(e, COV_EINPUT, "no time of training in the statistics of covtrain");
    else
        rc = add_figure(c, "ranks_load_seconds", cov_json_member(stages, "load"), e);
    *value /= EPOCHS;
    cov_json_free(v);
    return rc;
}

static int chart(struct bench *b, const char *figure, const struct cov_chart *like, double factor,
                 const struct rank_case *cases, size_t n, struct cov_err *e)
{
    struct cov_chart *chart;
    int rc = cov_charts_add(&b->charts, like, &chart, e);
    for (const struct rank_case *c = cases; c < cases + n && !rc; c++) {
        char series[40];
        (void)snprintf(series, sizeof series, "%lld process%s", c->ranks,
                       c->ranks == 1 ? "" : "es");
        rc = chart_add_figure(
            chart, series, (double)c->bases * 1e-6,
            figures_findf(&b->figures, "loader/%s/" LABEL, figure, c->ranks, c->bases), factor, e);
    }
    return rc;
}

static int report(struct bench *b, const struct rank_case *cases, size_t n, struct cov_err *e)
{
    static const struct cov_chart memory = {.file = "loader_ranks_memory",
                                            .title = "Memory of a process that shares the data",
                                            .x = "million bases",
                                            .y = "MB",
                                            .has_key = true};
    static const struct cov_chart epoch = {.file = "loader_ranks_epoch",
                                           .title = "Epoch of training on shared data",
                                           .x = "million bases",
                                           .y = "seconds",
                                           .has_key = true};
    int rc = chart(b, "ranks_peak_rss_bytes", &memory, 1e-6, cases, n, e);
    if (!rc)
        rc = chart(b, "ranks_epoch_seconds", &epoch, 1, cases, n, e);
    return rc ? rc
              : bench_note(
                    b, e,
                    "Loading by several processes: covtrain --loading ranks on this machine, with "
                    "one thread per process and the smallest network; memory is that of the first "
                    "process, which has its share of the data, after a step.");
}

/* Adds the cases of a genome, after making its data. */
static int add_cases(const struct rank_case *genome, struct rank_case *cases,
                     struct bench_cases *list, struct cov_err *e)
{
    const struct numbers *ranks = &genome->o->ranks;
    int rc = make_data(genome, e);
    for (size_t i = 0; i < ranks->n && !rc; i++) {
        cases[i] = *genome;
        cases[i].ranks = ranks->items[i];
        rc = bench_cases_add(list, &cases[i], e, "loader/ranks_epoch_seconds/" LABEL,
                             cases[i].ranks, cases[i].bases);
    }
    return rc;
}

int bench_ranks(struct bench *b, const struct loader_options *options, struct cov_err *e)
{
    struct bench_cases list = {.run = time_epoch};
    const struct numbers *sizes = &options->rank_sizes;
    const size_t n_ranks = options->ranks.n;
    struct rank_case genomes[NUMBERS_MAX] = {{.b = NULL}};
    struct rank_case *cases = cov_calloc(n_ranks * sizes->n, sizeof *cases, e);
    int rc = cases ? COV_OK : COV_ENOMEM;
    /* Otherwise Open MPI refuses root, the usual user of a container. */
    (void)setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    (void)setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    cov_progress_begin(b->progress, "making training data", "genomes", (int64_t)sizes->n);
    for (size_t i = 0; i < sizes->n && !rc; i++) {
        genomes[i] = (struct rank_case){.b = b, .o = options, .bases = sizes->items[i]};
        genomes[i].dir = cov_strfmt(e, "%s/ranks%zu", b->work.path, i);
        rc = genomes[i].dir ? add_cases(&genomes[i], &cases[i * n_ranks], &list, e) : COV_ENOMEM;
        cov_progress_add(b->progress, 1);
    }
    cov_progress_end(b->progress);
    if (!rc)
        rc = bench_run(b, "loading by several processes", &list, e);
    if (!rc)
        rc = report(b, cases, n_ranks * sizes->n, e);
    for (size_t i = 0; i < sizes->n; i++)
        free(genomes[i].dir);
    bench_cases_fini(&list);
    free(cases);
    return rc;
}
