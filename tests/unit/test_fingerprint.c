/* test_fingerprint.c - the hash differs for different bytes, and is the same on every machine.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include "common/base/fingerprint.h"

static const char path[] = "x";

TEST(depends_on_every_bit)
{
    enum { N = 40 };
    uint8_t bytes[N + 1];
    uint64_t seen[9 * N + 1 + N];
    size_t n = 0;
    memset(bytes, 7, sizeof bytes);
    /* Texts of every length, and one text with each of its bits flipped. */
    for (size_t k = 0; k <= N; k++)
        seen[n++] = cov_fingerprint(0, bytes, k);
    for (size_t i = 0; i < N; i++)
        for (int b = 0; b < 8; b++) {
            bytes[i] ^= (uint8_t)(1 << b);
            seen[n++] = cov_fingerprint(0, bytes, N);
            bytes[i] ^= (uint8_t)(1 << b);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(seen[i] != seen[k]);
    assert_true(cov_fingerprint(1, bytes, N) != cov_fingerprint(2, bytes, N));
    assert_int_equal(cov_fingerprint(0, bytes + 1, N),
                     cov_fingerprint(0, bytes, N)); /* any alignment */
    assert_true(cov_fingerprint(0, "covtools", 8) == UINT64_C(0x523038e8044fb3cb));
}

TEST(hashes_files)
{
    enum { N = (2 << 20) + 5 };
    uint64_t a, b;
    int64_t n;
    uint8_t *bytes = calloc(N, 1);
    assert_non_null(bytes);
    for (size_t change = 0; change < 4; change++) {
        static const size_t at[] = {0, 1 << 20, N - 1, 12345};
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, N, f), N);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(cov_fingerprint_file(path, NULL, &a, &n, NULL), 0);
        assert_int_equal(n, N);
        f = fopen(path, "r+b");
        assert_non_null(f);
        assert_int_equal(fseek(f, (long)at[change], SEEK_SET), 0);
        assert_int_equal(fputc(1, f), 1);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(cov_fingerprint_file(path, NULL, &b, &n, NULL), 0);
        assert_true(a != b);
    }
    free(bytes);
    assert_fails(cov_fingerprint_file("/nonexistent/x", NULL, &a, &n, &e), COV_EIO,
                 "/nonexistent/x");
    assert_int_equal(cov_fingerprint_file("/dev/null", NULL, &a, &n, NULL), COV_EINPUT);
}

TEST_GROUP(enter_dir, leave_dir)
