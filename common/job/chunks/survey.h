/* survey.h - what chunks hold: how often each base, chunks of N only, and chunks with the same
 * bases.
 *
 * The two chunks of a pair count once, because they hold the same bases.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SURVEY_H
#define COV_JOB_CHUNKS_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/chunk/chunk_file.h"
#include "common/cli/job.h"
#include "common/seq/copies.h"

struct cov_survey {
    int64_t n_codes[16];            /* number of bases of each code, on any strand */
    size_t n_pairs;                 /* that were read */
    struct cov_keyed_chunk *chunks; /* [n]: pairs that are not only N, sorted by key. Owned */
    size_t n, cap;
};

/* Reads the bases of the pairs that have a row for which wanted[] is true (NULL: all); `chunks` has
 * the numbers of pairs in the grid. `what` is for the progress. *out is all-zero, and is freed by
 * cov_survey_fini, also after a failure. */
int cov_survey_file(struct cov_chunk_file *f, const bool *wanted, const char *what,
                    const struct cov_job *job, struct cov_survey *out,
                    struct cov_err *e) COV_MUST_USE;

/* The same for a source of another kind: adds the next pair, then sorts. `scratch` has n bytes. */
int cov_survey_add(struct cov_survey *s, const uint8_t *codes, size_t n, uint8_t *scratch,
                   struct cov_err *e) COV_MUST_USE;
void cov_survey_end(struct cov_survey *s);

void cov_survey_fini(struct cov_survey *s);

/* Returns the number of pairs that have the bases of another pair with a lower number. */
size_t cov_survey_n_copies(const struct cov_survey *s);

#endif
