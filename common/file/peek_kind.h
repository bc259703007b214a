/* peek_kind.h - opens a file to recognise its kind (file_kind.h), also inside gzip, and reports a
 * file of a wrong kind.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_PEEK_KIND_H
#define COV_FILE_PEEK_KIND_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/file/file_kind.h"

/* Returns the kind of a regular file. *packed (`packed` may be NULL) tells whether it is a gzip
 * file; its kind is then that of its contents. Does not read from pipes and other special files. */
enum cov_kind cov_kind_of_file(const char *path, bool *packed);

/* Fails with COV_EINPUT and a message such as "<path>: <what>, but a BAM file", where `what` is,
 * for example, "not an HDF5 file". For a gzip file that holds a format that needs random access,
 * the message ends in ", but an HDF5 file compressed by gzip"; for an unknown file, it has no ",
 * but ...". */
int cov_fail_kind(struct cov_err *e, const char *path, const char *what);

#endif
