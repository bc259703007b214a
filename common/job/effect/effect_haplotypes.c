/* effect_haplotypes.c - see effect_haplotypes.h.
 *
 * A second reader of the file is ahead of the record that is scored, by half a window. Its records
 * (neighbours) are kept as long as a window has them, with the groups of haplotypes that are equal in all
 * of them (haplotype_groups.h). For each group that has the allele, `collect` picks the changes in its
 * window, and `add_haplotype` makes them a row, or finds an equal one.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_haplotypes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/job/effect/haplotype_groups.h"

/* ---------------------------------------------------------------- rows */

void cov_effect_rows_fini(struct cov_effect_rows *r)
{
    free(r->rows);
    free(r->edits);
    free(r->codes);
    free(r->haps);
    *r = (struct cov_effect_rows){0};
}

static int add_row(struct cov_effect_rows *r, const struct cov_effect_plan *plan, size_t allele,
                   struct cov_err *e)
{
    int rc = COV_RESERVE(&r->rows, &r->cap, r->n + 1, e);
    if (!rc)
        r->rows[r->n++] = (struct cov_effect_row){.allele = allele,
                                                  .status = plan->alleles[allele].status,
                                                  .edits = r->n_edits,
                                                  .codes = r->n_codes,
                                                  .haps = r->n_haps,
                                                  .at = plan->at,
                                                  .n_codes = plan->n_codes};
    return rc;
}

static void empty_rows(struct cov_effect_rows *r)
{
    r->n = r->n_edits = r->n_codes = r->n_haps = 0;
}

int cov_effect_rows_plain(struct cov_effect_rows *r, const struct cov_effect_plan *plan,
                          struct cov_err *e)
{
    int rc = COV_OK;
    empty_rows(r);
    for (size_t i = 0; !rc && i < plan->n_alleles; i++)
        rc = add_row(r, plan, i, e);
    return rc;
}

size_t cov_effect_row_place(const struct cov_effect_rows *r, const struct cov_effect_row *row,
                            size_t i)
{
    size_t n = 0, from = 0; /* bases of the row's window so far, and of the genome's */
    for (size_t k = 0; k < row->n_edits; k++) {
        const struct cov_edit *edit = &r->edits[row->edits + k];
        if (k == row->own)
            continue;
        if (i < n + (edit->at - from))
            break;
        n += edit->at - from;
        if (i < n + edit->n_new) {
            const size_t most = edit->n_old > 0 ? edit->n_old - 1 : 0;
            const size_t at = edit->n_old > 0 || edit->at == 0 ? edit->at : edit->at - 1;
            return at + (i - n < most ? i - n : most);
        }
        n += edit->n_new;
        from = edit->at + edit->n_old;
    }
    return from + (i - n);
}

/* ---------------------------------------------------------------- reading ahead */

/* A changed stretch of the genome, without bases at its ends that an allele does not change. */
struct change {
    int64_t at;
    size_t n_old, codes, n_new;
    bool valid;
};

/* A record that has been read; the groups of haplotypes have a record for each. */
struct neighbour {
    int64_t number, pos;
    size_t seq, n_ref, n_alleles; /* n_alleles: of ALT */
    struct change *changes;       /* [n_alleles] */
    uint8_t *codes;
};

/* What a haplotype has of a record. */
struct pick {
    const struct neighbour *from;
    const struct change *change;
    bool own;
};

/* Of the rows of a record: enough for 10,000 haplotypes with 100 changes each. */
enum { MAX_EDITS = 1 << 20 };
#define NO_ROW UINT32_MAX

struct cov_haplotypes {
    const struct cov_effect_genome *g;
    size_t L;
    struct cov_variants *in;
    struct cov_variant record;
    struct cov_effect_plan plan;
    struct cov_genotypes genotypes;
    bool *is_used; /* [n_samples] */
    bool *is_seen; /* [sequences of the genome] */
    bool at_end, has_sets;
    int64_t number, pos;          /* of the last record that was read */
    size_t seq;                   /* SIZE_MAX: none, or not in the genome */
    struct neighbour *neighbours; /* ascending */
    size_t n_neighbours, cap_neighbours;
    struct cov_haplotype_groups *groups;
    struct pick *picks;
    size_t n_picks, cap_picks;
    uint32_t *row_of; /* scratch */
    size_t cap_row_of;
    int64_t n_phased, n_unphased; /* genotypes with an allele of ALT */
};

