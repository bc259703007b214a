/* gemm.h - matrix products with a packed right-hand side, compiled once per instruction set.
 * Operands are floats, or as operands.h rounds them: bf16, floats split into two terms of bf16, or
 * 16-bit integers. Sums are in single precision; sums of integers are exact within each part of k.
 *
 * Every element of the result is computed by the same sequence of multiply-adds over k, whatever
 * the shape and the position of its row. So a row's values do not depend on the other rows.
 * (OpenBLAS's do: its kernels for the edges of a matrix sum in another order.)
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_GEMM_H
#define COV_COMPUTE_CPU_KERNELS_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* How the operands a and b of a product are rounded. */
enum cov_arithmetic {
    COV_FP32,   /* a b */
    COV_BF16,   /* bf16(a) bf16(b) */
    COV_BF16X3, /* high(a) high(b) + high(a) low(b) + low(a) high(b) */
    COV_INT16,  /* integers times units of row and column; each 8192 elements of k have their own
                 * units */
};

/* B[k,n], packed for one table below; only that table can read it. */
struct cov_matrix {
    size_t k, n;
    size_t panel; /* columns per panel */
    /* Owned, on cache lines. Either floats [ceil(n / panel), k, panel], zeros after column n; or
     * pairs of 16-bit operands [ceil(n / panel), ceil(k / k_unit) * k_unit / 2, terms, panel, 2],
     * zeros after row k, too. */
    float *data;
    uint16_t *pairs;
    float *unit; /* [ceil(n / panel) * panel] units of columns, or NULL; owned */
    /* Owned: negative cross terms (operands.h) of each COV_INT16_DEPTH elements of k:
     * [ceil(n / panel), parts, panel]. */
    int32_t *cross;
    /* Owned; only for floats divided by units: for each column, sums of products of its own
     * elements (gemm_inner_body.h). */
    float *column_sums;
};

/* ---- products whose results are used at once ----
 *
 * A convolution's rows, and a step of an LSTM for several sequences, in which products and gates
 * overlap. They give the same bits as products followed by `finish`, and as products with x and h
 * followed by lstm_cell (vec.h). */

enum {
    COV_ROWS_MULTIPLE = 32,    /* k and n of the products, and `channels`, are multiples of this */
    COV_ROWS_PARTS = 4,        /* the most products with the same rows */
    COV_ROWS_TILE = 32,        /* rows at once */
    COV_ROWS_ROOM = 32 * 1152, /* the most floats that these rows cover */
};

/* y[p][r] = finish(x[r * step + offset[p] ...] B[p]) for r < m and each product p. x is rows of
 * `channels` floats, a divisor of `step`; they are x_stride apart, which step and offset do not
 * count. */
struct cov_gemm_rows {
    size_t m, step;
    const float *x;
    size_t channels, x_stride;
    size_t n_parts;
    struct {
        const struct cov_matrix *b;
        size_t offset; /* in floats */
        float *y;
    } part[COV_ROWS_PARTS];
    size_t y_stride;
    const struct cov_finish *finish;
};

typedef void cov_gemm_rows_fn(const struct cov_gemm_rows *rows);

enum {
    COV_STEP_ROWS = 32,     /* the most sequences */
    COV_STEP_UNITS = 16,    /* units whose gates are computed together */
    COV_STEP_MULTIPLE = 32, /* c_in and hidden are multiples of this */
    COV_STEP_DEPTH = 1152,  /* the most c_in + hidden */
};

struct cov_lstm_step {
    size_t n, c_in, hidden;
    const struct cov_matrix *weights; /* [c_in + hidden, 4 * hidden]; column c is that of gate
                                       * cov_step_column(c) */
    const float *bias;                /* [4 * hidden], gates in PyTorch's order */
    const float *x;                   /* [n, c_in] */
    const float *h; /* [n, hidden] of the step before, row stride h_stride; NULL: zeros */
    size_t h_stride;
    float *cell; /* [n, hidden] */
    float *y;    /* [n, hidden], row stride h_stride */
    /* Prefetched: x of a later step and y of the next one; NULL: nothing. */
    const float *next_x, *next_y;
};

typedef void cov_lstm_step_fn(const struct cov_lstm_step *s);

/* Returns true if there is a step for layers of this shape. */
static inline bool cov_step_fits(size_t c_in, size_t hidden)
{
    return c_in % COV_STEP_MULTIPLE == 0 && hidden % COV_STEP_MULTIPLE == 0 &&
           c_in + hidden <= COV_STEP_DEPTH;
}

/* Returns the gate in column c of the weights: the four gates of 16 units are side by side. */
static inline size_t cov_step_column(size_t hidden, size_t c)
{
    size_t group = c / (4 * COV_STEP_UNITS), gate = c / COV_STEP_UNITS % 4;
    return gate * hidden + group * COV_STEP_UNITS + c % COV_STEP_UNITS;
}

