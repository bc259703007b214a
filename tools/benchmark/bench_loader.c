/* bench_loader.c - benchmark loader: loading chunks of a genome by several strategies.
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/file/path.h"
#include "common/job/encode/encode.h"
#include "common/job/predict/loader.h"
#include "common/job/shared_options.h"
#include "common/seq/alphabet.h"
#include "common/store/h5_plain.h"
#include "tools/benchmark/bench_epoch.h"
#include "tools/benchmark/measuring.h"

struct shared {
    struct bench *b;
    const struct bench_loader_options *o;
    struct epochs all;
};

/* ---------------------------------------------------------------- the files */

/* Rewrites data/X as Helixer does, with libhdf5 and zlib. */
static int write_as_helixer(const struct shared *s, const char *path, struct cov_err *e)
{
    struct cov_h5_plain *p = NULL;
    struct cov_loader *l = NULL;
    struct cov_loader_item item;
    struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    const struct cov_loader_options options = {.chunk_length = (size_t)s->o->length,
                                               .genome = {.tmpdir = s->all.tmpdir, .n_threads = 1}};
    uint8_t *codes = NULL;
    uint16_t *halves = NULL;
    size_t L = options.chunk_length;
    int got = 0, rc = cov_loader_open(s->o->fasta, &options, NULL, &l, e);
    if (!rc) {
        codes = cov_malloc(2, L, e);
        halves = cov_malloc(4 * L, sizeof *halves, e);
        rc = codes && halves ? cov_h5_plain_open_anew(path, &p, e) : COV_ENOMEM;
    }
    cov_progress_begin(s->b->progress, "writing as Helixer", "chunks", (int64_t)s->all.n_chunks);
    while (!rc && (got = cov_loader_next(l, &item, raw, e)) > 0) {
        uint8_t *const of[2] = {codes, codes + L};
        rc = cov_loader_codes(l, &item, raw, of, e);
        for (int k = COV_PLUS; k <= COV_MINUS && !rc; k++) {
            for (size_t t = 0; t < L; t++)
                memcpy(halves + 4 * t, cov_onehot_f16[of[k][t]], 8);
            rc = cov_h5_plain_write(p, item.rows[k], halves, e);
            cov_progress_add(s->b->progress, 1);
        }
    }
    cov_progress_end(s->b->progress);
    rc = rc ? rc : got;
    int closed = cov_h5_plain_close(p, e);
    cov_blob_fini(&raw[0]);
    cov_blob_fini(&raw[1]);
    free(codes);
    free(halves);
    cov_loader_close(l);
    return rc ? rc : closed;
}

static int make_file(struct shared *s, struct cov_pool *pool, const char *name,
                     enum cov_layout layout, enum cov_codec_id codec, char **path,
                     struct cov_err *e)
{
    struct cov_stats stats;
    const struct cov_encode_options options = {
        .species = "benchmark",
        .chunk_length = (size_t)s->o->length,
        .layout = layout,
        .compression = {codec, codec == COV_CODEC_BLOSC ? 5 : 0},
        .genome = {.tmpdir = s->all.tmpdir, .n_threads = 1}};
    *path = cov_path_join(s->all.tmpdir, name, e);
    if (!*path)
        return COV_ENOMEM;
    cov_stats_init(&stats, "benchmark", "");
    const struct cov_job job = {pool, s->b->progress, &stats};
    int rc = cov_encode_fasta(s->o->fasta, *path, true, &options, &job, e);
    s->all.n_chunks = (size_t)stats.chunks;
    cov_stats_fini(&stats);
    return rc;
}

static int make_files(struct shared *s, struct cov_err *e)
{
    struct cov_pool *pool = NULL;
    int rc = cov_pool_new(s->b->threads, &pool, e);
    if (!rc)
        rc = make_file(s, pool, "loader_original.h5", COV_LAYOUT_ONEHOT, COV_CODEC_FAST,
                       &s->all.files[STRATEGY_ORIGINAL], e);
    if (!rc)
        rc = write_as_helixer(s, s->all.files[STRATEGY_ORIGINAL], e);
    if (!rc)
        rc = make_file(s, pool, "loader_blosc.h5", COV_LAYOUT_ONEHOT, COV_CODEC_BLOSC,
                       &s->all.files[STRATEGY_BLOSC], e);
    if (!rc)
        rc = make_file(s, pool, "loader_packed.h5", COV_LAYOUT_PACKED, COV_CODEC_NONE,
                       &s->all.files[STRATEGY_PACKED], e);
    cov_pool_free(pool);
    s->all.files[STRATEGY_DEVICE] = s->all.files[STRATEGY_RING] = s->all.files[STRATEGY_PACKED];
    return rc;
}

