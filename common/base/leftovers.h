/* leftovers.h - what a run that ends early must remove: temporary files, and folders that it
 * created.
 *
 * One list per process, also used by signal handlers. The handler or the code that removes a name
 * from the list owns it. So no lock is needed, which a handler could not take. outfile.h and
 * tmpfile.h add what they create.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_LEFTOVERS_H
#define COV_BASE_LEFTOVERS_H

#include <signal.h>
#include <stddef.h>

#include "common/base/err.h"

/* Limits: files and folders (COV_LEFTOVER_TREE), and folders of COV_LEFTOVER_EMPTY. */
enum { COV_LEFTOVERS_MAX = 4096, COV_LEFTOVERS_MAX_EMPTY = 64 };

enum cov_leftover_kind {
    COV_LEFTOVER_FILE,
    COV_LEFTOVER_TREE,  /* a folder with its contents */
    COV_LEFTOVER_EMPTY, /* a folder if it is empty, then the folders above it that this process
                         * created */
};

/* Adds `name` and takes ownership of it; with COV_LEFTOVER_EMPTY the first `kept` bytes are a path
 * to keep. Returns its slot, or -1 if the list is full, in which case the caller keeps `name`.
 * Block signals before creating the file or folder and until after this call. */
int cov_leftovers_add(enum cov_leftover_kind kind, char *name, size_t kept) COV_MUST_USE;

/* Removes the name from the slot; the caller owns it. NULL if a handler took it first, or if it
 * belongs to the parent of a forked process. */
char *cov_leftovers_take(enum cov_leftover_kind kind, int slot) COV_MUST_USE;

/* Removes a file or folder, ignoring errors. Changes `name`. Async-signal-safe. */
void cov_leftovers_remove(enum cov_leftover_kind kind, char *name, size_t kept);

/* Removes everything that this process added. Async-signal-safe. */
void cov_leftovers_remove_all(void);

/* Block all signals for the calling thread, and restore its mask. */
void cov_leftovers_block_signals(sigset_t *before);
void cov_leftovers_restore_signals(const sigset_t *before);

#endif
