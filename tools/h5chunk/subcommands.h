/* subcommands.h - the subcommands of h5chunk.
 * SPDX-License-Identifier: MIT */
#ifndef H5CHUNK_SUBCOMMANDS_H
#define H5CHUNK_SUBCOMMANDS_H

#include "common/base/tool.h"

/* look.c */
extern const struct cov_tool h5chunk_info;
extern const struct cov_tool h5chunk_verify;
extern const struct cov_tool h5chunk_blacklist;

#endif
