/* sequence_report.h - NCBI's sequence_report.jsonl: a JSON object a line for each sequence of an
 * assembly; and which of them a blacklist is to leave out.
 *
 * Left out is what is no part of a chromosome of the nucleus: chrName is "Un", assemblyUnit is
 * "non-nuclear", or role is "unplaced-scaffold" or "unlocalized-scaffold".
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SEQUENCE_REPORT_H
#define COV_JOB_CHUNKS_SEQUENCE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"
#include "common/seq/names.h"

struct cov_sequence_report {
    struct cov_names *ids; /* refseqAccession if the first line has it, else genbankAccession */
    bool *drops;           /* of each id */
    size_t cap;
};

#define COV_SEQUENCE_REPORT_INIT                                                                   \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }

/* Reads the file, compressed or not. A sequence that has not that accession goes by the other one.
 * COV_EINPUT "<path>:<line>: ..." for a line that is no such object, for one without an accession,
 * for an id that comes twice, and for a file without a line. */
int cov_sequence_report_read(const char *path, struct cov_sequence_report *out,
                             struct cov_err *e) COV_MUST_USE;
void cov_sequence_report_fini(struct cov_sequence_report *r);

#endif
