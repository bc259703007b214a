/* predict.c - see predict.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/predict/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/compute/device_open.h"
#include "common/file/hash.h"
#include "common/input/device_options.h"
#include "common/job/predict/predict_output.h"
#include "common/job/predict/predict_overlap.h"
#include "common/net/net.h"
#include "common/signal/signal_file.h"

/* With overlap: number of pairs whose windows are computed together, or fewer to stay within
 * OVERLAP_BASES. The last window of such a group is computed again for the next group. */
enum { OVERLAP_PAIRS = 32, OVERLAP_BASES = 1 << 20 };

/* A pair of chunks: fetched input and encoded output. */
struct predict_pair {
    struct cov_loader_item item;
    struct cov_blob raw[2], out[2];
    uint64_t fingerprints[2]; /* of the bases of its strands */
    char *species, *name;     /* name and species of its sequence */
    size_t cap_species, cap_name;
};

/* Pairs in flight: those of a batch, at least one. */
struct predict_slot {
    size_t n;
    struct predict_pair *pairs;      /* [n_pairs] */
    struct cov_overlap_slot overlap; /* the same pairs, with overlap */
};

/* Buffers of a worker. */
struct predict_worker {
    struct cov_overlap_worker overlap;
    unsigned i;
    uint8_t *codes; /* [2 n_pairs, L] */
    float *values;  /* [2 n_pairs, L, D] */
    uint8_t *scratch;
    struct cov_blob out[2]; /* of a pair; grows to several times its size, so each worker has one */
};

struct predict_job {
    struct cov_loader *loader;
    struct cov_net *net;
    struct cov_predict_output *output;
    struct cov_overlap overlap;       /* no loader: no overlap */
    const struct cov_select *regions; /* NULL: everything is wanted */
    struct cov_progress *progress;
    bool round;
    size_t batch, n_pairs, length, n_datasets;
    unsigned n_workers;
    int64_t left;          /* chunks not fetched yet; -1: unknown */
    int64_t bases, chunks; /* fetched so far */
};

/* Returns the number of pairs for a slot. Near the end slots get fewer, so that all workers finish
 * at about the same time; but at least a quarter, since small batches are slower. */
static size_t choose_pairs(const struct predict_job *j)
{
    if (j->overlap.loader || j->left < 0 || j->n_workers == 1)
        return j->n_pairs;
    size_t left = ((size_t)j->left + 1) / 2, least = j->n_pairs / 4;
    size_t share = left / j->n_workers + (left % j->n_workers != 0);
    share = share > least ? share : least;
    return share < 1 ? 1 : share < j->n_pairs ? share : j->n_pairs;
}

/* Reads the next pair with its texts. Returns 1, 0 at the end, or a failure. */
static int read_pair(struct predict_job *j, struct predict_pair *p, struct cov_err *e)
{
    const int got = cov_loader_next(j->loader, &p->item, p->raw, e);
    if (got <= 0)
        return got;
    int rc =
        cov_copy_text(&p->species, &p->cap_species, cov_loader_species(j->loader, p->item.seq), e);
    if (!rc)
        rc = cov_copy_text(&p->name, &p->cap_name, cov_loader_name(j->loader, p->item.seq), e);
    return rc ? rc : got;
}

static int predict_fetch(void *arg, void *slot, struct cov_err *e)
{
    struct predict_job *j = arg;
    struct predict_slot *s = slot;
    const size_t n_pairs = choose_pairs(j);
    cov_overlap_clear(&s->overlap);
    for (s->n = 0; s->n < n_pairs; s->n++) {
        struct predict_pair *p = &s->pairs[s->n];
        const int got = read_pair(j, p, e);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        const int rc =
            j->overlap.loader ? cov_overlap_add(&j->overlap, &s->overlap, &p->item, e) : COV_OK;
        if (rc)
            return rc;
        const int64_t chunks = p->item.has[COV_PLUS] + p->item.has[COV_MINUS];
        j->bases += p->item.end - p->item.beg;
        j->chunks += chunks;
        if (j->left >= 0)
            j->left -= chunks;
    }
    return s->n > 0;
}

