/* alleles.c - see alleles.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/alleles.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/features/symbolic.h"
#include "common/seq/alphabet.h"

int cov_effect_genome_init(struct cov_effect_genome *g, const struct cov_genome *genome,
                           struct cov_err *e)
{
    *g = (struct cov_effect_genome){.genome = genome};
    int rc = cov_names_new(&g->names, e);
    for (size_t i = 0; !rc && i < genome->n_seqs; i++) {
        size_t index;
        bool is_new;
        rc =
            cov_names_add(g->names, genome->names[i], strlen(genome->names[i]), &index, &is_new, e);
    }
    return rc;
}

void cov_effect_genome_fini(struct cov_effect_genome *g)
{
    cov_names_free(g->names);
    g->names = NULL;
}

void cov_alleles_fini(struct cov_alleles *p)
{
    free(p->items);
    free(p->codes);
    *p = (struct cov_alleles){0};
}

/* Appends the codes of a text at codes[*n]. */
static int add_codes(struct cov_alleles *p, const char *text, size_t *n, bool *valid,
                     struct cov_err *e)
{
    const size_t length = strlen(text);
    int rc = COV_RESERVE(&p->codes, &p->cap_codes, *n + length, e);
    *valid = false;
    if (rc)
        return rc;
    *valid = cov_codes_of_letters(text, length, p->codes + *n);
    *n += length;
    return COV_OK;
}

/* Returns true if an allele fits the genome at a place. Uses p->codes; the genome's codes follow those of
 * the allele, of *n bases. */
static int compare_allele(struct cov_alleles *p, const struct cov_effect_genome *g, int64_t pos,
                          const char *allele, size_t *n, bool *fits, struct cov_err *e)
{
    const int64_t length = g->genome->lengths[p->seq];
    *n = 0;
    *fits = false;
    if (pos < 0 || pos >= length || (uint64_t)(length - pos) < strlen(allele))
        return COV_OK;
    int rc = add_codes(p, allele, n, fits, e);
    if (!rc)
        rc = COV_RESERVE(&p->codes, &p->cap_codes, 2 * *n, e);
    if (!rc)
        rc = cov_genome_codes(g->genome, p->seq, pos, pos + (int64_t)*n, p->codes + *n, e);
    for (size_t i = 0; !rc && *fits && i < *n; i++)
        *fits = (p->codes[i] & p->codes[*n + i]) != 0;
    return rc;
}

/* Compares REF with the genome, and sets p->status; if it differs, compares alleles of ALT, except those
 * that are shorter than REF, which fit by their first base. Uses p->codes. */
