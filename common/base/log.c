/* log.c - see log.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/log.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/base/text.h"

static struct {
    pthread_mutex_t lock;
    cov_log_fn *fn;
    void *arg;
    enum cov_log_level level;
} receiver = {PTHREAD_MUTEX_INITIALIZER, NULL, NULL, COV_LOG_WARNING};
static _Atomic(int) shown = -1; /* the last level that reaches a receiver */

void cov_log_set(cov_log_fn *fn, void *arg, enum cov_log_level level)
{
    pthread_mutex_lock(&receiver.lock);
    receiver.fn = fn;
    receiver.arg = arg;
    receiver.level = level;
    shown = fn ? (int)level : -1;
    pthread_mutex_unlock(&receiver.lock);
}

bool cov_log_is_shown(enum cov_log_level level)
{
    return (int)level <= shown;
}

/* Two buffers are used in turn, because a signal may arrive while one is being written. */
static char words[2][PATH_MAX + 256];
static const char *last_words;

void cov_log_set_last_words(const char *text)
{
    const char *now = __atomic_load_n(&last_words, __ATOMIC_SEQ_CST);
    char *next = now == words[0] ? words[1] : words[0];
    if (text) {
        (void)snprintf(next, sizeof words[0], "%s", text);
        cov_make_printable(next);
    }
    __atomic_store_n(&last_words, text && cov_log_is_shown(COV_LOG_INFO) ? next : NULL,
                     __ATOMIC_SEQ_CST);
}

const char *cov_log_last_words(void)
{
    return __atomic_load_n(&last_words, __ATOMIC_SEQ_CST);
}

COV_PRINTF(2, 0)
static void send(enum cov_log_level level, const char *fmt, va_list args)
{
    char text[2048];
    (void)vsnprintf(text, sizeof text, fmt, args);
    cov_make_printable(text);
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
