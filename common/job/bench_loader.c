/* bench_loader.c - see bench_loader.h.
 *
 * The stand-in of a device computes a batch in the time that is told, while the next one is loaded, and
 * takes no more than one ahead: as a GPU that a training program feeds. It takes no time of the CPU.
 * SPDX-License-Identifier: MIT */
#include "common/job/bench_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/fingerprint.h"
#include "common/base/half.h"
#include "common/base/mem.h"
#include "common/base/path.h"
#include "common/base/ring.h"
#include "common/base/rng.h"
#include "common/job/encode.h"
#include "common/job/loader.h"
#include "common/seq/alphabet.h"
#include "common/store/h5_plain.h"

const char *const cov_strategy_names[COV_STRATEGIES] = {
    "original", "+blosc", "+packed", "+device-decode", "+ring-buffer",
};

enum { USE_BINS = 20, MAX_SLOTS = 256 };

static void sleep_until(double at)
{
    double left = at - cov_clock();
    if (left <= 0)
        return;
    struct timespec t = {(time_t)left, 0};
    t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
    (void)nanosleep(&t, NULL);
}

/* ---------------------------------------------------------------- what all cases share */

struct shared {
    struct cov_bench *b;
    const struct cov_bench_loader_options *o;
    char *files[COV_STRATEGIES]; /* not all different */
    uint64_t checksum;           /* of all chunks; 0: not known yet */
    size_t n_chunks;
    bool dropped;   /* caches could be */
    float *of_half; /* [65536] */
};

/* A pair of chunks of a batch, and what is stored of it. */
struct batch {
    size_t n; /* pairs */
    struct cov_loader_item *items;
    struct cov_blob (*raw)[2];
    uint8_t *codes; /* [2 pairs, L] */
    size_t n_chunks;
};

struct epoch {
    struct shared *shared;
    enum cov_loading_strategy strategy;
    int64_t io_limit;
    unsigned threads;
    size_t n_pairs;     /* of a batch */
    double device_rate; /* 0: none, loading alone */
    uint64_t seed;

    struct cov_loader *loader;
    struct cov_h5_plain *plain;
    struct cov_pool *pool;
    size_t L, *order; /* order: of the rows of `plain` */
    uint16_t *halves;
    float *floats; /* [2 pairs, L, 4]: a batch as a device would get it */
    struct batch batches[MAX_SLOTS];
    size_t n_slots;

    /* While it runs. */
    double started, read_bytes, device_free, device_busy, bytes_per_chunk;
    double fed, busy[USE_BINS], spent[USE_BINS]; /* fed: when the device got the last batch */
    size_t at, chunks, total;
    bool checks;
    uint64_t checksum;
};

/* A reader that is not allowed more than so many bytes a second. */
static void throttle(struct epoch *p, double bytes)
{
    p->read_bytes += bytes;
    if (p->io_limit > 0)
        sleep_until(p->started + p->read_bytes / (double)p->io_limit);
}

static void feed_device(struct epoch *p, size_t n_chunks)
{
    p->chunks += n_chunks;
    if (p->device_rate <= 0 || n_chunks == 0)
        return;
    double needs = (double)n_chunks / p->device_rate, now = cov_clock();
    double begin = p->device_free > now ? p->device_free : now;
    p->device_free = begin + needs;
    p->device_busy += needs;
    sleep_until(p->device_free - needs); /* one batch is computed, one is ahead */
    /* What the device did, and what passed, goes to the parts of the epoch that the chunks are in. */
    double passed = cov_clock() - p->fed;
    for (size_t i = p->chunks - n_chunks; i < p->chunks; i++) {
        size_t bin = i * USE_BINS / p->total;
        p->busy[bin < USE_BINS ? bin : USE_BINS - 1] += needs / (double)n_chunks;
        p->spent[bin < USE_BINS ? bin : USE_BINS - 1] += passed / (double)n_chunks;
    }
    p->fed += passed;
}

