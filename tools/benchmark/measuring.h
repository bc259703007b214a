/* measuring.h - the subcommands of benchmark, what they share, and the measurements that
 * `report` also runs.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_MEASURING_H
#define BENCHMARK_MEASURING_H

#include "common/cli/tool.h"
#include "common/compute/device.h"
#include "tools/benchmark/bench.h"
#include "tools/benchmark/bench_net.h"

extern const struct cov_tool benchmark_synth, benchmark_stages, benchmark_pipeline,
    benchmark_loader, benchmark_encode, benchmark_model, benchmark_shards, benchmark_compare,
    benchmark_report;

/* ---- options ---- */

/* The first member of each config. */
struct benchmark_config {
    int64_t repeats, seed;
    double seconds;
};

/* Rows of the option table: all three, and those without --seconds. */
#define BENCHMARK_OPTIONS(def_repeats, def_seconds)                                                \
    COV_OPT(FLOAT, "seconds", 0, offsetof(struct benchmark_config, seconds), "S",                  \
            "minimum duration of each repeat", .def = def_seconds, .min = 0.001, .max = 3600),     \
        BENCHMARK_REPEATS(def_repeats)
#define BENCHMARK_REPEATS(def_repeats)                                                             \
    BENCHMARK_COUNT("repeats", offsetof(struct benchmark_config, repeats), def_repeats, 1000,      \
                    "measurements of each figure, alternating with the others"),                   \
        BENCHMARK_SEED(offsetof(struct benchmark_config, seed))

/* Rows whose field is at offset `at` of a config. */
#define BENCHMARK_MODEL(at)                                                                        \
    COV_OPT(STRING, "model", 'm', (at), "CKPT",                                                    \
            "checkpoint (default: random weights in the published size)",                          \
            .flags = COV_OPT_PATH_IN)
#define BENCHMARK_FASTA(at, what)                                                                  \
    COV_OPT(STRING, "fasta", 0, (at), "FASTA", what " (default: a synthetic genome)",              \
            .flags = COV_OPT_PATH_IN)
#define BENCHMARK_SIZE(at, def_size)                                                               \
    COV_OPT(SIZE, "size", 0, (at), "N", "bases of the synthetic genome", .def = def_size,          \
            .min = 1000, .max = 1e12)

#define BENCHMARK_SEED(at)                                                                         \
    COV_OPT(INT, "seed", 0, (at), "N", "seed of all random numbers", .def = "1", .min = 0,         \
            .max = 1e15)
/* A row for an integer from 1 on. */
#define BENCHMARK_COUNT(name_, at, def_, max_, help_)                                              \
    COV_OPT(INT, (name_), 0, (at), "N", (help_), .def = (def_), .min = 1, .max = (max_))
/* A row for a number from 0 on. */
#define BENCHMARK_FRACTION(name_, at, def_, max_, help_)                                           \
    COV_OPT(FLOAT, (name_), 0, (at), "F", (help_), .def = (def_), .min = 0, .max = (max_))
/* A row for a list; def_ may be NULL. */
#define BENCHMARK_LIST(name_, at, metavar_, def_, help_)                                           \
    COV_OPT(LIST, (name_), 0, (at), metavar_ ",...", (help_), .def = (def_))

/* Members of the struct cov_tool of a subcommand that measures. */
#define BENCHMARK_FOLDER "benchmark-results"
#define BENCHMARK_OUTPUT                                                                           \
    .synopsis = "[options] [-o DIR/]", .output_optional = true,                                    \
    .output_help = "folder for benchmark.json, benchmark.tsv, charts and report.html, created if " \
                   "missing (default: " BENCHMARK_FOLDER ")"

/* A list of integers. */
struct numbers {
    int64_t *items;
    size_t n;
};

/* What a list option accepts. */
struct number_limits {
    const char *option; /* for errors */
    int64_t min, max;
    struct numbers def; /* for an empty list */
    const char *zero;   /* a word for 0; may be NULL */
};

