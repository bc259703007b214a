/* ref_train.c - see ref_train.h.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/reference/ref_train.h"

#include <math.h>
#include <string.h>

#include "common/compute/cpu/train/training.h"
#include "common/seq/alphabet.h"

/* ---- convolutions and the last layer ---- */

/* The number of taps of a layer, and the distance between their weights. */
struct taps {
    size_t n, i_stride, o_stride;
};

static struct taps taps_of(const struct cov_layer *l)
{
    if (l->kind == COV_LAYER_CONV)
        return (struct taps){l->kernel, l->kernel, l->c_in * l->kernel};
    if (l->kind == COV_LAYER_CONV_TRANSPOSED)
        return (struct taps){l->kernel, l->c_out * l->kernel, l->kernel};
    return (struct taps){1, 1, l->c_in};
}

/* Returns the row of x that tap k of row t reads; -1 if there is none. */
static int64_t row_read(const struct cov_layer *l, size_t t, size_t k)
{
    int64_t row = (int64_t)t;
    if (l->kind == COV_LAYER_CONV) {
        row = (int64_t)(t * l->stride + k * l->dilation) - l->pad;
    } else if (l->kind == COV_LAYER_CONV_TRANSPOSED) {
        row += l->pad - (int64_t)(k * l->dilation);
        if (row < 0 || row % (int64_t)l->stride != 0)
            return -1;
        row /= (int64_t)l->stride;
    }
    return row < (int64_t)l->t_in ? row : -1;
}

void cov_ref_sums(const struct cov_layer *l, const double *weight, const double *bias,
                  const double *x, double *z)
{
    struct taps taps = taps_of(l);
    for (size_t t = 0; t < l->t_out; t++) {
        double *to = z + t * l->c_out;
        memcpy(to, bias, l->c_out * sizeof *to);
        for (size_t k = 0; k < taps.n; k++) {
            int64_t row = row_read(l, t, k);
            if (row < 0)
                continue;
            const double *from = x + (size_t)row * l->c_in;
            for (size_t o = 0; o < l->c_out; o++)
                for (size_t i = 0; i < l->c_in; i++)
                    to[o] += weight[i * taps.i_stride + o * taps.o_stride + k] * from[i];
        }
    }
}

void cov_ref_sums_backward(const struct cov_layer *l, const double *weight, const double *x,
                           const double *dz, double *dx, double *dweight, double *dbias)
{
    struct taps taps = taps_of(l);
    if (dx)
        memset(dx, 0, l->t_in * l->c_in * sizeof *dx);
    for (size_t t = 0; t < l->t_out; t++) {
        const double *by = dz + t * l->c_out;
        for (size_t o = 0; o < l->c_out; o++)
            dbias[o] += by[o];
        for (size_t k = 0; k < taps.n; k++) {
            int64_t row = row_read(l, t, k);
            if (row < 0)
                continue;
            const double *from = x + (size_t)row * l->c_in;
            double *to = dx ? dx + (size_t)row * l->c_in : NULL;
            for (size_t o = 0; o < l->c_out; o++)
                for (size_t i = 0; i < l->c_in; i++) {
                    size_t at = i * taps.i_stride + o * taps.o_stride + k;
                    dweight[at] += by[o] * from[i];
                    if (to)
                        to[i] += by[o] * weight[at];
                }
        }
    }
}

/* ---- norms ---- */

void cov_ref_norm_sums(size_t n_rows, size_t c, const double *r, double *sums)
{
    for (size_t t = 0; t < n_rows; t++)
        for (size_t o = 0; o < c; o++) {
            double v = r[t * c + o];
            sums[o] += v;
            sums[c + o] += v * v;
        }
}

void cov_ref_norm(size_t n_rows, size_t c, const struct cov_ref_norm *norm, const double *r,
                  double *y)
{
    for (size_t t = 0; t < n_rows; t++)
        for (size_t o = 0; o < c; o++)
            y[t * c + o] =
                (r[t * c + o] - norm->mean[o]) * norm->rstd[o] * norm->gamma[o] + norm->beta[o];
}

void cov_ref_norm_backward_sums(size_t n_rows, size_t c, const struct cov_ref_norm *norm,
                                const double *r, const double *dy, double *sums)
{
    for (size_t t = 0; t < n_rows; t++)
        for (size_t o = 0; o < c; o++) {
            double by = dy[t * c + o];
            sums[o] += by;
            sums[c + o] += by * (r[t * c + o] - norm->mean[o]) * norm->rstd[o];
        }
}

void cov_ref_norm_backward(size_t n_rows, size_t c, const struct cov_ref_norm *norm,
                           const double *sums, double positions, const double *r, double *d)
{
    for (size_t t = 0; t < n_rows; t++)
        for (size_t o = 0; o < c; o++) {
            double x = (r[t * c + o] - norm->mean[o]) * norm->rstd[o];
            d[t * c + o] = norm->gamma[o] * norm->rstd[o] *
                           (d[t * c + o] - sums[o] / positions - x * sums[c + o] / positions);
        }
}

/* ---- LSTM ---- */

static double sigmoid(double v)
{
    return 1.0 / (1.0 + exp(-v));
}

/* sum[n] += w[n,k] v[k] */
static void add_product(size_t n, size_t k, const double *w, const double *v, double *sum)
{
    for (size_t g = 0; g < n; g++)
        for (size_t i = 0; i < k; i++)
            sum[g] += w[g * k + i] * v[i];
}

/* sum[k] += v[n] w[n,k]; dw[n,k] += v[n] u[k] */
static void add_backward(size_t n, size_t k, const double *w, const double *v, const double *u,
                         double *sum, double *dw)
{
    for (size_t g = 0; g < n; g++)
        for (size_t i = 0; i < k; i++) {
            sum[i] += v[g] * w[g * k + i];
            dw[g * k + i] += v[g] * u[i];
        }
}

