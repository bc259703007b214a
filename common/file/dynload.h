/* dynload.h - shared libraries that are loaded on demand: the plugins.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_DYNLOAD_H
#define COV_FILE_DYNLOAD_H

#include "common/base/err.h"

/* Returns the path of `file` relative to the directory of this library (libcov). Caller frees. */
char *cov_dynload_beside(const char *file, struct cov_err *e) COV_MUST_USE;

/* Loads a shared library as dlopen() does, for good: *out is not closed. The file, its directory and
 * all directories above it must belong to root, the user or the owner of libcov, and only these may
 * write them; a group may, if it may write libcov, too. Otherwise fails with COV_EINPUT and the
 * name of the file or directory. COV_EUNSUPPORTED if the library cannot be loaded. */
int cov_dynload(const char *path, int flags, void **out, struct cov_err *e) COV_MUST_USE;

#endif
