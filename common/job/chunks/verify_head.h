/* verify_head.h - the part of verify.h that needs no chunk: what is found is printed and counted;
 * the grid; the lists of names.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_VERIFY_HEAD_H
#define COV_JOB_CHUNKS_VERIFY_HEAD_H

#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/seq/grid.h"
#include "common/store/chunk_head.h"

enum cov_finding_kind {
    COV_FOUND_DAMAGE,
    COV_FOUND_STRANDS,
    COV_FOUND_VALUES,
    COV_FOUND_OVERLAP,
    COV_FOUND_HOLE,
    COV_FOUND_ALONE,
    COV_FOUND_NAMES,
};

struct cov_findings;

/* Findings in the file `path`, printed to `out`; both are borrowed until finish. */
int cov_findings_new(const char *path, FILE *out, struct cov_findings **f,
                     struct cov_err *e) COV_MUST_USE;
/* Prints `line`, unless there were COV_VERIFY_MAX_LINES of this kind in data set `place` already.
 */
int cov_findings_add(struct cov_findings *f, const char *place, enum cov_finding_kind kind,
                     const char *line, struct cov_err *e) COV_MUST_USE;
/* Says how many were not printed, frees f, and returns how many there were. */
size_t cov_findings_finish(struct cov_findings *f);

/* Data sets that contradict each other, and names that are none or come twice. */
int cov_verify_head(const struct cov_chunk_head *head, const struct cov_grid *grid,
                    struct cov_findings *f, struct cov_err *e) COV_MUST_USE;
/* Overlaps, holes, and chunks without their other strand. */
int cov_verify_grid(const struct cov_grid *grid, struct cov_findings *f,
                    struct cov_err *e) COV_MUST_USE;

#endif
