/* subcommands.h - the subcommands of h5chunk.
 * SPDX-License-Identifier: MIT */
#ifndef H5CHUNK_SUBCOMMANDS_H
#define H5CHUNK_SUBCOMMANDS_H

#include "common/cli/tool.h"
#include "common/job/chunks/chunk_jobs.h"

/* inspect.c, storage.c, parts.c, datasets.c */
extern const struct cov_tool h5chunk_info, h5chunk_verify, h5chunk_blacklist;
extern const struct cov_tool h5chunk_repack, h5chunk_cat, h5chunk_save;
extern const struct cov_tool h5chunk_subset, h5chunk_split, h5chunk_merge;
extern const struct cov_tool h5chunk_drop, h5chunk_rename;

/* A row for an input file. */
#define H5CHUNK_FILE_OPTION(name_, at, help_)                                                      \
    COV_OPT(STRING, (name_), 0, (at), "FILE", (help_), .flags = COV_OPT_PATH_IN)

/* Prepares a job on HDF5 inputs. COV_EUSAGE if one of them is standard input, or, unless the output
 * is a stream, the output is standard output. The caller frees job->job.pool, in any case. */
int h5chunk_begin(struct cov_common *common, char *const *inputs, int n_inputs, bool stream,
                  struct cov_rewrite_job *job, struct cov_err *e) COV_MUST_USE;

#endif
