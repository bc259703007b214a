/* bench_ranks.c - benchmark loader --ranks: training data distributed over the memory of several
 * processes (covtrain --loading ranks), by the number of processes and the size of the genome.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/file/path.h"
#include "tools/benchmark/child.h"
#include "tools/benchmark/measuring.h"

/* The first epoch is not faster than the others, so a few are enough. */
#define EPOCHS 2
#define EPOCHS_TEXT "2"

#define FIGURE "loader/%s/ranks=%lld,bases=%lld"

/* A genome with coverage, and training on it. */
struct data {
    int64_t n_bases;
    char *dir, *stats; /* dir: the folders train/ and val/. Owned */
};

struct ranks {
    struct bench *b;
    const struct bench_ranks_options *o;
    char *mpirun, *self, *fasta2h5, *bam2h5, *h5chunk, *covtrain; /* Owned */
    char batch[24], length[24], threads[16];
    struct data *data; /* [o->sizes.n] */
};

/* A training run with a number of processes. */
struct rank_case {
    struct ranks *all;
    const struct data *data;
    int64_t n;
    double bytes;         /* of memory */
    double *load_seconds; /* [n_runs] */
    size_t n_runs;
};

/* ---------------------------------------------------------------- the data */

/* Runs the tools that make training data of a synthetic genome; `out` is a new folder. */
static int make_with_tools(const struct ranks *r, const char *size, const char *seed,
                           const char *out, struct cov_err *e)
{
    int rc = COV_OK;
    char *folder = cov_strfmt(e, "%s/", out), *fasta = cov_strfmt(e, "%s/genome.fa", out);
    char *reads = cov_strfmt(e, "%s/reads.sam", out), *genome = cov_strfmt(e, "%s/all.h5", out);
    const char *const commands[][16] = {
        {r->self, "synth", "-q", "--size", size, "--depth", "1", "--seed", seed, "-o", folder},
        {r->fasta2h5, "-q", "-@", r->threads, "--subsequence-length", r->length, "-o", genome,
         fasta},
        {r->bam2h5, "-q", "-@", r->threads, "-p", "coverage", genome, reads},
        {r->h5chunk, "split", "-q", "--by", "chunk", "--val-fraction", "0.02", "--seed", seed, "-o",
         folder, genome},
    };
    if (!folder || !fasta || !reads || !genome)
        rc = COV_ENOMEM;
    for (size_t i = 0; i < COV_COUNT(commands) && !rc; i++)
        rc = child_run(commands[i], r->b->work.path, e);
    const char *const temporary[] = {fasta, reads, genome};
    for (size_t i = 0; i < COV_COUNT(temporary) && !rc; i++)
        bench_remove(temporary[i]);
    free(folder);
    free(fasta);
    free(reads);
    free(genome);
    return rc;
}

static int make_data(struct ranks *r, size_t i, struct cov_err *e)
{
    char size[24], seed[24];
    struct data *d = &r->data[i];
    d->n_bases = r->o->sizes.items[i];
    d->dir = cov_strfmt(e, "%s/ranks%zu", r->b->work.path, i);
    d->stats = cov_strfmt(e, "%s/ranks%zu.json", r->b->work.path, i);
    if (!d->dir || !d->stats)
        return COV_ENOMEM;
    (void)snprintf(size, sizeof size, "%lld", (long long)d->n_bases);
    (void)snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->b->seed);
    return make_with_tools(r, size, seed, d->dir, e);
}

/* ---------------------------------------------------------------- training */

/* Reads the number keys[0], or with two keys the member keys[1] of the object keys[0], from the file
 * that --stats wrote. */
static int read_number(const char *path, const char *const keys[2], double *value,
                       struct cov_err *e)
{
    struct cov_json_value *v;
    int rc = bench_read_json(path, &v, e);
    if (rc)
        return rc;
    const struct cov_json_value *member = cov_json_member(v, keys[0]);
    if (!cov_json_number(keys[1] ? cov_json_member(member, keys[1]) : member, value))
        rc = cov_fail(e, COV_EINPUT, "%s: %s is missing", path, keys[1] ? keys[1] : keys[0]);
    cov_json_free(v);
    return rc;
}

