/* train_passes.h - the forward and backward passes of layers, and of the loss. Calls go from training.c
 * to train_memory.c, to the files of layers, to train_state.c.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_TRAIN_TRAIN_PASSES_H
#define COV_COMPUTE_CPU_TRAIN_TRAIN_PASSES_H

#include "common/compute/cpu/train/train_state.h"

/* ---- convolutions of t->layer: train_conv.c ---- */

int cov_train_conv_pack(struct cov_cpu_training *t, size_t i, struct cov_err *e) COV_MUST_USE;
size_t cov_train_conv_scratch(const struct cov_cpu_training *t, size_t i);
int cov_train_conv_forward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
int cov_train_conv_backward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
/* Computes y of convolution i again: from r, or with `from_input` from its input. */
int cov_train_conv_again(struct cov_cpu_training *t, size_t i, bool from_input,
                         struct cov_err *e) COV_MUST_USE;

/* ---- gradients of weights by minimal filtering: train_toom_cook.c ---- */

/* Returns true if minimal filtering (toom_cook.h) can be used for a layer and is faster than sums of
 * outer products of these operands. */
bool cov_train_toom_cook_pays(const struct cov_layer *l, enum cov_arithmetic outer);
int cov_train_toom_cook_new(const struct cov_layer *l, const struct cov_toom_cook_kernels *kernels,
                            struct cov_train_toom_cook **out, struct cov_err *e) COV_MUST_USE;
void cov_train_toom_cook_free(struct cov_train_toom_cook *m); /* NULL is accepted */
size_t cov_train_toom_cook_scratch(const struct cov_train_toom_cook *m);
/* Each item computes some products; items may run in any order. Then the last function computes the
 * taps of input channel i. */
size_t cov_train_toom_cook_items(const struct cov_train_toom_cook *m);
void cov_train_toom_cook_item(const struct cov_cpu_training *t, const struct cov_train_toom_cook *m,
                              size_t item, float *scratch);
cov_task_fn cov_train_toom_cook_finish;

/* ---- LSTMs: train_lstm.c ---- */

int cov_train_lstm_pack(struct cov_cpu_training *t, size_t i, struct cov_err *e) COV_MUST_USE;
size_t cov_train_lstm_scratch(const struct cov_cpu_training *t, size_t i);
int cov_train_lstm_forward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
/* Computes y, gates and cells again, without dropout. */
int cov_train_lstm_again(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
int cov_train_lstm_backward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;

/* ---- activations: train_memory.c ---- */

int cov_train_make_activations(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;

/* ---- the last layer and the loss: train_score.c ---- */

int cov_train_score_batch(struct cov_cpu_training *t, struct cov_train_score *score,
                          struct cov_err *e) COV_MUST_USE;
int cov_train_loss_backward(struct cov_cpu_training *t, struct cov_err *e) COV_MUST_USE;
/* Sets sums[n] (device.h, explain), and t->d to their gradients with respect to the input of the last
 * layer. */
int cov_train_sums_backward(struct cov_cpu_training *t, const struct cov_explain_batch *batch,
                            double *sums, struct cov_err *e) COV_MUST_USE;

#endif
