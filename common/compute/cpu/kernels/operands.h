/* operands.h - operands of products in fewer bits: bfloat16, and 16-bit integers.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_OPERANDS_H
#define COV_COMPUTE_CPU_KERNELS_OPERANDS_H

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- bfloat16: a float's upper half, rounded to nearest even ----
 *
 * A number v that is split into two terms, high = bf16(v) and low = bf16(v - high), keeps 16 bits
 * of its fraction. The product of two such numbers, to about 2^-16, is high * high + high * low +
 * low * high. */

/* The bits of bf16(v). NaN stays NaN; values that are too large become infinity. */
static inline uint16_t cov_bf16_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    uint32_t nan = bits >> 16 | 0x40;
    return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

static inline float cov_bf16_float(uint16_t bits)
{
    uint32_t whole = (uint32_t)bits << 16;
    float v;
    memcpy(&v, &whole, sizeof v);
    return v;
}

static inline float cov_bf16_round(float v)
{
    return cov_bf16_float(cov_bf16_bits(v));
}

/* Returns the second term of v. */
static inline float cov_bf16_low(float v)
{
    return cov_bf16_round(v - cov_bf16_round(v));
}

/* ---- 16-bit integers ----
 *
 * Rows of `a` are in multiples of 1/8191 of their largest value; columns of `b` are in multiples of
 * a unit chosen so that no sum of 256 products overflows 32 bits. Sums are exact, so the only error
 * comes from rounding the operands once: about a fifth of the error of bf16, which keeps 8 bits.
 *
 * Exact sums can be computed from fewer products (S. Winograd, A New Algorithm for Inner Product,
 * 1968): a0 b0 + a2 b2 = (a0 + b2) (a2 + b0) - a0 a2 - b0 b2, where the last two terms, the cross
 * terms, are computed once per row and once per column. Arithmetic is modulo 2^32, so the result is
 * exact if the sum fits in 32 bits and a0 + b2 in 16. */

#define COV_INT16_MOST 8191            /* the largest in a row */
#define COV_INT16_MOST_COLUMN 24576    /* the largest in a column: both together fit in 16 bits */
#define COV_INT16_DEPTH ((size_t)256)  /* products in a sum before it becomes a float */
#define COV_INT16_SUM (262176.0 - 128) /* 2^31 / 8191, minus what rounding adds to 256 values */
#define COV_INT16_THREE 3              /* pairs of k: two are crossed, one is not */
/* Rows whose largest value is smaller count as zeros: the inverse of their unit could overflow. */
#define COV_INT16_LEAST 0x1p-100f

static_assert(COV_INT16_MOST + COV_INT16_MOST_COLUMN <= INT16_MAX, "sums of both fit in 16 bits");

/* Returns v / unit, rounded to nearest even, for |v / unit| < 2^22; any number for NaN. */
static inline int16_t cov_int16_of(float v, float inverse)
{
    float sum = v * inverse + 12582912.0f; /* 1.5 * 2^23: the integer is in the low bits */
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (int16_t)(uint16_t)bits;
}

/* Returns the unit of a row whose largest absolute value is `largest` (which may be infinite or
 * NaN), and sets *inverse to the inverse of the unit. */
static inline float cov_int16_row_unit(float largest, float *inverse)
{
    *inverse = largest < COV_INT16_LEAST ? 0 : COV_INT16_MOST / largest;
    return largest * (1.0f / COV_INT16_MOST);
}

/* Returns the unit of a column of k values that are `step` apart. */
static inline float cov_int16_column_unit(size_t k, const float *b, size_t step)
{
    double unit = 0;
    for (size_t beg = 0; beg < k; beg += COV_INT16_DEPTH) {
        double sum = 0;
        for (size_t i = beg; i < k && i < beg + COV_INT16_DEPTH; i++) {
            double v = fabs((double)b[i * step]);
            sum += v;
            unit = v / COV_INT16_MOST_COLUMN > unit ? v / COV_INT16_MOST_COLUMN : unit;
        }
        unit = sum / COV_INT16_SUM > unit ? sum / COV_INT16_SUM : unit;
    }
    return (float)(unit * (1 + 0x1p-22)); /* rounded up */
}

#endif