static void add_checksum(struct epoch *p, const uint8_t *codes)
{
    if (p->checks)
        p->checksum += cov_fingerprint(1, codes, p->L);
}

/* ---------------------------------------------------------------- one after the other */

/* By a table of all halves, of which those of Helixer are a few. */
static void expand_halves(const float *of_half, const uint16_t *halves, size_t n, float *floats)
{
    for (size_t i = 0; i < n; i++)
        floats[i] = of_half[halves[i]];
}

static int original(struct epoch *p, struct cov_err *e)
{
    int rc = COV_OK;
    size_t in_batch = 0, most = 2 * p->n_pairs;
    for (size_t i = 0; i < p->total && !rc; i++) {
        rc = cov_h5_plain_read(p->plain, p->order[i], p->halves, e);
        throttle(p, p->bytes_per_chunk);
        expand_halves(p->shared->of_half, p->halves, 4 * p->L, p->floats + in_batch * 4 * p->L);
        if (p->checks) {
            for (size_t t = 0; t < p->L; t++)
                p->batches[0].codes[t] = cov_code_from_onehot_f16(p->halves + 4 * t);
            add_checksum(p, p->batches[0].codes);
        }
        if (++in_batch == most || i + 1 == p->total) {
            feed_device(p, in_batch);
            in_batch = 0;
        }
    }
    return rc;
}

static int fetch(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct epoch *p = arg;
    struct batch *b = &p->batches[slot];
    b->n = b->n_chunks = 0;
    while (b->n < p->n_pairs) {
        struct cov_loader_item *item = &b->items[b->n];
        int got = cov_loader_next(p->loader, item, b->raw[b->n], e);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        size_t k = (size_t)item->has[COV_PLUS] + item->has[COV_MINUS];
        b->n_chunks += k;
        throttle(p, (double)k * p->bytes_per_chunk);
        b->n++;
    }
    return b->n > 0;
}

static int decode(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct epoch *p = arg;
    struct batch *b = &p->batches[slot];
    uint8_t *to = b->codes;
    int rc = COV_OK;
    for (size_t k = 0; k < b->n && !rc; k++) {
        uint8_t *of[2];
        for (int s = COV_PLUS; s <= COV_MINUS; s++) {
            of[s] = to;
            to += b->items[k].has[s] ? p->L : 0;
        }
        rc = cov_loader_codes(p->loader, &b->items[k], b->raw[k], of, e);
    }
    return rc;
}

static int hand_over(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    (void)e;
    struct epoch *p = arg;
    const struct batch *b = &p->batches[slot];
    for (size_t i = 0; i < b->n_chunks; i++)
        add_checksum(p, b->codes + i * p->L);
    feed_device(p, b->n_chunks);
    return COV_OK;
}

/* One-hot floats on the host. */
static void expand_codes(struct epoch *p, const struct batch *b)
{
    for (size_t i = 0; i < b->n_chunks * p->L; i++)
        memcpy(p->floats + 4 * i, cov_onehot_f32[b->codes[i]], 4 * sizeof(float));
}

static int in_turn(struct epoch *p, struct cov_err *e)
{
    int rc;
    while ((rc = fetch(p, 0, 0, e)) > 0) {
        rc = decode(p, 0, 0, e);
        if (rc)
            return rc;
        if (p->strategy < COV_STRATEGY_DEVICE)
            expand_codes(p, &p->batches[0]);
        rc = hand_over(p, 0, 0, e);
        if (rc)
            return rc;
    }
    return rc;
}

/* ---------------------------------------------------------------- an epoch */

