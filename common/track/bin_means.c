/* bin_means.c - see bin_means.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/bin_means.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"

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

static int begin(struct cov_track_sink *sink, struct cov_err *e)
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

static int add(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
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

static int close_sink(struct cov_track_sink *sink, struct cov_err *e)
{
    return end_contig((struct cov_bin_means *)sink, e);
}

static void free_sink(struct cov_track_sink *sink)
{
    struct cov_bin_means *b = (struct cov_bin_means *)sink;
    free(b->means);
    free(b->contigs);
}

int cov_bin_means_init(struct cov_bin_means *b, int64_t width, const char *name,
                       const struct cov_track_contigs *contigs, struct cov_err *e)
{
    static const struct cov_track_format format = {begin, add, close_sink, free_sink};
    *b = (struct cov_bin_means){.width = width};
    b->sink.format = &format; /* for cov_track_free */
    return cov_track_init(&b->sink, &format, name, contigs, e);
}
