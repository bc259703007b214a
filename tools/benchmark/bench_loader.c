/* bench_loader.c - benchmark loader: loading chunks of a genome by several strategies.
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/text.h"
#include "common/chunk/chunk_file.h"
#include "common/cli/shared_options.h"
#include "common/file/path.h"
#include "common/job/encode/encode.h"
#include "tools/benchmark/bench_epoch.h"
#include "tools/benchmark/measuring.h"

struct shared {
    struct bench *b;
    const struct loader_options *o;
    struct epochs all;
    double per_chunk[STRATEGIES]; /* stored bytes of a chunk's bases */
};

/* ---------------------------------------------------------------- the files */

/* Writes the genome as each strategy up to STRATEGY_PACKED needs it. */
static int make_files(struct shared *s, struct cov_err *e)
{
    static const struct {
        const char *name;
        enum cov_layout layout;
        struct cov_codec_choice compression;
    } files[] = {
        /* As h5py writes Helixer's files: shuffle and deflate at level 4. */
        [STRATEGY_ORIGINAL] = {"loader_original.h5", COV_LAYOUT_ONEHOT, {COV_CODEC_LIBDEFLATE, 4}},
        [STRATEGY_BLOSC] = {"loader_blosc.h5", COV_LAYOUT_ONEHOT, {COV_CODEC_BLOSC, 5}},
        [STRATEGY_PACKED] = {"loader_packed.h5", COV_LAYOUT_PACKED, {COV_CODEC_NONE, 0}},
    };
    struct cov_pool *pool = NULL;
    int rc = cov_pool_new(s->b->threads, &pool, e);
    for (size_t i = 0; i < COV_COUNT(files) && !rc; i++) {
        struct cov_stats stats;
        const struct cov_encode_options options = {
            .species = "benchmark",
            .chunk_length = (size_t)s->o->length,
            .layout = files[i].layout,
            .compression = files[i].compression,
            .genome = {.tmpdir = s->b->work.path, .n_threads = 1}};
        const struct cov_job job = {pool, s->b->progress, &stats};
        cov_stats_init(&stats, "benchmark", "");
        s->all.files[i] = cov_path_join(s->b->work.path, files[i].name, e);
        rc = s->all.files[i]
                 ? cov_encode_fasta(s->b->fasta, s->all.files[i], true, &options, &job, e)
                 : COV_ENOMEM;
        s->all.n_chunks = (size_t)stats.chunks;
        cov_stats_fini(&stats);
    }
    cov_pool_free(pool);
    s->all.files[STRATEGY_DEVICE] = s->all.files[STRATEGY_RING] = s->all.files[STRATEGY_PACKED];
    return rc;
}

static int measure_storage(struct shared *s, enum strategy strategy, struct cov_err *e)
{
    struct cov_chunk_file *f;
    struct cov_h5_storage storage;
    int rc = cov_chunk_file_open(s->all.files[strategy], &f, e);
    if (rc)
        return rc;
    rc = cov_chunk_file_storage(f, cov_chunk_file_bases_name(f), &storage, e);
    const struct cov_grid *grid = cov_chunk_file_grid(f);
    double bases = 0;
    for (size_t i = 0; i < cov_grid_n_seqs(grid); i++)
        bases += (double)cov_grid_seq_length(grid, i);
    cov_chunk_file_close(f);
    if (rc)
        return rc;
    s->per_chunk[strategy] = (double)storage.stored_bytes / (double)s->all.n_chunks;
    return figures_add_one(&s->b->figures, (double)storage.stored_bytes / bases, e,
                           "loader/bytes_per_base/strategy=%s", strategy_names[strategy]);
}

/* ---------------------------------------------------------------- strategies */

static const char *limit_name(int64_t limit, char text[32])
{
    if (limit == 0)
        return "unlimited";
    (void)snprintf(text, 32, "%lldMB/s", (long long)(limit / 1000000));
    return text;
}

