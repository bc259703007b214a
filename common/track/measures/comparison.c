/* comparison.c - see comparison.h.
 *
 * Sweeps both tracks together. Collects stretches where each track has a single value, and then
 * counts them for each bin size, possibly in several threads.
 * SPDX-License-Identifier: MIT */
#include "common/track/measures/comparison.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/track/measures/peaks.h"

/* Bases beg .. end-1, where each track has a single value: x and y, multiplied by the
 * denominators. */
struct cov_comparison_stretch {
    int64_t beg, end;
    float x, y;
};

enum { STRETCHES = 4096 };

/* The state of one bin size. */
struct cov_comparison_bins {
    int64_t size;
    int64_t end; /* end of the current bin */
    int64_t n;   /* its bases so far */
    double x, y; /* their sums */
    struct cov_pairs pairs, total;
};

static struct cov_comparison *comparison_of(struct cov_track_sink *s)
{
    return (struct cov_comparison *)(void *)s;
}

/* ---------------------------------------------------------------- bins */

static int end_bin(struct cov_comparison_bins *b, struct cov_err *e)
{
    int64_t n = b->n;
    if (n == 0)
        return COV_OK;
    float x = (float)(b->x / (double)n), y = (float)(b->y / (double)n);
    b->n = 0;
    b->x = b->y = 0;
    return cov_pairs_add(&b->pairs, x, y, 1, e);
}

static int count_bins(struct cov_comparison_bins *b, const struct cov_comparison_stretch *s,
                      struct cov_err *e)
{
    int64_t beg = s->beg;
    int rc = COV_OK;
    if (beg >= b->end) {
        rc = end_bin(b, e);
        b->end = (beg / b->size + 1) * b->size;
    }
    if (!rc && s->end >= b->end && (b->n > 0 || beg > b->end - b->size)) {
        b->x += (double)s->x * (double)(b->end - beg);
        b->y += (double)s->y * (double)(b->end - beg);
        b->n += b->end - beg;
        beg = b->end;
        b->end += b->size;
        rc = end_bin(b, e);
    }
    /* At this point a bin begins at beg, or the stretch ends within the current bin. */
    int64_t whole = s->end >= b->end ? (s->end - beg) / b->size : 0;
    if (!rc && whole > 0) {
        rc = cov_pairs_add(&b->pairs, s->x, s->y, (uint64_t)whole, e);
        beg += whole * b->size;
        b->end = beg + b->size;
    }
    b->x += (double)s->x * (double)(s->end - beg);
    b->y += (double)s->y * (double)(s->end - beg);
    b->n += s->end - beg;
    return rc;
}

static int count_windows(struct cov_comparison *c, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t i = 0; !rc && i < c->n; i++) {
        const struct cov_comparison_stretch *s = &c->stretches[i];
        rc = cov_outliers_add(&c->outliers, c->current->contig, s->beg, s->end, (double)s->x,
                              (double)s->y, e);
    }
    return rc;
}

/* The last task after the bin sizes are the windows. */
static int count_stretches(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct cov_comparison *c = arg;
    if (k == c->n_binnings)
        return count_windows(c, e);
    struct cov_comparison_bins *b = &c->binnings[k];
    int rc = COV_OK;
    if (b->size == 1)
        for (size_t i = 0; !rc && i < c->n; i++) {
            const struct cov_comparison_stretch *s = &c->stretches[i];
            rc = cov_pairs_add(&b->pairs, s->x, s->y, (uint64_t)(s->end - s->beg), e);
        }
    else
        for (size_t i = 0; !rc && i < c->n; i++)
            rc = count_bins(b, &c->stretches[i], e);
    return rc;
}

/* Runs n tasks in the pool; those of a small contig in this thread, because that takes less time than
 * handing them to others. */
static int run_tasks(struct cov_comparison *c, size_t n, cov_task_fn *fn, struct cov_err *e)
{
    enum { FEW_BASES = 100000 };
    const bool is_small = c->current && c->bases < FEW_BASES;
    if (c->o->pool && !is_small)
        return cov_pool_for(c->o->pool, n, fn, c, e);
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < n; k++)
        rc = fn(c, k, 0, e);
    return rc;
}

