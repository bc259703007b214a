/* test_zstd.c - frames of Zstandard written down by hand (RFC 8878), and what is no frame of a
 * chunk.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/codec/h5_filters.h"

#define MAGIC 0x28, 0xb5, 0x2f, 0xfd

static void check(const uint8_t *frame, size_t n, size_t n_dst, int rc, const char *text)
{
    uint8_t *src = malloc(n), *dst = malloc(n_dst);
    assert_non_null(src);
    assert_non_null(dst);
    memcpy(src, frame, n);
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_zstd_decode(src, n, dst, n_dst, &e), rc);
    if (rc)
        assert_non_null(strstr(e.text, text));
    else
        for (size_t i = 0; i < n_dst; i++)
            assert_int_equal(dst[i], 'a');
    free(src);
    free(dst);
}

static void test_frames(void **state)
{
    (void)state;
    /* A plain block of three bytes, last; sizes told in one byte, or not at all. */
    static const uint8_t plain[] = {MAGIC, 0x20, 3, 0x19, 0, 0, 'a', 'a', 'a'},
                         silent[] = {MAGIC, 0x00, 0, 0x19, 0, 0, 'a', 'a', 'a'},
                         /* A byte repeated 2^17 times: as told; but told as 3; and not told. */
        run[] = {MAGIC, 0xa0, 0, 0, 2, 0, 0x03, 0, 0x10, 'a'},
                         bomb[] = {MAGIC, 0x20, 3, 0x03, 0, 0x10, 'a'},
                         silent_bomb[] = {MAGIC, 0x00, 0x38, 0x03, 0, 0x10, 'a'},
                         /* One that is told as 2^62. */
        huge[] = {MAGIC, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x19, 0, 0, 'a', 'a', 'a'},
                         two[] = {MAGIC, 0x20,  3,    0x19, 0, 0, 'a', 'a',
                                  'a',   MAGIC, 0x20, 0,    1, 0, 0},
                         behind[] = {MAGIC, 0x20, 3, 0x19, 0, 0, 'a', 'a', 'a', 0},
                         skipped[] = {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0},
                         early[] = {0x27, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, 'a', 'a', 'a'};
    check(plain, sizeof plain, 3, 0, "");
    assert_int_equal(cov_zstd_claim(plain, sizeof plain), 3);
    check(plain, sizeof plain, 4, COV_EINPUT, "3 bytes instead of the 4");
    check(silent, sizeof silent, 3, 0, "");
    assert_int_equal(cov_zstd_claim(silent, sizeof silent), 0);
    check(silent, sizeof silent, 4, COV_EINPUT, "3 bytes instead of the 4");
    check(silent, sizeof silent, 2, COV_EINPUT, "zstd: ");
    check(run, sizeof run, (size_t)1 << 17, 0, "");
    check(run, sizeof run, 1000, COV_EINPUT, "131072 bytes instead of the 1000");
    check(bomb, sizeof bomb, 3, COV_EINPUT, "damaged");
    check(silent_bomb, sizeof silent_bomb, 3, COV_EINPUT, "zstd: ");
    check(huge, sizeof huge, 3, COV_EINPUT, "zstd: ");
    assert_int_equal(cov_zstd_claim(huge, sizeof huge), (uint64_t)1 << 62);
    check(two, sizeof two, 3, COV_EINPUT, "damaged");
    check(behind, sizeof behind, 3, COV_EINPUT, "damaged");
    check(skipped, sizeof skipped, 3, COV_EINPUT, "damaged");
    assert_int_equal(cov_zstd_claim(skipped, sizeof skipped), 0);
    check(early, sizeof early, 3, COV_EINPUT, "damaged");
    assert_int_equal(cov_zstd_claim(early, sizeof early), 0);
    for (size_t cut = 0; cut < sizeof plain; cut++)
        check(plain, cut, 3, COV_EINPUT, "damaged");
}

/* A frame of ours tells its size and has a checksum, so that nothing wrong passes unseen. */
static void test_flips(void **state)
{
    (void)state;
    enum { N = 4000 };
    uint8_t src[N], packed[N], dst[N];
    size_t n;
    for (size_t i = 0; i < N; i++)
        src[i] = (uint8_t)(i * i >> 7 & 3);
    assert_int_equal(cov_zstd_encode(3, src, N, packed, &n, NULL), 0);
    assert_true(n > 0 && n < N);
    assert_int_equal(cov_zstd_claim(packed, n), N);
    assert_int_equal(packed[4] & 4, 4);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        packed[bit / 8] ^= (uint8_t)(1U << bit % 8);
        int rc = cov_zstd_decode(packed, n, dst, N, NULL);
        assert_true(rc == COV_EINPUT || (rc == 0 && memcmp(dst, src, N) == 0));
        packed[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    assert_int_equal(cov_zstd_decode(packed, n, dst, N, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
