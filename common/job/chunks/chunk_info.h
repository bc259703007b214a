/* chunk_info.h - prints the contents of files of chunks and of checkpoints, as a table or as JSON.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_CHUNK_INFO_H
#define COV_JOB_CHUNKS_CHUNK_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/cli/stats.h"

/* Prints one table per file, or one JSON object, to `out`. The caller checks `out` for errors.
 * A file that cannot be read does not prevent the others: the first such failure is returned, and
 * each other one causes a warning. Sums of bases, chunks and sizes go to `stats` (may
 * be NULL). */
int cov_chunk_info(char *const *paths, size_t n, bool json, FILE *out, struct cov_stats *stats,
                   struct cov_err *e) COV_MUST_USE;

#endif
