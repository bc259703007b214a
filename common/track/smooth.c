/* smooth.c - see smooth.h.
 *
 * The mean: the padded contig is divided into blocks of w values. A window consists of the tail of
 * one block and the head of the next, so its sum is the sum of two partial sums to which values are
 * only added. Unlike in a running sum, errors do not accumulate along the contig, and a window of
 * zeros gives zero.
 *
 * The Gaussian: a run of equal values contributes its value times the sum of the kernel over it,
 * which is a difference of two prefix sums. Outputs are computed in blocks of 32 that start at the
 * beginning of the contig, from runs that are not split. So each output is the same sum, term by
 * term, however the input is split.
 * SPDX-License-Identifier: MIT */
#include "common/track/smooth.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"

/* ---- moving mean ---- */

enum { MAX_TIE_WINDOW = 1024 };

static void mean_fini(struct cov_moving_mean *s)
{
    free(s->tails);
    free(s->x);
    free(s->before);
    s->tails = NULL;
    s->x = s->before = NULL;
}

static int mean_init(struct cov_moving_mean *s, size_t window, bool round, struct cov_err *e)
{
    assert(window >= 1 && window <= COV_SMOOTH_MAX_WINDOW);
    *s = (struct cov_moving_mean){.w = window, .r = (window - 1) / 2, .round = round};
    s->tails = cov_calloc(window, sizeof *s->tails, e);
    s->x = cov_calloc(window, sizeof *s->x, e);
    s->before = cov_calloc(window, sizeof *s->before, e);
    if (s->tails && s->x && s->before)
        return COV_OK;
    mean_fini(s);
    return COV_ENOMEM;
}

static void mean_begin(struct cov_moving_mean *s)
{
    s->n_in = s->n_taken = s->n_out = 0;
    s->at = s->w - 1 - s->r; /* the zeros before the contig */
    s->head = 0;
    memset(s->x, 0, s->at * sizeof *s->x);
}

/* Collects the values of the current window that are inside the contig, in order. */
static size_t gather(const struct cov_moving_mean *s, double *out)
{
    /* The window ends with x[at]; value n_out of the contig is at index l of the window. */
    size_t l = s->w - 1 - s->r, n_left = s->n_out < l ? s->n_out : l;
    size_t n_right = s->n_in - s->n_out;
    size_t n = n_left + (n_right < s->r + 1 ? n_right : s->r + 1);
    size_t first = s->at + 1 + (l - n_left); /* index into `before` followed by `x` */
    for (size_t i = 0; i < n; i++) {
        size_t k = first + i;
        out[i] = (double)(k < s->w ? s->before[k] : s->x[k - s->w]);
    }
    return n;
}

/* Returns the sum of x[i] / w, added in numpy's order. numpy uses OpenBLAS's dot product, which on
 * AVX2 keeps 16 sums with fused multiply-add and adds the rest one by one. The exact result would
 * differ from Predmoter's. */
static double numpy_mean(const double *x, size_t n, size_t w)
{
    double a[16] = {0}, k = 1.0 / (double)w;
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (size_t j = 0; j < 16; j++)
            a[j] = fma(x[i + j], k, a[j]);
    double b[2];
    for (size_t j = 0; j < 2; j++)
        b[j] = ((a[j] + a[2 + j]) + (a[4 + j] + a[6 + j])) +
               ((a[8 + j] + a[10 + j]) + (a[12 + j] + a[14 + j]));
    double sum = b[0] + b[1];
    for (; i < n; i++)
        sum += x[i] * k;
    return sum;
}

/* Returns the mean of the window that ends with x[at]. */
static float mean(const struct cov_moving_mean *s)
{
    double sum = s->at + 1 < s->w ? s->tails[s->at + 1] + s->head : s->head;
    double m = sum / (double)s->w;
    if (!s->round)
        return (float)m;
    double nearest = cov_round_half_even(m);
    /* For integers, the quotient is halfway between two integers only if the exact mean is. */
    if (fabs(m - nearest) == 0.5 && s->w <= MAX_TIE_WINDOW) {
        double x[MAX_TIE_WINDOW];
        nearest = cov_round_half_even(numpy_mean(x, gather(s, x), s->w));
    }
    return (float)nearest;
}