static int run_epoch(struct epoch *p, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch, decode, hand_over};
    int rc = COV_OK;
    if (!p->shared->o->warm)
        p->shared->dropped =
            cov_machine_drop_cache(p->shared->files[p->strategy]) && p->shared->dropped;
    p->seed++;
    if (p->loader) {
        rc = cov_loader_rewind(p->loader, p->seed, e);
    } else {
        struct cov_rng rng;
        cov_rng_init(&rng, p->seed);
        for (size_t i = p->total; i > 1; i--) {
            size_t k = cov_rng_below(&rng, i), t = p->order[k];
            p->order[k] = p->order[i - 1];
            p->order[i - 1] = t;
        }
    }
    p->read_bytes = p->device_busy = 0;
    p->at = p->chunks = 0;
    p->started = p->fed = p->device_free = cov_clock();
    if (rc)
        return rc;
    if (p->strategy == COV_STRATEGY_ORIGINAL)
        rc = original(p, e);
    else if (p->strategy == COV_STRATEGY_RING)
        rc = cov_ring_run(p->pool, p->n_slots, &stages, p, NULL, e);
    else
        rc = in_turn(p, e);
    sleep_until(p->device_free);
    return rc;
}

static void close_epoch(struct epoch *p)
{
    for (size_t i = 0; i < p->n_slots; i++) {
        struct batch *b = &p->batches[i];
        for (size_t k = 0; b->raw && k < p->n_pairs; k++) {
            cov_blob_fini(&b->raw[k][COV_PLUS]);
            cov_blob_fini(&b->raw[k][COV_MINUS]);
        }
        free(b->raw);
        free(b->items);
        free(b->codes);
        *b = (struct batch){0};
    }
    cov_loader_close(p->loader);
    (void)cov_h5_plain_close(p->plain, NULL);
    cov_pool_free(p->pool);
    free(p->order);
    free(p->halves);
    free(p->floats);
    p->loader = NULL;
    p->plain = NULL;
    p->pool = NULL;
    p->order = NULL;
    p->halves = NULL;
    p->floats = NULL;
    p->n_slots = 0;
}

static int open_source(struct epoch *p, const char *path, struct cov_err *e)
{
    if (p->strategy != COV_STRATEGY_ORIGINAL) {
        const struct cov_loader_options options = {
            .genome = {.tmpdir = p->shared->o->work, .n_threads = 1},
            .order = COV_ORDER_SHUFFLED,
            .seed = p->seed};
        int rc = cov_loader_open(path, &options, NULL, &p->loader, e);
        if (rc)
            return rc;
        p->L = cov_loader_chunk_length(p->loader);
        p->total = p->shared->n_chunks;
        return COV_OK;
    }
    int rc = cov_h5_plain_open(path, &p->plain, e);
    if (rc)
        return rc;
    p->L = cov_h5_plain_length(p->plain);
    p->total = cov_h5_plain_n_rows(p->plain);
    p->order = cov_malloc(p->total, sizeof *p->order, e);
    p->halves = cov_malloc(4 * p->L, sizeof *p->halves, e);
    for (size_t i = 0; p->order && i < p->total; i++)
        p->order[i] = i;
    return p->order && p->halves ? COV_OK : COV_ENOMEM;
}

/* Rooms for batches, threads, and the file. */
static int open_epoch(struct epoch *p, struct cov_err *e)
{
    int rc = open_source(p, p->shared->files[p->strategy], e);
    if (!rc && p->strategy == COV_STRATEGY_RING)
        rc = cov_pool_new(p->threads, &p->pool, e);
    if (rc)
        return rc;
    p->n_slots = p->pool ? cov_ring_slots(p->pool) : 1;
    p->n_slots = p->n_slots < MAX_SLOTS ? p->n_slots : MAX_SLOTS;
    for (size_t i = 0; i < p->n_slots; i++) {
        struct batch *b = &p->batches[i];
        b->items = cov_calloc(p->n_pairs, sizeof *b->items, e);
        b->raw = cov_calloc(p->n_pairs, sizeof *b->raw, e);
        b->codes = cov_malloc(2 * p->n_pairs, p->L, e);
        if (!b->items || !b->raw || !b->codes)
            return COV_ENOMEM;
    }
    if (p->strategy < COV_STRATEGY_DEVICE) {
        p->floats = cov_malloc(8 * p->n_pairs * p->L, sizeof *p->floats, e);
        if (!p->floats)
            return COV_ENOMEM;
        memset(p->floats, 0, 8 * p->n_pairs * p->L * sizeof *p->floats);
    }
    return COV_OK;
}

