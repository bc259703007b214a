/* train_score.c - the last layer and the loss of fast training, one sequence at a time.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "common/base/pool.h"
#include "common/compute/cpu/train/training.h"
#include "common/seq/alphabet.h"

/* p[L,D] = W x + b. */
static void run_linear(const struct cov_layer *l, const struct cov_layer_weights *w, const float *x,
                       float *p)
{
    for (size_t i = 0; i < l->t_out; i++)
        for (size_t d = 0; d < l->c_out; d++) {
            float sum = w->bias[d];
            for (size_t c = 0; c < l->c_in; c++)
                sum += w->weight[d * l->c_in + c] * x[i * l->c_in + c];
            p[i * l->c_out + d] = sum;
        }
}

/* Adds up t p over all positions that count; returns their number. */
static size_t add_products(size_t L, size_t stride, const uint8_t *codes, const float *p,
                           const float *targets, double *sum)
{
    size_t n = 0;
    *sum = 0;
    for (size_t i = 0; i < L; i++) {
        if (!cov_train_counts(codes[i], targets[i * stride]))
            continue;
        *sum += (double)targets[i * stride] * (double)p[i * stride];
        n++;
    }
    return n;
}

/* Sets *sum_x to the sum of x, and returns Pearson's r of x and the targets. */
static double correlate(size_t L, size_t stride, size_t n, const uint8_t *codes, const float *x,
                        const float *targets, double *sum_x)
{
    double sum_t = 0, xx = 0, tt = 0, xt = 0;
    *sum_x = 0;
    for (size_t i = 0; i < L; i++) {
        if (!cov_train_counts(codes[i], targets[i * stride]))
            continue;
        *sum_x += (double)x[i * stride];
        sum_t += (double)targets[i * stride];
    }
    double mean_x = *sum_x / (double)n, mean_t = sum_t / (double)n;
    for (size_t i = 0; i < L; i++) {
        if (!cov_train_counts(codes[i], targets[i * stride]))
            continue;
        double by_x = (double)x[i * stride] - mean_x, by_t = (double)targets[i * stride] - mean_t;
        xx += by_x * by_x;
        tt += by_t * by_t;
        xt += by_x * by_t;
    }
    return xt / (sqrt(xx) * sqrt(tt) + COV_PEARSON_EPS);
}

static int score_one(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_cpu_training *t = arg;
    const struct cov_train_layer *s = &t->layers[t->n_layers - 1];
    size_t L = s->layer.t_out, n = s->layer.c_out;
    struct cov_view x = cov_train_input(t, t->n_layers - 1);
    const uint8_t *codes = t->batch->codes + b * L;
    const float *targets = t->batch->targets + b * L * n;
    float *p = s->y + b * L * n;
    double *scores = t->scores + b * n * 3;
    memset(scores, 0, n * 3 * sizeof *scores);
    run_linear(&s->layer, &s->weights, x.data + b * x.seq, p);
    for (size_t d = 0; d < n; d++)
        if (t->batch->present[b * n + d])
            scores[3 * d + 2] =
                (double)add_products(L, n, codes, p + d, targets + d, &scores[3 * d]);
    t->kernels.vec->exp(L * n, p);
    for (size_t d = 0; d < n; d++) {
        double *to = scores + 3 * d, sum_x;
        if (to[2] == 0)
            continue;
        to[1] = correlate(L, n, (size_t)to[2], codes, p + d, targets + d, &sum_x);
        to[0] = (sum_x - to[0]) / to[2];
    }
    return COV_OK;
}

int cov_train_batch_score(const struct cov_training_spec *spec, const double *scores,
                          size_t n_chunks, size_t D, struct cov_train_score *score,
                          double *weight_sum, struct cov_err *e)
{
    const struct cov_train_reduce *reduce = &spec->reduce;
    double sums[4] = {0}; /* weighted losses, accuracies, rows, weights */
    *score = (struct cov_train_score){0};
    for (size_t i = 0; i < n_chunks * D; i++) {
        const double *from = scores + i * 3;
        double weight = (double)spec->loss_weights[i % D];
        if (from[2] == 0)
            continue;
        sums[0] += weight * from[0];
        sums[1] += from[1];
        sums[2] += 1;
        sums[3] += weight;
    }
    int rc = reduce->fn ? reduce->fn(reduce->arg, sums, 4, e) : COV_OK;
    *weight_sum = sums[3];
    if (rc || sums[2] == 0)
        return rc;
    score->loss = sums[3] > 0 ? sums[0] / sums[3] : 0;
    score->accuracy = sums[1] / sums[2];
    score->n_rows = (uint64_t)sums[2];
    return isfinite(score->loss) ? COV_OK
                                 : cov_fail(e, COV_EINPUT, "the loss of the batch is not finite");
}

