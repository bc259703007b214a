/* loss.c - see loss.h.
 * SPDX-License-Identifier: MIT */
#include "common/net/loss.h"

#include <float.h>
#include <math.h>

void cov_fit_row(const float *values, const float *targets, size_t n, size_t stride,
                 struct cov_fit *out)
{
    struct cov_fit f = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        float v = values[i * stride], t = targets[i * stride];
        if (t < 0)
            continue;
        f.n++;
        f.mean_v += (double)v;
        f.mean_t += (double)t;
        f.loss += (double)v;
        if (t != 0)
            f.loss -= (double)t * (double)logf(v > FLT_MIN ? v : FLT_MIN);
    }
    f.mean_v /= f.n ? (double)f.n : 1;
    f.mean_t /= f.n ? (double)f.n : 1;
    for (size_t i = 0; i < n; i++) {
        if (targets[i * stride] < 0)
            continue;
        double v = (double)values[i * stride] - f.mean_v,
               t = (double)targets[i * stride] - f.mean_t;
        f.var_v += v * v;
        f.var_t += t * t;
        f.covar += v * t;
    }
    *out = f;
}

/* Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
 * variances", 1979. */
void cov_fit_merge(struct cov_fit *to, const struct cov_fit *from)
{
    uint64_t n = to->n + from->n;
    if (from->n == 0)
        return;
    double share = (double)from->n / (double)n, both = (double)to->n * share;
    double v = from->mean_v - to->mean_v, t = from->mean_t - to->mean_t;
    to->var_v += from->var_v + v * v * both;
    to->var_t += from->var_t + t * t * both;
    to->covar += from->covar + v * t * both;
    to->mean_v += v * share;
    to->mean_t += t * share;
    to->loss += from->loss;
    to->n = n;
}

double cov_fit_loss(const struct cov_fit *f)
{
    return f->loss / (double)f->n;
}

double cov_fit_pearson(const struct cov_fit *f)
{
    return f->covar / (sqrt(f->var_v) * sqrt(f->var_t) + 1e-8);
}

void cov_score_add(struct cov_score *s, const struct cov_fit *row, double weight)
{
    s->n_rows++;
    s->loss += weight * cov_fit_loss(row);
    s->weights += weight;
    s->accuracy += cov_fit_pearson(row);
    cov_fit_merge(&s->all, row);
}

double cov_score_loss(const struct cov_score *s)
{
    return s->n_rows ? s->loss / s->weights : (double)NAN;
}

double cov_score_accuracy(const struct cov_score *s)
{
    return s->n_rows ? s->accuracy / (double)s->n_rows : (double)NAN;
}

double cov_score_pearson_all(const struct cov_score *s)
{
    return s->n_rows ? cov_fit_pearson(&s->all) : (double)NAN;
}
