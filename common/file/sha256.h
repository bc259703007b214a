/* sha256.h - SHA-256 of a file, which tells whether two files are the same (FIPS 180-4).
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_SHA256_H
#define COV_FILE_SHA256_H

#include "common/base/err.h"

enum { COV_SHA256_TEXT = 65 }; /* 64 hexadecimal digits and the final zero */

/* Hashes the regular file `path` at about 1 GB/s. Fails like cov_path_open_file. */
int cov_sha256_file(const char *path, char out[COV_SHA256_TEXT], struct cov_err *e) COV_MUST_USE;

const char *cov_sha256_version(void); /* of OpenSSL, which computes it */

#endif
