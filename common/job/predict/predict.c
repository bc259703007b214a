/* predict.c - see predict.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/predict/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fingerprint.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/compute/device_open.h"
#include "common/job/device_options.h"
#include "common/job/predict/predict_output.h"
#include "common/job/predict/predict_overlap.h"
#include "common/net/net.h"
#include "common/store/signal_file.h"

/* With overlap: number of pairs whose windows are computed together, or fewer to stay within
 * OVERLAP_BASES. The last window of such a group is computed again for the next group. */
enum { OVERLAP_PAIRS = 32, OVERLAP_BASES = 1 << 20 };

/* A pair of chunks: fetched input and encoded output. */
struct piece {
    struct cov_loader_item item;
    struct cov_blob raw[2], out[2];
    uint64_t fingerprints[2]; /* of the bases of its strands */
    char *species, *name;     /* name and species of its sequence */
    size_t cap_species, cap_name;
};

/* Pairs in flight: those of a batch, at least one. */
struct slot {
    size_t n;
    struct piece *pieces; /* [n_pairs] */
};

/* Buffers of a worker. */
struct worker {
    uint8_t *codes; /* [2 n_pairs, L] */
    float *values;  /* [2 n_pairs, L, D] */
    uint8_t *scratch;
    struct cov_blob out[2]; /* of a pair; grows to several times its size, so each worker has one */
};

struct run {
    struct cov_loader *loader;
    struct cov_net *net;
    struct cov_predict_output *output;
    struct cov_predict_overlap *overlap; /* NULL: no overlap */
    const struct cov_select *regions;    /* NULL: everything is wanted */
    struct cov_progress *progress;
    bool round;
    size_t batch, n_pairs, length, n_datasets;
    struct slot *slots;
    size_t n_slots;
    struct worker *workers;
    unsigned n_workers;
    int64_t left;          /* chunks not fetched yet; -1: unknown */
    int64_t bases, chunks; /* fetched so far */
};

/* Returns the number of pairs for a slot. Near the end slots get fewer, so that all workers finish
 * at about the same time; but at least a quarter, since small batches are slower. */
static size_t choose_pairs(const struct run *r)
{
    if (r->overlap || r->left < 0 || r->n_workers == 1)
        return r->n_pairs;
    size_t left = ((size_t)r->left + 1) / 2, least = r->n_pairs / 4;
    size_t share = left / r->n_workers + (left % r->n_workers != 0);
    share = share > least ? share : least;
    return share < 1 ? 1 : share < r->n_pairs ? share : r->n_pairs;
}

static int fetch(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct run *r = arg;
    struct slot *s = &r->slots[slot];
    const size_t n_pairs = choose_pairs(r);
    if (r->overlap)
        cov_predict_overlap_clear(r->overlap, slot);
    for (s->n = 0; s->n < n_pairs; s->n++) {
        struct piece *p = &s->pieces[s->n];
        int got = cov_loader_next(r->loader, &p->item, p->raw, e);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        int rc = r->overlap ? cov_predict_overlap_add(r->overlap, slot, &p->item, e) : COV_OK;
        if (rc)
            return rc;
        rc = cov_copy_text(&p->species, &p->cap_species, cov_loader_species(r->loader, p->item.seq),
                           e);
        if (!rc)
            rc = cov_copy_text(&p->name, &p->cap_name, cov_loader_name(r->loader, p->item.seq), e);
        if (rc)
            return rc;
        const int64_t chunks = p->item.has[COV_PLUS] + p->item.has[COV_MINUS];
        r->bases += p->item.end - p->item.beg;
        r->chunks += chunks;
        if (r->left >= 0)
            r->left -= chunks;
    }
    return s->n > 0;
}

/* Decodes all chunks of the slot into contiguous `codes`, and sets *n to their number. */
static int decode(const struct run *r, struct slot *s, uint8_t *codes, size_t *n, struct cov_err *e)
{
    *n = 0;
    for (size_t k = 0; k < s->n; k++) {
        struct piece *p = &s->pieces[k];
        uint8_t *of[2];
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++) {
            of[strand] = codes + *n * r->length;
            *n += p->item.has[strand];
        }
        int rc = cov_loader_codes(r->loader, &p->item, p->raw, of, e);
        if (rc)
            return rc;
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++)
            if (p->item.has[strand])
                p->fingerprints[strand] = cov_item_fingerprint(&p->item, of[strand]);
    }
    return COV_OK;
}

/* Masks positions outside the regions. */
static void mask(const struct run *r, const struct cov_loader_item *item, int strand, float *values)
{
    int64_t at = item->beg, beg, end;
    while (at < item->end) {
        bool found = cov_select_stretch(r->regions, item->seq, at, item->end, &beg, &end);
        int64_t stop = found ? beg : item->end;
        size_t first = (size_t)(strand == COV_PLUS ? at - item->beg : item->end - stop);
        for (size_t i = first * r->n_datasets; i < (first + (size_t)(stop - at)) * r->n_datasets;
             i++)
            values[i] = COV_SIGNAL_PAD;
        at = found ? end : item->end;
    }
}

