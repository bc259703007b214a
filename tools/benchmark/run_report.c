/* run_report.c - benchmark stages, pipeline and report: the tools as users run them, and all together.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/path.h"
#include "tools/benchmark/bench_advice.h"
#include "tools/benchmark/bench_encode.h"
#include "tools/benchmark/bench_loader.h"
#include "tools/benchmark/bench_model.h"
#include "tools/benchmark/bench_stages.h"
#include "tools/benchmark/measuring.h"

/* Genomes to measure with. */
struct genomes {
    struct cov_bench_genome *items;
    char **made; /* paths of those that were made up; owned */
    size_t n;
};

static void free_genomes(struct genomes *g)
{
    for (size_t i = 0; g->made && i < g->n; i++)
        free(g->made[i]);
    free(g->made);
    free(g->items);
}

static int find_genomes(const struct cov_bench *b, const struct cov_strings *files,
                        const int64_t *sizes, size_t n_sizes, struct genomes *g, struct cov_err *e)
{
    size_t n = files->n ? files->n : n_sizes;
    g->items = cov_calloc(n, sizeof *g->items, e);
    g->made = cov_calloc(n, sizeof *g->made, e);
    int rc = g->items && g->made ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++, g->n++) {
        char name[32];
        if (files->n) {
            g->items[i].path = files->items[i];
            rc = cov_bench_count_bases(files->items[i], b->work.path, &g->items[i].n_bases, e);
            continue;
        }
        (void)snprintf(name, sizeof name, "made_up_%zu.fa", i + 1);
        rc = benchmark_genome(b, NULL, name, sizes[i], &g->made[i], e);
        g->items[i] = (struct cov_bench_genome){g->made[i], sizes[i]};
    }
    return rc;
}

/* ---------------------------------------------------------------- stages */

struct stages_config {
    struct benchmark_config common;
    const char *model;
    struct cov_strings files, sizes;
};

static const struct cov_opt stages_options[] = {
    BENCHMARK_MODEL(offsetof(struct stages_config, model)),
    {.name = "fasta",
     .type = COV_OPT_LIST,
     .field = offsetof(struct stages_config, files),
     .metavar = "FASTA,...",
     .help = "genomes; without it, they are made up"},
    {.name = "sizes",
     .type = COV_OPT_LIST,
     .field = offsetof(struct stages_config, sizes),
     .metavar = "N,...",
     .help = "bases of those that are made up; without it, 1M,2M,4M"},
    BENCHMARK_REPEATS("3"),
    {.name = NULL},
};

static int stages_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct stages_config *c = config;
    static const int64_t usual[] = {1000000, 2000000, 4000000};
    struct cov_bench b = {0};
    struct genomes genomes = {0};
    int64_t *sizes = NULL;
    size_t n_sizes = 0;
    char *model = NULL;
    int rc = c->files.n && c->sizes.n
                 ? cov_fail(e, COV_EUSAGE, "--fasta and --sizes contradict each other")
                 : benchmark_list(&c->sizes, "--sizes", NULL, 1000, (int64_t)1e12, usual,
                                  COV_COUNT(usual), &sizes, &n_sizes, e);
    for (size_t i = 0; i < c->files.n && !rc; i++)
        rc = benchmark_check_inputs(c->files.items[i], NULL, e);
    if (!rc)
        rc = benchmark_check_inputs(NULL, c->model, e);
    if (!rc)
        rc = benchmark_begin(common, &c->common, COV_BENCH_STAGES, 0.1, &b, e);
    if (!rc)
        rc = find_genomes(&b, &c->files, sizes, n_sizes, &genomes, e);
    if (!rc)
        rc = benchmark_model_file(&b, c->model, &model, e);
    if (!rc)
        rc = cov_bench_stages(&b, genomes.items, genomes.n, model, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    free(model);
    free_genomes(&genomes);
    cov_bench_fini(&b);
    free(sizes);
    return rc;
}

