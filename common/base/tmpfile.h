/* tmpfile.h - temporary files and folders, and new folders for results.
 *
 * They are removed when the program ends early (an error, a signal); new folders only if they are
 * empty.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_TMPFILE_H
#define COV_BASE_TMPFILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Opens an unlinked temporary file in `dir` for reading and writing: it vanishes when *fd, which
 * the caller owns, is closed. */
int cov_tmpfile(const char *dir, int *fd, struct cov_err *e) COV_MUST_USE;

/* A temporary folder. */
struct cov_tmpfolder {
    char *path; /* NULL: none. Owned */
    int slot;
};
#define COV_TMPFOLDER_INIT                                                                         \
    {                                                                                              \
        0, 0                                                                                       \
    }

/* Creates `dir`/.NAME.XXXXXX, a unique name. */
int cov_tmpfolder_make(struct cov_tmpfolder *t, const char *dir, const char *name,
                       struct cov_err *e) COV_MUST_USE;
/* Removes it and its contents. Harmless on COV_TMPFOLDER_INIT. */
void cov_tmpfolder_remove(struct cov_tmpfolder *t);

/* A new folder for results, and the new folders above it. */
struct cov_newfolder {
    char *path;  /* NULL: it existed. Owned */
    size_t kept; /* bytes of the path that existed */
    int slot;
};
#define COV_NEWFOLDER_INIT                                                                         \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }

/* Creates the folder `path`, and missing ones above it; sets all of *f. COV_EIO if a part of it is
 * not a folder. */
int cov_newfolder_make(struct cov_newfolder *f, const char *path, struct cov_err *e) COV_MUST_USE;
/* Checks, without changing anything, that `path` is a writable folder or can be created; COV_EIO
 * otherwise. */
int cov_newfolder_check(const char *path, struct cov_err *e) COV_MUST_USE;
/* Removes the folders that were created, if they are empty. Harmless on COV_NEWFOLDER_INIT. */
void cov_newfolder_fini(struct cov_newfolder *f);

/* Bytes in an unlinked temporary file, which vanishes with the process. */
struct cov_spool {
    int fd;          /* negative: no file, because nothing has been appended yet */
    int64_t n_bytes; /* appended so far */
    char *dir;       /* Owned */
};

#define COV_SPOOL_INIT                                                                             \
    {                                                                                              \
        -1, 0, 0                                                                                   \
    }

/* The file in `dir` is created by the first append. */
int cov_spool_init(struct cov_spool *s, const char *dir, struct cov_err *e) COV_MUST_USE;
void cov_spool_fini(struct cov_spool *s); /* harmless on COV_SPOOL_INIT, and twice */

/* Appends n bytes; *at (may be NULL) is their offset. COV_EIO, naming `dir`, if the disk is
 * full. */
int cov_spool_append(struct cov_spool *s, const void *data, size_t n, int64_t *at,
                     struct cov_err *e) COV_MUST_USE;

/* Reads the bytes [at, at + n), which must have been appended. May be called by any thread, even
 * during appends.
 */
int cov_spool_read(const struct cov_spool *s, int64_t at, void *buf, size_t n,
                   struct cov_err *e) COV_MUST_USE;

/* Drops all but the first n bytes, and frees their disk space. */
int cov_spool_truncate(struct cov_spool *s, int64_t n, struct cov_err *e) COV_MUST_USE;

#endif
