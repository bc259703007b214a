/* effect_background.c - see effect_background.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_background.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/rng.h"
#include "common/base/sort.h"
#include "common/seq/alphabet.h"

struct random_variant {
    size_t seq;
    int64_t pos;
    char ref[2], alt[2];
    char *alleles[2];
};

struct cov_effect_background {
    struct cov_arena memory;
    const struct cov_effect_options *o;
    int64_t first_number;
    struct random_variant *variants; /* [n_background] */
    size_t n, n_columns;             /* n: that have been returned */
    double *scores;   /* [COV_EFFECT_QUANTILES][n_columns][n_background]; NaN: none */
    size_t *n_scores; /* [COV_EFFECT_QUANTILES][n_columns], once they are sorted */
};

/* ---------------------------------------------------------------- drawing */

static int by_place(const void *a, const void *b)
{
    const struct random_variant *x = a, *y = b;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    if (x->pos != y->pos)
        return x->pos < y->pos ? -1 : 1;
    return (x->alt[0] > y->alt[0]) - (x->alt[0] < y->alt[0]);
}

/* Sets *v to a base of the genome, the `at`-th; ends[]: of the sequences, in the genome. */
static int place_variant(const struct cov_genome *g, const int64_t *ends, int64_t at,
                         struct random_variant *v, uint8_t *code, struct cov_err *e)
{
    size_t seq = 0, last = g->n_seqs - 1;
    while (seq < last) {
        const size_t mid = seq + (last - seq) / 2;
        if (ends[mid] <= at)
            seq = mid + 1;
        else
            last = mid;
    }
    v->seq = seq;
    v->pos = at - (ends[seq] - g->lengths[seq]);
    return cov_genome_codes(g, seq, v->pos, v->pos + 1, code, e);
}

static int draw_variants(struct cov_effect_background *b, const int64_t *ends, struct cov_err *e)
{
    enum { MOST_TRIES = 10000 }; /* for a base that is not N, on average */
    static const char bases[] = "ACGT";
    const struct cov_genome *g = b->o->genome;
    const size_t n = b->o->n_background;
    struct cov_rng rng;
    cov_rng_init(&rng, b->o->seed);
    size_t i = 0;
    for (uint64_t tries = 0; i < n; tries++) {
        struct random_variant *v = &b->variants[i];
        uint8_t code;
        if (tries > (uint64_t)MOST_TRIES * (i + 1))
            return cov_fail(e, COV_EINPUT, "%s: --background: hardly any base is A, C, G or T",
                            b->o->genome_path);
        const int64_t at = (int64_t)cov_rng_below(&rng, (uint64_t)g->n_bases);
        int rc = place_variant(g, ends, at, v, &code, e);
        if (rc)
            return rc;
        v->ref[0] = cov_letter_of_code[code];
        const char *ref = strchr(bases, v->ref[0]);
        if (!ref)
            continue;
        v->alt[0] = bases[((size_t)(ref - bases) + 1 + cov_rng_below(&rng, 3)) % 4];
        i++;
    }
    qsort(b->variants, n, sizeof *b->variants, by_place);
    for (i = 0; i < n; i++) {
        b->variants[i].alleles[0] = b->variants[i].ref;
        b->variants[i].alleles[1] = b->variants[i].alt;
    }
    return COV_OK;
}

int cov_effect_background_new(const struct cov_effect_options *options, int64_t first_number,
                              struct cov_effect_background **out, struct cov_err *e)
{
    *out = NULL;
    const struct cov_genome *g = options->genome;
    const size_t n = options->n_background;
    struct cov_effect_background *b = cov_calloc(1, sizeof *b, e);
    int64_t *ends = cov_calloc(g->n_seqs, sizeof *ends, e);
    if (!b || !ends) {
        free(b);
        free(ends);
        return COV_ENOMEM;
    }
    *b = (struct cov_effect_background){.o = options,
                                        .first_number = first_number,
                                        .n_columns = options->n_datasets * options->n_widths};
    b->variants = cov_arena_calloc(&b->memory, n, sizeof *b->variants);
    b->scores =
        cov_arena_calloc(&b->memory, n, COV_EFFECT_QUANTILES * b->n_columns * sizeof *b->scores);
    b->n_scores =
        cov_arena_calloc(&b->memory, COV_EFFECT_QUANTILES * b->n_columns, sizeof *b->n_scores);
    int64_t end = 0;
    for (size_t i = 0; i < g->n_seqs; i++)
        ends[i] = end += g->lengths[i];
    int rc = cov_arena_check(&b->memory, e);
    if (!rc)
        rc = draw_variants(b, ends, e);
    free(ends);
    if (rc)
        cov_effect_background_free(b);
    else
        *out = b;
    return rc;
}

void cov_effect_background_free(struct cov_effect_background *b)
{
    if (!b)
        return;
    cov_arena_fini(&b->memory);
    free(b);
}

bool cov_effect_background_next(struct cov_effect_background *b, struct cov_variant *v)
{
    if (b->n == b->o->n_background)
        return false;
    struct random_variant *from = &b->variants[b->n];
    v->contig = b->o->genome->names[from->seq];
    v->id = ".";
    v->pos = from->pos;
    v->n_alleles = 2;
    v->alleles = from->alleles;
    v->number = b->first_number + (int64_t)b->n++;
    return true;
}

/* ---------------------------------------------------------------- quantiles */

static double score_of(const struct cov_effect_score *s, enum cov_effect_quantile which)
{
    return which == COV_QUANTILE_JSD ? s->jsd : fabs(s->logfc);
}

static double *scores_of(const struct cov_effect_background *b, size_t column,
                         enum cov_effect_quantile which)
{
    return b->scores + ((size_t)which * b->n_columns + column) * b->o->n_background;
}

void cov_effect_background_take(struct cov_effect_background *b,
                                const struct cov_effect_record *record)
{
    const size_t i = (size_t)(record->variant.number - b->first_number);
    for (size_t k = 0; k < COV_EFFECT_QUANTILES * b->n_columns; k++) {
        const enum cov_effect_quantile which = (enum cov_effect_quantile)(k / b->n_columns);
        const size_t column = k % b->n_columns;
        scores_of(b, column, which)[i] = score_of(&record->scores[column], which);
    }
}

void cov_effect_background_sort(struct cov_effect_background *b)
{
    for (size_t k = 0; k < COV_EFFECT_QUANTILES * b->n_columns; k++) {
        double *x = b->scores + k * b->o->n_background;
        size_t n = 0;
        for (size_t i = 0; i < b->o->n_background; i++)
            if (!isnan(x[i]))
                x[n++] = x[i];
        cov_sort_doubles(x, n);
        b->n_scores[k] = n;
    }
}

/* Returns the number of x[0..n) that are smaller than a score, or with `equal` not larger. */
static size_t count_smaller(const double *x, size_t n, double score, bool equal)
{
    size_t i = 0;
    while (i < n) {
        const size_t mid = i + (n - i) / 2;
        if (x[mid] < score || (equal && x[mid] == score))
            i = mid + 1;
        else
            n = mid;
    }
    return i;
}

double cov_effect_background_quantile(const struct cov_effect_background *b, size_t column,
                                      enum cov_effect_quantile which,
                                      const struct cov_effect_score *score)
{
    const size_t n = b->n_scores[(size_t)which * b->n_columns + column];
    const double *x = scores_of(b, column, which), wanted = score_of(score, which);
    if (n == 0 || isnan(wanted))
        return (double)NAN;
    return (double)(count_smaller(x, n, wanted, false) + count_smaller(x, n, wanted, true)) /
           (2 * (double)n);
}
