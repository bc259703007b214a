/* attribution_mutate.c - saturation mutagenesis: y of each region with each of its bases replaced or
 * deleted.
 *
 * A slot of the ring is a piece: some consecutive places of a region. The pieces do not depend on
 * the number of threads. Each is predicted in one call, with the window as it is.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/compute/device_open.h"
#include "common/job/device_options.h"
#include "common/job/effect/edited_windows.h"
#include "common/seq/alphabet.h"

/* Most places of a piece, and most bytes of the values that a worker predicts at a time. */
enum { MOST_PLACES = 32, MOST_VALUE_BYTES = 64 << 20 };

static const uint8_t bases[4] = {COV_CODE_A, COV_CODE_C, COV_CODE_G, COV_CODE_T};

struct worker {
    uint8_t *codes; /* [window + deletion] */
    struct cov_version *versions;
    struct cov_edit *edits;
    size_t *keys; /* of each version, where its y belongs: 4 * place + column */
    size_t *n_bases;
    float *values; /* [n_versions,L,D] */
    size_t n;      /* versions */
};

struct run {
    struct cov_attribution *a;
    const struct cov_attribution_options *o;
    const struct cov_job *job;
    struct cov_edited_windows *net;
    struct worker *workers;
    size_t n_workers;
    size_t n_places, n_pieces; /* of a piece; of a region */
    size_t *pieces;            /* [n_slots]: the number of a slot's piece */
    double *without;           /* [n,length]: with deletions, y without minus y with the deletion
                                * that begins at a place */
};

static int fetch(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)e;
    struct run *r = arg;
    r->pieces[slot] = n;
    return n < r->a->n * r->n_pieces;
}

/* Adds an edit at a place of the region, which puts a base, or with NULL nothing, in place of n_old
 * bases. */
static void add_version(struct worker *w, const struct cov_attributed_region *region, size_t place,
                        size_t n_old, const uint8_t *base, size_t key)
{
    const size_t at = (size_t)(region->beg + (int64_t)place - region->window);
    w->edits[w->n] = (struct cov_edit){at, n_old, base ? base : bases, base ? 1 : 0};
    w->versions[w->n] = (struct cov_version){&w->edits[w->n], 1, region->sum_beg, region->sum_end};
    w->keys[w->n] = key;
    w->n++;
}

/* Lists the versions of the places [from, to) of region i, after that of the window as it is. */
static void list_versions(const struct run *r, struct worker *w, size_t i, size_t from, size_t to)
{
    const struct cov_attribution *a = r->a;
    const struct cov_attributed_region *region = &a->regions[i];
    const size_t n_deleted = (size_t)r->o->deletion;
    const uint8_t *codes = a->codes + i * a->length;
    w->versions[0] = (struct cov_version){.n = 0};
    w->n = 1;
    for (size_t p = from; p < to; p++) {
        if (n_deleted == 0) {
            for (size_t b = 0; b < 4; b++)
                if (codes[p] != bases[b])
                    add_version(w, region, p, 1, &bases[b], 4 * p + b);
        } else if (p + n_deleted <= a->length) {
            add_version(w, region, p, n_deleted, NULL, 4 * p);
        }
    }
}

/* Sets the scores of a place from y of the four bases. */
static void set_scores(struct cov_attribution *a, size_t i, size_t p, const double y[4])
{
    const double mean = (y[0] + y[1] + y[2] + y[3]) / 4;
    for (size_t b = 0; b < 4; b++)
        a->scores[(i * 4 + b) * a->length + p] = (float)(y[b] - mean);
}

/* Predicts the listed versions, and keeps what their edits change. */
static int predict(const struct run *r, unsigned worker, size_t i, struct cov_err *e)
{
    struct worker *w = &r->workers[worker];
    struct cov_attribution *a = r->a;
    const struct cov_attributed_region *region = &a->regions[i];
    const size_t row = r->o->window * r->o->model->n_datasets;
    const struct cov_edited_window window = {w->codes, region->n_codes, w->versions, w->n};
    double reference = 0, y[4];
    int rc = cov_edited_windows_predict(r->net, worker, &window, 1, w->values, w->n_bases, e);
    if (!rc)
        rc = cov_attribution_measure(r->o, region, w->values, w->n_bases[0], &reference, e);
    for (size_t k = 1; !rc && k < w->n; k++) {
        const size_t place = w->keys[k] / 4;
        double edited;
        rc = cov_attribution_measure(r->o, region, w->values + k * row, w->n_bases[k], &edited, e);
        if (rc)
            break;
        if (r->without) {
            r->without[i * a->length + place] = reference - edited;
            continue;
        }
        if (k == 1 || w->keys[k - 1] / 4 != place)
            for (size_t b = 0; b < 4; b++)
                y[b] = reference;
        y[w->keys[k] % 4] = edited;
        if (k + 1 == w->n || w->keys[k + 1] / 4 != place)
            set_scores(a, i, place, y);
    }
    return rc;
}

