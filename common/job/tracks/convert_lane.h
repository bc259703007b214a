/* convert_lane.h - the way of values into a track: smoothing, scale, runs, filter.
 *
 * For convert.c and convert_track.c. One thread at a time.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRACKS_CONVERT_LANE_H
#define COV_JOB_TRACKS_CONVERT_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/job/tracks/convert.h"
#include "common/track/runs.h"
#include "common/track/smoother.h"
#include "common/track/track_filter.h"

enum { COV_CONVERT_LANE_ROOM = 1024 };

struct cov_convert_lane {
    struct cov_track_sink *sink; /* borrowed */
    bool round;
    /* The rest is private. */
    double scale;
    int64_t at; /* base behind the last one that came in */
    struct cov_smoother smoother;
    struct cov_runs runs;
    struct cov_track_filter filter;
    float room[COV_CONVERT_LANE_ROOM]; /* for what a window still holds at its end */
};

/* `round`: what comes in are whole numbers, and smoothed values are to be. Free with
 * cov_convert_lane_fini; all zero is an empty one. */
int cov_convert_lane_init(struct cov_convert_lane *l, const struct cov_convert_options *o,
                          bool round, struct cov_track_sink *sink, struct cov_err *e) COV_MUST_USE;
void cov_convert_lane_fini(struct cov_convert_lane *l);

/* Begins a contig, which the sink has been told of, at its base 0. */
void cov_convert_lane_begin(struct cov_convert_lane *l, const struct cov_region *regions,
                            size_t n_regions);

/* The values of the bases beg .. beg+n-1, which x[] is changed for. Between what came before and
 * `beg` is a hole: no base has a value there, and smoothing begins anew. */
int cov_convert_lane_take(struct cov_convert_lane *l, int64_t beg, float *x, size_t n,
                          struct cov_err *e) COV_MUST_USE;

/* The same of intervals, ascending and not empty. */
int cov_convert_lane_pass(struct cov_convert_lane *l, const struct cov_interval *iv, size_t n,
                          struct cov_err *e) COV_MUST_USE;

/* The contig ends here. */
int cov_convert_lane_end(struct cov_convert_lane *l, struct cov_err *e) COV_MUST_USE;

#endif