static void release_neighbour(struct neighbour *n)
{
    free(n->changes);
    free(n->codes);
}

void cov_haplotypes_free(struct cov_haplotypes *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n_neighbours; i++)
        release_neighbour(&h->neighbours[i]);
    free(h->neighbours);
    cov_haplotype_groups_free(h->groups);
    free(h->row_of);
    free(h->picks);
    free(h->is_used);
    free(h->is_seen);
    cov_genotypes_fini(&h->genotypes);
    cov_effect_plan_fini(&h->plan);
    cov_variant_fini(&h->record);
    cov_variants_close(h->in);
    free(h);
}

size_t cov_haplotypes_n_samples(const struct cov_haplotypes *h)
{
    return h ? cov_variants_n_samples(h->in) : 0;
}

const char *cov_haplotypes_sample(const struct cov_haplotypes *h, size_t sample)
{
    return cov_variants_sample(h->in, sample);
}

/* Sets the changes of the alleles that have bases. */
static int add_changes(const struct cov_haplotypes *h, struct neighbour *to, struct cov_err *e)
{
    const struct cov_effect_plan *p = &h->plan;
    size_t n_codes = p->n_ref;
    for (size_t i = 0; i < p->n_alleles; i++)
        n_codes += p->alleles[i].n;
    to->changes = cov_calloc(p->n_alleles + 1, sizeof *to->changes, e);
    to->codes = cov_malloc(n_codes + 1, 1, e);
    if (!to->changes || !to->codes)
        return COV_ENOMEM;
    uint8_t *ref = to->codes + (n_codes - p->n_ref), *end = to->codes;
    int rc = cov_genome_codes(h->g->genome, p->seq, to->pos, to->pos + (int64_t)p->n_ref, ref, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < p->n_alleles; i++) {
        const struct cov_effect_allele *a = &p->alleles[i];
        const uint8_t *alt = p->codes + a->codes;
        size_t first = 0, n_old = p->n_ref, n_new = a->n;
        if (a->status != COV_ALLELE_SCORED && a->status != COV_ALLELE_LONG &&
            a->status != COV_ALLELE_END)
            continue;
        for (; n_old > 0 && n_new > 0 && ref[first] == alt[first]; n_old--, n_new--)
            first++;
        while (n_old > 0 && n_new > 0 && ref[first + n_old - 1] == alt[first + n_new - 1]) {
            n_old--;
            n_new--;
        }
        to->changes[i] = (struct change){h->record.pos + (int64_t)first, n_old,
                                         (size_t)(end - to->codes), n_new, true};
        memcpy(end, alt + first, n_new);
        end += n_new;
    }
    return COV_OK;
}

/* Adds the genotypes of the record; `keep`: to the groups. */
static int add_calls(struct cov_haplotypes *h, bool keep, struct cov_err *e)
{
    const struct cov_genotypes *g = &h->genotypes;
    int rc = cov_variants_genotypes(h->in, &h->record, &h->genotypes, e);
    if (rc)
        return rc;
    struct cov_call *calls = keep ? cov_haplotype_groups_calls(h->groups, g->ploidy, e) : NULL;
    if (keep && !calls && g->n_samples > 0 && g->ploidy > 0)
        return COV_ENOMEM;
    for (size_t s = 0; s < g->n_samples && g->ploidy > 0; s++) {
        int32_t set;
        const enum cov_phase phase = cov_genotypes_phase(g, s, &set);
        bool has_alt = false;
        if (!h->is_used[s])
            continue;
        for (size_t k = 0; k < g->ploidy; k++) {
            const int32_t allele = cov_genotypes_allele(g, s, k);
            if (allele <= 0)
                continue;
            has_alt = true;
            if (calls && phase != COV_PHASE_NONE)
                calls[k * g->n_samples + s] =
                    (struct cov_call){allele, set, phase == COV_PHASE_EQUAL};
        }
        *(phase == COV_PHASE_NONE ? &h->n_unphased : &h->n_phased) += has_alt;
        h->has_sets = h->has_sets || (set > 0 && phase != COV_PHASE_NONE);
    }
    return keep ? cov_haplotype_groups_add(h->groups, e) : COV_OK;
}