/* Parses the items of a list option. Caller frees out->items. */
int benchmark_numbers(const struct cov_strings *list, const struct number_limits *limits,
                      struct numbers *out, struct cov_err *e) COV_MUST_USE;

/* ---- start and end ---- */

/* Fails if the FASTA or the checkpoint cannot be read; either may be NULL. The FASTA must be a file
 * with at least one record. */
int benchmark_check_inputs(const char *fasta, const char *model, struct cov_err *e) COV_MUST_USE;

/* Sets up *b for `parts` (enum bench_part), checks the outputs, and probes the machine for up to
 * `seconds` per probe. The caller calls bench_fini in any case. */
int benchmark_begin(struct cov_common *common, const struct benchmark_config *config,
                    unsigned parts, double seconds, struct bench *b,
                    struct cov_err *e) COV_MUST_USE;

/* Writes all files, and unless quiet prints the recommendations, or else the figures. */
int benchmark_end(struct cov_common *common, const struct bench *b, struct cov_err *e) COV_MUST_USE;

/* Sets *path to a copy of `fasta`, or, if it is NULL, to that of a synthetic genome `name` of
 * n_bases, written to b->work. Caller frees *path. */
int benchmark_genome(const struct bench *b, const char *fasta, const char *name, int64_t n_bases,
                     char **path, struct cov_err *e) COV_MUST_USE;
/* Sets *path to a copy of `model`, or, if it is NULL, to that of a checkpoint with random weights.
 * Caller frees *path. */
int benchmark_model_file(const struct bench *b, const char *model, char **path,
                         struct cov_err *e) COV_MUST_USE;

/* ---- measurements; each adds figures, charts and notes ---- */

/* A FASTA to measure with. */
struct bench_genome {
    char *path; /* Owned */
    int64_t n_bases;
};

/* Writes n synthetic genomes to b->work. The caller frees *out with bench_genomes_free, in any
 * case. */
int bench_genomes_make(const struct bench *b, const int64_t *sizes, size_t n,
                       struct bench_genome **out, struct cov_err *e) COV_MUST_USE;
void bench_genomes_free(struct bench_genome *genomes, size_t n);

/* Runs the tools, stage by stage, on n genomes: FASTA to genome file, predictions, bigWig,
 * bedGraph.
 * stages/{wall_seconds,cpu_seconds,peak_rss_bytes,read_bytes,written_bytes}/stage=S,bases=N; for
 * genomes of different sizes stages/{seconds_per_mbp,fit_r2}/stage=S from the line through the
 * times. */
int bench_stages(struct bench *b, const struct bench_genome *genomes, size_t n, const char *model,
                 struct cov_err *e) COV_MUST_USE;

struct bench_pipeline_options {
    const char *fasta, *model;
    unsigned shards; /* of prediction; they run at the same time and share the threads */
    bool profile;    /* also draw a flame graph of prediction, from perf */
};

/* Runs FASTA to genome file, predictions in shards, merged file, bigWig and bedGraph.
 * pipeline/{wall_seconds,cpu_seconds,peak_rss_bytes,written_bytes}/stage=S (also stage=all), and
 * hardware counters where they can be read; the files pipeline_snakemake.tsv (the columns of
 * Snakemake's benchmark) and pipeline_flame.svg. A note says what could not be measured. */
int bench_pipeline(struct bench *b, const struct bench_pipeline_options *options,
                   struct cov_err *e) COV_MUST_USE;

struct bench_loader_options {
    const char *fasta;
    struct numbers io_limits;        /* bytes per second; 0: unlimited */
    struct numbers threads, batches; /* of the sweep of the last strategy */
    int64_t batch;                   /* chunks per batch, except in the sweep */
    double device_rate;              /* chunks per second of the simulated device */
    bool warm;                       /* keep files in the page cache, instead of dropping them */
    int64_t length;                  /* positions of a chunk */
};