static int encode(const struct run *r, struct slot *s, struct worker *w, struct cov_err *e)
{
    float *values = w->values;
    for (size_t k = 0; k < s->n; k++) {
        struct piece *p = &s->pieces[k];
        struct cov_predict_rows rows = {
            .fingerprints = {p->fingerprints[COV_PLUS], p->fingerprints[COV_MINUS]}};
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++) {
            rows.values[strand] = values;
            if (p->item.has[strand] && r->regions)
                mask(r, &p->item, strand, values);
            /* With overlap, a missing strand also has values. */
            if (p->item.has[strand] || r->overlap)
                values += r->length * r->n_datasets;
        }
        int rc =
            cov_predict_output_encode(r->output, &p->item, p->name, &rows, w->scratch, w->out, e);
        for (int strand = COV_PLUS; !rc && strand <= COV_MINUS; strand++)
            rc = cov_blob_copy(&p->out[strand], &w->out[strand], e);
        if (rc)
            return rc;
    }
    return COV_OK;
}

/* Without overlap: predicts all chunks of the slot into contiguous values, and sets *n to their
 * number. */
static int compute_chunks(const struct run *r, struct slot *s, unsigned worker, size_t *n,
                          struct cov_err *e)
{
    const struct worker *w = &r->workers[worker];
    int rc = decode(r, s, w->codes, n, e);
    for (size_t beg = 0; !rc && beg < *n; beg += r->batch) {
        size_t k = *n - beg < r->batch ? *n - beg : r->batch;
        rc = cov_net_forward(r->net, worker, k, w->codes + beg * r->length,
                             w->values + beg * r->length * r->n_datasets, e);
    }
    return rc;
}

static int compute(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    struct run *r = arg;
    struct slot *s = &r->slots[slot];
    struct worker *w = &r->workers[worker];
    size_t n = 2 * s->n;
    int rc = r->overlap
                 ? cov_predict_overlap_compute(r->overlap, slot, worker, r->net, w->values, e)
                 : compute_chunks(r, s, worker, &n, e);
    if (rc)
        return rc;
    for (size_t k = 0; r->overlap && k < s->n; k++)
        cov_predict_overlap_fingerprints(r->overlap, slot, worker, k, s->pieces[k].fingerprints);
    if (r->round)
        for (size_t i = 0; i < n * r->length * r->n_datasets; i++)
            w->values[i] = rintf(w->values[i]); /* rounds half to even, the default mode */
    return encode(r, s, w, e);
}

static int store(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)n;
    struct run *r = arg;
    const struct slot *s = &r->slots[slot];
    for (size_t k = 0; k < s->n; k++) {
        const struct piece *p = &s->pieces[k];
        int rc = cov_predict_output_put(r->output, &p->item, p->species, p->name, p->out, e);
        if (rc)
            return rc;
        cov_progress_add(r->progress, p->item.has[COV_PLUS] + p->item.has[COV_MINUS]);
    }
    return COV_OK;
}

static int allocate(struct run *r, struct cov_err *e)
{
    size_t row;
    if (cov_size_mul(r->length, r->n_datasets, &row) || cov_size_mul(row, 2 * r->n_pairs, &row))
        return cov_fail(e, COV_ENOMEM, "a batch of %zu chunks is too large", r->batch);
    r->slots = cov_calloc(r->n_slots, sizeof *r->slots, e);
    r->workers = cov_calloc(r->n_workers, sizeof *r->workers, e);
    if (!r->slots || !r->workers)
        return COV_ENOMEM;
    for (size_t i = 0; i < r->n_slots; i++) {
        r->slots[i].pieces = cov_calloc(r->n_pairs, sizeof *r->slots[i].pieces, e);
        if (!r->slots[i].pieces)
            return COV_ENOMEM;
    }
    for (unsigned i = 0; i < r->n_workers; i++) {
        r->workers[i].codes = cov_malloc(r->overlap ? 1 : 2 * r->n_pairs, r->length, e);
        r->workers[i].values = cov_malloc(row, sizeof(float), e);
        r->workers[i].scratch = cov_malloc(cov_predict_output_scratch(r->output), 1, e);
        if (!r->workers[i].codes || !r->workers[i].values || !r->workers[i].scratch)
            return COV_ENOMEM;
    }
    return COV_OK;
}

static void release_slot(struct slot *s, size_t n_pairs)
{
    for (size_t k = 0; s->pieces && k < n_pairs; k++) {
        struct piece *p = &s->pieces[k];
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++) {
            cov_blob_fini(&p->raw[strand]);
            cov_blob_fini(&p->out[strand]);
        }
        free(p->species);
        free(p->name);
    }
    free(s->pieces);
}

