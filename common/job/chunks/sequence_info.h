/* sequence_info.h - statistics of the sequences of genome files and FASTAs: lengths, bases, and
 * chunks with the same bases.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_SEQUENCE_INFO_H
#define COV_JOB_CHUNKS_SEQUENCE_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/job/job.h"

struct cov_sequence_info_options {
    bool json;        /* print JSON instead of a table */
    const char *plot; /* draws the lengths of the only file; NULL: no picture */
    bool force;       /* replace the picture */
    size_t L;         /* length of the chunks of a FASTA */
    FILE *printed;
};

/* Prints a row, or an object, for each file; "-" is a FASTA. Sequences of a partial file of which
 * it has no chunk are left out. A file that cannot be read does not prevent the others: the first
 * such failure is returned, and each other one causes a warning. The caller checks
 * options->printed for errors. */
int cov_sequence_info(char *const *paths, size_t n, const struct cov_sequence_info_options *options,
                      const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
