/* run_journal.h - decides whether the journal of an interrupted run (chunk/journal.h) belongs to
 * this run, by what a run describes as lines: a name, a value, and the path of a file if the value
 * is about one.
 * SPDX-License-Identifier: MIT */
#ifndef COV_INPUT_RUN_JOURNAL_H
#define COV_INPUT_RUN_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/base/progress.h"
#include "common/chunk/journal.h"
#include "common/cli/stats.h"
#include "common/compute/device.h"

/* The description of a run. Empty if all zero. */
struct cov_run_lines {
    char *data; /* Owned */
    size_t n, cap;
};
void cov_run_lines_fini(struct cov_run_lines *l);

/* Adds a line. `path`, which may differ in the next run, may be NULL. */
int cov_run_lines_add(struct cov_run_lines *l, const char *name, const char *value,
                      const char *path, struct cov_err *e) COV_MUST_USE;
/* Adds a line with the size and fingerprint of the file `path`; NULL: "none". `progress` may be
 * NULL. */
int cov_run_lines_add_file(struct cov_run_lines *l, const char *name, const char *path,
                           struct cov_progress *progress, struct cov_err *e) COV_MUST_USE;
/* Add the precision of a device that has built a network, and what computes products; and the
 * device itself, which may differ in the next run: values then differ only by rounding. */
int cov_run_lines_add_precision(struct cov_run_lines *l, const struct cov_device *device,
                                struct cov_err *e) COV_MUST_USE;
int cov_run_lines_add_device(struct cov_run_lines *l, const struct cov_device *device,
                             struct cov_err *e) COV_MUST_USE;

/* Continues the journal of the same run, or begins it. COV_EEXIST for the journal of another run,
 * and COV_EINPUT for a damaged one, unless `force` is set. */
int cov_run_journal_start(struct cov_journal *journal, const struct cov_run_lines *now, bool force,
                          struct cov_err *e) COV_MUST_USE;

/* Replaces the journal by a note that the run is finished, with a fingerprint of its output, and frees
 * *journal. A failure is only a warning, because the output is complete: the journal then stays. */
void cov_run_journal_finish(struct cov_journal *journal, struct cov_run_lines *now,
                            const char *output);
/* Sets *done if the journal is that of the same run, which is finished, and the output is still the
 * same. Call it before cov_run_journal_start. COV_EEXIST if the output is another one or that of
 * another run, unless `force` is set; a journal is begun again if its output is missing. */
int cov_run_journal_done(struct cov_journal *journal, struct cov_run_lines *now, const char *output,
                         bool force, bool *done, struct cov_err *e) COV_MUST_USE;

/* Adds the times of the journal's earlier runs, if there are any, to the statistics. */
void cov_run_journal_add_times(const struct cov_journal *journal, struct cov_stats *stats);

/* Returns the name of the journal of an output. Caller frees. */
char *cov_run_journal_name(const char *output, struct cov_err *e) COV_MUST_USE;

#endif
