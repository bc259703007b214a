/* strands.c - see strands.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/strands.h"

static float rounded(float x)
{
    return (float)cov_round_half_even((double)x);
}

/* Computes the rounded mean of rounded values if all are small enough, as coverage always is.
 * Returns false otherwise. */
static bool average_small(const float *plus, const float *minus, size_t n, float *out)
{
    /* After this constant is added, the unit of the last place is 1 for values on both sides of 0,
     * so adding and then subtracting the constant rounds to an integer. If values are less than a
     * third of the constant, nothing else is lost. */
    const float magic = 12582912.0F; /* 1.5 * 2^23 */
    const float most = 4194304.0F;   /* 2^22 */
    enum { TILE = 1024 };
    for (size_t beg = 0; beg < n; beg += TILE) {
        size_t end = n - beg < TILE ? n : beg + TILE;
        int large = 0;
        for (size_t i = beg; i < end; i++) {
            float p = plus[i], m = minus[n - 1 - i];
            large |= !(p < most) | !(m < most) | !(p > -most) | !(m > -most);
            float sum = ((p + magic) - magic) + ((m + magic) - magic);
            out[i] = (sum * 0.5F + magic) - magic;
        }
        if (large)
            return false;
    }
    return true;
}

void cov_strands_combine(enum cov_strand strand, const float *plus, const float *minus, size_t n,
                         bool round, float *out)
{
    switch (strand) {
    case COV_STRAND_PLUS:
        for (size_t i = 0; i < n; i++)
            out[i] = round ? rounded(plus[i]) : plus[i];
        break;
    case COV_STRAND_MINUS:
        for (size_t i = 0; i < n; i++)
            out[i] = round ? rounded(minus[n - 1 - i]) : minus[n - 1 - i];
        break;
    case COV_STRAND_AVG:
        if (round && average_small(plus, minus, n, out))
            break;
        for (size_t i = 0; i < n; i++) {
            float p = plus[i], m = minus[n - 1 - i];
            if (round) {
                p = rounded(p);
                m = rounded(m);
            }
            double mean = ((double)p + (double)m) * 0.5;
            out[i] = (float)(round ? cov_round_half_even(mean) : mean);
        }
        break;
    }
}
