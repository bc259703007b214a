/* bench.h - the subcommands of benchmark, and what they share: options, a run with its timed cases,
 * the machine, the network, and the outputs.
 *
 * Cases to be compared are timed in alternating order, so that a change of the machine's speed
 * affects all of them equally. Each is checked first, and run once untimed.
 * SPDX-License-Identifier: MIT */
#ifndef BENCHMARK_BENCH_H
#define BENCHMARK_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/pool.h"
#include "common/cli/tool.h"
#include "common/file/tmpfile.h"
#include "common/net/shape.h"
#include "common/plot/chart.h"
#include "tools/benchmark/figure.h"

extern const struct cov_tool benchmark_synth, benchmark_stages, benchmark_pipeline,
    benchmark_loader, benchmark_encode, benchmark_model, benchmark_compare, benchmark_report;

/* ---- options ---- */

/* The first member of each config; a subcommand has rows for some of it. */
struct benchmark_config {
    int64_t repeats;
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
                  .min = 1, .max = 1000)
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
/* Numbers of threads to compare: all, then 1, 2, 4, ... below that. */
struct numbers benchmark_threads(unsigned all);

/* ---- the machine (machine.c) ---- */

/* Peak speeds, which show whether two benchmarks can be compared, and serve as the limits of other
 * figures:
 * - products in fp32 and bf16: the network's own matrix products with operands in cache, on all
 *   threads. A multiply-add counts as two operations. bf16 is probed only if the CPU has
 *   instructions for it, or for the 16-bit integers that replace it
 * - memory: reading more than the caches hold */
enum machine_probe { PROBE_FP32, PROBE_BF16, PROBE_MEMORY, PROBES };
extern const char *const probe_names[PROBES]; /* "fp32_gflops", ... */

struct machine {
    char cpu[320], levels[128], system[200];
    unsigned online; /* processors, including those that this process may not use */
    int64_t memory_bytes;
    double probes[PROBES]; /* 0: not probed */
};

/* Fills in all but the probes. */
void machine_describe(struct machine *m);

/* Runs the probes for about `seconds` each on the pool, and keeps the best of several tries. */
int machine_probe(struct machine *m, struct cov_pool *pool, double seconds,
                  struct cov_err *e) COV_MUST_USE;

/* Writes the object "machine" into the open object. `threads` is that of the benchmark. */
void machine_print_json(const struct machine *m, unsigned threads, struct cov_json *j);

/* Drops a file from the page cache; returns false if that is not possible. */
bool machine_drop_cache(const char *path);

/* ---- a run ---- */

/* The seed of all random numbers. */
enum { BENCH_SEED = 1 };

/* A recommended setting. All strings are owned. */
struct bench_advice {
    char *what, *value; /* "batch", "8" */
    char *how;          /* "covpredict --batch-size 8"; "" without an option */
    char *reason;       /* the figures that support it */
};

/* A measured speed of the network, in chunks per second. */
struct bench_speed {
    const char *device, *precision; /* borrowed */
    size_t batch, length;
    unsigned threads;
    size_t figure; /* its index in b->figures */
    double median;
};

struct bench {
    /* Set by the caller, borrowed. */
    const char *dir;    /* output directory */
    const char *tmpdir; /* parent of `work`; NULL: `dir` */
    const char *command;
    bool force;
    unsigned threads;
    size_t repeats;
    double seconds;                /* minimum time of one repeat of a case */
    struct cov_progress *progress; /* may be NULL */

    struct cov_newdir directory; /* `dir` if it was created; removed again if it stays empty */
    struct cov_tmpdir work;      /* temporary files. Owned */
    char *fasta, *model;         /* inputs, given or synthetic; NULL: none. Owned */
    struct machine machine;
    struct figures figures;
    struct cov_charts charts;
    /* CPU seconds that compute threads got, and wall seconds that they ran. */
    double processor_had, processor_wanted;
    struct bench_speed *speeds; /* Owned */
    size_t n_speeds, cap_speeds;
    char **notes; /* sentences. The array and the strings are owned */
    size_t n_notes, cap_notes;
    struct bench_advice *advice; /* Owned */
    size_t n_advice, cap_advice;
    char *flame; /* path of a flame graph; NULL: none. Owned */
};

