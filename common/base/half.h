/* half.h - IEEE 754 half precision (binary16).
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_HALF_H
#define COV_BASE_HALF_H

#include <stdint.h>
#include <string.h>

/* Converts a half precision number, exactly; infinities and NaN are kept. */
static inline float cov_half_to_float(uint16_t bits)
{
    uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
    float value;
    if (exponent == 0) { /* subnormal, or zero */
        value = (float)mantissa * 0x1p-24F;
        return bits & 0x8000 ? -value : value;
    }
    /* The exponent biases are 15 and 127. */
    exponent = exponent == 0x1f ? 0xff : exponent + 112;
    uint32_t wide = (uint32_t)(bits & 0x8000) << 16 | exponent << 23 | mantissa << 13;
    memcpy(&value, &wide, sizeof value);
    return value;
}

#endif
