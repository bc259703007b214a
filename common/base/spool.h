/* spool.h - bytes that wait in an unlinked temporary file, which vanishes with the process.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_SPOOL_H
#define COV_BASE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct cov_spool {
    int fd;          /* negative: nothing was appended yet, and there is no file */
    int64_t n_bytes; /* appended so far */
    char *dir;       /* Owned */
};

#define COV_SPOOL_INIT                                                                             \
    {                                                                                              \
        -1, 0, 0                                                                                   \
    }

/* The file will be in `dir`; it is made when something is appended. */
int cov_spool_init(struct cov_spool *s, const char *dir, struct cov_err *e) COV_MUST_USE;
void cov_spool_fini(struct cov_spool *s); /* harmless on COV_SPOOL_INIT, and twice */

/* Appends n bytes; *at (may be NULL) is where they begin. A full disk is COV_EIO, naming `dir`. */
int cov_spool_append(struct cov_spool *s, const void *data, size_t n, int64_t *at,
                     struct cov_err *e) COV_MUST_USE;

/* Bytes [at, at + n), all of which have been appended. Any thread, also while others append. */
int cov_spool_read(const struct cov_spool *s, int64_t at, void *buf, size_t n,
                   struct cov_err *e) COV_MUST_USE;

/* Forgets what is behind the first n bytes, and gives the space back. */
int cov_spool_truncate(struct cov_spool *s, int64_t n, struct cov_err *e) COV_MUST_USE;

#endif
