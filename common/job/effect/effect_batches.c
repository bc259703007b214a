/* effect_batches.c - see effect_batches.h.
 *
 * A worker's batch is a list of comparisons: each is a row of a record, and the two versions of a
 * window (edited_windows.h) that have its alleles. Rows are added until the batch has `size` versions,
 * which are then predicted together, and the comparisons are scored. A window begins with a version
 * without an edit; a window with the same bases is added only once, so that the variants in it share
 * that version. With haplotypes, a row has two windows: one of the genome, one of its haplotypes.
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
#include "common/seq/alphabet.h"

/* Versions of a batch whose windows may be shared, so that a window is in few batches. */
enum { SHARED_SIZE = 128 };

/* Versions that one row may add. */
enum { MOST_VERSIONS = 3 };

/* A row to score. */
struct comparison {
    struct cov_effect_record *record;
    const struct cov_effect_row *row;
    size_t shuffle; /* 0: the DNA of the genome or haplotype */
    const struct cov_version *alleles[2], *genome;
};

struct effect_batch {
    struct cov_edited_window *windows; /* [size] */
    bool *ended;                       /* [size]: the window ends with the sequence */
    uint8_t *codes;                    /* [size][2 L]: of the windows */
    uint8_t *ref;                      /* [L]: REF, while the window is shuffled */
    struct cov_version *versions;      /* [size] */
    struct comparison *comparisons;    /* [size] */
    size_t n_windows, n_versions, n_comparisons;
    float *values; /* [size,L,D]: of the versions; then, with several networks, those of each */
    struct cov_effect_score *scores; /* [n_nets] */
};

struct cov_effect_batches {
    struct cov_arena memory;
    const struct cov_effect_options *o;
    struct cov_edited_windows **nets; /* [n_nets]: the models of the ensemble, or their mean */
    size_t n_nets, size, n_workers;
    size_t D;        /* datasets of the model */
    size_t n_values; /* of a batch and a network */
    size_t widest;   /* the largest width; with tracks, everything */
    struct effect_batch *batches;
};

/* ---------------------------------------------------------------- memory */

static void init_batch(struct cov_effect_batches *b, struct effect_batch *w)
{
    const size_t n = b->size, L = b->o->window;
    struct cov_arena *m = &b->memory;
    w->windows = cov_arena_calloc(m, n, sizeof *w->windows);
    w->ended = cov_arena_calloc(m, n, sizeof *w->ended);
    w->codes = cov_arena_calloc(m, n, 2 * L);
    w->ref = cov_arena_calloc(m, L, 1);
    w->versions = cov_arena_calloc(m, n, sizeof *w->versions);
    w->comparisons = cov_arena_calloc(m, n, sizeof *w->comparisons);
    w->values = cov_arena_values(m, b->n_nets > 1 ? b->n_nets + 1 : 1, n, L * b->D);
    w->scores = cov_arena_calloc(m, b->n_nets, sizeof *w->scores);
}

/* Prepares the networks: each model by itself if their differences are wanted. */
static int make_nets(struct cov_effect_batches *b, const struct cov_edited_options *edited,
                     struct cov_err *e)
{
    const struct cov_ensemble *m = b->o->model;
    int rc = COV_OK;
    b->nets = cov_arena_calloc(&b->memory, m->n, sizeof(struct cov_edited_windows *));
    if (!b->nets)
        return cov_arena_check(&b->memory, e);
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
    const struct cov_edited_options edited = {o->window, n_workers, chunks, o->full, false};
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
    for (size_t i = 0; i < o->n_widths; i++)
        b->widest = (size_t)o->widths[i] > b->widest ? (size_t)o->widths[i] : b->widest;
    if (o->tracks)
        b->widest = 2 * o->window;
    int rc = make_nets(b, &edited, e);
    b->n_values = b->size * o->window * b->D;
    b->batches = rc ? NULL : cov_arena_calloc(&b->memory, n_workers, sizeof *b->batches);
    for (unsigned i = 0; b->batches && i < n_workers; i++)
        init_batch(b, &b->batches[i]);
    if (!rc)
        rc = cov_arena_check(&b->memory, e);
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
    for (size_t i = 0; i < b->n_nets; i++)
        cov_edited_windows_free(b->nets[i]);
    cov_arena_fini(&b->memory);
    free(b);
}

size_t cov_effect_batches_size(const struct cov_effect_batches *b)
{
    return b->size;
}

