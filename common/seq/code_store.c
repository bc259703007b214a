/* code_store.c - see code_store.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/code_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/outfile.h"
#include "common/seq/alphabet.h"

/* Bytes in memory, and codes that are packed or unpacked at once (even: the next go on at a whole
 * byte). */
enum { BUFFER = 1 << 20, STEP = 1 << 15 };

struct cov_code_store {
    const char *dir;
    int fd;          /* -1: none yet */
    int64_t in_file; /* bytes; behind them follows buf[0] */
    size_t n;        /* bytes in buf */
    uint8_t buf[BUFFER];
};

int cov_code_store_new(const char *tmpdir, struct cov_code_store **out, struct cov_err *e)
{
    struct cov_code_store *s = cov_malloc(1, sizeof *s, e);
    *out = s;
    if (!s)
        return COV_ENOMEM;
    s->dir = tmpdir;
    s->fd = -1;
    s->in_file = 0;
    s->n = 0;
    return COV_OK;
}

void cov_code_store_free(struct cov_code_store *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        (void)close(s->fd);
    free(s);
}

int64_t cov_code_store_end(const struct cov_code_store *s)
{
    return s->in_file + (int64_t)s->n;
}

static int flush(struct cov_code_store *s, struct cov_err *e)
{
    if (s->fd < 0) {
        int rc = cov_tmpfile(s->dir, &s->fd, e);
        if (rc)
            return rc;
    }
    for (size_t at = 0; at < s->n;) {
        ssize_t k = pwrite(s->fd, s->buf + at, s->n - at, s->in_file + (int64_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return cov_fail_errno(e, "%s: writing the temporary file of the genome", s->dir);
        at += (size_t)k;
    }
    s->in_file += (int64_t)s->n;
    s->n = 0;
    return COV_OK;
}

int cov_code_store_add(struct cov_code_store *s, const uint8_t *codes, size_t n, struct cov_err *e)
{
    while (n > 0) {
        size_t m = n < STEP ? n : STEP;
        if ((m + 1) / 2 > BUFFER - s->n) {
            int rc = flush(s, e);
            if (rc)
                return rc;
        }
        cov_codes_pack(codes, m, s->buf + s->n);
        s->n += (m + 1) / 2;
        codes += m;
        n -= m;
    }
    return COV_OK;
}

void cov_code_store_cut(struct cov_code_store *s, int64_t end)
{
    if (end >= s->in_file) {
        s->n = (size_t)(end - s->in_file);
    } else {
        s->in_file = end;
        s->n = 0;
    }
}

static int read_file(const struct cov_code_store *s, int64_t beg, size_t n, uint8_t *to,
                     struct cov_err *e)
{
    for (size_t at = 0; at < n;) {
        ssize_t k = pread(s->fd, to + at, n - at, beg + (int64_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return cov_fail_errno(e, "reading the temporary file of the genome");
        if (k == 0)
            return cov_fail(e, COV_EIO, "the temporary file of the genome is cut short");
        at += (size_t)k;
    }
    return COV_OK;
}

int cov_code_store_get(const struct cov_code_store *s, int64_t beg, int64_t first, size_t n,
                       uint8_t *codes, struct cov_err *e)
{
    uint8_t packed[STEP / 2];
    beg += first / 2;
    for (size_t odd = (size_t)(first % 2); n > 0; odd = 0) {
        size_t m = n < STEP - odd ? n : STEP - odd, n_bytes = (odd + m + 1) / 2, n_file = 0;
        if (beg < s->in_file) {
            n_file = s->in_file - beg < (int64_t)n_bytes ? (size_t)(s->in_file - beg) : n_bytes;
            int rc = read_file(s, beg, n_file, packed, e);
            if (rc)
                return rc;
        }
        if (n_file < n_bytes)
            memcpy(packed + n_file, s->buf + (beg + (int64_t)n_file - s->in_file),
                   n_bytes - n_file);
        cov_codes_unpack(packed, odd, m, codes);
        codes += m;
        n -= m;
        beg += (int64_t)n_bytes;
    }
    return COV_OK;
}
