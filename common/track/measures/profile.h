/* profile.h - the values of a track in windows around features, feature by feature.
 *
 * A window has bins, in the direction of its feature: on the - strand, the first bin has the
 * largest positions. Around an anchor, the start (tss), end (tes) or middle (centre) of a feature,
 * `before` bases precede the anchor and `after` bases follow; the anchor's base is the first of the
 * latter. With COV_ANCHOR_SCALE, bins of the feature itself, scaled to `body` bases, are between
 * them: bin i of n begins at floor(i * length / n). A bin's value is the mean of its bases with a
 * value. These are the bins of deepTools' computeMatrix.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_MEASURES_PROFILE_H
#define COV_TRACK_MEASURES_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/annotation.h"
#include "common/track/sink.h"

enum cov_anchor { COV_ANCHOR_TSS, COV_ANCHOR_TES, COV_ANCHOR_CENTRE, COV_ANCHOR_SCALE };

struct cov_profile_layout {
    enum cov_anchor anchor;
    int64_t before, after, body; /* multiples of `bin`; body: 0 unless scaled */
    int64_t bin;                 /* 0: the whole window is one bin; then body is 0 */
    /* As Predmoter's tss_computations.py: a feature without strand is anchored like one on -, but
     * read forwards. */
    bool no_strand_is_minus;
};

/* The number of bins of a window. */
size_t cov_profile_bins(const struct cov_profile_layout *l);

/* The windows of an annotation, in the order of one pass over a track. Empty if all zero. */
struct cov_windows {
    const struct cov_annotation *features; /* borrowed */
    struct cov_profile_layout layout;
    size_t n_short; /* scaled features that are shorter than a bin: they have no values */
    /* Private. */
    struct cov_window *items; /* [features->n], ascending by contig and end. Owned */
    size_t *first;            /* [contigs + 1]: where those of a contig begin. Owned */
    int64_t longest;          /* bases of a window */
};

/* Borrows the annotation until fini. COV_EINPUT, with file and line, if a feature is too long to be
 * scaled. Free with cov_windows_fini, also after a failure. */
enum { COV_PROFILE_LONGEST = 1 << 25 };
int cov_windows_init(struct cov_windows *w, const struct cov_annotation *features,
                     const struct cov_profile_layout *layout, struct cov_err *e) COV_MUST_USE;
void cov_windows_fini(struct cov_windows *w);

/* Takes the bins of feature number `feature` [cov_profile_bins]; NaN: no base of the bin has a
 * value. Features come by contig, in the order of the track, and by the ends of their windows. */
typedef int cov_profile_fn(void *arg, size_t feature, const double *bins, struct cov_err *e);

/* A sink that computes the bins of a track. Free it with cov_track_free of `sink`. */
struct cov_profile {
    struct cov_track_sink sink; /* first */
    const struct cov_windows *windows;
    cov_profile_fn *take;
    void *arg;
    /* Private. */
    size_t next, last; /* windows of the current contig that are not complete */
    size_t n_begun;    /* contigs of the list up to the current one */
    int64_t at;        /* bases of the contig passed so far */
    float *ring;       /* the last values: that of base p is ring[p & mask] */
    int64_t mask;
    double *bins;
};

/* Features on contigs that are not among the track's are not passed to `take`. Borrows `windows`, `name` and
 * `contigs` until the sink is freed; free it also after a failure. */
int cov_profile_init(struct cov_profile *p, const struct cov_windows *windows, const char *name,
                     const struct cov_track_contigs *contigs, struct cov_err *e) COV_MUST_USE;

#endif
