/* runs.h - run-length encoding along a contig: equal neighbouring values become one interval.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_RUNS_H
#define COV_TRACK_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

/* Takes n complete intervals. */
typedef int cov_runs_fn(void *arg, const struct cov_interval *iv, size_t n, struct cov_err *e);

enum { COV_RUNS_BLOCK = 1024 };

struct cov_runs {
    cov_runs_fn *emit;
    void *arg;
    int64_t end;              /* end of the last value */
    struct cov_interval open; /* the current run; beg < 0: none */
    size_t n;
    struct cov_interval iv[COV_RUNS_BLOCK];
};

/* Starts a contig at position 0. *r may be uninitialized. */
void cov_runs_begin(struct cov_runs *r, cov_runs_fn *emit, void *arg);

/* Adds the next n values. Runs continue across calls, so the result does not depend on how the
 * values are split. Intervals are passed on in blocks. */
int cov_runs_add(struct cov_runs *r, const float *values, size_t n, struct cov_err *e) COV_MUST_USE;

/* Adds n > 0 bases with the same value. */
int cov_runs_repeat(struct cov_runs *r, float value, int64_t n, struct cov_err *e) COV_MUST_USE;

/* Skips n > 0 bases without a value; the next value starts a new run. */
int cov_runs_skip(struct cov_runs *r, int64_t n, struct cov_err *e) COV_MUST_USE;

/* Ends the contig and passes on the remaining intervals. */
int cov_runs_end(struct cov_runs *r, struct cov_err *e) COV_MUST_USE;

#endif
