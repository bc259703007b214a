/* subcommands.h - the subcommands of h5chunk.
 * SPDX-License-Identifier: MIT */
#ifndef H5CHUNK_SUBCOMMANDS_H
#define H5CHUNK_SUBCOMMANDS_H

#include "common/cli/tool.h"
#include "common/job/chunks/rewrite.h"

/* look.c */
extern const struct cov_tool h5chunk_info;
extern const struct cov_tool h5chunk_verify;
extern const struct cov_tool h5chunk_blacklist;

/* store.c */
extern const struct cov_tool h5chunk_repack, h5chunk_cat, h5chunk_save;

/* cut.c */
extern const struct cov_tool h5chunk_subset, h5chunk_split, h5chunk_merge;

/* Starts what a job runs in, unless one of the inputs, HDF5 files, is standard input, or the
 * output, where it is no stream, standard output. The pool is the caller's, in any case. */
int h5chunk_begin(struct cov_common *common, char *const *inputs, int n_inputs, bool stream,
                  struct cov_recast_job *job, struct cov_err *e) COV_MUST_USE;

#endif
