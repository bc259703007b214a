/* predict.c - see predict.h.
 *
 * With overlap, the pairs of a slot are predicted from windows that they share. A window at the edge of
 * a slot or shard is computed again for the next slot or shard, with the same result.
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
#include "common/net/net.h"
#include "common/seq/alphabet.h"
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

/* With overlap: a pair of chunks that provides bases for windows. */
struct overlap_source {
    struct cov_loader_item item;
    struct cov_blob raw[2];
};

struct overlap_window {
    struct cov_window w;
    size_t seq;
    int64_t number;
    int strand;
};

/* Pairs in flight: those of a batch, at least one. */
struct predict_slot {
    size_t n;
    struct predict_pair *pairs; /* [n_pairs] */
    /* With overlap: the windows that the pairs need, and the pairs that provide the bases of these. */
    struct overlap_source *sources;
    struct overlap_window *windows;
    size_t n_sources, cap_sources, n_windows, cap_windows;
};

/* Buffers of a worker. */
struct predict_worker {
    unsigned i;
    uint8_t *codes; /* [2 n_pairs, L]; with overlap [batch, L], of windows */
    float *values;  /* [2 n_pairs, L, D] */
    /* With overlap. */
    uint8_t *sources; /* [n_sources, 2, L]; grows. Owned */
    size_t cap_sources;
    float *window_values; /* [batch, L, D] */
    uint8_t *scratch;
    struct cov_blob out[2]; /* of a pair; grows to several times its size, so each worker has one */
};

struct predict_job {
    struct cov_loader *loader;
    struct cov_net *net;
    struct cov_predict_output *output;
    size_t overlap;                   /* bases shared by windows; 0: no windows */
    const struct cov_select *regions; /* NULL: everything is wanted */
    struct cov_progress *progress;
    bool round;
    size_t batch, n_pairs, length, n_datasets;
    unsigned n_workers;
    int64_t left;          /* chunks not fetched yet; -1: unknown */
    int64_t bases, chunks; /* fetched so far */
};

/* ---------------------------------------------------------------- windows */

/* Fetches the pairs that provide the bases of a window, unless already fetched. Windows ascend. */
static int add_sources(const struct predict_job *j, struct predict_slot *s, size_t seq,
                       const struct cov_window *w, struct cov_err *e)
{
    int64_t L = (int64_t)j->length;
    for (int64_t at = w->beg / L * L; at < w->end; at += L) {
        const struct overlap_source *last = s->n_sources ? &s->sources[s->n_sources - 1] : NULL;
        if (last && last->item.seq == seq && last->item.beg >= at)
            continue;
        size_t before = s->cap_sources;
        int rc = COV_RESERVE(&s->sources, &s->cap_sources, s->n_sources + 1, e);
        for (size_t k = before; !rc && k < s->cap_sources; k++)
            s->sources[k] = (struct overlap_source){.raw = {COV_BLOB_INIT, COV_BLOB_INIT}};
        if (!rc)
            rc = cov_loader_neighbour(j->loader, seq, at, &s->sources[s->n_sources].item,
                                      s->sources[s->n_sources].raw, e);
        if (rc)
            return rc;
        s->n_sources++;
    }
    return COV_OK;
}

static int add_window(const struct predict_job *j, struct predict_slot *s,
                      const struct cov_loader_item *item, int64_t number, struct cov_err *e)
{
    const struct cov_select *regions = j->regions;
    struct cov_window w =
        cov_window_number(item->length, (int64_t)j->length, (int64_t)j->overlap, number);
    int64_t beg, end, from = w.core_beg > item->beg ? w.core_beg : item->beg;
    int64_t to = w.core_end < item->end ? w.core_end : item->end;
    const struct overlap_window *last = s->n_windows ? &s->windows[s->n_windows - 1] : NULL;
    if ((last && last->seq == item->seq && last->number == number) ||
        (regions && !cov_select_stretch(regions, item->seq, from, to, &beg, &end)))
        return COV_OK;
    int rc = COV_RESERVE(&s->windows, &s->cap_windows, s->n_windows + 2, e);
    if (!rc)
        rc = add_sources(j, s, item->seq, &w, e);
    for (int strand = COV_PLUS; !rc && strand <= COV_MINUS; strand++)
        s->windows[s->n_windows++] = (struct overlap_window){w, item->seq, number, strand};
    return rc;
}

