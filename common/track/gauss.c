/* gauss.c - see gauss.h.
 *
 * A run of equal values contributes its value times the sum of the kernel over it, which is a
 * difference of two prefix sums. Outputs are computed in blocks of 32 that start at the beginning
 * of the contig, from runs that are not split. So each output is the same sum, term by term,
 * however the input is split.
 * SPDX-License-Identifier: MIT */
#include "common/track/gauss.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/track/strands.h"

enum {
    BLOCK = COV_GAUSS_BLOCK,
    SLICE = 512 /* values taken at once */
};

int cov_gauss_init(struct cov_gauss *g, double sd, bool round, struct cov_err *e)
{
    assert(sd > 0 && sd <= COV_GAUSS_MAX_SD);
    *g = (struct cov_gauss){.r = (size_t)(4 * sd + 0.5), .round = round};
    size_t n = 2 * (g->r + BLOCK);
    /* A window has at most as many runs as bases. There is room for two windows, so that runs
     * rarely need to be moved. */
    g->cap_runs = 2 * (n + SLICE);
    g->weights = cov_calloc(n, sizeof *g->weights, e);
    g->sums = cov_calloc(n, sizeof *g->sums, e);
    g->runs = cov_calloc(g->cap_runs, sizeof *g->runs, e);
    if (!g->weights || !g->sums || !g->runs) {
        cov_gauss_fini(g);
        return COV_ENOMEM;
    }
    int64_t r = (int64_t)g->r;
    double *w = g->weights + g->r + BLOCK, total = 0; /* w[-j] is place j */
    for (int64_t j = -r; j <= r; j++) {
        double q = (double)j / sd; /* sd*sd may be 0 */
        total += w[-j] = exp(-0.5 * q * q);
    }
    double *sums = g->sums + g->r + BLOCK, sum = 0;
    for (int64_t j = -r; j <= r; j++) {
        w[-j] /= total;
        sums[-j] = sum < 1 ? sum : 1;
        sum += w[-j];
    }
    for (size_t i = 0; i < BLOCK; i++)
        g->sums[i] = 1;
    return COV_OK;
}

void cov_gauss_fini(struct cov_gauss *g)
{
    free(g->weights);
    free(g->sums);
    free(g->runs);
    g->weights = g->sums = NULL;
    g->runs = NULL;
}

void cov_gauss_begin(struct cov_gauss *g)
{
    g->n_in = g->n_out = 0;
    g->at_end = false;
    g->n_runs = g->first = 0;
    g->n_ready = g->at_ready = 0;
}

/* ---- sums ---- */

/* out[k] = sum over runs[0..n), clipped to beg .. end, of
 *   value * (sums[zero - end_of_run + k] - sums[zero - beg_of_run + k]),   k < BLOCK
 * For a run of one base that difference is weights[zero - beg_of_run + k]. */
static void add_runs(const struct cov_gauss *g, const struct cov_gauss_run *runs, size_t n,
                     int64_t beg, int64_t end, double out[BLOCK])
{
    const int64_t zero = (int64_t)g->r + BLOCK + g->n_out;
    double sum[BLOCK] = {0}; /* the compiler vectorizes the loops over it */
    for (size_t i = 0; i < n; i++) {
        const double value = (double)runs[i].value;
        const int64_t from = runs[i].beg > beg ? runs[i].beg : beg;
        const int64_t to = runs[i].end < end ? runs[i].end : end;
        const double *one = g->weights + (zero - from);
        const double *a = g->sums + (zero - from), *b = g->sums + (zero - to);
        if (to - from == 1)
            for (size_t k = 0; k < BLOCK; k++)
                sum[k] += value * one[k];
        else
            for (size_t k = 0; k < BLOCK; k++)
                sum[k] += value * (b[k] - a[k]);
    }
    memcpy(out, sum, sizeof sum);
}

/* Computes the next BLOCK outputs into ready[]; n of them are in the contig. */
static void make_block(struct cov_gauss *g, size_t n)
{
    int64_t r = (int64_t)g->r, at = g->n_out;
    int64_t beg = at - r, end = at + BLOCK + r; /* span of the windows of the whole block */
    /* Values outside the contig are 0. */
    end = end < g->n_in ? end : g->n_in;
    while (g->runs[g->first].end <= beg)
        g->first++;
    const struct cov_gauss_run *runs = g->runs + g->first;
    double sum[BLOCK];
    if (runs->beg <= beg && runs->end >= at + BLOCK + r) {
        for (size_t k = 0; k < BLOCK; k++)
            sum[k] = (double)runs->value;
    } else {
        size_t n_runs = 1;
        while (g->first + n_runs < g->n_runs && runs[n_runs].beg < end)
            n_runs++;
        add_runs(g, runs, n_runs, beg, end, sum);
    }
    for (size_t k = 0; k < n; k++)
        g->ready[k] = (float)(g->round ? cov_round_half_even(sum[k]) : sum[k]);
    g->n_out += (int64_t)n;
    g->n_ready = n;
    g->at_ready = 0;
}

/* ---- values in and out ---- */

static void take(struct cov_gauss *g, const float *x, size_t n)
{
    if (g->n_runs + n > g->cap_runs) {
        g->n_runs -= g->first;
        memmove(g->runs, g->runs + g->first, g->n_runs * sizeof *g->runs);
        g->first = 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct cov_gauss_run *last = g->runs + g->n_runs - (g->n_runs > 0);
        int64_t at = g->n_in++;
        if (g->n_runs == 0 || last->value != x[i])
            g->runs[g->n_runs++] = (struct cov_gauss_run){at, at + 1, x[i]};
        else
            last->end = at + 1;
    }
}

/* Writes at most n finished values. */
static size_t give(struct cov_gauss *g, float *out, size_t n)
{
    size_t k = 0;
    while (k < n) {
        if (g->at_ready < g->n_ready) {
            out[k++] = g->ready[g->at_ready++];
            continue;
        }
        int64_t left = g->n_in - g->n_out;
        if (left >= BLOCK + (int64_t)g->r)
            make_block(g, BLOCK);
        else if (g->at_end && left > 0)
            make_block(g, left < BLOCK ? (size_t)left : BLOCK);
        else
            break;
    }
    return k;
}

size_t cov_gauss_add(struct cov_gauss *g, const float *values, size_t n, float *out)
{
    size_t k = 0;
    for (size_t i = 0; i < n;) {
        size_t m = n - i < SLICE ? n - i : SLICE;
        take(g, values + i, m);
        i += m;
        k += give(g, out + k, i - k);
    }
    return k;
}

size_t cov_gauss_end(struct cov_gauss *g, float *out, size_t n)
{
    g->at_end = true;
    return give(g, out, n);
}
