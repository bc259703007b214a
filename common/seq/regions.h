/* regions.h - regions of a genome: as text, in lists, and the rows of a file that they select.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_REGIONS_H
#define COV_SEQ_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/text.h"
#include "common/seq/grid.h"
#include "common/seq/names.h"

/* ---- regions as text ----
 *
 * A region is written as for samtools: "chr", "chr:beg-end", "chr:beg-" or "chr:beg" (to the end of
 * the sequence), or "chr:-end", 1-based and inclusive. Its numbers may contain commas and end in k,
 * M or G (powers of 1000). If the whole text, including any colons, is the name of a sequence, it
 * means that sequence; braces enclose a name otherwise: "{chr:1}:1-2". */

#define COV_RANGE_FORMS "NAME or NAME:FIRST-LAST"

/* The two possible meanings of a text: a sequence with that name, or bases [beg, end) (0-based)
 * of the sequence named before the last colon or in braces. */
struct cov_range {
    const char *text; /* borrowed */
    const char *name; /* within the text */
    size_t n_name;    /* 0: not a range */
    int64_t beg, end; /* end: INT64_MAX without a last position */
};

/* Parses a region. Fails with COV_EUSAGE for an empty text, and for a range that begins before 1
 * or ends before it begins. */
int cov_range_parse(const char *text, struct cov_range *r, struct cov_err *e) COV_MUST_USE;

/* Returns true and sets *beg and *end if the region is in the sequence `name`. *end may be past the
 * end of the sequence; it is INT64_MAX without a last position. */
bool cov_range_means(const struct cov_range *r, const char *name, int64_t *beg, int64_t *end);

/* Returns the region that starts at parts[*i] of a list of n parts, split at its commas; advances
 * *i past it. Joins a part to the part before if it continues a name in braces, or a number
 * ("chr1:1,000-2,000"): if it is three digits, alone or followed by '-' or a unit, and none of the
 * `names` of sequences (may be NULL). Caller frees; NULL if out of memory. */
char *cov_region_text(const char *const *parts, size_t n, size_t *i, const struct cov_names *names,
                      struct cov_err *e);

/* Fail with COV_EINPUT. The first says that the file `where` has no such sequence and names
 * those it has, `contigs` (NULL: not known). The second says that the range begins after the
 * sequence's `length` bases. If `where` is NULL, the caller adds the file. */
int cov_range_fail_unknown(const struct cov_range *r, const char *where,
                           const struct cov_listing *contigs, struct cov_err *e);
int cov_range_fail_beyond(const struct cov_range *r, int64_t length, const char *where,
                          struct cov_err *e);

/* ---- lists of regions of numbered contigs, merged where they overlap ----
 *
 * Adding merges from time to time, because a small compressed file may repeat the same regions
 * millions of times. */

/* Bases beg .. end-1 of a contig, 0-based. */
struct cov_region {
    size_t contig; /* a number of the list's owner; 0 if all regions are of one contig */
    int64_t beg, end;
};

/* All zero is an empty list. */
struct cov_region_list {
    struct cov_region *items; /* [n]. Owned */
    size_t n, cap;
};

void cov_region_list_fini(struct cov_region_list *l);
int cov_region_list_add(struct cov_region_list *l, struct cov_region region,
                        struct cov_err *e) COV_MUST_USE;
/* Sorts by contig and position, and merges regions that overlap or touch. */
void cov_region_list_merge(struct cov_region_list *l);

/* Regions of a contig: disjoint, ascending. Borrowed. */
struct cov_region_span {
    const struct cov_region *items;
    size_t n;
};

/* Sets *out to the parts of `from` that are outside `drop`. */
int cov_region_list_subtract(struct cov_region_list *out, struct cov_region_span from,
                             struct cov_region_span drop, struct cov_err *e) COV_MUST_USE;

/* Returns the index of the first of n regions, sorted and disjoint, that ends after base `at` of the
 * contig or is of a later contig. */
