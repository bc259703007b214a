/* compare_peaks.h - the jobs of `covpeaks compare` and `covpeaks stats`: files of peaks, base by base.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_COMPARE_PEAKS_H
#define COV_JOB_PEAKS_COMPARE_PEAKS_H

#include <stdio.h>

#include "common/base/err.h"
#include "common/cli/stats.h"

/* Strings are borrowed for the call. */
struct cov_peak_files_options {
    const char *genome, *sizes; /* an HDF5 file, or a list of names and lengths; at most one */
    const char *blacklist;      /* sequences or regions that do not count; NULL: none */
    const char *dataset;        /* of the peaks, in a MultiQC report; NULL: any */
};

/* Prints how well the bases in the peaks of `predicted` agree with those of `measured`: a row per
 * sequence of the genome that is not blacklisted, and the total. Values are those of Predmoter's
 * compute_peak_f1.py: 0 where a denominator is 0. Also prints the numbers of peaks, and of those
 * that overlap a peak of the other file, outside the blacklist. Adds the total to `stats`, as
 * "comparison" and as figures of a MultiQC report's general statistics. COV_EUSAGE without a genome.
 * The caller checks `out` for errors. */
int cov_compare_peaks(const char *predicted, const char *measured,
                      const struct cov_peak_files_options *options, FILE *out,
                      struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

/* Prints for each file the number of peaks, their mean and median length, the bases in them, and with
 * a genome these bases' share of it, else NA. Prints nothing if a file cannot be read. */
int cov_peak_file_stats(char *const *paths, size_t n, const struct cov_peak_files_options *options,
                        FILE *out, struct cov_err *e) COV_MUST_USE;

#endif
