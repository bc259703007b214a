/* effect_scores.h - how much the predicted signal of two alleles differs.
 *
 * The scores are those of ChromBPNet's variant scorer, for predictions that are counts per base.
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
};

struct cov_effect_score {
    double counts[2]; /* sums over the width, in each allele's own window */
    double logfc;     /* log2(counts[1] / counts[0]); NaN unless both are finite and positive */
    double jsd;       /* Jensen-Shannon distance, base 2, in 0 .. 1; NaN as for logfc */
    double max_diff;  /* the largest |difference| of a base */
    size_t max_at;    /* its first place, in the window of allele 1 */
};

/* Scores a data set over `width` > 0 positions around the variant: [at - width / 2, at - width / 2 +
 * width), cut at the ends of the windows. jsd and max_diff compare aligned bases only: the bases by
 * which one allele is longer than the other are its last ones, and have no partner. For jsd, the
 * values of the aligned bases of each allele are divided by their sum. */
void cov_effect_score(const struct cov_effect_pair *p, size_t dataset, size_t width,
                      struct cov_effect_score *out);

#endif