/* Trains for EPOCHS epochs, or for max_steps steps unless it is "0". */
static int train(const struct rank_case *c, const char *max_steps, struct cov_err *e)
{
    const struct ranks *r = c->all;
    char n[24], *out = cov_strfmt(e, "%s/out", c->data->dir);
    if (!out)
        return COV_ENOMEM;
    (void)snprintf(n, sizeof n, "%lld", (long long)c->n);
    /* With `rdma`, no process maps the windows of others before it reads them. */
    const char *const arguments[] = {r->mpirun,
                                     "-n",
                                     n,
                                     "--oversubscribe",
                                     "--mca",
                                     "osc",
                                     "rdma",
                                     r->covtrain,
                                     "-fq",
                                     "-i",
                                     c->data->dir,
                                     "-o",
                                     out,
                                     "-@",
                                     "1",
                                     "--device",
                                     "cpu",
                                     "--loading",
                                     "ranks",
                                     "--model-type",
                                     "cnn",
                                     "--filter-size",
                                     "1",
                                     "--kernel-size",
                                     "1",
                                     "--step",
                                     "1",
                                     "-b",
                                     r->batch,
                                     "-e",
                                     EPOCHS_TEXT,
                                     "--max-steps",
                                     max_steps,
                                     "--seed",
                                     "1",
                                     "--stats",
                                     c->data->stats,
                                     NULL};
    int rc = child_run(arguments, r->b->work.path, e);
    free(out);
    return rc;
}

/* The untimed run measures memory: after a step, a process has hardly touched the data of others. On
 * one machine, it reads them from memory that is shared, which would count, too. */
static int time_epoch(void *arg, double seconds, double *value, struct cov_err *e)
{
    struct rank_case *c = arg;
    static const char *const memory[2] = {"peak_rss_bytes", NULL};
    static const char *const load[2] = {"stages", "load"}, *const epochs[2] = {"stages", "train"};
    *value = 0;
    if (seconds <= 0) {
        int rc = train(c, "1", e);
        return rc ? rc : read_number(c->data->stats, memory, &c->bytes, e);
    }
    int rc = train(c, "0", e);
    if (!rc)
        rc = read_number(c->data->stats, load, &c->load_seconds[c->n_runs++], e);
    if (!rc)
        rc = read_number(c->data->stats, epochs, value, e);
    *value /= EPOCHS;
    return rc;
}

/* ---------------------------------------------------------------- figures */

static int add_figures(struct bench *b, const struct rank_case *c, struct cov_err *e)
{
    char name[128];
    (void)snprintf(name, sizeof name, FIGURE, "ranks_load_seconds", (long long)c->n,
                   (long long)c->data->n_bases);
    int rc = figures_add(&b->figures, name, "s", false, c->load_seconds, c->n_runs, e);
    (void)snprintf(name, sizeof name, FIGURE, "ranks_peak_rss_bytes", (long long)c->n,
                   (long long)c->data->n_bases);
    return rc ? rc : figures_add(&b->figures, name, "bytes", false, &c->bytes, 1, e);
}

static int chart(struct bench *b, const char *figure, const struct cov_chart *like, double factor,
                 const struct rank_case *cases, size_t n, struct cov_err *e)
{
    struct cov_chart *c;
    int rc = cov_charts_add(&b->charts, like, &c, e);
    for (size_t i = 0; i < n && !rc; i++) {
        char series[40];
        long long ranks = cases[i].n, bases = cases[i].data->n_bases;
        (void)snprintf(series, sizeof series, "%lld process%s", ranks, ranks == 1 ? "" : "es");
        rc = chart_add_figure(c, series, (double)bases * 1e-6,
                              figures_findf(&b->figures, FIGURE, figure, ranks, bases), factor, e);
    }
    return rc;
}

