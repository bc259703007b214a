/* measuring.h - the subcommands of benchmark, what they share, and the measurements that
 * `report` also runs.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_MEASURING_H
#define BENCHMARK_MEASURING_H

#include "common/cli/tool.h"
#include "tools/benchmark/bench.h"
#include "tools/benchmark/bench_net.h"

extern const struct cov_tool benchmark_synth, benchmark_stages, benchmark_pipeline,
    benchmark_loader, benchmark_encode, benchmark_model, benchmark_compare, benchmark_report;

/* ---- options ---- */

/* The first member of each config; a subcommand has rows for some of it. */
struct benchmark_config {
    int64_t repeats, seed;
    double seconds;
    const char *model, *fasta;
    int64_t size; /* of a synthetic genome, without `fasta`; 0: none is needed */
};

/* A row whose field is a member of struct benchmark_config. */
#define BENCHMARK_ROW(type_, name_, letter_, metavar_, help_, ...)                                 \
    COV_OPT(type_, #name_, letter_, offsetof(struct benchmark_config, name_), metavar_, help_,     \
            __VA_ARGS__)
#define BENCHMARK_REPEATS(def_repeats)                                                             \
    BENCHMARK_ROW(INT, repeats, 0, "N",                                                            \
                  "measurements of each figure, alternating with the others", .def = def_repeats,  \
                  .min = 1, .max = 1000),                                                          \
        BENCHMARK_SEED
#define BENCHMARK_SEED                                                                             \
    BENCHMARK_ROW(INT, seed, 0, "N", "seed of all random numbers", .def = "1", .min = 0,           \
                  .max = 1e15)
#define BENCHMARK_SECONDS(def_seconds)                                                             \
    BENCHMARK_ROW(FLOAT, seconds, 0, "S", "minimum duration of each repeat", .def = def_seconds,   \
                  .min = 0.001, .max = 3600)
#define BENCHMARK_MODEL                                                                            \
    BENCHMARK_ROW(STRING, model, 'm', "CKPT",                                                      \
                  "checkpoint (default: random weights in the published size)",                    \
                  .flags = COV_OPT_PATH_IN)
#define BENCHMARK_FASTA(what)                                                                      \
    BENCHMARK_ROW(STRING, fasta, 0, "FASTA", what " (default: a synthetic genome)",                \
                  .flags = COV_OPT_PATH_IN)
#define BENCHMARK_SIZE(def_size)                                                                   \
    BENCHMARK_ROW(SIZE, size, 0, "N", "bases of the synthetic genome", .def = def_size,            \
                  .min = 1000, .max = 1e12)

/* A row for an integer from 1 on; `at` is the offset of the field in the config. */
#define BENCHMARK_COUNT(name_, at, def_, max_, help_)                                              \
    COV_OPT(INT, (name_), 0, (at), "N", (help_), .def = (def_), .min = 1, .max = (max_))
/* A row for a number from 0 on. */
#define BENCHMARK_FRACTION(name_, at, def_, max_, help_)                                           \
    COV_OPT(FLOAT, (name_), 0, (at), "F", (help_), .def = (def_), .min = 0, .max = (max_))
/* A row for a struct numbers from `min_` on; def_ may be NULL. If min_ is 0, the word unlimited is 0. */
#define BENCHMARK_LIST(name_, at, def_, min_, max_, help_)                                         \
    COV_OPT(LIST, (name_), 0, (at), "N,...", (help_), .def = (def_), .min = (min_), .max = (max_))

/* Members of the struct cov_tool of a subcommand that measures. */
#define BENCHMARK_DIRECTORY "benchmark-results"
#define BENCHMARK_OUTPUT(operands)                                                                 \
    .synopsis = "[options] [-o DIR/]" operands, .output_optional = true,                           \
    .output_help =                                                                                 \
        "directory for benchmark.json, benchmark.tsv, charts and report.html, created if "         \
        "missing (default: " BENCHMARK_DIRECTORY ")"

/* A list of integers. */
enum { NUMBERS_MAX = 64 };
struct numbers {
    struct cov_strings text; /* of the command line */
    int64_t items[NUMBERS_MAX];
    size_t n;
};

/* Parses the items of all rows BENCHMARK_LIST. */
int benchmark_numbers(const struct cov_opt *rows, void *config, struct cov_err *e) COV_MUST_USE;
/* A list, or if it is empty, all threads of the benchmark and one, which may be the same. */
struct numbers benchmark_threads(const struct bench *b, const struct numbers *list);

/* ---- a subcommand ---- */

/* Fails if the FASTA cannot be read, is not a regular file, or has no record. */
int benchmark_check_fasta(const char *path, struct cov_err *e) COV_MUST_USE;

/* Runs a subcommand: checks its inputs and the outputs of `parts` (enum bench_part), probes the
 * machine, sets b->fasta and, for stages and the pipeline, b->model, calls measure(b, config), writes
 * all files, and unless quiet prints the recommendations, or else the figures. The config begins
 * with a struct benchmark_config. */
int benchmark_run(struct cov_common *common, const void *config, unsigned parts,
                  int (*measure)(struct bench *b, const void *config, struct cov_err *e),
                  struct cov_err *e) COV_MUST_USE;

