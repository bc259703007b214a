/* half.h - IEEE 754 half precision (binary16).
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_HALF_H
#define COV_BASE_HALF_H

#include <stdint.h>

/* The number with these bits, which float holds exactly; infinities and NaN stay what they are. */
float cov_half_to_float(uint16_t bits);

#endif
