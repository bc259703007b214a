/* test_codec.c - names of compressions, round trips through them, filter pipelines, damaged data.
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/blob.h"
#include "common/codec/codec.h"

static void *alloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    assert_non_null(p);
    return p;
}

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum cov_codec_id id;
        int level;
    } good[] = {
        {"gzip", COV_CODEC_GZIP, 0},
        {"fast", COV_CODEC_FAST, 0},
        {"libdeflate", COV_CODEC_LIBDEFLATE, 6},
        {"libdeflate:1", COV_CODEC_LIBDEFLATE, 1},
        {"libdeflate:12", COV_CODEC_LIBDEFLATE, 12},
        {"lzf", COV_CODEC_LZF, 0},
        {"none", COV_CODEC_NONE, 0},
    };
    for (size_t i = 0; i < COV_COUNT(good); i++) {
        struct cov_codec_choice c;
        assert_int_equal(cov_codec_parse(good[i].text, &c, NULL), 0);
        assert_int_equal(c.id, good[i].id);
        assert_int_equal(c.level, good[i].level);
    }
    static const char *const bad[] = {
        "",
        "gz",
        "gzipp",
        "GZIP",
        "gzip:4",
        "fast:1",
        "lzf:1",
        "libdeflate:0",
        "libdeflate:13",
        "libdeflate:",
        "libdeflate:6x",
        "none:0",
        "libdeflate:-1",
        "libdeflate: 6",
        "libdeflate:+6",
        "libdeflate:99999999999999999999",
    };
    for (size_t i = 0; i < COV_COUNT(bad); i++) {
        struct cov_codec_choice c;
        struct cov_err e = COV_ERR_INIT;
        assert_int_equal(cov_codec_parse(bad[i], &c, &e), COV_EUSAGE);
        assert_non_null(strstr(e.text, "libdeflate"));
    }
}

static const struct cov_codec_choice choices[] = {
    {COV_CODEC_NONE, 0},       {COV_CODEC_GZIP, 0},        {COV_CODEC_LZF, 0},
    {COV_CODEC_LIBDEFLATE, 1}, {COV_CODEC_LIBDEFLATE, 12}, {COV_CODEC_FAST, 0},
};

static size_t filters_of(struct cov_codec_choice choice, struct cov_filter *filters)
{
    if (choice.id == COV_CODEC_NONE)
        return 0;
    filters[0] =
        (struct cov_filter){choice.id == COV_CODEC_LZF ? COV_H5_LZF : COV_H5_DEFLATE, 0, 0};
    return 1;
}

/* Runs, text with repeats, and noise. */
static void fill(uint8_t *p, size_t n, int kind)
{
    uint32_t r = 12345;
    for (size_t i = 0; i < n; i++) {
        r = r * 1664525 + 1013904223;
        p[i] = kind == 0 ? 7 : kind == 1 ? (uint8_t)(r >> 30) : (uint8_t)(r >> 24);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t c = 0; c < COV_COUNT(choices); c++)
        for (int kind = 0; kind < 3; kind++)
            for (size_t n = 1; n < 40000; n = n < 70 ? n + 1 : n * 3) {
                size_t cap = cov_codec_bound(choices[c], n), n_packed;
                uint8_t *src = alloc(n), *packed = alloc(cap), *again = alloc(cap),
                        *back = alloc(n);
                fill(src, n, kind);
                assert_int_equal(
                    cov_codec_encode(choices[c], 0, src, n, packed, cap, &n_packed, NULL), 0);
                size_t n_again;
                assert_int_equal(
                    cov_codec_encode(choices[c], 0, src, n, again, cap, &n_again, NULL), 0);
                assert_int_equal(n_again, n_packed);
                assert_memory_equal(again, packed, n_packed);
                struct cov_filter filter[1];
                size_t n_filters = filters_of(choices[c], filter);
                if (n_packed == 0) {
                    assert_int_equal(choices[c].id, COV_CODEC_LZF);
                } else {
                    assert_true(choices[c].id != COV_CODEC_LZF || n_packed < n);
                    assert_int_equal(
                        cov_codec_undo(filter, n_filters, 0, packed, n_packed, back, n, NULL, NULL),
                        0);
                    assert_memory_equal(back, src, n);
                    /* Another size than the chunk's, in either direction. */
                    struct cov_err e = COV_ERR_INIT;
                    uint8_t *other = alloc(n + 1);
                    assert_int_equal(cov_codec_undo(filter, n_filters, 0, packed, n_packed, other,
                                                    n + 1, NULL, &e),
                                     COV_EINPUT);
                    assert_int_equal(cov_codec_undo(filter, n_filters, 0, packed, n_packed, other,
                                                    n - 1, NULL, NULL),
                                     COV_EINPUT);
                    free(other);
                }
                assert_true(choices[c].id != COV_CODEC_LZF || kind == 2 || n < 1000 ||
                            n_packed > 0);
                free(src);
                free(packed);
                free(again);
                free(back);
            }
}

