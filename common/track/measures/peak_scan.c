/* peak_scan.c - see peak_scan.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/peak_scan.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/base/mem.h"

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
