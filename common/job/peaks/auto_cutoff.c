/* auto_cutoff.c - see peak_jobs.h.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/job/peaks/peak_jobs.h"

/* Of the strong cutoff to that of broad peaks. */
static const float RATIO = 2;

/* ---------------------------------------------------------------- the scan */

/* The cutoffs, and the peaks at each of them. Empty if all zero. */
struct scans {
    const struct cov_auto_rules *rules;
    float *cutoffs; /* [n], ascending. Owned */
    size_t n;
    struct cov_peak_scan peaks;  /* at the cutoffs */
    struct cov_peak_scan strong; /* broad peaks: at the strong cutoffs, one or [n] */
};

/* Returns whether peaks may have this cutoff. */
static bool is_candidate(const struct cov_auto_rules *r, float value)
{
    return !r->is_broad || (r->has_strong ? value < r->strong.cutoff : value > 0);
}

static int init_scans(struct scans *x, struct cov_scores *scores, struct cov_err *e)
{
    const struct cov_auto_rules *r = x->rules;
    const struct cov_value_count *counts = cov_value_counts_sort(&scores->counts);
    const size_t n = scores->counts.n;
    x->cutoffs = cov_malloc(n, sizeof *x->cutoffs, e);
    if (!x->cutoffs)
        return COV_ENOMEM;
    for (size_t i = n; i-- > 0;)
        if (is_candidate(r, counts[i].value))
            x->cutoffs[x->n++] = counts[i].value;
    if (x->n == 0 && r->has_strong)
        return cov_fail(e, COV_EINPUT, "%s: no value is less than --cutoff %g", scores->sink.name,
                        (double)r->strong.cutoff);
    if (x->n == 0)
        return cov_fail(e, COV_EINPUT, "%s: no value is greater than 0", scores->sink.name);
    int rc = cov_peak_scan_init(&x->peaks, x->cutoffs, x->n, &r->peaks, e);
    if (rc || !r->is_broad)
        return rc;
    if (r->has_strong)
        return cov_peak_scan_init(&x->strong, &r->strong.cutoff, 1, &r->strong, e);
    rc = cov_peak_scan_init(&x->strong, x->cutoffs, x->n, &r->strong, e);
    for (size_t i = 0; !rc && i < x->n; i++)
        x->strong.sums[i].cutoff *= RATIO;
    return rc;
}

static void fini_scans(struct scans *x)
{
    cov_peak_scan_fini(&x->peaks);
    cov_peak_scan_fini(&x->strong);
    free(x->cutoffs);
}

/* Adds the intervals of a contig. `measured` may have no peaks. */
static int add_contig(struct cov_peak_scan *scan, struct cov_interval_cursor *cursor,
                      struct cov_measured_cursor *measured, struct cov_err *e)
{
    const struct cov_interval *iv;
    size_t n;
    int rc;
    while ((rc = cov_interval_cursor_next(cursor, &iv, &n, e)) > 0)
        for (size_t i = 0; i < n; i++)
            cov_peak_scan_add(scan, &iv[i], cov_measured_overlap(measured, iv[i].beg, iv[i].end));
    return rc;
}

static int scan_all(struct scans *x, const struct cov_interval_store *store,
                    struct cov_scores *scores, struct cov_err *e)
{
    const size_t n = cov_track_n_contigs(&scores->sink);
    struct cov_interval_cursor *cursor = cov_malloc(1, sizeof *cursor, e);
    int rc = cursor ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        struct cov_measured_cursor none = {0}, measured = {0};
        if (scores->measured)
            cov_measured_begin(scores->measured, cov_track_contig_name(&scores->sink, i),
                               &measured);
        if (x->rules->is_broad) {
            cov_interval_cursor_begin(cursor, store, i);
            rc = add_contig(&x->strong, cursor, &none, e);
            const size_t n_with = cov_peak_scan_end(&x->strong);
            x->peaks.n_counted = x->rules->has_strong && n_with > 0 ? x->n : n_with;
        }
        cov_interval_cursor_begin(cursor, store, i);
        if (!rc)
            rc = add_contig(&x->peaks, cursor, &measured, e);
        (void)cov_peak_scan_end(&x->peaks);
    }
    free(cursor);
    return rc;
}

