/* sort.h - sorting of numbers.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_SORT_H
#define COV_BASE_SORT_H

#include <stdlib.h>

/* For qsort(). */
static inline int cov_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts x[n], the smallest first. No value may be NaN. */
static inline void cov_sort_doubles(double *x, size_t n)
{
    if (n > 1)
        qsort(x, n, sizeof *x, cov_by_value);
}

#endif
