/* auto_cutoff.c - see auto_cutoff.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/peaks/auto_cutoff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"

/* ---------------------------------------------------------------- the scan */

static int scan_contig(struct cov_peak_scan *scan, struct cov_interval_cursor *cursor,
                       struct cov_measured_cursor *measured, struct cov_err *e)
{
    const struct cov_interval *iv;
    size_t n;
    int rc;
    while ((rc = cov_interval_cursor_next(cursor, &iv, &n, e)) > 0)
        for (size_t i = 0; i < n; i++)
            cov_peak_scan_add(scan, &iv[i], cov_measured_overlap(measured, iv[i].beg, iv[i].end));
    cov_peak_scan_end(scan);
    return rc;
}

static int scan_all(struct cov_peak_scan *scan, const struct cov_interval_store *store,
                    struct cov_scores *scores, struct cov_err *e)
{
    const size_t n = cov_track_n_contigs(&scores->sink);
    struct cov_interval_cursor *cursor = cov_malloc(1, sizeof *cursor, e);
    int rc = cursor ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        struct cov_measured_cursor measured = {0};
        if (scores->measured)
            cov_measured_begin(scores->measured, cov_track_contig_name(&scores->sink, i),
                               &measured);
        cov_interval_cursor_begin(cursor, store, i);
        rc = scan_contig(scan, cursor, &measured, e);
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

static void choose(const struct cov_peak_scan *scan, const struct goal *g,
                   struct cov_auto_result *out)
{
    size_t last = 0, best = scan->n;
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
        best = i;
        best_rate = r;
    }
    if (best == scan->n)
        return;
    out->sums = scan->sums[best];
    out->f1 = g->o->by == COV_AUTO_MEASURED ? best_rate : (double)NAN;
}

int cov_auto_cutoff_find(const struct cov_interval_store *store, struct cov_scores *scores,
                         const struct cov_auto_options *o, const struct cov_peak_rules *rules,
                         struct cov_auto_result *out, struct cov_err *e)
{
    const struct cov_value_count *counts = cov_value_counts_sort(&scores->counts);
    const size_t n = scores->counts.n;
    struct goal goal = {.o = o};
    struct cov_peak_scan scan = {0};
    float *cutoffs = cov_malloc(n, sizeof *cutoffs, e);
    *out = (struct cov_auto_result){.f1 = (double)NAN};
    int rc = cutoffs ? COV_OK : COV_ENOMEM;
    for (size_t i = 0; !rc && i < n; i++) {
        cutoffs[n - 1 - i] = counts[i].value;
        goal.n_bases += (double)counts[i].n;
        goal.n_positive += (double)counts[i].n_positive;
    }
    if (!rc && o->by == COV_AUTO_MEASURED && goal.n_positive == 0)
        rc = cov_fail(e, COV_EINPUT, "%s: no base of %s is in its peaks", o->measured.path,
                      scores->sink.name);
    if (!rc)
        rc = cov_peak_scan_init(&scan, cutoffs, n, rules, e);
    if (!rc)
        rc = scan_all(&scan, store, scores, e);
    if (!rc)
        choose(&scan, &goal, out);
    if (!rc && out->most == 0)
        rc = cov_fail(e, COV_EINPUT,
                      "%s: no peaks at any cutoff: all are shorter than %" PRId64
                      " bases (--min-length)",
                      scores->sink.name, rules->min_length);
    cov_peak_scan_fini(&scan);
    free(cutoffs);
    return rc;
}
