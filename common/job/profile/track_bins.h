/* track_bins.h - the means of the bins of several tracks, side by side.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_TRACK_BINS_H
#define COV_JOB_PROFILE_TRACK_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/profile/profile_inputs.h"

/* Empty if all zero. The rows are the bins of the first track. */
struct cov_track_bins {
    int64_t width;       /* set by the caller, like: */
    bool first_is_track; /* COV_EINPUT if the first input has several datasets */
    size_t n;            /* tracks */
    char **names;        /* [n]. Owned */
    char **files;        /* [n]: their inputs, for messages. Owned */
    double **means;      /* [n][n_rows]; NaN: no value. Owned */
    size_t n_rows;
    /* Private. */
    struct cov_names *contigs;
    char *first_input;
    size_t *first;    /* [contigs + 1]: where the rows of a contig begin. Owned */
    int64_t *lengths; /* [contigs]; 0: not known. Owned */
    size_t cap_first, cap_lengths;
};

/* Reads the inputs. COV_EINPUT if one has no values, if it shares no contig with the first, or if a
 * contig has another length there. Free with cov_track_bins_fini, also after a failure. */
int cov_track_bins_read(struct cov_track_bins *t, const struct cov_profile_request *request,
                        struct cov_err *e) COV_MUST_USE;
void cov_track_bins_fini(struct cov_track_bins *t);

struct cov_bin_place {
    const char *name; /* of the contig, borrowed until fini */
    size_t contig;
    int64_t beg, end;
    bool is_first, is_last; /* of the contig */
};
/* Returns where a row is. */
struct cov_bin_place cov_track_bins_place(const struct cov_track_bins *t, size_t row);

/* Keeps the rows of values[n][n_rows] that have a value, not NaN, in all columns, at the start of
 * the columns. Returns their number. */
size_t cov_rows_keep_whole(double *const *values, size_t n, size_t n_rows);

/* Fails because only n_rows bins, or features, are left of n tracks. `what`: "bin" or "feature";
 * `needs`: what they are too few for. */
int cov_rows_fail_few(const char *const *names, size_t n, size_t n_rows, const char *what,
                      const char *needs, struct cov_err *e) COV_MUST_USE;

#endif
