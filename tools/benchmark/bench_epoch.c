/* bench_epoch.c - see bench_epoch.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_epoch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/fingerprint.h"
#include "common/base/half.h"
#include "common/base/mem.h"
#include "common/base/pool.h"
#include "common/base/ring.h"
#include "common/base/rng.h"
#include "common/h5/h5_plain.h"
#include "common/input/loader.h"
#include "common/seq/alphabet.h"
#include "tools/benchmark/machine.h"

const char *const strategy_names[STRATEGIES] = {
    "original", "+blosc", "+packed", "+device-decode", "+ring-buffer",
};

enum { MAX_SLOTS = 256 };

int epochs_init(struct epochs *all, struct cov_err *e)
{
    all->dropped = true;
    all->of_half = cov_malloc(1 << 16, sizeof *all->of_half, e);
    for (size_t i = 0; all->of_half && i < 1 << 16; i++)
        all->of_half[i] = cov_half_to_float((uint16_t)i);
    return all->of_half ? COV_OK : COV_ENOMEM;
}

void epochs_fini(struct epochs *all)
{
    for (int i = 0; i <= STRATEGY_PACKED; i++)
        free(all->files[i]); /* the other entries are aliases of the last one */
    free(all->of_half);
}

static void sleep_until(double at)
{
    double left = at - cov_clock();
    if (left <= 0)
        return;
    struct timespec t = {(time_t)left, 0};
    t.tv_nsec = (long)((left - (double)t.tv_sec) * 1e9);
    (void)nanosleep(&t, NULL);
}

/* A batch of pairs of chunks, in stored and in decoded form. */
struct batch {
    size_t n; /* pairs */
    struct cov_loader_item *items;
    struct cov_blob (*raw)[2];
    uint8_t *codes; /* [2 pairs, L] */
    size_t n_chunks;
};

/* The state of epochs over one open file. */
struct run {
    struct epoch *of;
    struct cov_loader *loader;
    struct cov_h5_plain *plain;
    struct cov_pool *pool;
    size_t L, *order; /* order: a permutation of the rows of `plain` */
    uint16_t *halves;
    float *floats; /* [2 pairs, L, 4]: a batch as passed to the device */
    struct batch batches[MAX_SLOTS];
    size_t n_slots;

    /* The current epoch. */
    double started, read_bytes, device_free, device_busy;
    double fed; /* when the device got the last batch */
    size_t chunks, total;
    bool checks;
    uint64_t checksum;
};

/* Delays the reader to keep to the I/O limit. */
static void throttle(struct run *p, double bytes)
{
    p->read_bytes += bytes;
    if (p->of->io_limit > 0)
        sleep_until(p->started + p->read_bytes / (double)p->of->io_limit);
}

static void feed_device(struct run *p, size_t n_chunks)
{
    p->chunks += n_chunks;
    if (p->of->device_rate <= 0 || n_chunks == 0)
        return;
    double needs = (double)n_chunks / p->of->device_rate, now = cov_clock();
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

static void add_checksum(struct run *p, const uint8_t *codes)
{
    if (p->checks)
        p->checksum += cov_fingerprint(1, codes, p->L);
}

/* ---------------------------------------------------------------- strategies without overlap */

static void expand_halves(const float *of_half, const uint16_t *halves, size_t n, float *floats)
{
    for (size_t i = 0; i < n; i++)
        floats[i] = of_half[halves[i]];
}

static int original(struct run *p, struct cov_err *e)
{
    int rc = COV_OK;
    size_t in_batch = 0, most = 2 * p->of->n_pairs;
    for (size_t i = 0; i < p->total && !rc; i++) {
        rc = cov_h5_plain_read(p->plain, p->order[i], p->halves, e);
        throttle(p, p->of->bytes_per_chunk);
        expand_halves(p->of->all->of_half, p->halves, 4 * p->L, p->floats + in_batch * 4 * p->L);
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
    struct run *p = arg;
    struct batch *b = &p->batches[slot];
    b->n = b->n_chunks = 0;
    while (b->n < p->of->n_pairs) {
        struct cov_loader_item *item = &b->items[b->n];
        int got = cov_loader_next(p->loader, item, b->raw[b->n], e);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        size_t k = (size_t)item->has[COV_PLUS] + item->has[COV_MINUS];
        b->n_chunks += k;
        throttle(p, (double)k * p->of->bytes_per_chunk);
        b->n++;
    }
    return b->n > 0;
}

static int decode(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct run *p = arg;
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
    struct run *p = arg;
    const struct batch *b = &p->batches[slot];
    for (size_t i = 0; i < b->n_chunks; i++)
        add_checksum(p, b->codes + i * p->L);
    feed_device(p, b->n_chunks);
    return COV_OK;
}

/* Expands codes to one-hot floats on the host. */
static void expand_codes(struct run *p, const struct batch *b)
{
    for (size_t i = 0; i < b->n_chunks * p->L; i++)
        memcpy(p->floats + 4 * i, cov_onehot_f32[b->codes[i]], 4 * sizeof(float));
}

static int in_turn(struct run *p, struct cov_err *e)
{
    int rc;
    while ((rc = fetch(p, 0, 0, e)) > 0) {
        rc = decode(p, 0, 0, e);
        if (rc)
            return rc;
        if (p->of->strategy < STRATEGY_DEVICE)
            expand_codes(p, &p->batches[0]);
        rc = hand_over(p, 0, 0, e);
        if (rc)
            return rc;
    }
    return rc;
}

/* ---------------------------------------------------------------- an epoch */

static int run_epoch(struct run *p, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch, decode, hand_over};
    int rc = COV_OK;
    p->of->all->dropped =
        machine_drop_cache(p->of->all->files[p->of->strategy]) && p->of->all->dropped;
    p->of->seed++;
    if (p->loader) {
        rc = cov_loader_rewind(p->loader, p->of->seed, e);
    } else {
        struct cov_rng rng;
        cov_rng_init(&rng, p->of->seed);
        for (size_t i = p->total; i > 1; i--) {
            size_t k = cov_rng_below(&rng, i), t = p->order[k];
            p->order[k] = p->order[i - 1];
            p->order[i - 1] = t;
        }
    }
    p->read_bytes = p->device_busy = 0;
    p->chunks = 0;
    p->started = p->fed = p->device_free = cov_clock();
    if (rc)
        return rc;
    if (p->of->strategy == STRATEGY_ORIGINAL)
        rc = original(p, e);
    else if (p->of->strategy == STRATEGY_RING)
        rc = cov_ring_run(p->pool, p->n_slots, &stages, p, NULL, e);
    else
        rc = in_turn(p, e);
    sleep_until(p->device_free);
    return rc;
}

static void close_run(struct run *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_slots; i++) {
        struct batch *b = &p->batches[i];
        for (size_t k = 0; b->raw && k < p->of->n_pairs; k++) {
            cov_blob_fini(&b->raw[k][COV_PLUS]);
            cov_blob_fini(&b->raw[k][COV_MINUS]);
        }
        free(b->raw);
        free(b->items);
        free(b->codes);
    }
    cov_loader_close(p->loader);
    cov_h5_plain_close(p->plain);
    cov_pool_free(p->pool);
    free(p->order);
    free(p->halves);
    free(p->floats);
    free(p);
}