/* Fails unless the record that was read last may come after those before it. */
static int check_order(struct cov_haplotypes *h, struct cov_err *e)
{
    const struct cov_variant *v = &h->record;
    size_t seq = SIZE_MAX;
    (void)cov_names_find(h->g->names, v->contig, strlen(v->contig), &seq);
    const bool sorted = seq == SIZE_MAX || (seq == h->seq ? v->pos >= h->pos : !h->is_seen[seq]);
    if (seq != SIZE_MAX)
        h->is_seen[seq] = true;
    h->seq = seq;
    h->pos = v->pos;
    h->number = v->number;
    return sorted ? COV_OK
                  : cov_variants_fail(h->in, e,
                                      "not sorted, as --haplotypes needs it: %.100s:%" PRId64
                                      " after a later position",
                                      v->contig, v->pos + 1);
}

/* Reads a record; `keep`: and adds it to h->neighbours if it can be in haplotypes. */
static int read_ahead(struct cov_haplotypes *h, bool keep, struct cov_err *e)
{
    const int got = cov_variants_next(h->in, &h->record, e);
    h->at_end = got == 0;
    if (got <= 0)
        return got;
    int rc = check_order(h, e);
    if (!rc)
        rc = cov_effect_plan_make(&h->plan, h->g, h->L, 1, &h->record, e);
    if (rc || h->plan.status != COV_ALLELE_SCORED)
        return rc;
    struct neighbour new = {h->number,         h->pos, h->seq, h->plan.n_ref,
                            h->plan.n_alleles, NULL,   NULL};
    if (keep)
        rc = COV_RESERVE(&h->neighbours, &h->cap_neighbours, h->n_neighbours + 1, e);
    if (!rc && keep)
        rc = add_changes(h, &new, e);
    if (!rc)
        rc = add_calls(h, keep, e);
    if (rc || !keep)
        release_neighbour(&new);
    else
        h->neighbours[h->n_neighbours++] = new;
    return rc;
}

/* Reads all records of the sequence before this position, and at least the one of this number. */
static int read_until(struct cov_haplotypes *h, size_t seq, int64_t pos, int64_t number,
                      struct cov_err *e)
{
    int rc = COV_OK;
    while (!rc && !h->at_end &&
           (h->number < number || (h->seq == seq ? h->pos < pos : !h->is_seen[seq])))
        rc = read_ahead(h, true, e);
    return rc;
}

/* Drops records that begin before the window of a record. */
static int drop(struct cov_haplotypes *h, size_t seq, int64_t beg, int64_t number,
                struct cov_err *e)
{
    size_t n = 0;
    while (n < h->n_neighbours && h->neighbours[n].number < number &&
           (h->neighbours[n].seq != seq || h->neighbours[n].pos < beg))
        release_neighbour(&h->neighbours[n++]);
    h->n_neighbours -= n;
    if (n > 0)
        memmove(h->neighbours, h->neighbours + n, h->n_neighbours * sizeof *h->neighbours);
    return cov_haplotype_groups_drop(h->groups, n, e);
}

/* ---------------------------------------------------------------- opening */

