/* kernels.h - the kernels of the plugin, as the host calls them: each queues its work on a stream
 * (runtime.h) and returns; whether that was possible, cov_rt_launched says. All memory is the
 * device's; n is sequences of a batch, activations are channel-last, x[n, t, c], c a multiple of 8, so
 * that rows are whole pieces of 16 bytes. What a sequence's values are does not depend on the others,
 * nor on its place.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_KERNELS_H
#define COV_COMPUTE_CUDA_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compute/cuda/conv_index.h"

/* What products are made of; sums are in single precision. */
enum cov_cuda_products {
    COV_CUDA_FP32,   /* single precision */
    COV_CUDA_TF32X3, /* operands in two terms of tf32 each, three products: some 2^-21 */
    COV_CUDA_TF32,   /* operands rounded to tf32 */
    COV_CUDA_BF16,   /* operands rounded to bf16 */
};

/* A phase of a convolution, a linear layer, or an LSTM's product with x, as a product of matrices:
 *   y[b, out_first + out_stride t, o] = norm(relu(bias[o] + sum_k x[b, row of k, channel of k] w[k,o])),
 * relu if asked for, norm(v) = v scale[o] + shift[o]; rows and channels by conv_index.h. o < n_cols,
 * a multiple of 8. */
struct cov_cuda_gemm {
    const void *x;                     /* [n, t_in, c]: float, or bf16 with COV_CUDA_BF16 */
    const void *w;                     /* as cov_cuda_gemm_sizes says */
    const float *bias, *scale, *shift; /* [width] */
    void *y;                           /* [n, t_out, pitch]: float, or bf16 if y_bf16 */
    int n, t_in, c, t_out, pitch, n_cols;
    struct cov_conv_phase phase;
    bool relu, y_bf16;
    int k, width; /* of w, of cov_cuda_gemm_sizes */
};

/* How the weights of a product are kept: k and width are at least n_taps * c and n_cols, what is
 * beyond them is zero. COV_CUDA_FP32: float w[k, width]; else w[width, k], of bf16 or float. */
void cov_cuda_gemm_sizes(enum cov_cuda_products products, int n_taps, int c, int n_cols, int *k,
                         int *width);
void cov_cuda_gemm(enum cov_cuda_products products, const struct cov_cuda_gemm *g, void *stream);
void cov_cuda_gemm_fp32(const struct cov_cuda_gemm *g, void *stream);
void cov_cuda_gemm_mma(enum cov_cuda_products products, const struct cov_cuda_gemm *g,
                       void *stream);

/* The first convolution, from bases: y[b, t, o] = norm(relu(bias[o] + sum_k table[k, code, o])), code
 * that of row t in_stride + first + k dilation; no code is 0. */
struct cov_cuda_first {
    const uint8_t *codes;              /* [n, (t_in + 1) / 2], as cov_codes_pack packs them */
    const float *table;                /* [kernel, 16, c] */
    const float *bias, *scale, *shift; /* [c] */
    void *y;                           /* [n, t_out, c], float, or bf16 if y_bf16 */
    int n, t_in, t_out, c, kernel, dilation;
    struct cov_conv_phase phase; /* plain */
    bool y_bf16;
};
void cov_cuda_first_layer(const struct cov_cuda_first *f, void *stream);

/* What an LSTM layer does for a sequence. */
struct cov_cuda_extent {
    int head, tail;  /* gates of rows [head, tail) are those of row head - 1 */
    int forward;     /* steps of the forward direction; the backward one makes all */
    int products[2]; /* out: of each direction, steps with products */
};

/* The steps of an LSTM layer; gates[b, t, direction, unit, i f g o] = w_ih x + b_ih + b_hh are there.
 * y[b, t, direction * units + u] = h; u < units, of which those beyond the layer's own have weights
 * and gates of zero, and so an h of zero.
 *
 * A step's gates depend on x[t] and h[t-1] alone. With `rest`, while neither has moved since they were
 * last computed, a sequence keeps them, and only c = f c + i g and h = o tanh(c) are done; a block
 * of sequences that all rest makes no products. What has moved is what has other bits in the bf16
 * version, whose values are therefore the same bits with and without; in the other it is what has
 * moved by about what a sum's rounding is. Each sequence decides for itself. */
struct cov_cuda_lstm {
    const float *gates;
    const void *w;                   /* as the version says */
    void *y;                         /* float, or bf16 if y_bf16 */
    struct cov_cuda_extent *extents; /* of sequence b: extents[b * extent_pitch] */
    int n, t, directions, units, extent_pitch;
    bool y_bf16, rest;
};

/* In single precision, for any size: float w[direction, h, unit, gate]; units is a multiple of 8.
 * Whether it fits into a block's shared memory of so many bytes. */
bool cov_cuda_lstm_fp32_fits(int units, size_t shared_bytes);
void cov_cuda_lstm_fp32(const struct cov_cuda_lstm *l, void *stream);

/* With h and weights as bf16, for up to COV_CUDA_LSTM_UNITS units, which are a multiple of 32; a
 * block keeps the weights of a direction in registers through all steps. w is fragments:
 * bf16 w[direction, warp, pair, k16, lane, reg, half] (cov_lstm_fragment), units / 8 warps, units / 16
 * k16. */
enum { COV_CUDA_LSTM_UNITS = 128 };
bool cov_cuda_lstm_bf16_fits(int units, size_t shared_bytes);
void cov_cuda_lstm_bf16(const struct cov_cuda_lstm *l, void *stream);

/* The last layer: out[b, r, d] = exp(bias[d] + sum_i w[d, i] x[b, r, i]), r < rows, i < c_in, `pad`
 * where the base is padding; x[n, t, c] is float. */
struct cov_cuda_output {
    const float *x, *w, *bias;
    const uint8_t *codes; /* as of the first layer */
    float *out;           /* [n, rows, depth] */
    int n, t, rows, c, c_in, depth;
    float pad;
};
void cov_cuda_output(const struct cov_cuda_output *o, void *stream);

#endif
