/* attribution.c - regions, and their scores by saturation mutagenesis; see attribution.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/attribution.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/ring.h"
#include "common/base/text.h"
#include "common/compute/device_open.h"
#include "common/input/device_options.h"
#include "common/job/effect/alleles.h"
#include "common/job/effect/edited_windows.h"
#include "common/seq/alphabet.h"
#include "common/seq/regions.h"

int cov_attribution_column(uint8_t code)
{
    switch (code) {
    case COV_CODE_A:
        return 0;
    case COV_CODE_C:
        return 1;
    case COV_CODE_G:
        return 2;
    case COV_CODE_T:
        return 3;
    default:
        return -1;
    }
}

float cov_attribution_of_base(const struct cov_attribution *a, size_t r, size_t i)
{
    const int column = cov_attribution_column(a->codes[r * a->length + i]);
    return column < 0 ? 0.0F : a->scores[(r * 4 + (size_t)column) * a->length + i];
}

void cov_attribution_add_up(const struct cov_attribution *a, size_t r, int64_t beg, size_t n,
                            double *sums, uint32_t *counts)
{
    const struct cov_attributed_region *region = &a->regions[r];
    const int64_t end = beg + (int64_t)n;
    const int64_t from = beg > region->beg ? beg : region->beg;
    const int64_t to = end < region->end ? end : region->end;
    for (int64_t at = from; at < to; at++) {
        const size_t i = (size_t)(at - region->beg);
        if (cov_attribution_column(a->codes[r * a->length + i]) < 0)
            continue;
        sums[at - beg] += (double)cov_attribution_of_base(a, r, i);
        counts[at - beg]++;
    }
}

/* ---------------------------------------------------------------- regions */

struct region_reader {
    struct cov_attribution *a;
    const struct cov_attribution_options *o;
    struct cov_effect_genome genome;
    size_t cap;
};

/* Returns the sequences of the genome, for a message. */
static struct cov_listing list_sequences(const struct region_reader *r)
{
    struct cov_listing names = {.text = ""};
    for (size_t i = 0; i < r->o->genome->n_seqs; i++)
        cov_listing_add(&names, r->o->genome->names[i]);
    return names;
}

/* Returns x, or 0 or `most` if it is outside of them; 0 if most < 0. */
static int64_t clip(int64_t x, int64_t most)
{
    x = x < most ? x : most;
    return x > 0 ? x : 0;
}

/* Adds the region [beg, end) of a sequence, with its window and its summed positions. Messages begin
 * with the fault. */
static int add_region(struct region_reader *r, size_t seq, int64_t beg, int64_t end,
                      const char *name, struct cov_err *e)
{
    const struct cov_attribution_options *o = r->o;
    const int64_t L = (int64_t)o->window, length = o->genome->lengths[seq];
    end = end < length ? end : length;
    const int64_t n = o->length ? o->length : end - beg;
    if (beg >= length)
        return cov_fail(e, COV_EINPUT,
                        "begins past the end of the sequence, which has %" PRId64 " bases", length);
    if (n > length)
        return cov_fail(e, COV_EINPUT, "the sequence has %" PRId64 " bases, fewer than --length",
                        length);
    if (n > L)
        return cov_fail(e, COV_EINPUT,
                        "has %" PRId64 " bases, more than --window; use --length or a larger "
                        "--window",
                        n);
    if (n < o->deletion)
        return cov_fail(e, COV_EINPUT, "has %" PRId64 " bases, fewer than --deletions", n);
    if (r->a->n > 0 && (size_t)n != r->a->length)
        return cov_fail(e, COV_EINPUT,
                        "has %" PRId64 " bases, but the first region has %zu; use --length", n,
                        r->a->length);
    int rc = COV_RESERVE(&r->a->regions, &r->cap, r->a->n + 1, e);
    if (rc)
        return rc;
    struct cov_attributed_region *region = &r->a->regions[r->a->n++];
    *region = (struct cov_attributed_region){.seq = seq, .name = name};
    r->a->length = (size_t)n;
    region->beg = clip(beg + (end - beg) / 2 - n / 2, length - n);
    region->end = region->beg + n;
    const int64_t middle = region->beg + n / 2;
    region->window = clip(middle - L / 2, length - L);
    const int64_t left = length - region->window, needed = L + o->deletion;
    region->n_codes = (size_t)(left < needed ? left : needed);
    const int64_t from = middle - o->width / 2 - region->window, to = from + o->width;
    region->sum_beg = (size_t)(from < 0 ? 0 : from);
    region->sum_end = (size_t)(to > L ? L : to);
    return COV_OK;
}