/* Sets *per_chunk to the stored bytes of a chunk's bases. */
static int measure_storage(struct shared *s, enum strategy strategy, double *per_chunk,
                           struct cov_err *e)
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
    *per_chunk = (double)storage.stored_bytes / (double)s->all.n_chunks;
    return figures_add_one(&s->b->figures, "bytes", false, (double)storage.stored_bytes / bases, e,
                           "loader/bytes_per_base/strategy=%s", strategy_names[strategy]);
}

/* ---------------------------------------------------------------- figures */

static const char *limit_name(int64_t limit, char text[32])
{
    if (limit == 0)
        return "unlimited";
    (void)snprintf(text, 32, "%lldMB/s", (long long)(limit / 1000000));
    return text;
}

static const struct figure *find_figure(const struct shared *s, const char *figure, int strategy,
                                        int64_t limit)
{
    char text[32];
    return figures_findf(&s->b->figures, "loader/%s/strategy=%s,io=%s", figure,
                         strategy_names[strategy], limit_name(limit, text));
}

/* Divides the time of the original strategy by that of this one, repeat by repeat. */
static int add_ratios(struct shared *s, int strategy, int64_t limit, struct cov_err *e)
{
    char text[32];
    const struct figure *a = find_figure(s, "epoch_seconds", STRATEGY_ORIGINAL, limit);
    const struct figure *m = find_figure(s, "epoch_seconds", strategy, limit);
    int rc = COV_OK;
    for (size_t i = 0; a && m && i < a->n && i < m->n && !rc; i++) {
        rc = figures_add_one(&s->b->figures, "times", true, a->values[i] / m->values[i], e,
                             "loader/ratio_to_original/strategy=%s,io=%s", strategy_names[strategy],
                             limit_name(limit, text));
        /* Adding a figure may move the others. */
        a = find_figure(s, "epoch_seconds", STRATEGY_ORIGINAL, limit);
        m = find_figure(s, "epoch_seconds", strategy, limit);
    }
    return rc;
}

static int chart_bars(struct shared *s, const char *figure, const struct cov_chart *like,
                      double factor, struct cov_err *e)
{
    struct cov_chart *c;
    int rc = cov_charts_add(&s->b->charts, like, &c, e);
    for (size_t l = 0; l < s->o->io_limits.n && !rc; l++)
        for (int i = 0; i < STRATEGIES && !rc; i++) {
            char text[32];
            int64_t limit = s->o->io_limits.items[l];
            rc = chart_add_bar(c, limit_name(limit, text), strategy_names[i],
                               find_figure(s, figure, i, limit), factor, e);
        }
    return rc;
}

/* Measures the time of an epoch, or the device utilisation, for all strategies at one I/O limit. */
static int measure_limit(struct shared *s, const double *per_chunk, int64_t limit, bool device,
                         struct epoch *epochs, struct cov_err *e)
{
    struct bench_cases cases = {0};
    char text[32];
    int rc = COV_OK;
    for (int i = 0; i < STRATEGIES && !rc; i++) {
        epochs[i] = (struct epoch){.all = &s->all,
                                   .strategy = (enum strategy)i,
                                   .io_limit = limit,
                                   .threads = s->b->threads,
                                   .n_pairs = (size_t)(s->o->batch + 1) / 2,
                                   .bytes_per_chunk = per_chunk[i],
                                   .device_rate = device ? s->o->device_rate : 0,
                                   .seed = s->b->seed};
        const struct bench_case c = {.name = cov_strfmt(e, "loader/%s/strategy=%s,io=%s",
                                                        device ? "device_use" : "epoch_seconds",
                                                        strategy_names[i], limit_name(limit, text)),
                                     .unit = device ? "of an epoch" : "s",
                                     .higher_is_better = device,
                                     .check = device ? NULL : epoch_check,
                                     .run = epoch_time,
                                     .arg = &epochs[i]};
        rc = bench_cases_add(&cases, c, e);
    }
    if (!rc)
        rc = bench_run(s->b, device ? "feeding a device" : "loading", &cases, e);
    bench_cases_fini(&cases);
    for (int i = 1; i < STRATEGIES && !rc && !device; i++)
        rc = add_ratios(s, i, limit, e);
    return rc;
}

