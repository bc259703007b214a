/* value_pipe.h - turns values along a contig into the intervals of a track: combines strands, and
 * smooths, scales, bins, run-length encodes, combines with other tracks, and filters values.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_VALUE_PIPE_H
#define COV_TRACK_VALUE_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/features/blacklist.h"
#include "common/track/interval_store.h"
#include "common/track/sink.h"
#include "common/track/smooth.h"

/* ---- strands ---- */

enum cov_strand { COV_STRAND_AVG, COV_STRAND_PLUS, COV_STRAND_MINUS };

/* Sets out[i] to the value of base i, for n bases that ascend on the + strand. `plus` and `minus`
 * have n values each, in the direction of their strand, so minus[n-1-i] belongs to base i. A strand
 * that is not needed may be NULL.
 *   AVG:   out[i] = (plus[i] + minus[n-1-i]) / 2
 *   PLUS:  out[i] = plus[i]        MINUS: out[i] = minus[n-1-i]
 * `round`: rounds the values of each strand and then their mean, like Predmoter. */
void cov_strands_combine(enum cov_strand strand, const float *plus, const float *minus, size_t n,
                         bool round, float *out);

/* ---- other tracks ---- */

/* Of the values x of the pipe and y[0..n) of the other tracks, each multiplied by its factor:
 *   MINUS: x - y[0]     LOG2: log2((x + p) / (y[0] + p))     MEAN: (x + y[0] + ...) / (n + 1)
 * A base without a value in one of the tracks has none in the result. */
enum cov_operation { COV_OP_NONE, COV_OP_MINUS, COV_OP_LOG2, COV_OP_MEAN };

struct cov_operand {
    struct cov_interval_store *store; /* closed; borrowed */
    double factor;
    /* Private: the place in the current contig. */
    bool found; /* the store has the contig */
    struct cov_interval_cursor cursor;
    const struct cov_interval *iv;
    size_t n_iv;
};

struct cov_operands {
    double factor; /* of x */
    struct cov_operand *items;
    size_t n;
};

/* ---- the pipe ---- */

struct cov_value_rules {
    struct cov_smoothing smoothing;
    bool unrounded; /* round neither smoothed integers nor means of measured coverage */
    double scale;   /* factor for every value, after smoothing */
    int64_t bin;    /* then: means of bins of this width, from base 0; <= 1: none. A bin without
                     * values is a gap; others extend from their first to their last value. */
    enum cov_operation operation; /* then: on the values, if the pipe has operands */
    double pseudocount;           /* p, for LOG2 */
    bool skip_zero;               /* drop values of 0 */
    bool has_min;                 /* drop values below min_value */
    double min_value;
};

enum { COV_VALUE_PIPE_ROOM = 1024, COV_VALUE_PIPE_BLOCK = 256, COV_VALUE_PIPE_RUNS = 1024 };

/* Private, except for `sink`, `round`, `scale` and `operands`. */
struct cov_value_pipe {
    struct cov_track_sink *sink; /* borrowed */
    bool round;
    const struct cov_value_rules *rules; /* borrowed */
    double scale;                        /* that of the rules, until the caller changes it */
    const struct cov_operands *operands; /* after bins; NULL: none. Borrowed */
    int64_t at;                          /* end of the last value received */
    struct cov_smoother smoother;
    float room[COV_VALUE_PIPE_ROOM]; /* values that the smoother still holds when it ends */
    /* Runs of equal values, of which the current one is open. */
    int64_t run_end;         /* end of the last value */
    struct cov_interval run; /* the open one; beg < 0: none */
    size_t n_runs;
    struct cov_interval runs[COV_VALUE_PIPE_RUNS];
    /* The current bin with its values, and finished bins, or results, of equal value. */
    int64_t bin_number, bin_bases;
    double bin_sum;
    struct cov_interval bin, bins; /* bins: empty if there are none */
    /* Regions of the contig to drop, and intervals on their way to the sink. */
    const struct cov_region *regions;
    size_t n_regions, region;
    size_t n;
    struct cov_interval iv[COV_VALUE_PIPE_BLOCK];
};

/* `round`: inputs are integers, and smoothed values are rounded to integers unless the rules say
 * otherwise. Free with cov_value_pipe_fini, which accepts all zeros. */
int cov_value_pipe_init(struct cov_value_pipe *p, const struct cov_value_rules *rules, bool round,
                        struct cov_track_sink *sink, struct cov_err *e) COV_MUST_USE;
void cov_value_pipe_fini(struct cov_value_pipe *p);

/* Starts a contig at base 0, which the caller has started in the sink. Drops `regions` (ascending,
 * disjoint; borrowed until cov_value_pipe_end). */
void cov_value_pipe_begin(struct cov_value_pipe *p, const struct cov_region *regions,
                          size_t n_regions);

/* Adds the values of bases beg .. beg+n-1; overwrites x[]. Bases skipped since the last call have
 * no value, and smoothing restarts after them. */
int cov_value_pipe_add(struct cov_value_pipe *p, int64_t beg, float *x, size_t n,
                       struct cov_err *e) COV_MUST_USE;

/* Adds n non-empty intervals, ascending; otherwise like cov_value_pipe_add. */
int cov_value_pipe_add_intervals(struct cov_value_pipe *p, const struct cov_interval *iv, size_t n,
                                 struct cov_err *e) COV_MUST_USE;

/* Ends the contig and passes all remaining values to the sink. */
int cov_value_pipe_end(struct cov_value_pipe *p, struct cov_err *e) COV_MUST_USE;

#endif
