/* alleles.c - see alleles.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/alleles.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
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

/* Finds the alleles of ALT in the window; `rest`: bases of the sequence from REF on. */
static int find_alleles(struct cov_alleles *p, size_t L, char *const *alleles, size_t rest,
                        struct cov_err *e)
{
    const bool is_short = p->at + rest < L; /* the sequence */
    size_t n = 0, shortest = p->n_ref;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < p->n_alleles; i++) {
        struct cov_allele *a = &p->items[i];
        const char *alt = alleles[i + 1];
        bool valid;
        a->codes = n;
        rc = add_codes(p, alt, &n, &valid, e);
        a->n = n - a->codes;
        a->status = strcmp(alt, "*") == 0                          ? COV_ALLELE_OVERLAP
                    : !valid || a->n == 0                          ? COV_ALLELE_SYMBOLIC
                    : is_empty(p, alleles[0], alt, a->n)           ? COV_ALLELE_EMPTY
                    : a->n > rest && a->n > L - p->at && !is_short ? COV_ALLELE_END
                    : p->n_ref > L - p->at || a->n > L - p->at     ? COV_ALLELE_LONG
                                                                   : COV_ALLELE_SCORED;
        if (a->status == COV_ALLELE_SCORED) {
            p->n_scored++;
            shortest = a->n < shortest ? a->n : shortest;
        }
    }
    p->n_codes = L + (p->n_ref - shortest);
    return rc;
}

int cov_alleles_find(struct cov_alleles *p, const struct cov_effect_genome *g, size_t L,
                     size_t step, const struct cov_variant *v, struct cov_err *e)
{
    p->n_alleles = v->n_alleles - 1;
    p->n_ref = strlen(v->alleles[0]);
    p->n_scored = 0;
    p->is_swapped = false;
    int rc = COV_RESERVE(&p->items, &p->cap_items, p->n_alleles, e);
    if (rc)
        return rc;
    p->status = COV_ALLELE_UNKNOWN;
    if (cov_names_find(g->names, v->contig, strlen(v->contig), &p->seq))
        rc = check_ref(p, g, v, e);
    for (size_t i = 0; i < p->n_alleles; i++)
        p->items[i] = (struct cov_allele){.status = p->status};
    if (rc || p->status != COV_ALLELE_SCORED)
        return rc;
    const int64_t length = g->genome->lengths[p->seq], size = (int64_t)L;
    const int64_t beg = clamp(v->pos - size / 2 + (int64_t)step / 2, 0, length);
    p->beg = clamp(beg - beg % (int64_t)step, 0, length > size ? length - size : 0);
    p->at = (size_t)(v->pos - p->beg);
    rc = find_alleles(p, L, v->alleles, (size_t)(length - v->pos), e);
    if ((uint64_t)(length - p->beg) < p->n_codes)
        p->n_codes = (size_t)(length - p->beg);
    return rc;
}
