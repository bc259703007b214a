/* set_blacklist.h - sets data/blacklist of a genome file, which marks the sequences that training
 * omits, from NCBI's sequence_report.jsonl or a list of ids.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SET_BLACKLIST_H
#define COV_JOB_CHUNKS_SET_BLACKLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/job/job.h"

struct cov_set_blacklist_options {
    const char *report; /* sequence_report.jsonl; if NULL, `names` is used */
    const char *names;  /* ids, one per line, as in cov2bigwig's --blacklist-file */
    const char *output; /* NULL: change the file itself */
    const char *list;   /* gets the ids of blacklisted sequences; may be NULL */
    bool force;         /* replace existing data/blacklist, output and list */
};

/* Writes a changed copy of `path`, reads it back, and renames it, so that the file is always
 * complete. Warns about ids that are not in the file, and about sequences that the report lacks;
 * COV_EINPUT if the report has none of the sequences. Sets chunks and bases in job->stats, which
 * must not be NULL. */
int cov_set_blacklist(const char *path, const struct cov_set_blacklist_options *options,
                      const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
