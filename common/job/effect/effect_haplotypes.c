/* effect_haplotypes.c - see effect_haplotypes.h.
 *
 * A second reader of the file (haplotype_reader.h) is ahead of the record that is scored, by half a window.
 * For each group of equal haplotypes that has an allele, `collect` picks the changes in its window, and
 * `add_haplotype` makes them a row, or finds an equal one.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_haplotypes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/job/effect/effect_scores.h"

/* ---------------------------------------------------------------- rows */

void cov_effect_rows_fini(struct cov_effect_rows *r)
{
    free(r->rows);
    free(r->edits);
    free(r->codes);
    free(r->haps);
    *r = (struct cov_effect_rows){0};
}

static int add_row(struct cov_effect_rows *r, const struct cov_alleles *alleles, size_t allele,
                   struct cov_err *e)
{
    int rc = COV_RESERVE(&r->rows, &r->cap, r->n + 1, e);
    if (!rc)
        r->rows[r->n++] = (struct cov_effect_row){.allele = allele,
                                                  .status = alleles->items[allele].status,
                                                  .edits = r->n_edits,
                                                  .codes = r->n_codes,
                                                  .haps = r->n_haps,
                                                  .at = alleles->at,
                                                  .n_codes = alleles->n_codes};
    return rc;
}

static void empty_rows(struct cov_effect_rows *r)
{
    r->n = r->n_edits = r->n_codes = r->n_haps = 0;
}