/* Decodes all chunks of the slot into contiguous `codes`, and sets *n to their number. */
static int decode_pairs(const struct predict_job *j, struct predict_slot *s, uint8_t *codes,
                        size_t *n, struct cov_err *e)
{
    *n = 0;
    for (size_t k = 0; k < s->n; k++) {
        struct predict_pair *p = &s->pairs[k];
        uint8_t *of[2];
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++) {
            of[strand] = codes + *n * j->length;
            *n += p->item.has[strand];
        }
        int rc = cov_loader_codes(j->loader, &p->item, p->raw, of, e);
        if (rc)
            return rc;
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++)
            if (p->item.has[strand])
                p->fingerprints[strand] = cov_item_fingerprint(&p->item, of[strand]);
    }
    return COV_OK;
}

/* Masks positions outside the regions. */
static void mask_regions(const struct predict_job *j, const struct cov_loader_item *item,
                         int strand, float *values)
{
    int64_t at = item->beg, beg, end;
    while (at < item->end) {
        bool found = cov_select_stretch(j->regions, item->seq, at, item->end, &beg, &end);
        int64_t stop = found ? beg : item->end;
        size_t first = (size_t)(strand == COV_PLUS ? at - item->beg : item->end - stop);
        for (size_t i = first * j->n_datasets; i < (first + (size_t)(stop - at)) * j->n_datasets;
             i++)
            values[i] = COV_SIGNAL_PAD;
        at = found ? end : item->end;
    }
}

static int encode_pairs(const struct predict_job *j, struct predict_slot *s,
                        struct predict_worker *w, struct cov_err *e)
{
    float *values = w->values;
    for (size_t k = 0; k < s->n; k++) {
        struct predict_pair *p = &s->pairs[k];
        struct cov_predict_rows rows = {
            .fingerprints = {p->fingerprints[COV_PLUS], p->fingerprints[COV_MINUS]}};
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++) {
            rows.values[strand] = values;
            if (p->item.has[strand] && j->regions)
                mask_regions(j, &p->item, strand, values);
            /* With overlap, a missing strand also has values. */
            if (p->item.has[strand] || j->overlap.loader)
                values += j->length * j->n_datasets;
        }
        int rc =
            cov_predict_output_encode(j->output, &p->item, p->name, &rows, w->scratch, w->out, e);
        for (int strand = COV_PLUS; !rc && strand <= COV_MINUS; strand++)
            rc = cov_blob_copy(&p->out[strand], &w->out[strand], e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* Without overlap: predicts all chunks of the slot into contiguous values, and sets *n to their
 * number. */
static int compute_chunks(const struct predict_job *j, struct predict_slot *s,
                          struct predict_worker *w, size_t *n, struct cov_err *e)
{
    int rc = decode_pairs(j, s, w->codes, n, e);
    for (size_t beg = 0; !rc && beg < *n; beg += j->batch) {
        size_t k = *n - beg < j->batch ? *n - beg : j->batch;
        rc = cov_net_forward(j->net, w->i, k, w->codes + beg * j->length,
                             w->values + beg * j->length * j->n_datasets, e);
    }
    return rc;
}

/* With overlap: the same, for both strands of each pair. */
static int compute_windows(const struct predict_job *j, struct predict_slot *s,
                           struct predict_worker *w, struct cov_err *e)
{
    int rc = cov_overlap_compute(&j->overlap, &s->overlap, &w->overlap, j->net, w->values, e);
    for (size_t k = 0; !rc && k < s->n; k++)
        cov_overlap_fingerprints(&j->overlap, &s->overlap, &w->overlap, k,
                                 s->pairs[k].fingerprints);
    return rc;
}

static int predict_compute(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct predict_job *j = arg;
    struct predict_slot *s = slot;
    struct predict_worker *w = worker;
    size_t n = 2 * s->n;
    int rc = j->overlap.loader ? compute_windows(j, s, w, e) : compute_chunks(j, s, w, &n, e);
    if (rc)
        return rc;
    if (j->round)
        for (size_t i = 0; i < n * j->length * j->n_datasets; i++)
            w->values[i] = rintf(w->values[i]); /* rounds half to even, the default mode */
    return encode_pairs(j, s, w, e);
}

static int predict_store(void *arg, void *slot, struct cov_err *e)
{
    struct predict_job *j = arg;
    const struct predict_slot *s = slot;
    for (size_t k = 0; k < s->n; k++) {
        const struct predict_pair *p = &s->pairs[k];
        int rc = cov_predict_output_put(j->output, &p->item, p->species, p->name, p->out, e);
        if (rc)
            return rc;
        cov_progress_add(j->progress, p->item.has[COV_PLUS] + p->item.has[COV_MINUS]);
    }
    return COV_OK;
}

static void predict_init_slot(void *arg, void *slot, struct cov_arena *memory)
{
    const struct predict_job *j = arg;
    struct predict_slot *s = slot;
    s->pairs = cov_arena_calloc(memory, j->n_pairs, sizeof *s->pairs);
}

static void predict_fini_slot(void *arg, void *slot)
{
    const struct predict_job *j = arg;
    struct predict_slot *s = slot;
    for (size_t k = 0; s->pairs && k < j->n_pairs; k++) {
        struct predict_pair *p = &s->pairs[k];
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++) {
            cov_blob_fini(&p->raw[strand]);
            cov_blob_fini(&p->out[strand]);
        }
        free(p->species);
        free(p->name);
    }
    cov_overlap_slot_fini(&s->overlap);
}

static void predict_init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct predict_job *j = arg;
    struct predict_worker *w = worker;
    w->i = w->overlap.i = i;
    w->values = cov_arena_values(memory, 2 * j->n_pairs, j->length, j->n_datasets);
    w->scratch = cov_arena_calloc(memory, cov_predict_output_scratch(j->output), 1);
    if (j->overlap.loader) {
        w->overlap.codes = cov_arena_calloc(memory, j->batch, j->length);
        w->overlap.values = cov_arena_values(memory, j->batch, j->length, j->n_datasets);
    } else {
        w->codes = cov_arena_calloc(memory, 2 * j->n_pairs, j->length);
    }
}