static int choose_samples(struct cov_haplotypes *h, const char *const *samples, size_t n,
                          struct cov_err *e)
{
    const size_t n_all = cov_variants_n_samples(h->in);
    if (n_all == 0)
        return cov_fail(e, COV_EINPUT, "%s: no samples, whose genotypes --haplotypes needs",
                        cov_variants_name(h->in));
    h->is_used = cov_calloc(n_all, sizeof *h->is_used, e);
    if (!h->is_used)
        return COV_ENOMEM;
    for (size_t s = 0; n == 0 && s < n_all; s++)
        h->is_used[s] = true;
    for (size_t i = 0; i < n; i++) {
        size_t s = 0;
        while (s < n_all && strcmp(samples[i], cov_variants_sample(h->in, s)) != 0)
            s++;
        if (s == n_all)
            return cov_fail(e, COV_EINPUT, "--samples: %s does not have '%.100s'",
                            cov_variants_name(h->in), samples[i]);
        h->is_used[s] = true;
    }
    return COV_OK;
}

static int open_once(const char *path, const struct cov_effect_haplotype_options *o,
                     const struct cov_effect_genome *g, struct cov_haplotypes **out,
                     struct cov_err *e)
{
    struct cov_haplotypes *h = *out = cov_calloc(1, sizeof *h, e);
    if (!h)
        return COV_ENOMEM;
    h->g = g;
    h->L = o->L;
    h->seq = SIZE_MAX;
    h->is_seen = cov_calloc(g->genome->n_seqs, sizeof *h->is_seen, e);
    int rc = h->is_seen ? cov_variant_init(&h->record, e) : COV_ENOMEM;
    if (!rc)
        rc = cov_variants_open(path, NULL, true, &h->in, e);
    if (!rc)
        rc = choose_samples(h, o->samples, o->n_samples, e);
    return rc ? rc : cov_haplotype_groups_new(cov_variants_n_samples(h->in), &h->groups, e);
}

/* Warns of genotypes that are in no haplotype, or contradict themselves. */
static void warn_genotypes(const struct cov_haplotypes *h)
{
    const char *name = cov_variants_name(h->in);
    const int64_t n_signs = cov_variants_n_signs(h->in);
    if (n_signs > 0)
        cov_warn("%s: genotypes with another phase sign before the first allele than after it "
                 "(%" PRId64 "); the first sign does not count",
                 name, n_signs);
    if (h->n_phased == 0 && h->number > 0)
        cov_warn("%s: no phased genotype (0|1) has an allele of ALT, so that --haplotypes has no "
                 "effect; not phased: %" PRId64,
                 name, h->n_unphased);
    else if (h->n_unphased > 0)
        cov_warn("%s: genotypes that are not phased (0/1) are in no haplotype (%" PRId64
                 " of %" PRId64 " with an allele of ALT)",
                 name, h->n_unphased, h->n_unphased + h->n_phased);
}

int cov_haplotypes_open(const char *path, const struct cov_effect_haplotype_options *options,
                        const struct cov_effect_genome *g, struct cov_haplotypes **out,
                        struct cov_err *e)
{
    struct cov_haplotypes *check = NULL;
    *out = NULL;
    int rc = open_once(path, options, g, &check, e);
    while (!rc && !check->at_end)
        rc = read_ahead(check, false, e);
    if (!rc)
        warn_genotypes(check);
    cov_haplotypes_free(check);
    if (!rc)
        rc = open_once(path, options, g, out, e);
    if (rc) {
        cov_haplotypes_free(*out);
        *out = NULL;
    }
    return rc;
}

/* ---------------------------------------------------------------- haplotypes */

/* Returns the phase set of a group around a record: its own, or, if all copies are equal, that of the
 * nearest variant on it which has one. */
static int32_t set_of(const struct cov_haplotypes *h, size_t own, const struct cov_group_call *c)
{
    const struct neighbour *from = &h->neighbours[own];
    int64_t best = INT64_MAX;
    int32_t set = 0;
    if (!c->call.equal || c->call.set > 0 || !h->has_sets)
        return c->call.set;
    for (size_t i = 0; i < h->n_neighbours; i++) {
        const struct neighbour *n = &h->neighbours[i];
        const int64_t distance = n->pos < from->pos ? from->pos - n->pos : n->pos - from->pos;
        if (n->seq != from->seq || distance >= best)
            continue;
        const struct cov_call *other = cov_haplotype_groups_find(h->groups, i, c->group);
        if (other && !other->equal && n->changes[other->allele - 1].valid) {
            best = distance;
            set = other->set;
        }
    }
    return set;
}