static int add_text(struct region_reader *r, const char *text, struct cov_err *e)
{
    struct cov_range range;
    size_t seq;
    int rc = cov_range_parse(text, &range, e);
    if (rc)
        return rc;
    if (cov_names_find(r->genome.names, text, strlen(text), &seq)) {
        range.beg = 0;
        range.end = INT64_MAX;
    } else if (range.n_name == 0 ||
               !cov_names_find(r->genome.names, range.name, range.n_name, &seq)) {
        const struct cov_listing names = list_sequences(r);
        return cov_range_fail_unknown(&range, r->o->genome_path, &names, e);
    }
    if (range.beg >= r->o->genome->lengths[seq])
        return cov_range_fail_beyond(&range, r->o->genome->lengths[seq], r->o->genome_path, e);
    rc = add_region(r, seq, range.beg, range.end, "", e);
    return rc ? cov_err_prefix(e, rc, "region %.100s", text) : COV_OK;
}

static int compare_lines(const void *a, const void *b)
{
    const struct cov_feature *x = a, *y = b;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int add_bed(struct region_reader *r, struct cov_err *e)
{
    struct cov_annotation *bed = &r->a->bed;
    size_t n_past = 0, first = 0;
    int rc = cov_annotation_read(r->o->bed, NULL, false, bed, e);
    if (!rc)
        qsort(bed->items, bed->n, sizeof *bed->items, compare_lines);
    for (size_t i = 0; !rc && i < bed->n; i++) {
        const struct cov_feature *f = &bed->items[i];
        size_t n, seq;
        const char *name = cov_names_get(bed->contigs, f->contig, &n);
        if (cov_names_find(r->genome.names, name, n, &seq)) {
            if (f->end > r->o->genome->lengths[seq] && n_past++ == 0)
                first = f->line;
            rc = add_region(r, seq, f->beg, f->end, cov_annotation_name(bed, i), e);
        } else {
            const struct cov_listing names = list_sequences(r);
            rc = cov_fail(e, COV_EINPUT,
                          "%s does not have the sequence '%.100s'; it has %s%s; --rename changes "
                          "its names",
                          r->o->genome_path, name, names.text, cov_listing_more(&names));
        }
        if (rc)
            rc = cov_err_prefix(e, rc, "%s:%" PRIu32, r->o->bed, f->line);
    }
    if (!rc && n_past > 0)
        cov_warn("%s:%zu: the region extends past the end of its sequence (%zu such line%s); check "
                 "that it is for "
                 "this genome",
                 r->o->bed, first, n_past, cov_text_s((int64_t)n_past));
    return rc;
}

/* Reads the bases of all regions, which have scores of 0. */
static int read_bases(struct cov_attribution *a, const struct cov_genome *g, struct cov_err *e)
{
    size_t n;
    int rc = COV_OK;
    if (cov_size_mul(a->n, a->length, &n) || cov_size_mul(n, 4, &n))
        return cov_fail(e, COV_ENOMEM, "%zu regions of %zu bases are too many", a->n, a->length);
    a->codes = cov_malloc(n / 4, 1, e);
    a->scores = cov_calloc(n, sizeof *a->scores, e);
    if (!a->codes || !a->scores)
        return COV_ENOMEM;
    for (size_t i = 0; !rc && i < a->n; i++)
        rc = cov_genome_codes(g, a->regions[i].seq, a->regions[i].beg, a->regions[i].end,
                              a->codes + i * a->length, e);
    return rc;
}

int cov_attribution_init(struct cov_attribution *a, const struct cov_attribution_options *o,
                         struct cov_err *e)
{
    struct region_reader r = {.a = a, .o = o};
    *a = (struct cov_attribution){0};
    int rc = cov_effect_genome_init(&r.genome, o->genome, e);
    for (size_t i = 0; !rc && i < o->regions.n;) {
        char *text = cov_region_text((const char *const *)o->regions.items, o->regions.n, &i,
                                     r.genome.names, e);
        rc = text ? add_text(&r, text, e) : COV_ENOMEM;
        free(text);
    }
    if (!rc && o->bed)
        rc = add_bed(&r, e);
    if (!rc)
        rc = read_bases(a, o->genome, e);
    cov_effect_genome_fini(&r.genome);
    return rc;
}

void cov_attribution_fini(struct cov_attribution *a)
{
    free(a->regions);
    free(a->codes);
    free(a->scores);
    cov_annotation_fini(&a->bed);
    *a = (struct cov_attribution){0};
}

/* ---------------------------------------------------------------- mutagenesis */

/* A slot of the ring has some consecutive places of a region, which do not depend on the number of
 * threads. They are predicted in one call, with the window as it is. */

/* Most places of a slot, and most bytes of the values that a worker predicts at a time. */
enum { MOST_PLACES = 32, MOST_VALUE_BYTES = 64 << 20 };

static const uint8_t bases[4] = {COV_CODE_A, COV_CODE_C, COV_CODE_G, COV_CODE_T};

/* Some consecutive places of a region. */
struct mutate_slot {
    size_t region, from, to;
};

struct mutate_worker {
    unsigned i;
    uint8_t *codes; /* [window + deletion] */
    struct cov_version *versions;
    size_t *keys; /* of each version, where its y belongs: 4 * place + column */
    size_t n;     /* versions */
};

struct mutate_job {
    struct cov_attribution *a;
    const struct cov_attribution_options *o;
    const struct cov_job *job;
    struct cov_edited_windows *net;
    size_t n_places;     /* of a slot */
    size_t n_versions;   /* of a worker */
    size_t region, next; /* place */
    double *without;     /* [n,length]: with deletions, y without minus y with the deletion that
                          * begins at a place */
};

static int mutate_fetch(void *arg, void *slot, struct cov_err *e)
{
    (void)e;
    struct mutate_job *j = arg;
    struct mutate_slot *s = slot;
    if (j->region == j->a->n)
        return 0;
    const size_t left = j->a->length - j->next;
    *s = (struct mutate_slot){j->region, j->next,
                              j->next + (left < j->n_places ? left : j->n_places)};
    j->next = s->to;
    if (j->next == j->a->length) {
        j->next = 0;
        j->region++;
    }
    return 1;
}

/* Adds an edit at a place of the region, which puts a base, or with NULL nothing, in place of n_old
 * bases. */
static void add_version(struct mutate_worker *w, const struct cov_attributed_region *region,
                        size_t place, size_t n_old, const uint8_t *base, size_t key)
{
    const size_t at = (size_t)(region->beg + (int64_t)place - region->window);
    struct cov_version *v = &w->versions[w->n];
    *v = (struct cov_version){.edit = {at, n_old, base, base ? 1 : 0},
                              .beg = region->sum_beg,
                              .end = region->sum_end,
                              .values = v->values};
    w->versions[w->n - 1].next = v;
    w->keys[w->n++] = key;
}

/* Lists the unchanged window, then a version for each place of a slot. */
static void list_versions(const struct mutate_job *j, struct mutate_worker *w,
                          const struct mutate_slot *s)
{
    const struct cov_attribution *a = j->a;
    const struct cov_attributed_region *region = &a->regions[s->region];
    const size_t n_deleted = (size_t)j->o->deletion;
    const uint8_t *codes = a->codes + s->region * a->length;
    w->versions[0] = (struct cov_version){.values = w->versions[0].values};
    w->n = 1;
    for (size_t p = s->from; p < s->to; p++) {
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

/* Sets *y to ln(sum) of the region's positions in a predicted version. COV_EINPUT, with the region, if
 * the sum is not positive or not finite. */
static int measure(const struct cov_attribution_options *o,
                   const struct cov_attributed_region *region, const struct cov_version *predicted,
                   double *y, struct cov_err *e)
{
    const size_t D = o->model->n_datasets;
    double sum = 0;
    for (size_t i = region->sum_beg; i < region->sum_end && i < predicted->n_bases; i++)
        sum += (double)predicted->values[i * D + o->target];
    if (!(sum > 0) || !isfinite(sum))
        return cov_fail(e, COV_EINPUT, "%.100s:%" PRId64 "-%" PRId64 ": the predicted sum is %g",
                        o->genome->names[region->seq], region->beg + 1, region->end, sum);
    *y = log(sum);
    return COV_OK;
}

/* Predicts the listed versions, and keeps what their edits change. */
static int predict_versions(const struct mutate_job *j, struct mutate_worker *w, size_t i,
                            struct cov_err *e)
{
    struct cov_attribution *a = j->a;
    const struct cov_attributed_region *region = &a->regions[i];
    const struct cov_edited_window window = {w->codes, region->n_codes, w->versions};
    double reference = 0, y[4];
    int rc = cov_edited_windows_predict(j->net, w->i, &window, 1, e);
    if (!rc)
        rc = measure(j->o, region, &w->versions[0], &reference, e);
    for (size_t k = 1; !rc && k < w->n; k++) {
        const size_t place = w->keys[k] / 4;
        double edited = 0;
        rc = measure(j->o, region, &w->versions[k], &edited, e);
        if (rc)
            break;
        if (j->without) {
            j->without[i * a->length + place] = reference - edited;
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

static int mutate_compute(void *arg, void *slot, void *worker, struct cov_err *e)
{
    const struct mutate_job *j = arg;
    const struct mutate_slot *s = slot;
    struct mutate_worker *w = worker;
    const struct cov_attributed_region *region = &j->a->regions[s->region];
    list_versions(j, w, s);
    if (w->n == 1)
        return COV_OK;
    int rc = cov_genome_codes(j->o->genome, region->seq, region->window,
                              region->window + (int64_t)region->n_codes, w->codes, e);
    return rc ? rc : predict_versions(j, w, s->region, e);
}

static int mutate_count(void *arg, void *slot, struct cov_err *e)
{
    (void)e;
    const struct mutate_job *j = arg;
    const struct mutate_slot *s = slot;
    cov_progress_add(j->job->progress, (int64_t)(s->to - s->from));
    return COV_OK;
}

/* Gives each base the mean of the deletions that have it. */
static void spread_deletions(const struct mutate_job *j)
{
    struct cov_attribution *a = j->a;
    const size_t n = (size_t)j->o->deletion;
    for (size_t i = 0; i < a->n; i++)
        for (size_t p = 0; p < a->length; p++) {
            const uint8_t *codes = a->codes + i * a->length;
            const int column = cov_attribution_column(codes[p]);
            double sum = 0;
            size_t n_deletions = 0;
            for (size_t beg = p < n ? 0 : p - n + 1; beg <= p && beg + n <= a->length; beg++) {
                sum += j->without[i * a->length + beg];
                n_deletions++;
            }
            if (column >= 0)
                a->scores[(i * 4 + (size_t)column) * a->length + p] =
                    (float)(sum / (double)n_deletions);
        }
}

static void mutate_init_worker(void *arg, void *worker, unsigned i, struct cov_arena *memory)
{
    const struct mutate_job *j = arg;
    const struct cov_attribution_options *o = j->o;
    const size_t n = j->n_versions, row = o->window * o->model->n_datasets;
    struct mutate_worker *w = worker;
    w->i = i;
    w->codes = cov_arena_calloc(memory, o->window + (size_t)o->deletion, 1);
    w->versions = cov_arena_calloc(memory, n, sizeof *w->versions);
    w->keys = cov_arena_calloc(memory, n, sizeof *w->keys);
    float *values = cov_arena_values(memory, n, o->window, o->model->n_datasets);
    for (size_t k = 0; values && k < n; k++)
        w->versions[k].values = values + k * row;
}

/* Chooses the places of a slot. */
static int choose_places(struct mutate_job *j, struct cov_err *e)
{
    const struct cov_attribution_options *o = j->o;
    const size_t per_place = o->deletion ? 1 : 4;
    size_t row;
    if (cov_size_mul(o->window, o->model->n_datasets * sizeof(float), &row))
        return cov_fail(e, COV_ENOMEM, "a window of %zu bases is too large", o->window);
    j->n_places = MOST_VALUE_BYTES / row / per_place;
    j->n_places = j->n_places < 1 ? 1 : j->n_places > MOST_PLACES ? MOST_PLACES : j->n_places;
    j->n_versions = 1 + j->n_places * per_place;
    if (o->deletion && !(j->without = cov_calloc(j->a->n * j->a->length, sizeof *j->without, e)))
        return COV_ENOMEM;
    return COV_OK;
}

int cov_attribution_mutate(struct cov_attribution *a, const struct cov_attribution_options *o,
                           const struct cov_job *job, struct cov_err *e)
{
    static const struct cov_ring_job ring = {.fetch = mutate_fetch,
                                             .work = mutate_compute,
                                             .store = mutate_count,
                                             .slot_bytes = sizeof(struct mutate_slot),
                                             .worker_bytes = sizeof(struct mutate_worker),
                                             .init_worker = mutate_init_worker};
    const size_t batch = o->batch ? o->batch : cov_device_batch(o->device, o->window);
    struct mutate_job j = {.a = a, .o = o, .job = job};
    const struct cov_edited_options edited = {o->window, cov_pool_size(job->pool), batch, o->full,
                                              true};
    struct cov_ring_times times = {0};
    struct cov_forward_counts counts;
    int rc = cov_edited_windows_new(o->model, o->device, &edited, &j.net, e);
    if (!rc)
        rc = choose_places(&j, e);
    cov_progress_begin(job->progress, "scoring", "bases", (int64_t)(a->n * a->length));
    if (!rc)
        rc = cov_ring_run_job(job->pool, &ring, &j, &times, e);
    cov_progress_end(job->progress);
    if (!rc && j.without)
        spread_deletions(&j);
    if (!rc) {
        cov_edited_windows_counts(j.net, &counts);
        cov_stats_add_stage(job->stats, "compute", times.work);
        rc = cov_device_fill_stats(o->device, &counts, job->stats, e);
    }
    free(j.without);
    cov_edited_windows_free(j.net);
    return rc;
}