/* Runs epochs, which load all chunks of a genome from a file to the device, with each loading
 * strategy. loader/{epoch_seconds,ratio_to_original,device_use}/strategy=S,io=LIMIT (device_use:
 * share of an epoch in which the device is busy), loader/bytes_per_base/strategy=S,
 * loader/chunks_per_second/strategy=+ring-buffer,threads=T,batch=B. COV_EINPUT if the strategies do
 * not all load the same chunks. */
int bench_loader(struct bench *b, const struct bench_loader_options *options,
                 struct cov_err *e) COV_MUST_USE;

struct bench_ranks_options {
    struct numbers ranks, sizes; /* processes; bases of the genomes */
    int64_t batch, length;       /* chunks per batch, of all processes; positions of a chunk */
};

/* Trains the smallest network in several processes that share the data in memory, on synthetic
 * genomes. loader/{ranks_epoch_seconds,ranks_load_seconds,ranks_peak_rss_bytes}/ranks=N,bases=B:
 * an epoch, reading the files before the first epoch, and the memory of the first process. Needs
 * mpirun. */
int bench_ranks(struct bench *b, const struct bench_ranks_options *options,
                struct cov_err *e) COV_MUST_USE;

struct bench_encode_options {
    struct numbers lengths; /* of sequences */
    int64_t batch;          /* sequences padded together */
};

/* Encodes letters on one thread: encode/bases_per_second/form=F,length=L for codes, packed,
 * onehot_f16, onehot_f32, deflate (as fasta2h5 writes it), deflate_fast, libdeflate. Also pads
 * sequences of up to L bases as one-hot floats:
 * encode/{padded_bases_per_second,padding_share}/padding=P,length=L for max_length (all to L),
 * longest (of a batch), grouped (longest, after sorting by length). */
int bench_encode(struct bench *b, const struct bench_encode_options *options,
                 struct cov_err *e) COV_MUST_USE;

struct bench_model_options {
    struct numbers batches, threads, lengths; /* at least one each */
    const enum cov_precision *precisions;
    const char *const *devices;
    size_t n_precisions, n_devices;
    bool layers;             /* also measure each layer */
    struct numbers training; /* batches, in fp32 (also for exact) and bf16; may be empty */
};

/* model/chunks_per_second/device=D,precision=P,batch=B,threads=T,length=L: all devices, precisions
 * and batches with the first thread count and length; the other thread counts and lengths with the
 * first precision and batch. model/limit_share/precision=P (the share of the matrix products that
 * the probes measured), model/{max_relative_error,median_relative_error,one_minus_r}/precision=P,
 * and bench_layers and bench_train. COV_EINPUT if values of the network are wrong. */
int bench_model(struct bench *b, const struct bench_net *net,
                const struct bench_model_options *options, struct cov_err *e) COV_MUST_USE;

/* Measures each layer at L positions on one core: model/layer_ms/NN_KIND_IN_OUT,form=F (ms per
 * chunk) and model/layer_share/... (the share of one core's matrix products in fp32 or bf16,
 * whichever is closer to the layer's operands). Forms: direct, minimal (a convolution with fewer
 * multiplications), look-up (the first layer from a table of its products with bases). */
int bench_layers(struct bench *b, const struct bench_net *net, size_t L,
                 enum cov_precision precision, struct cov_err *e) COV_MUST_USE;

struct bench_train_options {
    const enum cov_precision *precisions;
    size_t n_precisions;
    struct numbers batches;
    size_t L;
};

/* Trains (forward, backward and a step of Adam) on the CPU, from initial weights, on random bases
 * and targets: model/training_chunks_per_second/device=cpu,precision=P,batch=B,threads=T,length=L.
 * COV_EINPUT if a loss differs from that at the level base in fp32. */
int bench_train(struct bench *b, const struct bench_net *net,
                const struct bench_train_options *options, struct cov_err *e) COV_MUST_USE;

#endif
