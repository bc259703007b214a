/* profile.c - see profile.h.
 *
 * Windows are completed in the order of their ends, from a ring with the values of the last bases.
 * The ring has room for the longest window, so memory does not depend on the number of features
 * that overlap.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* The bases of a window, which may begin before the contig and end after it. */
struct cov_window {
    int64_t beg, end;
    int64_t from; /* the smallest beg of this and all later windows of the contig */
    uint32_t contig, feature;
};

size_t cov_profile_bins(const struct cov_profile_layout *l)
{
    return l->bin == 0 ? 1 : (size_t)((l->before + l->body + l->after) / l->bin);
}

/* ---------------------------------------------------------------- windows */

/* Returns true if a feature has too few bases to be scaled. */
static bool is_short(const struct cov_profile_layout *l, const struct cov_feature *f)
{
    return l->anchor == COV_ANCHOR_SCALE && f->end - f->beg < l->bin;
}

static bool is_reversed(const struct cov_feature *f)
{
    return f->strand == '-';
}

static struct cov_window window_of(const struct cov_profile_layout *l, const struct cov_feature *f)
{
    const bool minus = is_reversed(f) || (l->no_strand_is_minus && f->strand != '+');
    const int64_t left = minus ? l->after : l->before, right = minus ? l->before : l->after;
    struct cov_window w = {f->beg - left, f->end + right, 0, f->contig, 0};
    int64_t anchor = f->beg + (f->end - f->beg) / 2; /* the boundary between both sides */
    if (l->anchor == COV_ANCHOR_SCALE)
        return w;
    if (l->anchor != COV_ANCHOR_CENTRE)
        anchor = minus == (l->anchor == COV_ANCHOR_TSS) ? f->end : f->beg;
    w.beg = anchor - left;
    w.end = anchor + right;
    return w;
}

