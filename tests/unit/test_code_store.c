/* test_code_store.c - the buffer of codes, in memory and in the temporary file.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/seq/code_store.h"

static uint8_t *random_codes(struct cov_rng *r, size_t n)
{
    uint8_t *codes = malloc(n);
    assert_non_null(codes);
    for (size_t i = 0; i < n; i++)
        codes[i] = (uint8_t)cov_rng_below(r, 16);
    return codes;
}

/* Adds pieces of several lengths, more than fit in memory, and reads random parts. */
TEST(test_pieces)
{
    static const size_t lengths[] = {1, 2, 7, 32767, 32768, 32769, 3000001, 5, 2000000, 1};
    enum { N = sizeof lengths / sizeof lengths[0] };
    struct cov_rng r;
    cov_rng_init(&r, 1);
    struct cov_code_store *s;
    uint8_t *pieces[N], *back = malloc(3000002);
    int64_t begins[N], end = 0;
    assert_non_null(back);
    assert_int_equal(cov_code_store_new("/tmp", &s, NULL), 0);
    for (size_t k = 0; k < N; k++) {
        pieces[k] = random_codes(&r, lengths[k]);
        begins[k] = cov_code_store_end(s);
        assert_int_equal(begins[k], end);
        assert_int_equal(cov_code_store_add(s, pieces[k], lengths[k], NULL), 0);
        end += (int64_t)(lengths[k] + 1) / 2;
        for (size_t j = 0; j <= k; j++)
            for (int round = 0; round < 20; round++) {
                size_t beg = cov_rng_below(&r, lengths[j]);
                size_t n = cov_rng_below(&r, lengths[j] - beg + 1);
                back[n] = 0xee;
                assert_int_equal(cov_code_store_get(s, begins[j], (int64_t)beg, n, back, NULL), 0);
                assert_memory_equal(back, pieces[j] + beg, n);
                assert_int_equal(back[n], 0xee);
            }
    }
    /* Cleared, in the file and in memory, it begins again. */
    for (size_t k = 6; k < 8; k++) {
        assert_int_equal(cov_code_store_clear(s, NULL), 0);
        assert_int_equal(cov_code_store_end(s), 0);
        assert_int_equal(cov_code_store_add(s, pieces[k], lengths[k], NULL), 0);
        assert_int_equal(cov_code_store_get(s, 0, 0, lengths[k], back, NULL), 0);
        assert_memory_equal(back, pieces[k], lengths[k]);
    }
    for (size_t k = 0; k < N; k++)
        free(pieces[k]);
    free(back);
    cov_code_store_free(s);
}

/* A missing directory is an error only when the file is needed. */
TEST(test_no_directory)
{
    struct cov_code_store *s;
    struct cov_err e = COV_ERR_INIT;
    uint8_t *codes = calloc(3000000, 1);
    assert_non_null(codes);
    assert_int_equal(cov_code_store_new("/nonexistent", &s, NULL), 0);
    assert_int_equal(cov_code_store_add(s, codes, 1000000, NULL), 0);
    assert_int_equal(cov_code_store_get(s, 0, 0, 1000000, codes, NULL), 0);
    assert_int_equal(cov_code_store_add(s, codes, 3000000, &e), COV_EIO);
    assert_non_null(strstr(e.text, "/nonexistent"));
    cov_code_store_free(s);
    cov_code_store_free(NULL);
    free(codes);
}
