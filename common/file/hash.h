/* hash.h - hashes of contents: 64 bits, to detect that a file has changed, and SHA-256 (FIPS 180-4),
 * which tells whether two files are the same.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_HASH_H
#define COV_FILE_HASH_H

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

enum { COV_SHA256_TEXT = 65 }; /* 64 hexadecimal digits and the final zero */

/* Hashes the regular file `path` at about 1 GB/s. Fails like cov_path_open_file. */
int cov_sha256_file(const char *path, char out[COV_SHA256_TEXT], struct cov_err *e) COV_MUST_USE;

const char *cov_sha256_version(void); /* of OpenSSL, which computes it */

#endif
