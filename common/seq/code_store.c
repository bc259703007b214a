/* code_store.c - see code_store.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/code_store.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/file/tmpfile.h"
#include "common/seq/alphabet.h"

/* The number of bytes in memory, and the number of codes packed or unpacked at once, which is
 * even, so that each step starts at a byte boundary. */
enum { BUFFER = 1 << 20, STEP = 1 << 15 };

struct cov_code_store {
    struct cov_spool file;
    size_t n; /* bytes in buf, which follow the bytes in the file */
    uint8_t buf[BUFFER];
};

int cov_code_store_new(const char *tmpdir, struct cov_code_store **out, struct cov_err *e)
{
    struct cov_code_store *s = cov_malloc(1, sizeof *s, e);
    *out = NULL;
    if (!s)
        return COV_ENOMEM;
    s->n = 0;
    int rc = cov_spool_init(&s->file, tmpdir, e);
    if (rc)
        free(s);
    else
        *out = s;
    return rc;
}

void cov_code_store_free(struct cov_code_store *s)
{
    if (!s)
        return;
    cov_spool_fini(&s->file);
    free(s);
}

int64_t cov_code_store_end(const struct cov_code_store *s)
{
    return s->file.n_bytes + (int64_t)s->n;
}

int cov_code_store_add(struct cov_code_store *s, const uint8_t *codes, size_t n, struct cov_err *e)
{
    while (n > 0) {
        size_t m = n < STEP ? n : STEP;
        if ((m + 1) / 2 > BUFFER - s->n) {
            int rc = cov_spool_append(&s->file, s->buf, s->n, NULL, e);
            if (rc)
                return rc;
            s->n = 0;
        }
        cov_codes_pack(codes, m, s->buf + s->n);
        s->n += (m + 1) / 2;
        codes += m;
        n -= m;
    }
    return COV_OK;
}

int cov_code_store_clear(struct cov_code_store *s, struct cov_err *e)
{
    s->n = 0;
    return s->file.n_bytes > 0 ? cov_spool_truncate(&s->file, 0, e) : COV_OK;
}

int cov_code_store_get(const struct cov_code_store *s, int64_t beg, int64_t first, size_t n,
                       uint8_t *codes, struct cov_err *e)
{
    uint8_t packed[STEP / 2];
    beg += first / 2;
    for (size_t odd = (size_t)(first % 2); n > 0; odd = 0) {
        size_t m = n < STEP - odd ? n : STEP - odd, n_bytes = (odd + m + 1) / 2, n_file = 0;
        if (beg < s->file.n_bytes) {
            n_file = s->file.n_bytes - beg < (int64_t)n_bytes ? (size_t)(s->file.n_bytes - beg)
                                                              : n_bytes;
            int rc = cov_spool_read(&s->file, beg, packed, n_file, e);
            if (rc)
                return rc;
        }
        if (n_file < n_bytes)
            memcpy(packed + n_file, s->buf + (beg + (int64_t)n_file - s->file.n_bytes),
                   n_bytes - n_file);
        cov_codes_unpack(packed, odd, m, codes);
        codes += m;
        n -= m;
        beg += (int64_t)n_bytes;
    }
    return COV_OK;
}
