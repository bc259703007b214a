/* peak_stats.h - the job of `covpeaks stats`: figures of files of peaks.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_PEAK_STATS_H
#define COV_JOB_PEAKS_PEAK_STATS_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/job/peaks/peak_files.h"

/* Writes a row for each file: the number of peaks, their mean and median length, the bases in them,
 * and with a genome these bases' share of it, else NA. Peaks and bases on the blacklist do not
 * count; a peak counts, with its whole length, if one of its bases does. Writes nothing if a file
 * cannot be read. *stats gets "files", and figures for each file. */
int cov_peak_stats(char *const *paths, size_t n, const struct cov_peak_files_options *options,
                   struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

#endif
