/* outliers.c - see outliers.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/outliers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/mem.h"

void cov_outliers_fini(struct cov_outliers *o)
{
    free(o->windows);
    free(o->found);
    *o = (struct cov_outliers){.windows = NULL};
}

static int64_t window_of(const struct cov_outliers *o)
{
    return o->window > 0 ? o->window : COV_OUTLIER_WINDOW;
}

/* Sets *out to the window i of a contig, which is a new one unless it is the last. */
static int find_window(struct cov_outliers *o, size_t contig, int64_t i,
                       struct cov_outlier_window **out, struct cov_err *e)
{
    struct cov_outlier_window *w = o->n_windows > 0 ? &o->windows[o->n_windows - 1] : NULL;
    if (!w || w->contig != contig || w->i != i) {
        int rc = COV_RESERVE(&o->windows, &o->cap_windows, o->n_windows + 1, e);
        if (rc)
            return rc;
        w = &o->windows[o->n_windows++];
        *w = (struct cov_outlier_window){.contig = contig, .i = i};
    }
    *out = w;
    return COV_OK;
}

int cov_outliers_add(struct cov_outliers *o, size_t contig, int64_t beg, int64_t end, double x,
                     double y, struct cov_err *e)
{
    while (beg < end) {
        const int64_t i = beg / window_of(o);
        int64_t stop = (i + 1) * window_of(o);
        struct cov_outlier_window *w;
        int rc = find_window(o, contig, i, &w, e);
        if (rc)
            return rc;
        stop = stop < end ? stop : end;
        cov_moments_add(&w->pairs, x, y, (double)(stop - beg));
        beg = stop;
    }
    return COV_OK;
}

int cov_outliers_add_part(struct cov_outliers *o, size_t contig, int64_t beg,
                          const struct cov_moments *pairs, struct cov_err *e)
{
    struct cov_outlier_window *w;
    int rc = find_window(o, contig, beg / window_of(o), &w, e);
    if (!rc)
        cov_moments_merge(&w->pairs, pairs);
    return rc;
}

static int by_place(const void *a, const void *b)
{
    const struct cov_outlier_window *x = a, *y = b;
    return x->contig != y->contig ? (x->contig > y->contig) - (x->contig < y->contig)
                                  : (x->i > y->i) - (x->i < y->i);
}

/* Sorts the windows unless they are in order, and joins the parts of each. */
static void sort_windows(struct cov_outliers *o)
{
    struct cov_outlier_window *w = o->windows;
    size_t n = 1;
    while (n < o->n_windows && by_place(&w[n - 1], &w[n]) < 0)
        n++;
    if (n >= o->n_windows)
        return;
    qsort(w, o->n_windows, sizeof *w, by_place);
    n = 0;
    for (size_t i = 1; i < o->n_windows; i++)
        if (by_place(&w[n], &w[i]) == 0)
            cov_moments_merge(&w[n].pairs, &w[i].pairs);
        else
            w[++n] = w[i];
    o->n_windows = n + 1;
}

static double measured_sum(const struct cov_moments *m)
{
    return m->mean_y * m->n;
}

/* A value of n bases. */
struct weighted {
    double value, n;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct weighted *)a)->value, y = ((const struct weighted *)b)->value;
    return (x > y) - (x < y);
}

/* Returns the value below which `share` of the bases lie; 0 without values. Sorts them. */
static double quantile(struct weighted *values, size_t n, double share)
{
    double all = 0, before = 0;
    size_t at = 0;
    if (n == 0)
        return 0;
    qsort(values, n, sizeof *values, by_value);
    for (size_t i = 0; i < n; i++)
        all += values[i].n;
    while (at + 1 < n && (before += values[at].n) < share * all)
        at++;
    return values[at].value;
}

/* Returns what is high among the windows that are no outliers: of their means, or of their sums. */
static double find_high(const struct cov_outliers *o, bool of_sums, struct weighted *room)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_windows; i++) {
        const struct cov_moments *m = &o->windows[i].pairs;
        if (!o->windows[i].is_outlier)
            room[n++] = (struct weighted){of_sums ? measured_sum(m) : m->mean_y, m->n};
    }
    return quantile(room, n, COV_OUTLIER_SHARE);
}

/* Windows [first, end) of a contig, its bases, and its median coverage, which a repeat of some
 * windows does not change. */
struct contig {
    size_t first, end;
    double n, median;
};

