/* effect_batches.c - see effect_batches.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_batches.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/compute/device_open.h"
#include "common/job/effect/edited_windows.h"
#include "common/seq/dinucleotides.h"

/* Versions of a batch whose windows may be shared, so that a window is in few batches. */
enum { SHARED_SIZE = 128 };

/* Versions that one row may add. */
enum { MOST_VERSIONS = 3 };

/* A row to score from versions of the batch: the two alleles, and the genome. */
struct todo {
    struct cov_effect_record *record;
    const struct cov_effect_row *row;
    size_t shuffle; /* 0: the DNA of the genome or haplotype */
    size_t alleles[2], reference;
};

struct window {
    size_t version; /* without an edit */
    size_t n_codes;
    bool ended; /* at the end of the sequence */
};

/* The windows that a worker predicts at a time, of at most `size` versions. */
struct batch {
    uint8_t *codes; /* [size][2 L] */
    uint8_t *ref;   /* [L]: REF, while the window is shuffled */
    struct window *own;
    struct cov_version *own_versions;
    size_t *window_of;      /* the window of each version */
    struct cov_edit *edits; /* of each version */
    struct todo *todo;
    size_t n_windows, n_versions, n_todo;
    /* For the network, with the versions of each window together; `place` of each version there. */
    struct cov_edited_window *windows;
    struct cov_version *versions;
    size_t *place;
    float *values; /* [size,L,D]; then, with several networks, those of each */
    size_t *n_bases;
    struct cov_effect_score *scores; /* [n_nets] */
};

struct cov_effect_batches {
    const struct cov_effect_options *o;
    struct cov_edited_windows **nets; /* [n_nets]: the models of the ensemble, or their mean */
    size_t n_nets, size, n_workers;
    size_t D;        /* data sets of the model */
    size_t n_values; /* of a batch and a network */
    size_t widest;   /* the largest width; with tracks, everything */
    struct batch *batches;
};

/* ---------------------------------------------------------------- memory */

static int allocate(const struct cov_effect_batches *b, struct batch *w, struct cov_err *e)
{
    const size_t n = b->size, L = b->o->window;
    w->codes = cov_malloc(n, 2 * L, e);
    w->ref = cov_malloc(L, 1, e);
    w->own = cov_calloc(n, sizeof *w->own, e);
    w->own_versions = cov_calloc(n, sizeof *w->own_versions, e);
    w->window_of = cov_calloc(n, sizeof *w->window_of, e);
    w->place = cov_calloc(n, sizeof *w->place, e);
    w->windows = cov_calloc(n, sizeof *w->windows, e);
    w->versions = cov_calloc(n, sizeof *w->versions, e);
    w->edits = cov_calloc(n, sizeof *w->edits, e);
    w->todo = cov_calloc(n, sizeof *w->todo, e);
    w->n_bases = cov_calloc(n, sizeof *w->n_bases, e);
    w->scores = cov_calloc(b->n_nets, sizeof *w->scores, e);
    size_t n_values;
    if (cov_size_mul(b->n_values, b->n_nets > 1 ? b->n_nets + 1 : 1, &n_values))
        return cov_fail(e, COV_ENOMEM, "a batch of %zu windows is too large", n);
    w->values = cov_malloc(n_values, sizeof *w->values, e);
    return w->codes && w->ref && w->own && w->own_versions && w->window_of && w->place &&
                   w->windows && w->versions && w->edits && w->todo && w->n_bases && w->scores &&
                   w->values
               ? COV_OK
               : COV_ENOMEM;
}

/* Prepares the networks: each model by itself if their differences are wanted. */
static int make_nets(struct cov_effect_batches *b, const struct cov_edited_options *edited,
                     struct cov_err *e)
{
    const struct cov_ensemble *m = b->o->model;
    int rc = COV_OK;
    b->nets = cov_calloc(m->n, sizeof(struct cov_edited_windows *), e);
    if (!b->nets)
        return COV_ENOMEM;
    b->n_nets = b->o->sd ? m->n : 1;
    for (size_t i = 0; !rc && i < b->n_nets; i++) {
        struct cov_ensemble one = *m;
        if (b->o->sd) {
            one.models = &m->models[i];
            one.n = 1;
        }
        rc = cov_edited_windows_new(&one, b->o->device, edited, &b->nets[i], e);
    }
    return rc;
}

