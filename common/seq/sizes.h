/* sizes.h - lengths of sequences by name, from a file: UCSC's chrom.sizes, or the index (.fai) of a
 * FASTA file.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_SIZES_H
#define COV_SEQ_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_sizes;

/* Reads the file, compressed or not: name and length, separated by tabs or blanks; more columns,
 * blank lines, and what follows a '#' at the start of a column are passed over. COV_EINPUT
 * "<path>:<line>:
 * ..." for a line without a length above 0, and for a name that is there twice. Free with
 * cov_sizes_free. */
int cov_sizes_read(const char *path, struct cov_sizes **out, struct cov_err *e) COV_MUST_USE;
void cov_sizes_free(struct cov_sizes *s); /* NULL is accepted */

/* The sequences in the order of the file. Names are borrowed. */
size_t cov_sizes_count(const struct cov_sizes *s);
const char *cov_sizes_name(const struct cov_sizes *s, size_t i);
int64_t cov_sizes_length(const struct cov_sizes *s, size_t i);

/* Whether the name is there; *i is its number then. */
bool cov_sizes_find(const struct cov_sizes *s, const char *name, size_t *i);

#endif