static int check(void *arg, struct cov_err *e)
{
    struct epoch *p = arg;
    int64_t limit = p->io_limit;
    double rate = p->device_rate;
    p->io_limit = 0;
    p->device_rate = 0;
    p->checks = true;
    p->checksum = 0;
    int rc = open_epoch(p, e);
    if (!rc)
        rc = run_epoch(p, e);
    close_epoch(p);
    p->checks = false;
    p->io_limit = limit;
    p->device_rate = rate;
    struct shared *s = p->shared;
    if (!rc && s->checksum == 0)
        s->checksum = p->checksum;
    if (!rc && (p->checksum != s->checksum || p->chunks != s->n_chunks))
        rc = cov_fail(e, COV_EINPUT, "%s gives other chunks than the others do",
                      cov_strategy_names[p->strategy]);
    return rc;
}

/* Seconds of an epoch, the mean of as many as `seconds` take; or the use of the device. */
static int run(void *arg, double seconds, double *value, struct cov_err *e)
{
    struct epoch *p = arg;
    double spent = 0, busy = 0;
    size_t n = 0;
    int rc = open_epoch(p, e);
    memset(p->busy, 0, sizeof p->busy);
    memset(p->spent, 0, sizeof p->spent);
    while (!rc && (n == 0 || spent < seconds)) {
        rc = run_epoch(p, e);
        spent += cov_clock() - p->started;
        busy += p->device_busy;
        n++;
    }
    *value = p->device_rate > 0 ? busy / spent : spent / (double)n;
    close_epoch(p);
    return rc;
}

static int run_rate(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct epoch *p = arg;
    int rc = run(arg, seconds, value, e);
    *value = (double)p->shared->n_chunks / *value;
    return rc;
}

/* ---------------------------------------------------------------- the files */

/* data/X of the file of the genome again, as libhdf5 and zlib write it. */
static int write_as_helixer(const struct shared *s, const char *path, struct cov_err *e)
{
    struct cov_h5_plain *p = NULL;
    struct cov_loader *l = NULL;
    struct cov_loader_item item;
    struct cov_blob raw[2] = {COV_BLOB_INIT, COV_BLOB_INIT};
    const struct cov_loader_options options = {.chunk_length = (size_t)s->o->length,
                                               .genome = {.tmpdir = s->o->work, .n_threads = 1}};
    uint8_t *codes = NULL;
    uint16_t *halves = NULL;
    size_t L = options.chunk_length;
    int got = 0, rc = cov_loader_open(s->o->fasta, &options, NULL, &l, e);
    if (!rc) {
        codes = cov_malloc(2, L, e);
        halves = cov_malloc(4 * L, sizeof *halves, e);
        rc = codes && halves ? cov_h5_plain_open_anew(path, &p, e) : COV_ENOMEM;
    }
    cov_progress_begin(s->b->progress, "writing as Helixer", "chunks", (int64_t)s->n_chunks);
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
        .genome = {.tmpdir = s->o->work, .n_threads = 1}};
    *path = cov_path_join(s->o->work, name, e);
    if (!*path)
        return COV_ENOMEM;
    cov_stats_init(&stats, "benchmark", "");
    int rc = cov_encode_fasta(s->o->fasta, *path, true, &options, pool, s->b->progress, &stats, e);
    s->n_chunks = (size_t)stats.chunks;
    cov_stats_fini(&stats);
    return rc;
}

