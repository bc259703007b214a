/* gemm_body.h - single-precision kernels of gemm.h; included by the file of each instruction set,
 * which defines GEMM_LEVEL (the end of the table's name), GEMM_NAME, GEMM_NEEDS, LANES (floats per
 * vector) and ROWS. A tile of ROWS rows and two vectors of columns fills the registers with sums.
 * SPDX-License-Identifier: MIT */
#include "common/base/cpu.h"
#include "common/compute/cpu/kernels/gemm.h"
#include "common/compute/cpu/kernels/gemm_tiling.h"

enum {
    AHEAD = 32, /* rows of B */
    LINE = 16,  /* floats of a cache line */
};

typedef float vec __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

/* MULTIPLY: sum += left * right. MULTIPLY_FLOAT: the same with the float at p in all lanes. An
 * instruction with a memory operand counts only once for decoding and renaming, which limit these
 * loops when two threads share the core. But reads are limited, too, so only every fourth row is
 * read that way. */
#ifndef MULTIPLY
#define MULTIPLY(sum, left, right) ((sum) += (left) * (right))
#define EVERY_LANE(p) (*(p))
typedef float lanes;
#endif

/* With 4, GCC spills registers: predictions take 1.14 times as long at base, 1.03 with AVX2, and as
 * long with AVX-512 (Zen 4). */
enum { UNROLL = 2 };

/* Multiplies with one row of B. row[j] points to row 4 (j / 2) + j % 2 of `a`; the row that is two
 * further down is reached from the same pointer. */
static inline __attribute__((always_inline)) void multiply_row(const int rows, const int vectors,
                                                               const float *const *row, size_t lda,
                                                               const vec *right, vec *sum0,
                                                               vec *sum1)
{
    vec right0 = right[0], right1 = right[vectors - 1];
    /* B comes from the second-level cache or from memory; the next panel to be read usually follows
     * this one. */
    __builtin_prefetch((const char *)(right + AHEAD * vectors));
    if (vectors * LANES > LINE)
        __builtin_prefetch((const char *)(right + AHEAD * vectors) + 64);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        const float *p = row[r / 4 * 2 + r % 2] + (r % 4 < 2 ? 0 : 2 * lda);
#ifdef MULTIPLY_FLOAT
        if (r % 4 == 0) {
            MULTIPLY_FLOAT(sum0[r], *p, right0);
            if (vectors == 2)
                MULTIPLY_FLOAT(sum1[r], *p, right1);
            continue;
        }
#endif
        lanes left = EVERY_LANE(p);
        MULTIPLY(sum0[r], left, right0);
        if (vectors == 2)
            MULTIPLY(sum1[r], left, right1);
    }
}

/* Computes c[rows, vectors * LANES] for one panel. rows <= ROWS and vectors are constants when this
 * is inlined, so the sums stay in registers. */
static inline __attribute__((always_inline)) void
tile(const int rows, const int vectors, const struct operands *o, float *c, size_t ldc, bool add)
{
    const float *b = o->b;
    const size_t lda = o->lda;
    size_t k = o->k;
    vec sum0[ROWS] = {{0}}, sum1[ROWS] = {{0}};
    const float *row[ROWS / 2 + 1];
    const int n = (rows + 3) / 4 * 2;
    size_t width = (size_t)vectors * LANES;
#pragma GCC unroll 16
    for (int j = 0; j < n; j++)
        row[j] = o->a + (size_t)(j / 2 * 4 + j % 2) * lda;
    for (; k >= UNROLL; k -= UNROLL, b += UNROLL * width) {
#pragma GCC unroll 2
        for (int i = 0; i < UNROLL; i++) {
            const float *at[ROWS / 2 + 1];
#pragma GCC unroll 16
            for (int j = 0; j < n; j++)
                at[j] = row[j] + i;
            multiply_row(rows, vectors, at, lda, (const vec *)(b + (size_t)i * width), sum0, sum1);
        }
#pragma GCC unroll 16
        for (int j = 0; j < n; j++) {
            row[j] += UNROLL;
            __asm__("" : "+r"(row[j])); /* keeps a pointer per row: the CPU splits indexed reads */
        }
    }
    for (; k > 0; k--, b += width) {
        multiply_row(rows, vectors, row, lda, (const vec *)b, sum0, sum1);
#pragma GCC unroll 16
        for (int j = 0; j < n; j++)
            row[j]++;
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        vec *to = (vec *)(c + (size_t)r * ldc);
        if (add) {
            sum0[r] += to[0];
            sum1[r] += to[vectors - 1];
        }
        to[0] = sum0[r];
        if (vectors == 2)
            to[1] = sum1[r];
    }
}

#define TILE(r)                                                                                    \
    case r:                                                                                        \
        if (vectors == 2)                                                                          \
            tile(r, 2, o, c, ldc, add);                                                            \
        else                                                                                       \
            tile(r, 1, o, c, ldc, add);                                                            \
        break;

static void run_tile(size_t rows, size_t vectors, const struct operands *o, float *c, size_t ldc,
                     bool add)
{
    switch (rows) {
        COV_TILES(ROWS, TILE)
    default:
        break;
    }
}

static void run(size_t m, const float *a, size_t lda, const struct cov_matrix *b, float *c,
                size_t ldc, bool add)
{
    struct operands o = {.a = a, .lda = lda, .k = b->k, .b = b->data, .matrix = b};
    run_rows(m, &o, b->k, c, ldc, add);
}

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
const struct cov_gemm JOIN(cov_gemm_, GEMM_LEVEL) = {
    .name = GEMM_NAME,
    .needs = GEMM_NEEDS,
    .lanes = LANES,
    .width = 2 * LANES,
    .run = run,
    .pack = cov_gemm_pack_floats,
    .arithmetic = COV_FP32,
};
