/* clock.h - seconds on a clock that never goes back.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_CLOCK_H
#define COV_BASE_CLOCK_H

#include <time.h>

static inline double cov_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
