/* bench_loader.c - benchmark loader: timed epochs, which load all chunks of a genome from a file to a
 * device, by several strategies.
 *
 * The simulated device computes a batch for a given time while the next one is loaded, as a GPU
 * does in training. It uses no CPU time.
 * SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/half.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/base/rng.h"
#include "common/base/text.h"
#include "common/chunk/chunk_file.h"
#include "common/cli/shared_options.h"
#include "common/file/hash.h"
#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/job/encode/encode.h"
#include "common/seq/alphabet.h"
#include "tools/benchmark/bench.h"

const char *const strategy_names[STRATEGIES] = {
    "original", "+blosc", "+packed", "+device-decode", "+ring-buffer",
};

enum {
    BATCH = 16,          /* chunks of a batch when strategies are compared */
    DEVICE_RATE = 20000, /* chunks per second of the simulated device */
    EPOCH_BINS = 20
};

/* Shared by all epochs. */
struct shared {
    struct bench *b;
    const struct loader_options *o;
    char *files[STRATEGIES];      /* of the genome; the last three are the same string. Owned */
    double per_chunk[STRATEGIES]; /* stored bytes of a chunk's bases */
    size_t n_chunks;
    uint64_t checksum; /* of all chunks; 0: not known yet */
    bool dropped;      /* the page cache could be dropped */
    float *of_half;    /* [65536]. Owned */
};

struct epoch {
    struct shared *shared;
    enum strategy strategy;
    int64_t io_limit; /* bytes per second; 0: unlimited */
    unsigned threads; /* of STRATEGY_RING */
    size_t batch;     /* chunks */
    bool device;      /* there is one */
    uint64_t seed;    /* for the order of chunks; changes after each epoch */
    /* Seconds that the device worked, and seconds that passed, in each part of the epochs. */
    double busy[EPOCH_BINS], spent[EPOCH_BINS];
};

/* ---------------------------------------------------------------- reading, decoding, the device */

static void sleep_until(double at)
{
    double left = at - cov_clock();
    if (left <= 0)
        return;
    struct timespec t = {(time_t)left, 0};
    t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
    (void)nanosleep(&t, NULL);
}

/* A slot of the ring: a batch of chunks, in stored and in decoded form. The original strategy
 * decodes while it reads, to `floats`. */
struct batch {
    size_t n;
    size_t *rows;         /* [batch] */
    struct cov_blob *raw; /* [batch] */
    uint8_t *codes;       /* [batch, L] */
};

/* Epochs over one open file. */
struct epochs_run {
    struct epoch *of;
    struct cov_h5 *h5;           /* of the original strategy */
    struct cov_h5_set *plain;    /* [total, L, 4] halves in it, read as h5py does */
    struct cov_chunk_file *file; /* of the other strategies */
    struct cov_pool *pool;       /* NULL: all stages run in turn */
    size_t L, *order;            /* order: a permutation of the rows */
    uint16_t *halves;
    float *floats; /* [batch, L, 4]: a batch as passed to the device; NULL: it takes codes */

    /* The current epoch. */
    double started, read_bytes, device_free, device_busy;
    double fed; /* when the device got the last batch */
    size_t read, chunks, total;
    bool checks;
    uint64_t checksum;
};

/* Counts a chunk that was read, and delays the reader to keep to the I/O limit. */
static void throttle(struct epochs_run *p)
{
    p->read_bytes += p->of->shared->per_chunk[p->of->strategy];
    if (p->of->io_limit > 0)
        sleep_until(p->started + p->read_bytes / (double)p->of->io_limit);
}

static void feed_device(struct epochs_run *p, size_t n_chunks)
{
    p->chunks += n_chunks;
    if (!p->of->device || n_chunks == 0)
        return;
    double needs = (double)n_chunks / DEVICE_RATE, now = cov_clock();
    double begin = p->device_free > now ? p->device_free : now;
    p->device_free = begin + needs;
    p->device_busy += needs;
    sleep_until(p->device_free - needs); /* one batch is computed while the next is loaded */
    /* Spreads both times over the parts of the epoch that these chunks belong to. */
    double passed = cov_clock() - p->fed;
    for (size_t i = p->chunks - n_chunks; i < p->chunks; i++) {
        size_t bin = i * EPOCH_BINS / p->total;
        p->of->busy[bin < EPOCH_BINS ? bin : EPOCH_BINS - 1] += needs / (double)n_chunks;
        p->of->spent[bin < EPOCH_BINS ? bin : EPOCH_BINS - 1] += passed / (double)n_chunks;
    }
    p->fed += passed;
}