/* Draws the device utilisation during the last epochs. */
static int chart_use(struct shared *s, const struct epoch *epochs, struct cov_err *e)
{
    static const struct cov_chart like = {.kind = COV_CHART_LINES,
                                          .file = "loader_device_use",
                                          .title =
                                              "Device utilisation during an epoch, I/O unlimited",
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

static int chart_sweep(struct shared *s, const struct epoch *epochs,
                       const struct bench_cases *cases, struct cov_err *e)
{
    static const struct cov_chart like = {.kind = COV_CHART_LINES,
                                          .file = "loader_sweep",
                                          .title =
                                              "Ring buffer by batch and threads, I/O unlimited",
                                          .x = "chunks per batch",
                                          .y = "chunks/s",
                                          .log_x = true};
    struct cov_chart *c;
    int rc = cov_charts_add(&s->b->charts, &like, &c, e);
    for (size_t i = 0; i < cases->n && !rc; i++) {
        char series[32];
        (void)snprintf(series, sizeof series, "%u thread%s", epochs[i].threads,
                       epochs[i].threads == 1 ? "" : "s");
        rc = chart_add_figure(c, series, (double)s->o->batches.items[i % s->o->batches.n],
                              figures_find(&s->b->figures, cases->items[i].name), 1, e);
    }
    return rc;
}

/* Measures the last strategy by number of threads and batch size. */
static int sweep(struct shared *s, double per_chunk, struct cov_err *e)
{
    size_t n = s->o->threads.n * s->o->batches.n;
    struct epoch *epochs = cov_calloc(n, sizeof *epochs, e);
    struct bench_cases cases = {0};
    int rc = epochs ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; k < n && !rc; k++) {
        int64_t threads = s->o->threads.items[k / s->o->batches.n];
        int64_t batch = s->o->batches.items[k % s->o->batches.n];
        epochs[k] = (struct epoch){.all = &s->all,
                                   .strategy = STRATEGY_RING,
                                   .threads = (unsigned)threads,
                                   .n_pairs = (size_t)(batch + 1) / 2,
                                   .bytes_per_chunk = per_chunk,
                                   .seed = s->b->seed};
        const struct bench_case c = {
            .name = cov_strfmt(
                e, "loader/chunks_per_second/strategy=+ring-buffer,threads=%lld,batch=%lld",
                (long long)threads, (long long)batch),
            .unit = "chunks/s",
            .higher_is_better = true,
            .run = epoch_rate,
            .arg = &epochs[k]};
        rc = bench_cases_add(&cases, c, e);
    }
    if (!rc)
        rc = bench_run(s->b, "sweeping threads and batch", &cases, e);
    if (!rc)
        rc = chart_sweep(s, epochs, &cases, e);
    bench_cases_fini(&cases);
    free(epochs);
    return rc;
}

static int measure(struct shared *s, struct cov_err *e)
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
    const struct numbers *limits = &s->o->io_limits;
    double per_chunk[STRATEGIES];
    struct epoch *epochs = cov_calloc(STRATEGIES, sizeof *epochs, e);
    int rc = epochs ? COV_OK : COV_ENOMEM;
    for (int i = 0; i < STRATEGIES && !rc; i++)
        rc = measure_storage(s, (enum strategy)i, &per_chunk[i], e);
    for (size_t l = 0; l < limits->n && !rc; l++)
        rc = measure_limit(s, per_chunk, limits->items[l], false, epochs, e);
    for (size_t l = limits->n; l > 0 && !rc; l--)
        rc = measure_limit(s, per_chunk, limits->items[l - 1], true, epochs, e);
    for (size_t i = 0; i < COV_COUNT(bars) && !rc; i++) {
        struct cov_chart like = bars[i].like;
        like.kind = COV_CHART_BARS;
        like.x = "loading strategy";
        rc = chart_bars(s, bars[i].figure, &like, bars[i].factor, e);
    }
    /* The last epochs had the first limit: unlimited, if that was requested. */
    if (!rc && limits->items[0] == 0)
        rc = chart_use(s, epochs, e);
    free(epochs);
    return rc ? rc : sweep(s, per_chunk[STRATEGY_RING], e);
}

int bench_loader(struct bench *b, const struct bench_loader_options *options, struct cov_err *e)
{
    struct shared s = {
        .b = b, .o = options, .all = {.tmpdir = b->work.path, .warm = options->warm}};
    int rc = epochs_init(&s.all, e);
    if (!rc)
        rc = make_files(&s, e);
    if (!rc)
        rc = measure(&s, e);
    if (!rc)
        rc = bench_note(
            b, e,
            "Loading: %zu chunks in shuffled order, %s; the device is simulated, at %.0f chunks/s; "
            "an I/O limit is a reader that waits.",
            s.all.n_chunks,
            options->warm   ? "files in the page cache"
            : s.all.dropped ? "the page cache dropped before each epoch"
                            : "the page cache could not be dropped",
            options->device_rate);
    for (int i = 0; i <= STRATEGY_PACKED; i++)
        if (s.all.files[i])
            bench_remove(s.all.files[i]);
    epochs_fini(&s.all);
    return rc;
}

/* ---------------------------------------------------------------- the subcommand */

struct loader_config {
    struct benchmark_config common;
    const char *fasta;
    int64_t size, batch, length;
    struct cov_strings limits, threads, batches, ranks, sizes;
    double device_rate;
    bool warm;
};

#define FIELD(name) offsetof(struct loader_config, name)

enum { ROW_RANKS, ROW_RANK_SIZES };