int cov_effect_batches_new(const struct cov_effect_options *options, unsigned n_workers,
                           struct cov_effect_batches **out, struct cov_err *e)
{
    const struct cov_effect_options *o = options;
    const size_t chunks = o->batch ? o->batch : cov_device_batch(o->device, o->window);
    const struct cov_edited_options edited = {o->window, n_workers, chunks, o->full};
    *out = NULL;
    struct cov_effect_batches *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    const size_t least = o->haplotypes ? MOST_VERSIONS : 2;
    *b = (struct cov_effect_batches){.o = o,
                                     .size = o->step > 1          ? SHARED_SIZE
                                             : chunks / 2 < least ? least
                                                                  : chunks / 2,
                                     .n_workers = n_workers,
                                     .D = o->model->n_datasets};
    int rc = COV_OK;
    for (size_t i = 0; i < o->n_widths; i++)
        b->widest = (size_t)o->widths[i] > b->widest ? (size_t)o->widths[i] : b->widest;
    if (o->tracks)
        b->widest = 2 * o->window;
    if (cov_size_mul(o->window, b->D, &b->n_values) ||
        cov_size_mul(b->n_values, b->size, &b->n_values))
        rc = cov_fail(e, COV_ENOMEM, "a batch of %zu windows is too large", b->size);
    if (!rc)
        rc = make_nets(b, &edited, e);
    b->batches = rc ? NULL : cov_calloc(n_workers, sizeof *b->batches, e);
    if (!rc && !b->batches)
        rc = COV_ENOMEM;
    for (unsigned i = 0; !rc && i < n_workers; i++)
        rc = allocate(b, &b->batches[i], e);
    if (rc)
        cov_effect_batches_free(b);
    else
        *out = b;
    return rc;
}

void cov_effect_batches_free(struct cov_effect_batches *b)
{
    if (!b)
        return;
    for (size_t i = 0; b->batches && i < b->n_workers; i++) {
        struct batch *w = &b->batches[i];
        free(w->codes);
        free(w->ref);
        free(w->own);
        free(w->own_versions);
        free(w->window_of);
        free(w->place);
        free(w->windows);
        free(w->versions);
        free(w->edits);
        free(w->todo);
        free(w->n_bases);
        free(w->scores);
        free(w->values);
    }
    for (size_t i = 0; i < b->n_nets; i++)
        cov_edited_windows_free(b->nets[i]);
    free(b->nets);
    free(b->batches);
    free(b);
}

size_t cov_effect_batches_size(const struct cov_effect_batches *b)
{
    return b->size;
}

size_t cov_effect_batches_versions(const struct cov_effect_batches *b,
                                   const struct cov_effect_record *record)
{
    size_t n = 0;
    if (!b->o->haplotypes)
        return record->plan.n_scored > 0 ? (1 + record->plan.n_scored) * (1 + b->o->n_shuffles) : 0;
    for (size_t i = 0; i < record->rows.n; i++)
        n += record->rows.rows[i].status == COV_ALLELE_SCORED ? MOST_VERSIONS : 0;
    return n;
}

void cov_effect_batches_counts(const struct cov_effect_batches *b, struct cov_forward_counts *out)
{
    *out = (struct cov_forward_counts){0};
    for (size_t i = 0; i < b->n_nets; i++) {
        struct cov_forward_counts c;
        cov_edited_windows_counts(b->nets[i], &c);
        out->positions_computed += c.positions_computed;
        out->positions_at_rest += c.positions_at_rest;
        out->chunks_repeated += c.chunks_repeated;
    }
}

void cov_effect_record_fini(struct cov_effect_record *r)
{
    cov_variant_fini(&r->variant);
    cov_effect_plan_fini(&r->plan);
    cov_effect_rows_fini(&r->rows);
    for (size_t i = 0; i < r->cap_values; i++)
        free(r->values[i].values[0]);
    free(r->values);
    free(r->scores);
}

size_t cov_effect_record_bytes(const struct cov_effect_record *r)
{
    const struct cov_effect_rows *rows = &r->rows;
    return cov_variant_bytes(&r->variant) + r->plan.cap_codes +
           r->plan.cap_alleles * sizeof *r->plan.alleles + rows->cap * sizeof *rows->rows +
           rows->cap_edits * sizeof *rows->edits + rows->cap_codes +
           rows->cap_haps * sizeof *rows->haps + r->cap_scores * sizeof *r->scores;
}

int cov_effect_record_trim(struct cov_effect_record *r, struct cov_err *e)
{
    enum { LARGE = 1 << 18 };
    if (cov_effect_record_bytes(r) <= LARGE)
        return COV_OK;
    cov_variant_fini(&r->variant);
    cov_effect_plan_fini(&r->plan);
    cov_effect_rows_fini(&r->rows);
    free(r->scores);
    r->scores = NULL;
    r->n_scores = r->cap_scores = 0;
    return cov_variant_init(&r->variant, e);
}

