/* measured.c - see measured.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/job/peaks/peak_files.h"
#include "common/seq/regions.h"

/* ---------------------------------------------------------------- peaks of a track */

/* The sink of a measured track. */
struct collector {
    struct cov_track_sink sink;
    struct cov_measured *m;
    struct cov_peaks peaks;
    size_t contig; /* the current one, in m->names */
    float max;     /* the largest value of all contigs */
};

static int end_contig(struct collector *c, struct cov_err *e)
{
    int rc = cov_peaks_end(&c->peaks, e);
    for (size_t i = 0; !rc && i < c->peaks.n; i++) {
        const struct cov_region r = {c->contig, c->peaks.list[i].beg, c->peaks.list[i].end};
        rc = cov_region_list_add(&c->m->list, r, e);
    }
    c->max = fmaxf(c->max, c->peaks.max);
    return rc;
}

static int begin(struct cov_track_sink *s, struct cov_err *e)
{
    struct collector *c = (struct collector *)s;
    bool is_new;
    int rc = end_contig(c, e);
    cov_peaks_begin(&c->peaks);
    return rc ? rc
              : cov_names_add(c->m->names, s->contig_name, strlen(s->contig_name), &c->contig,
                              &is_new, e);
}

static int add(struct cov_track_sink *s, const struct cov_interval *iv, size_t n, struct cov_err *e)
{
    struct collector *c = (struct collector *)s;
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = cov_peaks_add(&c->peaks, &iv[i], iv[i].beg, true, e);
    return rc;
}

static int close_sink(struct cov_track_sink *s, struct cov_err *e)
{
    return end_contig((struct collector *)s, e);
}

static void free_sink(struct cov_track_sink *s)
{
    cov_peaks_fini(&((struct collector *)s)->peaks);
}

static const struct cov_track_format collector_format = {begin, add, close_sink, free_sink};

/* Opens the track, which must have one dataset, or have one chosen. Fills *options, which the source
 * borrows. */
static int open_track(const struct cov_measured_options *o, unsigned n_threads,
                      struct cov_source_options *options, struct cov_track_source **out,
                      struct cov_err *e)
{
    static const char option[] = "--measured-dataset";
    struct cov_source_input in = {0};
    options->values.scale = 1;
    int rc = cov_source_input_detect(o->path, &in, e);
    if (!rc && in.is_track && o->is_own_choice)
        rc = cov_fail(e, COV_EINPUT, "%s: %s is a track, which has no datasets", option, o->path);
    if (!rc && !in.is_track) {
        options->measured = true;
        options->datasets = *o->chosen;
        options->chosen_with = o->is_own_choice ? NULL : option;
    }
    if (!rc)
        rc = cov_track_source_open(&in, options, n_threads, out, e);
    cov_source_input_close(&in);
    return rc ? rc : cov_track_source_check_single(*out, option, e);
}

/* Warns or fails because there are no peaks. */
static int report_none(const struct cov_measured_options *o, const char *why, struct cov_err *e)
{
    if (!o->may_be_empty)
        return cov_fail(e, COV_EINPUT, "%s: %s", o->path, why);
    cov_warn("%s: %s", o->path, why);
    return COV_OK;
}

static int read_track(struct cov_measured *m, const struct cov_measured_options *o,
                      unsigned n_threads, struct cov_progress *progress, struct cov_err *e)
{
    struct cov_source_options options = {0};
    struct cov_track_source *source = NULL;
    const struct cov_job job = {.progress = progress};
    struct collector c = {.sink = {.format = &collector_format},
                          .m = m,
                          .peaks = {.rules = o->rules},
                          .max = -INFINITY};
    struct cov_track_sink *sink = &c.sink;
    char why[COV_PEAKS_REASON_BYTES];
    int rc = open_track(o, n_threads, &options, &source, e);
    if (!rc)
        rc = cov_track_init(&c.sink, &collector_format, source->name, source->contigs, e);
    cov_peaks_begin(&c.peaks);
    if (!rc)
        rc = cov_track_source_run(source, &sink, "reading the measured track", &job, e);
    if (!rc && m->list.n == 0) {
        cov_peaks_reason(&o->rules, c.max, "--min-length", why);
        rc = report_none(o, why, e);
    }
    cov_track_free(&c.sink);
    cov_track_source_close(source);
    return rc;
}

