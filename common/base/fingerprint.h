/* fingerprint.h - a 64-bit hash of contents, to detect that a file has changed. It is not
 * cryptographic.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_FINGERPRINT_H
#define COV_BASE_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"

/* Hashes n bytes; `before` is the hash of the preceding bytes (0: none). Hashing data in two
 * parts gives a different result from hashing it at once. The result is the same on every
 * machine. */
uint64_t cov_fingerprint(uint64_t before, const void *data, size_t n);

/* Hashes the regular file `path`; *n_bytes is its size. `progress` may be NULL. */
int cov_fingerprint_file(const char *path, struct cov_progress *progress, uint64_t *out,
                         int64_t *n_bytes, struct cov_err *e) COV_MUST_USE;

#endif
