/* nearest.h - the feature of an annotation that is nearest to a place.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_NEAREST_H
#define COV_FEATURES_NEAREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/annotation.h"

struct cov_nearest;

/* Borrows the annotation until free. */
int cov_nearest_new(const struct cov_annotation *a, struct cov_nearest **out,
                    struct cov_err *e) COV_MUST_USE;
void cov_nearest_free(struct cov_nearest *n); /* NULL is accepted */

/* Finds the feature that is nearest to the bases beg .. end-1 of a sequence; of several, the first in the
 * order of the annotation. *distance: 0 if they share a base, else by how many bases the nearest ones are
 * apart (1: neighbours), negative upstream of the feature by its strand, of which '.' counts as '+'.
 * Returns false if the sequence has no features. */
bool cov_nearest_find(const struct cov_nearest *n, const char *contig, int64_t beg, int64_t end,
                      size_t *feature, int64_t *distance);

#endif
