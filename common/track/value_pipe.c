/* value_pipe.c - see value_pipe.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/value_pipe.h"

int cov_value_pipe_init(struct cov_value_pipe *p, const struct cov_value_rules *rules, bool round,
                        struct cov_track_sink *sink, struct cov_err *e)
{
    p->sink = sink;
    p->round = round;
    p->rules = rules;
    p->scale = rules->scale;
    return cov_smoother_init(&p->smoother, &rules->smoothing, round && !rules->unrounded, e);
}

void cov_value_pipe_fini(struct cov_value_pipe *p)
{
    cov_smoother_fini(&p->smoother);
}

/* ---- filter ---- */

static int flush(struct cov_value_pipe *p, struct cov_err *e)
{
    size_t n = p->n;
    p->n = 0;
    return cov_track_add(p->sink, p->iv, n, e);
}

static int put(struct cov_value_pipe *p, int64_t beg, int64_t end, float value, struct cov_err *e)
{
    if (beg >= end)
        return COV_OK;
    p->iv[p->n++] = (struct cov_interval){beg, end, value};
    return p->n == COV_VALUE_PIPE_BLOCK ? flush(p, e) : COV_OK;
}

/* Passes on the parts of an interval that are outside the regions. */
static int put_outside(struct cov_value_pipe *p, const struct cov_interval *iv, struct cov_err *e)
{
    int64_t beg = iv->beg;
    while (p->region < p->n_regions && p->regions[p->region].beg < iv->end) {
        const struct cov_region *region = &p->regions[p->region];
        int rc = put(p, beg, region->beg, iv->value, e);
        if (rc)
            return rc;
        if (region->end > beg)
            beg = region->end;
        if (region->end >= iv->end)
            break; /* the region may reach into the next interval */
        p->region++;
    }
    return put(p, beg, iv->end, iv->value, e);
}

static int filter_one(struct cov_value_pipe *p, const struct cov_interval *iv, struct cov_err *e)
{
    const struct cov_value_rules *rules = p->rules;
    if ((rules->skip_zero && iv->value == 0) ||
        (rules->has_min && (double)iv->value < rules->min_value))
        return COV_OK;
    return put_outside(p, iv, e);
}

/* Filters a block of intervals; a cov_runs_fn. */
static int filter(void *pipe, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct cov_value_pipe *p = pipe;
    const struct cov_value_rules *rules = p->rules;
    if (!rules->skip_zero && !rules->has_min && p->n_regions == 0)
        return cov_track_add(p->sink, iv, n, e);
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = filter_one(p, &iv[i], e);
    return rc;
}

/* ---- bins ---- */

static int end_bins(struct cov_value_pipe *p, struct cov_err *e)
{
    int rc = p->bins.end > p->bins.beg ? filter_one(p, &p->bins, e) : COV_OK;
    p->bins = (struct cov_interval){0};
    return rc;
}

static int end_bin(struct cov_value_pipe *p, struct cov_err *e)
{
    int rc = COV_OK;
    if (p->bin_bases == 0)
        return rc;
    p->bin.value = (float)(p->bin_sum / (double)p->bin_bases);
    if (p->bins.end == p->bin.beg && p->bins.value == p->bin.value && p->bins.end > 0) {
        p->bins.end = p->bin.end;
    } else {
        rc = end_bins(p, e);
        p->bins = p->bin;
    }
    p->bin_sum = 0;
    p->bin_bases = 0;
    return rc;
}

/* Distributes a block of intervals to bins; a cov_runs_fn. */
static int take_bins(void *pipe, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct cov_value_pipe *p = pipe;
    const int64_t width = p->rules->bin;
    for (size_t i = 0; i < n; i++)
        for (int64_t at = iv[i].beg; at < iv[i].end;) {
            int64_t number = at / width, left = width - at % width;
            int64_t stop = iv[i].end - at < left ? iv[i].end : at + left;
            int rc = number != p->bin_number ? end_bin(p, e) : COV_OK;
            if (rc)
                return rc;
            if (p->bin_bases == 0)
                p->bin.beg = at;
            p->bin_number = number;
            p->bin_sum += (double)iv[i].value * (double)(stop - at);
            p->bin_bases += stop - at;
            p->bin.end = at = stop;
        }
    return COV_OK;
}

