/* fuzz_bgz.c - plain, gzip or BGZF bytes: peeked at, read in odd steps, and read again with threads; all of it comes
 * the same way.
 * Target: common/file/bgz.c
 * SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

enum { MOST = 1 << 22 };

static int read_all(const char *path, unsigned threads, size_t step, size_t *n_out, uint32_t *sum)
{
    static uint8_t buf[1 << 16];
    uint8_t head[COV_BGZ_PEEK];
    size_t got = 1, n_head = 0;
    struct cov_bgz *b;
    *n_out = *sum = 0;
    int rc = cov_bgz_open_read(path, threads, &b, NULL);
    if (rc)
        return rc;
    rc = cov_bgz_peek(b, head, step % COV_BGZ_PEEK, &n_head, NULL);
    while (!rc && got > 0 && *n_out < MOST) {
        rc = cov_bgz_read(b, buf, step, &got, NULL);
        if (rc)
            break;
        if (*n_out == 0 && memcmp(head, buf, n_head < got ? n_head : got) != 0)
            abort();
        for (size_t i = 0; i < got; i++)
            *sum = *sum * 31 + buf[i];
        *n_out += got;
    }
    cov_bgz_abort(b);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *path = fuzz_file(data, n);
    size_t n1, n2;
    uint32_t sum1, sum2;
    int rc1 = read_all(path, 1, 1 << 16, &n1, &sum1), rc2 = read_all(path, 1, 77, &n2, &sum2);
    if ((rc1 == COV_OK) != (rc2 == COV_OK) && n1 < MOST && n2 < MOST)
        abort();
    if (!rc1 && !rc2 && n1 < MOST && n2 < MOST && (n1 != n2 || sum1 != sum2))
        abort();
    if (n % 16 == 0 && read_all(path, 2, 4096, &n2, &sum2) == COV_OK && !rc1 && n1 < MOST &&
        n1 != n2)
        abort();
    return 0;
}
