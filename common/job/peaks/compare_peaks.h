/* compare_peaks.h - the job of `covpeaks compare`: two files of peaks, base by base.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_COMPARE_PEAKS_H
#define COV_JOB_PEAKS_COMPARE_PEAKS_H

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/job/peaks/peak_files.h"

/* Writes how well the bases in the peaks of `predicted` agree with those of `measured`: a row per
 * sequence of the genome that is not blacklisted, and the total. Values are those of Predmoter's
 * compute_peak_f1.py: 0 where a denominator is 0. Also writes the numbers of peaks, and of those
 * that overlap a peak of the other file, outside the blacklist. Adds the total to *stats, as
 * "comparison" and as figures of a MultiQC report's general statistics. COV_EUSAGE without a
 * genome. */
int cov_compare_peaks(const char *predicted, const char *measured,
                      const struct cov_peak_files_options *options, struct cov_stats *stats,
                      struct cov_err *e) COV_MUST_USE;

#endif
