/* err.c - see err.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void cov_make_printable(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f)
            *p = '?';
        else if (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f)
            p[0] = p[1] = '?';
    }
}

int cov_fail(struct cov_err *e, int code, const char *fmt, ...)
{
    if (e && e->code == COV_OK) {
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(e->text, sizeof e->text, fmt, args);
        va_end(args);
        cov_make_printable(e->text);
        e->code = code;
    }
    return code;
}

int cov_fail_errno(struct cov_err *e, const char *fmt, ...)
{
    int number = errno;
    int code = number == ENOMEM ? COV_ENOMEM : number == EPIPE ? COV_EPIPE : COV_EIO;
    if (e && e->code == COV_OK) {
        char text[sizeof e->text];
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(text, sizeof text, fmt, args);
        va_end(args);
        /* strerror is thread-safe in glibc (since 2.32) and musl; the two variants of strerror_r
         * have different return types. */
        const char *reason = strerror(number);
        /* If the text and the reason do not both fit, truncates the text. */
        int room = (int)(sizeof text - strlen(reason) - 3);
        (void)snprintf(e->text, sizeof e->text, "%.*s: %s", room, text, reason);
        cov_make_printable(e->text);
        e->code = code;
    }
    return code;
}

int cov_err_prefix(struct cov_err *e, int code, const char *fmt, ...)
{
    if (!e)
        return code;
    char head[sizeof e->text], tail[sizeof e->text];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(head, sizeof head, fmt, args);
    va_end(args);
    cov_make_printable(head);
    memcpy(tail, e->text, sizeof tail);
    int room = (int)sizeof e->text - 3;
    int n_head = (int)strlen(head) < room / 2 ? (int)strlen(head) : room / 2;
    (void)snprintf(e->text, sizeof e->text, "%.*s: %.*s", n_head, head, room - n_head, tail);
    return code;
}

void cov_err_append(struct cov_err *e, const char *fmt, ...)
{
    if (!e)
        return;
    char text[sizeof e->text];
    size_t n = strlen(e->text);
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    cov_make_printable(text);
    (void)snprintf(e->text + n, sizeof e->text - n, "%s", text);
}

void cov_err_rename(struct cov_err *e, const char *other, const char *name)
{
    if (!e)
        return;
    char text[sizeof e->text];
    size_t n_other = strlen(other), n = 0;
    memcpy(text, e->text, sizeof text);
    for (const char *p = text; *p && n + 1 < sizeof e->text;) {
        /* /proc/self/fd/1 is not the start of /proc/self/fd/12. */
        bool found = n_other > 0 && strncmp(p, other, n_other) == 0 &&
                     !(p[n_other] >= '0' && p[n_other] <= '9');
        const char *from = found ? name : p;
        size_t n_from = found ? strlen(name) : 1, room = sizeof e->text - 1 - n;
        if (n_from > room)
            n_from = room;
        memcpy(e->text + n, from, n_from);
        n += n_from;
        p += found ? n_other : 1;
    }
    e->text[n] = '\0';
    cov_make_printable(e->text);
}

void cov_err_clear(struct cov_err *e)
{
    if (e) {
        e->code = COV_OK;
        e->text[0] = '\0';
    }
}