const struct cov_tool benchmark_stages = {
    .name = "stages",
    .summary = "measure each tool over the size of genomes, and fit lines",
    .synopsis = "[options] [-o DIR/]",
    .examples = "  benchmark stages -m model.ckpt --fasta rice.fa,maize.fa -o results/\n",
    .options = stages_options,
    .config_bytes = sizeof(struct stages_config),
    .output_optional = true,
    .output_help = BENCHMARK_OUTPUT_HELP,
    .run = stages_run,
};

/* ---------------------------------------------------------------- pipeline */

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
    {.name = "shards",
     .type = COV_OPT_INT,
     .field = offsetof(struct pipeline_config, shards),
     .metavar = "N",
     .def = "2",
     .min = 1,
     .max = 64,
     .help = "parts that prediction is cut into, which run at the same time and share the threads"},
    {.name = "profile",
     .type = COV_OPT_FLAG,
     .field = offsetof(struct pipeline_config, profile),
     .help = "a flame graph of prediction too, where there is perf"},
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
    struct cov_bench b = {0};
    char *fasta = NULL, *model = NULL;
    int rc = benchmark_check_inputs(c->fasta, c->model, e);
    if (!rc)
        rc = benchmark_begin(common, &c->common, COV_BENCH_PIPELINE, 0.1, &b, e);
    if (!rc)
        rc = benchmark_genome(&b, c->fasta, "made_up.fa", c->size, &fasta, e);
    if (!rc)
        rc = benchmark_model_file(&b, c->model, &model, e);
    const struct cov_bench_pipeline_options o = {fasta, model, (unsigned)c->shards, c->profile};
    if (!rc)
        rc = cov_bench_pipeline(&b, &o, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    free(fasta);
    free(model);
    cov_bench_fini(&b);
    return rc;
}

const struct cov_tool benchmark_pipeline = {
    .name = "pipeline",
    .summary = "measure the way from a FASTA to tracks in shards, with counters and a flame graph",
    .synopsis = "[options] [-o DIR/]",
    .examples =
        "  benchmark pipeline -m model.ckpt --fasta rice.fa --shards 8 --profile -o results/\n",
    .options = pipeline_options,
    .config_bytes = sizeof(struct pipeline_config),
    .output_optional = true,
    .output_help = BENCHMARK_OUTPUT_HELP,
    .run = pipeline_run,
};

/* ---------------------------------------------------------------- report */

struct report_config {
    struct benchmark_config common; /* only its seed is set */
    const char *model, *fasta;
    bool quick;
};

static const struct cov_opt report_options[] = {
    BENCHMARK_MODEL(offsetof(struct report_config, model)),
    BENCHMARK_FASTA(offsetof(struct report_config, fasta),
                    "the genome for the loaders and the pipeline"),
    {.name = "quick",
     .type = COV_OPT_FLAG,
     .field = offsetof(struct report_config, quick),
     .help = "with small genomes and few repeats: a minute or two on two cores"},
    BENCHMARK_SEED,
    {.name = NULL},
};

static int report_model(struct cov_bench *b, const char *path, bool quick, struct cov_err *e)
{
    static const int64_t training[] = {4, 8};
    static const int64_t few[] = {4, 1, 16}, many[] = {8, 1, 2, 4, 16, 32};
    /* Half a chunk, for half the time. */
    static const int64_t half[] = {10688}, lengths[] = {21384, 10688};
    static const char *const precisions[] = {"exact", "bf16", "fp32", "bf16x3", "balanced"};
    static const char *const devices[] = {"auto"};
    const int64_t threads[] = {b->threads, 1};
    const struct cov_bench_model_options o = {
        .batches = quick ? few : many,
        .n_batches = quick ? COV_COUNT(few) : COV_COUNT(many),
        .threads = threads,
        .n_threads = b->threads > 1 ? 2 : 1,
        .lengths = quick ? half : lengths,
        .n_lengths = quick ? 1 : 2,
        .precisions = precisions,
        .n_precisions = quick ? 2 : COV_COUNT(precisions),
        .devices = devices,
        .n_devices = 1,
        .layers = true,
        .training = training,
        .n_training = quick ? 1 : COV_COUNT(training),
    };
    struct cov_bench_net net;
    int rc = cov_bench_net_open(path, b->seed, &net, e);
    b->seconds = quick ? 0.1 : 1;
    if (!rc)
        rc = cov_bench_model(b, &net, &o, e);
    cov_bench_net_close(&net);
    return rc;
}

