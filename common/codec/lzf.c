/* lzf.c - see lzf.h.
 * SPDX-License-Identifier: MIT */
#include "common/codec/lzf.h"

#include <limits.h>
#include <lzf.h>

/* liblzf leaves its hash table uninitialised, which does not show in what it writes: every three
 * bytes that have occurred before have set their slot, so a slot never set leads to bytes that
 * differ. */
int cov_lzf_encode(const void *src, size_t n, void *dst, size_t *n_dst, struct cov_err *e)
{
    if (n > UINT_MAX)
        return cov_fail(e, COV_EUNSUPPORTED, "lzf: a chunk of %zu bytes is too large", n);
    *n_dst = n > 1 ? lzf_compress(src, (unsigned)n, dst, (unsigned)n - 1) : 0;
    return COV_OK;
}

int cov_lzf_decode(const void *src, size_t n, void *dst, size_t n_dst, struct cov_err *e)
{
    if (n == 0 || n > UINT_MAX || n_dst > UINT_MAX)
        return cov_fail(e, COV_EINPUT, "lzf: %zu bytes for a chunk of %zu", n, n_dst);
    unsigned got = lzf_decompress(src, (unsigned)n, dst, (unsigned)n_dst);
    if (got != n_dst)
        return cov_fail(e, COV_EINPUT, "lzf: the compressed data is damaged");
    return COV_OK;
}
