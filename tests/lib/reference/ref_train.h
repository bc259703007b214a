/* ref_train.h - the scalar reference of training: the forward pass in training mode and the
 * backward pass of every layer, for one sequence, in double. Fast training is tested against this
 * specification.
 *
 * Weights are in PyTorch's layouts (device.h). dv is the gradient of the loss with respect to v.
 * Gradients of weights are added to the output; other gradients overwrite it.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_LIB_REFERENCE_REF_TRAIN_H
#define TESTS_LIB_REFERENCE_REF_TRAIN_H

#include "common/compute/device.h"
#include "common/seq/alphabet.h"

/* z[t_out,c_out] = a convolution's sums over x[t_in,c_in] with its bias, or the last layer's output
 * without exp. */
void cov_ref_sums(const struct cov_layer *l, const double *weight, const double *bias,
                  const double *x, double *z);
/* dx may be NULL if it is not wanted. */
void cov_ref_sums_backward(const struct cov_layer *l, const double *weight, const double *x,
                           const double *dz, double *dx, double *dweight, double *dbias);

/* A norm in training mode, of r[n_rows,c]: x^ = (r - mean) rstd with the batch's mean and rstd = 1
 * / sqrt(biased variance + COV_NORM_EPS), y = gamma x^ + beta. */
struct cov_ref_norm {
    const double *mean, *rstd, *gamma, *beta; /* [c] */
};
/* sums[c] += r, sums[c + channel] += r^2 */
void cov_ref_norm_sums(size_t n_rows, size_t c, const double *r, double *sums);
void cov_ref_norm(size_t n_rows, size_t c, const struct cov_ref_norm *norm, const double *r,
                  double *y);
/* sums[c] += dy, which is dbeta; sums[c + channel] += dy x^, which is dgamma */
void cov_ref_norm_backward_sums(size_t n_rows, size_t c, const struct cov_ref_norm *norm,
                                const double *r, const double *dy, double *sums);
/* d is dy on entry, and dr on return, computed from the sums over all `positions` of the batch:
 * dr = gamma rstd (dy - sums[c] / positions - x^ sums[c + channel] / positions) */
void cov_ref_norm_backward(size_t n_rows, size_t c, const struct cov_ref_norm *norm,
                           const double *sums, double positions, const double *r, double *d);

/* One direction of an LSTM, with the results of the forward pass that the backward pass needs: i,
 * f, g, o after sigmoid and tanh. */
struct cov_ref_lstm {
    const double *w_ih, *w_hh, *b_ih, *b_hh;
    double *gates; /* [T,4*hidden] */
    double *cells; /* [T,hidden] */
};
/* Writes the columns of direction d of y[T,directions*hidden]. */
void cov_ref_lstm(const struct cov_layer *l, size_t d, const struct cov_ref_lstm *s,
                  const double *x, double *y);
/* Gradients: of y[T,directions*hidden]; of x[T,c_in]; of w_ih, w_hh, b_ih, b_hh. */
struct cov_ref_lstm_gradients {
    const double *dy;
    double *dx, *dw[4];
};
/* Adds to dx and dw. scratch: 6 * hidden. */
void cov_ref_lstm_backward(const struct cov_layer *l, size_t d, const struct cov_ref_lstm *s,
                           const double *x, const double *y,
                           const struct cov_ref_lstm_gradients *gradients, double *scratch);

/* Scores a row of the batch: p[L] and targets[L], `stride` apart, where they count. loss = mean of
 * exp(p) - t p; accuracy = Pearson's r of exp(p) and t with 1e-8 added to its denominator. Returns
 * the number of columns (0: no loss). */
size_t cov_ref_row_score(size_t L, size_t stride, const uint8_t *codes, const double *p,
                         const float *targets, double *loss, double *accuracy);
/* dp = scale (exp(p) - t), 0 on padding. */
void cov_ref_row_backward(size_t L, size_t stride, const uint8_t *codes, const double *p,
                          const float *targets, double scale, double *dp);

/* ---- training on these functions, all in double ----
 *
 * spec->recompute is ignored, since it changes no value. */

int cov_ref_training_new(struct cov_device *dev, const struct cov_training_spec *spec,
                         struct cov_training **out, struct cov_err *e) COV_MUST_USE;

/* Returns a device for training alone, on the reference; closing it does nothing. */
struct cov_device *cov_ref_training_device(void);

/* Like gradients->run, but with the gradient in double. `block` [n_floats] replaces the
 * loaded parameters. */
int cov_ref_training_run_double(struct cov_training *base, uint64_t step, const double *block,
                                const struct cov_train_batch *batch, double *gradient,
                                struct cov_train_score *score, struct cov_err *e) COV_MUST_USE;

#endif
