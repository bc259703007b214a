/* strands.c - see strands.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/strands.h"

static float rounded(float x)
{
    return (float)cov_round_half_even((double)x);
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