static int fetch_plain(struct epochs_run *p, const struct batch *b, struct cov_err *e)
{
    const float *of_half = p->of->shared->of_half;
    float *floats = p->floats + b->n * 4 * p->L;
    int rc = cov_h5_set_read(p->plain, b->rows[b->n], 1, 0, 4, p->halves, e);
    for (size_t i = 0; i < 4 * p->L; i++)
        floats[i] = of_half[p->halves[i]];
    for (size_t t = 0; t < p->L && p->checks; t++)
        b->codes[b->n * p->L + t] = cov_code_from_onehot_f16(p->halves + 4 * t);
    return rc;
}

static int fetch(void *arg, void *slot, struct cov_err *e)
{
    struct epochs_run *p = arg;
    struct batch *b = slot;
    int rc = COV_OK;
    for (b->n = 0; b->n < p->of->batch && p->read < p->total && !rc; b->n++) {
        b->rows[b->n] = p->order[p->read++];
        cov_blob_clear(&b->raw[b->n]);
        rc = p->plain
                 ? fetch_plain(p, b, e)
                 : cov_chunk_file_fetch(p->file, b->rows[b->n], COV_CHUNK_BASES, &b->raw[b->n], e);
        throttle(p);
    }
    return rc ? rc : b->n > 0;
}

static int decode(void *arg, void *slot, void *worker, struct cov_err *e)
{
    (void)worker;
    struct epochs_run *p = arg;
    struct batch *b = slot;
    int rc = COV_OK;
    for (size_t k = 0; k < b->n && p->file && !rc; k++)
        rc = cov_chunk_file_decode(p->file, b->rows[k], COV_CHUNK_BASES, &b->raw[k],
                                   b->codes + k * p->L, NULL, e);
    return rc;
}

static int hand_over(void *arg, void *slot, struct cov_err *e)
{
    (void)e;
    struct epochs_run *p = arg;
    const struct batch *b = slot;
    for (size_t i = 0; i < b->n && p->checks; i++)
        p->checksum += cov_fingerprint(1, b->codes + i * p->L, p->L);
    feed_device(p, b->n);
    return COV_OK;
}

/* Decodes without other threads, to one-hot floats if the device does not expand codes. */
static int decode_and_hand_over(void *arg, void *slot, struct cov_err *e)
{
    struct epochs_run *p = arg;
    const struct batch *b = slot;
    int rc = decode(p, slot, NULL, e);
    for (size_t i = 0; i < b->n * p->L && p->floats && p->file; i++)
        memcpy(p->floats + 4 * i, cov_onehot_f32[b->codes[i]], 4 * sizeof(float));
    return rc ? rc : hand_over(arg, slot, e);
}

static void init_batch(void *arg, void *slot, struct cov_arena *memory)
{
    const struct epochs_run *p = arg;
    struct batch *b = slot;
    b->rows = cov_arena_calloc(memory, p->of->batch, sizeof *b->rows);
    b->raw = cov_arena_calloc(memory, p->of->batch, sizeof *b->raw);
    b->codes = cov_arena_calloc(memory, p->of->batch, p->L);
}

static void fini_batch(void *arg, void *slot)
{
    const struct epochs_run *p = arg;
    struct batch *b = slot;
    for (size_t k = 0; b->raw && k < p->of->batch; k++)
        cov_blob_fini(&b->raw[k]);
}

/* ---------------------------------------------------------------- an epoch */

static int run_epoch(struct epochs_run *p, struct cov_err *e)
{
    const struct cov_ring_job job = {.fetch = fetch,
                                     .work = p->pool ? decode : NULL,
                                     .store = p->pool ? hand_over : decode_and_hand_over,
                                     .slot_bytes = sizeof(struct batch),
                                     .n_slots = p->pool ? 0 : 1,
                                     .init_slot = init_batch,
                                     .fini_slot = fini_batch};
    struct cov_rng rng;
    struct shared *s = p->of->shared;
    s->dropped = machine_drop_cache(s->files[p->of->strategy]) && s->dropped;
    cov_rng_init(&rng, ++p->of->seed);
    for (size_t i = p->total; i > 1; i--) {
        size_t k = cov_rng_below(&rng, i), t = p->order[k];
        p->order[k] = p->order[i - 1];
        p->order[i - 1] = t;
    }
    p->read_bytes = p->device_busy = 0;
    p->read = p->chunks = 0;
    p->started = p->fed = p->device_free = cov_clock();
    int rc = cov_ring_run_job(p->pool, &job, p, NULL, e);
    sleep_until(p->device_free);
    return rc;
}