static int open_source(struct run *p, const char *path, struct cov_err *e)
{
    if (p->of->strategy != STRATEGY_ORIGINAL) {
        const struct cov_loader_options options = {
            .genome = {.tmpdir = p->of->all->tmpdir, .n_threads = 1},
            .order = COV_ORDER_SHUFFLED,
            .seed = p->of->seed};
        int rc = cov_loader_open(path, &options, NULL, &p->loader, e);
        if (rc)
            return rc;
        p->L = cov_loader_chunk_length(p->loader);
        p->total = p->of->all->n_chunks;
        return COV_OK;
    }
    int rc = cov_h5_plain_open(path, &p->plain, &p->total, &p->L, e);
    if (rc)
        return rc;
    p->order = cov_malloc(p->total, sizeof *p->order, e);
    p->halves = cov_malloc(4 * p->L, sizeof *p->halves, e);
    for (size_t i = 0; p->order && i < p->total; i++)
        p->order[i] = i;
    return p->order && p->halves ? COV_OK : COV_ENOMEM;
}

/* The caller closes *out in any case. */
static int open_run(struct epoch *of, struct run **out, struct cov_err *e)
{
    struct run *p = *out = cov_calloc(1, sizeof *p, e);
    if (!p)
        return COV_ENOMEM;
    p->of = of;
    int rc = open_source(p, p->of->all->files[p->of->strategy], e);
    if (!rc && p->of->strategy == STRATEGY_RING)
        rc = cov_pool_new(p->of->threads, &p->pool, e);
    if (rc)
        return rc;
    p->n_slots = p->pool ? cov_ring_slots(p->pool) : 1;
    p->n_slots = p->n_slots < MAX_SLOTS ? p->n_slots : MAX_SLOTS;
    for (size_t i = 0; i < p->n_slots; i++) {
        struct batch *b = &p->batches[i];
        b->items = cov_calloc(p->of->n_pairs, sizeof *b->items, e);
        b->raw = cov_calloc(p->of->n_pairs, sizeof *b->raw, e);
        b->codes = cov_malloc(2 * p->of->n_pairs, p->L, e);
        if (!b->items || !b->raw || !b->codes)
            return COV_ENOMEM;
    }
    if (p->of->strategy < STRATEGY_DEVICE) {
        p->floats = cov_malloc(8 * p->of->n_pairs * p->L, sizeof *p->floats, e);
        if (!p->floats)
            return COV_ENOMEM;
        memset(p->floats, 0, 8 * p->of->n_pairs * p->L * sizeof *p->floats);
    }
    return COV_OK;
}

int epoch_check(void *arg, struct cov_err *e)
{
    const struct epoch *epoch = arg;
    struct epoch unlimited = *epoch;
    struct epochs *all = epoch->all;
    struct run *p;
    unlimited.io_limit = 0;
    unlimited.device_rate = 0;
    int rc = open_run(&unlimited, &p, e);
    if (!rc) {
        p->checks = true;
        rc = run_epoch(p, e);
    }
    if (!rc && all->checksum == 0)
        all->checksum = p->checksum;
    if (!rc && (p->checksum != all->checksum || p->chunks != all->n_chunks))
        rc = cov_fail(e, COV_EINPUT, "%s: loads different chunks from the other strategies",
                      strategy_names[epoch->strategy]);
    close_run(p);
    return rc;
}

int epoch_time(void *arg, double seconds, double *value, struct cov_err *e)
{
    struct epoch *epoch = arg;
    struct run *p;
    double spent = 0, busy = 0;
    size_t n = 0;
    int rc = open_run(epoch, &p, e);
    memset(epoch->busy, 0, sizeof epoch->busy);
    memset(epoch->spent, 0, sizeof epoch->spent);
    while (!rc && (n == 0 || spent < seconds)) {
        rc = run_epoch(p, e);
        spent += cov_clock() - p->started;
        busy += p->device_busy;
        n++;
    }
    *value = epoch->device_rate > 0 ? busy / spent : spent / (double)n;
    close_run(p);
    return rc;
}

int epoch_rate(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct epoch *epoch = arg;
    int rc = epoch_time(arg, seconds, value, e);
    *value = (double)epoch->all->n_chunks / *value;
    return rc;
}
