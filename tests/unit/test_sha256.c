/* test_sha256.c - the examples of FIPS 180-4, and files that cannot be read.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/own_dir.h"

#include <sys/stat.h>

#include "common/file/sha256.h"

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
    (void)state;
    for (size_t i = 0; i < COV_COUNT(examples); i++) {
        char hash[COV_SHA256_TEXT];
        FILE *f = fopen("x", "w");
        assert_non_null(f);
        for (int k = 0; k < examples[i].times; k++)
            assert_true(fputs(examples[i].text, f) >= 0);
        assert_int_equal(fclose(f), 0);
        assert_int_equal(cov_sha256_file("x", hash, NULL), COV_OK);
        assert_string_equal(hash, examples[i].hash);
    }
}

TEST(failures)
{
    struct cov_err e = COV_ERR_INIT;
    char hash[COV_SHA256_TEXT];
    (void)state;
    assert_int_equal(cov_sha256_file("/nonexistent/x", hash, &e), COV_EIO);
    assert_string_equal(e.text, "/nonexistent/x: No such file or directory");
    e = (struct cov_err)COV_ERR_INIT;
    assert_int_equal(cov_sha256_file(".", hash, &e), COV_EINPUT);
    assert_string_equal(e.text, ".: is a directory, not a file");
    e = (struct cov_err)COV_ERR_INIT;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(cov_sha256_file("pipe", hash, &e), COV_EINPUT);
    assert_string_equal(e.text, "pipe: is not a regular file");
}

TEST_GROUP(enter_dir, leave_dir)
