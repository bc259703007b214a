/* spread.c - see spread.h.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/spread.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/rng.h"

enum { DRAWS = 2000, SEED = 1979 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void cov_spread_sort(double *v, size_t n)
{
    if (n > 1)
        qsort(v, n, sizeof *v, ascending);
}

double cov_spread_median(const double *v, size_t n)
{
    return n % 2 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
}

/* The median of n draws from v, in scratch[n]. */
static double draw(struct cov_rng *rng, const double *v, size_t n, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = v[cov_rng_below(rng, n)];
    cov_spread_sort(scratch, n);
    return cov_spread_median(scratch, n);
}

static double median_of(const double *v, size_t n, double *scratch)
{
    memcpy(scratch, v, n * sizeof *v);
    cov_spread_sort(scratch, n);
    return cov_spread_median(scratch, n);
}

/* The middle 95 % of what the draws gave; never without the value itself. */
static void set_interval(double *draws, struct cov_spread *out)
{
    cov_spread_sort(draws, DRAWS);
    out->low = draws[DRAWS / 40];
    out->high = draws[DRAWS - 1 - DRAWS / 40];
    out->low = out->low < out->at ? out->low : out->at;
    out->high = out->high > out->at ? out->high : out->at;
}

int cov_spread_ratio(const double *a, size_t na, const double *b, size_t nb, struct cov_spread *out,
                     struct cov_err *e)
{
    size_t n = na > nb ? na : nb;
    double *draws = cov_malloc(DRAWS + n, sizeof *draws, e);
    if (!draws)
        return COV_ENOMEM;
    double *scratch = draws + DRAWS;
    struct cov_rng rng;
    cov_rng_init(&rng, SEED);
    out->at = median_of(b, nb, scratch) / median_of(a, na, scratch);
    for (int i = 0; i < DRAWS; i++) {
        double under = draw(&rng, a, na, scratch);
        draws[i] = draw(&rng, b, nb, scratch) / under;
    }
    set_interval(draws, out);
    free(draws);
    return COV_OK;
}

int cov_spread_of(const double *v, size_t n, struct cov_spread *out, struct cov_err *e)
{
    static const double one = 1;
    return cov_spread_ratio(&one, 1, v, n, out, e);
}

struct cov_line cov_spread_line(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    struct cov_line line = {.slope = xy / xx, .r2 = yy > 0 ? xy * xy / (xx * yy) : 1};
    line.offset = my - line.slope * mx;
    return line;
}