static int flush(struct cov_comparison *c, struct cov_err *e)
{
    int rc = c->n ? run_tasks(c, c->n_binnings + 1, count_stretches, e) : COV_OK;
    c->n = 0;
    return rc;
}

/* ---------------------------------------------------------------- the sweep */

/* Reads the next interval of the store into `head`; n_iv = 0 at the end of the contig. */
static int next_measured(struct cov_comparison *c, struct cov_err *e)
{
    if (c->n_iv > 0) {
        c->iv++;
        c->n_iv--;
    }
    if (c->n_iv == 0) {
        int rc = cov_interval_cursor_next(&c->cursor, &c->iv, &c->n_iv, e);
        if (rc < 0)
            return rc;
    }
    if (c->n_iv > 0)
        c->head = *c->iv;
    return COV_OK;
}

/* Sweeps the store's intervals before base `end`, where the track has no values. */
static int sweep_measured(struct cov_comparison *c, int64_t end, struct cov_err *e)
{
    int rc = COV_OK;
    while (!rc && c->n_iv > 0 && c->head.beg < end) {
        struct cov_interval part = c->head;
        if (part.end > end)
            part.end = end;
        if (c->o->has_peaks)
            rc = cov_peaks_add(&c->measured_peaks, &part, c->bases, false, e);
        c->head.beg = part.end;
        if (!rc && part.end == c->head.end)
            rc = next_measured(c, e);
    }
    return rc;
}

/* Sweeps the part of an interval of the track that is before the store's next interval. */
static int sweep_track(struct cov_comparison *c, struct cov_interval *iv, struct cov_err *e)
{
    struct cov_interval part = *iv;
    if (c->n_iv > 0 && c->head.beg < part.end)
        part.end = c->head.beg;
    iv->beg = part.end;
    if (part.beg == part.end || !c->o->has_peaks)
        return COV_OK;
    return cov_peaks_add(&c->peaks, &part, c->bases, false, e);
}

static float numerator(float value, double denominator)
{
    return denominator > 0 ? (float)rint((double)value * denominator) : value;
}

/* Sweeps the part that both intervals have in common. Both begin at the same base. */
static int sweep_both(struct cov_comparison *c, struct cov_interval *iv, struct cov_err *e)
{
    int64_t end = iv->end < c->head.end ? iv->end : c->head.end;
    int rc = COV_OK;
    c->stretches[c->n++] =
        (struct cov_comparison_stretch){iv->beg, end, numerator(iv->value, c->denominators[0]),
                                        numerator(c->head.value, c->denominators[1])};
    if (c->o->has_peaks) {
        const struct cov_interval part = {iv->beg, end, iv->value};
        const struct cov_interval measured = {iv->beg, end, c->head.value};
        rc = cov_peaks_add(&c->peaks, &part, c->bases, true, e);
        if (!rc)
            rc = cov_peaks_add(&c->measured_peaks, &measured, c->bases, true, e);
    }
    c->bases += end - iv->beg;
    iv->beg = c->head.beg = end;
    if (!rc && c->n == STRETCHES)
        rc = flush(c, e);
    return rc || end < c->head.end ? rc : next_measured(c, e);
}

static int add(struct cov_track_sink *sink, const struct cov_interval *iv, size_t n,
               struct cov_err *e)
{
    struct cov_comparison *c = comparison_of(sink);
    int rc = COV_OK;
    if (!c->compares)
        return COV_OK;
    for (size_t i = 0; !rc && i < n; i++) {
        struct cov_interval left = iv[i];
        rc = sweep_measured(c, left.beg, e);
        while (!rc && left.beg < left.end) {
            rc = sweep_track(c, &left, e);
            if (!rc && left.beg < left.end)
                rc = sweep_both(c, &left, e);
        }
    }
    return rc;
}

