/* effect_background.h - random variants, and the quantiles of scores among theirs.
 *
 * A random variant replaces one of the genome's A, C, G and T, all equally likely, by one of the other
 * three. They are drawn with replacement, from the seed and the genome alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_BACKGROUND_H
#define COV_JOB_EFFECT_EFFECT_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/variants.h"
#include "common/job/effect/effect_batches.h"
#include "common/job/effect/effect_options.h"

struct cov_effect_background;

/* Draws options->n_background > 0 variants, which get the numbers from first_number on, sorted by place.
 * COV_EINPUT if hardly any base of the genome is A, C, G or T. Borrows the options until free. */
int cov_effect_background_new(const struct cov_effect_options *options, int64_t first_number,
                              struct cov_effect_background **out, struct cov_err *e) COV_MUST_USE;
void cov_effect_background_free(struct cov_effect_background *b); /* NULL is accepted */

/* Sets *v to the next variant, whose strings are borrowed until free. Returns false at the end. */
bool cov_effect_background_next(struct cov_effect_background *b, struct cov_variant *v);

/* Takes the scores of a variant. */
void cov_effect_background_take(struct cov_effect_background *b,
                                const struct cov_effect_record *record);

/* Call it once all scores have been taken. */
void cov_effect_background_sort(struct cov_effect_background *b);

/* Scores that have quantiles: both are larger for larger effects. */
enum cov_effect_quantile { COV_QUANTILE_ABS_LOGFC, COV_QUANTILE_JSD, COV_EFFECT_QUANTILES };

/* Returns the share of the random variants whose score is smaller; equal ones count half, and those
 * without a score are left out. `column`: dataset * n_widths + width. NaN for a score that is NaN. */
double cov_effect_background_quantile(const struct cov_effect_background *b, size_t column,
                                      enum cov_effect_quantile which,
                                      const struct cov_effect_score *score);

#endif
