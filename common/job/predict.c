/* predict.c - see predict.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/predict.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/net/net.h"

/* Chunks a worker computes at a time unless it is said: what the LSTM's matrix products want; fewer
 * where chunks are so long that their bases are more than BATCH_BASES. */
enum { DEFAULT_BATCH = 16, BATCH_BASES = 1 << 20 };

/* What is in flight: a batch of chunks, as fetched and as encoded. */
struct slot {
    size_t first, n;
    struct cov_blob *raw; /* [batch] */
    struct cov_blob *out; /* [batch] */
};

/* What a worker computes in. */
struct worker {
    uint8_t *codes; /* [batch, L] */
    float *values;  /* [batch, L, D] */
};

struct run {
    struct cov_source *source;
    const struct cov_grid *grid;
    struct cov_net *net;
    struct cov_predictions_writer *writer;
    struct cov_progress *progress;
    bool round;
    size_t batch, length, n_datasets, n_chunks, next;
    struct slot *slots;
    size_t n_slots;
    struct worker *workers;
    unsigned n_workers;
};

static int fetch(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct run *r = arg;
    struct slot *s = &r->slots[slot];
    s->first = r->next;
    s->n = r->n_chunks - r->next < r->batch ? r->n_chunks - r->next : r->batch;
    for (size_t k = 0; k < s->n; k++) {
        int rc = cov_source_fetch(r->source, s->first + k, &s->raw[k], e);
        if (rc)
            return rc;
    }
    r->next += s->n;
    return s->n > 0;
}

