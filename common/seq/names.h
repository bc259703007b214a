/* names.h - a set of names, numbered in the order in which they came.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_NAMES_H
#define COV_SEQ_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

struct cov_names;

/* Free with cov_names_free. */
int cov_names_new(struct cov_names **out, struct cov_err *e) COV_MUST_USE;
void cov_names_free(struct cov_names *s); /* NULL is accepted */

/* The number of the name of `n` bytes (any bytes), which is added if it is not there: then *is_new
 * is set, and *index is cov_names_count before the call. Quick for millions of them. */
int cov_names_add(struct cov_names *s, const char *name, size_t n, size_t *index, bool *is_new,
                  struct cov_err *e) COV_MUST_USE;

/* Whether the name is there; *index is its number then. */
bool cov_names_find(const struct cov_names *s, const char *name, size_t n, size_t *index);

size_t cov_names_count(const struct cov_names *s);

/* Name number i < count, with a zero behind it. Borrowed until the next add; `n` may be NULL. */
const char *cov_names_get(const struct cov_names *s, size_t i, size_t *n);

#endif
