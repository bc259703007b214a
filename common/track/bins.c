/* bins.c - see bins.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/bins.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

struct bin {
    double sum;
    int64_t n; /* bases with a value */
};

struct bins {
    struct cov_track_sink base;
    const struct cov_range *range;
    struct cov_bins out;
    char *contig;  /* Owned; NULL: it has not come */
    size_t number; /* of the contig */
    bool active;
    size_t most;
    struct bin *bins;
    double *means;
};

/* The range is of this contig. */
static int start(struct bins *b, size_t contig, const char *name, struct cov_err *e)
{
    b->number = contig;
    b->contig = cov_strdup(name, e);
    int64_t n = b->out.end - b->out.beg, most = (int64_t)b->most;
    b->out.width = b->out.end == INT64_MAX || n <= most ? 1 : n / most + (n % most > 0);
    return b->contig ? COV_OK : COV_ENOMEM;
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    struct bins *b = (struct bins *)s;
    if (b->contig) { /* it is in the list of contigs, or has come */
        b->active = b->number == s->contig;
        return COV_OK;
    }
    b->active = cov_range_means(b->range, s->contig_name, &b->out.beg, &b->out.end);
    return b->active ? start(b, s->contig, s->contig_name, e) : COV_OK;
}

static void double_width(struct bins *b)
{
    for (size_t i = 0; i < b->most; i++) {
        struct bin x = b->bins[i];
        b->bins[i] = (struct bin){0};
        b->bins[i / 2].sum += x.sum;
        b->bins[i / 2].n += x.n;
    }
    b->out.width *= 2;
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    (void)e;
    struct bins *b = (struct bins *)s;
    for (size_t i = 0; b->active && i < n; i++) {
        int64_t at = iv[i].beg > b->out.beg ? iv[i].beg : b->out.beg;
        int64_t end = iv[i].end < b->out.end ? iv[i].end : b->out.end;
        while (at < end && (end - 1 - b->out.beg) / b->out.width >= (int64_t)b->most)
            double_width(b);
        while (at < end) {
            int64_t k = (at - b->out.beg) / b->out.width;
            int64_t stop = b->out.beg + (k + 1) * b->out.width;
            stop = stop < end ? stop : end;
            b->bins[k].sum += (double)iv[i].value * (double)(stop - at);
            b->bins[k].n += stop - at;
            at = stop;
        }
    }
    return COV_OK;
}

static void free_bins(struct cov_track_sink *s)
{
    struct bins *b = (struct bins *)s;
    free(b->contig);
    free(b->bins);
    free(b->means);
    free(b);
}

static const struct cov_track_format format = {.begin = begin, .add = add, .free = free_bins};

/* Finds the range in the list of contigs, if it is there. */
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

int cov_bins_open(const struct cov_range *range, size_t most, const char *name,
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
    b->bins = cov_calloc(most, sizeof *b->bins, e);
    b->means = cov_calloc(most, sizeof *b->means, e);
    if (!rc && (!b->bins || !b->means))
        rc = COV_ENOMEM;
    if (!rc && contigs)
        rc = find(b, contigs, e);
    if (rc)
        cov_track_free(&b->base);
    else
        *out = &b->base;
    return rc;
}

bool cov_bins_found(const struct cov_track_sink *sink)
{
    assert(sink->format == &format);
    return ((const struct bins *)sink)->contig;
}

int cov_bins_extent(const struct cov_track_sink *sink, bool has_lengths,
                    struct cov_bins_extent *out, struct cov_err *e)
{
    assert(sink->format == &format);
    const struct bins *b = (const struct bins *)sink;
    if (!b->contig)
        return cov_range_fail_unknown(b->range, sink->name, e);
    int64_t length = cov_track_contig_length(sink, b->number);
    *out = (struct cov_bins_extent){b->contig, b->out.beg, b->out.end};
    if (has_lengths && out->beg >= length)
        return cov_range_fail_beyond(b->range, length, sink->name, e);
    if ((has_lengths || out->end == INT64_MAX) && out->end > length)
        out->end = length;
    return COV_OK;
}

void cov_bins_get(struct cov_track_sink *sink, const struct cov_bins_extent *x,
                  struct cov_bins *out)
{
    assert(sink->format == &format);
    struct bins *b = (struct bins *)sink;
    if (!b->contig || strcmp(b->contig, x->contig) != 0) {
        memset(b->bins, 0, b->most * sizeof *b->bins);
        b->out.width = 1;
    }
    b->out.beg = x->beg;
    b->out.end = x->end;
    /* Where nothing has a value behind some place, or anywhere. */
    while ((b->out.end - 1 - b->out.beg) / b->out.width >= (int64_t)b->most)
        double_width(b);
    b->out.n = (size_t)((b->out.end - 1 - b->out.beg) / b->out.width) + 1;
    for (size_t i = 0; i < b->out.n; i++)
        b->means[i] = b->bins[i].n ? b->bins[i].sum / (double)b->bins[i].n : (double)NAN;
    b->out.contig = x->contig;
    b->out.means = b->means;
    *out = b->out;
}
