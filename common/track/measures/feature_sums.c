/* feature_sums.c - see feature_sums.h.
 *
 * Features are ascending by start, and so are intervals: a feature is open from the first interval
 * that ends after its start to the first that ends at or after its end.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/feature_sums.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* Returns the number of features on contigs before `contig`. */
static size_t first_of(const struct cov_annotation *a, size_t contig)
{
    size_t beg = 0, end = a->n;
    while (beg < end) {
        const size_t middle = beg + (end - beg) / 2;
        if (a->items[middle].contig < contig)
            beg = middle + 1;
        else
            end = middle;
    }
    return beg;
}

static int begin(struct cov_track_sink *sink, struct cov_err *e)
{
    (void)e;
    struct cov_feature_sums *s = (struct cov_feature_sums *)sink;
    const struct cov_annotation *a = s->features;
    size_t contig;
    s->n_open = s->next = s->last = 0;
    if (cov_names_find(a->contigs, sink->contig_name, strlen(sink->contig_name), &contig)) {
        s->next = first_of(a, contig);
        s->last = first_of(a, contig + 1);
    }
    return COV_OK;
}

/* Adds n bases with the value x. */
static void count(struct cov_feature_sum *f, float x, int64_t n)
{
    f->min = f->n == 0 || x < f->min ? x : f->min;
    f->max = f->n == 0 || x > f->max ? x : f->max;
    f->sum += (double)x * (double)n;
    f->n += n;
}

/* Adds an interval to the open features, and closes those that end with it. */
static void add_to_open(struct cov_feature_sums *s, const struct cov_interval *iv)
{
    size_t n_kept = 0;
    for (size_t k = 0; k < s->n_open; k++) {
        const struct cov_feature *f = &s->features->items[s->open[k]];
        const int64_t beg = f->beg > iv->beg ? f->beg : iv->beg;
        const int64_t end = f->end < iv->end ? f->end : iv->end;
        if (beg < end)
            count(&s->sums[s->open[k]], iv->value, end - beg);
        if (f->end > iv->end)
            s->open[n_kept++] = s->open[k];
    }
    s->n_open = n_kept;
}

static int add(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
               struct cov_err *e)
{
    struct cov_feature_sums *s = (struct cov_feature_sums *)sink;
    for (size_t i = 0; i < n; i++) {
        for (; s->next < s->last && s->features->items[s->next].beg < iv[i].end; s->next++) {
            if (COV_RESERVE(&s->open, &s->cap_open, s->n_open + 1, e))
                return COV_ENOMEM;
            s->open[s->n_open++] = s->next;
        }
        add_to_open(s, &iv[i]);
    }
    return COV_OK;
}

static void free_sink(struct cov_track_sink *sink)
{
    struct cov_feature_sums *s = (struct cov_feature_sums *)sink;
    free(s->sums);
    free(s->open);
}

int cov_feature_sums_init(struct cov_feature_sums *s, const struct cov_annotation *features,
                          const char *name, const struct cov_track_contigs *contigs,
                          struct cov_err *e)
{
    static const struct cov_track_format format = {begin, add, NULL, free_sink};
    *s = (struct cov_feature_sums){.features = features};
    s->sink.format = &format; /* for cov_track_free */
    s->sums = cov_calloc(features->n, sizeof *s->sums, e);
    return s->sums ? cov_track_init(&s->sink, &format, name, contigs, e) : COV_ENOMEM;
}
