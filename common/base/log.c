/* log.c - see log.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/base/text.h"

static struct {
    pthread_mutex_t lock;
    cov_log_fn *fn;
    void *arg;
    enum cov_log_level level;
} receiver = {PTHREAD_MUTEX_INITIALIZER, NULL, NULL, COV_LOG_WARNING};

void cov_log_set(cov_log_fn *fn, void *arg, enum cov_log_level level)
{
    pthread_mutex_lock(&receiver.lock);
    receiver.fn = fn;
    receiver.arg = arg;
    receiver.level = level;
    pthread_mutex_unlock(&receiver.lock);
}

COV_PRINTF(2, 0)
static void send(enum cov_log_level level, const char *fmt, va_list args)
{
    char text[2048];
    (void)vsnprintf(text, sizeof text, fmt, args);
    cov_text_make_printable(text);
    pthread_mutex_lock(&receiver.lock);
    if (receiver.fn && level <= receiver.level)
        receiver.fn(receiver.arg, level, text);
    pthread_mutex_unlock(&receiver.lock);
}

#define DEFINE(name, level)                                                                        \
    void name(const char *fmt, ...)                                                                \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, fmt);                                                                       \
        send(level, fmt, args);                                                                    \
        va_end(args);                                                                              \
    }

DEFINE(cov_warn, COV_LOG_WARNING)
DEFINE(cov_info, COV_LOG_INFO)
DEFINE(cov_debug, COV_LOG_DEBUG)
