/* fingerprint.h - a number that tells one content from another, to find out that a file has
 * changed. It does not resist who wants two contents to have the same.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_FINGERPRINT_H
#define COV_BASE_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/progress.h"

/* Of n bytes that follow those that `before` stands for (0: none). A text in two parts has another
 * one than as a whole. The same on every machine. */
uint64_t cov_fingerprint(uint64_t before, const void *data, size_t n);

/* Of all bytes of the regular file `path`, and how many they are. `progress` may be NULL. */
int cov_fingerprint_file(const char *path, struct cov_progress *progress, uint64_t *out,
                         int64_t *n_bytes, struct cov_err *e) COV_MUST_USE;

#endif
