/* tmpfile.h - files and folders for the meantime, and new folders that are to hold something in the end.
 *
 * Whatever ends the program (an error, a signal) removes them.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_TMPFILE_H
#define COV_BASE_TMPFILE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* An unlinked temporary file in `dir` for reading and writing: it vanishes with its descriptor.
 * *fd is the caller's. */
int cov_tmpfile(const char *dir, int *fd, struct cov_err *e) COV_MUST_USE;

/* A new folder for files that are needed meanwhile. */
struct cov_tmpfolder {
    char *path; /* NULL: there is none. Owned */
    int slot;
};
#define COV_TMPFOLDER_INIT                                                                         \
    {                                                                                              \
        0, 0                                                                                       \
    }

/* Makes `dir`/.NAME.XXXXXX, which nobody else uses. */
int cov_tmpfolder_make(struct cov_tmpfolder *t, const char *dir, const char *name,
                       struct cov_err *e) COV_MUST_USE;
/* Removes it with all that is in it. Harmless on zeros. */
void cov_tmpfolder_remove(struct cov_tmpfolder *t);

/* A folder for results, and those above it, as far as they were not there. */
struct cov_newfolder {
    char *path;  /* NULL: it was there. Owned */
    size_t kept; /* the first bytes of the path, which were there */
    int slot;
};
#define COV_NEWFOLDER_INIT                                                                         \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }

/* Makes the folder `path`, and those above it, as far as they are not there; *f is filled in whole. COV_EIO for
 * what is not a folder. */
int cov_newfolder_make(struct cov_newfolder *f, const char *path, struct cov_err *e) COV_MUST_USE;
/* Whether it could be made or is there, of which nothing is changed: COV_EIO for what is not a folder, or lies in
 * none, and for a folder that is there and cannot be written to. */
int cov_newfolder_check(const char *path, struct cov_err *e) COV_MUST_USE;
/* Removes of what was made whatever is empty: all of it, where nothing came of a run. Harmless on
 * zeros. */
void cov_newfolder_fini(struct cov_newfolder *f);

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