/* ---------------------------------------------------------------- the choice */

struct goal {
    const struct cov_auto_options *o;
    double n_bases, n_positive; /* with a value; of these, in measured peaks */
};

/* How good a cutoff is; larger is better. */
static double rate(const struct goal *g, const struct cov_peak_sums *s)
{
    if (g->o->by == COV_AUTO_COUNT)
        return -fabs((double)s->n - (double)g->o->count);
    if (g->o->by == COV_AUTO_SHARE)
        return -fabs((double)s->valued / g->n_bases - g->o->share);
    return 2 * (double)s->positive / ((double)s->valued + g->n_positive);
}

/* Returns whether a higher cutoff, with fewer bases in peaks, might be better. */
static bool exceeds(const struct goal *g, const struct cov_peak_sums *s)
{
    return g->o->by == COV_AUTO_COUNT   ? s->n > (uint64_t)g->o->count
           : g->o->by == COV_AUTO_SHARE ? (double)s->valued / g->n_bases > g->o->share
                                        : true;
}

static void choose(const struct cov_peak_scan *scan, const struct goal *g, bool is_broad,
                   struct cov_auto_result *out)
{
    size_t last = 0, best = scan->n, highest = 0; /* highest: with peaks */
    double best_rate = 0;
    for (size_t i = scan->n; i-- > 0;)
        if (scan->sums[i].n > out->most) {
            out->most = scan->sums[i].n;
            last = i;
        }
    if (g->o->by != COV_AUTO_COUNT)
        last = 0;
    for (size_t i = scan->n; i-- > last;) {
        const double r = rate(g, &scan->sums[i]);
        if (scan->sums[i].n == 0 || (best < scan->n && r <= best_rate))
            continue;
        highest = best == scan->n ? i : highest;
        best = i;
        best_rate = r;
    }
    if (best == scan->n)
        return;
    out->sums = scan->sums[best];
    out->is_limited = is_broad && best == highest && exceeds(g, &out->sums);
    out->f1 = g->o->by == COV_AUTO_MEASURED ? best_rate : (double)NAN;
}

static int fail_without_peaks(const struct scans *x, const char *name, struct cov_err *e)
{
    const struct cov_auto_rules *r = x->rules;
    if (!r->is_broad)
        return cov_fail(e, COV_EINPUT,
                        "%s: no peaks at any cutoff: all are shorter than %" PRId64
                        " bases (--min-length)",
                        name, r->peaks.min_length);
    char cutoff[40] = "twice any value";
    if (r->has_strong)
        (void)snprintf(cutoff, sizeof cutoff, "--cutoff %g", (double)r->strong.cutoff);
    return cov_fail(e, COV_EINPUT,
                    "%s: no broad peaks: no sequence has a peak of %" PRId64
                    " bases (--min-length) at %s",
                    name, r->strong.min_length, cutoff);
}

int cov_auto_cutoff_find(const struct cov_interval_store *store, struct cov_scores *scores,
                         const struct cov_auto_options *o, const struct cov_auto_rules *rules,
                         struct cov_auto_result *out, struct cov_err *e)
{
    const struct goal goal = {o, (double)scores->sink.summary.n_bases, (double)scores->n_positive};
    struct scans x = {.rules = rules};
    *out = (struct cov_auto_result){.f1 = (double)NAN};
    int rc = init_scans(&x, scores, e);
    if (!rc)
        rc = scan_all(&x, store, scores, e);
    if (!rc)
        choose(&x.peaks, &goal, rules->is_broad, out);
    out->strong = rules->has_strong ? rules->strong.cutoff : RATIO * out->sums.cutoff;
    if (!rc && out->most == 0)
        rc = fail_without_peaks(&x, scores->sink.name, e);
    fini_scans(&x);
    return rc;
}