/* Sets h->picks to what the group has of the records that begin in [beg, end), except `own`. */
static int pick_changes(struct cov_haplotypes *h, size_t own, const struct cov_group_call *c,
                        int64_t beg, int64_t end, struct cov_err *e)
{
    const int32_t set = set_of(h, own, c);
    int rc = COV_OK;
    h->n_picks = 0;
    for (size_t i = 0; !rc && i < h->n_neighbours; i++) {
        const struct neighbour *n = &h->neighbours[i];
        if (i == own || n->seq != h->neighbours[own].seq || n->pos < beg || n->pos >= end)
            continue;
        const struct cov_call *other = cov_haplotype_groups_find(h->groups, i, c->group);
        const struct change *change = other ? &n->changes[other->allele - 1] : NULL;
        if (!other || !change->valid || (!other->equal && other->set != set))
            continue;
        rc = COV_RESERVE(&h->picks, &h->cap_picks, h->n_picks + 2, e);
        if (!rc)
            h->picks[h->n_picks++] = (struct pick){n, change, false};
    }
    return rc;
}

static int compare_picks(const void *a, const void *b)
{
    const struct pick *x = a, *y = b;
    if (x->change->at != y->change->at)
        return x->change->at < y->change->at ? -1 : 1;
    if ((x->change->n_old > 0) != (y->change->n_old > 0)) /* insertions come first */
        return x->change->n_old > 0 ? 1 : -1;
    return (x->from->number > y->from->number) - (x->from->number < y->from->number);
}

/* Returns true if both cannot be made: they replace the same base, insert at the same place, or one
 * inserts within what the other replaces. */
static bool overlap(const struct change *a, const struct change *b)
{
    const int64_t a_end = a->at + (int64_t)a->n_old, b_end = b->at + (int64_t)b->n_old;
    if (a->at == b->at)
        return (a->n_old > 0) == (b->n_old > 0);
    return a->at < b_end && b->at < a_end;
}

/* Sorts the picks, and drops those that overlap `own` or one that begins before them. */
static int settle_picks(struct cov_haplotypes *h, const struct neighbour *own,
                        const struct change *change, struct cov_err *e)
{
    size_t n = 0;
    int rc = COV_RESERVE(&h->picks, &h->cap_picks, h->n_picks + 1, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < h->n_picks; i++)
        if (!overlap(h->picks[i].change, change))
            h->picks[n++] = h->picks[i];
    h->picks[n++] = (struct pick){own, change, true};
    qsort(h->picks, n, sizeof *h->picks, compare_picks);
    h->n_picks = 0;
    for (size_t i = 0; i < n; i++)
        if (h->n_picks == 0 || h->picks[i].own ||
            !overlap(h->picks[i].change, h->picks[h->n_picks - 1].change))
            h->picks[h->n_picks++] = h->picks[i];
    return COV_OK;
}

/* Returns the place of a record among the neighbours. It is not there, or is another one, only if the file
 * has changed since it was checked. */
static int find_own(const struct cov_haplotypes *h, const struct cov_variant *v,
                    const struct cov_effect_plan *plan, size_t *own, struct cov_err *e)
{
    size_t k = 0;
    while (k < h->n_neighbours && h->neighbours[k].number < v->number)
        k++;
    const struct neighbour *n = &h->neighbours[k];
    bool same = k < h->n_neighbours && n->number == v->number && n->seq == plan->seq &&
                n->pos == v->pos && n->n_ref == plan->n_ref && n->n_alleles == plan->n_alleles;
    for (size_t i = 0; same && i < n->n_alleles; i++)
        same = !n->changes[i].valid ||
               n->n_ref + n->changes[i].n_new == plan->alleles[i].n + n->changes[i].n_old;
    *own = k;
    return same ? COV_OK
                : cov_fail(e, COV_EINPUT, "%s: changed while it was read; run again",
                           cov_variants_name(h->in));
}

