/* clock.h - clocks to measure time.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_CLOCK_H
#define COV_BASE_CLOCK_H

/* Seconds of a monotonic clock. */
double cov_clock(void);
/* Seconds of CPU time of the calling thread. */
double cov_clock_thread(void);

#endif
