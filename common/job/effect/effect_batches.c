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

/* What a version is for. */
struct todo {
    struct cov_effect_record *record; /* NULL: a version without an edit */
    size_t allele;                    /* of ALT */
    size_t reference;                 /* the version without the edit */
    size_t shuffle;                   /* 0: the DNA of the genome */
};

/* The windows that a worker predicts at a time, of at most `size` versions. */
struct batch {
    uint8_t *codes; /* [size / 2][2 L] */
    uint8_t *ref;   /* [L]: REF, while the window is shuffled */
    struct cov_edited_window *windows;
    struct cov_version *versions;
    struct cov_edit *edits; /* of each version; that of a reference is not used */
    struct todo *todo;      /* of each version */
    size_t n_windows, n_versions;
    struct { /* the last window; shared: other records may use it */
        size_t seq;
        int64_t beg;
        size_t reference;
        bool shared;
    } last;
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
    w->codes = cov_malloc(n / 2, 2 * L, e);
    w->ref = cov_malloc(L, 1, e);
    w->windows = cov_calloc(n / 2, sizeof *w->windows, e);
    w->versions = cov_calloc(n, sizeof *w->versions, e);
    w->edits = cov_calloc(n, sizeof *w->edits, e);
    w->todo = cov_calloc(n, sizeof *w->todo, e);
    w->n_bases = cov_calloc(n, sizeof *w->n_bases, e);
    w->scores = cov_calloc(b->n_nets, sizeof *w->scores, e);
    size_t n_values;
    if (cov_size_mul(b->n_values, b->n_nets > 1 ? b->n_nets + 1 : 1, &n_values))
        return cov_fail(e, COV_ENOMEM, "a batch of %zu windows is too large", n);
    w->values = cov_malloc(n_values, sizeof *w->values, e);
    return w->codes && w->ref && w->windows && w->versions && w->edits && w->todo && w->n_bases &&
                   w->scores && w->values
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
    *b = (struct cov_effect_batches){.o = o,
                                     .size = o->step > 1  ? SHARED_SIZE
                                             : chunks < 4 ? 2
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
                                   const struct cov_effect_plan *plan)
{
    return plan->n_scored > 0 ? (1 + plan->n_scored) * (1 + b->o->n_shuffles) : 0;
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
    for (size_t i = 0; i < r->cap_values; i++)
        free(r->values[i].values[0]);
    free(r->values);
    free(r->scores);
}

/* ---------------------------------------------------------------- scores */

/* The two alleles of a version, as predicted by network `net`, counted from 1; 0: by their mean. */
static struct cov_effect_pair pair_of(const struct cov_effect_batches *b, const struct batch *w,
                                      size_t version, size_t net)
{
    const struct todo *t = &w->todo[version];
    const float *values = w->values + net * b->n_values;
    const size_t row = b->o->window * b->D;
    return (struct cov_effect_pair){
        .values = {values + t->reference * row, values + version * row},
        .n_bases = {w->n_bases[t->reference], w->n_bases[version]},
        .n_datasets = b->D,
        .at = t->record->plan.at,
        .n_allele1 = t->record->plan.n_ref,
        .n_allele2 = t->record->plan.alleles[t->allele].n,
    };
}

/* The scores of the genome's DNA come before those of shuffled DNA. */
static void score(const struct cov_effect_batches *b, struct batch *w, size_t version)
{
    const struct todo *t = &w->todo[version];
    const struct cov_effect_options *o = b->o;
    struct cov_effect_score *to = t->record->scores + t->allele * o->n_datasets * o->n_widths, s;
    struct cov_effect_pair pair = pair_of(b, w, version, 0);
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
            const struct cov_effect_pair own = pair_of(b, w, version, k + 1);
            cov_effect_score(&own, dataset, width, &w->scores[k]);
        }
        if (b->n_nets > 1)
            cov_effect_score_spread(to, w->scores, b->n_nets);
    }
}

