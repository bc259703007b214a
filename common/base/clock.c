/* clock.c - see clock.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/clock.h"

#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cov_clock(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double cov_clock_thread(void)
{
    return seconds(CLOCK_THREAD_CPUTIME_ID);
}
