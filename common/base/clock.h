/* clock.h - seconds that pass.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_CLOCK_H
#define COV_BASE_CLOCK_H

/* Seconds on a clock that never goes back. */
double cov_clock(void);
/* Seconds of the processor that this thread has had. */
double cov_clock_thread(void);

#endif
