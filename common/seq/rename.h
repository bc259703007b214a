/* rename.h - other names for sequences, from a file of two columns.
 *
 * Each line holds a name and the name to use instead, with tabs or blanks between and around. Blank
 * lines are passed over, and what follows a word that begins with '#'.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_RENAME_H
#define COV_SEQ_RENAME_H

#include <stddef.h>

#include "common/base/err.h"

struct cov_rename;

/* Reads the file, compressed or not. COV_EINPUT "<path>:<line>: ..." for a line that has not two
 * columns, a name that is given twice, and a name of more than COV_FASTA_MAX_NAME bytes. Free with
 * cov_rename_free. */
int cov_rename_read(const char *path, struct cov_rename **out, struct cov_err *e) COV_MUST_USE;
void cov_rename_free(struct cov_rename *r); /* NULL is accepted */

/* The name to use for `name` (n bytes): the other one, or `name` itself if the file has none for
 * it. Borrowed from *r or the caller. Remembers that the name was asked for. */
const char *cov_rename_apply(struct cov_rename *r, const char *name, size_t n);

/* How many names the file has, and how many of them were never asked for. */
size_t cov_rename_count(const struct cov_rename *r);
size_t cov_rename_unused(const struct cov_rename *r);

#endif