#define LIMIT_LABEL "strategy=%s,io=%s"

static const struct figure *find_figure(const struct shared *s, const char *figure, int strategy,
                                        int64_t limit)
{
    char text[32];
    return figures_findf(&s->b->figures, "loader/%s/" LIMIT_LABEL, figure, strategy_names[strategy],
                         limit_name(limit, text));
}

/* Divides the time of the original strategy by that of this one, repeat by repeat. */
static int add_ratios(struct shared *s, int strategy, int64_t limit, struct cov_err *e)
{
    char text[32];
    int rc = COV_OK;
    for (size_t i = 0; i < s->b->repeats && !rc; i++) {
        const struct figure *a = find_figure(s, "epoch_seconds", STRATEGY_ORIGINAL, limit);
        const struct figure *m = find_figure(s, "epoch_seconds", strategy, limit);
        if (a && m && a->n == m->n && i < a->n)
            rc = figures_add_one(&s->b->figures, a->values[i] / m->values[i], e,
                                 "loader/ratio_to_original/" LIMIT_LABEL, strategy_names[strategy],
                                 limit_name(limit, text));
    }
    return rc;
}

/* Measures the time of an epoch, or the device utilisation, for all strategies at one I/O limit. */
static int measure_limit(struct shared *s, int64_t limit, bool device, struct epoch *epochs,
                         struct cov_err *e)
{
    struct bench_cases cases = {.check = device ? NULL : epoch_check, .run = epoch_time};
    char text[32];
    int rc = COV_OK;
    for (int i = 0; i < STRATEGIES && !rc; i++) {
        epochs[i] = (struct epoch){.all = &s->all,
                                   .strategy = (enum strategy)i,
                                   .io_limit = limit,
                                   .threads = s->b->threads,
                                   .batch = (size_t)s->o->batch,
                                   .bytes_per_chunk = s->per_chunk[i],
                                   .device_rate = device ? s->o->device_rate : 0,
                                   .seed = s->b->seed};
        rc = bench_cases_add(&cases, &epochs[i], e, "loader/%s/" LIMIT_LABEL,
                             device ? "device_use" : "epoch_seconds", strategy_names[i],
                             limit_name(limit, text));
    }
    if (!rc)
        rc = bench_run(s->b, device ? "feeding a device" : "loading", &cases, e);
    bench_cases_fini(&cases);
    for (int i = 1; i < STRATEGIES && !rc && !device; i++)
        rc = add_ratios(s, i, limit, e);
    return rc;
}

static int chart_strategies(struct shared *s, struct cov_err *e)
{
    static const struct {
        const char *figure;
        struct cov_chart like;
        double factor;
    } bars[] = {
        {"epoch_seconds",
         {.file = "loader_epoch", .title = "Loading time of an epoch", .y = "seconds"},
         1},
        {"ratio_to_original",
         {.file = "loader_ratio", .title = "Speed relative to the original", .y = "times"},
         1},
        {"device_use",
         {.file = "loader_device_mean", .title = "Mean device utilisation", .y = "percent"},
         100},
    };
    int rc = COV_OK;
    for (size_t k = 0; k < COV_COUNT(bars) && !rc; k++) {
        struct cov_chart *c, like = bars[k].like;
        like.kind = COV_CHART_BARS;
        like.x = "loading strategy";
        rc = cov_charts_add(&s->b->charts, &like, &c, e);
        for (size_t i = 0; i < s->o->io_limits.n * STRATEGIES && !rc; i++) {
            char text[32];
            int64_t limit = s->o->io_limits.items[i / STRATEGIES];
            int strategy = (int)(i % STRATEGIES);
            rc = chart_add_bar(c, limit_name(limit, text), strategy_names[strategy],
                               find_figure(s, bars[k].figure, strategy, limit), bars[k].factor, e);
        }
    }
    return rc;
}