/* ---------------------------------------------------------------- contigs */

static int new_row(struct cov_comparison *c, size_t contig, struct cov_comparison_row *row,
                   struct cov_err *e)
{
    *row = (struct cov_comparison_row){.contig = contig,
                                       .peaks = {.max = -INFINITY, .max_measured = -INFINITY}};
    row->agreements = cov_calloc(c->n_binnings, sizeof *row->agreements, e);
    return row->agreements ? COV_OK : COV_ENOMEM;
}

static int agree_contig(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct cov_comparison *c = arg;
    struct cov_comparison_bins *b = &c->binnings[k];
    assert(c->current);
    int rc = end_bin(b, e);
    b->end = 0;
    return rc ? rc : cov_pairs_finish(&b->pairs, &b->total, &c->current->agreements[k], e);
}

static int agree_total(void *arg, size_t k, unsigned worker, struct cov_err *e)
{
    (void)worker;
    struct cov_comparison *c = arg;
    return cov_pairs_finish(&c->binnings[k].total, NULL, &c->total.agreements[k], e);
}

static int count_peaks(struct cov_comparison *c, struct cov_peak_counts *out, struct cov_err *e)
{
    struct cov_peak_counts *all = &c->total.peaks;
    int rc = cov_peaks_end(&c->peaks, e);
    if (!rc)
        rc = cov_peaks_end(&c->measured_peaks, e);
    *out = (struct cov_peak_counts){.n = c->peaks.n,
                                    .n_measured = c->measured_peaks.n,
                                    .max = c->peaks.max,
                                    .max_measured = c->measured_peaks.max,
                                    .bases = cov_peaks_bases(&c->peaks),
                                    .bases_measured = cov_peaks_bases(&c->measured_peaks),
                                    .both = cov_peaks_shared(&c->peaks, &c->measured_peaks)};
    all->n += out->n;
    all->n_measured += out->n_measured;
    all->max = fmaxf(all->max, out->max);
    all->max_measured = fmaxf(all->max_measured, out->max_measured);
    all->bases += out->bases;
    all->bases_measured += out->bases_measured;
    all->both += out->both;
    return rc;
}

/* Ends the current contig, if there is one. */
static int end_contig(struct cov_comparison *c, struct cov_err *e)
{
    if (!c->compares)
        return COV_OK;
    c->compares = false;
    struct cov_comparison_row *row = c->current;
    int rc = sweep_measured(c, INT64_MAX, e);
    if (!rc)
        rc = flush(c, e);
    if (!rc)
        rc = run_tasks(c, c->n_binnings, agree_contig, e);
    if (!rc)
        rc = count_peaks(c, &row->peaks, e);
    row->bases = c->bases;
    c->total.bases += c->bases;
    return rc;
}

static int begin_contig(struct cov_comparison *c, size_t contig, struct cov_err *e)
{
    int rc = COV_RESERVE(&c->rows, &c->cap_rows, c->n_rows + 1, e);
    if (!rc)
        rc = new_row(c, contig, &c->rows[c->n_rows], e);
    if (rc)
        return rc;
    c->current = &c->rows[c->n_rows++];
    c->compares = true;
    c->bases = 0;
    c->n_iv = 0;
    cov_peaks_begin(&c->peaks);
    cov_peaks_begin(&c->measured_peaks);
    cov_interval_cursor_begin(&c->cursor, c->store, c->measured);
    return next_measured(c, e);
}

static int begin(struct cov_track_sink *sink, struct cov_err *e)
{
    struct cov_comparison *c = comparison_of(sink);
    const struct cov_track_sink *measured = cov_interval_store_sink(c->store);
    int rc = end_contig(c, e);
    return rc || !cov_track_find_contig(measured, sink->contig_name, &c->measured)
               ? rc
               : begin_contig(c, sink->contig, e);
}

