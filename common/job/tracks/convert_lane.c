/* convert_lane.c - see convert_lane.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/tracks/convert_lane.h"

int cov_convert_lane_init(struct cov_convert_lane *l, const struct cov_convert_options *o,
                          bool round, struct cov_track_sink *sink, struct cov_err *e)
{
    l->sink = sink;
    l->round = round;
    l->scale = o->scale;
    l->filter.sink = sink;
    l->filter.skip_zero = o->skip_zero;
    l->filter.has_min = o->has_min;
    l->filter.min = o->min_value;
    return cov_smoother_init(&l->smoother, &o->smoothing, round && !o->unrounded, e);
}

void cov_convert_lane_fini(struct cov_convert_lane *l)
{
    cov_smoother_fini(&l->smoother);
}

void cov_convert_lane_begin(struct cov_convert_lane *l, const struct cov_region *regions,
                            size_t n_regions)
{
    l->at = 0;
    cov_track_filter_begin(&l->filter, regions, n_regions);
    cov_runs_begin(&l->runs, cov_track_filter_add, &l->filter);
    if (l->smoother.smooths)
        cov_smoother_begin(&l->smoother);
}

static float scaled(const struct cov_convert_lane *l, float x)
{
    return (float)((double)x * l->scale) + 0.0F; /* -0 becomes 0 */
}

static int take_values(struct cov_convert_lane *l, float *x, size_t n, struct cov_err *e)
{
    if (l->scale != 1)
        for (size_t i = 0; i < n; i++)
            x[i] = scaled(l, x[i]);
    return cov_runs_add(&l->runs, x, n, e);
}

/* What the window still holds: a contig ends, or a hole begins. */
static int end_window(struct cov_convert_lane *l, struct cov_err *e)
{
    size_t n;
    while (l->smoother.smooths &&
           (n = cov_smoother_end(&l->smoother, l->room, COV_CONVERT_LANE_ROOM)) > 0) {
        int rc = take_values(l, l->room, n, e);
        if (rc)
            return rc;
    }
    if (l->smoother.smooths)
        cov_smoother_begin(&l->smoother);
    return COV_OK;
}

/* What comes next begins at `beg` and has n bases. */
static int go_to(struct cov_convert_lane *l, int64_t beg, int64_t n, struct cov_err *e)
{
    int rc = COV_OK;
    if (beg > l->at) {
        rc = end_window(l, e);
        if (!rc)
            rc = cov_runs_skip(&l->runs, beg - l->at, e);
    }
    l->at = beg + n;
    return rc;
}

int cov_convert_lane_take(struct cov_convert_lane *l, int64_t beg, float *x, size_t n,
                          struct cov_err *e)
{
    int rc = go_to(l, beg, (int64_t)n, e);
    if (rc)
        return rc;
    if (l->smoother.smooths)
        n = cov_smoother_add(&l->smoother, x, n, x);
    return take_values(l, x, n, e);
}

/* An interval whose values go through the window one by one. */
static int spread(struct cov_convert_lane *l, const struct cov_interval *iv, struct cov_err *e)
{
    for (int64_t at = iv->beg; at < iv->end;) {
        float x[COV_CONVERT_LANE_ROOM];
        int64_t left = iv->end - at;
        size_t n = left < COV_CONVERT_LANE_ROOM ? (size_t)left : COV_CONVERT_LANE_ROOM;
        for (size_t i = 0; i < n; i++)
            x[i] = iv->value;
        int rc = cov_convert_lane_take(l, at, x, n, e);
        if (rc)
            return rc;
        at += (int64_t)n;
    }
    return COV_OK;
}

int cov_convert_lane_pass(struct cov_convert_lane *l, const struct cov_interval *iv, size_t n,
                          struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        int64_t bases = iv[i].end - iv[i].beg;
        if (l->smoother.smooths) {
            rc = spread(l, &iv[i], e);
            continue;
        }
        rc = go_to(l, iv[i].beg, bases, e);
        if (!rc)
            rc = cov_runs_repeat(&l->runs, scaled(l, iv[i].value), bases, e);
    }
    return rc;
}

int cov_convert_lane_end(struct cov_convert_lane *l, struct cov_err *e)
{
    int rc = end_window(l, e);
    if (!rc)
        rc = cov_runs_end(&l->runs, e);
    return rc ? rc : cov_track_filter_end(&l->filter, e);
}
