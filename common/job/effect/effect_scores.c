/* effect_scores.c - see effect_scores.h.
 * SPDX-License-Identifier: MIT */
#include "common/job/effect/effect_scores.h"

#include <math.h>

#include "common/base/err.h"

/* Bases of the windows: the i-th of n aligned ones is base `at1` + i of allele 1 and `at2` + i of
 * allele 2. */
struct aligned_bases {
    size_t at1, at2, n;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Sets the aligned bases of the positions [beg, end): those up to the end of the shorter allele, and
 * those after both alleles. */
static void align(const struct cov_effect_pair *p, size_t beg, size_t end,
                  struct aligned_bases out[2])
{
    const size_t shared = p->at + least(p->n_allele1, p->n_allele2);
    const size_t stop = least(shared, end);
    const size_t tail1 = p->at + p->n_allele1, tail2 = p->at + p->n_allele2;
    out[0] = (struct aligned_bases){beg, beg, stop > beg ? stop - beg : 0};
    out[1] = (struct aligned_bases){tail1, tail2, 0};
    if (tail1 < end && tail2 < end)
        out[1].n = least(end - tail1, end - tail2);
}

static double value(const struct cov_effect_pair *p, size_t allele, size_t i, size_t dataset)
{
    return (double)p->values[allele][i * p->n_datasets + dataset];
}

static double sum(const struct cov_effect_pair *p, size_t allele, size_t beg, size_t end,
                  size_t dataset)
{
    double x = 0;
    for (size_t i = beg; i < end; i++)
        x += value(p, allele, i, dataset);
    return x;
}

/* a log2(a / mean of a and b); 0 log 0 = 0 */
static double divergence(double a, double b)
{
    return a > 0 ? a * log2(2 * a / (a + b)) : 0;
}

static double distance(const struct cov_effect_pair *p, const struct aligned_bases s[2],
                       size_t dataset)
{
    double totals[2] = {0, 0}, x = 0;
    for (size_t k = 0; k < 2; k++) {
        totals[0] += sum(p, 0, s[k].at1, s[k].at1 + s[k].n, dataset);
        totals[1] += sum(p, 1, s[k].at2, s[k].at2 + s[k].n, dataset);
    }
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < s[k].n; i++) {
            const double a = value(p, 0, s[k].at1 + i, dataset) / totals[0];
            const double b = value(p, 1, s[k].at2 + i, dataset) / totals[1];
            x += divergence(a, b) + divergence(b, a);
        }
    /* Rounding may make the sum slightly negative, or larger than 2. */
    return isfinite(x) ? sqrt(fmin(1, fmax(0, x / 2))) : (double)NAN;
}

double cov_effect_logfc(double a, double b)
{
    const double ratio = b / a;
    return isfinite(ratio) && ratio > 0 ? log2(ratio) : (double)NAN;
}

void cov_effect_score(const struct cov_effect_pair *p, size_t dataset, size_t width,
                      struct cov_effect_score *out)
{
    size_t before = width / 2, after = width - before;
    struct aligned_bases stretches[2];
    const struct cov_effect_pair *const pairs[] = {p, p->other};
    for (size_t i = 0; i < COV_COUNT(pairs) && pairs[i]; i++) {
        const size_t at = pairs[i]->at, stop = least(pairs[i]->n_bases[0], pairs[i]->n_bases[1]);
        before = least(before, at);
        after = least(after, stop > at ? stop - at : 0);
    }
    const size_t beg = p->at - before, end = p->at + after;
    align(p, beg, end, stretches);
    *out = (struct cov_effect_score){.max_at = p->at};
    for (size_t k = 0; k < 2; k++)
        out->counts[k] = sum(p, k, beg, end, dataset);
    out->logfc = cov_effect_logfc(out->counts[0], out->counts[1]);
    out->jsd = isnan(out->logfc) ? (double)NAN : distance(p, stretches, dataset);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < stretches[k].n; i++) {
            const size_t at = stretches[k].at1 + i;
            const double diff =
                fabs(value(p, 1, stretches[k].at2 + i, dataset) - value(p, 0, at, dataset));
            if (diff > out->max_diff) {
                out->max_diff = diff;
                out->max_at = at;
            }
        }
}

static double spread_score(const struct cov_effect_score *s, size_t which)
{
    const double x[COV_EFFECT_SPREADS] = {s->counts[0],   s->counts[1], s->logfc,
                                          fabs(s->logfc), s->jsd,       s->max_diff};
    return x[which];
}

void cov_effect_score_spread(struct cov_effect_score *s, const struct cov_effect_score *models,
                             size_t n)
{
    for (size_t k = 0; k < COV_EFFECT_SPREADS; k++) {
        double mean = 0, squares = 0;
        for (size_t i = 0; i < n; i++)
            mean += spread_score(&models[i], k) / (double)n;
        for (size_t i = 0; i < n; i++) {
            const double d = spread_score(&models[i], k) - mean;
            squares += d * d;
        }
        s->sd[k] = sqrt(squares / (double)(n - 1));
    }
}

void cov_effect_score_count(struct cov_effect_score *s, const struct cov_effect_score *shuffled)
{
    s->n_lower += !(shuffled->logfc > s->logfc);
    s->n_higher[COV_RANK_LOGFC] += !(shuffled->logfc < s->logfc);
    s->n_higher[COV_RANK_ABS_LOGFC] += !(fabs(shuffled->logfc) < fabs(s->logfc));
    s->n_higher[COV_RANK_JSD] += !(shuffled->jsd < s->jsd);
}

double cov_effect_p_value(const struct cov_effect_score *s, enum cov_effect_rank rank, size_t n)
{
    if (isnan(rank == COV_RANK_JSD ? s->jsd : s->logfc))
        return (double)NAN;
    const double high = (double)(1 + s->n_higher[rank]) / (double)(1 + n);
    const double low = (double)(1 + s->n_lower) / (double)(1 + n);
    return rank == COV_RANK_LOGFC ? fmin(1, 2 * fmin(low, high)) : high;
}
