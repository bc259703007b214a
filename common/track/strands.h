/* strands.h - one track from the two strands of a genome.
 * SPDX-License-Identifier: MIT */
#ifndef COV_TRACK_STRANDS_H
#define COV_TRACK_STRANDS_H

#include <stdbool.h>
#include <stddef.h>

enum cov_strand { COV_STRAND_AVG, COV_STRAND_PLUS, COV_STRAND_MINUS };

/* The nearest integer, halves to the even one. x is finite. */
static inline double cov_round_half_even(double x)
{
    /* Where the unit of the last place is 1, additions round to integers in just this way. */
    const double big = 4503599627370496.0; /* 2^52 */
    double size = x < 0 ? -x : x;
    if (!(size < big))
        return x;
    size = (size + big) - big;
    return x < 0 ? -size : size;
}

/* out[i] = value of base i of n, ascending on the + strand. `plus` and `minus` are n values each in
 * their strand's own direction, so minus[n-1-i] belongs to base i; the one that is not needed may
 * be NULL.
 *   AVG:   out[i] = (plus[i] + minus[n-1-i]) / 2
 *   PLUS:  out[i] = plus[i]        MINUS: out[i] = minus[n-1-i]
 * `round`: values of each strand are rounded, and so is their mean, as Predmoter does it. */
void cov_strands_combine(enum cov_strand strand, const float *plus, const float *minus, size_t n,
                         bool round, float *out);

#endif
