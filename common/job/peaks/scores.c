/* scores.c - see scores.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/scores.h"

#include "common/base/log.h"
#include "common/base/text.h"

/* A smaller share of bases with a value causes a warning. */
static const double MUCH = 0.9;

static int begin(struct cov_track_sink *sink, struct cov_err *e)
{
    (void)e;
    struct cov_scores *s = (struct cov_scores *)sink;
    if (s->measured)
        cov_measured_begin(s->measured, sink->contig_name, &s->at);
    return COV_OK;
}

static int add(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
               struct cov_err *e)
{
    (void)e;
    struct cov_scores *s = (struct cov_scores *)sink;
    for (size_t i = 0; i < n; i++) {
        const int64_t n_positive = cov_measured_overlap(&s->at, iv[i].beg, iv[i].end);
        cov_value_counts_add(&s->counts, iv[i].value, (uint64_t)(iv[i].end - iv[i].beg),
                             (uint64_t)n_positive);
        s->n_positive += n_positive;
    }
    return COV_OK;
}

static void free_sink(struct cov_track_sink *sink)
{
    cov_value_counts_fini(&((struct cov_scores *)sink)->counts);
}

int cov_scores_init(struct cov_scores *s, const struct cov_track_source *source, size_t max,
                    struct cov_measured *measured, struct cov_err *e)
{
    static const struct cov_track_format format = {begin, add, NULL, free_sink};
    *s = (struct cov_scores){.measured = measured};
    s->sink.format = &format; /* for cov_track_free */
    int rc = cov_value_counts_init(&s->counts, max, e);
    return rc ? rc : cov_track_init(&s->sink, &format, source->name, source->contigs, e);
}

int cov_scores_check(const struct cov_scores *s, const struct cov_track_source *source,
                     const struct cov_source_options *o, struct cov_err *e)
{
    const struct cov_track_sink *sink = &s->sink;
    const size_t n = cov_track_n_contigs(sink);
    const bool is_all = cov_source_is_whole(o);
    const double valued = (double)sink->summary.n_bases;
    double all = 0;
    if (sink->summary.n_bases == 0)
        return cov_fail(e, COV_EINPUT, "%s: no base has a value", source->name);
    for (size_t i = 0; source->has_lengths && i < n; i++) {
        const int64_t length = cov_track_contig_length(sink, i);
        const char *name = cov_track_contig_name(sink, i);
        if (s->measured && cov_measured_check_length(s->measured, name, length, source->name, e))
            return COV_EINPUT;
        all += (double)length;
    }
    if (!s->measured)
        return COV_OK;
    if (is_all && !o->quiet && valued < MUCH * all)
        cov_warn("%s: %.0f %% of its bases have no value and are not counted; store zeros as 0",
                 source->name, 100 - 100 * valued / all);
    struct cov_listing there = {0};
    for (size_t i = 0; i < n; i++)
        cov_listing_add(&there, cov_track_contig_name(sink, i));
    int rc = cov_measured_check_names(s->measured, source->name, &there, is_all && !o->quiet, e);
    if (!rc && s->n_positive == 0 && s->measured->list.n > 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no base of %s is in its peaks", s->measured->path,
                      source->name);
    return rc;
}
