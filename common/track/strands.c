/* strands.c - see strands.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/strands.h"

static float rounded(float x)
{
    return (float)cov_round_half_even((double)x);
}

/* The rounded mean of rounded values where all of them are small enough for halves: what takes the
 * other way is far beyond coverage. Whether they are. */
static bool average_small(const float *plus, const float *minus, size_t n, float *out)
{
    /* Added and subtracted, the unit of the last place is 1 on both sides of 0. */
    const double magic = 6755399441055744.0; /* 1.5 * 2^52 */
    const float most = 1125899906842624.0F;  /* 2^50 */
    bool small = true;
    for (size_t i = 0; i < n; i++) {
        float p = plus[i], m = minus[n - 1 - i];
        double sum = (((double)p + magic) - magic) + (((double)m + magic) - magic);
        small &= (p < most) & (m < most) & (p > -most) & (m > -most);
        out[i] = (float)((sum * 0.5 + magic) - magic);
    }
    return small;
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