static int make_files(struct shared *s, struct cov_err *e)
{
    struct cov_pool *pool = NULL;
    int rc = cov_pool_new(s->b->threads, &pool, e);
    if (!rc)
        rc = make_file(s, pool, "loader_original.h5", COV_LAYOUT_ONEHOT, COV_CODEC_FAST,
                       &s->files[COV_STRATEGY_ORIGINAL], e);
    if (!rc)
        rc = write_as_helixer(s, s->files[COV_STRATEGY_ORIGINAL], e);
    if (!rc)
        rc = make_file(s, pool, "loader_blosc.h5", COV_LAYOUT_ONEHOT, COV_CODEC_BLOSC,
                       &s->files[COV_STRATEGY_BLOSC], e);
    if (!rc)
        rc = make_file(s, pool, "loader_packed.h5", COV_LAYOUT_PACKED, COV_CODEC_NONE,
                       &s->files[COV_STRATEGY_PACKED], e);
    cov_pool_free(pool);
    s->files[COV_STRATEGY_DEVICE] = s->files[COV_STRATEGY_RING] = s->files[COV_STRATEGY_PACKED];
    return rc;
}

/* What is stored of a chunk's bases, and a figure of it. */
static int measure_storage(struct shared *s, enum cov_loading_strategy strategy, double *per_chunk,
                           struct cov_err *e)
{
    struct cov_chunk_file *f;
    struct cov_chunk_storage storage;
    char name[80];
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
    *per_chunk = (double)storage.stored_bytes / (double)s->n_chunks;
    (void)snprintf(name, sizeof name, "loader/bytes_per_base/strategy=%s",
                   cov_strategy_names[strategy]);
    return cov_figures_add_one(&s->b->figures, name, "bytes", false,
                               (double)storage.stored_bytes / bases, e);
}

/* ---------------------------------------------------------------- figures */

static const char *limit_name(int64_t limit, char text[32])
{
    if (limit == 0)
        return "unlimited";
    (void)snprintf(text, 32, "%lldMB/s", (long long)(limit / 1000000));
    return text;
}

static char *name_of(const char *figure, int strategy, int64_t limit, struct cov_err *e)
{
    char text[32];
    return cov_strfmt(e, "loader/%s/strategy=%s,io=%s", figure, cov_strategy_names[strategy],
                      limit_name(limit, text));
}

/* The times of each repeat over those of the original in the same repeat. */
static int add_ratios(struct shared *s, int strategy, int64_t limit, struct cov_err *e)
{
    char *base = name_of("epoch_seconds", COV_STRATEGY_ORIGINAL, limit, e);
    char *mine = name_of("epoch_seconds", strategy, limit, e);
    char *name = name_of("ratio_to_original", strategy, limit, e);
    const struct cov_figure *a = base ? cov_figures_find(&s->b->figures, base) : NULL;
    const struct cov_figure *m = mine ? cov_figures_find(&s->b->figures, mine) : NULL;
    double *ratios = a && m ? cov_malloc(a->n, sizeof *ratios, e) : NULL;
    int rc = ratios && name ? COV_OK : COV_ENOMEM;
    size_t n = rc ? 0 : a->n < m->n ? a->n : m->n;
    for (size_t i = 0; i < n; i++)
        ratios[i] = a->values[i] / m->values[i];
    if (!rc)
        rc = cov_figures_add(&s->b->figures, name, "times", true, ratios, n, e);
    free(ratios);
    free(base);
    free(mine);
    free(name);
    return rc;
}

static int chart_bars(struct shared *s, const char *figure, const char *file, const char *title,
                      const char *y, double factor, struct cov_err *e)
{
    struct cov_chart *c;
    int rc =
        cov_charts_add(&s->b->charts, COV_CHART_BARS, file, title, "loading strategy", y, &c, e);
    for (size_t l = 0; l < s->o->n_io_limits && !rc; l++)
        for (int i = 0; i < COV_STRATEGIES && !rc; i++) {
            char text[32], *name = name_of(figure, i, s->o->io_limits[l], e);
            const struct cov_figure *f = name ? cov_figures_find(&s->b->figures, name) : NULL;
            if (f)
                rc = cov_chart_add_bar(c, limit_name(s->o->io_limits[l], text),
                                       cov_strategy_names[i], factor * f->median, factor * f->low,
                                       factor * f->high, e);
            free(name);
        }
    return rc;
}

