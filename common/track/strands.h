/* strands.h - combines the two strands of a genome into one track.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_STRANDS_H
#define COV_TRACK_STRANDS_H

#include <stdbool.h>
#include <stddef.h>

enum cov_strand { COV_STRAND_AVG, COV_STRAND_PLUS, COV_STRAND_MINUS };

/* Rounds to the nearest integer, half to even. x must be finite. */
static inline double cov_round_half_even(double x)
{
    /* In a sum above 2^52 the unit of the last place is 1, so the addition itself rounds half to
     * even. */
    const double big = 4503599627370496.0; /* 2^52 */
    double size = x < 0 ? -x : x;
    if (!(size < big))
        return x;
    size = (size + big) - big;
    return x < 0 ? -size : size;
}

/* Sets out[i] to the value of base i, for n bases that ascend on the + strand. `plus` and `minus`
 * have n values each, in the direction of their strand, so minus[n-1-i] belongs to base i. A strand
 * that is not needed may be NULL.
 *   AVG:   out[i] = (plus[i] + minus[n-1-i]) / 2
 *   PLUS:  out[i] = plus[i]        MINUS: out[i] = minus[n-1-i]
 * `round`: rounds the values of each strand and then their mean, like Predmoter. */
void cov_strands_combine(enum cov_strand strand, const float *plus, const float *minus, size_t n,
                         bool round, float *out);

#endif