size_t cov_effect_batches_versions(const struct cov_effect_batches *b,
                                   const struct cov_effect_record *record)
{
    const size_t n_shuffles = record->is_random ? 0 : b->o->n_shuffles;
    size_t n = 0;
    if (!b->o->haplotypes)
        return record->alleles.n_scored > 0 ? (1 + record->alleles.n_scored) * (1 + n_shuffles) : 0;
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
    cov_alleles_fini(&r->alleles);
    cov_effect_rows_fini(&r->rows);
    for (size_t i = 0; i < r->cap_values; i++)
        free(r->values[i].values[0]);
    free(r->values);
    free(r->scores);
    *r = (struct cov_effect_record){.n_scores = 0};
}

size_t cov_effect_record_bytes(const struct cov_effect_record *r)
{
    const struct cov_effect_rows *rows = &r->rows;
    return cov_variant_bytes(&r->variant) + r->alleles.cap_codes +
           r->alleles.cap_items * sizeof *r->alleles.items + rows->cap * sizeof *rows->rows +
           rows->cap_edits * sizeof *rows->edits + rows->cap_codes +
           rows->cap_haps * sizeof *rows->haps + r->cap_scores * sizeof *r->scores;
}

void cov_effect_record_trim(struct cov_effect_record *r)
{
    enum { LARGE = 1 << 18 };
    if (cov_effect_record_bytes(r) > LARGE)
        cov_effect_record_fini(r);
}

/* ---------------------------------------------------------------- scores */

/* The two alleles of a row, as predicted by network `net`, counted from 1; 0: by their mean. */
static struct cov_effect_pair pair_of(const struct cov_effect_batches *b,
                                      const struct comparison *c, size_t net)
{
    const struct cov_version *const *v = c->alleles;
    return (struct cov_effect_pair){
        .values = {v[0]->values + net * b->n_values, v[1]->values + net * b->n_values},
        .n_bases = {v[0]->n_bases, v[1]->n_bases},
        .n_datasets = b->D,
        .at = c->row->at,
        .n_allele1 = c->record->alleles.items[c->row->allele].n_ref,
        .n_allele2 = c->record->alleles.items[c->row->allele].n,
    };
}

/* The genome's window of a row in haplotypes. */
static struct cov_effect_pair reference_of(const struct cov_effect_batches *b,
                                           const struct comparison *c)
{
    return (struct cov_effect_pair){
        .values = {c->genome->values, c->genome->values},
        .n_bases = {c->genome->n_bases, c->genome->n_bases},
        .n_datasets = b->D,
        .at = c->record->alleles.at,
        .n_allele1 = 1,
        .n_allele2 = 1,
    };
}

/* Adds what a row in haplotypes has in addition, and the place in the genome. */
static void score_reference(const struct comparison *c, const struct cov_effect_pair *genome,
                            size_t dataset, size_t width, struct cov_effect_score *to)
{
    struct cov_effect_score s;
    cov_effect_score(genome, dataset, width, &s);
    to->reference = s.counts[0];
    to->max_at = cov_effect_row_place(&c->record->rows, c->row, to->max_at);
}

/* The scores of the genome's DNA come before those of shuffled DNA. */
static void score_comparison(const struct cov_effect_batches *b, struct effect_batch *w,
                             const struct comparison *c)
{
    const struct cov_effect_options *o = b->o;
    const size_t row = (size_t)(c->row - c->record->rows.rows);
    struct cov_effect_score *to = c->record->scores + row * o->n_datasets * o->n_widths, s;
    struct cov_effect_pair pair = pair_of(b, c, 0), genome = reference_of(b, c);
    if (o->haplotypes) {
        pair.other = &genome;
        genome.other = &pair;
    }
    for (size_t i = 0; i < o->n_datasets * o->n_widths; i++, to++) {
        const size_t dataset = o->datasets[i / o->n_widths];
        const size_t width = (size_t)o->widths[i % o->n_widths];
        cov_effect_score(&pair, dataset, width, &s);
        if (c->shuffle > 0) {
            cov_effect_score_count(to, &s);
            continue;
        }
        *to = s;
        for (size_t k = 0; b->n_nets > 1 && k < b->n_nets; k++) {
            struct cov_effect_pair own = pair_of(b, c, k + 1);
            own.other = pair.other;
            cov_effect_score(&own, dataset, width, &w->scores[k]);
        }
        if (b->n_nets > 1)
            cov_effect_score_spread(to, w->scores, b->n_nets);
        if (o->haplotypes)
            score_reference(c, &genome, dataset, width, to);
    }
}

