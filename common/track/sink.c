/* sink.c - see sink.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/sink.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

int cov_track_init(struct cov_track_sink *s, const struct cov_track_format *format,
                   const char *name, const struct cov_track_contigs *contigs, struct cov_err *e)
{
    *s = (struct cov_track_sink){
        .format = format, .name = name, .contigs = contigs, .longest = INT64_MAX};
    if (!contigs)
        return cov_names_new(&s->announced.names, e);
    for (size_t i = 0; i < contigs->n; i++) {
        int order = i ? strcmp(contigs->names[i - 1], contigs->names[i]) : -1;
        if (order == 0)
            return cov_fail(e, COV_EINPUT, "%s: duplicate contig %s", name, contigs->names[i]);
        if (order > 0)
            return cov_fail(e, COV_EINPUT, "%s: contigs are not sorted: %s follows %s", name,
                            contigs->names[i], contigs->names[i - 1]);
        if (contigs->lengths[i] <= 0)
            return cov_fail(e, COV_EINPUT, "%s: contig %s has length %" PRId64, name,
                            contigs->names[i], contigs->lengths[i]);
    }
    return COV_OK;
}

size_t cov_track_n_contigs(const struct cov_track_sink *s)
{
    return s->contigs ? s->contigs->n : cov_names_count(s->announced.names);
}

const char *cov_track_contig_name(const struct cov_track_sink *s, size_t contig)
{
    return s->contigs ? s->contigs->names[contig] : cov_names_get(s->announced.names, contig, NULL);
}

int64_t cov_track_contig_length(const struct cov_track_sink *s, size_t contig)
{
    return s->contigs ? s->contigs->lengths[contig] : s->announced.lengths[contig];
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool cov_track_find_contig(const struct cov_track_sink *s, const char *name, size_t *contig)
{
    if (!s->contigs)
        return cov_names_find(s->announced.names, name, strlen(name), contig);
    const char *const *names = s->contigs->names;
    const char *const *found =
        s->contigs->n ? bsearch(&name, names, s->contigs->n, sizeof *names, compare_names) : NULL;
    if (found)
        *contig = (size_t)(found - names);
    return found;
}

static int begin(struct cov_track_sink *s, size_t contig, int64_t length, struct cov_err *e)
{
    s->contig = contig;
    s->contig_name = cov_track_contig_name(s, contig);
    s->length = length;
    s->begun = true;
    s->at_end = false;
    s->end = 0;
    return s->format->begin ? s->format->begin(s, e) : COV_OK;
}

int cov_track_begin(struct cov_track_sink *s, size_t contig, struct cov_err *e)
{
    if (!s->contigs || contig >= s->contigs->n || (s->begun && contig <= s->contig))
        return cov_fail(e, COV_EINPUT, "%s: contig number %zu is out of order", s->name, contig);
    return begin(s, contig, s->contigs->lengths[contig], e);
}

/* Checks that the current contig has ended. */
static int check_end(const struct cov_track_sink *s, struct cov_err *e)
{
    if (s->contigs || !s->begun || s->at_end)
        return COV_OK;
    return cov_fail(e, COV_EINPUT, "%s: missing end of contig %s", s->name, s->contig_name);
}

int cov_track_begin_named(struct cov_track_sink *s, const char *name, struct cov_err *e)
{
    size_t contig;
    bool is_new;
    if (s->contigs)
        return cov_fail(e, COV_EINPUT, "%s: contig %s is announced, but there is a list of contigs",
                        s->name, name);
    int rc = check_end(s, e);
    if (!rc)
        rc = cov_names_add(s->announced.names, name, strlen(name), &contig, &is_new, e);
    if (rc)
        return rc;
    if (!is_new)
        return cov_fail(e, COV_EINPUT, "%s: duplicate contig %s", s->name, name);
    rc = COV_RESERVE(&s->announced.lengths, &s->announced.cap, contig + 1, e);
    if (rc)
        return rc;
    s->announced.lengths[contig] = 0;
    return begin(s, contig, s->longest, e);
}

int cov_track_end_contig(struct cov_track_sink *s, int64_t length, struct cov_err *e)
{
    if (s->contigs || !s->begun || s->at_end)
        return cov_fail(e, COV_EINPUT, "%s: end of a contig that was not announced", s->name);
    if (length <= 0)
        return cov_fail(e, COV_EINPUT, "%s: contig %s has length %" PRId64, s->name, s->contig_name,
                        length);
    if (length < s->end)
        return cov_fail(e, COV_EINPUT,
                        "%s: contig %s has %" PRId64 " bases, but an interval reaches %" PRId64,
                        s->name, s->contig_name, length, s->end);
    if (length > s->longest)
        return cov_fail(e, COV_EINPUT,
                        "%s: contig %s has %" PRId64 " bases; the limit of this format is %" PRId64,
                        s->name, s->contig_name, length, s->longest);
    s->announced.lengths[s->contig] = length;
    s->at_end = true;
    return COV_OK;
}

static int refuse(const struct cov_track_sink *s, const struct cov_interval *iv, const char *why,
                  struct cov_err *e)
{
    return cov_fail(e, COV_EINPUT, "%s: %s:%" PRId64 "-%" PRId64 " (value %.9g) %s", s->name,
                    s->contig_name, iv->beg + 1, iv->end, (double)iv->value, why);
}

int cov_track_add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n,
                  struct cov_err *e)
{
    if (!s->begun || s->at_end)
        return cov_fail(e, COV_EINPUT, "%s: interval without a contig", s->name);
    int64_t length = s->length;
    struct cov_track_summary sum = s->summary;
    for (size_t i = 0; i < n; i++) {
        if (iv[i].beg < s->end)
            return refuse(s, &iv[i], "is out of order or overlaps the previous interval", e);
        if (iv[i].end <= iv[i].beg)
            return refuse(s, &iv[i], "is empty", e);
        if (iv[i].end > length)
            return refuse(s, &iv[i],
                          s->contigs ? "is past the end of the contig"
                                     : "is past the limit of the format",
                          e);
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
    int rc = check_end(s, e);
    return rc || !s->format->close ? rc : s->format->close(s, e);
}

void cov_track_free(struct cov_track_sink *s)
{
    if (!s)
        return;
    cov_names_free(s->announced.names);
    free(s->announced.lengths);
    s->announced.names = NULL;
    s->announced.lengths = NULL;
    s->format->free(s);
}
