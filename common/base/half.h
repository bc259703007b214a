/* half.h - IEEE 754 half precision (binary16).
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_HALF_H
#define COV_BASE_HALF_H

#include <stdint.h>

/* Converts a half precision number, exactly; infinities and NaN are kept. */
float cov_half_to_float(uint16_t bits);

#endif
