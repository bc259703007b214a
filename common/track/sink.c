/* sink.c - see sink.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/sink.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

int cov_track_init(struct cov_track_sink *s, const struct cov_track_format *format,
                   const char *name, const struct cov_track_contigs *contigs, struct cov_err *e)
{
    *s = (struct cov_track_sink){
        .format = format, .name = name, .contigs = contigs, .contig = contigs->n};
    for (size_t i = 0; i < contigs->n; i++) {
        int order = i ? strcmp(contigs->names[i - 1], contigs->names[i]) : -1;
        if (order == 0)
            return cov_fail(e, COV_EINPUT, "%s: contig %s is there twice", name, contigs->names[i]);
        if (order > 0)
            return cov_fail(e, COV_EINPUT, "%s: contigs are not sorted: %s stands behind %s", name,
                            contigs->names[i], contigs->names[i - 1]);
        if (contigs->lengths[i] <= 0)
            return cov_fail(e, COV_EINPUT, "%s: contig %s has length %" PRId64, name,
                            contigs->names[i], contigs->lengths[i]);
    }
    return COV_OK;
}

int cov_track_begin(struct cov_track_sink *s, size_t contig, struct cov_err *e)
{
    if (contig >= s->contigs->n || (s->contig < s->contigs->n && contig <= s->contig))
        return cov_fail(e, COV_EINPUT, "%s: contig number %zu is out of order", s->name, contig);
    s->contig = contig;
    s->end = 0;
    return s->format->begin ? s->format->begin(s, e) : COV_OK;
}

static int refuse(const struct cov_track_sink *s, const struct cov_interval *iv, const char *why,
                  struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s: %s:%" PRId64 "-%" PRId64 " (value %.9g) %s", s->name,
                    s->contigs->names[s->contig], iv->beg + 1, iv->end, (double)iv->value, why);
}

int cov_track_add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
                  struct cov_err *e)
{
    if (s->contig >= s->contigs->n)
        return cov_fail(e, COV_EINPUT, "%s: an interval without a contig", s->name);
    int64_t length = s->contigs->lengths[s->contig];
    struct cov_track_summary sum = s->summary;
    for (size_t i = 0; i < n; i++) {
        if (iv[i].beg < s->end)
            return refuse(s, &iv[i], "is out of order or overlaps the interval before it", e);
        if (iv[i].end <= iv[i].beg)
            return refuse(s, &iv[i], "is empty", e);
        if (iv[i].end > length)
            return refuse(s, &iv[i], "goes beyond the end of the contig", e);
        if (!isfinite(iv[i].value))
            return refuse(s, &iv[i], "is not a finite number", e);
        s->end = iv[i].end;
        double value = (double)iv[i].value, bases = (double)(iv[i].end - iv[i].beg);
        if (sum.n_intervals == 0 || value < sum.min)
            sum.min = value;
        if (sum.n_intervals == 0 || value > sum.max)
            sum.max = value;
        sum.sum += value * bases;
        sum.sum_squares += value * value * bases;
        sum.n_bases += (uint64_t)(iv[i].end - iv[i].beg);
        sum.n_intervals++;
    }
    s->summary = sum;
    return n ? s->format->add(s, iv, n, e) : COV_OK;
}

int cov_track_close(struct cov_track_sink *s, struct cov_err *e)
{
    return s->format->close ? s->format->close(s, e) : COV_OK;
}

void cov_track_free(struct cov_track_sink *s)
{
    if (s)
        s->format->free(s);
}
