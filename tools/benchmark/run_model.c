/* run_model.c - benchmark model: the network.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "tools/benchmark/bench_model.h"
#include "tools/benchmark/measuring.h"

struct model_config {
    struct benchmark_config common;
    const char *model;
    struct cov_strings batches, precisions, devices, threads, lengths, training;
    bool layers;
};

#define FIELD(name) offsetof(struct model_config, name)

static const struct cov_opt model_options[] = {
    {.name = "model",
     .letter = 'm',
     .type = COV_OPT_STRING,
     .field = FIELD(model),
     .metavar = "CKPT",
     .def = "combined",
     .help =
         "checkpoint, or the word combined: random weights in the size of Predmoter's published "
         "models"},
    {.name = "batch-size",
     .type = COV_OPT_LIST,
     .field = FIELD(batches),
     .metavar = "N,...",
     .help = "chunks that a thread computes at a time; without it, 1,4,16"},
    {.name = "precision",
     .type = COV_OPT_LIST,
     .field = FIELD(precisions),
     .metavar = "P,...",
     .help = "exact, fp32, bf16x3, balanced, bf16, or tf32 of a GPU; without it, exact"},
    {.name = "device",
     .type = COV_OPT_LIST,
     .field = FIELD(devices),
     .metavar = "D,...",
     .help =
         "where to compute: cpu, cuda, cuda:0, or auto, which is the best that there is; without "
         "it, auto"},
    {.name = "threads-list",
     .type = COV_OPT_LIST,
     .field = FIELD(threads),
     .metavar = "N,...",
     .help = "numbers of threads to compare, with the first precision and batch; without it, "
             "all and one"},
    {.name = "length",
     .type = COV_OPT_LIST,
     .field = FIELD(lengths),
     .metavar = "N,...",
     .help = "positions of a chunk: all is measured with the first, and the first precision and "
             "batch with the others; without it, 21384"},
    {.name = "layers",
     .type = COV_OPT_FLAG,
     .field = FIELD(layers),
     .help = "layer by layer too, on one core"},
    {.name = "training",
     .type = COV_OPT_LIST,
     .field = FIELD(training),
     .metavar = "N,...",
     .help = "training too, on the CPU, with batches of so many chunks, in those of the precisions "
             "that covtrain has: fp32, which exact is then, and bf16"},
    BENCHMARK_OPTIONS("5", "0.5"),
    {.name = NULL},
};

static int fill(const struct cov_common *common, const struct model_config *c,
                struct cov_bench_model_options *o, int64_t *numbers[4], struct cov_err *e)
{
    static const int64_t batches[] = {1, 4, 16}, lengths[] = {21384};
    static const char *const exact[] = {"exact"}, *const automatic[] = {"auto"};
    const int64_t threads[] = {common->threads, 1};
    int rc = benchmark_list(&c->batches, "--batch-size", NULL, 1, 4096, batches, COV_COUNT(batches),
                            &numbers[0], &o->n_batches, e);
    if (!rc)
        rc = benchmark_list(&c->threads, "--threads-list", NULL, 1, 1024, threads,
                            common->threads > 1 ? 2 : 1, &numbers[1], &o->n_threads, e);
    if (!rc)
        rc = benchmark_list(&c->lengths, "--length", NULL, 1, 1 << 24, lengths, COV_COUNT(lengths),
                            &numbers[2], &o->n_lengths, e);
    if (!rc && c->training.n)
        rc = benchmark_list(&c->training, "--training", NULL, 1, 4096, NULL, 0, &numbers[3],
                            &o->n_training, e);
    o->training = numbers[3];
    o->batches = numbers[0];
    o->threads = numbers[1];
    o->lengths = numbers[2];
    o->precisions = c->precisions.n ? (const char *const *)c->precisions.items : exact;
    o->n_precisions = c->precisions.n ? c->precisions.n : 1;
    o->devices = c->devices.n ? (const char *const *)c->devices.items : automatic;
    o->n_devices = c->devices.n ? c->devices.n : 1;
    o->layers = c->layers;
    return rc;
}

static int model_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct model_config *c = config;
    struct cov_bench_model_options options = {0};
    struct cov_bench_net net = {0};
    struct cov_bench b = {0};
    int64_t *numbers[4] = {NULL, NULL, NULL, NULL};
    int rc = fill(common, c, &options, numbers, e);
    if (!rc)
        rc = cov_bench_model_check(&options, e);
    if (!rc)
        rc = cov_bench_net_open(c->model, (uint64_t)c->common.seed, &net, e);
    if (!rc)
        rc = benchmark_begin(common, &c->common, COV_BENCH_MODEL, 4 * c->common.seconds, &b, e);
    if (!rc)
        rc = cov_bench_model(&b, &net, &options, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    cov_bench_fini(&b);
    cov_bench_net_close(&net);
    for (size_t i = 0; i < COV_COUNT(numbers); i++)
        free(numbers[i]);
    return rc;
}

const struct cov_tool benchmark_model = {
    .name = "model",
    .summary = "measure the network: batch, precision, threads, layers, distance from fp32",
    .synopsis = "[options] [-o DIR/]",
    .examples = "  benchmark model --model combined --batch-size 1,4,16 --precision exact,bf16\n"
                "  benchmark model -m model.ckpt --layers -o results/\n",
    .options = model_options,
    .config_bytes = sizeof(struct model_config),
    .output_optional = true,
    .output_help = BENCHMARK_OUTPUT_HELP,
    .run = model_run,
};
