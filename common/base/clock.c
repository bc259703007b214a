/* clock.c - see clock.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/clock.h"

#include <time.h>

double cov_clock(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
