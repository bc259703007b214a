/* own_log.h - for unit tests: the warnings of the library, counted, and the text of the last one.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_OWN_LOG_H
#define TESTS_OWN_LOG_H

#include <stdio.h>

#include "common/base/log.h"

static struct {
    int n_warnings;
    char text[1024];
} logged;

static inline void log_message(void *arg, enum cov_log_level level, const char *text)
{
    (void)arg;
    logged.n_warnings += level == COV_LOG_WARNING;
    (void)snprintf(logged.text, sizeof logged.text, "%s", text);
}

/* From now on `logged` gets the messages up to `level`, starting from none. */
static inline void start_log(enum cov_log_level level)
{
    logged.n_warnings = 0;
    logged.text[0] = '\0';
    cov_log_set(log_message, NULL, level);
}

#endif