/* Cases of all strategies at one limit. */
static int measure_limit(struct shared *s, const double *per_chunk, int64_t limit, bool device,
                         struct epoch *epochs, struct cov_err *e)
{
    struct cov_bench_case cases[COV_STRATEGIES];
    int rc = COV_OK;
    memset(cases, 0, sizeof cases);
    for (int i = 0; i < COV_STRATEGIES && !rc; i++) {
        epochs[i] = (struct epoch){.shared = s,
                                   .strategy = (enum cov_loading_strategy)i,
                                   .io_limit = limit,
                                   .threads = s->b->threads,
                                   .n_pairs = (size_t)(s->o->batch + 1) / 2,
                                   .bytes_per_chunk = per_chunk[i],
                                   .device_rate = device ? s->o->device_rate : 0,
                                   .seed = s->b->seed};
        cases[i] = (struct cov_bench_case){
            .name = name_of(device ? "device_use" : "epoch_seconds", i, limit, e),
            .unit = device ? "of an epoch" : "s",
            .higher_is_better = device,
            .check = device ? NULL : check,
            .run = run,
            .arg = &epochs[i]};
        rc = cases[i].name ? COV_OK : COV_ENOMEM;
    }
    if (!rc)
        rc = cov_bench_run(s->b, device ? "feeding a device" : "loading", cases, COV_STRATEGIES, e);
    for (int i = 0; i < COV_STRATEGIES; i++)
        free(cases[i].name);
    for (int i = 1; i < COV_STRATEGIES && !rc && !device; i++)
        rc = add_ratios(s, i, limit, e);
    return rc;
}

/* How busy the device was over the last epochs, as it went on. */
static int chart_use(struct shared *s, const struct epoch *epochs, struct cov_err *e)
{
    struct cov_chart *c;
    int rc = cov_charts_add(&s->b->charts, COV_CHART_LINES, "loader_device_use",
                            "Use of a device over an epoch, I/O unlimited",
                            "progress of the epoch [%]", "use of the device [%]", &c, e);
    if (rc)
        return rc;
    c->top = 105;
    c->right = 100;
    for (int i = 0; i < COV_STRATEGIES && !rc; i++)
        for (int k = 0; k < USE_BINS && !rc; k++) {
            double use = 100 * epochs[i].busy[k] / epochs[i].spent[k];
            use = use < 100 ? use : 100;
            if (epochs[i].spent[k] > 0)
                rc = cov_chart_add(c, cov_strategy_names[i], (k + 0.5) * 100 / USE_BINS, use, use,
                                   use, e);
        }
    return rc;
}

static int sweep(struct shared *s, double per_chunk, struct cov_err *e)
{
    size_t n = s->o->n_threads * s->o->n_batches, k = 0;
    struct epoch *epochs = cov_calloc(n, sizeof *epochs, e);
    struct cov_bench_case *cases = cov_calloc(n, sizeof *cases, e);
    struct cov_chart *c = NULL;
    int rc = epochs && cases ? COV_OK : COV_ENOMEM;
    for (size_t t = 0; t < s->o->n_threads && !rc; t++)
        for (size_t b = 0; b < s->o->n_batches && !rc; b++, k++) {
            epochs[k] = (struct epoch){.shared = s,
                                       .strategy = COV_STRATEGY_RING,
                                       .threads = (unsigned)s->o->threads[t],
                                       .n_pairs = (size_t)(s->o->batches[b] + 1) / 2,
                                       .bytes_per_chunk = per_chunk,
                                       .seed = s->b->seed};
            cases[k] = (struct cov_bench_case){
                .name = cov_strfmt(
                    e, "loader/chunks_per_second/strategy=+ring-buffer,threads=%lld,batch=%lld",
                    (long long)s->o->threads[t], (long long)s->o->batches[b]),
                .unit = "chunks/s",
                .higher_is_better = true,
                .run = run_rate,
                .arg = &epochs[k]};
            rc = cases[k].name ? COV_OK : COV_ENOMEM;
        }
    if (!rc)
        rc = cov_bench_run(s->b, "sweeping threads and batch", cases, n, e);
    if (!rc)
        rc = cov_charts_add(&s->b->charts, COV_CHART_LINES, "loader_sweep",
                            "The ring buffer over batch and threads, I/O unlimited",
                            "chunks of a batch", "chunks/s", &c, e);
    if (c)
        c->log_x = true;
    for (size_t i = 0; i < n && !rc; i++) {
        char series[32];
        const struct cov_figure *f = cov_figures_find(&s->b->figures, cases[i].name);
        (void)snprintf(series, sizeof series, "%u thread%s", epochs[i].threads,
                       epochs[i].threads == 1 ? "" : "s");
        if (f)
            rc = cov_chart_add(c, series, (double)s->o->batches[i % s->o->n_batches], f->median,
                               f->low, f->high, e);
    }
    for (size_t i = 0; cases && i < n; i++)
        free(cases[i].name);
    free(cases);
    free(epochs);
    return rc;
}

