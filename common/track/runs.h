/* runs.h - run-length encoding of values along a contig: equal neighbours become one interval.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_RUNS_H
#define COV_TRACK_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/track/sink.h"

/* Takes n finished intervals. */
typedef int cov_runs_fn(void *arg, const struct cov_interval *iv, size_t n, struct cov_err *e);

enum { COV_RUNS_BLOCK = 1024 };

struct cov_runs {
    cov_runs_fn *emit;
    void *arg;
    int64_t end;              /* position behind the last value */
    struct cov_interval open; /* the run that may go on; beg < 0: there is none */
    size_t n;
    struct cov_interval iv[COV_RUNS_BLOCK];
};

/* Begins a contig at position 0. Before the first one all that is needed is that `*r` has
 * storage. */
void cov_runs_begin(struct cov_runs *r, cov_runs_fn *emit, void *arg);

/* The next n values. Runs go on across calls, so that the result does not depend on how the values
 * are cut into pieces. Intervals are handed on in blocks. */
int cov_runs_add(struct cov_runs *r, const float *values, size_t n, struct cov_err *e) COV_MUST_USE;

/* The same of n > 0 bases that all have one value. */
int cov_runs_repeat(struct cov_runs *r, float value, int64_t n, struct cov_err *e) COV_MUST_USE;

/* The next n > 0 bases have no value: what follows begins another run. */
int cov_runs_skip(struct cov_runs *r, int64_t n, struct cov_err *e) COV_MUST_USE;

/* The contig ends here: hands on what is left. */
int cov_runs_end(struct cov_runs *r, struct cov_err *e) COV_MUST_USE;

#endif
