/* profile_tracks.h - reads any number of tracks around the features of an annotation, one pass
 * each.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_PROFILE_TRACKS_H
#define COV_JOB_PROFILE_PROFILE_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/job/profile/profile_inputs.h"
#include "common/track/measures/profile.h"

/* A track, and its bins over all features. Arrays are [n_bins]. */
struct cov_profile_track {
    char *name;         /* the stem of its file, and its dataset if there are several. Owned */
    size_t n_features;  /* those with a value in their window */
    double *middle;     /* mean or median; NaN: no feature has a value there */
    double *low, *high; /* its confidence interval of 95 % */
    uint32_t *n;        /* features with a value */
    double *sum;        /* of their values */
    double *means;      /* [features]: of the bins of a feature; NaN: no value */
    const struct cov_windows *windows;
    bool *has_bins; /* [features]: false if the track lacks the sequence; only of stored bins */
    /* Private. */
    struct cov_arena memory; /* of the arrays */
    double *squares;
    size_t first; /* of the stored features: its first one */
    struct cov_profile_tracks *all;
};

/* Empty if all zero. */
struct cov_profile_tracks {
    const struct cov_windows *windows; /* [n_windows]: of each input, or one for all; borrowed */
    size_t n_windows, n_bins;
    struct cov_profile_track **items; /* [n]. Owned */
    size_t n, cap;
    size_t n_features; /* of all tracks */
    bool stores;       /* the bins of all features are in a temporary file */
    int fd;            /* private */
    char *tmpdir;      /* private. Owned */
};

/* With `paths`, the bins of all features are kept in a file in the directory for temporary files, or
 * in that of the output. All windows have the same layout. Borrows `windows` until fini, which also
 * follows a failure. */
int cov_profile_tracks_init(struct cov_profile_tracks *t, const struct cov_windows *windows,
                            size_t n_windows, const struct cov_table_paths *paths,
                            struct cov_err *e) COV_MUST_USE;
void cov_profile_tracks_fini(struct cov_profile_tracks *t);

/* Adds a track for each dataset of the inputs, which are read as by cov_profile_inputs_read.
 * COV_EINPUT if an input has no values, if it has none of the sequences with features, or if a
 * feature ends after its sequence. Warns about sequences that are missing, unless the options
 * choose regions. */
int cov_profile_tracks_read(struct cov_profile_tracks *t, const struct cov_profile_request *request,
                            struct cov_err *e) COV_MUST_USE;

/* Computes middle, low and high: of the mean, the normal approximation; of the median, order
 * statistics. A median needs stored bins. */
int cov_profile_tracks_finish(struct cov_profile_tracks *t, bool median,
                              struct cov_err *e) COV_MUST_USE;

/* Reads n stored bins of a feature, from bin `first` on; NaN if the track lacks its sequence. */
int cov_profile_tracks_bins(const struct cov_profile_tracks *t, size_t track, size_t feature,
                            size_t first, size_t n, double *bins, struct cov_err *e) COV_MUST_USE;

/* For tracks with the same windows: writes the stored bins to the existing file `path` as a matrix of
 * deepTools: gzip; the first line is '@' and a JSON object of the settings, and each further line has a feature: sequence, start (from
 * 0), end, name, score, strand, and its bins in all tracks, by "%f", or "nan". */
int cov_profile_matrix_write(const struct cov_profile_tracks *t, const char *path,
                             unsigned n_threads, struct cov_err *e) COV_MUST_USE;

/* Formats x like printf's "%f". Returns the number of bytes; there is no terminating zero. */
enum { COV_PROFILE_VALUE_BYTES = 400 };
size_t cov_profile_matrix_put(double x, char text[COV_PROFILE_VALUE_BYTES]);

#endif