/* Draws the device utilisation during the last epochs. */
static int chart_use(struct shared *s, const struct epoch *epochs, struct cov_err *e)
{
    static const struct cov_chart like = {.file = "loader_device_use",
                                          .title = "Device utilisation, I/O unlimited",
                                          .x = "progress of the epoch [%]",
                                          .y = "device utilisation [%]",
                                          .top = 105,
                                          .right = 100};
    struct cov_chart *c;
    int rc = cov_charts_add(&s->b->charts, &like, &c, e);
    for (int i = 0; i < STRATEGIES && !rc; i++)
        for (int k = 0; k < EPOCH_BINS && !rc; k++) {
            double use = 100 * epochs[i].busy[k] / epochs[i].spent[k];
            if (epochs[i].spent[k] > 0)
                rc = cov_chart_add(c, strategy_names[i], (k + 0.5) * 100 / EPOCH_BINS,
                                   use < 100 ? use : 100, e);
        }
    return rc;
}

static int compare_strategies(struct shared *s, struct cov_err *e)
{
    const struct numbers *limits = &s->o->io_limits;
    struct epoch epochs[STRATEGIES] = {0};
    int rc = COV_OK;
    for (size_t l = 0; l < limits->n && !rc; l++)
        rc = measure_limit(s, limits->items[l], false, epochs, e);
    for (size_t l = limits->n; l > 0 && !rc; l--)
        rc = measure_limit(s, limits->items[l - 1], true, epochs, e);
    if (!rc)
        rc = chart_strategies(s, e);
    /* The last epochs had the first limit: unlimited, if that was requested. */
    return rc || limits->items[0] != 0 ? rc : chart_use(s, epochs, e);
}

/* ---------------------------------------------------------------- threads and batch */

static double by_threads(const void *arg, char series[64], double *x)
{
    const struct epoch *epoch = arg;
    (void)snprintf(series, 64, "%u thread%s", epoch->threads, cov_text_s(epoch->threads));
    *x = (double)epoch->batch;
    return 1;
}

/* Measures the last strategy by number of threads and batch size. */
static int sweep(struct shared *s, struct cov_err *e)
{
    static const struct cov_chart chart = {.file = "loader_sweep",
                                           .title = "Ring buffer, I/O unlimited",
                                           .x = "chunks per batch",
                                           .y = "chunks/s",
                                           .log_x = true};
    const struct numbers threads = benchmark_threads(s->b, &s->o->threads);
    const struct numbers *batches = &s->o->batches;
    size_t n = threads.n * batches->n;
    struct epoch *epochs = cov_calloc(n, sizeof *epochs, e);
    struct bench_cases cases = {.run = epoch_rate};
    int rc = epochs ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; k < n && !rc; k++) {
        epochs[k] = (struct epoch){.all = &s->all,
                                   .strategy = STRATEGY_RING,
                                   .threads = (unsigned)threads.items[k / batches->n],
                                   .batch = (size_t)batches->items[k % batches->n],
                                   .bytes_per_chunk = s->per_chunk[STRATEGY_RING],
                                   .seed = s->b->seed};
        rc = bench_cases_add(&cases, &epochs[k], e,
                             "loader/chunks_per_second/strategy=+ring-buffer,threads=%u,batch=%zu",
                             epochs[k].threads, epochs[k].batch);
    }
    if (!rc)
        rc = bench_run(s->b, "sweeping threads and batch", &cases, e);
    if (!rc)
        rc = bench_draw(s->b, &chart, &cases, by_threads, e);
    bench_cases_fini(&cases);
    free(epochs);
    return rc;
}