static int by_end(const void *a, const void *b)
{
    const struct cov_window *x = a, *y = b;
    if (x->contig != y->contig)
        return x->contig < y->contig ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

int cov_windows_init(struct cov_windows *w, const struct cov_annotation *features,
                     const struct cov_profile_layout *layout, struct cov_err *e)
{
    const size_t n = features->n, n_contigs = cov_names_count(features->contigs);
    *w = (struct cov_windows){.features = features, .layout = *layout};
    w->items = cov_malloc(n, sizeof *w->items, e);
    w->first = cov_calloc(n_contigs + 1, sizeof *w->first, e);
    if (!w->items || !w->first)
        return COV_ENOMEM;
    if (n > UINT32_MAX)
        return cov_fail(e, COV_EINPUT, "%s: too many features", features->path);
    for (size_t i = 0; i < n; i++) {
        const struct cov_feature *f = &features->items[i];
        w->items[i] = window_of(layout, f);
        w->items[i].feature = (uint32_t)i;
        w->n_short += is_short(layout, f);
        const int64_t length = w->items[i].end - w->items[i].beg;
        w->longest = length > w->longest ? length : w->longest;
        if (f->end - f->beg > COV_PROFILE_LONGEST && layout->anchor == COV_ANCHOR_SCALE)
            return cov_fail(e, COV_EINPUT,
                            "%s:%" PRIu32 ": the feature has %" PRId64
                            " bases; the limit for a whole feature is %d",
                            features->path, f->line, f->end - f->beg, (int)COV_PROFILE_LONGEST);
    }
    qsort(w->items, n, sizeof *w->items, by_end);
    for (size_t i = 0, k = 0; k <= n_contigs; k++) {
        while (i < n && w->items[i].contig < k)
            i++;
        w->first[k] = i;
    }
    for (size_t i = n; i-- > 0;) {
        struct cov_window *x = &w->items[i];
        const bool is_last = i + 1 == n || x[1].contig != x->contig;
        x->from = is_last || x->beg < x[1].from ? x->beg : x[1].from;
    }
    return COV_OK;
}

void cov_windows_fini(struct cov_windows *w)
{
    free(w->items);
    free(w->first);
    *w = (struct cov_windows){0};
}

/* ---------------------------------------------------------------- bins */

/* The mean of the values of bases [beg, end), NaN if there are none. */
static double mean_of(const struct cov_profile *p, int64_t beg, int64_t end)
{
    double sum = 0;
    int64_t n = 0;
    beg = beg > 0 ? beg : 0;
    end = end < p->at ? end : p->at;
    for (int64_t i = beg; i < end; i++) {
        const float value = p->ring[i & p->mask];
        if (!isnan(value)) {
            sum += (double)value;
            n++;
        }
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

/* Computes n bins of equal width from base `beg` on, and returns where they end in bins[]. */
static double *put_equal(const struct cov_profile *p, int64_t beg, int64_t n, double *bins)
{
    const int64_t width = p->windows->layout.bin;
    for (int64_t i = 0; i < n; i++)
        *bins++ = mean_of(p, beg + i * width, beg + (i + 1) * width);
    return bins;
}

/* Computes the n bins of the feature at [beg, end), which follow `left` bases. The positions are
 * rounded as computeMatrix does it. A short feature has bins that share bases; if it is shorter
 * than a bin, none of the window's bins has a value. */
static double *put_scaled(const struct cov_profile *p, const struct cov_feature *f, int64_t left,
                          double *bins)
{
    const struct cov_profile_layout *l = &p->windows->layout;
    const int64_t n = l->body / l->bin, length = f->end - f->beg;
    const double step = (double)length / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t beg = (int64_t)floor((double)i * step + (double)left) - left;
        int64_t end =
            i + 1 < n ? (int64_t)floor((double)(i + 1) * step + (double)left) - left : length;
        if (end <= beg)
            end = beg + 1;
        *bins++ = mean_of(p, f->beg + beg, f->beg + end);
    }
    return bins;
}

static void reverse(double *x, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        const double other = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = other;
    }
}

static int complete(struct cov_profile *p, const struct cov_window *w, struct cov_err *e)
{
    const struct cov_profile_layout *l = &p->windows->layout;
    const struct cov_feature *f = &p->windows->features->items[w->feature];
    const size_t n = cov_profile_bins(l);
    const int64_t left = is_reversed(f) ? l->after : l->before;
    if (l->bin == 0) {
        p->bins[0] = mean_of(p, w->beg, w->end);
    } else if (is_short(l, f)) {
        for (size_t i = 0; i < n; i++)
            p->bins[i] = (double)NAN;
    } else if (l->anchor != COV_ANCHOR_SCALE) {
        (void)put_equal(p, w->beg, (int64_t)n, p->bins);
    } else {
        double *bins = put_equal(p, w->beg, left / l->bin, p->bins);
        bins = put_scaled(p, f, left, bins);
        (void)put_equal(p, f->end, (w->end - f->end) / l->bin, bins);
    }
    if (is_reversed(f))
        reverse(p->bins, n);
    return p->take(p->arg, w->feature, p->bins, e);
}

/* ---------------------------------------------------------------- the pass */

/* Stores a value for bases at .. end-1. */
static void fill(struct cov_profile *p, int64_t end, float value)
{
    int64_t beg = end - p->at > p->mask ? end - p->mask - 1 : p->at;
    while (beg < end) {
        const int64_t i = beg & p->mask, room = p->mask + 1 - i;
        const int64_t n = end - beg < room ? end - beg : room;
        for (int64_t k = 0; k < n; k++)
            p->ring[i + k] = value;
        beg += n;
    }
    p->at = end;
}

/* Moves on to base `end`; the bases until there have this value, or none if it is NaN. */
static int move(struct cov_profile *p, int64_t end, float value, struct cov_err *e)
{
    int rc = COV_OK;
    while (!rc && p->at < end && p->next < p->last) {
        const struct cov_window *w = &p->windows->items[p->next];
        if (w->end <= p->at) {
            rc = complete(p, w, e);
            p->next++;
        } else if (w->from > p->at) {
            p->at = w->from < end ? w->from : end; /* no window has these bases */
        } else {
            fill(p, w->end < end ? w->end : end, value);
        }
    }
    if (p->next == p->last)
        p->at = end;
    return rc;
}

/* Completes the windows that reach past the last value. */
static int end_contig(struct cov_profile *p, struct cov_err *e)
{
    int rc = COV_OK;
    for (; !rc && p->next < p->last; p->next++)
        rc = complete(p, &p->windows->items[p->next], e);
    return rc;
}

/* Finds the windows of a contig. */
static void begin_contig(struct cov_profile *p, const char *name)
{
    size_t contig;
    p->at = 0;
    p->next = p->last = 0;
    if (!cov_names_find(p->windows->features->contigs, name, strlen(name), &contig))
        return;
    p->next = p->windows->first[contig];
    p->last = p->windows->first[contig + 1];
}

/* Completes the current contig and those of the list before `contig`, which have no values. */
static int end_contigs(struct cov_profile *p, size_t contig, struct cov_err *e)
{
    int rc = end_contig(p, e);
    for (; !rc && p->n_begun < contig; p->n_begun++) {
        begin_contig(p, cov_track_contig_name(&p->sink, p->n_begun));
        rc = end_contig(p, e);
    }
    return rc;
}

static int begin(struct cov_track_sink *sink, struct cov_err *e)
{
    struct cov_profile *p = (struct cov_profile *)sink;
    int rc = end_contigs(p, sink->contig, e);
    begin_contig(p, sink->contig_name);
    p->n_begun = sink->contig + 1;
    return rc;
}

static int add(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
               struct cov_err *e)
{
    struct cov_profile *p = (struct cov_profile *)sink;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n && p->next < p->last; i++) {
        rc = move(p, iv[i].beg, NAN, e);
        if (!rc)
            rc = move(p, iv[i].end, iv[i].value, e);
    }
    return rc;
}

static int close_sink(struct cov_track_sink *sink, struct cov_err *e)
{
    return end_contigs((struct cov_profile *)sink, cov_track_n_contigs(sink), e);
}

static void free_sink(struct cov_track_sink *sink)
{
    struct cov_profile *p = (struct cov_profile *)sink;
    free(p->ring);
    free(p->bins);
}

int cov_profile_init(struct cov_profile *p, const struct cov_windows *windows, const char *name,
                     const struct cov_track_contigs *contigs, struct cov_err *e)
{
    static const struct cov_track_format format = {begin, add, close_sink, free_sink};
    *p = (struct cov_profile){.windows = windows};
    p->sink.format = &format; /* for cov_track_free */
    int64_t room = 1 << 12;
    while (room < windows->longest)
        room *= 2;
    p->mask = room - 1;
    p->ring = cov_malloc((size_t)room, sizeof *p->ring, e);
    p->bins = cov_malloc(cov_profile_bins(&windows->layout), sizeof *p->bins, e);
    if (!p->ring || !p->bins)
        return COV_ENOMEM;
    return cov_track_init(&p->sink, &format, name, contigs, e);
}