static int check_ref(struct cov_alleles *p, const struct cov_effect_genome *g,
                     const struct cov_variant *v, struct cov_err *e)
{
    size_t n;
    bool fits;
    int rc = compare_allele(p, g, v->pos, v->alleles[0], &n, &fits, e);
    const size_t shown = n < sizeof p->found ? n : sizeof p->found - 1;
    if (rc)
        return rc;
    p->status = fits ? COV_ALLELE_SCORED : COV_ALLELE_MISMATCH;
    for (size_t i = 0; i < shown; i++)
        p->found[i] = cov_letter_of_code[p->codes[n + i]];
    p->found[shown] = '\0';
    for (size_t i = 1; !rc && !fits && !p->is_swapped && i < v->n_alleles; i++)
        if (strlen(v->alleles[i]) >= p->n_ref) {
            bool shares;
            rc = compare_allele(p, g, v->pos, v->alleles[i], &n, &shares, e);
            p->is_swapped = shares && memcmp(p->codes, p->codes + n, n) == 0;
        }
    return rc;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

static bool is_n(const char *allele)
{
    return (allele[0] == 'N' || allele[0] == 'n') && allele[1] == '\0';
}

/* Returns true if N in REF or ALT, of n bases, stands for no base. */
static bool is_empty(const struct cov_alleles *p, const char *ref, const char *alt, size_t n)
{
    if (is_n(alt))
        return p->n_ref > 1;
    const bool after_n = p->found[0] == 'N' && (alt[0] == 'N' || alt[0] == 'n');
    return is_n(ref) && n > 1 && !after_n;
}

/* Where the alleles of a record are. */
struct allele_place {
    const struct cov_effect_genome *g;
    int64_t pos;
    size_t L, rest; /* rest: bases of the sequence from POS on */
};

/* Returns SCORED if an allele fits into the window, or why not. */
static enum cov_allele_status reach_of(const struct cov_alleles *p, const struct cov_allele *a,
                                       const struct allele_place *at)
{
    const size_t room = at->L - p->at;
    const bool is_short = p->at + at->rest < at->L; /* the sequence */
    return a->n > at->rest && a->n > room && !is_short ? COV_ALLELE_END
           : a->n_ref > room || a->n > room            ? COV_ALLELE_LONG
                                                       : COV_ALLELE_SCORED;
}

/* Sets an allele that is written as bases, and appends its codes at p->codes[*n]. */
static int set_bases(struct cov_alleles *p, const struct cov_variant *v, size_t i,
                     const struct allele_place *at, size_t *n, struct cov_err *e)
{
    struct cov_allele *a = &p->items[i - 1];
    const char *alt = v->alleles[i];
    bool valid;
    *a = (struct cov_allele){.n_ref = p->n_ref, .codes = *n};
    int rc = add_codes(p, alt, n, &valid, e);
    a->n = *n - a->codes;
    a->has_codes = valid && a->n > 0;
    a->status = strcmp(alt, "*") == 0                   ? COV_ALLELE_OVERLAP
                : !a->has_codes                         ? COV_ALLELE_SYMBOLIC
                : is_empty(p, v->alleles[0], alt, a->n) ? COV_ALLELE_EMPTY
                                                        : reach_of(p, a, at);
    return rc;
}

/* Returns SCORED if it is known what a symbolic allele changes, or why not. */
static enum cov_allele_status check_symbol(const struct cov_symbolic *s, size_t rest)
{
    if (s->kind == COV_SYMBOLIC_OTHER)
        return COV_ALLELE_OTHER;
    if (s->kind == COV_SYMBOLIC_INS)
        return s->n_seq > 0 ? COV_ALLELE_SCORED : COV_ALLELE_NO_BASES;
    return s->n_bases == 0                ? COV_ALLELE_NO_END
           : s->n_bases < 0               ? COV_ALLELE_BAD_END
           : (uint64_t)s->n_bases >= rest ? COV_ALLELE_MISMATCH
                                          : COV_ALLELE_SCORED;
}

/* The same for a symbolic allele. */
static int set_symbol(struct cov_alleles *p, const struct cov_symbolic *s, size_t i,
                      const struct allele_place *at, size_t *n, struct cov_err *e)
{
    struct cov_allele *a = &p->items[i - 1];
    const bool copies = s->kind == COV_SYMBOLIC_DUP || s->kind == COV_SYMBOLIC_INV;
    const bool replaces = s->kind == COV_SYMBOLIC_DEL || s->kind == COV_SYMBOLIC_INV;
    *a = (struct cov_allele){.status = check_symbol(s, at->rest), .n_ref = p->n_ref, .codes = *n};
    if (a->status != COV_ALLELE_SCORED)
        return COV_OK;
    const size_t n_bases = s->kind == COV_SYMBOLIC_INS ? 0 : (size_t)s->n_bases;
    const size_t n_copied = 1 + (copies ? n_bases : 0);
    a->n_ref = 1 + (replaces ? n_bases : 0);
    a->n = n_copied + s->n_seq;
    a->status = reach_of(p, a, at);
    if (a->status != COV_ALLELE_SCORED)
        return COV_OK;
    int rc = COV_RESERVE(&p->codes, &p->cap_codes, *n + a->n, e);
    if (rc)
        return rc;
    uint8_t *to = p->codes + *n;
    rc = cov_genome_codes(at->g->genome, p->seq, at->pos, at->pos + (int64_t)n_copied, to, e);
    if (!rc && s->kind == COV_SYMBOLIC_INV)
        cov_codes_reverse_complement(to + 1, n_bases);
    a->has_codes = s->n_seq == 0 || cov_codes_of_letters(s->seq, s->n_seq, to + n_copied);
    a->status = a->has_codes ? COV_ALLELE_SCORED : COV_ALLELE_NO_BASES;
    *n += a->n;
    return rc;
}

/* Finds the alleles of ALT in the window. */
static int find_alleles(struct cov_alleles *p, const struct cov_variant *v,
                        const struct allele_place *at, struct cov_err *e)
{
    size_t n = 0, most = 0; /* most: bases that move into the window */
    int rc = COV_OK;
    for (size_t i = 1; !rc && i < v->n_alleles; i++) {
        const struct cov_allele *a = &p->items[i - 1];
        struct cov_symbolic s;
        cov_symbolic_find(v, i, &s);
        rc = s.kind == COV_SYMBOLIC_NONE ? set_bases(p, v, i, at, &n, e)
                                         : set_symbol(p, &s, i, at, &n, e);
        if (a->status == COV_ALLELE_MISMATCH)
            p->status = a->status;
        if (a->status == COV_ALLELE_SCORED) {
            p->n_scored++;
            most = a->n_ref > a->n && a->n_ref - a->n > most ? a->n_ref - a->n : most;
        }
    }
    p->n_codes = at->L + most;
    return rc;
}

/* Sets all alleles to the status of a record without scores. */
static void set_statuses(struct cov_alleles *p)
{
    p->n_scored = 0;
    for (size_t i = 0; i < p->n_alleles; i++)
        p->items[i] = (struct cov_allele){.status = p->status, .n_ref = p->n_ref};
}

int cov_alleles_find(struct cov_alleles *p, const struct cov_effect_genome *g, size_t L,
                     size_t step, const struct cov_variant *v, struct cov_err *e)
{
    p->n_alleles = v->n_alleles - 1;
    p->n_ref = strlen(v->alleles[0]);
    p->is_swapped = false;
    int rc = COV_RESERVE(&p->items, &p->cap_items, p->n_alleles, e);
    if (rc)
        return rc;
    p->status = COV_ALLELE_UNKNOWN;
    if (cov_names_find(g->names, v->contig, strlen(v->contig), &p->seq))
        rc = check_ref(p, g, v, e);
    set_statuses(p);
    if (rc || p->status != COV_ALLELE_SCORED)
        return rc;
    const int64_t length = g->genome->lengths[p->seq], size = (int64_t)L;
    const int64_t beg = clamp(v->pos - size / 2 + (int64_t)step / 2, 0, length);
    p->beg = clamp(beg - beg % (int64_t)step, 0, length > size ? length - size : 0);
    p->at = (size_t)(v->pos - p->beg);
    const struct allele_place place = {g, v->pos, L, (size_t)(length - v->pos)};
    rc = find_alleles(p, v, &place, e);
    if (p->status != COV_ALLELE_SCORED) {
        set_statuses(p);
        p->found[0] = '\0';
    }
    if ((uint64_t)(length - p->beg) < p->n_codes)
        p->n_codes = (size_t)(length - p->beg);
    return rc;
}