/* Cut short or with one bit changed, data is refused, or (LZF, which has no checksum) gives
 * something of the right size; it never makes the decoder read or write outside its buffers
 * (sanitizers watch). */
static void test_damaged(void **state)
{
    (void)state;
    enum { N = 3000 };
    uint8_t src[N];
    fill(src, N, 1);
    for (size_t c = 1; c < COV_COUNT(choices); c++) {
        size_t cap = cov_codec_bound(choices[c], N), n;
        uint8_t *packed = alloc(cap);
        assert_int_equal(cov_codec_encode(choices[c], 0, src, N, packed, cap, &n, NULL), 0);
        struct cov_filter filter[1];
        size_t n_filters = filters_of(choices[c], filter);
        for (size_t cut = 0; cut < n; cut++) {
            uint8_t *part = alloc(cut), *back = alloc(N);
            memcpy(part, packed, cut);
            struct cov_err e = COV_ERR_INIT;
            assert_int_equal(cov_codec_undo(filter, n_filters, 0, part, cut, back, N, NULL, &e),
                             COV_EINPUT);
            assert_true(e.text[0] != '\0');
            free(part);
            free(back);
        }
        size_t n_flips = 0, n_unseen = 0;
        for (size_t bit = 0; bit < 8 * n; bit += 3) {
            uint8_t *part = alloc(n), *back = alloc(N);
            memcpy(part, packed, n);
            part[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int rc = cov_codec_undo(filter, n_filters, 0, part, n, back, N, NULL, NULL);
            assert_true(rc == 0 || rc == COV_EINPUT);
            n_flips++;
            n_unseen += rc == 0 && memcmp(back, src, N) != 0;
            free(part);
            free(back);
        }
        /* Adler-32 is not perfect. */
        if (choices[c].id != COV_CODEC_LZF)
            assert_true(n_unseen * 1000 < n_flips * 5);
        free(packed);
    }
}

static void put32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static void test_fletcher32(void **state)
{
    (void)state;
    /* Worked by hand: sum1 = 0x0102 + 0x0304, sum2 = 0x0102 + 0x0406; an odd byte is a high half.
     */
    assert_int_equal(cov_fletcher32("\1\2\3\4", 4), 0x05080406);
    assert_int_equal(cov_fletcher32("\1\2\3", 3), 0x05040402);
    assert_int_equal(cov_fletcher32("", 0), 0);
    /* Sums are taken modulo 65535, with 65535 itself left as it is: checked against plain division.
     */
    uint8_t data[4097];
    fill(data, sizeof data, 2);
    for (size_t n = 4000; n <= sizeof data; n++) {
        uint64_t sum1 = 0, sum2 = 0;
        for (size_t i = 0; i < n; i += 2) {
            sum1 += (uint64_t)data[i] << 8 | (i + 1 < n ? data[i + 1] : 0);
            sum2 += sum1;
        }
        uint32_t sum = cov_fletcher32(data, n);
        assert_int_equal((sum & 0xffff) % 65535, sum1 % 65535);
        assert_int_equal((sum >> 16) % 65535, sum2 % 65535);
    }
}

/* Every pipeline that can be undone, with every subset of filters left out. */
static void test_pipelines(void **state)
{
    (void)state;
    enum { N = 1003, ELEM = 4 };
    static const struct cov_filter S = {COV_H5_SHUFFLE, ELEM, 0}, D = {COV_H5_DEFLATE, 0, 0},
                                   Z = {COV_H5_LZF, 0, 0}, F = {COV_H5_FLETCHER32, 0, 0};
    const struct cov_filter pipelines[][3] = {{S, D, F},   {S, F, D},   {S, Z, F},   {S, F, Z},
                                              {D, F, {0}}, {F, D, {0}}, {S, D, {0}}, {F, {0}, {0}}};
    for (size_t p = 0; p < COV_COUNT(pipelines); p++) {
        const struct cov_filter *filters = pipelines[p];
        size_t n_filters = 0;
        while (n_filters < 3 && filters[n_filters].id)
            n_filters++;
        assert_true(cov_codec_can_undo(filters, n_filters));
        for (uint32_t mask = 0; mask < 1U << n_filters; mask++) {
            uint8_t src[N], a[2 * N], b[2 * N], back[N];
            fill(src, N, 1);
            memcpy(a, src, N);
            size_t n = N;
            for (size_t i = 0; i < n_filters; i++) {
                if (mask >> i & 1)
                    continue;
                struct cov_codec_choice c = {
                    filters[i].id == COV_H5_LZF ? COV_CODEC_LZF : COV_CODEC_GZIP, 0};
                if (filters[i].id == COV_H5_SHUFFLE) {
                    cov_shuffle(a, n, ELEM, b);
                } else if (filters[i].id == COV_H5_FLETCHER32) {
                    memcpy(b, a, n);
                    put32(b + n, cov_fletcher32(a, n));
                    n += 4;
                } else {
                    assert_int_equal(cov_codec_encode(c, 0, a, n, b, sizeof b, &n, NULL), 0);
                    assert_true(n > 0);
                }
                memcpy(a, b, n);
            }
            uint8_t *scratch = alloc(cov_codec_undo_scratch(N));
            assert_int_equal(cov_codec_undo(filters, n_filters, mask, a, n, back, N, scratch, NULL),
                             0);
            assert_memory_equal(back, src, N);
            free(scratch);
        }
    }
    assert_true(cov_codec_can_undo(NULL, 0));
    const struct cov_filter not_ours[][2] = {{D, S}, {D, Z}, {S, S}, {F, F}, {{32015, 0, 0}, D},
                                             {F, S}};
    for (size_t p = 0; p < COV_COUNT(not_ours); p++)
        assert_false(cov_codec_can_undo(not_ours[p], 2));
    assert_false(cov_codec_can_undo(&(struct cov_filter){COV_H5_SHUFFLE, 0, 0}, 1));
}

static void test_checksum_mismatch(void **state)
{
    (void)state;
    static const struct cov_filter f = {COV_H5_FLETCHER32, 0, 0};
    uint8_t data[14], back[10], scratch[14];
    fill(data, 10, 2);
    uint32_t sum = cov_fletcher32(data, 10);
    put32(data + 10, sum);
    assert_int_equal(cov_codec_undo(&f, 1, 0, data, 14, back, 10, scratch, NULL), 0);
    /* As HDF5 before 1.6.3 wrote it on some machines. */
    put32(data + 10, (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff));
    assert_int_equal(cov_codec_undo(&f, 1, 0, data, 14, back, 10, scratch, NULL), 0);
    put32(data + 10, sum ^ 1);
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_codec_undo(&f, 1, 0, data, 14, back, 10, scratch, &e), COV_EINPUT);
    assert_non_null(strstr(e.text, "fletcher32"));
    assert_int_equal(cov_codec_undo(&f, 1, 0, data, 3, back, 10, scratch, NULL), COV_EINPUT);
    assert_int_equal(cov_codec_undo(&f, 1, 1, data, 14, back, 10, scratch, NULL), COV_EINPUT);
}

