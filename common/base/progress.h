/* progress.h - shows the progress of a run on standard error; clocks.
 *
 * On a terminal, draws a bar with the rate and the time left, at most four times a second.
 * The time left appears after a second.
 * Elsewhere, prints a line every 30 s.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_PROGRESS_H
#define COV_BASE_PROGRESS_H

#include <stdint.h>

enum cov_progress_mode {
    COV_PROGRESS_AUTO,
    COV_PROGRESS_BAR,
    COV_PROGRESS_LINES,
    COV_PROGRESS_NONE
};

struct cov_progress {
    enum cov_progress_mode mode;       /* never AUTO after init */
    const char *tool;                  /* starts each line */
    const char *what;                  /* "predicting" */
    const char *unit;                  /* "chunks" */
    int64_t total, done;               /* total < 0: unknown */
    double later_units, later_seconds; /* of later stages */
    double started, drawn;
};

/* AUTO becomes BAR if standard error is a terminal, else LINES. */
void cov_progress_init(struct cov_progress *p, const char *tool, enum cov_progress_mode mode);
/* Begins a stage. All functions accept NULL and must be called by the same thread. */
void cov_progress_begin(struct cov_progress *p, const char *what, const char *unit, int64_t total);
/* Includes later stages in the time left: `units` at the rate of this stage (less than 0: it ends
 * early), and `seconds`. */
void cov_progress_expect(struct cov_progress *p, double units, double seconds);
void cov_progress_add(struct cov_progress *p, int64_t n);
/* Ends the stage and clears the bar. */
void cov_progress_end(struct cov_progress *p);

/* Seconds of a monotonic clock. */
double cov_clock(void);
/* Seconds of CPU time of the calling thread. */
double cov_clock_thread(void);

#endif
