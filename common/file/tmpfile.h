/* tmpfile.h - temporary files and directories, and new directories for results.
 *
 * When the program ends early (an error, a signal), they are removed; new directories are removed only
 * if they are empty.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_TMPFILE_H
#define COV_FILE_TMPFILE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* Opens an unlinked temporary file in `dir` for reading and writing: it vanishes when *fd, which
 * the caller owns, is closed. */
int cov_tmpfile(const char *dir, int *fd, struct cov_err *e) COV_MUST_USE;

/* A temporary directory. All zero: none. */
struct cov_tmpdir {
    char *path; /* NULL: none. Owned */
    int slot;
};

/* Creates a directory with a unique name, `dir`/.NAME.XXXXXX. */
int cov_tmpdir_make(struct cov_tmpdir *t, const char *dir, const char *name,
                    struct cov_err *e) COV_MUST_USE;
/* Removes the directory and its contents. Safe if there is none. */
void cov_tmpdir_remove(struct cov_tmpdir *t);

/* A new directory for results, and the new directories above it. All zero: none. */
struct cov_newdir {
    char *path;  /* NULL: the directory existed. Owned */
    size_t kept; /* length of the part of the path that existed */
    int slot;
};

/* Creates the directory `path` and any missing directories above it; sets all of *f. Fails with COV_EIO
 * if a component of the path is not a directory. */
int cov_newdir_make(struct cov_newdir *f, const char *path, struct cov_err *e) COV_MUST_USE;
/* Checks, without changing anything, that `path` is a writable directory or can be created. Fails
 * with COV_EIO otherwise. */
int cov_newdir_check(const char *path, struct cov_err *e) COV_MUST_USE;
/* Removes the directories that were created, if they are empty. Safe if there is none. */
void cov_newdir_fini(struct cov_newdir *f);

/* An unlinked temporary file that collects bytes and vanishes with the process. */
struct cov_spool {
    int fd;          /* negative: no file, because nothing has been appended yet */
    int64_t n_bytes; /* appended so far */
    char *dir;       /* Owned */
};

#define COV_SPOOL_INIT                                                                             \
    {                                                                                              \
        -1, 0, 0                                                                                   \
    }

/* Prepares *s. The first append creates the file in `dir`. */
int cov_spool_init(struct cov_spool *s, const char *dir, struct cov_err *e) COV_MUST_USE;
void cov_spool_fini(struct cov_spool *s); /* safe on COV_SPOOL_INIT, and safe to call twice */

/* Appends n bytes and sets *at (`at` may be NULL) to their offset. If the disk is full, fails
 * with COV_EIO and names `dir`. */
int cov_spool_append(struct cov_spool *s, const void *data, size_t n, int64_t *at,
                     struct cov_err *e) COV_MUST_USE;

/* Reads the bytes [at, at + n), which must have been appended. Any thread may call it, even during
 * appends. */
int cov_spool_read(const struct cov_spool *s, int64_t at, void *buf, size_t n,
                   struct cov_err *e) COV_MUST_USE;

/* Drops all bytes after the first n and frees their disk space. */
int cov_spool_truncate(struct cov_spool *s, int64_t n, struct cov_err *e) COV_MUST_USE;

/* ---- what a run that ends early must remove: temporary files, and directories that it created ----
 *
 * The process has one list, which signal handlers also use. The code that takes a name from the
 * list, whether a handler or not, owns the name. So no lock is needed; a handler could not take
 * one. outfile.h adds outputs that are not complete. */

/* The most entries of COV_LEFTOVER_FILE and COV_LEFTOVER_TREE together, and of
 * COV_LEFTOVER_EMPTY. */
enum { COV_LEFTOVERS_MAX = 4096, COV_LEFTOVERS_MAX_EMPTY = 64 };

enum cov_leftover_kind {
    COV_LEFTOVER_FILE,
    COV_LEFTOVER_TREE, /* a directory with its contents */
    COV_LEFTOVER_EMPTY, /* a directory if it is empty, then the directories above it that this process
                         * created */
};

/* Adds `name` and takes ownership of it. With COV_LEFTOVER_EMPTY, the first `kept` bytes of the
 * name are a path that must not be removed. Returns the slot of the name, or -1 if the list is
 * full; the caller then still owns `name`. Block signals before creating the file or directory and
 * until after this call. */
int cov_leftovers_add(enum cov_leftover_kind kind, char *name, size_t kept) COV_MUST_USE;

/* Removes the name from the slot and returns it; the caller owns it. Returns NULL if a handler
 * took the name first, or if this is a forked process and its parent added the name. */
char *cov_leftovers_take(enum cov_leftover_kind kind, int slot) COV_MUST_USE;

/* Removes everything that this process added. Returns the number of COV_LEFTOVER_FILE removed.
 * Async-signal-safe. */
int cov_leftovers_remove_all(void);

/* Blocks all signals for the calling thread and saves its signal mask in *before. The second
 * function restores that mask. */
void cov_leftovers_block_signals(sigset_t *before);
void cov_leftovers_restore_signals(const sigset_t *before);

#endif