/* Writes a synthetic genome `name` of n_bases to b->work. Caller frees *path. */
int benchmark_genome(const struct bench *b, const char *name, int64_t n_bases, char **path,
                     struct cov_err *e) COV_MUST_USE;

/* ---- measurements; each adds figures, charts and notes. `options` is the struct of that name. ---- */

struct stages_options {
    struct benchmark_config common;
    struct cov_strings files;   /* genomes; none: synthetic ones, which stay in b->work */
    struct numbers sizes;       /* of the synthetic genomes */
    struct cov_strings earlier; /* statistics of earlier runs; none: run the tools */
};

/* Runs the tools, stage by stage, on genomes: FASTA to genome file, predictions, bigWig, bedGraph.
 * The figures are stages/FIGURE/stage=S,bases=N: wall_seconds, cpu_seconds, peak_rss_bytes, read_bytes
 * and written_bytes, and hardware counters where they can be read; for genomes of different sizes also
 * stages/{seconds_per_mbp,fit_r2}/stage=S from the line through the times. Or takes the times of
 * earlier runs: stages/FIGURE/run=NAME. */
int bench_stages(struct bench *b, const void *options, struct cov_err *e) COV_MUST_USE;
/* Name of a synthetic genome, for its number from 1 on. */
#define BENCH_STAGES_GENOME "synthetic_%zu.fa"

enum chain_stage {
    CHAIN_ENCODE,
    CHAIN_PREDICT,
    CHAIN_MERGE, /* of the shards of prediction */
    CHAIN_BIGWIG,
    CHAIN_BEDGRAPH,
    CHAIN_ALL, /* the sum of the others */
    CHAIN_STAGES
};
extern const char *const chain_stages[CHAIN_STAGES]; /* "fasta2h5", ... */

struct pipeline_options {
    struct benchmark_config common;
    int64_t shards;
    bool profile; /* draw a flame graph of prediction from perf */
};

/* Runs FASTA (b->fasta) to genome file, predictions in shards, which run at the same time and share
 * the threads, merged file, bigWig and bedGraph. The same figures, pipeline/FIGURE/stage=S. A note says
 * what could not be measured. */
int bench_pipeline(struct bench *b, const void *options, struct cov_err *e) COV_MUST_USE;

struct loader_options {
    struct benchmark_config common;
    struct numbers io_limits;         /* bytes per second; 0: unlimited */
    struct numbers threads, batches;  /* of the sweep of the last strategy */
    int64_t batch;                    /* chunks per batch, except in the sweep */
    double device_rate;               /* chunks per second of the simulated device */
    int64_t length;                   /* positions of a chunk */
    struct numbers ranks, rank_sizes; /* processes; bases of the genomes */
};

/* Runs epochs, which load all chunks of a genome from a file to the device, with each loading
 * strategy. loader/{epoch_seconds,ratio_to_original,device_use}/strategy=S,io=LIMIT (device_use:
 * share of an epoch in which the device is busy), loader/bytes_per_base/strategy=S,
 * loader/chunks_per_second/strategy=+ring-buffer,threads=T,batch=B, and with ranks those of
 * bench_ranks. COV_EINPUT if the strategies do not all load the same chunks. */
int bench_loader(struct bench *b, const void *options, struct cov_err *e) COV_MUST_USE;

/* Trains the smallest network in several processes that share the data in memory, on synthetic
 * genomes. loader/{ranks_epoch_seconds,ranks_load_seconds,ranks_peak_rss_bytes}/ranks=N,bases=B:
 * an epoch, reading the files before the first epoch, and the memory of the first process. Needs
 * mpirun. */
int bench_ranks(struct bench *b, const struct loader_options *options,
                struct cov_err *e) COV_MUST_USE;

struct encode_options {
    struct benchmark_config common;
    struct numbers lengths;
};

/* Encodes letters on one thread: encode/bases_per_second/form=F,length=L for codes, packed,
 * onehot_f16, onehot_f32, deflate (as fasta2h5 writes it), deflate_fast, libdeflate. Also pads
 * sequences of up to L bases as one-hot floats:
 * encode/{padded_bases_per_second,padding_share}/padding=P,length=L for max_length (all to L),
 * longest (of a batch), grouped (longest, after sorting by length). */
int bench_encode(struct bench *b, const void *options, struct cov_err *e) COV_MUST_USE;

struct model_options {
    struct benchmark_config common;
    struct numbers batches, threads, lengths; /* at least one batch and length */
    struct cov_strings precisions, devices;   /* at least one each */
    struct numbers training; /* batches, in fp32 (also for exact) and bf16; may be empty */
};

/* model/chunks_per_second/device=D,precision=P,batch=B,threads=T,length=L: all devices, precisions
 * and batches with the first thread count and length; the other thread counts and lengths with the
 * first precision and batch. model/limit_share/precision=P (the share of the matrix products that
 * the probes measured), model/{max_relative_error,median_relative_error,one_minus_r}/precision=P,
 * and model/training_chunks_per_second/device=cpu,precision=P,
 * batch=B,threads=T,length=L. COV_EINPUT if values of the network are wrong. */
int bench_model(struct bench *b, const void *options, struct cov_err *e) COV_MUST_USE;

#endif
