/* set_blacklist.h - sets data/blacklist of a genome file, which marks the sequences that training
 * omits, from NCBI's sequence_report.jsonl or a list of ids.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SET_BLACKLIST_H
#define COV_JOB_CHUNKS_SET_BLACKLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/job/job.h"
#include "common/seq/names.h"

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

/* ---- NCBI's sequence_report.jsonl: one JSON object per line for each sequence of a genome ---- */

/* Sequences outside the chromosomes of the nucleus are dropped, that is, if chrName is "Un",
 * assemblyUnit is "non-nuclear", or role is "unplaced-scaffold" or "unlocalized-scaffold". Keys may
 * also be in snake case (chr_name), and values in any case. */
struct cov_sequence_report {
    struct cov_names *ids; /* refseqAccession if the first line has it, else genbankAccession */
    bool *drops;           /* of each id */
    size_t cap;
};

/* Reads the file, compressed or not. A sequence without the chosen accession gets the other one.
 * COV_EINPUT "<path>:<line>: ..." for malformed lines, missing accessions, duplicate ids, and an
 * empty file. */
int cov_sequence_report_read(const char *path, struct cov_sequence_report *out,
                             struct cov_err *e) COV_MUST_USE;
void cov_sequence_report_fini(struct cov_sequence_report *r);

#endif