/* ---------------------------------------------------------------- scores */

/* The two alleles of a row, as predicted by network `net`, counted from 1; 0: by their mean. */
static struct cov_effect_pair pair_of(const struct cov_effect_batches *b, const struct batch *w,
                                      const struct todo *t, size_t net)
{
    const float *values = w->values + net * b->n_values;
    const size_t row = b->o->window * b->D;
    const size_t places[2] = {w->place[t->alleles[0]], w->place[t->alleles[1]]};
    return (struct cov_effect_pair){
        .values = {values + places[0] * row, values + places[1] * row},
        .n_bases = {w->n_bases[places[0]], w->n_bases[places[1]]},
        .n_datasets = b->D,
        .at = t->row->at,
        .n_allele1 = t->record->plan.n_ref,
        .n_allele2 = t->record->plan.alleles[t->row->allele].n,
    };
}

/* The genome's window of a row in haplotypes. */
static struct cov_effect_pair reference_of(const struct cov_effect_batches *b,
                                           const struct batch *w, const struct todo *t)
{
    const size_t place = w->place[t->reference];
    const float *values = w->values + place * b->o->window * b->D;
    return (struct cov_effect_pair){
        .values = {values, values},
        .n_bases = {w->n_bases[place], w->n_bases[place]},
        .n_datasets = b->D,
        .at = t->record->plan.at,
        .n_allele1 = 1,
        .n_allele2 = 1,
    };
}

/* Adds what a row in haplotypes has in addition, and the place in the genome. */
static void score_reference(const struct todo *t, const struct cov_effect_pair *genome,
                            size_t dataset, size_t width, struct cov_effect_score *to)
{
    struct cov_effect_score s;
    cov_effect_score(genome, dataset, width, &s);
    to->reference = s.counts[0];
    to->max_at = cov_effect_row_place(&t->record->rows, t->row, to->max_at);
}

/* The scores of the genome's DNA come before those of shuffled DNA. */
static void score(const struct cov_effect_batches *b, struct batch *w, const struct todo *t)
{
    const struct cov_effect_options *o = b->o;
    const size_t row = (size_t)(t->row - t->record->rows.rows);
    struct cov_effect_score *to = t->record->scores + row * o->n_datasets * o->n_widths, s;
    struct cov_effect_pair pair = pair_of(b, w, t, 0), genome = reference_of(b, w, t);
    if (o->haplotypes) {
        pair.other = &genome;
        genome.other = &pair;
    }
    for (size_t i = 0; i < o->n_datasets * o->n_widths; i++, to++) {
        const size_t dataset = o->datasets[i / o->n_widths];
        const size_t width = (size_t)o->widths[i % o->n_widths];
        cov_effect_score(&pair, dataset, width, &s);
        if (t->shuffle > 0) {
            cov_effect_score_count(to, &s);
            continue;
        }
        *to = s;
        for (size_t k = 0; b->n_nets > 1 && k < b->n_nets; k++) {
            struct cov_effect_pair own = pair_of(b, w, t, k + 1);
            own.other = pair.other;
            cov_effect_score(&own, dataset, width, &w->scores[k]);
        }
        if (b->n_nets > 1)
            cov_effect_score_spread(to, w->scores, b->n_nets);
        if (o->haplotypes)
            score_reference(t, &genome, dataset, width, to);
    }
}

/* Copies the values of an allele's versions for tracks. */
static int keep_values(const struct cov_effect_batches *b, const struct batch *w,
                       const struct todo *t, struct cov_err *e)
{
    const struct cov_effect_pair pair = pair_of(b, w, t, 0);
    struct cov_effect_values *to = &t->record->values[t->row->allele];
    const size_t n = b->o->window * b->D;
    if (!to->values[0])
        to->values[0] = cov_malloc(2 * n, sizeof(float), e);
    if (!to->values[0])
        return COV_ENOMEM;
    to->values[1] = to->values[0] + n;
    for (size_t k = 0; k < 2; k++) {
        memcpy(to->values[k], pair.values[k], n * sizeof(float));
        to->n_bases[k] = pair.n_bases[k];
    }
    return COV_OK;
}