static void close_run(struct epochs_run *p)
{
    cov_h5_set_close(p->plain);
    cov_h5_close(p->h5);
    cov_chunk_file_close(p->file);
    cov_pool_free(p->pool);
    free(p->order);
    free(p->halves);
    free(p->floats);
}

static int open_source(struct epochs_run *p, const char *path, struct cov_err *e)
{
    int rc;
    if (p->of->strategy == STRATEGY_ORIGINAL) {
        rc = cov_h5_open(path, &p->h5, e);
        if (!rc)
            rc = cov_h5_set_open_plain(p->h5, "data/X", 3, &p->plain, e);
        if (rc)
            return rc;
        p->total = cov_h5_set_rows(p->plain)->dims[0];
        p->L = cov_h5_set_rows(p->plain)->dims[1];
    } else {
        rc = cov_chunk_file_open(path, &p->file, e);
        if (rc)
            return rc;
        p->total = cov_grid_n_chunks(cov_chunk_file_grid(p->file));
        p->L = cov_grid_chunk_length(cov_chunk_file_grid(p->file));
    }
    p->order = cov_malloc(p->total, sizeof *p->order, e);
    p->halves = cov_malloc(4 * p->L, sizeof *p->halves, e);
    for (size_t i = 0; p->order && i < p->total; i++)
        p->order[i] = i;
    return p->order && p->halves ? COV_OK : COV_ENOMEM;
}

/* The caller closes *p in any case. */
static int open_run(struct epoch *of, struct epochs_run *p, struct cov_err *e)
{
    *p = (struct epochs_run){.of = of};
    int rc = open_source(p, of->shared->files[of->strategy], e);
    if (!rc && of->strategy == STRATEGY_RING)
        rc = cov_pool_new(of->threads, &p->pool, e);
    if (rc || of->strategy >= STRATEGY_DEVICE)
        return rc;
    const size_t n_floats = 4 * of->batch * p->L;
    p->floats = cov_malloc(n_floats, sizeof *p->floats, e);
    if (!p->floats)
        return COV_ENOMEM;
    memset(p->floats, 0, n_floats * sizeof *p->floats);
    return COV_OK;
}

/* Loads all chunks. COV_EINPUT if they differ from those of the strategies checked before. */
static int check(void *arg, struct cov_err *e)
{
    const struct epoch *epoch = arg;
    struct epoch unlimited = *epoch;
    struct shared *s = epoch->shared;
    struct epochs_run p;
    unlimited.io_limit = 0;
    int rc = open_run(&unlimited, &p, e);
    if (!rc) {
        p.checks = true;
        rc = run_epoch(&p, e);
    }
    if (!rc && s->checksum == 0)
        s->checksum = p.checksum;
    if (!rc && (p.checksum != s->checksum || p.chunks != s->n_chunks))
        rc = cov_fail(e, COV_EINPUT, "%s: loads different chunks from the other strategies",
                      strategy_names[epoch->strategy]);
    close_run(&p);
    return rc;
}

/* Sets *value to the mean seconds per epoch, or, with a device, to the share of the time in which
 * the device works. Sets `busy` and `spent`. */
static int time_epoch(void *arg, double seconds, double *value, struct cov_err *e)
{
    struct epoch *epoch = arg;
    struct epochs_run p;
    double spent = 0, busy = 0;
    size_t n = 0;
    int rc = open_run(epoch, &p, e);
    memset(epoch->busy, 0, sizeof epoch->busy);
    memset(epoch->spent, 0, sizeof epoch->spent);
    while (!rc && (n == 0 || spent < seconds)) {
        rc = run_epoch(&p, e);
        spent += cov_clock() - p.started;
        busy += p.device_busy;
        n++;
    }
    *value = epoch->device ? busy / spent : spent / (double)n;
    close_run(&p);
    return rc;
}

/* Sets *value to the chunks loaded per second. */
static int rate_of(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct epoch *epoch = arg;
    int rc = time_epoch(arg, seconds, value, e);
    *value = (double)epoch->shared->n_chunks / *value;
    return rc;
}

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
        s->files[i] = cov_path_join(s->b->work.path, files[i].name, e);
        rc = s->files[i] ? cov_encode_fasta(s->b->fasta, s->files[i], true, &options, &job, e)
                         : COV_ENOMEM;
        s->n_chunks = (size_t)stats.chunks;
        cov_stats_fini(&stats);
    }
    cov_pool_free(pool);
    s->files[STRATEGY_DEVICE] = s->files[STRATEGY_RING] = s->files[STRATEGY_PACKED];
    return rc;
}

