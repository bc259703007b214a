/* ref.h - the scalar reference of every layer: the specification that all fast kernels are tested
 * against.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_LAYERS_REF_H
#define COV_COMPUTE_CPU_LAYERS_REF_H

#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/device.h"

/* Computes y[t_out,c_out] from x[t_in,c_in] for one sequence, with sums in double:
 *   conv        y[t,o] = norm(relu(b[o] + sum_k,i w[o,i,k] x[t*stride - pad + k*dilation, i]))
 *   transposed  y[t,o] = norm(relu(b[o] + sum_k,i,j w[i,o,k] x[j,i])),
 *               j*stride - pad + k*dilation = t
 *   LSTM        i, f, o = sigmoid, g = tanh of w_ih x[t] + b_ih + w_hh h + b_hh; c = f c + i g;
 *               h = o tanh(c); the backward direction runs from the last row to the first
 *   linear      y[t,o] = exp(b[o] + sum_i w[o,i] x[t,i])
 * The operands of every product are rounded or split as in gemm.h; h of an LSTM is first rounded to
 * float. `state` is scratch for 6 * hidden doubles (NULL unless LSTM). */
void cov_ref_layer(const struct cov_layer *layer, const struct cov_layer_weights *w,
                   enum cov_arithmetic arithmetic, const float *x, float *y, double *state);

/* List the arrays of struct cov_layer_weights in order, for loops that copy them: their sizes in
 * floats for a layer (0 if not used; returns the sum), their addresses, and the places where these
 * addresses are stored. */
enum { COV_REF_N_WEIGHTS = 14 };
size_t cov_ref_weight_sizes(const struct cov_layer *layer, size_t sizes[COV_REF_N_WEIGHTS]);
void cov_ref_weight_list(const struct cov_layer_weights *w, const float *list[COV_REF_N_WEIGHTS]);
void cov_ref_weight_places(struct cov_layer_weights *w, const float **places[COV_REF_N_WEIGHTS]);

#endif
