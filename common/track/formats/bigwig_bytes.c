/* bigwig_bytes.c - see bigwig_bytes.h.
 * SPDX-License-Identifier: MIT */
#include "common/track/formats/bigwig_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/mem.h"

enum { BUFFER = 1 << 16 };

int cov_bigwig_out_write(const struct cov_bigwig_out *out, const void *data, size_t n, uint64_t at,
                         struct cov_err *e)
{
    const uint8_t *p = data;
    while (n > 0) {
        ssize_t done = pwrite(out->fd, p, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = done == 0 ? ENOSPC : errno;
            return cov_fail_errno(e, "%s: cannot be written%s", out->name, out->what);
        }
        p += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return COV_OK;
}

int cov_bigwig_out_read(const struct cov_bigwig_out *out, void *data, size_t n, uint64_t at,
                        struct cov_err *e)
{
    uint8_t *p = data;
    while (n > 0) {
        ssize_t done = pread(out->fd, p, n, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return cov_fail_errno(e, "%s: cannot be read back%s", out->name, out->what);
        if (done == 0)
            return cov_fail(e, COV_EIO, "%s: cannot be read back%s: it has become shorter",
                            out->name, out->what);
        p += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return COV_OK;
}

int cov_bigwig_out_flush(struct cov_bigwig_out *out, struct cov_err *e)
{
    int rc = cov_bigwig_out_write(out, out->buf, out->n, out->at - out->n, e);
    out->n = 0;
    return rc;
}

int cov_bigwig_out_put(struct cov_bigwig_out *out, const void *data, size_t n, struct cov_err *e)
{
    int rc = COV_OK;
    if (!out->buf && !(out->buf = cov_malloc(BUFFER, 1, e)))
        return COV_ENOMEM;
    if (out->n + n > BUFFER)
        rc = cov_bigwig_out_flush(out, e);
    if (rc)
        return rc;
    if (n > BUFFER) {
        rc = cov_bigwig_out_write(out, data, n, out->at, e);
    } else {
        memcpy(out->buf + out->n, data, n);
        out->n += n;
    }
    out->at += n;
    return rc;
}

void cov_bigwig_out_fini(struct cov_bigwig_out *out)
{
    free(out->buf);
    out->buf = NULL;
    out->n = 0;
}