static const struct cov_opt loader_options[] = {
    [ROW_RANKS] =
        BENCHMARK_LIST("ranks", FIELD(ranks), "N", NULL,
                       "also measure training in these numbers of processes, which share the data "
                       "in memory (covtrain --loading ranks); needs mpirun"),
    [ROW_RANK_SIZES] = BENCHMARK_LIST("rank-sizes", FIELD(sizes), "N", "5M,10M,20M",
                                      "bases of the synthetic genomes for --ranks"),
    BENCHMARK_FASTA(FIELD(fasta), "the genome"),
    BENCHMARK_SIZE(FIELD(size), "20M"),
    BENCHMARK_LIST(
        "io-limit", FIELD(limits), "N", "unlimited,1000M",
        "bytes per second that reading is limited to, as by a slower disk, or unlimited"),
    BENCHMARK_COUNT("batch-size", FIELD(batch), "16", 4096,
                    "chunks per batch when strategies are compared"),
    BENCHMARK_LIST("threads-list", FIELD(threads), "N", NULL,
                   "numbers of threads of the sweep (default: one and all)"),
    BENCHMARK_LIST("batch-list", FIELD(batches), "N", "2,8,32", "batch sizes of the sweep"),
    COV_OPT(FLOAT, "device-rate", 0, FIELD(device_rate), "N",
            "chunks per second of the simulated device", .def = "20000", .min = 1, .max = 1e9),
    COV_OPT(FLAG, "warm", 0, FIELD(warm), NULL,
            "keep files in the page cache (default: drop it before each epoch)"),
    COV_SUBSEQUENCE_LENGTH_OPTION(FIELD(length)),
    BENCHMARK_OPTIONS("5", "0.2"),
    {.name = NULL},
};

static int loader_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    const struct loader_config *c = config;
    int64_t one_and_all[] = {1, common->threads};
    const struct number_limits io = {
        .option = "--io-limit", .min = 1, .max = INT64_MAX, .zero = "unlimited"};
    const struct number_limits threads = {.option = "--threads-list",
                                          .min = 1,
                                          .max = 1024,
                                          .def = {one_and_all, common->threads > 1 ? 2 : 1}};
    const struct number_limits batches = {.option = "--batch-list", .min = 1, .max = 4096};
    const struct number_limits ranks = {.option = "--ranks", .min = 1, .max = 1024};
    const struct number_limits sizes = {
        .option = "--rank-sizes", .min = 50 * c->length, .max = (int64_t)1e12};
    struct bench_ranks_options shared = {.batch = c->batch, .length = c->length};
    struct bench_loader_options o = {
        .batch = c->batch, .device_rate = c->device_rate, .warm = c->warm, .length = c->length};
    char *fasta = NULL;
    struct bench b = {0};
    int rc = given[ROW_RANK_SIZES] && !given[ROW_RANKS]
                 ? cov_fail(e, COV_EUSAGE, "--rank-sizes needs --ranks")
                 : benchmark_numbers(&c->limits, &io, &o.io_limits, e);
    if (!rc && given[ROW_RANKS])
        rc = benchmark_numbers(&c->ranks, &ranks, &shared.ranks, e);
    if (!rc && given[ROW_RANKS])
        rc = benchmark_numbers(&c->sizes, &sizes, &shared.sizes, e);
    if (!rc)
        rc = benchmark_numbers(&c->threads, &threads, &o.threads, e);
    if (!rc)
        rc = benchmark_numbers(&c->batches, &batches, &o.batches, e);
    if (!rc)
        rc = benchmark_check_inputs(c->fasta, NULL, e);
    if (!rc)
        rc = benchmark_begin(common, &c->common, BENCH_LOADER, 4 * c->common.seconds, &b, e);
    if (!rc)
        rc = benchmark_genome(&b, c->fasta, "synthetic.fa", c->size, &fasta, e);
    o.fasta = fasta;
    if (!rc)
        rc = bench_loader(&b, &o, e);
    if (!rc && given[ROW_RANKS])
        rc = bench_ranks(&b, &shared, e);
    if (!rc)
        rc = benchmark_end(common, &b, e);
    free(fasta);
    bench_fini(&b);
    free(o.io_limits.items);
    free(o.threads.items);
    free(o.batches.items);
    free(shared.ranks.items);
    free(shared.sizes.items);
    return rc;
}

const struct cov_tool benchmark_loader = {
    .name = "loader",
    .summary = "measure loading: strategies, threads and batch, device utilisation",
    BENCHMARK_OUTPUT,
    .examples = "  benchmark loader --size 100M --io-limit unlimited,1000M -o results/\n"
                "  benchmark loader --ranks 1,2,4 --rank-sizes 20M,50M,100M -o results/\n",
    .options = loader_options,
    .config_bytes = sizeof(struct loader_config),
    .run = loader_run,
};
