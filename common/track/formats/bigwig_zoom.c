/* bigwig_zoom.c - see bigwig_zoom.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/bigwig_zoom.h"

/* A window takes 32 bytes and an interval takes 12. With at most one window per five intervals, all
 * levels together are smaller than the data. The first window of a contig on each level is not
 * counted. A level is dropped only after SLACK windows, so that a long constant stretch at the
 * start (the N of a chromosome's end) does not decide for the whole genome. */
enum { FIRST_SHIFT = 3, INTERVALS_A_WINDOW = 5, SLACK = 1 << 16 };

static unsigned shift_of(size_t level)
{
    return FIRST_SHIFT + 2 * (unsigned)level;
}

uint32_t cov_zoom_reduction(size_t level)
{
    return UINT32_C(1) << shift_of(level);
}

void cov_zoom_init(struct cov_zoom *z, const struct cov_zoom_out *out)
{
    *z = (struct cov_zoom){.out = *out, .n_active = 1};
}

void cov_zoom_begin(struct cov_zoom *z, uint32_t contig)
{
    z->contig = contig;
    z->n_contigs++;
}

static void merge(struct cov_zoom_sums *a, const struct cov_zoom_sums *b)
{
    a->end = b->end;
    a->n_bases += b->n_bases;
    a->min = b->min < a->min ? b->min : a->min;
    a->max = b->max > a->max ? b->max : a->max;
    a->sum += b->sum;
    a->sum_squares += b->sum_squares;
}

/* Drops the lowest level if it has too many windows and none of them is open. */
static void reconsider(struct cov_zoom *z)
{
    while (z->first + 1 < z->n_active && z->levels[z->first].sums.n_bases == 0 &&
           z->levels[z->first].n_windows >
               z->n_contigs + z->n_intervals / INTERVALS_A_WINDOW + SLACK)
        z->first++;
}

/* Closes the open window of level k, passes it on, and adds its sums to the level above. If the
 * level above has a different window open, that window is closed first. `last` says that this is
 * the last window of the contig on level k. */
static int take_window(struct cov_zoom *z, size_t k, bool last, struct cov_err *e)
{
    struct cov_zoom_level taken = z->levels[k];
    z->levels[k].sums.n_bases = 0;
    for (;; k++, last = false) {
        if (k + 1 == z->n_active && k + 1 < COV_ZOOM_LEVELS && !last) {
            int rc = z->out.begin(z->out.arg, k + 1, e);
            if (rc)
                return rc;
            z->levels[k + 1].n_windows = z->levels[k].n_windows;
            z->n_active++;
        }
        int rc = z->out.window(z->out.arg, k, z->contig, &taken.sums, e);
        if (rc)
            return rc;
        z->levels[k].n_windows++;
        if (k + 1 == z->n_active)
            return COV_OK;
        struct cov_zoom_level *above = &z->levels[k + 1];
        uint32_t window = taken.window >> 2;
        if (above->sums.n_bases && above->window == window) {
            merge(&above->sums, &taken.sums);
            return COV_OK;
        }
        struct cov_zoom_sums before = above->sums;
        uint32_t number = above->window;
        above->sums = taken.sums;
        above->window = window;
        if (before.n_bases == 0)
            return COV_OK;
        taken.sums = before;
        taken.window = number;
    }
}

int cov_zoom_add(struct cov_zoom *z, uint32_t beg, uint32_t end, float value, struct cov_err *e)
{
    const double x = (double)value;
    z->n_intervals++;
    while (beg < end) {
        struct cov_zoom_level *l = &z->levels[z->first];
        unsigned shift = shift_of(z->first);
        uint32_t window = beg >> shift;
        uint64_t window_end = ((uint64_t)window + 1) << shift;
        if (l->sums.n_bases && l->window != window) {
            int rc = take_window(z, z->first, false, e);
            if (rc)
                return rc;
            reconsider(z);
            continue;
        }
        uint32_t stop = end < window_end ? end : (uint32_t)window_end;
        uint32_t n = stop - beg;
        const struct cov_zoom_sums piece = {beg, stop, n, value, value, x * n, x * x * n};
        if (l->sums.n_bases) {
            merge(&l->sums, &piece);
        } else {
            l->sums = piece;
            l->window = window;
        }
        beg = stop;
    }
    return COV_OK;
}

int cov_zoom_end(struct cov_zoom *z, struct cov_err *e)
{
    for (size_t k = z->first; k < z->n_active; k++)
        if (z->levels[k].sums.n_bases) {
            int rc = take_window(z, k, true, e);
            if (rc)
                return rc;
        }
    reconsider(z);
    return COV_OK;
}

size_t cov_zoom_choose(const struct cov_zoom *z, size_t levels[COV_ZOOM_MAX_CHOSEN])
{
    if (z->n_intervals == 0)
        return 0;
    size_t k = z->first, n = 0;
    while (k + 1 < z->n_active &&
           z->levels[k].n_windows > z->n_contigs + z->n_intervals / INTERVALS_A_WINDOW)
        k++;
    levels[n++] = k;
    for (k++; k < z->n_active && n < COV_ZOOM_MAX_CHOSEN; k++) {
        uint64_t below = z->levels[levels[n - 1]].n_windows - z->n_contigs;
        uint64_t here = z->levels[k].n_windows - z->n_contigs;
        if (here > below / 2 || below == 0)
            break;
        levels[n++] = k;
    }
    return n;
}
