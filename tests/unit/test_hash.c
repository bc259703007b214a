/* test_hash.c - fingerprints differ for different bytes, and are the same on every machine; SHA-256
 * of the examples of FIPS 180-4.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include <sys/stat.h>

#include "common/file/hash.h"

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
    static uint8_t bytes[N];
    for (size_t change = 0; change < 4; change++) {
        static const size_t at[] = {0, 1 << 20, N - 1, 12345};
        put_bytes("x", bytes, N);
        assert_ok(cov_fingerprint_file("x", NULL, &a, &n, &e));
        assert_int_equal(n, N);
        bytes[at[change]] ^= 1;
        put_bytes("x", bytes, N);
        assert_ok(cov_fingerprint_file("x", NULL, &b, &n, &e));
        assert_true(a != b);
    }
    assert_fails(cov_fingerprint_file("/nonexistent/x", NULL, &a, &n, &e), COV_EIO,
                 "/nonexistent/x");
    assert_int_equal(cov_fingerprint_file("/dev/null", NULL, &a, &n, NULL), COV_EINPUT);
}

TEST(hashes)
{
    static const struct {
        const char *text;
        int times;
        const char *hash;
    } examples[] = {
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (size_t i = 0; i < COV_COUNT(examples); i++) {
        char hash[COV_SHA256_TEXT];
        FILE *f = must(fopen("x", "w"));
        for (int k = 0; k < examples[i].times; k++)
            assert_true(fputs(examples[i].text, f) >= 0);
        assert_int_equal(fclose(f), 0);
        assert_ok(cov_sha256_file("x", hash, &e));
        assert_string_equal(hash, examples[i].hash);
    }
}

TEST(failures)
{
    char hash[COV_SHA256_TEXT];
    assert_fails_with(cov_sha256_file("/nonexistent/x", hash, &e), COV_EIO,
                      "/nonexistent/x: No such file or directory");
    assert_fails_with(cov_sha256_file(".", hash, &e), COV_EINPUT, ".: is a directory, not a file");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_fails_with(cov_sha256_file("pipe", hash, &e), COV_EINPUT, "pipe: is not a regular file");
}

TEST_GROUP(enter_dir, leave_dir)
