/* log.h - warnings and notes of the library, handed to whoever runs it.
 *
 * The library itself prints nothing: until a receiver is set, messages are dropped. Thread-safe:
 * the receiver is called by one thread at a time.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_LOG_H
#define COV_BASE_LOG_H

#include <stdbool.h>

#include "common/base/err.h"

enum cov_log_level {
    COV_LOG_ERROR,
    COV_LOG_WARNING,
    COV_LOG_INFO,  /* what every user wants to know: the device, the model, a summary */
    COV_LOG_DEBUG, /* detail, shown with -v */
};

typedef void cov_log_fn(void *arg, enum cov_log_level level, const char *text);

/* Sets the receiver (NULL: none) of messages up to `level`. To be called before threads start. */
void cov_log_set(cov_log_fn *fn, void *arg, enum cov_log_level level);

/* Whether messages of `level` reach a receiver. */
bool cov_log_is_shown(enum cov_log_level level);

/* What a signal that ends the program leaves to be said ("--resume goes on"), in place of what was to be said
 * before; NULL: nothing. Not shown where notes are not. One thread. */
void cov_log_set_last_words(const char *text);
/* Those, or NULL. Async-signal-safe; to be used at once. */
const char *cov_log_last_words(void);

void cov_warn(const char *fmt, ...) COV_PRINTF(1, 2);
void cov_info(const char *fmt, ...) COV_PRINTF(1, 2);
void cov_debug(const char *fmt, ...) COV_PRINTF(1, 2);

#endif
