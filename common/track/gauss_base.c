/* gauss_base.c - the sums of gauss.c for any processor.
 * SPDX-License-Identifier: MIT */
#include "common/track/gauss_private.h"

void cov_gauss_sums_base(const struct cov_gauss_run *runs, size_t n, int64_t beg, int64_t end,
                         const double *weights, const double *sums, int64_t zero, double *out)
{
    cov_gauss_sums_body(runs, n, beg, end, weights, sums, zero, out);
}