/* Calling thread: adds the windows of a pair, both strands, to the slot. */
static int add_windows(const struct predict_job *j, struct predict_slot *s,
                       const struct cov_loader_item *item, struct cov_err *e)
{
    int64_t L = (int64_t)j->length, N = (int64_t)j->overlap;
    int rc = COV_OK;
    if (item->beg == item->end)
        return COV_OK;
    int64_t last = cov_window_at(item->length, L, N, item->end - 1);
    for (int64_t k = cov_window_at(item->length, L, N, item->beg); !rc && k <= last; k++)
        rc = add_window(j, s, item, k, e);
    return rc;
}

/* Sorts the longest first, so that windows of similar length are computed together. */
static int by_length(const void *a, const void *b)
{
    const struct overlap_window *x = a, *y = b;
    int64_t n = x->w.end - x->w.beg, m = y->w.end - y->w.beg;
    if (n != m)
        return n > m ? -1 : 1;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->strand - y->strand;
}

static int decode_sources(const struct predict_job *j, struct predict_slot *s,
                          struct predict_worker *w, struct cov_err *e)
{
    size_t n;
    if (cov_size_mul(2 * s->n_sources, j->length, &n))
        return cov_fail(e, COV_ENOMEM, "chunks of %zu bases are too long", j->length);
    int rc = COV_RESERVE(&w->sources, &w->cap_sources, n, e);
    for (size_t k = 0; !rc && k < s->n_sources; k++) {
        uint8_t *of = w->sources + 2 * k * j->length;
        rc = cov_loader_codes(j->loader, &s->sources[k].item, s->sources[k].raw,
                              (uint8_t *const[2]){of, of + j->length}, e);
    }
    return rc;
}

/* Sets codes[0..L) to the bases of a window in its own direction, from its sources. */
static void copy_codes(const struct predict_job *j, const struct predict_slot *s,
                       const struct overlap_window *x, const uint8_t *sources, uint8_t *codes)
{
    memset(codes, COV_CODE_PAD, j->length);
    for (size_t k = 0; k < s->n_sources; k++) {
        const struct cov_loader_item *item = &s->sources[k].item;
        int64_t beg = item->beg > x->w.beg ? item->beg : x->w.beg;
        int64_t end = item->end < x->w.end ? item->end : x->w.end;
        const uint8_t *from = sources + (2 * k + (size_t)x->strand) * j->length;
        if (item->seq != x->seq || beg >= end)
            continue;
        if (x->strand == COV_PLUS)
            memcpy(codes + (beg - x->w.beg), from + (beg - item->beg), (size_t)(end - beg));
        else
            memcpy(codes + (x->w.end - end), from + (item->end - end), (size_t)(end - beg));
    }
}

/* Copies the core of a window to the pairs. */
static void copy_values(const struct predict_job *j, const struct predict_slot *s,
                        const struct overlap_window *x, const float *values, float *out)
{
    for (size_t k = 0; k < s->n; k++) {
        const struct cov_loader_item *item = &s->pairs[k].item;
        int64_t beg = item->beg > x->w.core_beg ? item->beg : x->w.core_beg;
        int64_t end = item->end < x->w.core_end ? item->end : x->w.core_end;
        float *to = out + (2 * k + (size_t)x->strand) * j->length * j->n_datasets;
        if (item->seq != x->seq || beg >= end)
            continue;
        size_t n = (size_t)(end - beg) * j->n_datasets * sizeof *to;
        if (x->strand == COV_PLUS)
            memcpy(to + (size_t)(beg - item->beg) * j->n_datasets,
                   values + (size_t)(beg - x->w.beg) * j->n_datasets, n);
        else
            memcpy(to + (size_t)(item->end - end) * j->n_datasets,
                   values + (size_t)(x->w.end - end) * j->n_datasets, n);
    }
}

/* Sets the fingerprints of the bases of the k-th pair of the slot. */
static void find_fingerprints(const struct predict_job *j, struct predict_slot *s,
                              const struct predict_worker *w, size_t k)
{
    struct predict_pair *pair = &s->pairs[k];
    for (size_t i = 0; i < s->n_sources; i++) {
        const struct cov_loader_item *item = &s->sources[i].item;
        const uint8_t *codes = w->sources + 2 * i * j->length;
        if (item->seq != pair->item.seq || item->beg != pair->item.beg)
            continue;
        for (size_t strand = COV_PLUS; strand <= COV_MINUS; strand++)
            pair->fingerprints[strand] = cov_item_fingerprint(item, codes + strand * j->length);
    }
}

