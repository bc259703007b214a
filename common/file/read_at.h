/* read_at.h - reads and writes at a position of an open file, repeatedly until all bytes are done.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_READ_AT_H
#define COV_FILE_READ_AT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads n bytes at offset `at`. Returns how many there were, fewer than n only at the end of the
 * file; -1 on failure, with errno. */
ssize_t cov_read_at(int fd, int64_t at, void *data, size_t n);

/* Writes n bytes at offset `at`. Returns 0; -1 on failure, with errno. */
int cov_write_at(int fd, int64_t at, const void *data, size_t n);

#endif
