/* log.h - warnings and notes of the library, passed to a receiver.
 *
 * The library itself prints nothing: without a receiver, messages are dropped. Thread-safe: the
 * receiver is called by one thread at a time.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_LOG_H
#define COV_BASE_LOG_H

#include <stdbool.h>

#include "common/base/err.h"

enum cov_log_level {
    COV_LOG_ERROR,
    COV_LOG_WARNING,
    COV_LOG_INFO,  /* for every user: the device, the model, a summary */
    COV_LOG_DEBUG, /* detail, shown with -v */
};

typedef void cov_log_fn(void *arg, enum cov_log_level level, const char *text);

/* Sets the receiver (NULL: none) of messages up to `level`. Call it before other threads start. */
void cov_log_set(cov_log_fn *fn, void *arg, enum cov_log_level level);

/* Returns true if messages of `level` reach a receiver. Async-signal-safe. */
bool cov_log_is_shown(enum cov_log_level level);

/* Sets the message to print when a signal ends the program ("resume with --resume"), replacing any
 * earlier one; NULL: the tool's own ("nothing was written"). It is printed only if notes are shown.
 * Call this from one thread only. */
void cov_log_set_last_words(const char *text);
/* Returns that message, or NULL. Async-signal-safe. Use the message at once. */
const char *cov_log_last_words(void);

void cov_warn(const char *fmt, ...) COV_PRINTF(1, 2);
void cov_info(const char *fmt, ...) COV_PRINTF(1, 2);
void cov_debug(const char *fmt, ...) COV_PRINTF(1, 2);

#endif
