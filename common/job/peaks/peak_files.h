/* peak_files.h - peaks read from BED, narrowPeak, broadPeak or gappedPeak files, and the sequences that
 * they are on; the jobs of `covpeaks compare` and `covpeaks stats`.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_PEAK_FILES_H
#define COV_JOB_PEAKS_PEAK_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/features/blacklist.h"
#include "common/plot/table_outputs.h"
#include "common/seq/names.h"
#include "common/seq/regions.h"
#include "common/signal/track_source.h"

/* ---- the peaks of a file ---- */

/* The sequences of a genome. Empty if all zero. */
struct cov_peak_genome {
    const char *path;        /* borrowed; NULL: not known, sequences are added as peaks name them */
    struct cov_names *names; /* Owned */
    int64_t *lengths;        /* [count of names]; NULL without a path. Owned */
    int64_t n_missing;       /* bases of the sequences that a partial file lacks */
};

/* Reads the names and lengths of a genome file, a predictions file, or, with `is_list`, of a list
 * of names and lengths. With NULL, none are known. Free with cov_peak_genome_fini, also after a
 * failure. */
int cov_peak_genome_read(const char *path, bool is_list, struct cov_peak_genome *out,
                         struct cov_err *e) COV_MUST_USE;
void cov_peak_genome_fini(struct cov_peak_genome *g);

/* Different peaks, ascending by sequence, start and end, and how often each is in the file. Empty
 * if all zero. */
struct cov_counted_peak {
    struct cov_region region; /* its contig is a number of the genome */
    uint64_t n;
};
struct cov_last_peak {
    int64_t end;
    size_t line; /* in the file */
};
struct cov_peak_list {
    struct cov_counted_peak *items; /* [n]. Owned */
    size_t n, cap;
    struct cov_last_peak *last; /* [n_last], by sequence: the peak that ends last. Owned */
    size_t n_last, cap_last;
};

/* COV_EINPUT if `path` is known to be a track, with the message "PATH: HINT", or of another known
 * kind. A bedGraph of another name is not known: BED may also have four columns. */
int cov_peak_list_check_kind(const char *path, const char *hint, struct cov_err *e) COV_MUST_USE;

/* Reads the first three columns of `path` ("-": standard input), in any order; it may be
 * compressed. Skips lines that begin with '#', "track" or "browser". COV_EINPUT, with file and
 * line, for a line without a contig, a start and a later end, for a peak past the end of its sequence,
 * and for a new sequence with a name of more than COV_PEAK_NAME bytes; without line, if none of the
 * sequences is in the genome. Peaks of other sequences are dropped with a warning. Memory: 32 bytes
 * per different peak. Free with cov_peak_list_fini, also after a failure. */
enum { COV_PEAK_NAME = 255 };
int cov_peak_list_read(const char *path, struct cov_peak_genome *genome, struct cov_peak_list *out,
                       struct cov_err *e) COV_MUST_USE;
void cov_peak_list_fini(struct cov_peak_list *l);

/* Adds the regions of the peaks to `out`, merged. */
int cov_peak_list_merge(const struct cov_peak_list *l, struct cov_region_list *out,
                        struct cov_err *e) COV_MUST_USE;

/* ---- what compare and stats share: options, and files of peaks sequence by sequence ---- */

/* Borrowed for the call. */
struct cov_peak_files_options {
    const char *genome, *sizes; /* an HDF5 file, or a list of names and lengths; at most one */
    const char *blacklist;      /* sequences or regions that do not count; NULL: none */
    const char *dataset;        /* of the peaks, in a MultiQC report; NULL: any */
    const char *signal;         /* a track, of which FRiP is a fraction; NULL: none */
    struct cov_source_options source; /* of it, except for its blacklist */
    unsigned n_threads;               /* for it */
    struct cov_progress *progress;
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

/* `compare` (compare_peaks.c) writes how well the bases in the peaks of `predicted` and of
 * `measured` agree: a row per sequence of the genome that is not blacklisted, and the total. Values
 * are those of Predmoter's compute_peak_f1.py: 0 where a denominator is 0. Also writes the numbers
 * of peaks, and of those that overlap a peak of the other file, outside the blacklist. Adds the
 * total to *stats, as "comparison" and as figures of a MultiQC report's general statistics.
 * COV_EUSAGE without a genome. */
int cov_compare_peaks(const char *predicted, const char *measured,
                      const struct cov_peak_files_options *options, struct cov_stats *stats,
                      struct cov_err *e) COV_MUST_USE;

/* `stats` (peak_stats.c) writes a row for each file: the number of peaks, their mean and median
 * length, the bases in them, and with a genome the fraction of it that they are, else NA; with a signal,
 * which is read once for each file, the fraction of it that is in the peaks (FRiP). Peaks and bases on the
 * blacklist do not count; a peak counts, with its whole length, if one of its bases does. Writes nothing if
 * a file cannot be read. COV_EINPUT for a signal that does not fit the peaks, or has values below 0. *stats
 * gets "files", and figures for each file. */
int cov_peak_stats(char *const *paths, size_t n, const struct cov_peak_files_options *options,
                   struct cov_stats *stats, struct cov_err *e) COV_MUST_USE;

#endif
