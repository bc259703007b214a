/* run_loader.c - benchmark loader and encode: what comes before the network.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "tools/benchmark/bench_encode.h"
#include "tools/benchmark/bench_loader.h"
#include "tools/benchmark/measuring.h"

/* ---------------------------------------------------------------- loader */

struct loader_config {
    struct benchmark_config common;
    const char *fasta;
    int64_t size, batch, length;
    struct cov_strings limits, threads, batches;
    double device_rate;
    bool warm;
};

#define FIELD(name) offsetof(struct loader_config, name)

static const struct cov_opt loader_options[] = {
    BENCHMARK_FASTA(FIELD(fasta), "the genome"),
    BENCHMARK_SIZE(FIELD(size), "20M"),
    {.name = "io-limit",
     .type = COV_OPT_LIST,
     .field = FIELD(limits),
     .metavar = "N,...",
     .help = "bytes a second that reading is held to, as by a slower disk: 1000M, or unlimited; "
             "without it, both of these"},
    {.name = "batch-size",
     .type = COV_OPT_INT,
     .field = FIELD(batch),
     .metavar = "N",
     .def = "16",
     .min = 1,
     .max = 4096,
     .help = "chunks of a batch where strategies are compared"},
    {.name = "threads-list",
     .type = COV_OPT_LIST,
     .field = FIELD(threads),
     .metavar = "N,...",
     .help = "numbers of threads of the sweep; without it, one and all"},
    {.name = "batch-list",
     .type = COV_OPT_LIST,
     .field = FIELD(batches),
     .metavar = "N,...",
     .help = "chunks of a batch of the sweep; without it, 2,8,32"},
    {.name = "device-rate",
     .type = COV_OPT_FLOAT,
     .field = FIELD(device_rate),
     .metavar = "N",
     .def = "20000",
     .min = 1,
     .max = 1e9,
     .help = "chunks a second that the stand-in of a device takes where its use is measured"},
    {.name = "warm",
     .type = COV_OPT_FLAG,
     .field = FIELD(warm),
     .help = "leave files in the system's cache, which is dropped else before each epoch"},
    {.name = "subsequence-length",
     .type = COV_OPT_SIZE,
     .field = FIELD(length),
     .metavar = "N",
     .def = "21384",
     .min = 1,
     .max = 268435456,
     .help = "length of the chunks"},
    BENCHMARK_OPTIONS("5", "0.2"),
    {.name = NULL},
};

static int parse_limits(const struct cov_strings *list, int64_t **out, size_t *n, struct cov_err *e)
{
    static const int64_t both[] = {0, 1000000000};
    return benchmark_list(list, "--io-limit", "unlimited", 1, INT64_MAX, both, COV_COUNT(both), out,
                          n, e);
}

static int loader_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct loader_config *c = config;
    static const int64_t batches[] = {2, 8, 32};
    const int64_t threads[] = {1, common->threads};
    struct cov_bench_loader_options o = {
        .batch = c->batch, .device_rate = c->device_rate, .warm = c->warm, .length = c->length};
    int64_t *limits = NULL, *sweep_threads = NULL, *sweep_batches = NULL;
    char *fasta = NULL;
    struct cov_bench b = {0};
    int rc = parse_limits(&c->limits, &limits, &o.n_io_limits, e);
    if (!rc)
        rc = benchmark_list(&c->threads, "--threads-list", NULL, 1, 1024, threads,
                            common->threads > 1 ? 2 : 1, &sweep_threads, &o.n_threads, e);
    if (!rc)
        rc = benchmark_list(&c->batches, "--batch-list", NULL, 1, 4096, batches, COV_COUNT(batches),
                            &sweep_batches, &o.n_batches, e);
    if (!rc)
        rc = benchmark_check_inputs(c->fasta, NULL, e);
    if (!rc)
        rc = benchmark_begin(common, &c->common, COV_BENCH_LOADER, 4 * c->common.seconds, &b, e);
    if (!rc)
        rc = benchmark_genome(&b, c->fasta, "made_up.fa", c->size, &fasta, e);
    o.io_limits = limits;
    o.threads = sweep_threads;
    o.batches = sweep_batches;
    o.fasta = fasta;
    if (!rc)
        rc = cov_bench_loader(&b, &o, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    free(fasta);
    cov_bench_fini(&b);
    free(limits);
    free(sweep_threads);
    free(sweep_batches);
    return rc;
}

const struct cov_tool benchmark_loader = {
    .name = "loader",
    .summary = "measure an epoch of loading in five ways, threads and batch, use of a device",
    .synopsis = "[options] [-o DIR/]",
    .examples = "  benchmark loader --size 100M --io-limit unlimited,1000M -o results/\n",
    .options = loader_options,
    .config_bytes = sizeof(struct loader_config),
    .output_optional = true,
    .output_help = BENCHMARK_OUTPUT_HELP,
    .run = loader_run,
};

/* ---------------------------------------------------------------- encode */

struct encode_config {
    struct benchmark_config common;
    struct cov_strings lengths;
    int64_t batch;
};

static const struct cov_opt encode_options[] = {
    {.name = "length",
     .type = COV_OPT_LIST,
     .field = offsetof(struct encode_config, lengths),
     .metavar = "N,...",
     .help = "bases of a sequence; without it, 500,2k,8k,21384"},
    {.name = "batch-size",
     .type = COV_OPT_INT,
     .field = offsetof(struct encode_config, batch),
     .metavar = "N",
     .def = "16",
     .min = 1,
     .max = 256,
     .help = "sequences that are padded together"},
    BENCHMARK_OPTIONS("5", "0.02"),
    {.name = NULL},
};

static int encode_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    const struct encode_config *c = config;
    static const int64_t usual[] = {500, 2000, 8000, 21384};
    struct cov_bench_encode_options o = {.batch = c->batch};
    struct cov_bench b = {0};
    int64_t *lengths = NULL;
    int rc = benchmark_list(&c->lengths, "--length", NULL, 8, 1 << 24, usual, COV_COUNT(usual),
                            &lengths, &o.n_lengths, e);
    o.lengths = lengths;
    if (!rc)
        rc = benchmark_begin(common, &c->common, COV_BENCH_ENCODE, 4 * c->common.seconds, &b, e);
    if (!rc)
        rc = cov_bench_encode(&b, &o, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    cov_bench_fini(&b);
    free(lengths);
    return rc;
}

const struct cov_tool benchmark_encode = {
    .name = "encode",
    .summary = "measure encoding and padding over the length of sequences",
    .synopsis = "[options] [-o DIR/]",
    .examples = "  benchmark encode --length 500,5k,50k\n",
    .options = encode_options,
    .config_bytes = sizeof(struct encode_config),
    .output_optional = true,
    .output_help = BENCHMARK_OUTPUT_HELP,
    .run = encode_run,
};