static int report_loader(struct cov_bench *b, const char *fasta, bool quick, struct cov_err *e)
{
    static const int64_t limits[] = {0, 1000000000}, batches[] = {2, 8, 32},
                         lengths[] = {500, 2000, 8000, 21384};
    const int64_t threads[] = {1, b->threads};
    const struct cov_bench_loader_options loader = {.fasta = fasta,
                                                    .io_limits = limits,
                                                    .n_io_limits = COV_COUNT(limits),
                                                    .threads = threads,
                                                    .n_threads = b->threads > 1 ? 2 : 1,
                                                    .batches = batches,
                                                    .n_batches = COV_COUNT(batches),
                                                    .batch = 16,
                                                    .device_rate = 20000,
                                                    .length = 21384};
    const struct cov_bench_encode_options encode = {lengths, COV_COUNT(lengths), 16};
    b->seconds = quick ? 0.05 : 0.5;
    int rc = cov_bench_loader(b, &loader, e);
    b->seconds = quick ? 0.01 : 0.1;
    return rc ? rc : cov_bench_encode(b, &encode, e);
}

static int report_all(struct cov_bench *b, const struct report_config *c, const char *fasta,
                      const char *model, struct cov_err *e)
{
    static const int64_t small[] = {100000, 200000, 400000}, large[] = {2000000, 5000000, 10000000};
    static const struct cov_strings none = {NULL, 0};
    struct genomes genomes = {0};
    struct cov_bench_pipeline_options pipeline = {fasta, model, 2, true};
    /* The tools first: what this process holds when it starts one counts as memory of that one. */
    size_t repeats = b->repeats;
    int rc = find_genomes(b, &none, c->quick ? small : large, 3, &genomes, e);
    b->seconds = 1;
    b->repeats = c->quick ? 2 : 3;
    if (!rc)
        rc = cov_bench_stages(b, genomes.items, genomes.n, model, e);
    if (!rc && !c->fasta)
        pipeline.fasta = genomes.items[genomes.n / 2].path;
    if (!rc)
        rc = cov_bench_pipeline(b, &pipeline, e);
    b->repeats = repeats;
    if (!rc)
        rc = report_model(b, model, c->quick, e);
    if (!rc)
        rc = report_loader(b, fasta, c->quick, e);
    free_genomes(&genomes);
    return rc ? rc : cov_bench_advice(b, e);
}

static int report_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct report_config *c = config;
    const struct benchmark_config how = {c->quick ? 3 : 7, c->common.seed, 1};
    struct cov_bench b = {0};
    char *fasta = NULL, *model = NULL;
    int rc = benchmark_check_inputs(c->fasta, c->model, e);
    if (!rc)
        rc = benchmark_begin(common, &how, COV_BENCH_ALL, c->quick ? 0.1 : 1, &b, e);
    if (!rc)
        rc = benchmark_genome(&b, c->fasta, "made_up.fa", c->quick ? 2000000 : 20000000, &fasta, e);
    if (!rc)
        rc = benchmark_model_file(&b, c->model, &model, e);
    if (!rc)
        rc = report_all(&b, c, fasta, model, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    free(fasta);
    free(model);
    cov_bench_fini(&b);
    return rc;
}

const struct cov_tool benchmark_report = {
    .name = "report",
    .summary = "measure all of it, and recommend settings for this machine",
    .synopsis = "[options] [-o DIR/]",
    .examples = "  benchmark report --quick\n"
                "  benchmark report -m model.ckpt --fasta rice.fa -o results/\n",
    .options = report_options,
    .config_bytes = sizeof(struct report_config),
    .output_optional = true,
    .output_help = BENCHMARK_OUTPUT_HELP,
    .run = report_run,
};
