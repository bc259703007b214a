/* cublas.h - in predictions, products of LSTM layers with x by NVIDIA's library cuBLASLt instead of our
 * kernels.
 *
 * Who computes is fixed, so that a command gives the same bytes in every run. On every architecture, in
 * every precision and for every shape, our kernels do: no gain of the library is known
 * (README.md). The library replaces them in tf32 and bf16 with COVTOOLS_CUBLAS=always, and if they fail
 * the self-check of predictions. It is loaded on demand.
 *
 * For each shape (channels, columns, rows of a sequence, precision), the library proposes an algorithm,
 * without split-K and workspace, which is used for any number of sequences. A sequence is a matrix of a
 * strided batch, so its values should depend neither on the other sequences nor on its position; NVIDIA
 * does not promise this for every algorithm. The self-check finds wrong values.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CUDA_CUBLAS_H
#define COV_COMPUTE_CUDA_CUBLAS_H

extern "C" {
#include "common/base/err.h"
}
#include "common/compute/cuda/kernels.h"

/* A card, as CUDA and messages name it. */
struct cov_cuda_card {
    int index;
    char name[280]; /* "GPU 0 (NVIDIA H200)" */
};

struct cov_cublas;
struct cov_dense; /* a shape that the library computes; NULL: computed by our kernel */

/* Returns true if the library can compute in this precision. */
bool cov_cublas_can(enum cov_cuda_products products);

/* Opens cuBLAS for these cards, which are borrowed until it is closed. Returns COV_EUNSUPPORTED if the
 * library is missing or cannot be used. */
int cov_cublas_open(const struct cov_cuda_card *cards, size_t n_cards, struct cov_cublas **out,
                    struct cov_err *e) COV_MUST_USE;
void cov_cublas_close(struct cov_cublas *b); /* NULL is accepted */
/* "cublas 13.1.0"; NULL if b is NULL. */
const char *cov_cublas_version(const struct cov_cublas *b);

/* Chooses the algorithm for a product with one tap, without relu and norm, that reads the row it
 * writes. n and pointers of *g are not set. *out belongs to b; it is NULL if b is NULL or the library
 * cannot compute in this precision. One thread at a time. */
int cov_cublas_add(struct cov_cublas *b, enum cov_cuda_products products,
                   const struct cov_cuda_gemm *g, const struct cov_dense **out,
                   struct cov_err *e) COV_MUST_USE;

/* Queues a product. `card`: the card of the stream. */
int cov_dense_gemm(const struct cov_dense *d, int card, enum cov_cuda_products products,
                   const struct cov_cuda_gemm *g, void *stream, struct cov_err *e) COV_MUST_USE;

#endif