static int compute(void *arg, size_t slot, unsigned worker, struct cov_err *e)
{
    const struct run *r = arg;
    const size_t piece = r->pieces[slot], i = piece / r->n_pieces;
    const size_t from = piece % r->n_pieces * r->n_places, to = from + r->n_places;
    const struct cov_attributed_region *region = &r->a->regions[i];
    struct worker *w = &r->workers[worker];
    list_versions(r, w, i, from, to < r->a->length ? to : r->a->length);
    if (w->n == 1)
        return COV_OK;
    int rc = cov_genome_codes(r->o->genome, region->seq, region->window,
                              region->window + (int64_t)region->n_codes, w->codes, e);
    return rc ? rc : predict(r, worker, i, e);
}

static int count(void *arg, size_t slot, uint64_t n, struct cov_err *e)
{
    (void)e;
    (void)slot;
    const struct run *r = arg;
    const size_t from = n % r->n_pieces * r->n_places, left = r->a->length - from;
    cov_progress_add(r->job->progress, (int64_t)(left < r->n_places ? left : r->n_places));
    return COV_OK;
}

/* Gives each base the mean of the deletions that have it. */
static void spread_deletions(const struct run *r)
{
    struct cov_attribution *a = r->a;
    const size_t n = (size_t)r->o->deletion;
    for (size_t i = 0; i < a->n; i++)
        for (size_t p = 0; p < a->length; p++) {
            const uint8_t *codes = a->codes + i * a->length;
            const int column = cov_attribution_column(codes[p]);
            double sum = 0;
            size_t n_deletions = 0;
            for (size_t beg = p < n ? 0 : p - n + 1; beg <= p && beg + n <= a->length; beg++) {
                sum += r->without[i * a->length + beg];
                n_deletions++;
            }
            if (column >= 0)
                a->scores[(i * 4 + (size_t)column) * a->length + p] =
                    (float)(sum / (double)n_deletions);
        }
}

/* ---------------------------------------------------------------- memory */

static int allocate(struct run *r, struct cov_err *e)
{
    const struct cov_attribution_options *o = r->o;
    const size_t per_place = o->deletion ? 1 : 4;
    size_t row;
    if (cov_size_mul(o->window, o->model->n_datasets * sizeof(float), &row))
        return cov_fail(e, COV_ENOMEM, "a window of %zu bases is too large", o->window);
    r->n_places = MOST_VALUE_BYTES / row / per_place;
    r->n_places = r->n_places < 1 ? 1 : r->n_places > MOST_PLACES ? MOST_PLACES : r->n_places;
    r->n_pieces = (r->a->length + r->n_places - 1) / r->n_places;
    const size_t n_slots = cov_ring_slots(r->job->pool), n = 1 + r->n_places * per_place;
    r->pieces = cov_calloc(n_slots, sizeof *r->pieces, e);
    r->workers = cov_calloc(r->n_workers, sizeof *r->workers, e);
    if (!r->pieces || !r->workers)
        return COV_ENOMEM;
    if (o->deletion && !(r->without = cov_calloc(r->a->n * r->a->length, sizeof *r->without, e)))
        return COV_ENOMEM;
    for (size_t i = 0; i < r->n_workers; i++) {
        struct worker *w = &r->workers[i];
        w->codes = cov_malloc(o->window + (size_t)o->deletion, 1, e);
        w->versions = cov_calloc(n, sizeof *w->versions, e);
        w->edits = cov_calloc(n, sizeof *w->edits, e);
        w->keys = cov_calloc(n, sizeof *w->keys, e);
        w->n_bases = cov_calloc(n, sizeof *w->n_bases, e);
        w->values = cov_malloc(n, row, e);
        if (!w->codes || !w->versions || !w->edits || !w->keys || !w->n_bases || !w->values)
            return COV_ENOMEM;
    }
    return COV_OK;
}

static void release(struct run *r)
{
    for (size_t i = 0; r->workers && i < r->n_workers; i++) {
        struct worker *w = &r->workers[i];
        free(w->codes);
        free(w->versions);
        free(w->edits);
        free(w->keys);
        free(w->n_bases);
        free(w->values);
    }
    free(r->workers);
    free(r->pieces);
    free(r->without);
    cov_edited_windows_free(r->net);
}

int cov_attribution_mutate(struct cov_attribution *a, const struct cov_attribution_options *o,
                           const struct cov_job *job, struct cov_err *e)
{
    static const struct cov_ring_stages stages = {fetch, compute, count};
    const size_t batch = o->batch ? o->batch : cov_device_batch(o->device, o->window);
    struct run r = {.a = a, .o = o, .job = job, .n_workers = cov_pool_size(job->pool)};
    const struct cov_edited_options edited = {o->window, (unsigned)r.n_workers, batch, o->full};
    struct cov_ring_times times = {0};
    struct cov_forward_counts counts;
    int rc = cov_edited_windows_new(o->model, o->device, &edited, &r.net, e);
    if (!rc)
        rc = allocate(&r, e);
    cov_progress_begin(job->progress, "scoring", "bases", (int64_t)(a->n * a->length));
    if (!rc)
        rc = cov_ring_run(job->pool, cov_ring_slots(job->pool), &stages, &r, &times, e);
    cov_progress_end(job->progress);
    if (!rc && r.without)
        spread_deletions(&r);
    if (!rc) {
        cov_edited_windows_counts(r.net, &counts);
        cov_stats_add_stage(job->stats, "compute", times.work);
        rc = cov_device_fill_stats(o->device, &counts, job->stats, e);
    }
    release(&r);
    return rc;
}
