/* stream_bytes.h - for unit tests: the contents of chunk streams, with and without BGZF around
 * them.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_STREAM_BYTES_H
#define TESTS_STREAM_BYTES_H

#include "tests/lib/own_dir.h"

#include "common/file/bgz.h"

/* Writes a file of kind `mode` with these contents. */
static inline void frame(const char *path, enum cov_bgz_mode mode, const void *p, size_t n)
{
    struct cov_bgz *b;
    assert_ok(cov_bgz_open_write(path, mode, 1, &b, &e));
    assert_ok(cov_bgz_write(b, p, n, &e));
    assert_ok(cov_bgz_close(b, &e));
}

/* Returns the contents, of up to 4 MiB. */
static inline struct bytes unframed(const char *path)
{
    enum { MOST = 1 << 22 };
    struct bytes out = {unit_zeros(MOST), 0};
    struct cov_bgz *b;
    assert_ok(cov_bgz_open_read(path, 1, &b, &e));
    for (size_t got = 1; got; out.n += got)
        assert_ok(cov_bgz_read(b, out.p + out.n, MOST - out.n, &got, &e));
    cov_bgz_abort(b);
    return out;
}

#endif