static void test_blob(void **state)
{
    (void)state;
    struct cov_blob b = COV_BLOB_INIT;
    for (int round = 0; round < 2; round++) {
        cov_blob_clear(&b);
        for (size_t i = 0; i < 100; i++) {
            uint8_t *at;
            assert_int_equal(cov_blob_room(&b, 2 * i, &at, NULL), 0);
            if (i) /* room for nothing may be nowhere */
                memset(at, (int)i, i);
            assert_int_equal(cov_blob_end_piece(&b, i, NULL), 0);
        }
        assert_int_equal(b.n_pieces, 100);
        for (size_t i = 0; i < 100; i++) {
            size_t n;
            const uint8_t *p = cov_blob_piece(&b, i, &n);
            assert_int_equal(n, i);
            for (size_t k = 0; k < n; k++)
                assert_int_equal(p[k], i);
        }
    }
    uint8_t *at;
    struct cov_err e = COV_ERR_INIT;
    assert_int_equal(cov_blob_room(&b, SIZE_MAX, &at, &e), COV_ENOMEM);
    assert_int_equal(cov_blob_room(&b, SIZE_MAX / 2, &at, NULL), COV_ENOMEM);
    assert_int_equal(b.n_pieces, 100);
    cov_blob_fini(&b);
    cov_blob_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),     cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damaged),   cmocka_unit_test(test_fletcher32),
        cmocka_unit_test(test_pipelines), cmocka_unit_test(test_checksum_mismatch),
        cmocka_unit_test(test_blob),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