/* ---- values ---- */

void cov_value_pipe_begin(struct cov_value_pipe *p, const struct cov_region *regions,
                          size_t n_regions)
{
    p->at = 0;
    p->regions = regions;
    p->n_regions = n_regions;
    p->region = 0;
    p->n = 0;
    p->bin_number = p->bin_bases = 0;
    p->bin_sum = 0;
    p->bins = (struct cov_interval){0};
    cov_runs_begin(&p->runs, p->rules->bin > 1 ? take_bins : filter, p);
    if (p->smoother.smooths)
        cov_smoother_begin(&p->smoother);
}

static float scaled(const struct cov_value_pipe *p, float x)
{
    return (float)((double)x * p->scale) + 0.0F; /* -0 becomes 0 */
}

static int add_smoothed(struct cov_value_pipe *p, float *x, size_t n, struct cov_err *e)
{
    if (p->scale != 1)
        for (size_t i = 0; i < n; i++)
            x[i] = scaled(p, x[i]);
    return cov_runs_add(&p->runs, x, n, e);
}

/* Drains the smoother at the end of a contig or before a gap. */
static int end_window(struct cov_value_pipe *p, struct cov_err *e)
{
    size_t n;
    while (p->smoother.smooths &&
           (n = cov_smoother_end(&p->smoother, p->room, COV_VALUE_PIPE_ROOM)) > 0) {
        int rc = add_smoothed(p, p->room, n, e);
        if (rc)
            return rc;
    }
    if (p->smoother.smooths)
        cov_smoother_begin(&p->smoother);
    return COV_OK;
}

/* Advances to beg + n; bases before `beg` are a gap. */
static int advance(struct cov_value_pipe *p, int64_t beg, int64_t n, struct cov_err *e)
{
    int rc = COV_OK;
    if (beg > p->at) {
        rc = end_window(p, e);
        if (!rc)
            rc = cov_runs_skip(&p->runs, beg - p->at, e);
    }
    p->at = beg + n;
    return rc;
}

int cov_value_pipe_add(struct cov_value_pipe *p, int64_t beg, float *x, size_t n, struct cov_err *e)
{
    int rc = advance(p, beg, (int64_t)n, e);
    if (rc)
        return rc;
    if (p->smoother.smooths)
        n = cov_smoother_add(&p->smoother, x, n, x);
    return add_smoothed(p, x, n, e);
}

/* Adds the bases of an interval one by one, for smoothing. */
static int add_bases(struct cov_value_pipe *p, const struct cov_interval *iv, struct cov_err *e)
{
    for (int64_t at = iv->beg; at < iv->end;) {
        float x[COV_VALUE_PIPE_ROOM];
        int64_t left = iv->end - at;
        size_t n = left < COV_VALUE_PIPE_ROOM ? (size_t)left : COV_VALUE_PIPE_ROOM;
        for (size_t i = 0; i < n; i++)
            x[i] = iv->value;
        int rc = cov_value_pipe_add(p, at, x, n, e);
        if (rc)
            return rc;
        at += (int64_t)n;
    }
    return COV_OK;
}

int cov_value_pipe_add_intervals(struct cov_value_pipe *p, const struct cov_interval *iv, size_t n,
                                 struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        int64_t bases = iv[i].end - iv[i].beg;
        if (p->smoother.smooths) {
            rc = add_bases(p, &iv[i], e);
            continue;
        }
        rc = advance(p, iv[i].beg, bases, e);
        if (!rc)
            rc = cov_runs_repeat(&p->runs, scaled(p, iv[i].value), bases, e);
    }
    return rc;
}

int cov_value_pipe_end(struct cov_value_pipe *p, struct cov_err *e)
{
    int rc = end_window(p, e);
    if (!rc)
        rc = cov_runs_end(&p->runs, e);
    if (!rc)
        rc = end_bin(p, e);
    if (!rc)
        rc = end_bins(p, e);
    return rc ? rc : flush(p, e);
}