static int measure_storage(struct shared *s, enum strategy strategy, struct cov_err *e)
{
    struct cov_chunk_file *f;
    struct cov_h5_storage storage;
    int rc = cov_chunk_file_open(s->files[strategy], &f, e);
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
    s->per_chunk[strategy] = (double)storage.stored_bytes / (double)s->n_chunks;
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
    struct bench_cases cases = {.check = device ? NULL : check, .run = time_epoch};
    char text[32];
    int rc = COV_OK;
    for (int i = 0; i < STRATEGIES && !rc; i++) {
        epochs[i] = (struct epoch){.shared = s,
                                   .strategy = (enum strategy)i,
                                   .io_limit = limit,
                                   .threads = s->b->threads,
                                   .batch = BATCH,
                                   .device = device,
                                   .seed = BENCH_SEED};
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
    const struct numbers threads = benchmark_threads(s->b->threads);
    const struct numbers *batches = &s->o->batches;
    size_t n = threads.n * batches->n;
    struct epoch *epochs = cov_calloc(n, sizeof *epochs, e);
    struct bench_cases cases = {.run = rate_of};
    int rc = epochs ? COV_OK : COV_ENOMEM;
    for (size_t k = 0; k < n && !rc; k++) {
        epochs[k] = (struct epoch){.shared = s,
                                   .strategy = STRATEGY_RING,
                                   .threads = (unsigned)threads.items[k / batches->n],
                                   .batch = (size_t)batches->items[k % batches->n],
                                   .seed = BENCH_SEED};
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
    struct shared s = {.b = b, .o = options, .dropped = true};
    s.of_half = cov_malloc(1 << 16, sizeof *s.of_half, e);
    for (size_t i = 0; s.of_half && i < 1 << 16; i++)
        s.of_half[i] = cov_half_to_float((uint16_t)i);
    int rc = s.of_half ? make_files(&s, e) : COV_ENOMEM;
    for (int i = 0; i < STRATEGIES && !rc; i++)
        rc = measure_storage(&s, (enum strategy)i, e);
    if (!rc)
        rc = compare_strategies(&s, e);
    if (!rc)
        rc = sweep(&s, e);
    if (!rc)
        rc = bench_note(
            b, e,
            "Loading: %zu chunks in shuffled order, %s; the device is simulated, at %d chunks/s; "
            "an I/O limit is a reader that waits.",
            s.n_chunks,
            s.dropped ? "the page cache dropped before each epoch"
                      : "the page cache could not be dropped",
            DEVICE_RATE);
    for (int i = 0; i <= STRATEGY_PACKED; i++)
        free(s.files[i]); /* the other entries are aliases of the last one */
    free(s.of_half);
    return rc;
}

/* ---------------------------------------------------------------- the subcommand */

#define FIELD(name) offsetof(struct loader_options, name)

static const struct cov_opt loader_rows[] = {
    BENCHMARK_FASTA("the genome"),
    BENCHMARK_SIZE("20M"),
    BENCHMARK_LIST(
        "io-limit", FIELD(io_limits), "unlimited,1000M", 0, 1e18,
        "bytes per second that reading is limited to, as by a slower disk, or unlimited"),
    BENCHMARK_LIST("batch-list", FIELD(batches), "2,8,32", 1, 4096,
                   "chunks per batch, to compare by number of threads"),
    COV_SUBSEQUENCE_LENGTH_OPTION(FIELD(length)),
    BENCHMARK_SECONDS("0.2"),
    BENCHMARK_REPEATS("5"),
    {.name = NULL},
};

static int loader_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    int rc = benchmark_numbers(loader_rows, config, e);
    return rc ? rc : benchmark_run(common, config, false, bench_loader, e);
}

const struct cov_tool benchmark_loader = {
    .name = "loader",
    .summary = "measure loading: strategies, threads and batch, device utilisation",
    BENCHMARK_OUTPUT(""),
    .examples = "  benchmark loader --size 100M --io-limit unlimited,1000M -o results/\n",
    .options = loader_rows,
    .config_bytes = sizeof(struct loader_options),
    .run = loader_run,
};
