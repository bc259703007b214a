/* counting.h - which reads count, and which bases of each: the rules of bam2h5.
 *
 * Helixer's rules are the default: unmapped, secondary and QC-failed reads are left out, duplicates
 * and supplementary alignments are not; the operations M, = and X of a CIGAR are coverage, N and D
 * spliced coverage. With a shift a read is the whole span that it covers, its start moved on the +
 * strand, its end on the - strand, and there is no spliced coverage.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_COUNTING_H
#define COV_TRACK_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/alignments.h"

enum cov_count_unit {
    COV_COUNT_READ,
    COV_COUNT_CUT,     /* one base: the start of a + read, the end of a - read, after the shift */
    COV_COUNT_FRAGMENT /* a proper pair once, from its leftmost to its rightmost base */
};

enum cov_count_strand {
    COV_COUNT_BOTH,  /* every read on both strands */
    COV_COUNT_OWN,   /* on the strand it maps to */
    COV_COUNT_FIRST, /* stranded: on that of read 1; a single read is read 1 */
    COV_COUNT_SECOND /* on that of read 2 (dUTP) */
};

struct cov_counting {
    enum cov_count_unit unit;
    enum cov_count_strand strand;
    unsigned require_flags, exclude_flags; /* UNMAPPED is always excluded */
    unsigned min_mapq;
    bool has_shift;
    int64_t shift_plus, shift_minus; /* added to the start of a + read, to the end of a - read */
};

enum { COV_COUNT_HELIXER_EXCLUDES = COV_READ_UNMAPPED | COV_READ_SECONDARY | COV_READ_QC_FAIL };

/* Why a read counts or not. */
enum cov_count_result {
    COV_COUNTED,
    COV_SKIP_UNMAPPED,
    COV_SKIP_FLAGS, /* --require-flags or --exclude-flags */
    COV_SKIP_MAPQ,
    COV_SKIP_MATE,          /* fragments: the pair is counted with its other read */
    COV_SKIP_DISCORDANT,    /* fragments: a read of a pair that is no proper one */
    COV_SKIP_SUPPLEMENTARY, /* fragments */
    COV_SKIP_EMPTY,         /* it covers no base, or none is left after the shift */
    COV_SKIP_N
};
extern const char *const cov_count_result_names[COV_SKIP_N];

/* A run of bases that a read covers, 0 <= beg < end <= length of the contig. */
struct cov_span {
    int64_t beg, end;
    bool spliced;
};

struct cov_spans {
    struct cov_span *items;
    size_t n, cap;
    bool minus; /* the strand it counts on; not for COV_COUNT_BOTH */
};

/* spans->items[0..n) = what `read` covers of its contig of `length` bases, ascending; the list is
 * reused (free items in the end). Negative: COV_EINPUT, naming the read, for one that lies beyond
 * its contig, or COV_ENOMEM. Else a cov_count_result; none but COV_COUNTED fills spans. */
int cov_count_spans(const struct cov_counting *rules, const struct cov_read *read, int64_t length,
                    struct cov_spans *spans, struct cov_err *e) COV_MUST_USE;

/* How far before its position a read can count. */
int64_t cov_count_reach(const struct cov_counting *rules);

#endif
