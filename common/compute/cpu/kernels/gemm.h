/* gemm.h - matrix products with a packed right-hand side, compiled once per instruction set: of
 * floats, or of operands that are rounded to bf16 or split in two terms of bf16 (bf16.h), with sums
 * in single precision in any case, or to whole numbers of 16 bits (int16.h).
 *
 * Every element of the result is a fixed sequence of multiply-adds over k, whatever the shape and
 * the place of its row: so a row's values do not depend on the rows beside it. (OpenBLAS's do: its
 * kernels for the edges of a matrix sum in another order.)
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_GEMM_H
#define COV_COMPUTE_CPU_KERNELS_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* What becomes of the operands a and b of a product. */
enum cov_arithmetic {
    COV_FP32,   /* a b */
    COV_BF16,   /* bf16(a) bf16(b) */
    COV_BF16X3, /* high(a) high(b) + high(a) low(b) + low(a) high(b) */
    COV_INT16,  /* whole(a) whole(b) and their units; a part of 8192 of k has units of its own */
};

/* B[k,n], packed by one of the tables below, which alone can use it. */
struct cov_matrix {
    size_t k, n;
    size_t panel; /* columns of a panel */
    /* Owned. Either floats [ceil(n / panel), k, panel], zeros behind column n, rounded if that is
     * asked for; or pairs of bf16 [ceil(n / panel), ceil(k / k_unit) * k_unit / 2, terms, panel,
     * 2], zeros behind row k, too. On cache lines. */
    float *data;
    uint16_t *pairs;
    float *unit; /* [ceil(n / panel) * panel] of columns, where they have one; owned */
    /* Their cross terms (int16.h), negative, of each part of COV_INT16_DEPTH of k as far as it is whole
     * units: [ceil(n / panel), parts, panel]; owned. */
    int32_t *cross;
    /* Where data are floats divided by units, too: sums of products of their own, of columns
     * (gemm_inner_body.h); owned. */
    float *column_sums;
};

struct cov_gemm;
/* Fills in the forms of b[k,n], row-major, that this table's kernels read, where m->k, n and panel say what is
 * wanted; after a failure cov_matrix_fini is still due. */
typedef int cov_gemm_pack_fn(const struct cov_gemm *gemm, const float *b, struct cov_matrix *m,
                             struct cov_err *e);

struct cov_gemm {
    const char *name;
    unsigned needs;      /* COV_CPU_* bits */
    size_t lanes, width; /* columns of a narrow panel, and of a wide one */

    /* c[m,n] (row stride ldc) = a[m,k] B, plus c itself if `add`. Row r of a starts at a + r * lda;
     * rows may overlap (lda < k). c must not overlap a. */
    void (*run)(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                size_t ldc, bool add);

    cov_gemm_pack_fn *pack; /* gemm_pack.h */
    enum cov_arithmetic arithmetic;
    size_t k_unit; /* rows of pairs come in this number; 0: B is floats */

    /* Where rows of a can be made ready for products once, and not in each of them; NULL where that
     * is nothing. ready_floats(k): what a row of k then takes, on cache lines. run_ready: c = a B
     * for rows that were made ready with k = B's rows. */
    size_t (*ready_floats)(size_t k);
    void (*make_ready)(size_t m, size_t k, const float *a, size_t lda, float *ready);
    void (*run_ready)(size_t m, const float *ready, const struct cov_matrix *b, float *c,
                      size_t ldc);

    bool saves; /* multiplications by itself: strassen.h would gain nothing */
};

extern const struct cov_gemm cov_gemm_base, cov_gemm_avx2, cov_gemm_avx512;
/* Faster where the processor has free adders. */
extern const struct cov_gemm cov_gemm_avx512_inner, cov_gemm_avx512_shared;
/* With instructions for bf16: VDPBF16PS, and TDPBF16PS. */
extern const struct cov_gemm cov_gemm_dot_bf16, cov_gemm_amx_bf16, cov_gemm_amx_bf16x3;
/* With an instruction for whole numbers: VPDPWSSD. */
extern const struct cov_gemm cov_gemm_dot_int16;

/* The widest in single precision whose needs are among `features`. */
const struct cov_gemm *cov_gemm_choose(unsigned features);
/* The fastest in single precision for the products of a layer with n_in and n_out channels. */
const struct cov_gemm *cov_gemm_choose_for(unsigned features, size_t n_in, size_t n_out);
/* The fastest with instructions for this arithmetic; NULL if there are none. */
const struct cov_gemm *cov_gemm_choose_bf16(unsigned features, enum cov_arithmetic arithmetic);

/* Packs b[k,n], row-major. Free with cov_matrix_fini. */
int cov_matrix_init(const struct cov_gemm *gemm, size_t k, size_t n, const float *b,
                    struct cov_matrix *out, struct cov_err *e) COV_MUST_USE;
void cov_matrix_fini(struct cov_matrix *m);

#endif