int bench_loader(struct bench *b, const void *options, struct cov_err *e)
{
    const struct loader_options *o = options;
    struct shared s = {.b = b, .o = o};
    int rc = epochs_init(&s.all, e);
    if (!rc)
        rc = make_files(&s, e);
    for (int i = 0; i < STRATEGIES && !rc; i++)
        rc = measure_storage(&s, (enum strategy)i, e);
    if (!rc)
        rc = compare_strategies(&s, e);
    if (!rc)
        rc = sweep(&s, e);
    if (!rc)
        rc = bench_note(
            b, e,
            "Loading: %zu chunks in shuffled order, %s; the device is simulated, at %.0f chunks/s; "
            "an I/O limit is a reader that waits.",
            s.all.n_chunks,
            s.all.dropped ? "the page cache dropped before each epoch"
                          : "the page cache could not be dropped",
            o->device_rate);
    epochs_fini(&s.all);
    return rc || o->ranks.n == 0 ? rc : bench_ranks(b, o, e);
}

/* ---------------------------------------------------------------- the subcommand */

#define FIELD(name) offsetof(struct loader_options, name)

enum { ROW_RANKS, ROW_RANK_SIZES, MIN_CHUNKS = 50 };

static const struct cov_opt loader_rows[] = {
    [ROW_RANKS] =
        BENCHMARK_LIST("ranks", FIELD(ranks), NULL, 1, 1024,
                       "also measure training in these numbers of processes, which share the data "
                       "in memory (covtrain --loading ranks); needs mpirun"),
    [ROW_RANK_SIZES] = BENCHMARK_LIST("rank-sizes", FIELD(rank_sizes), "5M,10M,20M", 1, 1e12,
                                      "bases of the synthetic genomes for --ranks"),
    BENCHMARK_FASTA("the genome"),
    BENCHMARK_SIZE("20M"),
    BENCHMARK_LIST(
        "io-limit", FIELD(io_limits), "unlimited,1000M", 0, 1e18,
        "bytes per second that reading is limited to, as by a slower disk, or unlimited"),
    BENCHMARK_COUNT("batch-size", FIELD(batch), "16", 4096,
                    "chunks per batch when strategies are compared"),
    BENCHMARK_LIST("threads-list", FIELD(threads), NULL, 1, 1024,
                   "numbers of threads of the sweep (default: one and all)"),
    BENCHMARK_LIST("batch-list", FIELD(batches), "2,8,32", 1, 4096, "batch sizes of the sweep"),
    COV_OPT(FLOAT, "device-rate", 0, FIELD(device_rate), "N",
            "chunks per second of the simulated device", .def = "20000", .min = 1, .max = 1e9),
    COV_SUBSEQUENCE_LENGTH_OPTION(FIELD(length)),
    BENCHMARK_SECONDS("0.2"),
    BENCHMARK_REPEATS("5"),
    {.name = NULL},
};

static int loader_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    const struct loader_options *o = config;
    int rc = benchmark_numbers(loader_rows, config, e);
    if (!rc && given[ROW_RANK_SIZES] && !given[ROW_RANKS])
        rc = cov_fail(e, COV_EUSAGE, "--rank-sizes needs --ranks");
    for (size_t i = 0; i < o->rank_sizes.n && given[ROW_RANKS] && !rc; i++)
        if (o->rank_sizes.items[i] < MIN_CHUNKS * o->length)
            rc = cov_fail(e, COV_EUSAGE, "--rank-sizes: %s: fewer bases than in %d chunks",
                          o->rank_sizes.text.items[i], MIN_CHUNKS);
    return rc ? rc : benchmark_run(common, config, BENCH_LOADER, bench_loader, e);
}

const struct cov_tool benchmark_loader = {
    .name = "loader",
    .summary = "measure loading: strategies, threads and batch, device utilisation",
    BENCHMARK_OUTPUT(""),
    .examples = "  benchmark loader --size 100M --io-limit unlimited,1000M -o results/\n"
                "  benchmark loader --ranks 1,2,4 --rank-sizes 20M,50M,100M -o results/\n",
    .options = loader_rows,
    .config_bytes = sizeof(struct loader_options),
    .run = loader_run,
};
