/* bf16.h - bfloat16: a float's upper half, rounded to nearest even.
 *
 * A number v that is split into two terms, high = bf16(v) and low = bf16(v - high), keeps 16 bits
 * of its fraction. The product of two such numbers, to about 2^-16, is high * high + high * low +
 * low * high.
 * SPDX-License-Identifier: MIT */
#ifndef COV_COMPUTE_CPU_KERNELS_BF16_H
#define COV_COMPUTE_CPU_KERNELS_BF16_H

#include <stdint.h>
#include <string.h>

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

#endif