/* ---------------------------------------------------------------- a file of peaks */

static int read_peaks(struct cov_measured *m, const struct cov_measured_options *o,
                      struct cov_err *e)
{
    struct cov_peak_genome genome = {.names = m->names};
    struct cov_peak_list peaks = {0};
    int rc = cov_peak_list_check_kind(o->path, "a track needs --measured-cutoff", e);
    if (!rc)
        rc = cov_peak_list_read(o->path, &genome, &peaks, e);
    if (!rc && peaks.n == 0)
        rc = report_none(o, "there are no peaks", e);
    if (!rc)
        rc = cov_peak_list_merge(&peaks, &m->list, e);
    m->last = peaks.last;
    peaks.last = NULL;
    cov_peak_list_fini(&peaks);
    return rc;
}

/* ---------------------------------------------------------------- reading */

int cov_measured_read(const struct cov_measured_options *o, unsigned n_threads,
                      struct cov_progress *progress, struct cov_measured *out, struct cov_err *e)
{
    struct cov_measured *m = out;
    *m = (struct cov_measured){.path = o->path};
    int rc = cov_names_new(&m->names, e);
    if (!rc)
        rc = o->is_track ? read_track(m, o, n_threads, progress, e) : read_peaks(m, o, e);
    if (rc)
        return rc;
    cov_region_list_merge(&m->list);
    return cov_measured_index(m, e);
}

int cov_measured_index(struct cov_measured *m, struct cov_err *e)
{
    const size_t n = cov_names_count(m->names);
    m->first = cov_calloc(n + 1, sizeof *m->first, e);
    m->found = cov_calloc(n + 1, sizeof *m->found, e);
    if (!m->first || !m->found)
        return COV_ENOMEM;
    for (size_t i = 0, k = 0; k <= n; k++) {
        while (i < m->list.n && m->list.items[i].contig < k)
            i++;
        m->first[k] = i;
    }
    return COV_OK;
}

void cov_measured_fini(struct cov_measured *m)
{
    cov_names_free(m->names);
    cov_region_list_fini(&m->list);
    free(m->last);
    free(m->first);
    free(m->found);
    *m = (struct cov_measured){0};
}

/* ---------------------------------------------------------------- use */

void cov_measured_begin(struct cov_measured *m, const char *name, struct cov_measured_cursor *c)
{
    size_t i;
    *c = (struct cov_measured_cursor){0};
    if (!cov_names_find(m->names, name, strlen(name), &i))
        return;
    m->found[i] = true;
    c->regions = m->list.items + m->first[i];
    c->n = m->first[i + 1] - m->first[i];
}

int64_t cov_measured_overlap(struct cov_measured_cursor *c, int64_t beg, int64_t end)
{
    int64_t n = 0;
    for (; c->at < c->n && c->regions[c->at].beg < end; c->at++) {
        const struct cov_region *r = &c->regions[c->at];
        const int64_t from = r->beg > beg ? r->beg : beg, to = r->end < end ? r->end : end;
        n += to > from ? to - from : 0;
        if (r->end > end)
            break; /* it may reach into the next bases */
    }
    return n;
}

/* COV_EINPUT, with the line, if a peak of the sequence `name` ends after its `length` bases in
 * `input`. */
static int check_length(const struct cov_measured *m, const char *name, int64_t length,
                        const char *input, struct cov_err *e)
{
    size_t i;
    if (!cov_names_find(m->names, name, strlen(name), &i) || m->first[i] == m->first[i + 1])
        return COV_OK;
    const int64_t end = m->list.items[m->first[i + 1] - 1].end;
    const struct cov_overhang overhang = {m->path, "peak", m->last ? m->last[i].line : 0, end, name,
                                          length,  input};
    return end <= length ? COV_OK : cov_overhang_fail(&overhang, e);
}

/* After all sequences of `input`, which `there` lists: with `warns`, warns about peaks on other
 * sequences. COV_EINPUT if all are. */