/* Reads ahead as far as the window of a group reaches, and sets h->picks: for a record, and this one of
 * its calls. */
static int collect(struct cov_haplotypes *h, const struct cov_effect_plan *plan, size_t own,
                   size_t call, struct cov_err *e)
{
    const int64_t number = h->neighbours[own].number;
    int64_t end = -1, wanted = plan->beg;
    int rc = COV_OK;
    while (!rc && wanted > end) {
        size_t n;
        end = wanted;
        rc = read_until(h, plan->seq, end, number, e);
        if (rc)
            return rc;
        /* Reading moves all of these. */
        const struct cov_group_call *c = &cov_haplotype_groups_record(h->groups, own, &n)[call];
        const struct change *change = &h->neighbours[own].changes[c->call.allele - 1];
        rc = pick_changes(h, own, c, plan->beg, end, e);
        if (!rc)
            rc = settle_picks(h, &h->neighbours[own], change, e);
        wanted = plan->beg + (int64_t)(h->L + change->n_new);
        for (size_t i = 0; !rc && i < h->n_picks; i++)
            if (h->picks[i].change->n_old > h->picks[i].change->n_new)
                wanted += (int64_t)(h->picks[i].change->n_old - h->picks[i].change->n_new);
    }
    return rc;
}

static int add_edit(const struct pick *pick, size_t at, struct cov_effect_rows *r,
                    struct cov_effect_row *row, struct cov_err *e)
{
    const struct change *c = pick->change;
    int rc = COV_RESERVE(&r->edits, &r->cap_edits, r->n_edits + 1, e);
    if (!rc)
        rc = COV_RESERVE(&r->codes, &r->cap_codes, r->n_codes + c->n_new + 1, e);
    if (rc)
        return rc;
    if (pick->own)
        row->own = row->n_edits;
    r->edits[r->n_edits++] = (struct cov_edit){at, c->n_old, NULL, c->n_new};
    row->n_edits++;
    memcpy(r->codes + r->n_codes, pick->from->codes + c->codes, c->n_new);
    r->n_codes += c->n_new;
    return COV_OK;
}

/* Returns whether the alleles are in the window, where the haplotype moves them. */
static enum cov_allele_status status_of(const struct cov_haplotypes *h,
                                        const struct cov_effect_plan *plan,
                                        const struct cov_effect_row *row)
{
    const size_t n = plan->alleles[row->allele].n;
    const int64_t length = h->g->genome->lengths[plan->seq], moved = (int64_t)(row->at + n);
    if (row->at + plan->n_ref <= h->L && row->at + n <= h->L)
        return COV_ALLELE_SCORED;
    /* In each larger window, too, which ends with the sequence. */
    return length >= (int64_t)h->L && moved > length - plan->beg ? COV_ALLELE_END : COV_ALLELE_LONG;
}

/* Appends the picks that begin within the window of the haplotype to the rows' edits. */
static int add_edits(const struct cov_haplotypes *h, const struct cov_effect_plan *plan,
                     const struct change *own, struct cov_effect_rows *r,
                     struct cov_effect_row *row, struct cov_err *e)
{
    size_t n = 0, from = 0; /* bases of the haplotype's window so far, and of the genome's */
    int rc = COV_OK;
    row->n_codes = h->L + own->n_new;
    for (size_t i = 0; !rc && i < h->n_picks; i++) {
        const struct change *c = h->picks[i].change;
        const size_t at = (size_t)(c->at - plan->beg);
        n += at - from;
        if (h->picks[i].own) /* REF begins at - plan->at bases earlier */
            row->at = n + plan->at > at ? n + plan->at - at : 0;
        if (n < row->n_codes || h->picks[i].own)
            rc = add_edit(&h->picks[i], at, r, row, e);
        n += c->n_new;
        from = at + c->n_old;
    }
    row->status = status_of(h, plan, row);
    row->restored = r->n_codes;
    if (!rc)
        rc = COV_RESERVE(&r->codes, &r->cap_codes, r->n_codes + own->n_old + 1, e);
    if (!rc)
        rc = cov_genome_codes(h->g->genome, plan->seq, own->at, own->at + (int64_t)own->n_old,
                              r->codes + r->n_codes, e);
    r->n_codes += own->n_old;
    return rc;
}