/* ---- tables ---- */

struct cov_gemm;
/* Packs b[k,n], row-major, in the form that this table's kernels read. The caller has set m->k,
 * m->n and m->panel. Call cov_matrix_fini even after a failure. */
typedef int cov_gemm_pack_fn(const struct cov_gemm *gemm, const float *b, struct cov_matrix *m,
                             struct cov_err *e);

struct cov_gemm {
    const char *name;
    unsigned needs;      /* COV_CPU_* bits */
    size_t lanes, width; /* columns of a narrow and of a wide panel */

    /* c[m,n] (row stride ldc) = a[m,k] B, plus c itself if `add`. Row r of `a` starts at
     * a + r * lda; rows may overlap (lda < k). c must not overlap a. */
    void (*run)(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                size_t ldc, bool add);

    cov_gemm_pack_fn *pack; /* one of those below */
    enum cov_arithmetic arithmetic;
    size_t k_unit; /* k of packed pairs is padded to a multiple of this; 0: B is floats */

    /* Rows of `a` can be prepared once for several products; NULL if this table needs no
     * preparation. prepared_floats(k) returns the floats of a prepared row of k values, in whole
     * cache lines. run_prepared computes c = a B; its rows must have been prepared with the k of
     * B. */
    size_t (*prepared_floats)(size_t k);
    void (*prepare)(size_t m, size_t k, const float *a, size_t lda, float *ready);
    void (*run_prepared)(size_t m, const float *ready, const struct cov_matrix *b, float *c,
                         size_t ldc);

    /* Products that are finished at once; NULL if this table has none. */
    cov_gemm_rows_fn *run_rows;
    cov_lstm_step_fn *lstm_step;
};

extern const struct cov_gemm cov_gemm_base, cov_gemm_avx2, cov_gemm_avx512;
/* Winograd's inner product, faster on processors with free adders (gemm_inner_body.h) for layers
 * with many channels on both sides; with fewer, preparing rows costs as much as it saves. */
extern const struct cov_gemm cov_gemm_avx512_inner, cov_gemm_avx512_shared;
enum { COV_GEMM_MANY = 64 };
/* Tables with AMX's TDPBF16PS. */
extern const struct cov_gemm cov_gemm_amx_bf16, cov_gemm_amx_bf16x3;
/* Table with an integer instruction: VPDPWSSD. */
extern const struct cov_gemm cov_gemm_dot_int16;

/* Returns the fastest table for this arithmetic, these features (COV_CPU_* bits), and a layer with
 * n_in and n_out channels (0: few); NULL if there is none, which does not happen for COV_FP32. */
const struct cov_gemm *cov_gemm_choose(unsigned features, enum cov_arithmetic arithmetic,
                                       size_t n_in, size_t n_out);

/* ---- packing: functions for `pack`, in gemm_pack.c ---- */

/* Sets data to the floats of b, unchanged. */
cov_gemm_pack_fn cov_gemm_pack_floats;
/* Sets data to the columns of b, each divided by the power of two that brings its root mean square
 * closest to 1; unit to these powers; and column_sums to the sums of products of pairs that
 * gemm_inner_body.h needs. */
cov_gemm_pack_fn cov_gemm_pack_inner;
/* Sets pairs to bf16, with one term or two. */
cov_gemm_pack_fn cov_gemm_pack_pairs;
/* Sets pairs to 16-bit integers, and sets unit and cross. */
cov_gemm_pack_fn cov_gemm_pack_int16;

/* Used by cov_gemm_pack_inner, and to prepare rows of `a`. */
enum {
    COV_INNER_ROWS = 6,       /* rows of B after which the pattern of pairs repeats */
    COV_INNER_MAX_SCALE = 60, /* largest exponent of a power, so that no sum overflows */
};

/* Packs b[k,n], row-major. Free with cov_matrix_fini. */
int cov_matrix_init(const struct cov_gemm *gemm, size_t k, size_t n, const float *b,
                    struct cov_matrix *out, struct cov_err *e) COV_MUST_USE;
void cov_matrix_fini(struct cov_matrix *m);

/* ---- for the files of kernels ---- */

/* Cases of a switch over the rows of a tile, each compiled separately: COV_TILES_6(CASE) is CASE(1)
 * .. CASE(6). */
#define COV_TILES_4(CASE) CASE(1) CASE(2) CASE(3) CASE(4)
#define COV_TILES_6(CASE) COV_TILES_4(CASE) CASE(5) CASE(6)
#define COV_TILES_12(CASE) COV_TILES_6(CASE) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)

/* COV_TILES(ROWS, CASE), where ROWS is a macro for one of these numbers */
#define COV_TILES_JOIN(rows, CASE) COV_TILES_##rows(CASE)
#define COV_TILES(rows, CASE) COV_TILES_JOIN(rows, CASE)

#endif