static int check_names(const struct cov_measured *m, const char *input,
                       const struct cov_listing *there, bool warns, struct cov_err *e)
{
    struct cov_misplaced misplaced = {.path = m->path,
                                      .what = "peak",
                                      .is_all = true,
                                      .input = input,
                                      .there = *there,
                                      .hint = "; --rename maps names"};
    for (size_t i = 0; i < cov_names_count(m->names); i++) {
        const size_t n = m->first[i + 1] - m->first[i];
        if (n > 0 && m->found[i])
            misplaced.is_all = false;
        if (n == 0 || m->found[i])
            continue;
        misplaced.n += n;
        cov_listing_add(&misplaced.sequences, cov_names_get(m->names, i, NULL));
    }
    return cov_misplaced_check(&misplaced, warns, e);
}

/* ---------------------------------------------------------------- values of a track */

/* A smaller share of bases with a value causes a warning. */
static const double MUCH = 0.9;

static int begin_scores(struct cov_track_sink *sink, struct cov_err *e)
{
    (void)e;
    struct cov_scores *s = (struct cov_scores *)sink;
    if (s->measured)
        cov_measured_begin(s->measured, sink->contig_name, &s->at);
    return COV_OK;
}

static int add_scores(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
                      struct cov_err *e)
{
    (void)e;
    struct cov_scores *s = (struct cov_scores *)sink;
    for (size_t i = 0; i < n; i++) {
        const int64_t n_positive = cov_measured_overlap(&s->at, iv[i].beg, iv[i].end);
        if (s->counts.max > 0)
            cov_value_counts_add(&s->counts, iv[i].value, (uint64_t)(iv[i].end - iv[i].beg),
                                 (uint64_t)n_positive);
        s->n_positive += n_positive;
        s->positive += (double)iv[i].value * (double)n_positive;
    }
    return COV_OK;
}

static void free_scores(struct cov_track_sink *sink)
{
    cov_value_counts_fini(&((struct cov_scores *)sink)->counts);
}

int cov_scores_init(struct cov_scores *s, const struct cov_track_source *source, size_t max,
                    struct cov_measured *measured, struct cov_err *e)
{
    static const struct cov_track_format format = {begin_scores, add_scores, NULL, free_scores};
    *s = (struct cov_scores){.measured = measured};
    for (size_t i = 0; measured && i < cov_names_count(measured->names); i++)
        measured->found[i] = false;
    s->sink.format = &format; /* for cov_track_free */
    int rc = max > 0 ? cov_value_counts_init(&s->counts, max, e) : COV_OK;
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
        if (s->measured && check_length(s->measured, name, length, source->name, e))
            return COV_EINPUT;
        all += (double)length;
    }
    if (!s->measured)
        return COV_OK;
    if (is_all && !o->quiet && s->counts.max > 0 && valued < MUCH * all)
        cov_warn("%s: %.0f %% of its bases have no value and are not counted; store zeros as 0",
                 source->name, 100 - 100 * valued / all);
    struct cov_listing there = {0};
    for (size_t i = 0; i < n; i++)
        cov_listing_add(&there, cov_track_contig_name(sink, i));
    int rc = check_names(s->measured, source->name, &there, is_all && !o->quiet, e);
    const bool is_none = !rc && s->n_positive == 0 && s->measured->list.n > 0;
    if (is_none && s->counts.max > 0)
        return cov_fail(e, COV_EINPUT, "%s: no base of %s is in its peaks", s->measured->path,
                        source->name);
    if (is_none)
        cov_warn("%s: no base of %s is in its peaks", s->measured->path, source->name);
    return rc;
}

/* ---------------------------------------------------------------- options */

int cov_measured_options_finish(struct cov_measured_options *o, const bool *given,
                                const struct cov_source_options *source,
                                const struct cov_peak_rules *rules, struct cov_err *e)
{
    o->is_track = given[COV_MEASURED_ROW_CUTOFF];
    o->is_own_choice = given[COV_MEASURED_ROW_DATASET];
    o->chosen = o->is_own_choice ? &o->dataset : &source->datasets;
    o->rules = *rules;
    if (o->is_track && !o->path)
        return cov_fail(e, COV_EUSAGE, "--measured-cutoff needs --measured");
    if (o->is_own_choice && !o->is_track)
        return cov_fail(e, COV_EUSAGE, "--measured-dataset needs --measured-cutoff");
    return cov_peaks_cutoff(o->cutoff, "measured-cutoff", &o->rules.cutoff, e);
}
