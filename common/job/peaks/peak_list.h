/* peak_list.h - peaks read from a BED, narrowPeak, broadPeak or gappedPeak file, and the sequences that
 * they are on.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_PEAK_LIST_H
#define COV_JOB_PEAKS_PEAK_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/seq/names.h"
#include "common/seq/regions.h"

/* The sequences of a genome. Empty if all zero. */
struct cov_peak_genome {
    const char *path;        /* borrowed; NULL: not known, sequences are added as peaks name them */
    struct cov_names *names; /* Owned */
    int64_t *lengths;        /* [count of names]; NULL without a path. Owned */
    int64_t n_missing;       /* bases of the sequences that a partial file lacks */
};

/* Reads the names and lengths of a genome file, a predictions file, or, with `is_list`, of a list of
 * names and lengths. With NULL, none are known. Free with cov_peak_genome_fini, also after a failure. */
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
 * line, for a line without a contig, a start and a later end, for an end past that of the sequence,
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

#endif
