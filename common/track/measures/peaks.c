/* peaks.c - see peaks.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/peaks.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"

int cov_peaks_cutoff(double value, const char *option, float *out, struct cov_err *e)
{
    if (!(fabs(value) <= (double)FLT_MAX))
        return cov_fail(e, COV_EUSAGE, "--%s: %g is out of range", option, value);
    *out = (float)value;
    return COV_OK;
}

void cov_peaks_fini(struct cov_peaks *p)
{
    free(p->list);
    free(p->middles);
    *p = (struct cov_peaks){.rules = p->rules};
}

void cov_peaks_begin(struct cov_peaks *p)
{
    p->max = -INFINITY;
    p->n = 0;
    p->is_open = false;
}

static void open_peak(struct cov_peaks *p, int64_t beg, int64_t count)
{
    p->is_open = true;
    p->open = (struct cov_peak){.beg = beg, .count_beg = count, .max = -INFINITY};
    p->stretch = (struct cov_interval){beg, beg, -INFINITY};
    p->sum_after = 0;
    p->n_middles = 0;
}

/* Ends a stretch of equal values, which may be the highest of the peak. */
static int end_stretch(struct cov_peaks *p, struct cov_err *e)
{
    const struct cov_interval *s = &p->stretch;
    if (s->beg == s->end || s->value < p->open.max)
        return COV_OK;
    if (s->value > p->open.max)
        p->n_middles = 0;
    p->open.max = s->value;
    int rc = COV_RESERVE(&p->middles, &p->cap_middles, p->n_middles + 1, e);
    if (!rc)
        p->middles[p->n_middles++] = s->beg + (s->end - s->beg) / 2;
    return rc;
}

int cov_peaks_end(struct cov_peaks *p, struct cov_err *e)
{
    bool is_peak = p->is_open && p->open.end - p->open.beg >= p->rules.min_length;
    p->is_open = false;
    if (!is_peak)
        return COV_OK;
    int rc = end_stretch(p, e);
    if (!rc)
        rc = COV_RESERVE(&p->list, &p->cap, p->n + 1, e);
    if (rc)
        return rc;
    p->open.summit = p->middles[(p->n_middles - 1) / 2];
    p->list[p->n++] = p->open;
    return COV_OK;
}

int cov_peaks_add(struct cov_peaks *p, const struct cov_interval *iv, int64_t count, bool counts,
                  struct cov_err *e)
{
    const double sum = (double)iv->value * (double)(iv->end - iv->beg);
    int rc = COV_OK;
    p->max = fmaxf(p->max, iv->value);
    if (!(iv->value >= p->rules.cutoff)) {
        p->sum_after += sum;
        return COV_OK;
    }
    if (p->is_open && iv->beg - p->open.end > p->rules.max_gap)
        rc = cov_peaks_end(p, e);
    if (!p->is_open)
        open_peak(p, iv->beg, count);
    if (!rc && (iv->beg != p->stretch.end || !(iv->value == p->stretch.value))) {
        rc = end_stretch(p, e);
        p->stretch = *iv;
    }
    p->stretch.end = iv->end;
    p->open.sum += p->sum_after + sum;
    p->sum_after = 0;
    p->open.end = iv->end;
    p->open.count_end = counts ? count + (iv->end - iv->beg) : count;
    return rc;
}

void cov_peaks_reason(const struct cov_peak_rules *rules, float max, const char *option,
                      char text[COV_PEAKS_REASON_BYTES])
{
    const double cutoff = (double)rules->cutoff;
    if (max == -INFINITY)
        (void)snprintf(text, COV_PEAKS_REASON_BYTES, "no peaks at %g: no base has a value", cutoff);
    else if (max < rules->cutoff)
        (void)snprintf(text, COV_PEAKS_REASON_BYTES, "no peaks at %g: the largest value is %.4g",
                       cutoff, (double)max);
    else
        (void)snprintf(text, COV_PEAKS_REASON_BYTES,
                       "no peaks at %g: all are shorter than %" PRId64 " bases (%s)", cutoff,
                       rules->min_length, option);
}

int64_t cov_peaks_bases(const struct cov_peaks *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->list[i].count_end - p->list[i].count_beg;
    return n;
}

int64_t cov_peaks_shared(const struct cov_peaks *a, const struct cov_peaks *b)
{
    int64_t n = 0;
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        const struct cov_peak *p = &a->list[i], *q = &b->list[k];
        int64_t beg = p->count_beg > q->count_beg ? p->count_beg : q->count_beg;
        int64_t end = p->count_end < q->count_end ? p->count_end : q->count_end;
        n += end > beg ? end - beg : 0;
        if (p->end < q->end)
            i++;
        else
            k++;
    }
    return n;
}
