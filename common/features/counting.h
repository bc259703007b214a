/* counting.h - the rules of bam2h5: which reads are counted, and which of their bases.
 *
 * The defaults are Helixer's rules. Unmapped, secondary and QC-failed reads are skipped; duplicates
 * and supplementary alignments are not. CIGAR operations M, = and X are coverage; N and D are
 * spliced coverage. With a shift, a read covers its whole span, and there is no spliced coverage;
 * the shift moves the start of a read on the + strand and the end of a read on the - strand. Of a
 * pair, each mate that passes the filters represents the whole fragment: see mates.h.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FEATURES_COUNTING_H
#define COV_FEATURES_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/alignments.h"

enum cov_count_unit {
    COV_COUNT_READ,
    COV_COUNT_CUT,     /* one base: the start of a + read, the end of a - read, after the shift */
    COV_COUNT_FRAGMENT /* a proper pair counts once, from its first to its last base */
};

/* A longer proper pair is discordant, so that a right mate does not reach back further. */
enum { COV_COUNT_MAX_FRAGMENT = 1 << 20 };

enum cov_count_strand {
    COV_COUNT_BOTH,  /* every read on both strands */
    COV_COUNT_OWN,   /* own: the strand it maps to */
    COV_COUNT_FIRST, /* stranded: the strand of read 1; an unpaired read is read 1 */
    COV_COUNT_SECOND /* the strand of read 2 (dUTP) */
};

struct cov_counting {
    int unit;                              /* enum cov_count_unit */
    int strand;                            /* enum cov_count_strand */
    unsigned require_flags, exclude_flags; /* UNMAPPED is always excluded */
    int64_t min_mapq;
    bool has_shift;
    int64_t shift_plus, shift_minus; /* added to the start of a + read, to the end of a - read */
};

enum { COV_COUNT_HELIXER_EXCLUDES = COV_READ_UNMAPPED | COV_READ_SECONDARY | COV_READ_QC_FAIL };

/* Why a read counts or does not. */
enum cov_count_result {
    COV_COUNTED,
    COV_SKIP_UNMAPPED,
    COV_SKIP_FLAGS, /* --require-flags or --exclude-flags */
    COV_SKIP_MAPQ,
    COV_SKIP_MATE,          /* fragments: counted with the mate; never from cov_count_spans */
    COV_SKIP_DISCORDANT,    /* fragments: not a proper pair, or too long */
    COV_SKIP_SUPPLEMENTARY, /* fragments */
    COV_SKIP_OUTSIDE,       /* begins or ends past the end of its contig */
    COV_SKIP_EMPTY,         /* covers no base, or none after the shift */
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
    bool minus; /* the strand that it counts on; not for COV_COUNT_BOTH */
    bool pair;  /* the fragment of a pair; the other mate has the same one */
};

/* Sets spans->items[0..n) to the runs, in ascending order, that `read` covers on its contig of
 * `length` bases. The array is reused; the caller frees items. Returns a cov_count_result, or a
 * failure; spans are set only for COV_COUNTED. */
int cov_count_spans(const struct cov_counting *rules, const struct cov_read *read, int64_t length,
                    struct cov_spans *spans, struct cov_err *e) COV_MUST_USE;

/* Returns how many bases before its position a read can cover. */
int64_t cov_count_reach(const struct cov_counting *rules);

#endif