static size_t row_of(const struct cov_layer *l, size_t d, size_t step)
{
    return d ? l->t_in - 1 - step : step;
}

void cov_ref_lstm(const struct cov_layer *l, size_t d, const struct cov_ref_lstm *s,
                  const double *x, double *y)
{
    size_t hidden = l->hidden, n_gates = 4 * hidden, width = l->directions * hidden;
    const double *before = NULL, *cell_before = NULL;
    for (size_t step = 0; step < l->t_in; step++) {
        size_t t = row_of(l, d, step);
        double *gates = s->gates + t * n_gates, *cell = s->cells + t * hidden;
        double *h = y + t * width + d * hidden;
        for (size_t g = 0; g < n_gates; g++)
            gates[g] = s->b_ih[g] + s->b_hh[g];
        add_product(n_gates, l->c_in, s->w_ih, x + t * l->c_in, gates);
        if (before)
            add_product(n_gates, hidden, s->w_hh, before, gates);
        for (size_t u = 0; u < hidden; u++) {
            double *i = &gates[u], *f = i + hidden, *g = f + hidden, *o = g + hidden;
            *i = sigmoid(*i);
            *f = sigmoid(*f);
            *g = tanh(*g);
            *o = sigmoid(*o);
            cell[u] = *i * *g + (cell_before ? *f * cell_before[u] : 0);
            h[u] = *o * tanh(cell[u]);
        }
        before = h;
        cell_before = cell;
    }
}

/* Computes dgates[4*hidden], the gradient of the pre-activations, from dh. dc is the gradient of
 * the cells: on entry from the next step, on return for the previous step. */
static void gates_backward(size_t hidden, const double *gates, const double *cell,
                           const double *cell_before, const double *dh, double *dc, double *dgates)
{
    for (size_t u = 0; u < hidden; u++) {
        double i = gates[u], f = gates[hidden + u], g = gates[2 * hidden + u];
        double o = gates[3 * hidden + u], shown = tanh(cell[u]);
        double by_cell = dc[u] + dh[u] * o * (1 - shown * shown);
        dgates[u] = by_cell * g * i * (1 - i);
        dgates[hidden + u] = by_cell * (cell_before ? cell_before[u] : 0) * f * (1 - f);
        dgates[2 * hidden + u] = by_cell * i * (1 - g * g);
        dgates[3 * hidden + u] = dh[u] * shown * o * (1 - o);
        dc[u] = by_cell * f;
    }
}

void cov_ref_lstm_backward(const struct cov_layer *l, size_t d, const struct cov_ref_lstm *s,
                           const double *x, const double *y,
                           const struct cov_ref_lstm_gradients *gradients, double *scratch)
{
    const double *dy = gradients->dy;
    double *dx = gradients->dx, *const *dw = gradients->dw;
    size_t hidden = l->hidden, n_gates = 4 * hidden, width = l->directions * hidden;
    double *dgates = scratch, *dh = scratch + n_gates, *dc = dh + hidden;
    memset(dh, 0, 2 * hidden * sizeof *dh);
    for (size_t step = l->t_in; step-- > 0;) {
        size_t t = row_of(l, d, step), at = step > 0 ? row_of(l, d, step - 1) : 0;
        for (size_t u = 0; u < hidden; u++)
            dh[u] += dy[t * width + d * hidden + u];
        gates_backward(hidden, s->gates + t * n_gates, s->cells + t * hidden,
                       step > 0 ? s->cells + at * hidden : NULL, dh, dc, dgates);
        memset(dh, 0, hidden * sizeof *dh);
        add_backward(n_gates, l->c_in, s->w_ih, dgates, x + t * l->c_in, dx + t * l->c_in, dw[0]);
        if (step > 0)
            add_backward(n_gates, hidden, s->w_hh, dgates, y + at * width + d * hidden, dh, dw[1]);
        for (size_t g = 0; g < n_gates; g++) {
            dw[2][g] += dgates[g];
            dw[3][g] += dgates[g];
        }
    }
}

/* ---- loss ---- */

size_t cov_ref_row_score(size_t L, size_t stride, const uint8_t *codes, const double *p,
                         const float *targets, double *loss, double *accuracy)
{
    size_t n = 0;
    double sum = 0, sum_x = 0, sum_t = 0, xx = 0, tt = 0, xt = 0;
    *loss = *accuracy = 0;
    for (size_t i = 0; i < L; i++) {
        if (!cov_train_counts(codes[i], targets[i * stride]))
            continue;
        double x = exp(p[i * stride]), t = (double)targets[i * stride];
        sum += x - t * p[i * stride];
        sum_x += x;
        sum_t += t;
        n++;
    }
    if (n == 0)
        return 0;
    double mean_x = sum_x / (double)n, mean_t = sum_t / (double)n;
    for (size_t i = 0; i < L; i++) {
        if (!cov_train_counts(codes[i], targets[i * stride]))
            continue;
        double x = exp(p[i * stride]) - mean_x, t = (double)targets[i * stride] - mean_t;
        xx += x * x;
        tt += t * t;
        xt += x * t;
    }
    *loss = sum / (double)n;
    *accuracy = xt / (sqrt(xx) * sqrt(tt) + COV_PEARSON_EPS);
    return n;
}

void cov_ref_row_backward(size_t L, size_t stride, const uint8_t *codes, const double *p,
                          const float *targets, double scale, double *dp)
{
    for (size_t i = 0; i < L; i++)
        dp[i * stride] = cov_train_counts(codes[i], targets[i * stride])
                             ? scale * (exp(p[i * stride]) - (double)targets[i * stride])
                             : 0;
}
