/* leftovers.h - what a run that ends early must remove: temporary files, and directories that it
 * created.
 *
 * The process has one list, which signal handlers also use. The code that takes a name from the
 * list, whether a handler or not, owns the name. So no lock is needed; a handler could not take
 * one. outfile.h and tmpfile.h add what they create.
 * SPDX-License-Identifier: MIT */
#ifndef COV_FILE_LEFTOVERS_H
#define COV_FILE_LEFTOVERS_H

#include <signal.h>
#include <stddef.h>

#include "common/base/err.h"

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

/* Removes a file or directory, ignoring errors. Changes `name`. Async-signal-safe. */
void cov_leftovers_remove(enum cov_leftover_kind kind, char *name, size_t kept);

/* Removes everything that this process added. Returns the number of COV_LEFTOVER_FILE removed.
 * Async-signal-safe. */
int cov_leftovers_remove_all(void);

/* Blocks all signals for the calling thread and saves its signal mask in *before. The second
 * function restores that mask. */
void cov_leftovers_block_signals(sigset_t *before);
void cov_leftovers_restore_signals(const sigset_t *before);

#endif
