/* effect_scores.h - how much the predicted signal of two alleles differs.
 *
 * The scores are those of ChromBPNet's variant scorer, for predictions that are counts per base. So
 * are the ranks among scores of shuffled DNA, except that a variant is compared with its own shuffled
 * DNA, not with that of all variants.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_SCORES_H
#define COV_JOB_EFFECT_EFFECT_SCORES_H

#include <stddef.h>
#include <stdint.h>

/* The values of both alleles over windows that begin with the same base. */
struct cov_effect_pair {
    const float *values[2]; /* [n_bases,D]: without and with the change */
    size_t n_bases[2];
    size_t n_datasets;           /* D */
    size_t at;                   /* the first base of the variant, in both windows */
    size_t n_allele1, n_allele2; /* bases of the alleles, > 0 */
    /* Windows whose sums are compared with these, and which must have the same bases; NULL: none. */
    const struct cov_effect_pair *other;
};

/* Scores that have a spread over the models of an ensemble. */
enum cov_effect_spread {
    COV_SPREAD_COUNTS1,
    COV_SPREAD_COUNTS2,
    COV_SPREAD_LOGFC,
    COV_SPREAD_ABS_LOGFC,
    COV_SPREAD_JSD,
    COV_SPREAD_MAX_DIFF,
    COV_EFFECT_SPREADS
};

/* Scores that are compared with those of shuffled DNA, in the order of variant-scorer. */
enum cov_effect_rank {
    COV_RANK_LOGFC, /* both tails */
    COV_RANK_ABS_LOGFC,
    COV_RANK_JSD,
    COV_EFFECT_RANKS
};

struct cov_effect_score {
    double counts[2]; /* sums over the width, in each allele's own window */
    double logfc;     /* log2(counts[1] / counts[0]); NaN unless both are finite and positive */
    double jsd;       /* Jensen-Shannon distance, base 2, in 0 .. 1; NaN as for logfc */
    double max_diff;  /* the largest |difference| of a base */
    size_t max_at;    /* its first place, in the window of allele 1 */
    double reference; /* in haplotypes: the sum over the width in the genome's window */
    double sd[COV_EFFECT_SPREADS]; /* see cov_effect_score_spread */
    /* Numbers of shuffles whose score is not smaller; `lower`: whose logfc is not larger. */
    uint64_t n_higher[COV_EFFECT_RANKS], n_lower;
};

/* Scores a dataset over `width` > 0 positions around the variant: [at - width / 2, at - width / 2 +
 * width), cut where any of the windows, also of p->other, ends: all sums are of as many bases before and
 * after the first one of the variant. jsd and max_diff compare aligned bases only: the bases by
 * which one allele is longer than the other are its last ones, and have no partner. For jsd, the
 * values of the aligned bases of each allele are divided by their sum. */
void cov_effect_score(const struct cov_effect_pair *p, size_t dataset, size_t width,
                      struct cov_effect_score *out);

/* Returns log2(b / a); NaN unless both are finite and positive. */
double cov_effect_logfc(double a, double b);

/* Sets s->sd from the scores of n >= 2 models: sqrt(sum((x - mean)^2) / (n - 1)). */
void cov_effect_score_spread(struct cov_effect_score *s, const struct cov_effect_score *models,
                             size_t n);

/* Counts the score of a shuffle. NaN counts as extreme. */
void cov_effect_score_count(struct cov_effect_score *s, const struct cov_effect_score *shuffled);

/* Returns the empirical p-value among n shuffles, (1 + count) / (1 + n) (Phipson and Smyth, 2010);
 * for logfc, twice that of the smaller tail, at most 1. NaN if the score is NaN. */
double cov_effect_p_value(const struct cov_effect_score *s, enum cov_effect_rank rank, size_t n);

#endif
