/* bins.c - see bins.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/bins.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"

/* ---- a region ---- */

struct bin {
    double sum;
    int64_t n; /* bases with a value */
};

/* Fine bins per output bin; the width of the output bins is known only at the end. */
enum { FINER = 16 };

struct bins {
    struct cov_track_sink base;
    const struct cov_range *range;
    struct cov_bins out;
    char *contig;  /* Owned; NULL: not seen yet */
    size_t number; /* number of the contig */
    bool active;
    size_t most, n_fine;
    int64_t unit; /* bases per fine bin, a power of two */
    struct bin *fine;
    double *means;
};

/* Records that the range is on this contig. */
static int start(struct bins *b, size_t contig, const char *name, struct cov_err *e)
{
    b->number = contig;
    b->contig = cov_strdup(name, e);
    return b->contig ? COV_OK : COV_ENOMEM;
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    struct bins *b = (struct bins *)s;
    if (b->contig) { /* found in the list of contigs, or seen before */
        b->active = b->number == s->contig;
        return COV_OK;
    }
    b->active = cov_range_means(b->range, s->contig_name, &b->out.beg, &b->out.end);
    return b->active ? start(b, s->contig, s->contig_name, e) : COV_OK;
}

static void double_unit(struct bins *b)
{
    for (size_t i = 0; i < b->n_fine; i++) {
        struct bin x = b->fine[i];
        b->fine[i] = (struct bin){0};
        b->fine[i / 2].sum += x.sum;
        b->fine[i / 2].n += x.n;
    }
    b->unit *= 2;
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    (void)e;
    struct bins *b = (struct bins *)s;
    for (size_t i = 0; b->active && i < n; i++) {
        int64_t at = iv[i].beg > b->out.beg ? iv[i].beg : b->out.beg;
        int64_t end = iv[i].end < b->out.end ? iv[i].end : b->out.end;
        while (at < end && (end - 1 - b->out.beg) / b->unit >= (int64_t)b->n_fine)
            double_unit(b);
        while (at < end) {
            int64_t k = (at - b->out.beg) / b->unit;
            int64_t stop = b->out.beg + (k + 1) * b->unit;
            stop = stop < end ? stop : end;
            b->fine[k].sum += (double)iv[i].value * (double)(stop - at);
            b->fine[k].n += stop - at;
            at = stop;
        }
    }
    return COV_OK;
}

static void free_bins(struct cov_track_sink *s)
{
    struct bins *b = (struct bins *)s;
    free(b->contig);
    free(b->fine);
    free(b->means);
    free(b);
}

static const struct cov_track_format format = {.begin = begin, .add = add, .free = free_bins};

/* Looks for the range in the list of contigs. */
static int find(struct bins *b, const struct cov_track_contigs *contigs, struct cov_err *e)
{
    for (size_t i = 0; i < contigs->n; i++) {
        if (!cov_range_means(b->range, contigs->names[i], &b->out.beg, &b->out.end))
            continue;
        if (b->out.end > contigs->lengths[i] && b->out.beg < contigs->lengths[i])
            b->out.end = contigs->lengths[i];
        return start(b, i, contigs->names[i], e);
    }
    return COV_OK;
}

int cov_bins_new(const struct cov_range *range, size_t most, const char *name,
                 const struct cov_track_contigs *contigs, struct cov_track_sink **out,
                 struct cov_err *e)
{
    assert(most > 0);
    *out = NULL;
    struct bins *b = cov_calloc(1, sizeof *b, e);
    if (!b)
        return COV_ENOMEM;
    int rc = cov_track_init(&b->base, &format, name, contigs, e);
    b->range = range;
    b->most = most;
    b->unit = 1;
    if (!rc)
        rc = cov_size_mul(most, FINER, &b->n_fine);
    if (!rc) {
        b->fine = cov_calloc(b->n_fine, sizeof *b->fine, e);
        b->means = cov_calloc(most, sizeof *b->means, e);
        rc = b->fine && b->means ? COV_OK : COV_ENOMEM;
    }
    if (!rc && contigs)
        rc = find(b, contigs, e);
    if (rc)
        cov_track_free(&b->base);
    else
        *out = &b->base;
    return rc;
}

int64_t cov_bins_contig_length(const struct cov_track_sink *sink)
{
    assert(sink->format == &format && ((const struct bins *)sink)->contig);
    return cov_track_contig_length(sink, ((const struct bins *)sink)->number);
}