static int list_contigs(const struct cov_outliers *o, struct weighted *room, struct contig **out,
                        size_t *n, struct cov_err *e)
{
    size_t cap = 0;
    const struct cov_outlier_window *w = o->windows;
    for (size_t first = 0, end; first < o->n_windows; first = end) {
        int rc = COV_RESERVE(out, &cap, *n + 1, e);
        if (rc)
            return rc;
        struct contig *c = &(*out)[(*n)++];
        *c = (struct contig){.first = first};
        for (end = first; end < o->n_windows && w[end].contig == w[first].contig; end++) {
            room[end - first] = (struct weighted){w[end].pairs.mean_y, w[end].pairs.n};
            c->n += w[end].pairs.n;
        }
        c->end = end;
        c->median = quantile(room, end - first, 0.5);
    }
    return COV_OK;
}

static void mark(struct cov_outliers *o, const struct contig *c, bool is_outlier)
{
    for (size_t i = c->first; i < c->end; i++)
        o->windows[i].is_outlier = is_outlier;
}

/* Marks the windows of contigs that are outliers as a whole. */
static void mark_contigs(struct cov_outliers *o, const struct contig *contigs, size_t n,
                         struct weighted *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = (struct weighted){contigs[i].median, contigs[i].n};
    const double median = quantile(room, n, 0.5);
    size_t n_marked = 0;
    for (size_t i = 0; i < n; i++) {
        const struct contig *c = &contigs[i];
        const bool is_elevated =
            median > 0 && c->n >= COV_OUTLIER_CONTIG && c->median > median * COV_OUTLIER_FACTOR;
        mark(o, c, is_elevated);
        n_marked += is_elevated;
    }
    if (n_marked == 0)
        return;
    const double high = find_high(o, false, room);
    for (size_t i = 0; i < n; i++)
        if (!(contigs[i].median > high * COV_OUTLIER_CONTIG_FACTOR))
            mark(o, &contigs[i], false);
}

/* Marks windows that are outliers among those not marked yet. */
static void mark_windows(struct cov_outliers *o, struct weighted *room)
{
    const double high = find_high(o, true, room);
    for (size_t i = 0; i < o->n_windows && high > 0; i++)
        if (measured_sum(&o->windows[i].pairs) > high * COV_OUTLIER_FACTOR)
            o->windows[i].is_outlier = true;
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
                                          (w[end - 1].i + 1) * window_of(o), all.mean_y};
        for (size_t i = first; i < end; i++)
            o->windows[i].is_outlier = true;
        return add_found(o, &whole, e);
    }
    for (size_t i = first, next; !rc && i < end; i = next) {
        struct cov_moments pairs = {.n = 0};
        for (next = i;
             next < end && w[next].is_outlier && w[next].i - w[i].i == (int64_t)(next - i); next++)
            cov_moments_merge(&pairs, &w[next].pairs);
        const struct cov_outlier part = {w[i].contig, false, w[i].i * window_of(o),
                                         (w[i].i + (int64_t)(next - i)) * window_of(o),
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
    struct contig *contigs = NULL;
    size_t n_contigs = 0;
    sort_windows(o);
    struct weighted *room = cov_malloc(o->n_windows, sizeof *room, e);
    int rc = room ? list_contigs(o, room, &contigs, &n_contigs, e) : COV_ENOMEM;
    if (!rc) {
        mark_contigs(o, contigs, n_contigs, room);
        mark_windows(o, room);
    }
    for (size_t i = 0; !rc && i < n_contigs; i++)
        rc = join(o, contigs[i].first, contigs[i].end, e);
    for (size_t i = 0; i < o->n_windows; i++) {
        cov_moments_merge(&all, &o->windows[i].pairs);
        if (!o->windows[i].is_outlier)
            cov_moments_merge(&rest, &o->windows[i].pairs);
    }
    o->pearson = cov_moments_pearson(&all);
    o->pearson_without = cov_moments_pearson(&rest);
    free(contigs);
    free(room);
    return rc;
}

int64_t cov_outlier_end(const struct cov_outlier *o, int64_t length)
{
    return length > 0 && o->end > length ? length : o->end;
}

void cov_outlier_list(const struct cov_outlier *o, const char *contig, int64_t length,
                      struct cov_listing *regions)
{
    char text[400];
    if (o->is_whole)
        (void)snprintf(text, sizeof text, "%s", contig);
    else
        (void)snprintf(text, sizeof text, "%s:%" PRId64 "-%" PRId64, contig, o->beg + 1,
                       cov_outlier_end(o, length));
    cov_listing_add(regions, text);
}

void cov_outliers_warn(const char *about, const char *unit, double pearson, double pearson_without,
                       const struct cov_listing *regions, const char *advice)
{
    if (fabs(pearson - pearson_without) > COV_OUTLIER_CHANGE)
        cov_warn("%s: extreme coverage decides Pearson's r: %.3f per %s, but %.3f without %s%s; %s",
                 about, pearson, unit, pearson_without, regions->text, cov_listing_more(regions),
                 advice);
}
