/* smooth.c - see smooth.h.
 *
 * The padded contig is divided into blocks of w values. A window consists of the tail of one block
 * and the head of the next, so its sum is the sum of two partial sums to which values are only
 * added. Unlike in a running sum, errors do not accumulate along the contig, and a window of zeros
 * gives zero.
 * SPDX-License-Identifier: MIT */
#include "common/track/smooth.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/text.h"
#include "common/track/strands.h"

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

void cov_smoothing_tail(const struct cov_smoothing *s, char tail[COV_SMOOTHING_TAIL])
{
    tail[0] = '\0';
    if (s->window > 0)
        (void)snprintf(tail, COV_SMOOTHING_TAIL, "_ws=%" PRId64, s->window);
    else if (s->sd > 0)
        (void)snprintf(tail, COV_SMOOTHING_TAIL, "_smooth=%.9g", s->sd);
}

int cov_smoother_init(struct cov_smoother *s, const struct cov_smoothing *wanted, bool round,
                      struct cov_err *e)
{
    *s = (struct cov_smoother){.is_gauss = wanted->sd > 0};
    int rc = COV_OK;
    if (s->is_gauss)
        rc = cov_gauss_init(&s->gauss, wanted->sd, round, e);
    else if (wanted->window > 0)
        rc = mean_init(&s->mean, (size_t)wanted->window, round, e);
    s->smooths = !rc && (wanted->sd > 0 || wanted->window > 0);
    return rc;
}

void cov_smoother_fini(struct cov_smoother *s)
{
    mean_fini(&s->mean);
    cov_gauss_fini(&s->gauss);
}

void cov_smoother_begin(struct cov_smoother *s)
{
    if (s->is_gauss)
        cov_gauss_begin(&s->gauss);
    else
        mean_begin(&s->mean);
}

size_t cov_smoother_add(struct cov_smoother *s, const float *values, size_t n, float *out)
{
    return s->is_gauss ? cov_gauss_add(&s->gauss, values, n, out)
                       : mean_add(&s->mean, values, n, out);
}

size_t cov_smoother_end(struct cov_smoother *s, float *out, size_t n)
{
    return s->is_gauss ? cov_gauss_end(&s->gauss, out, n) : mean_end(&s->mean, out, n);
}
