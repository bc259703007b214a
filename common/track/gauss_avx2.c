/* gauss_avx2.c - the sums of gauss.c for AVX2.
 * SPDX-License-Identifier: MIT */
#include "common/track/gauss_sums.h"

void cov_gauss_sums_avx2(const struct cov_gauss_window *window, double *out)
{
    cov_gauss_sums_body(window, out);
}
