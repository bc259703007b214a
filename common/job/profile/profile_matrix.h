/* profile_matrix.h - the file of computeMatrix, which plotHeatmap and plotProfile of deepTools
 * read.
 *
 * gzip; the first line is '@' and a JSON object of the settings, and each further line has a
 * feature: sequence, start (from 0), end, name, score, strand, and its bins in all tracks, by "%f",
 * or "nan".
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PROFILE_PROFILE_MATRIX_H
#define COV_JOB_PROFILE_PROFILE_MATRIX_H

#include "common/base/err.h"
#include "common/job/profile/profile_tracks.h"

/* Writes the stored bins to the existing file `path`. */
int cov_profile_matrix_write(const struct cov_profile_tracks *t, const char *path,
                             unsigned n_threads, struct cov_err *e) COV_MUST_USE;

/* Formats x like printf's "%f". Returns the number of bytes; there is no terminating zero. */
enum { COV_PROFILE_VALUE_BYTES = 400 };
size_t cov_profile_matrix_put(double x, char text[COV_PROFILE_VALUE_BYTES]);

#endif