int cov_effect_rows_plain(struct cov_effect_rows *r, const struct cov_alleles *alleles,
                          struct cov_err *e)
{
    int rc = COV_OK;
    empty_rows(r);
    for (size_t i = 0; !rc && i < alleles->n_alleles; i++)
        rc = add_row(r, alleles, i, e);
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

/* ---------------------------------------------------------------- haplotypes */

/* What a haplotype has of a record. */
struct pick {
    const struct cov_haplotype_record *from;
    const struct cov_haplotype_change *change;
    bool own;
};

/* Changes that others overlap, in addition to a number for each row. */
enum { MAX_OVERLAPS = 1 << 22, ROW_OVERLAPS = 64, MB_SHIFT = 20 };
#define NO_ROW UINT32_MAX

struct cov_haplotypes {
    struct cov_haplotype_reader *reader;
    size_t row_bytes; /* that the caller needs for a row, which count for the limit of memory */
    struct pick *picks;
    size_t n_picks, cap_picks;
    uint64_t n_overlaps, n_rows; /* so far */
    /* Scratch. */
    bool *has_row;           /* alleles */
    uint32_t *row_of;        /* groups */
    struct cov_names *names; /* the changes of each row, as bytes */
    char *name;              /* those of the last row */
    size_t cap_has_row, cap_row_of, cap_name;
};

int cov_haplotypes_open(const struct cov_effect_options *options, const struct cov_effect_genome *g,
                        struct cov_haplotypes **out, struct cov_err *e)
{
    struct cov_haplotypes *h = *out = cov_calloc(1, sizeof *h, e);
    if (!h)
        return COV_ENOMEM;
    h->row_bytes = options->n_datasets * options->n_widths * sizeof(struct cov_effect_score);
    int rc = cov_haplotype_reader_open(options, g, &h->reader, e);
    if (rc) {
        cov_haplotypes_free(h);
        *out = NULL;
    }
    return rc;
}

void cov_haplotypes_free(struct cov_haplotypes *h)
{
    if (!h)
        return;
    cov_haplotype_reader_close(h->reader);
    free(h->picks);
    free(h->has_row);
    free(h->row_of);
    free(h->name);
    cov_names_free(h->names);
    free(h);
}

size_t cov_haplotypes_n_samples(const struct cov_haplotypes *h)
{
    return h ? cov_variants_n_samples(h->reader->in) : 0;
}

const char *cov_haplotypes_sample(const struct cov_haplotypes *h, size_t sample)
{
    return cov_variants_sample(h->reader->in, sample);
}

/* A record that is scored, and what a group has in it. */
struct own_call {
    size_t record; /* among those that are kept */
    uint32_t group;
    struct cov_call call;
    const struct cov_haplotype_change *change; /* valid until a record is read */
};

/* Returns the record of a call among those that are kept. */
static size_t record_of(const struct cov_haplotypes *h, const struct cov_group_call *c)
{
    return c->record - h->reader->groups->first;
}

/* Returns the phase set of a group around a record: its own, or, if all copies are equal, that of the
 * nearest variant on it before `end` which has one. */
static int32_t set_of(const struct cov_haplotypes *h, const struct own_call *own, int64_t end)
{
    const struct cov_haplotype_record *from = cov_haplotype_reader_record(h->reader, own->record);
    int64_t best = INT64_MAX;
    int32_t set = 0;
    size_t n;
    if (!own->call.equal || own->call.set > 0 || !h->reader->has_sets)
        return own->call.set;
    const struct cov_group_call *c = cov_haplotype_groups_list(h->reader->groups, own->group, &n);
    for (size_t i = 0; i < n; i++) {
        const struct cov_haplotype_record *other =
            cov_haplotype_reader_record(h->reader, record_of(h, &c[i]));
        const int64_t distance =
            other->pos < from->pos ? from->pos - other->pos : other->pos - from->pos;
        if (other->seq != from->seq || other->pos >= end)
            break;
        if (!c[i].call.equal && other->changes[c[i].call.allele - 1].valid && distance < best) {
            best = distance;
            set = c[i].call.set;
        }
    }
    return set;
}

/* Sets h->picks to what the group has of the records that begin before `end`, except its own. */
static int pick_changes(struct cov_haplotypes *h, const struct own_call *own, int64_t end,
                        struct cov_err *e)
{
    const int32_t set = set_of(h, own, end);
    const size_t seq = cov_haplotype_reader_record(h->reader, own->record)->seq;
    size_t n;
    const struct cov_group_call *c = cov_haplotype_groups_list(h->reader->groups, own->group, &n);
    int rc = COV_RESERVE(&h->picks, &h->cap_picks, n + 1, e);
    h->n_picks = 0;
    for (size_t i = 0; !rc && i < n; i++) {
        const size_t record = record_of(h, &c[i]);
        const struct cov_haplotype_record *from = cov_haplotype_reader_record(h->reader, record);
        const struct cov_haplotype_change *change = &from->changes[c[i].call.allele - 1];
        if (from->seq != seq || from->pos >= end)
            break;
        if (record != own->record && change->valid && (c[i].call.equal || c[i].call.set == set))
            h->picks[h->n_picks++] = (struct pick){from, change, false};
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
static bool overlap(const struct cov_haplotype_change *a, const struct cov_haplotype_change *b)
{
    const int64_t a_end = a->at + (int64_t)a->n_old, b_end = b->at + (int64_t)b->n_old;
    if (a->at == b->at)
        return (a->n_old > 0) == (b->n_old > 0);
    return a->at < b_end && b->at < a_end;
}

/* Fails if most work is for changes that have no effect. */
static int check_overlaps(const struct cov_haplotypes *h, const struct own_call *own,
                          struct cov_err *e)
{
    return h->n_overlaps <= MAX_OVERLAPS + ROW_OVERLAPS * h->n_rows
               ? COV_OK
               : cov_fail(e, COV_EINPUT,
                          "%s: record %" PRId64
                          ": too many overlapping changes (the limit is %d, plus %d per row); "
                          "remove duplicate and overlapping records",
                          cov_variants_name(h->reader->in),
                          cov_haplotype_reader_record(h->reader, own->record)->number, MAX_OVERLAPS,
                          ROW_OVERLAPS);
}

/* Adds the own change to the picks, sorts them, and drops those that overlap it or one that begins before
 * them. */
static int settle_picks(struct cov_haplotypes *h, const struct own_call *own, struct cov_err *e)
{
    const size_t n_all = h->n_picks + 1;
    bool sorted = true;
    size_t n = 0;
    for (size_t i = 0; i < h->n_picks; i++)
        if (!overlap(h->picks[i].change, own->change))
            h->picks[n++] = h->picks[i];
    h->picks[n++] =
        (struct pick){cov_haplotype_reader_record(h->reader, own->record), own->change, true};
    for (size_t i = n - 1; i > 0 && compare_picks(&h->picks[i - 1], &h->picks[i]) > 0; i--) {
        const struct pick last = h->picks[i];
        h->picks[i] = h->picks[i - 1];
        h->picks[i - 1] = last;
    }
    for (size_t i = 1; i < n; i++)
        sorted = sorted && compare_picks(&h->picks[i - 1], &h->picks[i]) <= 0;
    if (!sorted)
        qsort(h->picks, n, sizeof *h->picks, compare_picks);
    h->n_picks = 0;
    for (size_t i = 0; i < n; i++)
        if (h->n_picks == 0 || h->picks[i].own ||
            !overlap(h->picks[i].change, h->picks[h->n_picks - 1].change))
            h->picks[h->n_picks++] = h->picks[i];
    h->n_overlaps += n_all - h->n_picks;
    return check_overlaps(h, own, e);
}

/* Returns the end of the genome's bases that the window of the haplotype needs, and drops the picks after
 * it. */
static int64_t window_end(struct cov_haplotypes *h, const struct cov_alleles *alleles,
                          const struct own_call *own)
{
    const size_t most = h->reader->L + own->change->n_new;
    size_t n = 0; /* bases of the haplotype's window so far */
    int64_t from = alleles->beg;
    bool has_own = false;
    for (size_t i = 0; i < h->n_picks; i++) {
        const struct cov_haplotype_change *c = h->picks[i].change;
        if (has_own && (uint64_t)(c->at - from) >= most - n) {
            h->n_picks = i;
            break;
        }
        has_own = has_own || h->picks[i].own;
        n += (size_t)(c->at - from) + c->n_new;
        n = n < most ? n : most;
        from = c->at + (int64_t)c->n_old;
    }
    return from + (int64_t)(most - n);
}

/* Returns the place of a record among the records that are kept. It is not there, or is another one, only if the file
 * has changed since it was checked. */
static int find_own(const struct cov_haplotypes *h, const struct cov_variant *v,
                    const struct cov_alleles *alleles, size_t *own, struct cov_err *e)
{
    size_t k = 0, end = h->reader->n;
    while (k < end) {
        const size_t mid = k + (end - k) / 2;
        if (cov_haplotype_reader_record(h->reader, mid)->number < v->number)
            k = mid + 1;
        else
            end = mid;
    }
    const struct cov_haplotype_record *n = cov_haplotype_reader_record(h->reader, k);
    bool same = k < h->reader->n && n->number == v->number && n->seq == alleles->seq &&
                n->pos == v->pos && n->n_ref == alleles->n_ref &&
                n->n_alleles == alleles->n_alleles;
    for (size_t i = 0; same && i < n->n_alleles; i++)
        same = !n->changes[i].valid || alleles->items[i].n_ref + n->changes[i].n_new ==
                                           alleles->items[i].n + n->changes[i].n_old;
    *own = k;
    return same ? COV_OK
                : cov_fail(e, COV_EINPUT, "%s: changed while it was read; run again",
                           cov_variants_name(h->reader->in));
}

/* Reads ahead as far as the window of a group reaches, and sets h->picks. */
static int collect(struct cov_haplotypes *h, const struct cov_alleles *alleles,
                   struct own_call *own, struct cov_err *e)
{
    enum { SHARE = 16 }; /* of a window: the first step, which doubles, so that there are few */
    const int64_t number = cov_haplotype_reader_record(h->reader, own->record)->number,
                  L = (int64_t)h->reader->L;
    int64_t end = alleles->beg, wanted = end + L;
    int rc = COV_OK;
    for (int64_t step = 0; !rc && wanted > end; step = step ? 2 * step : L / SHARE + 1) {
        const bool again = end > alleles->beg;
        end = again && wanted < end + step ? end + step : wanted;
        rc = cov_haplotype_reader_until(h->reader, alleles->seq, end, number, e);
        own->change =
            &cov_haplotype_reader_record(h->reader, own->record)->changes[own->call.allele - 1];
        if (!rc)
            rc = pick_changes(h, own, end, e);
        if (!rc)
            rc = settle_picks(h, own, e);
        if (!rc)
            wanted = window_end(h, alleles, own);
    }
    return rc;
}

/* Appends a change, of which the window needs at most n_new bases. */
static int add_edit(const struct pick *pick, size_t at, size_t n_new, struct cov_effect_rows *r,
                    struct cov_effect_row *row, struct cov_err *e)
{
    const struct cov_haplotype_change *c = pick->change;
    n_new = pick->own || c->n_new < n_new ? c->n_new : n_new;
    int rc = COV_RESERVE(&r->edits, &r->cap_edits, r->n_edits + 1, e);
    if (!rc)
        rc = COV_RESERVE(&r->codes, &r->cap_codes, r->n_codes + n_new + 1, e);
    if (rc)
        return rc;
    if (pick->own)
        row->own = row->n_edits;
    r->edits[r->n_edits++] = (struct cov_edit){at, c->n_old, NULL, n_new};
    row->n_edits++;
    memcpy(r->codes + r->n_codes, pick->from->codes + c->codes, n_new);
    r->n_codes += n_new;
    return COV_OK;
}

/* Returns whether the alleles are in the window, where the haplotype moves them. */
static enum cov_allele_status status_of(const struct cov_haplotypes *h,
                                        const struct cov_alleles *alleles,
                                        const struct cov_effect_row *row)
{
    const size_t n_ref = alleles->items[row->allele].n_ref, n = alleles->items[row->allele].n;
    const int64_t length = h->reader->g->genome->lengths[alleles->seq],
                  moved = (int64_t)(row->at + n);
    if (row->at + n_ref <= h->reader->L && row->at + n <= h->reader->L)
        return COV_ALLELE_SCORED;
    /* In each larger window, too, which ends with the sequence. */
    return length >= (int64_t)h->reader->L && moved > length - alleles->beg ? COV_ALLELE_END
                                                                            : COV_ALLELE_LONG;
}

/* Appends the picks that begin within the window of the haplotype to the rows' edits. */
static int add_edits(const struct cov_haplotypes *h, const struct cov_alleles *alleles,
                     const struct cov_haplotype_change *own, struct cov_effect_rows *r,
                     struct cov_effect_row *row, struct cov_err *e)
{
    size_t n = 0, from = 0; /* bases of the haplotype's window so far, and of the genome's */
    int rc = COV_OK;
    assert(own);
    row->n_codes = h->reader->L + own->n_new;
    for (size_t i = 0; !rc && i < h->n_picks; i++) {
        const struct cov_haplotype_change *c = h->picks[i].change;
        const size_t at = (size_t)(c->at - alleles->beg);
        n += at - from;
        if (h->picks[i].own) /* REF begins at - alleles->at bases earlier */
            row->at = n + alleles->at > at ? n + alleles->at - at : 0;
        if (n < row->n_codes || h->picks[i].own)
            rc = add_edit(&h->picks[i], at, row->n_codes - n, r, row, e);
        n += c->n_new;
        from = at + c->n_old;
    }
    row->status = status_of(h, alleles, row);
    row->restored = r->n_codes;
    if (!rc)
        rc = COV_RESERVE(&r->codes, &r->cap_codes, r->n_codes + own->n_old + 1, e);
    if (!rc)
        rc = cov_genome_codes(h->reader->g->genome, alleles->seq, own->at,
                              own->at + (int64_t)own->n_old, r->codes + r->n_codes, e);
    r->n_codes += own->n_old;
    return rc;
}

/* Adds the last row to h->names. Sets *number to the number of the first row with the same
 * changes. */
static int name_row(struct cov_haplotypes *h, const struct cov_effect_rows *r, size_t *number,
                    bool *is_new, struct cov_err *e)
{
    const struct cov_effect_row *row = &r->rows[r->n - 1];
    const size_t n_edits = row->n_edits * sizeof *r->edits, n_codes = row->restored - row->codes;
    const size_t n = sizeof row->allele + n_edits + n_codes;
    int rc = COV_RESERVE(&h->name, &h->cap_name, n, e);
    if (rc)
        return rc;
    memcpy(h->name, &row->allele, sizeof row->allele);
    memcpy(h->name + sizeof row->allele, r->edits + row->edits, n_edits);
    memcpy(h->name + sizeof row->allele + n_edits, r->codes + row->codes, n_codes);
    return cov_names_add(h->names, h->name, n, number, is_new, e);
}

/* Finds the row with the changes of the picks, or adds one. */
static int add_haplotype(struct cov_haplotypes *h, const struct cov_alleles *alleles,
                         const struct own_call *own, struct cov_effect_rows *r, uint32_t *row_of,
                         struct cov_err *e)
{
    const size_t n_edits = r->n_edits, n_codes = r->n_codes;
    size_t number = 0;
    bool is_new = true;
    int rc = add_row(r, alleles, (size_t)own->call.allele - 1, e);
    if (!rc)
        rc = add_edits(h, alleles, own->change, r, &r->rows[r->n - 1], e);
    if (!rc)
        rc = name_row(h, r, &number, &is_new, e);
    if (!rc && !is_new) {
        r->n--;
        r->n_edits = n_edits;
        r->n_codes = n_codes;
    }
    *row_of = (uint32_t)number;
    return rc;
}

static int compare_rows(const void *a, const void *b)
{
    const struct cov_effect_row *x = a, *y = b;
    if (x->allele != y->allele)
        return x->allele < y->allele ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Adds the haplotypes of the groups to their rows, ascending. */
static int add_names(const struct cov_haplotypes *h, struct cov_effect_rows *r, struct cov_err *e)
{
    const size_t n_samples = cov_variants_n_samples(h->reader->in);
    const size_t n_copies = h->reader->groups->n_copies;
    const uint32_t *group_of = h->reader->groups->group_of;
    size_t n = 0;
    for (size_t s = 0; s < n_samples; s++)
        for (size_t k = 0; k < n_copies; k++) {
            const uint32_t row = h->row_of[group_of[k * n_samples + s]];
            if (row != NO_ROW && r->rows[row].n_haps++ == 0)
                r->rows[row].first = s * n_copies + k;
        }
    for (size_t i = 0; i < r->n; i++) {
        r->rows[i].haps = n;
        n += r->rows[i].n_haps;
        r->rows[i].n_haps = 0;
    }
    int rc = COV_RESERVE(&r->haps, &r->cap_haps, n, e);
    for (size_t s = 0; !rc && s < n_samples; s++)
        for (size_t k = 0; k < n_copies; k++) {
            const uint32_t row = h->row_of[group_of[k * n_samples + s]];
            if (row != NO_ROW)
                r->haps[r->rows[row].haps + r->rows[row].n_haps++] =
                    (struct cov_haplotype){(uint32_t)s, (uint32_t)k};
        }
    r->n_haps = n;
    return rc;
}

/* Fails if the rows of a record need too much memory. */
static int check_rows(const struct cov_haplotypes *h, const struct cov_effect_rows *r,
                      size_t record, struct cov_err *e)
{
    const size_t n_bytes =
        r->n * (sizeof *r->rows + h->row_bytes) + r->n_edits * sizeof *r->edits + r->n_codes;
    return n_bytes <= h->reader->most
               ? COV_OK
               : cov_fail(e, COV_EINPUT,
                          "%s: record %" PRId64 ": the windows of its haplotypes need more than "
                          "%zu MiB; use fewer --samples or a smaller --window",
                          cov_variants_name(h->reader->in),
                          cov_haplotype_reader_record(h->reader, record)->number,
                          h->reader->most >> MB_SHIFT);
}

/* Adds rows for the haplotypes that have an allele which is scored, and sets h->has_row of these. Reading
 * ahead adds groups at the end, which are equal to others in the windows of these. */
static int add_haplotypes(struct cov_haplotypes *h, const struct cov_alleles *alleles,
                          size_t record, struct cov_effect_rows *r, struct cov_err *e)
{
    int rc = COV_RESERVE(&h->has_row, &h->cap_has_row, alleles->n_alleles, e);
    cov_names_free(h->names);
    h->names = NULL;
    if (!rc)
        rc = cov_names_new(&h->names, e);
    if (!rc && alleles->n_alleles > 0)
        memset(h->has_row, 0, alleles->n_alleles * sizeof *h->has_row);
    for (uint32_t i = 0; !rc && i < h->reader->groups->n; i++) {
        const struct cov_call *call = cov_haplotype_groups_find(
            h->reader->groups, i, h->reader->groups->first + (uint32_t)record);
        rc = COV_RESERVE(&h->row_of, &h->cap_row_of, i + 1, e);
        if (rc)
            return rc;
        h->row_of[i] = NO_ROW;
        if (!call || alleles->items[call->allele - 1].status != COV_ALLELE_SCORED)
            continue;
        struct own_call own = {record, i, *call, NULL};
        rc = collect(h, alleles, &own, e);
        if (!rc)
            rc = add_haplotype(h, alleles, &own, r, &h->row_of[i], e);
        if (!rc)
            rc = check_rows(h, r, record, e);
        h->has_row[own.call.allele - 1] = true;
    }
    h->n_rows += r->n;
    return rc;
}

int cov_haplotypes_rows(struct cov_haplotypes *h, const struct cov_variant *v,
                        const struct cov_alleles *alleles, struct cov_effect_rows *rows,
                        struct cov_err *e)
{
    size_t own = 0;
    int rc = COV_OK;
    if (alleles->status != COV_ALLELE_SCORED)
        return cov_effect_rows_plain(rows, alleles, e);
    empty_rows(rows);
    rc = cov_haplotype_reader_drop(h->reader, alleles->seq, alleles->beg, v->number, e);
    if (!rc)
        rc = cov_haplotype_reader_until(h->reader, alleles->seq, v->pos + 1, v->number, e);
    if (!rc)
        rc = cov_haplotype_reader_drop(h->reader, alleles->seq, alleles->beg, v->number, e);
    if (!rc)
        rc = find_own(h, v, alleles, &own, e);
    if (!rc)
        rc = add_haplotypes(h, alleles, own, rows, e);
    if (!rc)
        rc = add_names(h, rows, e);
    for (size_t i = 0; !rc && i < alleles->n_alleles; i++)
        if (!h->has_row[i])
            rc = add_row(rows, alleles, i, e);
    if (!rc && rows->n > 0)
        qsort(rows->rows, rows->n, sizeof *rows->rows, compare_rows);
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