/* Adds the next value of the padded contig. Returns true if it completes a window, and sets *out to
 * the mean. */
static bool step(struct cov_moving_mean *s, float value, float *out)
{
    s->x[s->at] = value;
    s->head += (double)value;
    bool whole = ++s->n_taken > s->r;
    if (whole) {
        *out = mean(s);
        s->n_out++;
    }
    if (++s->at < s->w)
        return whole;
    double tail = 0;
    for (size_t i = s->w; i-- > 0;) {
        tail += (double)s->x[i];
        s->tails[i] = tail;
    }
    float *x = s->before;
    s->before = s->x;
    s->x = x;
    s->at = 0;
    s->head = 0;
    return whole;
}

static size_t mean_add(struct cov_moving_mean *s, const float *values, size_t n, float *out)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        s->n_in++;
        k += step(s, values[i], &out[k]);
    }
    return k;
}

static size_t mean_end(struct cov_moving_mean *s, float *out, size_t n)
{
    size_t k = 0;
    while (k < n && s->n_out < s->n_in)
        k += step(s, 0, &out[k]);
    return k;
}

/* ---- Gaussian ---- */

enum {
    BLOCK = COV_GAUSS_BLOCK,
    SLICE = 512 /* values taken at once */
};

static void gauss_fini(struct cov_gauss *g)
{
    free(g->weights);
    free(g->sums);
    free(g->runs);
    g->weights = g->sums = NULL;
    g->runs = NULL;
}

static int gauss_init(struct cov_gauss *g, double sd, bool round, struct cov_err *e)
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
        gauss_fini(g);
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

static void gauss_begin(struct cov_gauss *g)
{
    g->n_in = g->n_out = 0;
    g->at_end = false;
    g->n_runs = g->first = 0;
    g->n_ready = g->at_ready = 0;
}

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

static size_t gauss_add(struct cov_gauss *g, const float *values, size_t n, float *out)
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

static size_t gauss_end(struct cov_gauss *g, float *out, size_t n)
{
    g->at_end = true;
    return give(g, out, n);
}

/* ---- either ---- */

int cov_smoothing_parse(const char *text, const char *what, struct cov_smoothing *s,
                        struct cov_err *e)
{
    static const char prefix[] = "gauss:";
    size_t n = sizeof prefix - 1;
    if (strncmp(text, prefix, n) != 0)
        return cov_fail(e, COV_EUSAGE, "%s: '%s' is not gauss:SD", what, text);
    int rc = cov_parse_double(text + n, what, 0, COV_GAUSS_MAX_SD, &s->sd, e);
    if (!rc && s->sd <= 0)
        rc = cov_fail(e, COV_EUSAGE, "%s: the standard deviation must be above 0", what);
    return rc;
}

int cov_smoother_init(struct cov_smoother *s, const struct cov_smoothing *wanted, bool round,
                      struct cov_err *e)
{
    *s = (struct cov_smoother){.is_gauss = wanted->sd > 0};
    int rc = COV_OK;
    if (s->is_gauss)
        rc = gauss_init(&s->gauss, wanted->sd, round, e);
    else if (wanted->window > 0)
        rc = mean_init(&s->mean, (size_t)wanted->window, round, e);
    s->smooths = !rc && (wanted->sd > 0 || wanted->window > 0);
    return rc;
}

void cov_smoother_fini(struct cov_smoother *s)
{
    mean_fini(&s->mean);
    gauss_fini(&s->gauss);
}

void cov_smoother_begin(struct cov_smoother *s)
{
    if (s->is_gauss)
        gauss_begin(&s->gauss);
    else
        mean_begin(&s->mean);
}

size_t cov_smoother_add(struct cov_smoother *s, const float *values, size_t n, float *out)
{
    return s->is_gauss ? gauss_add(&s->gauss, values, n, out) : mean_add(&s->mean, values, n, out);
}

size_t cov_smoother_end(struct cov_smoother *s, float *out, size_t n)
{
    return s->is_gauss ? gauss_end(&s->gauss, out, n) : mean_end(&s->mean, out, n);
}
