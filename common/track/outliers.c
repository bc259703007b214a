/* outliers.c - see outliers.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/outliers.h"

#include <stdlib.h>

#include "common/base/mem.h"

void cov_outliers_fini(struct cov_outliers *o)
{
    free(o->windows);
    free(o->found);
    *o = (struct cov_outliers){.windows = NULL};
}

int cov_outliers_add(struct cov_outliers *o, size_t contig, int64_t beg, int64_t end, double x,
                     double y, struct cov_err *e)
{
    while (beg < end) {
        int64_t i = beg / COV_OUTLIER_WINDOW, stop = (i + 1) * COV_OUTLIER_WINDOW;
        struct cov_outlier_window *w = o->n_windows > 0 ? &o->windows[o->n_windows - 1] : NULL;
        if (!w || w->contig != contig || w->i != i) {
            int rc = COV_RESERVE(&o->windows, &o->cap_windows, o->n_windows + 1, e);
            if (rc)
                return rc;
            w = &o->windows[o->n_windows++];
            *w = (struct cov_outlier_window){.contig = contig, .i = i};
        }
        stop = stop < end ? stop : end;
        cov_moments_add(&w->pairs, x, y, (double)(stop - beg));
        beg = stop;
    }
    return COV_OK;
}

static double measured_sum(const struct cov_moments *m)
{
    return m->mean_y * m->n;
}

static int by_sum(const void *a, const void *b)
{
    double x = measured_sum(a), y = measured_sum(b);
    return (x > y) - (x < y);
}

/* Sets *sum to the measured coverage of the window below which COV_OUTLIER_SHARE of the bases
 * lie. */
static int find_high(const struct cov_outliers *o, double *sum, struct cov_err *e)
{
    struct cov_moments *sorted = cov_malloc(o->n_windows, sizeof *sorted, e);
    double n = 0, before = 0;
    if (!sorted)
        return COV_ENOMEM;
    for (size_t i = 0; i < o->n_windows; i++) {
        sorted[i] = o->windows[i].pairs;
        n += sorted[i].n;
    }
    qsort(sorted, o->n_windows, sizeof *sorted, by_sum);
    size_t at = 0;
    while (at + 1 < o->n_windows && (before += sorted[at].n) < COV_OUTLIER_SHARE * n)
        at++;
    *sum = measured_sum(&sorted[at]);
    free(sorted);
    return COV_OK;
}

static int add_found(struct cov_outliers *o, const struct cov_outlier *outlier, struct cov_err *e)
{
    int rc = COV_RESERVE(&o->found, &o->cap_found, o->n_found + 1, e);
    if (!rc)
        o->found[o->n_found++] = *outlier;
    return rc;
}

/* Joins the outliers among the windows [first, end) of a contig. */
static int join(struct cov_outliers *o, size_t first, size_t end, struct cov_err *e)
{
    const struct cov_outlier_window *w = o->windows;
    struct cov_moments all = {.n = 0}, out = {.n = 0};
    int rc = COV_OK;
    for (size_t i = first; i < end; i++) {
        cov_moments_merge(&all, &w[i].pairs);
        if (w[i].is_outlier)
            cov_moments_merge(&out, &w[i].pairs);
    }
    if (out.n * 2 > all.n) {
        const struct cov_outlier whole = {w[first].contig, true, 0,
                                          (w[end - 1].i + 1) * COV_OUTLIER_WINDOW, all.mean_y};
        for (size_t i = first; i < end; i++)
            o->windows[i].is_outlier = true;
        return add_found(o, &whole, e);
    }
    for (size_t i = first, next; !rc && i < end; i = next) {
        struct cov_moments pairs = {.n = 0};
        for (next = i;
             next < end && w[next].is_outlier && w[next].i - w[i].i == (int64_t)(next - i); next++)
            cov_moments_merge(&pairs, &w[next].pairs);
        const struct cov_outlier part = {w[i].contig, false, w[i].i * COV_OUTLIER_WINDOW,
                                         (w[i].i + (int64_t)(next - i)) * COV_OUTLIER_WINDOW,
                                         pairs.mean_y};
        if (next > i)
            rc = add_found(o, &part, e);
        else
            next = i + 1;
    }
    return rc;
}

int cov_outliers_find(struct cov_outliers *o, struct cov_err *e)
{
    struct cov_moments all = {.n = 0}, rest = {.n = 0};
    double high = 0;
    int rc = o->n_windows > 0 ? find_high(o, &high, e) : COV_OK;
    for (size_t i = 0; i < o->n_windows; i++)
        o->windows[i].is_outlier =
            high > 0 && measured_sum(&o->windows[i].pairs) > high * COV_OUTLIER_FACTOR;
    for (size_t first = 0, end; !rc && first < o->n_windows; first = end) {
        end = first + 1;
        while (end < o->n_windows && o->windows[end].contig == o->windows[first].contig)
            end++;
        rc = join(o, first, end, e);
    }
    for (size_t i = 0; i < o->n_windows; i++) {
        cov_moments_merge(&all, &o->windows[i].pairs);
        if (!o->windows[i].is_outlier)
            cov_moments_merge(&rest, &o->windows[i].pairs);
    }
    o->pearson = cov_moments_pearson(&all);
    o->pearson_without = cov_moments_pearson(&rest);
    return rc;
}