static bool rows_equal(const struct cov_effect_rows *r, const struct cov_effect_row *a,
                       const struct cov_effect_row *b)
{
    if (a->allele != b->allele || a->n_edits != b->n_edits ||
        a->restored - a->codes != b->restored - b->codes ||
        memcmp(r->codes + a->codes, r->codes + b->codes, a->restored - a->codes) != 0)
        return false;
    for (size_t i = 0; i < a->n_edits; i++) {
        const struct cov_edit *x = &r->edits[a->edits + i], *y = &r->edits[b->edits + i];
        if (x->at != y->at || x->n_old != y->n_old || x->n_new != y->n_new)
            return false;
    }
    return true;
}

/* Finds the row with the same changes, from the n_rows-th on, or adds one. */
static int add_haplotype(struct cov_haplotypes *h, const struct cov_effect_plan *plan,
                         size_t allele, struct cov_effect_rows *r, size_t n_rows, size_t *row_of,
                         struct cov_err *e)
{
    const size_t n_edits = r->n_edits, n_codes = r->n_codes;
    const struct change *own = NULL;
    int rc = add_row(r, plan, allele, e);
    for (size_t i = 0; i < h->n_picks; i++)
        own = h->picks[i].own ? h->picks[i].change : own;
    assert(own);
    if (!rc)
        rc = add_edits(h, plan, own, r, &r->rows[r->n - 1], e);
    for (*row_of = n_rows; !rc && *row_of + 1 < r->n; ++*row_of)
        if (rows_equal(r, &r->rows[*row_of], &r->rows[r->n - 1])) {
            r->n--;
            r->n_edits = n_edits;
            r->n_codes = n_codes;
            return COV_OK;
        }
    return rc;
}

static int compare_rows(const void *a, const void *b)
{
    const size_t x = ((const struct cov_effect_row *)a)->first;
    const size_t y = ((const struct cov_effect_row *)b)->first;
    return (x > y) - (x < y);
}

/* Adds the haplotypes of the groups to their rows, ascending, and sorts the rows by the first ones:
 * h->row_of[group] is the number of a row, from the n_rows-th on, or NO_ROW. */
static int add_names(const struct cov_haplotypes *h, struct cov_effect_rows *r, size_t n_rows,
                     struct cov_err *e)
{
    const size_t n_samples = cov_variants_n_samples(h->in);
    const size_t n_copies = cov_haplotype_groups_n_copies(h->groups);
    size_t n = r->n_haps;
    for (size_t s = 0; s < n_samples; s++)
        for (size_t k = 0; k < n_copies; k++) {
            const uint32_t row = h->row_of[cov_haplotype_groups_of(h->groups, s, k)];
            if (row != NO_ROW && r->rows[row].n_haps++ == 0)
                r->rows[row].first = s * n_copies + k;
        }
    for (size_t i = n_rows; i < r->n; i++) {
        r->rows[i].haps = n;
        n += r->rows[i].n_haps;
        r->rows[i].n_haps = 0;
    }
    int rc = COV_RESERVE(&r->haps, &r->cap_haps, n, e);
    for (size_t s = 0; !rc && s < n_samples; s++)
        for (size_t k = 0; k < n_copies; k++) {
            const uint32_t row = h->row_of[cov_haplotype_groups_of(h->groups, s, k)];
            if (row != NO_ROW)
                r->haps[r->rows[row].haps + r->rows[row].n_haps++] =
                    (struct cov_haplotype){(uint32_t)s, (uint32_t)k};
        }
    r->n_haps = n;
    qsort(r->rows + n_rows, r->n - n_rows, sizeof *r->rows, compare_rows);
    return rc;
}

