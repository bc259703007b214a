/* spread.c - see spread.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/spread.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"

/* A value this close to a multiple of the step, relatively, belongs to that multiple: as a float,
 * 0.7 is 0.69999999. */
static const double CLOSE = 1e-6;

static int add(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
               struct cov_err *e)
{
    (void)e;
    struct cov_spread *s = (struct cov_spread *)sink;
    for (size_t i = 0; i < n; i++)
        cov_value_counts_add(&s->counts, iv[i].value, (uint64_t)(iv[i].end - iv[i].beg), 0);
    return COV_OK;
}

static void free_sink(struct cov_track_sink *sink)
{
    cov_value_counts_fini(&((struct cov_spread *)sink)->counts);
}

int cov_spread_init(struct cov_spread *s, const char *name, const struct cov_track_contigs *contigs,
                    struct cov_err *e)
{
    static const struct cov_track_format format = {.add = add, .free = free_sink};
    *s = (struct cov_spread){0};
    s->sink.format = &format; /* for cov_track_free */
    int rc = cov_value_counts_init(&s->counts, COV_VALUE_COUNTS, e);
    return rc ? rc : cov_track_init(&s->sink, &format, name, contigs, e);
}

void cov_spread_finish(struct cov_spread *s)
{
    s->sorted = cov_value_counts_sort(&s->counts);
    for (size_t i = 0; i < s->counts.n; i++)
        if (s->sorted[i].value == 0)
            s->n_zero += s->sorted[i].n;
}

/* Returns the value of the base that `rank` bases have less than or equal to. */
static double value_at(const struct cov_spread *s, uint64_t rank)
{
    size_t i = s->counts.n - 1;
    for (uint64_t n = s->sorted[i].n; n <= rank && i > 0; n += s->sorted[i].n)
        i--;
    return (double)s->sorted[i].value;
}

double cov_spread_quantile(const struct cov_spread *s, double q)
{
    if (s->counts.n == 0)
        return (double)NAN;
    const uint64_t last = s->sink.summary.n_bases - 1;
    const double at = q * (double)last;
    const uint64_t rank = (uint64_t)at < last ? (uint64_t)at : last;
    const double low = value_at(s, rank), high = value_at(s, rank < last ? rank + 1 : last);
    return low + (at - (double)rank) * (high - low);
}

static double step_of(double value, double step)
{
    const double x = value / step, near = nearbyint(x);
    return fabs(x - near) <= CLOSE * fabs(near) ? near : floor(x);
}

int cov_spread_steps(const struct cov_spread *s, double step, struct cov_spread_step **out,
                     size_t *n, struct cov_err *e)
{
    *n = 0;
    *out = cov_calloc(s->counts.n, sizeof **out, e);
    if (!*out)
        return COV_ENOMEM;
    for (size_t i = s->counts.n; i-- > 0;) {
        const double value = step_of((double)s->sorted[i].value, step) * step;
        if (*n == 0 || (*out)[*n - 1].value < value)
            (*out)[(*n)++] = (struct cov_spread_step){.value = value};
        (*out)[*n - 1].n += s->sorted[i].n;
    }
    return COV_OK;
}
