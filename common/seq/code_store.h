/* code_store.h - a buffer of base codes, two per byte, kept in memory while it is small and in an
 * unlinked temporary file otherwise.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_CODE_STORE_H
#define COV_SEQ_CODE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_code_store;

/* Creates an empty store. The file is created in `tmpdir` when it is needed. Free with
 * cov_code_store_free. */
int cov_code_store_new(const char *tmpdir, struct cov_code_store **out,
                       struct cov_err *e) COV_MUST_USE;
void cov_code_store_free(struct cov_code_store *s); /* NULL is accepted */

/* Returns the byte offset at which the next codes will begin. */
int64_t cov_code_store_end(const struct cov_code_store *s);

/* Appends codes[0..n), starting at a byte boundary. */
int cov_code_store_add(struct cov_code_store *s, const uint8_t *codes, size_t n,
                       struct cov_err *e) COV_MUST_USE;

/* Drops all codes. */
int cov_code_store_clear(struct cov_code_store *s, struct cov_err *e) COV_MUST_USE;

/* Sets codes[0..n) to the codes number `first` to first + n - 1 of those that begin at byte
 * `beg`; they must exist. Thread-safe while nothing is added. */
int cov_code_store_get(const struct cov_code_store *s, int64_t beg, int64_t first, size_t n,
                       uint8_t *codes, struct cov_err *e) COV_MUST_USE;

#endif
