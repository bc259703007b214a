/* err.c - see err.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void make_printable(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
}

int cov_fail(struct cov_err *e, int code, const char *fmt, ...)
{
    if (e && e->code == COV_OK) {
        va_list args;
        va_start(args, fmt);
        (void)vsnprintf(e->text, sizeof e->text, fmt, args);
        va_end(args);
        make_printable(e->text);
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
        char reason[128];
        if (strerror_r(number, reason, sizeof reason) != 0)
            (void)snprintf(reason, sizeof reason, "error %d", number);
        /* The reason is kept whole however long the text is. */
        int room = (int)(sizeof text - strlen(reason) - 3);
        (void)snprintf(e->text, sizeof e->text, "%.*s: %s", room, text, reason);
        make_printable(e->text);
        e->code = code;
    }
    return code;
}

int cov_err_prefix(struct cov_err *e, const char *fmt, ...)
{
    if (!e)
        return COV_EINPUT;
    char head[sizeof e->text], tail[sizeof e->text];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(head, sizeof head, fmt, args);
    va_end(args);
    make_printable(head);
    memcpy(tail, e->text, sizeof tail);
    int room = (int)sizeof e->text - 3;
    int n_head = (int)strlen(head) < room / 2 ? (int)strlen(head) : room / 2;
    (void)snprintf(e->text, sizeof e->text, "%.*s: %.*s", n_head, head, room - n_head, tail);
    return e->code;
}

void cov_err_clear(struct cov_err *e)
{
    if (e) {
        e->code = COV_OK;
        e->text[0] = '\0';
    }
}
