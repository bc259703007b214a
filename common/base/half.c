/* half.c - see half.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/half.h"

#include <math.h>

float cov_half_to_float(uint16_t bits)
{
    int exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
    float magnitude;
    if (exponent == 0x1f)
        magnitude = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        magnitude = ldexpf((float)mantissa, -24);
    else
        magnitude = ldexpf((float)(mantissa | 0x400), exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}
