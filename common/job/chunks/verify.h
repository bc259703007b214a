/* verify.h - checks that a file of chunks is sound: all chunks decode, the rows tile the sequences,
 * the strands agree, and values are valid.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_VERIFY_H
#define COV_JOB_CHUNKS_VERIFY_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/chunk/chunk_head.h"
#include "common/cli/job.h"
#include "common/seq/grid.h"

/* Prints one line per finding to `out`; the caller checks `out` for errors:
 *
 *   FILE: DATA SET: row N (SEQUENCE:BEG-END, - strand): REASON
 *
 * Rows, and the indices and columns in REASON, count from 0, as in HDF5; BEG counts from 1. The
 * order of the lines does not depend on the number of threads. *n_findings includes findings that
 * were counted but not printed. A file that cannot be opened is a failure, not a finding.
 *
 * Findings are:
 * - chunks that cannot be decoded
 * - missing or invalid bases, and bases past the end of the sequence
 * - chunks without a partner on the other strand, or that are not its reverse complement
 * - overlapping rows of a strand, and holes unless the file is partial
 * - coverage or predictions that are negative (except -1 where only regions were predicted), not
 *   finite, or not -1 past the end
 * - blacklist values other than 0 and 1
 * - lists of names that do not fit the columns, and empty or duplicate names in them
 * - sequence names that are duplicate or not a word
 * job->stats may be NULL. */
int cov_verify(const char *path, FILE *out, const struct cov_job *job, size_t *n_findings,
               struct cov_err *e) COV_MUST_USE;

/* ---- parts of it, for tests ---- */

/* Printed findings of one kind in one dataset; further ones are only counted. */
enum { COV_VERIFY_MAX_LINES = 20 };

enum cov_finding_kind {
    COV_FOUND_DAMAGE,
    COV_FOUND_STRANDS,
    COV_FOUND_VALUES,
    COV_FOUND_OVERLAP,
    COV_FOUND_HOLE,
    COV_FOUND_ALONE,
    COV_FOUND_NAMES,
};

/* The caller sets path and out; the rest is zero. */
struct cov_findings {
    const char *path;
    FILE *out;
    struct cov_finding_counter *counters; /* in the order of the first findings. Owned */
    size_t n_counters, cap, n;
};

/* Prints `line`, unless COV_VERIFY_MAX_LINES of this kind were printed for the dataset `place`. */
int cov_findings_add(struct cov_findings *f, const char *place, enum cov_finding_kind kind,
                     const char *line, struct cov_err *e) COV_MUST_USE;
/* Prints how many findings were not printed, frees what f owns, and returns the number of
 * findings. */
size_t cov_findings_finish(struct cov_findings *f);

/* Checks that datasets match each other and that names are valid. */
int cov_verify_head(const struct cov_chunk_head *head, const struct cov_grid *grid,
                    struct cov_findings *f, struct cov_err *e) COV_MUST_USE;
/* Finds overlaps, holes, and chunks without a partner on the other strand. */
int cov_verify_grid(const struct cov_grid *grid, struct cov_findings *f,
                    struct cov_err *e) COV_MUST_USE;

#endif