/* Copies the values of an allele's versions for tracks. */
static int keep_values(const struct cov_effect_batches *b, const struct comparison *c,
                       struct cov_err *e)
{
    const struct cov_effect_pair pair = pair_of(b, c, 0);
    struct cov_effect_values *to = &c->record->values[c->row->allele];
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
static void average(const struct cov_effect_batches *b, struct effect_batch *w)
{
    const size_t n = w->n_versions * b->o->window * b->D;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 1; k <= b->n_nets; k++)
            sum += (double)w->values[k * b->n_values + i];
        w->values[i] = (float)(sum / (double)b->n_nets);
    }
}

/* Predicts the versions by each network, and keeps the means of their values. */
static int predict_batch(const struct cov_effect_batches *b, unsigned worker, struct cov_err *e)
{
    struct effect_batch *w = &b->batches[worker];
    const size_t row = b->o->window * b->D;
    int rc = COV_OK;
    for (size_t k = b->n_nets; !rc && k > 0; k--) {
        float *values = w->values + (b->n_nets > 1 ? k : 0) * b->n_values;
        for (size_t i = 0; i < w->n_versions; i++)
            w->versions[i].values = values + i * row;
        rc = cov_edited_windows_predict(b->nets[k - 1], worker, w->windows, w->n_windows, e);
    }
    if (!rc && b->n_nets > 1)
        average(b, w);
    for (size_t i = 0; i < w->n_versions; i++)
        w->versions[i].values = w->values + i * row;
    return rc;
}

static void empty_batch(struct effect_batch *w)
{
    w->n_windows = w->n_versions = w->n_comparisons = 0;
}

/* Predicts and scores what the batch has, and empties it. */
static int flush_batch(const struct cov_effect_batches *b, unsigned worker, struct cov_err *e)
{
    struct effect_batch *w = &b->batches[worker];
    int rc = predict_batch(b, worker, e);
    for (size_t i = 0; !rc && i < w->n_comparisons; i++) {
        const struct comparison *c = &w->comparisons[i];
        score_comparison(b, w, c);
        if (b->o->tracks && !c->record->is_random && c->shuffle == 0)
            rc = keep_values(b, c, e);
    }
    empty_batch(w);
    return rc;
}

/* ---------------------------------------------------------------- windows */

/* Shuffles a window, except the n_ref bases that an allele replaces. */
static int shuffle_window(const struct cov_effect_batches *b, struct effect_batch *w,
                          const struct cov_effect_record *record, size_t n_ref, size_t number,
                          struct cov_err *e)
{
    const struct cov_alleles *p = &record->alleles;
    uint8_t *codes = w->codes + w->n_windows * 2 * b->o->window;
    struct cov_rng rng;
    cov_rng_init(&rng, b->o->seed);
    cov_rng_init(&rng, cov_rng_next(&rng) ^ (uint64_t)record->variant.number);
    cov_rng_init(&rng, cov_rng_next(&rng) ^ number);
    memcpy(w->ref, codes + p->at, n_ref);
    int rc = cov_dinucleotide_shuffle(codes, p->n_codes, &rng, e);
    memcpy(codes + p->at, w->ref, n_ref);
    return rc;
}

/* Sets the next free window to at most `most` bases of the genome with edits. */
static int fill_window(const struct cov_effect_batches *b, struct effect_batch *w,
                       const struct cov_alleles *p, const struct cov_edit *edits, size_t n_edits,
                       size_t most, struct cov_err *e)
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
    w->windows[w->n_windows] = (struct cov_edited_window){codes, n, NULL};
    w->ended[w->n_windows] = to == length;
    return rc;
}

/* Puts a version after the first one of its window. */
static struct cov_version *add_version(struct effect_batch *w, struct cov_edited_window *window)
{
    struct cov_version *v = &w->versions[w->n_versions++];
    struct cov_version **at = window->versions ? &window->versions->next : &window->versions;
    *v = (struct cov_version){.next = *at};
    return *at = v;
}

/* Adds the window that was filled, unless the batch has one that begins with the same bases. */
static struct cov_edited_window *add_filled_window(const struct cov_effect_batches *b,
                                                   struct effect_batch *w)
{
    struct cov_edited_window *new = &w->windows[w->n_windows];
    for (size_t i = 0; i < w->n_windows; i++) {
        struct cov_edited_window *old = &w->windows[i];
        const bool longer = new->n_codes > old->n_codes;
        if (new->n_codes != old->n_codes && (w->ended[w->n_windows] || w->ended[i]))
            continue;
        if (memcmp(old->codes, new->codes, longer ? old->n_codes : new->n_codes) != 0)
            continue;
        if (longer) {
            memcpy(w->codes + i * 2 * b->o->window, new->codes, new->n_codes);
            old->n_codes = new->n_codes;
        }
        return old;
    }
    w->n_windows++;
    (void)add_version(w, new);
    return new;
}

