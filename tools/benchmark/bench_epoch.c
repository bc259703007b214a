/* bench_epoch.c - see bench_epoch.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench_epoch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/half.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/base/ring.h"
#include "common/base/rng.h"
#include "common/chunk/chunk_file.h"
#include "common/file/hash.h"
#include "common/h5/h5.h"
#include "common/seq/alphabet.h"
#include "tools/benchmark/machine.h"

const char *const strategy_names[STRATEGIES] = {
    "original", "+blosc", "+packed", "+device-decode", "+ring-buffer",
};

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
    p->read_bytes += p->of->bytes_per_chunk;
    if (p->of->io_limit > 0)
        sleep_until(p->started + p->read_bytes / (double)p->of->io_limit);
}

static void feed_device(struct epochs_run *p, size_t n_chunks)
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

/* ---------------------------------------------------------------- stages */

static int fetch_plain(struct epochs_run *p, const struct batch *b, struct cov_err *e)
{
    const float *of_half = p->of->all->of_half;
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
    p->of->all->dropped =
        machine_drop_cache(p->of->all->files[p->of->strategy]) && p->of->all->dropped;
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
    int rc = open_source(p, of->all->files[of->strategy], e);
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

int epoch_check(void *arg, struct cov_err *e)
{
    const struct epoch *epoch = arg;
    struct epoch unlimited = *epoch;
    struct epochs *all = epoch->all;
    struct epochs_run p;
    unlimited.io_limit = 0;
    unlimited.device_rate = 0;
    int rc = open_run(&unlimited, &p, e);
    if (!rc) {
        p.checks = true;
        rc = run_epoch(&p, e);
    }
    if (!rc && all->checksum == 0)
        all->checksum = p.checksum;
    if (!rc && (p.checksum != all->checksum || p.chunks != all->n_chunks))
        rc = cov_fail(e, COV_EINPUT, "%s: loads different chunks from the other strategies",
                      strategy_names[epoch->strategy]);
    close_run(&p);
    return rc;
}

int epoch_time(void *arg, double seconds, double *value, struct cov_err *e)
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
    *value = epoch->device_rate > 0 ? busy / spent : spent / (double)n;
    close_run(&p);
    return rc;
}

int epoch_rate(void *arg, double seconds, double *value, struct cov_err *e)
{
    const struct epoch *epoch = arg;
    int rc = epoch_time(arg, seconds, value, e);
    *value = (double)epoch->all->n_chunks / *value;
    return rc;
}