int cov_bins_extent(const struct cov_track_sink *sink, bool has_lengths,
                    struct cov_bins_extent *out, struct cov_err *e)
{
    assert(sink->format == &format);
    const struct bins *b = (const struct bins *)sink;
    if (!b->contig) {
        struct cov_listing contigs = {0};
        for (size_t i = 0; i < cov_track_n_contigs(sink); i++)
            cov_listing_add(&contigs, cov_track_contig_name(sink, i));
        return cov_range_fail_unknown(b->range, sink->name, &contigs, e);
    }
    int64_t length = cov_track_contig_length(sink, b->number);
    *out = (struct cov_bins_extent){b->contig, b->out.beg, b->out.end};
    if ((has_lengths || out->end == INT64_MAX) && out->beg >= length)
        return cov_range_fail_beyond(b->range, length, sink->name, e);
    if ((has_lengths || out->end == INT64_MAX) && out->end > length)
        out->end = length;
    return COV_OK;
}

/* The bases per fine bin of a range of n > 0 bases: no sink for them has larger ones. */
static int64_t unit_of(int64_t n, size_t n_fine)
{
    int64_t unit = 1;
    while ((n - 1) / unit >= (int64_t)n_fine)
        unit *= 2;
    return unit;
}

void cov_bins_get(struct cov_track_sink *sink, const struct cov_bins_extent *x,
                  struct cov_bins *out)
{
    assert(sink->format == &format && x->end > x->beg);
    struct bins *b = (struct bins *)sink;
    const int64_t unit = unit_of(x->end - x->beg, b->n_fine);
    assert(unit % b->unit == 0);
    bool there = b->contig && strcmp(b->contig, x->contig) == 0;
    int64_t n = x->end - x->beg, most = (int64_t)b->most;
    int64_t width = n / most + (n % most > 0);
    width = (width / unit + (width % unit > 0)) * unit;
    *out = (struct cov_bins){.contig = x->contig, .beg = x->beg, .end = x->end, .width = width};
    out->n = (size_t)((n - 1) / width) + 1;
    size_t each = (size_t)(width / b->unit);
    for (size_t i = 0; i < out->n; i++) {
        struct bin sum = {0};
        for (size_t k = i * each; there && k < (i + 1) * each && k < b->n_fine; k++) {
            sum.sum += b->fine[k].sum;
            sum.n += b->fine[k].n;
        }
        b->means[i] = sum.n ? sum.sum / (double)sum.n : (double)NAN;
    }
    out->means = b->means;
}

/* ---- a track ---- */

/* Appends the means of the current bin and of those without values until bin number `next`. */
static int flush(struct cov_bin_means *b, int64_t next, struct cov_err *e)
{
    size_t need;
    int rc = cov_size_add(b->n, (size_t)(next - b->bin), &need);
    if (!rc)
        rc = COV_RESERVE(&b->means, &b->cap, need, e);
    else
        rc = cov_fail(e, rc, "out of memory: too many bins");
    for (; !rc && b->bin < next; b->bin++) {
        b->means[b->n++] = b->bases > 0 ? b->sum / (double)b->bases : (double)NAN;
        b->sum = 0;
        b->bases = 0;
    }
    return rc;
}

static int end_contig(struct cov_bin_means *b, struct cov_err *e)
{
    return b->bases > 0 ? flush(b, b->bin + 1, e) : COV_OK;
}

static int begin_means(struct cov_track_sink *sink, struct cov_err *e)
{
    struct cov_bin_means *b = (struct cov_bin_means *)sink;
    int rc = end_contig(b, e);
    if (!rc)
        rc = COV_RESERVE(&b->contigs, &b->cap_contigs, b->n_contigs + 1, e);
    if (!rc)
        b->contigs[b->n_contigs++] = (struct cov_bin_contig){sink->contig, b->n};
    b->bin = 0;
    return rc;
}

static int add_to_means(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
                        struct cov_err *e)
{
    struct cov_bin_means *b = (struct cov_bin_means *)sink;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        for (int64_t at = iv[i].beg; !rc && at < iv[i].end;) {
            const int64_t bin = at / b->width, stop = (bin + 1) * b->width;
            const int64_t end = stop < iv[i].end ? stop : iv[i].end;
            if (bin > b->bin)
                rc = flush(b, bin, e);
            b->sum += (double)iv[i].value * (double)(end - at);
            b->bases += end - at;
            at = end;
        }
    return rc;
}

static int close_means(struct cov_track_sink *sink, struct cov_err *e)
{
    return end_contig((struct cov_bin_means *)sink, e);
}

static void free_means(struct cov_track_sink *sink)
{
    struct cov_bin_means *b = (struct cov_bin_means *)sink;
    free(b->means);
    free(b->contigs);
}

int cov_bin_means_init(struct cov_bin_means *b, int64_t width, const char *name,
                       const struct cov_track_contigs *contigs, struct cov_err *e)
{
    static const struct cov_track_format means = {begin_means, add_to_means, close_means,
                                                  free_means};
    *b = (struct cov_bin_means){.width = width};
    b->sink.format = &means; /* for cov_track_free */
    return cov_track_init(&b->sink, &means, name, contigs, e);
}