/* Adds the version of a window with this edit, as far as the widths around the variant need it. */
static const struct cov_version *add_edit(const struct cov_effect_batches *b,
                                          struct effect_batch *w, struct cov_edited_window *window,
                                          struct cov_edit edit, size_t at)
{
    const size_t half = b->widest / 2;
    struct cov_version *v = add_version(w, window);
    v->edit = edit;
    v->beg = at > half ? at - half : 0;
    v->end = at + (b->widest - half);
    return v;
}

/* Adds a row to the batch, in the genome's DNA or in a shuffled window. */
static int add_allele(const struct cov_effect_batches *b, struct effect_batch *w,
                      struct cov_effect_record *record, const struct cov_effect_row *row,
                      size_t number, struct cov_err *e)
{
    const struct cov_alleles *p = &record->alleles;
    const struct cov_allele *a = &p->items[row->allele];
    int rc = fill_window(b, w, p, NULL, 0, row->n_codes, e);
    if (!rc && number > 0)
        rc = shuffle_window(b, w, record, a->n_ref, number, e);
    if (rc)
        return rc;
    struct cov_edited_window *window = add_filled_window(b, w);
    const struct cov_version *ref = window->versions;
    const struct cov_version *alt = add_edit(
        b, w, window, (struct cov_edit){p->at, a->n_ref, p->codes + a->codes, a->n}, p->at);
    w->comparisons[w->n_comparisons++] = (struct comparison){record, row, number, {ref, alt}, ref};
    return COV_OK;
}

/* Adds a row to the batch, in its haplotypes: the window has their alleles, and the edit puts the
 * genome's bases back in place of the row's allele. */
static int add_haplotypes(const struct cov_effect_batches *b, struct effect_batch *w,
                          struct cov_effect_record *record, const struct cov_effect_row *row,
                          struct cov_err *e)
{
    const struct cov_alleles *p = &record->alleles;
    const struct cov_effect_rows *rows = &record->rows;
    const struct cov_edit *edits = rows->edits + row->edits, *own = &edits[row->own];
    size_t at = own->at; /* of the allele's change in the haplotypes */
    for (size_t i = 0; i < row->own; i++)
        at = at + edits[i].n_new - edits[i].n_old;
    int rc = fill_window(b, w, p, NULL, 0, b->o->window, e);
    if (rc)
        return rc;
    const struct cov_version *genome = add_filled_window(b, w)->versions;
    rc = fill_window(b, w, p, edits, row->n_edits, row->n_codes, e);
    if (rc)
        return rc;
    struct cov_edited_window *window = add_filled_window(b, w);
    const struct cov_version *alt = window->versions;
    const struct cov_version *ref = add_edit(
        b, w, window, (struct cov_edit){at, own->n_new, rows->codes + row->restored, own->n_old},
        row->at);
    w->comparisons[w->n_comparisons++] = (struct comparison){record, row, 0, {ref, alt}, genome};
    return COV_OK;
}

int cov_effect_batches_score(struct cov_effect_batches *b, unsigned worker,
                             struct cov_effect_record *records, size_t n, struct cov_err *e)
{
    struct effect_batch *w = &b->batches[worker];
    int rc = COV_OK;
    empty_batch(w);
    for (size_t i = 0; i < n; i++) {
        struct cov_effect_record *record = &records[i];
        const size_t n_rows = record->done ? 0 : record->rows.n;
        const size_t n_shuffles = record->is_random ? 0 : b->o->n_shuffles;
        for (size_t k = 0; k < (1 + n_shuffles) * n_rows; k++) {
            const struct cov_effect_row *row = &record->rows.rows[k % n_rows];
            if (rc || row->status != COV_ALLELE_SCORED)
                continue;
            if (w->n_versions + (b->o->haplotypes ? MOST_VERSIONS : 2) > b->size)
                rc = flush_batch(b, worker, e);
            if (!rc)
                rc = row->n_edits > 0 ? add_haplotypes(b, w, record, row, e)
                                      : add_allele(b, w, record, row, k / n_rows, e);
        }
    }
    return rc ? rc : flush_batch(b, worker, e);
}