/* Sets the values of the mean, w->values[0 .. n_versions). All networks pad the same positions. */
static void average(const struct cov_effect_batches *b, struct batch *w)
{
    const size_t n = w->n_versions * b->o->window * b->D;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 1; k <= b->n_nets; k++)
            sum += (double)w->values[k * b->n_values + i];
        w->values[i] = (float)(sum / (double)b->n_nets);
    }
}

/* Arranges the windows and their versions for the network. */
static void arrange(const struct cov_effect_batches *b, struct batch *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_windows; i++) {
        struct cov_edited_window *to = &w->windows[i];
        *to = (struct cov_edited_window){w->codes + i * 2 * b->o->window, w->own[i].n_codes,
                                         w->versions + n, 0};
        for (size_t k = 0; k < w->n_versions; k++)
            if (w->window_of[k] == i) {
                to->n_versions++;
                w->place[k] = n;
                w->versions[n++] = w->own_versions[k];
            }
    }
}

/* Predicts and scores the windows of the batch. */
static int flush(const struct cov_effect_batches *b, unsigned worker, struct cov_err *e)
{
    struct batch *w = &b->batches[worker];
    int rc = COV_OK;
    arrange(b, w);
    for (size_t k = 0; !rc && k < b->n_nets; k++) {
        float *values = w->values + (b->n_nets > 1 ? k + 1 : 0) * b->n_values;
        rc = cov_edited_windows_predict(b->nets[k], worker, w->windows, w->n_windows, values,
                                        w->n_bases, e);
    }
    if (!rc && b->n_nets > 1)
        average(b, w);
    for (size_t i = 0; !rc && i < w->n_todo; i++) {
        score(b, w, &w->todo[i]);
        if (b->o->tracks && w->todo[i].shuffle == 0)
            rc = keep_values(b, w, &w->todo[i], e);
    }
    w->n_windows = w->n_versions = w->n_todo = 0;
    return rc;
}

/* ---------------------------------------------------------------- windows */

/* Shuffles a window, except REF. */
static int shuffle(const struct cov_effect_batches *b, struct batch *w,
                   const struct cov_effect_record *record, size_t number, uint8_t *codes,
                   struct cov_err *e)
{
    const struct cov_effect_plan *p = &record->plan;
    struct cov_rng rng;
    cov_rng_init(&rng, b->o->seed);
    cov_rng_init(&rng, cov_rng_next(&rng) ^ (uint64_t)record->variant.number);
    cov_rng_init(&rng, cov_rng_next(&rng) ^ number);
    memcpy(w->ref, codes + p->at, p->n_ref);
    int rc = cov_dinucleotide_shuffle(codes, p->n_codes, &rng, e);
    memcpy(codes + p->at, w->ref, p->n_ref);
    return rc;
}

/* Fills the next free codes with at most `most` bases of a window with edits, and describes them. */
static int fill_window(const struct cov_effect_batches *b, struct batch *w,
                       const struct cov_effect_plan *p, const struct cov_edit *edits,
                       size_t n_edits, size_t most, struct window *window, struct cov_err *e)
{
    const int64_t length = b->o->genome->lengths[p->seq];
    uint8_t *codes = w->codes + w->n_windows * 2 * b->o->window;
    int64_t from = p->beg, to = from;
    size_t n = 0;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i <= n_edits && n < most; i++) {
        to = i < n_edits ? p->beg + (int64_t)edits[i].at : length;
        to = (uint64_t)(to - from) < most - n ? to : from + (int64_t)(most - n);
        rc = cov_genome_codes(b->o->genome, p->seq, from, to, codes + n, e);
        n += (size_t)(to - from);
        if (i == n_edits)
            break;
        const size_t added = edits[i].n_new < most - n ? edits[i].n_new : most - n;
        memcpy(codes + n, edits[i].codes, added);
        n += added;
        from = to = p->beg + (int64_t)(edits[i].at + edits[i].n_old);
    }
    *window = (struct window){w->n_versions, n, to == length};
    return rc;
}

static size_t add_version(struct batch *w, size_t window, struct cov_version version)
{
    w->window_of[w->n_versions] = window;
    w->own_versions[w->n_versions] = version;
    return w->n_versions++;
}

/* Adds the window in the next free codes, unless the batch has one that begins with the same bases.
 * Returns its number. */