void bench_fini(struct bench *b);

int bench_note(struct bench *b, struct cov_err *e, const char *fmt, ...)
    COV_PRINTF(3, 4) COV_MUST_USE;
/* Takes ownership of `how` and `reason`; if one is NULL (out of memory), returns COV_ENOMEM. */
int bench_advise(struct bench *b, const char *what, const char *value, char *how, char *reason,
                 struct cov_err *e) COV_MUST_USE;
/* Returns true if other programs used so much CPU time that thread counts cannot be compared. */
bool bench_is_disturbed(const struct bench *b);

/* The largest text that a benchmark reads. */
#define BENCH_MAX_TEXT ((size_t)1 << 30)
/* Reads a file of JSON; errors name it. Free *out with cov_json_free. */
int bench_read_json(const char *path, struct cov_json_value **out, struct cov_err *e) COV_MUST_USE;

/* Runs a subcommand: checks its inputs and outputs, probes the machine, sets b->fasta and, if it
 * runs the tools, b->model, calls measure(b, config), writes all files, and unless quiet prints the
 * recommendations, or else the figures. The config begins with a struct benchmark_config. */
int benchmark_run(struct cov_common *common, const void *config, bool runs_tools,
                  int (*measure)(struct bench *b, const void *config, struct cov_err *e),
                  struct cov_err *e) COV_MUST_USE;

/* Writes a synthetic genome `name` of n_bases to b->work. Caller frees *path. */
int benchmark_genome(const struct bench *b, const char *name, int64_t n_bases, char **path,
                     struct cov_err *e) COV_MUST_USE;

/* ---- timed cases ---- */

struct bench_case {
    char *name; /* of the figure. Owned by the list */
    void *arg;
};

/* Cases that are measured in the same way; the caller sets the functions. */
struct bench_cases {
    /* Checks that the results are right. Called once. May be NULL. */
    int (*check)(void *arg, struct cov_err *e);
    /* Repeats the work for at least `seconds` (0: once), and sets the figure's value. */
    int (*run)(void *arg, double seconds, double *value, struct cov_err *e);
    struct bench_case *items;
    size_t n, cap;
};

/* Calls once(arg) for at least `seconds`, once if they are 0, and sets *each to the mean seconds per
 * call. */
int bench_repeat(int (*once)(void *arg, struct cov_err *e), void *arg, double seconds, double *each,
                 struct cov_err *e) COV_MUST_USE;

/* Adds a case, whose name is made of fmt. */
int bench_cases_add(struct bench_cases *list, void *arg, struct cov_err *e, const char *fmt, ...)
    COV_PRINTF(4, 5) COV_MUST_USE;
void bench_cases_fini(struct bench_cases *list);

/* Checks all cases, runs each once, and then runs them b->repeats times in alternating order. Adds
 * their figures in the order of the cases. `what` labels the progress. */
int bench_run(struct bench *b, const char *what, const struct bench_cases *cases,
              struct cov_err *e) COV_MUST_USE;

/* ---- charts ---- */

/* Adds a figure times `factor`; does nothing if f is NULL. */
int chart_add_figure(struct cov_chart *c, const char *series, double x, const struct figure *f,
                     double factor, struct cov_err *e) COV_MUST_USE;
/* The same as a bar of the named group. */
int chart_add_bar(struct cov_chart *c, const char *series, const char *group,
                  const struct figure *f, double factor, struct cov_err *e) COV_MUST_USE;
/* Adds a chart `like` of the figures of all cases. `place` sets the series and x of a case, and
 * returns the factor of its figure; 0: it is not in the chart. */
int bench_draw(struct bench *b, const struct cov_chart *like, const struct bench_cases *cases,
               double (*place)(const void *arg, char series[64], double *x),
               struct cov_err *e) COV_MUST_USE;

/* ---- the network to measure (bench_net.c) ---- */

struct bench_net {
    struct cov_hparams hp;
    float *block; /* parameters, as in shape.h. Owned */
    char *label;  /* Owned */
    bool trained; /* the weights are those of a checkpoint */
};

/* `path` is a checkpoint, or BENCH_NET_COMBINED for random weights in the size of Predmoter's
 * published models for two datasets (1.53 M parameters). */