static int close_comparison(struct cov_track_sink *sink, struct cov_err *e)
{
    struct cov_comparison *c = comparison_of(sink);
    int rc = end_contig(c, e);
    c->current = NULL;
    if (!rc)
        rc = run_tasks(c, c->n_binnings, agree_total, e);
    if (!rc)
        rc = cov_outliers_find(&c->outliers, e);
    for (size_t i = 0; i < c->outliers.n_found && c->denominators[1] > 0; i++)
        c->outliers.found[i].mean /= c->denominators[1];
    return rc;
}

/* ---------------------------------------------------------------- all of it */

static void free_comparison(struct cov_track_sink *sink)
{
    struct cov_comparison *c = comparison_of(sink);
    for (size_t k = 0; c->binnings && k < c->n_binnings; k++) {
        cov_pairs_fini(&c->binnings[k].pairs);
        cov_pairs_fini(&c->binnings[k].total);
    }
    for (size_t i = 0; i < c->n_rows; i++)
        free(c->rows[i].agreements);
    cov_peaks_fini(&c->peaks);
    cov_peaks_fini(&c->measured_peaks);
    cov_outliers_fini(&c->outliers);
    free(c->total.agreements);
    free(c->binnings);
    free(c->rows);
    free(c->stretches);
    free(c);
}

/* Divides the memory: each bin size has two tables, which need three quarters more for sorting. */
static int prepare_binnings(struct cov_comparison *c, struct cov_err *e)
{
    const struct cov_comparison_options *o = c->o;
    size_t bytes = o->max_bytes / o->n_bin_sizes / 7 * 2;
    c->binnings = cov_calloc(o->n_bin_sizes, sizeof *c->binnings, e);
    if (!c->binnings)
        return COV_ENOMEM;
    c->n_binnings = o->n_bin_sizes;
    int rc = COV_OK;
    for (size_t k = 0; !rc && k < c->n_binnings; k++) {
        struct cov_comparison_bins *b = &c->binnings[k];
        b->size = o->bin_sizes[k];
        rc = cov_pairs_init(&b->pairs, bytes, o->dir, e);
        if (!rc)
            rc = cov_pairs_init(&b->total, bytes, o->dir, e);
    }
    return rc;
}

int cov_comparison_new(const char *name, const struct cov_track_contigs *contigs,
                       struct cov_interval_store *measured, const double denominators[2],
                       const struct cov_comparison_options *options, struct cov_comparison **out,
                       struct cov_err *e)
{
    static const struct cov_track_format format = {begin, add, close_comparison, free_comparison};
    *out = NULL;
    struct cov_comparison *c = cov_calloc(1, sizeof *c, e);
    if (!c)
        return COV_ENOMEM;
    int rc = cov_track_init(&c->sink, &format, name, contigs, e);
    c->sink.format = &format;
    c->o = options;
    c->store = measured;
    c->denominators[0] = denominators[0];
    c->denominators[1] = denominators[1];
    c->peaks.rules = c->measured_peaks.rules = options->peaks;
    c->measured_peaks.rules.cutoff = options->measured_cutoff;
    c->stretches = cov_calloc(STRETCHES, sizeof *c->stretches, e);
    if (!rc && !c->stretches)
        rc = COV_ENOMEM;
    if (!rc)
        rc = prepare_binnings(c, e);
    if (!rc)
        rc = new_row(c, SIZE_MAX, &c->total, e);
    if (rc)
        cov_comparison_free(c);
    else
        *out = c;
    return rc;
}

void cov_comparison_free(struct cov_comparison *c)
{
    if (c)
        cov_track_free(&c->sink);
}

/* ---------------------------------------------------------------- peaks */

static double share(int64_t a, int64_t b)
{
    return b > 0 ? (double)a / (double)b : (double)NAN;
}

double cov_peak_precision(const struct cov_peak_counts *c)
{
    return share(c->both, c->bases);
}

double cov_peak_recall(const struct cov_peak_counts *c)
{
    return share(c->both, c->bases_measured);
}

double cov_peak_f1(const struct cov_peak_counts *c)
{
    return share(2 * c->both, c->bases + c->bases_measured);
}
