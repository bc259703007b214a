/* peak_list.h - peaks read from a BED, narrowPeak, broadPeak or gappedPeak file, and the sequences that
 * they are on.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PEAKS_PEAK_LIST_H
#define COV_JOB_PEAKS_PEAK_LIST_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/seq/names.h"
#include "common/seq/region_list.h"

/* The sequences of a genome. Empty if all zero. */
struct cov_peak_genome {
    const char *path;        /* borrowed; NULL: not known, sequences are added as peaks name them */
    struct cov_names *names; /* Owned */
    int64_t *lengths;        /* [count of names]; NULL without a path. Owned */
};

/* Reads the names and lengths of a genome file, a predictions file, or, with `is_list`, of a list of
 * names and lengths. With NULL, none are known. Free with cov_peak_genome_fini, also after a failure. */
int cov_peak_genome_read(const char *path, bool is_list, struct cov_peak_genome *out,
                         struct cov_err *e) COV_MUST_USE;
void cov_peak_genome_fini(struct cov_peak_genome *g);

/* The peaks in the order of the file. Empty if all zero. */
struct cov_peak_list {
    struct cov_region *items; /* [n], by number of the sequence in the genome. Owned */
    size_t n, cap;
};

/* Reads the first three columns of `path` ("-": standard input); it may be compressed. Skips lines that
 * begin with '#', "track" or "browser". COV_EINPUT, with file and line, for a line without a contig, a
 * start and a later end, and for an end past that of the sequence; without line, if none of the
 * sequences is in the genome. Peaks of other sequences are dropped with a warning; no peaks at all
 * cause one, too. Free with cov_peak_list_fini, also after a failure. */
int cov_peak_list_read(const char *path, struct cov_peak_genome *genome, struct cov_peak_list *out,
                       struct cov_err *e) COV_MUST_USE;
void cov_peak_list_fini(struct cov_peak_list *l);

#endif
