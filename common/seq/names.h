/* names.h - sets of names, and files that rename sequences or give their lengths.
 *
 * In these files, tabs or blanks separate words, blank lines are skipped, and a word that begins
 * with '#' starts a comment. The files may be compressed. Errors are COV_EINPUT "<path>:<line>:
 * ...".
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_NAMES_H
#define COV_SEQ_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* ---- a set of names, numbered in the order they were added ---- */

struct cov_names;

/* Free with cov_names_free. */
int cov_names_new(struct cov_names **out, struct cov_err *e) COV_MUST_USE;
void cov_names_free(struct cov_names *s); /* NULL is accepted */

/* Adds the name, `n` arbitrary bytes, unless it is already in the set. Sets *index to its
 * number, and *is_new to whether it was added. Takes constant time on average. */
int cov_names_add(struct cov_names *s, const char *name, size_t n, size_t *index, bool *is_new,
                  struct cov_err *e) COV_MUST_USE;

/* Returns true and sets *index if the name is in the set. */
bool cov_names_find(const struct cov_names *s, const char *name, size_t n, size_t *index);

size_t cov_names_count(const struct cov_names *s);

/* Returns name number i < count, zero-terminated, and sets *n to its length (`n` may be NULL).
 * Borrowed until the next add. */
const char *cov_names_get(const struct cov_names *s, size_t i, size_t *n);

/* ---- new names for sequences: a file of two columns, name and new name ---- */

struct cov_rename;

/* Fails for a line that does not have exactly two columns, a duplicate name, or a name longer
 * than COV_FASTA_MAX_NAME bytes. Free with cov_rename_free. */
int cov_rename_read(const char *path, struct cov_rename **out, struct cov_err *e) COV_MUST_USE;
void cov_rename_free(struct cov_rename *r); /* NULL is accepted */

/* Returns the new name for `name` (n bytes), or `name` itself if the file has no new name.
 * Borrowed from *r or the caller. Marks the name as used. */
const char *cov_rename_apply(struct cov_rename *r, const char *name, size_t n);

/* Return the number of names in the file, and the number of them that were never used. */
size_t cov_rename_count(const struct cov_rename *r);
size_t cov_rename_unused(const struct cov_rename *r);

/* ---- lengths of sequences: UCSC's chrom.sizes, or the index (.fai) of a FASTA ---- */

/* The sequences in the order of the file. */
struct cov_sizes {
    struct cov_names *names;
    int64_t *lengths; /* of each name */
    size_t cap;
};

/* Adds a name and a length from each line to *s, which is all-zero, and ignores further columns.
 * Fails for a line without a positive length, and for a duplicate name. Free with cov_sizes_fini,
 * also after a failure. */
int cov_sizes_read(const char *path, struct cov_sizes *s, struct cov_err *e) COV_MUST_USE;
void cov_sizes_fini(struct cov_sizes *s);

#endif
