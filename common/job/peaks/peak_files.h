/* peak_files.h - the jobs of `covpeaks compare` and `covpeaks stats`, and what they share: options,
 * and reading files of peaks sequence by sequence, without a blacklist.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_PEAK_FILES_H
#define COV_JOB_PEAKS_PEAK_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/features/blacklist.h"
#include "common/job/peaks/peak_list.h"
#include "common/plot/table_outputs.h"
#include "common/seq/regions.h"

/* Borrowed for the call. */
struct cov_peak_files_options {
    const char *genome, *sizes;   /* an HDF5 file, or a list of names and lengths; at most one */
    const char *blacklist;        /* sequences or regions that do not count; NULL: none */
    const char *dataset;          /* of the peaks, in a MultiQC report; NULL: any */
    struct cov_table_paths paths; /* only a table */
};

/* The genome, and what of it counts. Empty if all zero. */
struct cov_peak_scope {
    struct cov_peak_genome genome;
    struct cov_blacklist *blacklist; /* NULL: none */
};

/* Free with cov_peak_scope_fini, also after a failure. */
int cov_peak_scope_read(const struct cov_peak_files_options *o, struct cov_peak_scope *out,
                        struct cov_err *e) COV_MUST_USE;
void cov_peak_scope_fini(struct cov_peak_scope *s);

/* Returns false if sequence number `contig` does not count. Otherwise sets *dropped to its regions
 * that do not, and `kept` to the others; without a genome, the last one has no end. */
bool cov_peak_scope_has(const struct cov_peak_scope *s, size_t contig,
                        struct cov_region_span *dropped);
int cov_peak_scope_keep(const struct cov_peak_scope *s, size_t contig,
                        struct cov_region_span dropped, struct cov_region_list *kept,
                        struct cov_err *e) COV_MUST_USE;

/* A file of peaks. Empty if all zero. */
struct cov_peak_input {
    struct cov_peak_list peaks;
    struct cov_region_list merged; /* the regions of the peaks */
    size_t next, next_merged;      /* private */
};

/* Reads a file, which may have no peaks, with a warning. Adds sequences to a genome that is not
 * known. COV_EINPUT if it is a track. Free with cov_peak_input_fini, also after a failure. */
int cov_peak_input_read(const char *path, struct cov_peak_scope *s, struct cov_peak_input *out,
                        struct cov_err *e) COV_MUST_USE;
void cov_peak_input_fini(struct cov_peak_input *in);

/* The peaks of a sequence. Borrowed. */
struct cov_peak_span {
    const struct cov_counted_peak *items;
    size_t n;
    struct cov_region_span merged;
};

/* Returns the peaks of sequence number `contig`; calls ascend by one. */
struct cov_peak_span cov_peak_input_next(struct cov_peak_input *in, size_t contig);

/* ---- the jobs ---- */

/* `compare` (compare_peaks.c) writes how well the bases in the peaks of `predicted` and of `measured`
 * agree: a row per sequence of the genome that is not blacklisted, and the total. Values are those of
 * Predmoter's compute_peak_f1.py: 0 where a denominator is 0. Also writes the numbers of peaks, and of those
 * that overlap a peak of the other file, outside the blacklist. Adds the total to *stats, as
 * "comparison" and as figures of a MultiQC report's general statistics. COV_EUSAGE without a
 * genome. */
int cov_compare_peaks(const char *predicted, const char *measured,
                      const struct cov_peak_files_options *options, struct cov_stats *stats,
                      struct cov_err *e) COV_MUST_USE;

/* `stats` (peak_stats.c) writes a row for each file: the number of peaks, their mean and median
 * length, the bases in them, and with a genome the fraction of it that they are, else NA. Peaks and bases on the blacklist do not
 * count; a peak counts, with its whole length, if one of its bases does. Writes nothing if a file
 * cannot be read. *stats gets "files", and figures for each file. */
int cov_peak_stats(char *const *paths, size_t n, const struct cov_peak_files_options *options,
                   struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

#endif
