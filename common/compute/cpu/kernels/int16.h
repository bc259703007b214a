/* int16.h - operands of a product in whole numbers of 16 bits: of each row of a, multiples of its
 * unit, which is 1/8191 of its largest value; of each column of b, of a unit such that no sum of
 * 256 products leaves 32 bits. So sums are exact, and the error is that of rounding the operands
 * once: about a fifth of what bf16 leaves, which keeps 8 bits of a value.
 *
 * Sums that are exact may be made of fewer products (S. Winograd, A New Algorithm for Inner
 * Product, 1968): a0 b0 + a2 b2 = (a0 + b2) (a2 + b0) - a0 a2 - b0 b2, where the last two terms are
 * those of a row and of a column, made once. All is modulo 2^32, and so exact where the sum is, if
 * a0 + b2 fits in 16 bits.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_INT16_H
#define COV_COMPUTE_CPU_KERNELS_INT16_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COV_INT16_MOST 8191            /* of a row */
#define COV_INT16_MOST_COLUMN 24576    /* of a column: both together have 16 bits */
#define COV_INT16_DEPTH ((size_t)256)  /* products of a sum, before it becomes a float */
#define COV_INT16_SUM (262176.0 - 128) /* 2^31 / 8191, less what rounding may add to 256 values */
#define COV_INT16_CROSS ((size_t)64)   /* of k, the unit in which cross terms are summed */
/* Below it a row's values count as zeros: their unit's inverse may be beyond the numbers. */
#define COV_INT16_LEAST 0x1p-100f

_Static_assert(COV_INT16_MOST + COV_INT16_MOST_COLUMN <= INT16_MAX, "sums of both have 16 bits");

/* v / unit to nearest even, |v / unit| < 2^22; of what is no number, some number. */
static inline int16_t cov_int16_of(float v, float inverse)
{
    float sum = v * inverse + 12582912.0f; /* 1.5 * 2^23: the number is in its low bits */
    uint32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (int16_t)(uint16_t)bits;
}

/* The unit of a row whose largest absolute value is `largest` (which may be infinite, or NaN), and
 * 1 over it. */
static inline float cov_int16_row_unit(float largest, float *inverse)
{
    *inverse = largest < COV_INT16_LEAST ? 0 : COV_INT16_MOST / largest;
    return largest * (1.0f / COV_INT16_MOST);
}

/* The unit of a column of k values, `step` apart. */
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