/* Reads ahead as far as all windows with this allele (of ALT, from 1) reach. */
static int collect_all(struct cov_haplotypes *h, const struct cov_effect_plan *plan, size_t own,
                       int32_t allele, struct cov_err *e)
{
    int64_t before;
    int rc = COV_OK;
    do {
        size_t n = 1;
        before = h->number;
        for (size_t i = 0; !rc && i < n; i++) {
            const struct cov_group_call *c = cov_haplotype_groups_record(h->groups, own, &n);
            if (i < n && c[i].call.allele == allele)
                rc = collect(h, plan, own, i, e);
        }
    } while (!rc && h->number > before);
    return rc;
}

/* Adds rows for this allele (of ALT, from 1) in the haplotypes that have it. */
static int add_allele(struct cov_haplotypes *h, const struct cov_effect_plan *plan, size_t own,
                      int32_t allele, struct cov_effect_rows *r, struct cov_err *e)
{
    const size_t n_rows = r->n;
    size_t n;
    int rc = collect_all(h, plan, own, allele, e);
    if (!rc)
        rc = COV_RESERVE(&h->row_of, &h->cap_row_of, cov_haplotype_groups_n(h->groups), e);
    for (size_t i = 0; !rc && i < cov_haplotype_groups_n(h->groups); i++)
        h->row_of[i] = NO_ROW;
    const struct cov_group_call *c = cov_haplotype_groups_record(h->groups, own, &n);
    for (size_t i = 0; !rc && i < n; i++) {
        size_t row = 0;
        if (c[i].call.allele != allele)
            continue;
        rc = collect(h, plan, own, i, e);
        if (!rc)
            rc = add_haplotype(h, plan, (size_t)allele - 1, r, n_rows, &row, e);
        if (!rc && r->n_edits > MAX_EDITS)
            rc = cov_fail(e, COV_EINPUT,
                          "%s: record %" PRId64 ": more than %d changes in the windows of its "
                          "haplotypes; use fewer --samples or a smaller --window",
                          cov_variants_name(h->in), h->neighbours[own].number, MAX_EDITS);
        h->row_of[c[i].group] = (uint32_t)row;
    }
    if (rc)
        return rc;
    return r->n > n_rows ? add_names(h, r, n_rows, e) : add_row(r, plan, (size_t)allele - 1, e);
}

int cov_haplotypes_rows(struct cov_haplotypes *h, const struct cov_variant *v,
                        const struct cov_effect_plan *plan, struct cov_effect_rows *rows,
                        struct cov_err *e)
{
    size_t own = 0;
    int rc = COV_OK;
    if (plan->status != COV_ALLELE_SCORED)
        return cov_effect_rows_plain(rows, plan, e);
    empty_rows(rows);
    rc = drop(h, plan->seq, plan->beg, v->number, e);
    if (!rc)
        rc = read_until(h, plan->seq, v->pos + 1, v->number, e);
    if (!rc)
        rc = drop(h, plan->seq, plan->beg, v->number, e);
    if (!rc)
        rc = find_own(h, v, plan, &own, e);
    for (size_t i = 0; !rc && i < plan->n_alleles; i++)
        rc = plan->alleles[i].status == COV_ALLELE_SCORED
                 ? add_allele(h, plan, own, (int32_t)i + 1, rows, e)
                 : add_row(rows, plan, i, e);
    for (size_t i = 0; !rc && i < rows->n; i++) {
        if (rows->rows[i].n_edits == 0)
            continue;
        const uint8_t *codes = rows->codes + rows->rows[i].codes;
        for (size_t k = 0; k < rows->rows[i].n_edits; k++) {
            struct cov_edit *edit = &rows->edits[rows->rows[i].edits + k];
            edit->codes = codes;
            codes += edit->n_new;
        }
    }
    return rc;
}