static int report(struct bench *b, const struct rank_case *cases, size_t n, struct cov_err *e)
{
    static const struct cov_chart memory = {.kind = COV_CHART_LINES,
                                            .file = "loader_ranks_memory",
                                            .title = "Memory of a process that shares the data",
                                            .x = "million bases",
                                            .y = "MB",
                                            .has_key = true};
    static const struct cov_chart epoch = {.kind = COV_CHART_LINES,
                                           .file = "loader_ranks_epoch",
                                           .title = "Epoch of training on shared data",
                                           .x = "million bases",
                                           .y = "seconds",
                                           .has_key = true};
    int rc = COV_OK;
    for (size_t i = 0; i < n && !rc; i++)
        rc = add_figures(b, &cases[i], e);
    if (!rc)
        rc = chart(b, "ranks_peak_rss_bytes", &memory, 1e-6, cases, n, e);
    if (!rc)
        rc = chart(b, "ranks_epoch_seconds", &epoch, 1, cases, n, e);
    return rc ? rc
              : bench_note(
                    b, e,
                    "Loading by several processes: covtrain --loading ranks on this machine, with "
                    "one thread per process and the smallest network; memory is that of the first "
                    "process, which has its share of the data, after a step.");
}

/* ---------------------------------------------------------------- all of it */

static int find_programs(struct ranks *r, struct cov_err *e)
{
    const struct {
        const char *name;
        char **path;
    } programs[] = {{"mpirun", &r->mpirun}, {"benchmark", &r->self},  {"fasta2h5", &r->fasta2h5},
                    {"bam2h5", &r->bam2h5}, {"h5chunk", &r->h5chunk}, {"covtrain", &r->covtrain}};
    int rc = COV_OK;
    for (size_t i = 0; i < COV_COUNT(programs) && !rc; i++)
        rc = child_find(programs[i].name, programs[i].path, e);
    return rc;
}

static int add_case(struct ranks *r, size_t ranks, size_t size, struct rank_case *c,
                    struct bench_cases *cases, struct cov_err *e)
{
    *c = (struct rank_case){.all = r,
                            .data = &r->data[size],
                            .n = r->o->ranks.items[ranks],
                            .load_seconds = cov_calloc(r->b->repeats, sizeof(double), e)};
    if (!c->load_seconds)
        return COV_ENOMEM;
    const struct bench_case timed = {.name = cov_strfmt(e, FIGURE, "ranks_epoch_seconds",
                                                        (long long)c->n,
                                                        (long long)r->o->sizes.items[size]),
                                     .unit = "s",
                                     .run = time_epoch,
                                     .arg = c};
    return bench_cases_add(cases, timed, e);
}

int bench_ranks(struct bench *b, const struct bench_ranks_options *options, struct cov_err *e)
{
    struct ranks r = {.b = b, .o = options};
    struct bench_cases cases = {0};
    const size_t n_sizes = options->sizes.n, n = options->ranks.n * n_sizes;
    (void)snprintf(r.batch, sizeof r.batch, "%lld", (long long)options->batch);
    (void)snprintf(r.length, sizeof r.length, "%lld", (long long)options->length);
    (void)snprintf(r.threads, sizeof r.threads, "%u", b->threads);
    /* Otherwise Open MPI refuses root, the usual user of a container. */
    (void)setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    (void)setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    struct rank_case *all = cov_calloc(n, sizeof *all, e);
    r.data = cov_calloc(n_sizes, sizeof *r.data, e);
    int rc = all && r.data ? find_programs(&r, e) : COV_ENOMEM;
    cov_progress_begin(b->progress, "making training data", "genomes", (int64_t)n_sizes);
    for (size_t i = 0; i < n_sizes && !rc; i++) {
        rc = make_data(&r, i, e);
        cov_progress_add(b->progress, 1);
    }
    cov_progress_end(b->progress);
    for (size_t i = 0; i < n && !rc; i++)
        rc = add_case(&r, i / n_sizes, i % n_sizes, &all[i], &cases, e);
    if (!rc)
        rc = bench_run(b, "loading by several processes", &cases, e);
    if (!rc)
        rc = report(b, all, n, e);
    for (size_t i = 0; all && i < n; i++)
        free(all[i].load_seconds);
    for (size_t i = 0; r.data && i < n_sizes; i++) {
        free(r.data[i].dir);
        free(r.data[i].stats);
    }
    bench_cases_fini(&cases);
    free(all);
    free(r.data);
    char *const programs[] = {r.mpirun, r.self, r.fasta2h5, r.bam2h5, r.h5chunk, r.covtrain};
    for (size_t i = 0; i < COV_COUNT(programs); i++)
        free(programs[i]);
    return rc;
}