static int measure(struct shared *s, struct cov_err *e)
{
    double per_chunk[COV_STRATEGIES];
    struct epoch *epochs = cov_calloc(COV_STRATEGIES, sizeof *epochs, e);
    int rc = epochs ? COV_OK : COV_ENOMEM;
    for (int i = 0; i < COV_STRATEGIES && !rc; i++)
        rc = measure_storage(s, (enum cov_loading_strategy)i, &per_chunk[i], e);
    for (size_t l = 0; l < s->o->n_io_limits && !rc; l++)
        rc = measure_limit(s, per_chunk, s->o->io_limits[l], false, epochs, e);
    for (size_t l = s->o->n_io_limits; l > 0 && !rc; l--)
        rc = measure_limit(s, per_chunk, s->o->io_limits[l - 1], true, epochs, e);
    if (!rc)
        rc = chart_bars(s, "epoch_seconds", "loader_epoch", "An epoch of loading", "seconds", 1, e);
    if (!rc)
        rc = chart_bars(s, "ratio_to_original", "loader_ratio",
                        "How many times as fast as the original", "times", 1, e);
    if (!rc)
        rc = chart_bars(s, "device_use", "loader_device_mean", "Mean use of a device", "percent",
                        100, e);
    /* The last that was measured was the first limit: unlimited, if that is asked for. */
    if (!rc && s->o->io_limits[0] == 0)
        rc = chart_use(s, epochs, e);
    free(epochs);
    return rc ? rc : sweep(s, per_chunk[COV_STRATEGY_RING], e);
}

int cov_bench_loader(struct cov_bench *b, const struct cov_bench_loader_options *options,
                     struct cov_err *e)
{
    struct shared s = {.b = b, .o = options, .dropped = true};
    s.of_half = cov_malloc(1 << 16, sizeof *s.of_half, e);
    for (size_t i = 0; s.of_half && i < 1 << 16; i++)
        s.of_half[i] = cov_half_to_float((uint16_t)i);
    int rc = s.of_half ? make_files(&s, e) : COV_ENOMEM;
    if (!rc)
        rc = measure(&s, e);
    if (!rc)
        rc = cov_bench_note(
            b, e,
            "Loading: %zu chunks in shuffled order, %s; the device is a stand-in that takes %.0f "
            "chunks a second; a limit of I/O is a reader that waits.",
            s.n_chunks,
            options->warm ? "the files in the system's cache"
            : s.dropped   ? "the system's cache of the files dropped before each epoch"
                          : "the system did not let its cache be dropped",
            options->device_rate);
    for (int i = 0; i <= COV_STRATEGY_PACKED; i++) {
        if (s.files[i])
            (void)remove(s.files[i]);
        free(s.files[i]);
    }
    free(s.of_half);
    return rc;
}
