/* own_log.h - for unit tests: records the library's messages: the number of warnings, the last text
 * and all texts.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_OWN_LOG_H
#define TESTS_OWN_LOG_H

#include <stdio.h>
#include <string.h>

#include "common/base/log.h"

static struct {
    int n_warnings;
    char text[1024];
    char all[4096]; /* one line per message */
} logged;

static inline void log_message(void *arg, enum cov_log_level level, const char *text)
{
    (void)arg;
    logged.n_warnings += level == COV_LOG_WARNING;
    (void)snprintf(logged.text, sizeof logged.text, "%s", text);
    size_t n = strlen(logged.all);
    (void)snprintf(logged.all + n, sizeof logged.all - n, "%s\n", text);
}

/* Clears `logged`, which then receives the messages up to `level`. */
static inline void start_log(enum cov_log_level level)
{
    logged.n_warnings = 0;
    logged.text[0] = logged.all[0] = '\0';
    cov_log_set(log_message, NULL, level);
}

#endif