/* Copies the values of an allele's version for tracks. */
static int keep_values(const struct cov_effect_batches *b, const struct batch *w, size_t version,
                       struct cov_err *e)
{
    const struct todo *t = &w->todo[version];
    const struct cov_effect_pair pair = pair_of(b, w, version, 0);
    struct cov_effect_values *to = &t->record->values[t->allele];
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

/* Predicts and scores the windows of the batch. */
static int flush(const struct cov_effect_batches *b, unsigned worker, struct cov_err *e)
{
    struct batch *w = &b->batches[worker];
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < b->n_nets; k++) {
        float *values = w->values + (b->n_nets > 1 ? k + 1 : 0) * b->n_values;
        rc = cov_edited_windows_predict(b->nets[k], worker, w->windows, w->n_windows, values,
                                        w->n_bases, e);
    }
    if (!rc && b->n_nets > 1)
        average(b, w);
    for (size_t i = 0; !rc && i < w->n_versions; i++)
        if (w->todo[i].record) {
            score(b, w, i);
            rc = b->o->tracks && w->todo[i].shuffle == 0 ? keep_values(b, w, i, e) : COV_OK;
        }
    w->n_windows = w->n_versions = 0;
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

/* Sets *reference to the version without edits of the batch's last window if that is the record's
 * window, too, with as many bases as the record needs. */
static int share_window(const struct cov_effect_batches *b, struct batch *w,
                        const struct cov_effect_plan *p, size_t *reference, struct cov_err *e)
{
    if (w->n_windows == 0 || !w->last.shared || w->last.seq != p->seq || w->last.beg != p->beg)
        return COV_OK;
    struct cov_edited_window *window = &w->windows[w->n_windows - 1];
    uint8_t *codes = w->codes + (w->n_windows - 1) * 2 * b->o->window;
    *reference = w->last.reference;
    if (p->n_codes <= window->n_codes)
        return COV_OK;
    window->n_codes = p->n_codes;
    return cov_genome_codes(b->o->genome, p->seq, p->beg, p->beg + (int64_t)p->n_codes, codes, e);
}

/* Begins the window of a record with the version without edits. */
static int begin_window(const struct cov_effect_batches *b, struct batch *w,
                        struct cov_effect_record *record, size_t number, struct cov_err *e)
{
    const struct cov_effect_plan *p = &record->plan;
    uint8_t *codes = w->codes + w->n_windows * 2 * b->o->window;
    w->windows[w->n_windows++] =
        (struct cov_edited_window){codes, p->n_codes, w->versions + w->n_versions, 1};
    w->last.seq = p->seq;
    w->last.beg = p->beg;
    w->last.reference = w->n_versions;
    w->last.shared = number == 0;
    w->versions[w->n_versions] = (struct cov_version){.n = 0};
    w->todo[w->n_versions++] = (struct todo){.record = NULL};
    int rc = cov_genome_codes(b->o->genome, p->seq, p->beg, p->beg + (int64_t)p->n_codes, codes, e);
    return rc || number == 0 ? rc : shuffle(b, w, record, number, codes, e);
}

/* Adds the alleles of a record to the batch, in the genome's DNA or in a shuffled window. A
 * record with more alleles than fit has several windows. */
static int add_window(const struct cov_effect_batches *b, unsigned worker,
                      struct cov_effect_record *record, size_t number, struct cov_err *e)
{
    struct batch *w = &b->batches[worker];
    const struct cov_effect_plan *p = &record->plan;
    size_t reference = SIZE_MAX;
    for (size_t i = 0; i < p->n_alleles; i++) {
        if (p->alleles[i].status != COV_ALLELE_SCORED)
            continue;
        int rc = COV_OK;
        if (reference == SIZE_MAX && number == 0)
            rc = share_window(b, w, p, &reference, e);
        if (!rc && w->n_versions + 1 + (reference == SIZE_MAX) > b->size) {
            rc = flush(b, worker, e);
            reference = SIZE_MAX;
        }
        if (!rc && reference == SIZE_MAX) {
            reference = w->n_versions;
            rc = begin_window(b, w, record, number, e);
        }
        if (rc)
            return rc;
        const size_t k = w->n_versions++;
        w->windows[w->n_windows - 1].n_versions++;
        w->edits[k] =
            (struct cov_edit){p->at, p->n_ref, p->codes + p->alleles[i].codes, p->alleles[i].n};
        w->versions[k] =
            (struct cov_version){&w->edits[k], 1, p->at > b->widest / 2 ? p->at - b->widest / 2 : 0,
                                 p->at + (b->widest - b->widest / 2)};
        w->todo[k] = (struct todo){record, i, reference, number};
    }
    return COV_OK;
}

int cov_effect_batches_score(struct cov_effect_batches *b, unsigned worker,
                             struct cov_effect_record *records, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    b->batches[worker].n_windows = b->batches[worker].n_versions = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; !rc && !records[i].done && k <= b->o->n_shuffles; k++)
            rc = add_window(b, worker, &records[i], k, e);
    return rc ? rc : flush(b, worker, e);
}
