/* sequence_report.h - NCBI's sequence_report.jsonl: one JSON object per line for each sequence of a
 * genome.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SEQUENCE_REPORT_H
#define COV_JOB_CHUNKS_SEQUENCE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/seq/names.h"

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
