/* cublas.h - products of LSTM layers by NVIDIA's library cuBLASLt, if they are faster than by our
 * kernels: the product of the gates with x, its backward pass, and the gradient of w_ih.
 *
 * Used for tf32 and bf16 only: products in single precision, and tf32 in three products, are always
 * our own, so that these precisions give the same bytes in every run. The library is loaded on
 * demand; without it, our kernels do all the work.
 *
 * Each shape (channels, columns, rows of a sequence, precision) is tried once on every card. The
 * library proposes an algorithm, without split-K and workspace, which is used for any number of
 * sequences. A sequence is a matrix of a strided batch, in gradients too, so its values depend
 * neither on the other sequences nor on its position. NVIDIA does not promise this for every
 * algorithm; therefore the values of the trial must agree with the CPU's, and a sequence must have
 * the same bytes on its own, as part of a product with fewer rows, and on every card. Otherwise, or
 * if the library cannot compute it, our kernel computes the shape. cuBLAS computes all other shapes
 * of a device if that takes at least 10 % less time in total. If a trial is not possible, for
 * example because memory does not suffice, cuBLAS computes nothing: what computes a shape never
 * depends on how busy a card is, unless `products` (device.h) names it.
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
struct cov_dense; /* a shape that was tried; NULL: computed by our kernel */

/* Returns true if there is a choice between our kernels and cuBLAS. */
bool cov_cublas_can(enum cov_cuda_products products);

/* Opens cuBLAS for these cards, which are borrowed until it is closed. Returns COV_EUNSUPPORTED if the
 * library is missing or cannot be used. always: use it even if it is slower; a shape that fails its
 * trial is an error. */
int cov_cublas_open(const struct cov_cuda_card *cards, size_t n_cards, bool always,
                    struct cov_cublas **out, struct cov_err *e) COV_MUST_USE;
void cov_cublas_close(struct cov_cublas *b); /* NULL is accepted */

/* Tries the shape of a product without relu and norm, or of a gradient with one split per sequence;
 * both have one tap that reads the row it writes. n and pointers of *g and *o are not used. *out
 * belongs to b; it is NULL if b is NULL or there is no choice. Errors name the card. `what`: "gates of
 * an LSTM". One thread at a time. */
int cov_cublas_add_gemm(struct cov_cublas *b, const char *what, enum cov_cuda_products products,
                        const struct cov_cuda_gemm *g, const struct cov_dense **out,
                        struct cov_err *e) COV_MUST_USE;
int cov_cublas_add_outer(struct cov_cublas *b, const char *what, enum cov_cuda_products products,
                         const struct cov_cuda_outer *o, const struct cov_dense **out,
                         struct cov_err *e) COV_MUST_USE;
/* Chooses for all shapes, once, when those of the first network are known. */
void cov_cublas_decide(struct cov_cublas *b);
/* Returns "own" or the library, such as "cublas 13.1.0"; NULL if there is no choice (yet). */
const char *cov_cublas_choice(const struct cov_cublas *b);

/* Queue a product as decided. `card`: the card of the stream. */
int cov_dense_gemm(const struct cov_dense *d, int card, enum cov_cuda_products products,
                   const struct cov_cuda_gemm *g, void *stream, struct cov_err *e) COV_MUST_USE;
int cov_dense_outer(const struct cov_dense *d, int card, enum cov_cuda_products products,
                    const struct cov_cuda_outer *o, void *stream, struct cov_err *e) COV_MUST_USE;

#endif
