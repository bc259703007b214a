/* bed_reads.h - reads the lines of a BED file as reads and fragments.
 *
 * Columns are separated by tabs or blanks: contig, beg, end (0-based, half-open), two that are not
 * used, strand. A line with the strand + or - is a read, as in tagAlign; others are fragments, as in
 * files of 10x Genomics (contig, beg, end, barcode, count) and MACS3's BEDPE (three columns).
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_BED_READS_H
#define COV_FEATURES_BED_READS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/alignments.h"
#include "common/file/textfile.h"
#include "common/seq/names.h"

enum cov_bed_kind { COV_BED_NONE, COV_BED_READS, COV_BED_FRAGMENTS };

/* Returns what the first line of data in a file is. NONE for four columns (bedGraph), narrowPeak,
 * and pipes and other special files, which could not be read a second time. */
enum cov_bed_kind cov_bed_reads_detect(const char *path);

struct cov_bed_reads {
    struct cov_names *names; /* of the contigs so far, in the order of their first lines */
    size_t line;             /* number of the last line */
    /* Private. */
    const char *path;
    struct cov_lines *lines;
    size_t n_columns;
    uint32_t cigar;
};

/* Opens a file, compressed or not. Borrows `path` until fini, which also follows a failure. */
int cov_bed_reads_init(struct cov_bed_reads *b, const char *path, struct cov_err *e) COV_MUST_USE;
void cov_bed_reads_fini(struct cov_bed_reads *b); /* accepts an all-zero struct */

/* Reads the next line: a read without a name and a mate, whose CIGAR is one M and whose contig is a
 * number of `names`. Returns 1, or 0 at the end. COV_EINPUT "<path>:<line>: ..." for a wrong line. */
int cov_bed_reads_next(struct cov_bed_reads *b, struct cov_read *read,
                       struct cov_err *e) COV_MUST_USE;

#endif
