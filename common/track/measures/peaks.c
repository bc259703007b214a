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

/* ---- many cutoffs at once ---- */

/* A place in the contig, and the bases before it. */
struct place {
    int64_t at, valued, positive;
};

/* The open peak at a cutoff. `end` is not yet set while the bases reach the cutoff. */
struct cov_scan_level {
    bool is_open;
    struct place beg, end;
};

int cov_peak_scan_init(struct cov_peak_scan *s, const float *cutoffs, size_t n,
                       const struct cov_peak_rules *rules, struct cov_err *e)
{
    *s = (struct cov_peak_scan){
        .n = n, .n_counted = n, .min_length = rules->min_length, .max_gap = rules->max_gap};
    s->sums = cov_calloc(n, sizeof *s->sums, e);
    s->levels = cov_calloc(n, sizeof *s->levels, e);
    if (!s->sums || !s->levels)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++)
        s->sums[i].cutoff = cutoffs[i];
    return COV_OK;
}

void cov_peak_scan_fini(struct cov_peak_scan *s)
{
    free(s->sums);
    free(s->levels);
    *s = (struct cov_peak_scan){0};
}

static void end_peak(struct cov_peak_scan *s, size_t k)
{
    struct cov_scan_level *l = &s->levels[k];
    struct cov_peak_sums *sums = &s->sums[k];
    const bool is_peak = l->is_open && l->end.at - l->beg.at >= s->min_length;
    l->is_open = false;
    if (is_peak && k >= s->n_with)
        s->n_with = k + 1;
    if (!is_peak || k >= s->n_counted)
        return;
    sums->n++;
    sums->valued += l->end.valued - l->beg.valued;
    sums->positive += l->end.positive - l->beg.positive;
}

/* From base `at` on, values reach the first n cutoffs only. */
static void set_high(struct cov_peak_scan *s, size_t n, int64_t at)
{
    const struct place here = {at, s->valued, s->positive};
    for (; s->n_high > n; s->n_high--)
        s->levels[s->n_high - 1].end = here;
    for (; s->n_high < n; s->n_high++) {
        struct cov_scan_level *l = &s->levels[s->n_high];
        if (l->is_open && at - l->end.at > s->max_gap)
            end_peak(s, s->n_high);
        if (!l->is_open)
            *l = (struct cov_scan_level){true, here, here};
    }
}

/* Returns how many cutoffs the value reaches. */
static size_t count_reached(const struct cov_peak_scan *s, float value)
{
    size_t low = 0, high = s->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (s->sums[middle].cutoff <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void cov_peak_scan_add(struct cov_peak_scan *s, const struct cov_interval *iv, int64_t positive)
{
    if (iv->beg > s->end)
        set_high(s, 0, s->end);
    set_high(s, count_reached(s, iv->value), iv->beg);
    s->end = iv->end;
    s->valued += iv->end - iv->beg;
    s->positive += positive;
}

size_t cov_peak_scan_end(struct cov_peak_scan *s)
{
    set_high(s, 0, s->end);
    for (size_t k = 0; k < s->n; k++)
        end_peak(s, k);
    const size_t n_with = s->n_with;
    s->end = 0;
    s->n_with = 0;
    return n_with;
}
