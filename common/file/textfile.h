/* textfile.h - reading a text file as a whole.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_TEXTFILE_H
#define COV_FILE_TEXTFILE_H

#include <stddef.h>

#include "common/base/err.h"
#include "common/base/json.h"

/* Reads a regular file of at most max_bytes, 1 MiB or more; the text is NUL-terminated. Caller
 * frees *text; NULL after a failure. */
int cov_textfile_read(const char *path, size_t max_bytes, char **text, size_t *n,
                      struct cov_err *e) COV_MUST_USE;

/* Reads and parses a JSON file. Caller frees *out with cov_json_free; NULL after a failure. */
int cov_textfile_read_json(const char *path, size_t max_bytes, struct cov_json_value **out,
                           struct cov_err *e) COV_MUST_USE;

#endif