#define BENCH_NET_COMBINED "combined"
int bench_net_open(const char *path, struct bench_net *out, struct cov_err *e) COV_MUST_USE;
/* Makes random weights. */
int bench_net_init(const struct cov_hparams *hp, struct bench_net *out,
                   struct cov_err *e) COV_MUST_USE;
/* Opens the demo's network, which is trained. out->block is NULL if the file is not installed. */
int bench_net_open_demo(struct bench_net *out, struct cov_err *e) COV_MUST_USE;
void bench_net_close(struct bench_net *n);

/* Writes such random weights as a checkpoint to `path`, replacing it. The datasets are random1,
 * random2. */
int bench_net_write_random(const char *path, struct cov_err *e) COV_MUST_USE;

/* Counts the multiplications and additions per chunk of L positions, with direct convolutions and
 * matrix products. */
int bench_net_operations(const struct bench_net *n, size_t L, double *operations,
                         struct cov_err *e) COV_MUST_USE;
/* The same for one layer. */
double bench_layer_operations(const struct cov_layer *l);

/* ---- outputs (bench_output.c): benchmark.json, benchmark.tsv, charts, and report.html ---- */

/* Called before measuring: creates the directory if it is missing, and fails if an output of any
 * benchmark exists without b->force (COV_EEXIST), or cannot be written. */
int bench_output_begin(struct bench *b, struct cov_err *e) COV_MUST_USE;

/* Writes all files; they appear together. Without gnuplot, warns and omits the charts. Adds the
 * figures to `stats`, for --stats and MultiQC. */
int bench_output_write(const struct bench *b, struct cov_stats *stats,
                       struct cov_err *e) COV_MUST_USE;

struct bench_picture {
    const char *name; /* of the file; its first word names the section that shows the picture */
    char *text;       /* the SVG file. Owned */
};

/* Writes text for XML. */
void bench_put_text(const char *text, FILE *f);

/* Writes the report as one self-contained page, which is also well-formed XML. Ids in the pictures
 * are made unique. */
void bench_print_html(const struct bench *b, const struct bench_picture *pictures, size_t n,
                      FILE *f);

/* Draws text[0..n), the output of `perf script`, as SVG: each function is a box on top of its caller, as
 * wide as its share of the samples (flame.c). COV_EINPUT if it has no samples. */
int flame_draw(const char *text, size_t n, const char *title, FILE *out,
               struct cov_err *e) COV_MUST_USE;

/* ---- measurements; each adds figures, charts and notes. `options` is the struct of that name. ---- */

struct stages_options {
    struct benchmark_config common;
    struct numbers sizes;       /* of the synthetic genomes, which stay in b->work */
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

/* Each strategy adds something to the one before. */
enum strategy {
    STRATEGY_ORIGINAL, /* Helixer's file, read row by row with libhdf5; one-hot floats */
    STRATEGY_BLOSC,    /* compressed with Blosc, decoded by covtools */
    STRATEGY_PACKED,   /* half a byte per base */
    STRATEGY_DEVICE,   /* codes go to the device, which expands them */
    STRATEGY_RING,     /* reading, decoding and the device overlap, on all threads */
    STRATEGIES
};
extern const char *const strategy_names[STRATEGIES]; /* "original", "+blosc", ... */

struct loader_options {
    struct benchmark_config common;
    struct numbers io_limits; /* bytes per second; 0: unlimited */
    struct numbers batches;   /* of the sweep of the last strategy */
    int64_t length;           /* positions of a chunk */
};

/* Runs epochs, which load all chunks of a genome from a file to the device, with each loading
 * strategy. loader/{epoch_seconds,ratio_to_original,device_use}/strategy=S,io=LIMIT (device_use:
 * share of an epoch in which the device is busy), loader/bytes_per_base/strategy=S,
 * loader/chunks_per_second/strategy=+ring-buffer,threads=T,batch=B. COV_EINPUT if the strategies do
 * not all load the same chunks. */
int bench_loader(struct bench *b, const void *options, struct cov_err *e) COV_MUST_USE;

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
    struct numbers batches, lengths;        /* at least one each */
    struct cov_strings precisions, devices; /* at least one each */
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