int cov_train_score_batch(struct cov_cpu_training *t, struct cov_train_score *score,
                          struct cov_err *e)
{
    size_t n = t->layers[t->n_layers - 1].layer.c_out;
    *score = (struct cov_train_score){0};
    int rc = cov_pool_for(t->spec.pool, t->batch->n, score_one, t, e);
    return rc ? rc
              : cov_train_batch_score(&t->spec, t->scores, t->batch->n, n, score, &t->weight_sum,
                                      e);
}

/* Adds the gradients from dataset d of sequence b: that of x to dx[L,c_in], those of weights and
 * bias to sums[c_in + 1]. */
static void data_set_backward(const struct cov_cpu_training *t, size_t b, size_t d, float scale,
                              float *dx, double *sums)
{
    const struct cov_train_layer *s = &t->layers[t->n_layers - 1];
    size_t L = s->layer.t_out, n = s->layer.c_out, c = s->layer.c_in;
    struct cov_view view = cov_train_input(t, t->n_layers - 1);
    const uint8_t *codes = t->batch->codes + b * L;
    const float *targets = t->batch->targets + b * L * n + d, *p = s->y + b * L * n + d;
    const float *x = view.data + b * view.seq, *w = s->weights.weight + d * c;
    for (size_t i = 0; i < L; i++) {
        if (!cov_train_counts(codes[i], targets[i * n]))
            continue;
        float by = scale * (p[i * n] - targets[i * n]);
        for (size_t k = 0; k < c; k++) {
            dx[i * c + k] += by * w[k];
            sums[k] += (double)(by * x[i * c + k]);
        }
        sums[c] += (double)by;
    }
}

static int backward_one(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    struct cov_cpu_training *t = arg;
    const struct cov_train_layer *s = &t->layers[t->n_layers - 1];
    size_t L = s->layer.t_out, n = s->layer.c_out, c = s->layer.c_in;
    float *dx = t->d + b * L * c;
    double *sums = t->linear_sums + b * n * (c + 1);
    memset(dx, 0, L * c * sizeof *dx);
    memset(sums, 0, n * (c + 1) * sizeof *sums);
    for (size_t d = 0; d < n; d++) {
        double columns = t->scores[(b * n + d) * 3 + 2], weight = (double)t->loss_weights[d];
        if (columns > 0 && weight > 0)
            data_set_backward(t, b, d, (float)(weight / (columns * t->weight_sum)), dx,
                              sums + d * (c + 1));
    }
    return COV_OK;
}

struct sums {
    struct cov_cpu_training *t;
    const struct cov_explain_batch *batch;
    double *sums;
};

static int sum_backward_one(void *arg, size_t b, unsigned worker, struct cov_err *e)
{
    (void)worker;
    (void)e;
    const struct sums *s = arg;
    struct cov_cpu_training *t = s->t;
    const struct cov_train_layer *last = &t->layers[t->n_layers - 1];
    const size_t L = last->layer.t_out, n = last->layer.c_out, c = last->layer.c_in;
    const size_t d = s->batch->dataset;
    const struct cov_view x = cov_train_input(t, t->n_layers - 1);
    float *p = last->y + b * L * n, *dx = t->d + b * L * c;
    run_linear(&last->layer, &last->weights, x.data + b * x.seq, p);
    t->kernels.vec->exp(L * n, p);
    memset(dx, 0, L * c * sizeof *dx);
    s->sums[b] = 0;
    for (size_t i = s->batch->beg[b]; i < s->batch->end[b]; i++) {
        s->sums[b] += (double)p[i * n + d];
        for (size_t k = 0; k < c; k++)
            dx[i * c + k] = p[i * n + d] * last->weights.weight[d * c + k];
    }
    return COV_OK;
}

int cov_train_sums_backward(struct cov_cpu_training *t, const struct cov_explain_batch *batch,
                            double *sums, struct cov_err *e)
{
    struct sums s = {.t = t, .batch = batch};
    s.sums = sums;
    return cov_pool_for(t->spec.pool, batch->n, sum_backward_one, &s, e);
}

int cov_train_loss_backward(struct cov_cpu_training *t, struct cov_err *e)
{
    const struct cov_train_layer *s = &t->layers[t->n_layers - 1];
    size_t n = s->layer.c_out, c = s->layer.c_in;
    float *by_weight = cov_train_gradient(t, s->weights.weight);
    float *by_bias = cov_train_gradient(t, s->weights.bias);
    int rc = cov_pool_for(t->spec.pool, t->batch->n, backward_one, t, e);
    for (size_t d = 0; rc == COV_OK && d < n; d++)
        for (size_t k = 0; k <= c; k++) {
            double sum = 0;
            for (size_t b = 0; b < t->batch->n; b++)
                sum += t->linear_sums[(b * n + d) * (c + 1) + k];
            *(k < c ? &by_weight[d * c + k] : &by_bias[d]) = (float)sum;
        }
    return rc;
}