/* With overlap: predicts both strands of each pair of the slot, values[2 k + strand][L][D], in the
 * strand's direction; COV_PAD_VALUE in padding and outside the regions. */
static int compute_windows(const struct predict_job *j, struct predict_slot *s,
                           struct predict_worker *w, struct cov_err *e)
{
    size_t row = j->length * j->n_datasets;
    for (size_t i = 0; i < 2 * s->n * row; i++)
        w->values[i] = COV_PAD_VALUE;
    int rc = decode_sources(j, s, w, e);
    if (s->n_windows > 0)
        qsort(s->windows, s->n_windows, sizeof *s->windows, by_length);
    for (size_t beg = 0; !rc && beg < s->n_windows; beg += j->batch) {
        size_t n = s->n_windows - beg < j->batch ? s->n_windows - beg : j->batch;
        for (size_t k = 0; k < n; k++)
            copy_codes(j, s, &s->windows[beg + k], w->sources, w->codes + k * j->length);
        rc = cov_net_forward(j->net, w->i, n, w->codes, w->window_values, e);
        for (size_t k = 0; !rc && k < n; k++)
            copy_values(j, s, &s->windows[beg + k], w->window_values + k * row, w->values);
    }
    for (size_t k = 0; !rc && k < s->n; k++)
        find_fingerprints(j, s, w, k);
    return rc;
}

/* ---------------------------------------------------------------- pairs */

/* Returns the number of pairs for a slot. Near the end slots get fewer, so that all workers finish
 * at about the same time; but at least a quarter, since small batches are slower. */
static size_t choose_pairs(const struct predict_job *j)
{
    if (j->overlap > 0 || j->left < 0 || j->n_workers == 1)
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
    s->n_sources = s->n_windows = 0;
    for (s->n = 0; s->n < n_pairs; s->n++) {
        struct predict_pair *p = &s->pairs[s->n];
        const int got = read_pair(j, p, e);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        const int rc = j->overlap > 0 ? add_windows(j, s, &p->item, e) : COV_OK;
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
            if (p->item.has[strand] || j->overlap > 0)
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

static int predict_compute(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct predict_job *j = arg;
    struct predict_slot *s = slot;
    struct predict_worker *w = worker;
    size_t n = 2 * s->n;
    int rc = j->overlap > 0 ? compute_windows(j, s, w, e) : compute_chunks(j, s, w, &n, e);
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
    for (size_t k = 0; k < s->cap_sources; k++)
        for (int strand = COV_PLUS; strand <= COV_MINUS; strand++)
            cov_blob_fini(&s->sources[k].raw[strand]);
    free(s->sources);
    free(s->windows);
}

static void predict_init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct predict_job *j = arg;
    struct predict_worker *w = worker;
    w->i = i;
    w->values = cov_arena_values(memory, 2 * j->n_pairs, j->length, j->n_datasets);
    w->scratch = cov_arena_calloc(memory, cov_predict_output_scratch(j->output), 1);
    w->codes = cov_arena_calloc(memory, j->overlap > 0 ? j->batch : 2 * j->n_pairs, j->length);
    if (j->overlap > 0)
        w->window_values = cov_arena_values(memory, j->batch, j->length, j->n_datasets);
}

static void predict_fini_worker(void *arg, void *worker)
{
    (void)arg;
    struct predict_worker *w = worker;
    free(w->sources);
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
static void choose_batch(struct predict_job *j, const struct cov_device *device, size_t wanted)
{
    size_t n_pairs = cov_loader_n_pairs(j->loader);
    size_t share = n_pairs / j->n_workers + (n_pairs % j->n_workers != 0);
    j->batch = wanted ? wanted : cov_device_batch(device, j->length);
    j->n_pairs = j->batch / 2;
    if (j->overlap > 0 && j->n_pairs < OVERLAP_PAIRS)
        j->n_pairs =
            OVERLAP_BASES / j->length < OVERLAP_PAIRS ? OVERLAP_BASES / j->length : OVERLAP_PAIRS;
    if (j->n_pairs > share)
        j->n_pairs = share;
    if (j->n_pairs == 0)
        j->n_pairs = 1;
    if (j->batch > 2 * j->n_pairs && j->overlap == 0)
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
        .genome = options->genome,
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
                            .overlap = options->overlap,
                            .n_workers = cov_pool_size(job->pool)};
    const struct cov_device *device = options->device;
    struct cov_ring_times times = {0};
    choose_batch(&j, device, options->batch);

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
