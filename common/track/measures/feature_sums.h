/* feature_sums.h - a sink that adds up the values of a track in each feature of an annotation.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_FEATURE_SUMS_H
#define COV_TRACK_MEASURES_FEATURE_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/annotation.h"
#include "common/track/sink.h"

/* Of the bases of a feature that have a value. */
struct cov_feature_sum {
    int64_t n; /* 0: none has, then the rest is 0, too */
    double sum;
    float min, max;
};

/* Free it with cov_track_free of `sink`. */
struct cov_feature_sums {
    struct cov_track_sink sink; /* first */
    const struct cov_annotation *features;
    struct cov_feature_sum *sums; /* [features]. Owned */
    /* Private: features of the current contig. */
    size_t next, last; /* those after the last interval */
    size_t *open;      /* [n_open]: those that reach past its end. Owned */
    size_t n_open, cap_open;
};

/* Borrows `features`, `name` and `contigs` until the sink is freed; free it also after a failure. */
int cov_feature_sums_init(struct cov_feature_sums *s, const struct cov_annotation *features,
                          const char *name, const struct cov_track_contigs *contigs,
                          struct cov_err *e) COV_MUST_USE;

#endif
