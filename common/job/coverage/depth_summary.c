/* depth_summary.c - see count_file.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/coverage/count_file.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/track/measures/outliers.h"

int cov_depth_summary_init(struct cov_depth_summary *s, const struct cov_grid *grid,
                           unsigned n_workers, struct cov_err *e)
{
    size_t n;
    *s = (struct cov_depth_summary){.grid = grid, .n_workers = n_workers};
    s->n_bins = (cov_grid_chunk_length(grid) + COV_DEPTH_BIN - 1) / COV_DEPTH_BIN;
    if (cov_size_mul(cov_grid_n_pairs(grid), s->n_bins, &n))
        return cov_fail(e, COV_ENOMEM, "too many bins of coverage");
    s->bins = cov_calloc(n, sizeof *s->bins, e);
    s->counts = cov_calloc(n_workers, sizeof *s->counts, e);
    s->room = cov_calloc(n_workers, sizeof *s->room, e);
    return s->bins && s->counts && s->room ? COV_OK : COV_ENOMEM;
}

void cov_depth_summary_fini(struct cov_depth_summary *s)
{
    for (unsigned i = 0; s->room && i < s->n_workers; i++)
        free(s->room[i]);
    free(s->room);
    free(s->counts);
    free(s->bins);
    *s = (struct cov_depth_summary){.n_bins = 0};
}

/* ---- adding ---- */

static size_t n_bins_of(const struct cov_pair *p)
{
    return ((size_t)(p->end - p->beg) + COV_DEPTH_BIN - 1) / COV_DEPTH_BIN;
}

/* Returns the beginning of bin i of a pair, which is relative to the pair. */
static size_t bin_begin(const struct cov_pair *p, size_t i)
{
    return (size_t)(p->end - p->beg) * i / n_bins_of(p);
}

/* Adds depth[beg..end) `times`, run by run, and returns its sum. */
static uint64_t count_runs(struct cov_depth_counts *c, const int32_t *depth, size_t n, size_t times)
{
    uint64_t sum = 0;
    for (size_t i = 0, end; i < n; i = end) {
        const int32_t x = depth[i];
        for (end = i + 1; end < n && depth[end] == x;)
            end++;
        c->n_by_value[x < COV_DEPTH_VALUES ? x : COV_DEPTH_VALUES - 1] += (end - i) * times;
        sum += (uint64_t)x * (end - i);
    }
    c->sum += sum * times;
    return sum;
}

/* Adds the depth of a pair to `times` rows. */
static void add_rows(struct cov_depth_summary *s, unsigned worker, size_t pair,
                     const int32_t *depth, size_t times)
{
    const struct cov_pair p = cov_grid_pair(s->grid, pair);
    float *bins = s->bins + pair * s->n_bins;
    for (size_t i = 0; i < n_bins_of(&p); i++) {
        const size_t beg = bin_begin(&p, i), n = bin_begin(&p, i + 1) - beg;
        const uint64_t sum = count_runs(&s->counts[worker], depth + beg, n, times);
        bins[i] += (float)((double)(sum * times) / (double)(n * cov_pair_n_rows(&p)));
    }
}

void cov_depth_summary_add(struct cov_depth_summary *s, unsigned worker, size_t pair,
                           const struct cov_depth_lane lanes[2])
{
    const struct cov_pair p = cov_grid_pair(s->grid, pair);
    const bool same = lanes[COV_PLUS].depth == lanes[COV_MINUS].depth;
    for (int k = COV_PLUS; k <= (same ? COV_PLUS : COV_MINUS); k++)
        if (lanes[k].max > 0 && (same || p.rows[k] != COV_NO_ROW))
            add_rows(s, worker, pair, lanes[k].depth, same ? cov_pair_n_rows(&p) : 1);
}

int cov_depth_summary_add_row(struct cov_depth_summary *s, unsigned worker, size_t pair, int strand,
                              const int64_t *values, struct cov_err *e)
{
    const struct cov_pair p = cov_grid_pair(s->grid, pair);
    const size_t n = (size_t)(p.end - p.beg);
    if (!s->room[worker])
        s->room[worker] = cov_malloc(cov_grid_chunk_length(s->grid), sizeof **s->room, e);
    int32_t *depth = s->room[worker];
    if (!depth)
        return COV_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const int64_t x = values[strand == COV_MINUS ? n - 1 - i : i];
        depth[i] = x < 0 ? 0 : x > INT32_MAX ? INT32_MAX : (int32_t)x;
    }
    add_rows(s, worker, pair, depth, 1);
    return COV_OK;
}

/* ---- results ---- */

/* Sets the mean and the median, which is one of the values. */
static void describe(struct cov_depth_summary *s, struct cov_depth_column *column)
{
    struct cov_depth_counts *all = &s->counts[0];
    uint64_t total = 0, n = 0, below = 0;
    for (size_t p = 0; p < cov_grid_n_pairs(s->grid); p++) {
        const struct cov_pair pair = cov_grid_pair(s->grid, p);
        total += (uint64_t)(pair.end - pair.beg) * cov_pair_n_rows(&pair);
    }
    for (unsigned i = 1; i < s->n_workers; i++) {
        all->sum += s->counts[i].sum;
        for (size_t x = 0; x < COV_DEPTH_VALUES; x++)
            all->n_by_value[x] += s->counts[i].n_by_value[x];
    }
    for (size_t x = 0; x < COV_DEPTH_VALUES; x++)
        n += all->n_by_value[x];
    all->n_by_value[0] += total - n;
    size_t x = 0;
    while (x + 1 < COV_DEPTH_VALUES && below + all->n_by_value[x] < (total + 1) / 2)
        below += all->n_by_value[x++];
    column->mean = (double)all->sum / (double)total;
    column->median = (double)x;
}

static int compare(struct cov_depth_summary *const *columns, size_t n, size_t k, double *r,
                   struct cov_err *e)
{
    const struct cov_grid *grid = columns[k]->grid;
    struct cov_outliers o = {.n_windows = 0};
    size_t n_bins = 0;
    int rc = COV_OK;
    for (size_t pair = 0; !rc && pair < cov_grid_n_pairs(grid); pair++) {
        const struct cov_pair p = cov_grid_pair(grid, pair);
        for (size_t i = 0; !rc && i < n_bins_of(&p); i++, n_bins++) {
            const size_t at = pair * columns[k]->n_bins + i;
            double others = 0;
            for (size_t b = 0; b < n; b++)
                others += b != k ? (double)columns[b]->bins[at] : 0;
            rc = cov_outliers_add(&o, p.seq, p.beg + (int64_t)bin_begin(&p, i),
                                  p.beg + (int64_t)bin_begin(&p, i + 1),
                                  (double)columns[k]->bins[at], others / (double)(n - 1), e);
        }
    }
    if (!rc && n_bins >= COV_DEPTH_MIN_BINS) {
        rc = cov_outliers_find(&o, e);
        *r = o.pearson_without;
    }
    cov_outliers_fini(&o);
    return rc;
}

int cov_depth_summaries_end(struct cov_depth_summary *const *summaries, size_t n,
                            struct cov_depth_column *columns, struct cov_err *e)
{
    int rc = COV_OK;
    for (size_t k = 0; k < n; k++) {
        describe(summaries[k], &columns[k]);
        columns[k].r = (double)NAN;
    }
    for (size_t k = 0; !rc && n > 1 && k < n; k++)
        rc = compare(summaries, n, k, &columns[k].r, e);
    return rc;
}