static void predict_fini_worker(void *arg, void *worker)
{
    (void)arg;
    struct predict_worker *w = worker;
    free(w->overlap.sources);
    cov_blob_fini(&w->out[COV_PLUS]);
    cov_blob_fini(&w->out[COV_MINUS]);
}

static int predict_run(struct predict_job *j, struct cov_pool *pool, struct cov_ring_times *times,
                       struct cov_err *e)
{
    static const struct cov_ring_job ring = {.fetch = predict_fetch,
                                             .work = predict_compute,
                                             .store = predict_store,
                                             .slot_bytes = sizeof(struct predict_slot),
                                             .worker_bytes = sizeof(struct predict_worker),
                                             .init_slot = predict_init_slot,
                                             .fini_slot = predict_fini_slot,
                                             .init_worker = predict_init_worker,
                                             .fini_worker = predict_fini_worker};
    j->left = cov_loader_n_left(j->loader);
    cov_progress_begin(j->progress, "predicting", "chunks", j->left);
    int rc = cov_ring_run_job(pool, &ring, j, times, e);
    cov_progress_end(j->progress);
    return rc;
}

/* Fills in the statistics. */
static int fill_predict_stats(const struct predict_job *j, const struct cov_device *device,
                              const struct cov_ring_times *times, struct cov_stats *stats,
                              struct cov_err *e)
{
    struct cov_forward_counts counts;
    cov_net_counts(j->net, &counts);
    stats->bases = j->bases;
    stats->chunks = j->chunks;
    cov_stats_add_stage(stats, "fetch", times->source);
    cov_stats_add_stage(stats, "compute", times->work);
    cov_stats_add_stage(stats, "store", times->sink);
    return cov_device_fill_stats(device, &counts, stats, e);
}

/* Chooses the chunks that a worker computes at a time, and the pairs of a slot. No worker gets room
 * for more than its share of the input. */
static void choose_batch(struct predict_job *j, const struct cov_device *device, size_t wanted,
                         bool overlap)
{
    size_t n_pairs = cov_loader_n_pairs(j->loader);
    size_t share = n_pairs / j->n_workers + (n_pairs % j->n_workers != 0);
    j->batch = wanted ? wanted : cov_device_batch(device, j->length);
    j->n_pairs = j->batch / 2;
    if (overlap && j->n_pairs < OVERLAP_PAIRS)
        j->n_pairs =
            OVERLAP_BASES / j->length < OVERLAP_PAIRS ? OVERLAP_BASES / j->length : OVERLAP_PAIRS;
    if (j->n_pairs > share)
        j->n_pairs = share;
    if (j->n_pairs == 0)
        j->n_pairs = 1;
    if (j->batch > 2 * j->n_pairs && !overlap)
        j->batch = 2 * j->n_pairs;
}

