/* chunk_info.h - h5chunk info: the contents of files of chunks and of checkpoints, and statistics of
 * sequences.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_CHUNKS_CHUNK_INFO_H
#define COV_JOB_CHUNKS_CHUNK_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/base/json.h"
#include "common/cli/job.h"
#include "common/cli/stats.h"

/* Prints one table per file, or one JSON object, to `out`. The caller checks `out` for errors.
 * A file that cannot be read does not prevent the others: the first such failure is returned, and
 * each other one causes a warning. Sums of bases, chunks and sizes go to `stats` (may
 * be NULL). */
int cov_chunk_info(char *const *paths, size_t n, bool json, FILE *out, struct cov_stats *stats,
                   struct cov_err *e) COV_MUST_USE;

/* ---- ckpt_info.c: one checkpoint ---- */

/* Returns true for a zip archive, such as a PyTorch checkpoint. */
bool cov_ckpt_info_applies(const char *path);

/* Describes the checkpoint `path`: hyperparameters, datasets, parameters, state of training, who
 * wrote it, SHA-256. Writes an object to *j, or text to `out` if j is NULL. *n_bytes is the size of
 * the file. COV_EINPUT for a file that is not a checkpoint of PyTorch Lightning. */
int cov_ckpt_info(const char *path, struct cov_json *j, FILE *out, int64_t *n_bytes,
                  struct cov_err *e) COV_MUST_USE;

/* ---- sequence_info.c: sequences of genome files and FASTAs: lengths, bases, and chunks with the same
 * bases ---- */

struct cov_sequence_info_options {
    bool json;        /* print JSON instead of a table */
    const char *plot; /* draws the lengths of the only file; NULL: no picture */
    bool force;       /* replace the picture */
    int64_t L;        /* length of the chunks of a FASTA */
    FILE *printed;
};

/* Prints a row, or an object, for each file; "-" is a FASTA. Sequences of a partial file of which
 * it has no chunk are left out. A file that cannot be read does not prevent the others: the first
 * such failure is returned, and each other one causes a warning. The caller checks
 * options->printed for errors. */
int cov_sequence_info(char *const *paths, size_t n, const struct cov_sequence_info_options *options,
                      const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
