/* chunk_info.h - what is in files of chunks, for people and for programs.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_CHUNK_INFO_H
#define COV_JOB_CHUNKS_CHUNK_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/cli/stats.h"

/* Prints a table a file, or one JSON object for all of them, to `out`, whose errors are left to the
 * caller. Stops at the first file that cannot be read. `stats` (may be NULL) gets bases, chunks and
 * sizes of all together. */
int cov_chunk_info(char *const *paths, size_t n, bool json, FILE *out, struct cov_stats *stats,
                   struct cov_err *e) COV_MUST_USE;

#endif
