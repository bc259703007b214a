/* measuring.h - the subcommands of benchmark, and what those that measure have in common.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_MEASURING_H
#define BENCHMARK_MEASURING_H

#include "common/cli/tool.h"
#include "tools/benchmark/bench.h"

/* run_synth.c, run_report.c, run_loader.c, run_model.c, run_compare.c */
extern const struct cov_tool benchmark_stages, benchmark_pipeline, benchmark_report;
extern const struct cov_tool benchmark_synth, benchmark_model, benchmark_loader, benchmark_encode,
    benchmark_compare;

/* The first member of each config. */
struct benchmark_config {
    int64_t repeats, seed;
    double seconds;
};

/* Its rows of the table: all of them, those of what runs once in a repeat, and the last alone. */
#define BENCHMARK_OPTIONS(def_repeats, def_seconds)                                                \
    {.name = "seconds",                                                                            \
     .type = COV_OPT_FLOAT,                                                                        \
     .field = offsetof(struct benchmark_config, seconds),                                          \
     .metavar = "S",                                                                               \
     .def = def_seconds,                                                                           \
     .min = 0.001,                                                                                 \
     .max = 3600,                                                                                  \
     .help = "how long each repeat lasts at least"},                                               \
        BENCHMARK_REPEATS(def_repeats)
#define BENCHMARK_REPEATS(def_repeats)                                                             \
    {.name = "repeats",                                                                            \
     .type = COV_OPT_INT,                                                                          \
     .field = offsetof(struct benchmark_config, repeats),                                          \
     .metavar = "N",                                                                               \
     .def = def_repeats,                                                                           \
     .min = 1,                                                                                     \
     .max = 1000,                                                                                  \
     .help = "how often each figure is measured, in turn with the others"},                        \
        BENCHMARK_SEED
#define BENCHMARK_SEED                                                                             \
    {                                                                                              \
        .name = "seed", .type = COV_OPT_INT, .field = offsetof(struct benchmark_config, seed),     \
        .metavar = "N", .def = "1", .min = 0, .max = 1e15, .help = "of all that is random"         \
    }

/* What several measure with, at `at` of their config. */
#define BENCHMARK_MODEL(at)                                                                        \
    {                                                                                              \
        .name = "model", .letter = 'm', .type = COV_OPT_STRING, .flags = COV_OPT_PATH_IN,          \
        .field = (at), .metavar = "CKPT",                                                          \
        .help = "checkpoint; without it, one of the published size with random weights"            \
    }
#define BENCHMARK_FASTA(at, what)                                                                  \
    {                                                                                              \
        .name = "fasta", .type = COV_OPT_STRING, .flags = COV_OPT_PATH_IN, .field = (at),          \
        .metavar = "FASTA", .help = what "; without it, one is made up"                            \
    }
#define BENCHMARK_SIZE(at, def_size)                                                               \
    {                                                                                              \
        .name = "size", .type = COV_OPT_SIZE, .field = (at), .metavar = "N", .def = def_size,      \
        .min = 1000, .max = 1e12, .help = "bases of the one that is made up"                       \
    }

/* Where results go without -o. */
#define BENCHMARK_FOLDER "benchmark-results"
#define BENCHMARK_OUTPUT_HELP                                                                      \
    "folder for benchmark.json, benchmark.tsv, charts and report.html, made if missing; without "  \
    "it, " BENCHMARK_FOLDER

/* Before anything is made: the FASTA can be opened, time and again, and has a first record; the checkpoint is
 * one. NULL: there is nothing to check. */
int benchmark_check_inputs(const char *fasta, const char *model, struct cov_err *e) COV_MUST_USE;

/* Sets *b up for `parts` (enum cov_bench_part), checks the outputs and probes the machine, for up to `seconds` each. cov_bench_fini is the
 * caller's, in any case; it removes what is made meanwhile. */
int benchmark_begin(struct cov_common *common, const struct benchmark_config *config,
                    unsigned parts, double seconds, struct cov_bench *b,
                    struct cov_err *e) COV_MUST_USE;

/* Writes the files, and unless quiet a table to standard output: what is recommended, if there is that,
 * else the figures. */
int benchmark_end(struct cov_common *common, const struct cov_bench *b,
                  struct cov_err *e) COV_MUST_USE;

/* A list of whole numbers or sizes in [min, max], where the word `zero` (may be NULL) stands for 0; of no
 * items, def[0..n_def). *out is the caller's to free. `what`: the option, for errors. */
int benchmark_list(const struct cov_strings *list, const char *what, const char *zero, int64_t min,
                   int64_t max, const int64_t *def, size_t n_def, int64_t **out, size_t *n,
                   struct cov_err *e) COV_MUST_USE;

/* The path of the genome: a copy of `fasta`, or, NULL, that of one of n_bases made up as `name` for the
 * meantime. Caller frees. */
int benchmark_genome(const struct cov_bench *b, const char *fasta, const char *name,
                     int64_t n_bases, char **path, struct cov_err *e) COV_MUST_USE;
/* The same of a checkpoint, whose weights are random. */
int benchmark_model_file(const struct cov_bench *b, const char *model, char **path,
                         struct cov_err *e) COV_MUST_USE;

#endif
