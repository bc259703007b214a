/* leftovers.h - what a run that ends early must not leave: temporary files, and folders that it made.
 *
 * A list of the whole process, for a handler of signals. Whoever takes a name out of it, the handler or the
 * program, owns the name: so the two never meet on one, without a lock, which a handler could not take.
 * outfile.h and tmpfile.h enter what they make.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_LEFTOVERS_H
#define COV_BASE_LEFTOVERS_H

#include <signal.h>
#include <stddef.h>

#include "common/base/err.h"

/* How many files and folders of COV_LEFTOVER_TREE there may be at a time, and of COV_LEFTOVER_EMPTY. */
enum { COV_LEFTOVERS_MAX = 4096, COV_LEFTOVERS_MAX_EMPTY = 64 };

enum cov_leftover_kind {
    COV_LEFTOVER_FILE,
    COV_LEFTOVER_TREE, /* a folder with all that is in it */
    COV_LEFTOVER_EMPTY, /* a folder, if it is empty, and then those above it, which this process made */
};

/* Enters `name`, which it takes over; of COV_LEFTOVER_EMPTY the first `kept` bytes are a path that stays.
 * Returns the place, or -1 with `name` left to the caller when all are taken. Signals are blocked from before
 * the making of what is listed to behind this call. */
int cov_leftovers_add(enum cov_leftover_kind kind, char *name, size_t kept) COV_MUST_USE;

/* The name of the place, now the caller's; NULL when a handler was faster, or it belongs to the process that
 * this one was forked from. */
char *cov_leftovers_take(enum cov_leftover_kind kind, int place) COV_MUST_USE;

/* Removes it, as far as possible. Changes `name`. Async-signal-safe. */
void cov_leftovers_remove(enum cov_leftover_kind kind, char *name, size_t kept);

/* Removes all that this process has entered. Async-signal-safe. */
void cov_leftovers_remove_all(void);

/* All signals, for the calling thread. */
void cov_leftovers_block_signals(sigset_t *before);
void cov_leftovers_restore_signals(const sigset_t *before);

#endif
