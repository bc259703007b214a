/* counting.h - counts reads as bam2h5 does: the rules for which reads and bases, mates, and depth.
 *
 * The defaults are Helixer's rules. Unmapped, secondary and QC-failed reads are skipped; duplicates
 * and supplementary alignments are not. CIGAR operations M, = and X are coverage; N and D are
 * spliced coverage. With a shift, a read covers its whole span, and there is no spliced coverage;
 * the shift moves the start of a read on the + strand and the end of a read on the - strand. Of a
 * pair, each mate that passes the filters represents the whole fragment, which is counted once. A
 * fragment without reads (bed_reads.h) counts from its first to its last base, or with both cuts.
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
    /* Of the fragment (TLEN); without one, of the read on the reference, without introns. 0: any */
    int64_t min_fragment, max_fragment;
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
    COV_SKIP_LENGTH,        /* --min-fragment or --max-fragment */
    COV_SKIP_MATE,          /* fragments: counted with the mate; never from cov_count_spans */
    COV_SKIP_DISCORDANT,    /* fragments: not a proper pair, or too long */
    COV_SKIP_SUPPLEMENTARY, /* fragments */
    COV_SKIP_OUTSIDE,       /* begins or ends past the end of its contig */
    COV_SKIP_EMPTY,         /* covers no base, or none after the shift */
    COV_SKIP_BLACKLISTED,   /* counts in blacklisted regions only; never from cov_count_spans */
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

/* ---- each pair of reads once, whichever of its mates pass the filters ----
 *
 * Keeps a counted mate until the other one comes. In sorted files a mate is forgotten when the
 * reads have passed the place of the other one, so that little memory is needed; in other files, a
 * mate whose other mate does not pass takes 20 to 90 bytes. */

struct cov_mate;

/* All zero: no mates. */
struct cov_mates {
    struct cov_mate *table; /* [n_slots] */
    size_t n, n_slots;
    bool sorted; /* set by the caller: reads come in the order of their contigs and positions */
};

void cov_mates_fini(struct cov_mates *m);

/* Sets *met to whether the other mate of `read`, a read of a pair on one contig, was here. Otherwise
 * keeps this one. `beg` is where the contig begins if all are laid end to end. */
int cov_mates_meet(struct cov_mates *m, const struct cov_read *read, int64_t beg, bool *met,
                   struct cov_err *e) COV_MUST_USE;

/* ---- depth: how many spans cover each position, with spans in any order ----
 *
 * Contigs are laid end to end, so that one coordinate covers all of them. Several lanes are counted
 * independently. A span is a step up and a step down, and the depth is the running sum of the
 * steps. Steps are kept in pages. Only a few pages are in memory; steps for other pages wait in an
 * unlinked temporary file. So sorted input needs little memory and no file, and unsorted input
 * needs a file but no more memory. */

enum { COV_DEPTH_MAX_LANES = 4 };

struct cov_depth;

struct cov_depth_options {
    size_t n_lanes;     /* 1 to COV_DEPTH_MAX_LANES */
    int64_t n;          /* positions */
    const char *tmpdir; /* for the temporary file */
    size_t max_pages;   /* 0: chosen */
    unsigned page_bits; /* log2 of the positions per page, at most 28; 0: chosen */
};

/* Starts with depth 0 everywhere. Free with cov_depth_free. */
int cov_depth_new(const struct cov_depth_options *options, struct cov_depth **out,
                  struct cov_err *e) COV_MUST_USE;
void cov_depth_free(struct cov_depth *d); /* NULL is accepted */

/* Adds one over [beg, end) of a lane; cov_depth_taken <= beg <= end <= n. */
int cov_depth_add(struct cov_depth *d, size_t lane, int64_t beg, int64_t end,
                  struct cov_err *e) COV_MUST_USE;

/* Sets lanes[k][0..n) to the depth at the next n positions, which are then finished; lanes may be
 * NULL. COV_EINPUT for a depth above 2^31 - 1. */
int cov_depth_take(struct cov_depth *d, size_t n, int32_t *const *lanes,
                   struct cov_err *e) COV_MUST_USE;

/* Returns the position that cov_depth_take reads next. */
int64_t cov_depth_taken(const struct cov_depth *d);

#endif