/* Returns a fingerprint of the selected bases, independent of how regions were given; 0 without
 * regions. */
static uint64_t fingerprint_regions(const struct cov_loader *loader)
{
    const struct cov_select *regions = cov_loader_regions(loader);
    const struct cov_grid *grid = cov_loader_grid(loader);
    uint64_t h = 0;
    for (size_t s = 0; regions && s < cov_grid_n_seqs(grid); s++) {
        int64_t length = cov_grid_seq_length(grid, s), beg, end, next_beg, next_end;
        bool found = cov_select_stretch(regions, s, 0, length, &beg, &end);
        while (found) {
            found = cov_select_stretch(regions, s, end, length, &next_beg, &next_end);
            if (found && next_beg == end) { /* merge adjacent regions */
                end = next_end;
                continue;
            }
            const int64_t region[3] = {(int64_t)s, beg, end};
            h = cov_fingerprint(h, region, sizeof region);
            beg = next_beg;
            end = next_end;
        }
    }
    return h;
}

struct cov_predictions_options cov_predict_layout(const struct cov_loader *loader,
                                                  const struct cov_ensemble *model,
                                                  const struct cov_predict_options *options)
{
    return (struct cov_predictions_options){
        .model_name = model->path,
        .datasets = (const char *const *)model->datasets,
        .n_datasets = model->n_datasets,
        .type = options->type,
        .compression = {COV_CODEC_GZIP, 0},
        .has_regions = cov_loader_regions(loader) != NULL,
        .regions = fingerprint_regions(loader),
        .overlap = options->overlap,
        .shard = options->shard,
        .made = {.tool = "covpredict",
                 .command = options->command,
                 .precision = cov_device_recorded_precision(options->device),
                 .device = options->device->ops->name,
                 .model_sha256 = model->sha256},
    };
}

int cov_predict(struct cov_loader *loader, const struct cov_ensemble *model,
                const struct cov_predict_options *options, const char *path,
                const struct cov_job *job, struct cov_err *e)
{
    struct predict_job j = {.loader = loader,
                            .regions = cov_loader_regions(loader),
                            .progress = job->progress,
                            .round = options->type != COV_PREDICTIONS_FLOAT32,
                            .length = cov_loader_chunk_length(loader),
                            .n_datasets = model->n_datasets,
                            .n_workers = cov_pool_size(job->pool)};
    const struct cov_device *device = options->device;
    struct cov_ring_times times = {0};
    choose_batch(&j, device, options->batch, options->overlap > 0);
    if (options->overlap > 0)
        j.overlap = (struct cov_overlap){loader, j.length, options->overlap, j.n_datasets, j.batch};

    cov_info("%s, %u thread%s; %s: %s", device->ops->describe(device), j.n_workers,
             cov_text_s(j.n_workers), model->path, model->description);
    int rc = cov_ensemble_net(model, options->device,
                              (struct cov_net_size){j.length, j.n_workers, j.batch}, &j.net, e);
    /* Only now is it known which device computes the network, and how. */
    const struct cov_predictions_options layout = cov_predict_layout(loader, model, options);
    if (rc == COV_OK && options->begin)
        rc = options->begin(options->begin_arg, device, e);
    if (rc == COV_OK && options->full)
        cov_net_compute_all(j.net);
    if (rc == COV_OK)
        rc = cov_predict_output_open(path, loader, &layout, options->tmpdir, options->journal,
                                     &j.output, e);
    if (rc == COV_OK)
        rc = predict_run(&j, job->pool, &times, e);
    if (rc == COV_OK) {
        rc = cov_predict_output_close(j.output, e);
        j.output = NULL;
    }
    if (rc == COV_OK && job->stats)
        rc = fill_predict_stats(&j, device, &times, job->stats, e);
    cov_predict_output_abort(j.output);
    cov_net_free(j.net);
    return rc;
}