static void release(struct run *r)
{
    for (size_t i = 0; r->slots && i < r->n_slots; i++)
        release_slot(&r->slots[i], r->n_pairs);
    for (unsigned i = 0; r->workers && i < r->n_workers; i++) {
        free(r->workers[i].codes);
        free(r->workers[i].values);
        free(r->workers[i].scratch);
        cov_blob_fini(&r->workers[i].out[COV_PLUS]);
        cov_blob_fini(&r->workers[i].out[COV_MINUS]);
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
    r->left = cov_loader_n_left(r->loader);
    cov_progress_begin(r->progress, "predicting", "chunks", r->left);
    rc = cov_ring_run(pool, r->n_slots, &stages, r, times, e);
    cov_progress_end(r->progress);
    return rc;
}

/* Fills in the statistics. */
static int fill_stats(const struct run *r, const struct cov_device *device,
                      const struct cov_ring_times *times, struct cov_stats *stats,
                      struct cov_err *e)
{
    struct cov_forward_counts counts;
    cov_net_counts(r->net, &counts);
    stats->bases = r->bases;
    stats->chunks = r->chunks;
    cov_stats_add_stage(stats, "fetch", times->source);
    cov_stats_add_stage(stats, "compute", times->work);
    cov_stats_add_stage(stats, "store", times->sink);
    return cov_device_fill_stats(device, &counts, stats, e);
}

/* Chooses the chunks that a worker computes at a time, and the pairs of a slot. No worker gets room
 * for more than its share of the input. */
static void choose_batch(struct run *r, const struct cov_device *device, size_t wanted,
                         bool overlap)
{
    size_t n_pairs = cov_loader_n_pairs(r->loader);
    size_t share = n_pairs / r->n_workers + (n_pairs % r->n_workers != 0);
    r->batch = wanted ? wanted : cov_device_batch(device, r->length);
    r->n_pairs = r->batch / 2;
    if (overlap && r->n_pairs < OVERLAP_PAIRS)
        r->n_pairs =
            OVERLAP_BASES / r->length < OVERLAP_PAIRS ? OVERLAP_BASES / r->length : OVERLAP_PAIRS;
    if (r->n_pairs > share)
        r->n_pairs = share;
    if (r->n_pairs == 0)
        r->n_pairs = 1;
    if (r->batch > 2 * r->n_pairs && !overlap)
        r->batch = 2 * r->n_pairs;
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
    struct run r = {.loader = loader,
                    .regions = cov_loader_regions(loader),
                    .progress = job->progress,
                    .round = options->type != COV_PREDICTIONS_FLOAT32,
                    .length = cov_loader_chunk_length(loader),
                    .n_datasets = model->n_datasets,
                    .n_workers = cov_pool_size(job->pool),
                    .n_slots = cov_ring_slots(job->pool)};
    const struct cov_device *device = options->device;
    struct cov_ring_times times = {0};
    choose_batch(&r, device, options->batch, options->overlap > 0);

    cov_info("%s, %u thread%s; %s: %s", device->ops->describe(device), r.n_workers,
             cov_text_s(r.n_workers), model->path, model->description);
    int rc = cov_ensemble_net(model, options->device,
                              (struct cov_net_size){r.length, r.n_workers, r.batch}, &r.net, e);
    /* Only now is it known which device computes the network, and how. */
    const struct cov_predictions_options layout = cov_predict_layout(loader, model, options);
    if (rc == COV_OK && options->begin)
        rc = options->begin(options->begin_arg, device, e);
    if (rc == COV_OK && options->full)
        cov_net_compute_all(r.net);
    if (rc == COV_OK && options->overlap > 0)
        rc =
            cov_predict_overlap_new(loader,
                                    &(struct cov_predict_overlap_sizes){.overlap = options->overlap,
                                                                        .n_datasets = r.n_datasets,
                                                                        .batch = r.batch,
                                                                        .n_slots = r.n_slots,
                                                                        .n_workers = r.n_workers},
                                    &r.overlap, e);
    if (rc == COV_OK)
        rc = cov_predict_output_open(path, loader, &layout, options->tmpdir, options->journal,
                                     &r.output, e);
    if (rc == COV_OK)
        rc = run(&r, job->pool, &times, e);
    if (rc == COV_OK) {
        rc = cov_predict_output_close(r.output, e);
        r.output = NULL;
    }
    if (rc == COV_OK && job->stats)
        rc = fill_stats(&r, device, &times, job->stats, e);
    cov_predict_output_abort(r.output);
    release(&r);
    cov_predict_overlap_free(r.overlap);
    cov_net_free(r.net);
    return rc;
}