size_t cov_regions_after(const struct cov_region *items, size_t n, size_t contig, int64_t at);

/* Returns whether a region of the list (regions as in a span) has bases beg .. end-1. */
bool cov_region_list_overlaps(const struct cov_region_list *l, int64_t beg, int64_t end);

/* Returns the number of bases in the regions, of a merged list. */
int64_t cov_region_list_bases(const struct cov_region_list *l);

/* ---- rows of a file by region, name and length ----
 *
 * Regions are texts or BED, which is 0-based and half-open. A region selects all chunks that overlap
 * it, on both strands. Several requests together select all chunks that any of them selects. */

struct cov_select;

/* Creates a selection without requests. Borrows the grid until free. */
int cov_select_new(const struct cov_grid *g, struct cov_select **out,
                   struct cov_err *e) COV_MUST_USE;
void cov_select_free(struct cov_select *s); /* NULL is accepted */

/* Adds the region `text`. Fails with COV_EUSAGE if the region is malformed, with COV_EINPUT if it
 * begins past the end of its sequence or names no sequence. If several species have a sequence of that name,
 * selects all of these sequences. */
int cov_select_region(struct cov_select *s, const char *text, struct cov_err *e) COV_MUST_USE;

/* Adds the n parts of a list that was split at its commas, see cov_region_text. */
int cov_select_regions(struct cov_select *s, const char *const *texts, size_t n,
                       struct cov_err *e) COV_MUST_USE;

/* What a file lists: regions in BED, of which further columns, blank lines, comments, and lines that
 * begin with `track` or `browser` are ignored; or sequences to add or to exclude, even if something
 * else requests them, by the first word of each line. */
enum cov_select_list { COV_SELECT_BED, COV_SELECT_NAMES, COV_SELECT_EXCLUDED };

/* Reads such a file. COV_EINPUT with the line number for a line that is not BED. Warns about unknown
 * contigs; warnings mention `option`. */
int cov_select_read(struct cov_select *s, enum cov_select_list list, const char *option,
                    const char *path, struct cov_err *e) COV_MUST_USE;

/* Sets wanted[i] for each row i of the grid. It is true if the row overlaps a request (or
 * nothing was requested), and its sequence is not excluded and has at least min_length bases. */
void cov_select_rows(struct cov_select *s, int64_t min_length, bool *wanted);

/* Finds the first stretch [*beg, *end) of requested bases within [from, to) of a sequence.
 * Returns false if there is none. Call it only after cov_select_rows. Thread-safe. */
bool cov_select_stretch(const struct cov_select *s, size_t seq, int64_t from, int64_t to,
                        int64_t *beg, int64_t *end);

/* ---- features that do not fit the sequences of another file ---- */

/* Features on sequences that another file lacks. Strings are borrowed. */
struct cov_misplaced {
    const char *path, *what;      /* the file of features, and what they are: "peak" */
    size_t n;                     /* features on other sequences */
    bool is_all;                  /* there are no others */
    struct cov_listing sequences; /* those that the other file lacks */
    const char *input;            /* the other file */
    struct cov_listing there;     /* its sequences */
    const char *hint;             /* ends the message of a failure: "; --rename maps names" */
};

/* COV_EINPUT if all features are on other sequences. Otherwise, with `warns`, warns about those that
 * are. */
int cov_misplaced_check(const struct cov_misplaced *m, bool warns, struct cov_err *e) COV_MUST_USE;

/* A feature that ends after its sequence. */
struct cov_overhang {
    const char *path, *what;
    size_t line; /* 0: not known */
    int64_t end;
    const char *sequence;
    int64_t length;
    const char *input; /* which has the sequence */
};

/* Returns COV_EINPUT. */
int cov_overhang_fail(const struct cov_overhang *o, struct cov_err *e) COV_MUST_USE;

#endif
