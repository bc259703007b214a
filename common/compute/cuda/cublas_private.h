/* cublas_private.h - shared by cublas.cu, which calls cuBLASLt, and cublas_trial.cu, which tries its
 * products and chooses.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUBLAS_PRIVATE_H
#define COV_COMPUTE_CUDA_CUBLAS_PRIVATE_H

#include "common/compute/cuda/cublas.h"

/* An algorithm of the library. */
struct cov_lt_algorithm {
    uint64_t data[8];
};

/* All of it is compared to find a shape, so there are no gaps. */
struct cov_dense_shape {
    int outer; /* a gradient, not a product */
    enum cov_cuda_products products;
    int t, c, n_cols;   /* rows of a sequence, channels of x, columns of y or z */
    int w_pitch;        /* of the weights of a product */
    int x_pitch, pitch; /* of x, and of y or z */
};

struct cov_dense {
    struct cov_cublas *owner;
    struct cov_dense_shape shape;
    char name[80]; /* "gates of an LSTM, 384 x 1024": channels of x, columns */
    bool fits;     /* passed its trial */
    double own_ms, cublas_ms;
    struct cov_lt_algorithm algorithm;
    struct cov_dense *next;
};

struct cov_lt_handle {
    const struct cov_cuda_card *card;
    void *handle;
};

struct cov_cublas {
    struct cov_lt_functions *lt;
    char version[32]; /* "cublas 13.1.0" */
    bool always, decided, used;
    struct cov_lt_handle *handles; /* [n_handles], one for each card */
    size_t n_handles;
    struct cov_dense *first;
};

/* Returns the size of an element of the operands. */
size_t cov_dense_element(const struct cov_dense *d);

/* Set d->algorithm to what the library proposes for a product or a gradient, of which n and the pointers
 * are those of a trial. COV_EUNSUPPORTED: the library cannot compute it. */
int cov_lt_propose_rows(struct cov_dense *d, const struct cov_cuda_gemm *g,
                        struct cov_err *e) COV_MUST_USE;
int cov_lt_propose_outer(struct cov_dense *d, const struct cov_cuda_outer *o,
                         struct cov_err *e) COV_MUST_USE;

/* Queue a product or a gradient on a stream of a card. */
int cov_lt_multiply_rows(const struct cov_dense *d, int card, const struct cov_cuda_gemm *g,
                         void *stream, struct cov_err *e) COV_MUST_USE;
int cov_lt_multiply_outer(const struct cov_dense *d, int card, const struct cov_cuda_outer *o,
                          void *stream, struct cov_err *e) COV_MUST_USE;

#endif