static int compute(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct run *r = arg;
    struct slot *s = &r->slots[slot];
    struct worker *w = &r->workers[worker];
    size_t row = r->length * r->n_datasets;
    for (size_t k = 0; k < s->n; k++) {
        int rc = cov_source_codes(r->source, s->first + k, &s->raw[k], w->codes + k * r->length, e);
        if (rc)
            return rc;
    }
    int rc = cov_net_forward(r->net, worker, s->n, w->codes, w->values, e);
    if (rc)
        return rc;
    if (r->round)
        for (size_t i = 0; i < s->n * row; i++)
            w->values[i] = rintf(w->values[i]); /* half to even: the default rounding mode */
    for (size_t k = 0; k < s->n; k++) {
        rc = cov_predictions_writer_encode(r->writer, s->first + k, w->values + k * row, &s->out[k],
                                           e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

static int store(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct run *r = arg;
    struct slot *s = &r->slots[slot];
    for (size_t k = 0; k < s->n; k++) {
        int rc = cov_predictions_writer_put(r->writer, s->first + k, &s->out[k], e);
        if (rc)
            return rc;
    }
    cov_progress_add(r->progress, (int64_t)s->n);
    return COV_OK;
}

static int allocate(struct run *r, struct cov_err *e)
{
    size_t row;
    if (cov_size_mul(r->length, r->n_datasets, &row) || cov_size_mul(row, r->batch, &row))
        return cov_fail(e, COV_ENOMEM, "a batch of %zu chunks is too large", r->batch);
    r->slots = cov_calloc(r->n_slots, sizeof *r->slots, e);
    r->workers = cov_calloc(r->n_workers, sizeof *r->workers, e);
    if (!r->slots || !r->workers)
        return COV_ENOMEM;
    for (size_t i = 0; i < r->n_slots; i++) {
        r->slots[i].raw = cov_calloc(r->batch, sizeof *r->slots[i].raw, e);
        r->slots[i].out = cov_calloc(r->batch, sizeof *r->slots[i].out, e);
        if (!r->slots[i].raw || !r->slots[i].out)
            return COV_ENOMEM;
    }
    for (unsigned i = 0; i < r->n_workers; i++) {
        r->workers[i].codes = cov_malloc(r->batch, r->length, e);
        r->workers[i].values = cov_malloc(row, sizeof(float), e);
        if (!r->workers[i].codes || !r->workers[i].values)
            return COV_ENOMEM;
    }
    return COV_OK;
}

static void release(struct run *r)
{
    for (size_t i = 0; r->slots && i < r->n_slots; i++)
        for (size_t k = 0; k < r->batch; k++) {
            if (r->slots[i].raw)
                cov_blob_fini(&r->slots[i].raw[k]);
            if (r->slots[i].out)
                cov_blob_fini(&r->slots[i].out[k]);
        }
    for (size_t i = 0; r->slots && i < r->n_slots; i++) {
        free(r->slots[i].raw);
        free(r->slots[i].out);
    }
    for (unsigned i = 0; r->workers && i < r->n_workers; i++) {
        free(r->workers[i].codes);
        free(r->workers[i].values);
    }
    free(r->slots);
    free(r->workers);
}

static int run(struct run *r, struct cov_pool *pool, struct cov_ring_times *times,
               struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch, compute, store};
    int rc = allocate(r, e);
    if (rc)
        return rc;
    cov_progress_begin(r->progress, "predicting", "chunks", (int64_t)r->n_chunks);
    rc = cov_ring_run(pool, r->n_slots, &stages, r, times, e);
    cov_progress_end(r->progress);
    return rc;
}

/* What the run was, for --stats. */
static int note(const struct run *r, const char *device, const struct cov_ring_times *times,
                struct cov_stats *stats, struct cov_err *e)
{
    stats->device = cov_strdup(device, e);
    if (!stats->device)
        return COV_ENOMEM;
    stats->bases = 0;
    for (size_t i = 0; i < cov_grid_n_seqs(r->grid); i++)
        stats->bases += cov_grid_seq_length(r->grid, i);
    stats->chunks = (int64_t)r->n_chunks;
    stats->positions_computed = (int64_t)(r->n_chunks * r->length);
    cov_stats_add_stage(stats, "fetch", times->source);
    cov_stats_add_stage(stats, "compute", times->work);
    cov_stats_add_stage(stats, "store", times->sink);
    return COV_OK;
}

/* No worker needs room for more chunks than its share of all. */
static size_t choose_batch(size_t wanted, size_t length, size_t n_chunks, unsigned n_workers)
{
    size_t share = n_chunks / n_workers + (n_chunks % n_workers != 0);
    size_t batch = wanted ? wanted : DEFAULT_BATCH;
    while (!wanted && batch > 1 && batch > BATCH_BASES / length)
        batch /= 2;
    return batch < share || share == 0 ? batch : share;
}

int cov_predict(struct cov_source *source, const struct cov_model *model, struct cov_pool *pool,
                const struct cov_predict_options *options, const char *path,
                struct cov_progress *progress, struct cov_stats *stats, struct cov_err *e)
{
    struct run r = {.source = source,
                    .grid = cov_source_grid(source),
                    .progress = progress,
                    .round = options->type != COV_SIGNAL_FLOAT32,
                    .n_datasets = (size_t)model->hp.output_size,
                    .n_workers = cov_pool_size(pool),
                    .n_slots = cov_ring_slots(pool)};
    struct cov_device *device = NULL;
    struct cov_ring_times times = {0};
    r.length = cov_grid_chunk_length(r.grid);
    r.n_chunks = cov_grid_n_chunks(r.grid);
    r.batch = choose_batch(options->batch, r.length, r.n_chunks, r.n_workers);
    const struct cov_predictions_options layout = {
        .model_name = model->path,
        .datasets = (const char *const *)model->datasets,
        .n_datasets = r.n_datasets,
        .type = options->type,
        .compression = {COV_CODEC_GZIP, 0},
    };

    int rc = cov_device_open_cpu(options->kernels, &device, e);
    if (rc)
        goto out;
    cov_info("%s, %u thread%s; %s: %s", device->ops->describe(device), r.n_workers,
             r.n_workers == 1 ? "" : "s", model->path, model->description);
    rc = cov_net_new(device, &model->hp, model->block, r.length, r.n_workers, r.batch, &r.net, e);
    if (rc == COV_OK)
        rc = cov_predictions_writer_new(path, r.grid, &layout, &r.writer, e);
    if (rc == COV_OK)
        rc = run(&r, pool, &times, e);
    if (rc == COV_OK) {
        rc = cov_predictions_writer_close(r.writer, e);
        r.writer = NULL;
    }
    if (rc == COV_OK && stats)
        rc = note(&r, device->ops->describe(device), &times, stats, e);
out:
    cov_predictions_writer_abort(r.writer);
    release(&r);
    cov_net_free(r.net);
    cov_device_close(device);
    return rc;
}
