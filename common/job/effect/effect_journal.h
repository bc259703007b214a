/* effect_journal.h - the scores of finished variants, from which `coveffect vcf --resume` continues:
 * a journal (chunk/journal.h) next to the output, OUTPUT.resume. A piece is a record. The
 * journal of a finished run only describes the run and its output.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_EFFECT_EFFECT_JOURNAL_H
#define COV_JOB_EFFECT_EFFECT_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/cli/stats.h"
#include "common/job/effect/effect_options.h"
#include "common/job/effect/effect_scores.h"

struct cov_effect_journal;

/* Continues the journal of the same run, or begins one, for n records: those of the input, then the random
 * variants. Call it once the
 * device has built the network. COV_EEXIST for the journal of another run (other files or options),
 * unless options->force is set. If this run is finished and its output is still there, sets *done, and
 * *out to NULL. Adds the times of earlier runs to job->stats. Until the journal is closed, the message
 * after a signal says how to resume. */
int cov_effect_journal_open(const struct cov_effect_options *options, size_t n,
                            const struct cov_job *job, struct cov_effect_journal **out, bool *done,
                            struct cov_err *e) COV_MUST_USE;

/* Makes the scores durable. Call it before the output gets its name: until the run is noted as finished,
 * only these scores show that the output is its own. NULL is accepted. */
int cov_effect_journal_sync(const struct cov_effect_journal *j, struct cov_err *e) COV_MUST_USE;

/* Closes the journal and keeps it, with a note, if it has pieces. NULL is accepted. */
void cov_effect_journal_close(struct cov_effect_journal *j);
/* Notes that the run is finished, once the output has its name; a failure is only a warning. Frees *j;
 * NULL is accepted. */
void cov_effect_journal_finish(struct cov_effect_journal *j);

size_t cov_effect_journal_n_done(const struct cov_effect_journal *j);

/* Reads scores[0..n) of record `number`, counted from 1. Returns 1, 0 if it is not done, or a
 * failure. */
int cov_effect_journal_read(struct cov_effect_journal *j, int64_t number,
                            struct cov_effect_score *scores, size_t n,
                            struct cov_err *e) COV_MUST_USE;
int cov_effect_journal_append(struct cov_effect_journal *j, int64_t number,
                              const struct cov_effect_score *scores, size_t n,
                              struct cov_err *e) COV_MUST_USE;

#endif