static size_t add_window(const struct cov_effect_batches *b, struct batch *w,
                         const struct window *window)
{
    const size_t L = b->o->window;
    const uint8_t *codes = w->codes + w->n_windows * 2 * L;
    for (size_t i = 0; i < w->n_windows; i++) {
        struct window *old = &w->own[i];
        uint8_t *old_codes = w->codes + i * 2 * L;
        const bool longer = window->n_codes > old->n_codes;
        if (window->n_codes != old->n_codes && (window->ended || old->ended))
            continue;
        if (memcmp(old_codes, codes, longer ? old->n_codes : window->n_codes) != 0)
            continue;
        if (longer) {
            memcpy(old_codes, codes, window->n_codes);
            old->n_codes = window->n_codes;
        }
        return i;
    }
    w->own[w->n_windows] = *window;
    (void)add_version(w, w->n_windows, (struct cov_version){.n = 0});
    return w->n_windows++;
}

/* Adds the version of a window with this edit, as far as the widths around the variant need it. */
static size_t add_edit(const struct cov_effect_batches *b, struct batch *w, size_t window,
                       const struct cov_edit *edit, size_t at)
{
    const size_t half = b->widest / 2;
    w->edits[w->n_versions] = *edit;
    return add_version(w, window,
                       (struct cov_version){&w->edits[w->n_versions], 1, at > half ? at - half : 0,
                                            at + (b->widest - half)});
}

/* Adds a row to the batch, in the genome's DNA or in a shuffled window. */
static int add_allele(const struct cov_effect_batches *b, struct batch *w,
                      struct cov_effect_record *record, const struct cov_effect_row *row,
                      size_t number, struct cov_err *e)
{
    const struct cov_effect_plan *p = &record->plan;
    const struct cov_effect_allele *a = &p->alleles[row->allele];
    struct window new;
    int rc = fill_window(b, w, p, NULL, 0, row->n_codes, &new, e);
    if (!rc && number > 0)
        rc = shuffle(b, w, record, number, w->codes + w->n_windows * 2 * b->o->window, e);
    if (rc)
        return rc;
    const size_t window = add_window(b, w, &new);
    const struct cov_edit edit = {p->at, p->n_ref, p->codes + a->codes, a->n};
    const size_t k = add_edit(b, w, window, &edit, p->at), none = w->own[window].version;
    w->todo[w->n_todo++] = (struct todo){record, row, number, {none, k}, none};
    return COV_OK;
}

/* Adds a row to the batch, in its haplotypes. */
static int add_haplotypes(const struct cov_effect_batches *b, struct batch *w,
                          struct cov_effect_record *record, const struct cov_effect_row *row,
                          struct cov_err *e)
{
    const struct cov_effect_plan *p = &record->plan;
    const struct cov_effect_rows *rows = &record->rows;
    const struct cov_edit *edits = rows->edits + row->edits, *own = &edits[row->own];
    size_t at = own->at; /* of the allele's change in the haplotypes */
    struct window new;
    int rc = fill_window(b, w, p, NULL, 0, b->o->window, &new, e);
    if (rc)
        return rc;
    const size_t genome = add_window(b, w, &new);
    rc = fill_window(b, w, p, edits, row->n_edits, row->n_codes, &new, e);
    if (rc)
        return rc;
    const size_t window = add_window(b, w, &new);
    for (size_t i = 0; i < row->own; i++)
        at = at + edits[i].n_new - edits[i].n_old;
    const struct cov_edit edit = {at, own->n_new, rows->codes + row->restored, own->n_old};
    const size_t k = add_edit(b, w, window, &edit, row->at);
    w->todo[w->n_todo++] =
        (struct todo){record, row, 0, {k, w->own[window].version}, w->own[genome].version};
    return COV_OK;
}

int cov_effect_batches_score(struct cov_effect_batches *b, unsigned worker,
                             struct cov_effect_record *records, size_t n, struct cov_err *e)
{
    struct batch *w = &b->batches[worker];
    int rc = COV_OK;
    w->n_windows = w->n_versions = w->n_todo = 0;
    for (size_t i = 0; i < n; i++) {
        struct cov_effect_record *record = &records[i];
        const size_t n_rows = record->done ? 0 : record->rows.n;
        for (size_t k = 0; k < (1 + b->o->n_shuffles) * n_rows; k++) {
            const struct cov_effect_row *row = &record->rows.rows[k % n_rows];
            if (rc || row->status != COV_ALLELE_SCORED)
                continue;
            if (w->n_versions + (b->o->haplotypes ? MOST_VERSIONS : 2) > b->size)
                rc = flush(b, worker, e);
            if (!rc)
                rc = row->n_edits > 0 ? add_haplotypes(b, w, record, row, e)
                                      : add_allele(b, w, record, row, k / n_rows, e);
        }
    }
    return rc ? rc : flush(b, worker, e);
}
