/* spool.c - see spool.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/spool.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/tmpfile.h"

int cov_spool_init(struct cov_spool *s, const char *dir, struct cov_err *e)
{
    *s = (struct cov_spool)COV_SPOOL_INIT;
    s->dir = cov_strdup(dir, e);
    return s->dir ? COV_OK : COV_ENOMEM;
}

void cov_spool_fini(struct cov_spool *s)
{
    if (s->fd >= 0)
        (void)close(s->fd); /* nobody will read it again */
    free(s->dir);
    *s = (struct cov_spool)COV_SPOOL_INIT;
}

static int fail(const struct cov_spool *s, struct cov_err *e)
{
    return cov_fail_errno(e, "temporary file in %s", s->dir);
}

int cov_spool_append(struct cov_spool *s, const void *data, size_t n, int64_t *at,
                     struct cov_err *e)
{
    int rc = s->fd < 0 ? cov_tmpfile(s->dir, &s->fd, e) : COV_OK;
    const char *from = data;
    for (size_t done = 0; !rc && done < n;) {
        ssize_t got = pwrite(s->fd, from + done, n - done, (off_t)(s->n_bytes + (int64_t)done));
        if (got >= 0)
            done += (size_t)got;
        else if (errno != EINTR)
            rc = fail(s, e);
    }
    if (rc)
        return rc;
    if (at)
        *at = s->n_bytes;
    s->n_bytes += (int64_t)n;
    return COV_OK;
}

int cov_spool_read(const struct cov_spool *s, int64_t at, void *buf, size_t n, struct cov_err *e)
{
    char *to = buf;
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(s->fd, to + done, n - done, (off_t)(at + (int64_t)done));
        if (got > 0)
            done += (size_t)got;
        else if (got == 0)
            return cov_fail(e, COV_EIO, "temporary file in %s: it has become shorter", s->dir);
        else if (errno != EINTR)
            return fail(s, e);
    }
    return COV_OK;
}

int cov_spool_truncate(struct cov_spool *s, int64_t n, struct cov_err *e)
{
    assert(n <= s->n_bytes);
    if (s->fd >= 0 && ftruncate(s->fd, (off_t)n) != 0)
        return fail(s, e);
    s->n_bytes = n;
    return COV_OK;
}
