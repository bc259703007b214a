/* test_h5_rows.c - rows read from stored chunks, and numbers of every type, such as every half.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include <float.h>

#include "common/base/half.h"
#include "common/h5/h5_rows.h"

/* ---- numbers ---- */

static void put_bytes(uint64_t bits, const struct cov_h5_type *type, uint8_t *dst)
{
    for (size_t j = 0; j < type->bytes; j++)
        dst[type->big_endian ? type->bytes - 1 - j : j] = (uint8_t)(bits >> 8 * j);
}

TEST(test_integers)
{
    static const int64_t values[] = {
        0,         1,        -1,     77,    -77,       127,       -128,       255,
        256,       32767,    -32768, 65535, INT32_MAX, INT32_MIN, UINT32_MAX, (int64_t)1 << 40,
        INT64_MAX, INT64_MIN};
    enum { N = sizeof values / sizeof values[0], COPIES = 700 };
    for (size_t bytes = 1; bytes <= 8; bytes *= 2)
        for (int variant = 0; variant < 4; variant++) {
            struct cov_h5_type type = {COV_H5_INT, bytes, variant & 1, variant & 2, 0};
            int64_t min = type.is_signed ? INT64_MIN >> (64 - 8 * bytes) : 0;
            int64_t max = type.is_signed ? INT64_MAX >> (64 - 8 * bytes)
                          : bytes < 8    ? (int64_t)(UINT64_MAX >> (64 - 8 * bytes))
                                         : INT64_MAX;
            /* Many elements, at an odd address, to expose errors at block boundaries. */
            static uint8_t raw[1 + 8 * N * COPIES];
            static int64_t expected[N * COPIES], got[N * COPIES];
            static double numbers[N * COPIES];
            size_t n = 0;
            for (size_t k = 0; k < (size_t)N * COPIES; k++)
                if (values[k % N] >= min && values[k % N] <= max) {
                    put_bytes((uint64_t)values[k % N], &type, raw + 1 + n * bytes);
                    expected[n++] = values[k % N];
                }
            assert_ok(cov_h5_to_int64(&type, raw + 1, n, got, &e));
            assert_memory_equal(got, expected, n * sizeof *got);
            cov_h5_to_double(&type, raw + 1, n, numbers);
            for (size_t k = 0; k < n; k++)
                assert_true(numbers[k] == (double)expected[k]);
        }
    /* Too large for an int64_t. */
    struct cov_h5_type type = {COV_H5_INT, 8, false, false, 0};
    uint8_t raw[8];
    put_bytes((uint64_t)INT64_MAX + 1, &type, raw);
    int64_t got;
    assert_fails(cov_h5_to_int64(&type, raw, 1, &got, &e), COV_EINPUT, "9223372036854775808");
    double number;
    cov_h5_to_double(&type, raw, 1, &number);
    assert_true(number == 0x1p63);
}

static void check_float(const struct cov_h5_type *type, uint64_t bits, double expected)
{
    uint8_t raw[8];
    put_bytes(bits, type, raw);
    double got;
    cov_h5_to_double(type, raw, 1, &got);
    if (isnan(expected))
        assert_true(isnan(got));
    else
        assert_true(got == expected && !signbit(got) == !signbit(expected));
}

TEST(test_floats)
{
    for (int big = 0; big < 2; big++) {
        struct cov_h5_type half = {COV_H5_FLOAT, 2, true, big, 0};
        for (unsigned h = 0; h < 65536; h++) {
            int exponent = (int)(h >> 10 & 31);
            double fraction = h & 1023;
            double value = exponent == 0    ? ldexp(fraction, -24)
                           : exponent == 31 ? (double)(fraction > 0 ? NAN : INFINITY)
                                            : ldexp(1024 + fraction, exponent - 25);
            check_float(&half, h, h & 0x8000 ? -value : value);
            assert_true(isnan(value) || cov_half_to_float((uint16_t)h & 0x7fff) == (float)value);
        }
        struct cov_h5_type single = {COV_H5_FLOAT, 4, true, big, 0};
        check_float(&single, 0x3f800000, 1);
        check_float(&single, 0xc0490fdb, -3.1415927410125732);
        check_float(&single, 1, 0x1p-149);
        check_float(&single, 0x7f800000, INFINITY);
        check_float(&single, 0x7fc00000, NAN);
        struct cov_h5_type wide = {COV_H5_FLOAT, 8, true, big, 0};
        check_float(&wide, 0x3ff0000000000000, 1);
        check_float(&wide, 0xc00921fb54442d18, -3.141592653589793);
        check_float(&wide, 0xfff0000000000000, -INFINITY);
    }
}

TEST(test_string_length)
{
    struct cov_h5_type zeros = {COV_H5_STRING, 6, false, false, '\0'};
    struct cov_h5_type spaces = {COV_H5_STRING, 6, false, false, ' '};
    assert_int_equal(cov_h5_string_length(&zeros, "Chr1\0"), 4);
    assert_int_equal(cov_h5_string_length(&zeros, "a b   "), 6);
    assert_int_equal(cov_h5_string_length(&zeros, "ab\0x\0y"), 2);
    assert_int_equal(cov_h5_string_length(&zeros, "\0\0\0\0\0"), 0);
    assert_int_equal(cov_h5_string_length(&spaces, "a b   "), 3);
    assert_int_equal(cov_h5_string_length(&spaces, "      "), 0);
    assert_int_equal(cov_h5_string_length(&spaces, "abcdef"), 6);
}

/* ---- rows; test_h5 and h5_layout.t have chunks of all shapes ---- */

TEST(test_plain_rows)
{
    struct cov_h5_rows r = {.type = {COV_H5_INT, 2, true, false, 0}, .dims = {7, 5, 2}};
    struct cov_blob raw = COV_BLOB_INIT;
    uint8_t *at;
    assert_int_equal(cov_h5_n_pieces(&r, 0, 2), 1);
    assert_ok(cov_blob_room(&raw, 20, &at, &e));
    for (uint8_t i = 0; i < 20; i++)
        at[i] = i;
    assert_ok(cov_blob_end_piece(&raw, 20, &e));
    const uint8_t *block = NULL;
    assert_ok(cov_h5_unpack(&r, (struct cov_h5_block){3, 1, 0, 2}, &raw, 0, &block, &e));
    assert_ptr_equal(block, raw.data);
    cov_blob_fini(&raw);
}

/* A chunk that LZF does not shrink is stored unchanged, with the mask bit of the filter. */
TEST(test_mask)
{
    static const struct cov_codec_choice lzf = {COV_CODEC_LZF, 0};
    for (size_t n_before = 0; n_before < 2; n_before++) {
        struct cov_filter filters[3];
        size_t n_filters = cov_h5_filters(lzf, 4 * n_before, filters);
        struct cov_blob b = COV_BLOB_INIT;
        uint8_t *src, *scratch;
        assert_ok(cov_h5_pack_begin(lzf, 64, &b, &src, &scratch, &e));
        for (uint8_t i = 0; i < 64; i++)
            src[i] = (uint8_t)(i * 167);
        assert_ok(cov_h5_pack_end(lzf, filters, n_filters, 64, &b, &e));
        size_t n;
        const uint8_t *piece = cov_blob_piece(&b, 0, &n);
        uint32_t mask;
        memcpy(&mask, piece, sizeof mask);
        assert_int_equal(n, COV_H5_PIECE_HEAD + 64);
        assert_int_equal(mask, 1 << n_before);
        for (uint8_t i = 0; i < 64; i++)
            assert_int_equal(piece[COV_H5_PIECE_HEAD + i], (uint8_t)(i * 167));
        cov_blob_fini(&b);
    }
}

TEST(test_wrong_size)
{
    uint8_t fill[8] = {0};
    struct cov_h5_rows r = {
        .type = {COV_H5_INT, 4, true, false, 0},
        .dims = {2, 10, 1},
        .chunked = true,
        .chunk = {1, 10, 1},
        .fill = fill,
    };
    struct cov_blob raw = COV_BLOB_INIT;
    uint8_t *at;
    assert_ok(cov_blob_room(&raw, 100, &at, &e));
    memset(at, 0, 100);
    assert_ok(cov_blob_end_piece(&raw, COV_H5_PIECE_HEAD + 39, &e));
    const uint8_t *block = NULL;
    assert_fails_with(cov_h5_unpack(&r, (struct cov_h5_block){0, 1, 0, 1}, &raw, 0, &block, &e),
                      COV_EINPUT, "the chunk has 39 bytes instead of 40");
    cov_blob_fini(&raw);
}

/* ---- conversion of elements ---- */

static struct cov_h5_type int_type(size_t bytes, bool is_signed)
{
    return (struct cov_h5_type){COV_H5_INT, bytes, is_signed, false, '\0'};
}

static struct cov_h5_type float_type(size_t bytes)
{
    return (struct cov_h5_type){COV_H5_FLOAT, bytes, true, false, '\0'};
}

/* Limits of each integer type, converted to each type. */
TEST(test_retype_integers)
{
    static const int64_t values[] = {0,          1,          -1,          127,         128,
                                     -128,       -129,       255,         256,         32767,
                                     32768,      -32768,     -32769,      65535,       65536,
                                     2147483647, 2147483648, -2147483648, -2147483649, 4294967295,
                                     4294967296, INT64_MAX,  INT64_MIN};
    const struct cov_h5_type wide = int_type(8, true);
    for (size_t i = 0; i < COV_COUNT(values); i++)
        for (size_t bytes = 1; bytes <= 8; bytes *= 2)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                const struct cov_h5_type t = int_type(bytes, is_signed);
                int64_t v = values[i], back = 77;
                uint8_t x[8] = {0};
                int64_t most =
                    bytes == 8 ? INT64_MAX : ((int64_t)1 << (8 * bytes - (size_t)is_signed)) - 1;
                int64_t least = !is_signed ? 0 : bytes == 8 ? INT64_MIN : -most - 1;
                bool fits = v >= least && v <= most;
                assert_int_equal(cov_h5_retype(&wide, &v, 1, &t, x), fits);
                if (!fits)
                    continue;
                assert_int_equal(cov_h5_retype(&t, x, 1, &wide, &back), 1);
                assert_int_equal(back, v);
            }
    const uint64_t most = UINT64_MAX;
    const struct cov_h5_type u = int_type(8, false);
    int64_t to;
    assert_int_equal(cov_h5_retype(&u, &most, 1, &wide, &to), 0);
}

TEST(test_retype_floats)
{
    const struct cov_h5_type i32 = int_type(4, true), i64 = int_type(8, true), f32 = float_type(4),
                             f64 = float_type(8), f16 = float_type(2), u8 = int_type(1, false);
    const int32_t whole[] = {0, -1, 16777216, 16777217};
    float f[4];
    assert_int_equal(cov_h5_retype(&i32, whole, 4, &f32, f), 3);
    assert_true(f[1] == -1.0F && f[2] == 16777216.0F);
    const float some[] = {3.0F, -0.0F, 2.5F};
    int32_t n[3];
    assert_int_equal(cov_h5_retype(&f32, some, 3, &i32, n), 2);
    assert_int_equal(n[0], 3);
    assert_int_equal(n[1], 0);
    const double wrong[] = {9223372036854775808.0, -9223372036854777856.0, (double)NAN,
                            (double)INFINITY, 1e300};
    for (size_t i = 0; i < COV_COUNT(wrong); i++) {
        int64_t to;
        assert_int_equal(cov_h5_retype(&f64, &wrong[i], 1, &i64, &to), 0);
    }
    const double edge = -9223372036854775808.0, fine[] = {0.5, (double)NAN, -(double)INFINITY};
    int64_t to;
    assert_int_equal(cov_h5_retype(&f64, &edge, 1, &i64, &to), 1);
    assert_true(to == INT64_MIN);
    assert_int_equal(cov_h5_retype(&f64, fine, 3, &f32, f), 3);
    assert_true(f[0] == 0.5F && isnan(f[1]) && isinf(f[2]));
    const double between = 0.1, large = 1e39;
    assert_int_equal(cov_h5_retype(&f64, &between, 1, &f32, f), 0);
    assert_int_equal(cov_h5_retype(&f64, &large, 1, &f32, f), 0);
    const uint16_t half = 0x5640; /* 100 */
    uint8_t byte;
    assert_int_equal(cov_h5_retype(&f16, &half, 1, &u8, &byte), 1);
    assert_int_equal(byte, 100);
    const int64_t most = INT64_MAX;
    double d;
    assert_int_equal(cov_h5_retype(&i64, &most, 1, &f64, &d), 0);
}

TEST(test_print_element)
{
    const struct cov_h5_type i64 = int_type(8, true), u64 = int_type(8, false), f32 = float_type(4);
    const int64_t least = INT64_MIN;
    const uint64_t most = UINT64_MAX;
    const float f = 2.5F;
    char text[64];
    cov_h5_print_element(&i64, &least, text, sizeof text);
    assert_string_equal(text, "-9223372036854775808");
    cov_h5_print_element(&u64, &most, text, sizeof text);
    assert_string_equal(text, "18446744073709551615");
    cov_h5_print_element(&f32, &f, text, sizeof text);
    assert_string_equal(text, "2.5");
}

/* ---- integers to floats, and the search for the first invalid coverage ---- */

enum { N = 3000, LARGEST = (1 << 24) - 1 };
static const bool host_big = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;

/* Converts n elements of a type at an unaligned address. The element at index `at` is `odd`. */
static bool take_ints(struct cov_h5_type type, size_t n, size_t at, int64_t odd, float *values)
{
    static uint8_t elems[N * sizeof odd + 1];
    for (size_t i = 0; i < n; i++) {
        int64_t x = i == at ? odd : (int64_t)i * 5000;
        int32_t word = (int32_t)x;
        if (type.bytes == sizeof x)
            memcpy(elems + 1 + i * sizeof x, &x, sizeof x);
        else
            memcpy(elems + 1 + i * sizeof word, &word, sizeof word);
    }
    return cov_h5_to_float(&type, elems + 1, n, values);
}

TEST(test_int_to_float)
{
    static const size_t places[] = {0, 1, 1023, 1024, 2047, 2048, N - 1};
    static float values[N];
    for (size_t bytes = 4; bytes <= 8; bytes += 4) {
        const struct cov_h5_type type = {COV_H5_INT, bytes, true, host_big, '\0'};
        for (size_t k = 0; k < COV_COUNT(places); k++) {
            size_t at = places[k];
            assert_true(take_ints(type, N, at, LARGEST, values));
            for (size_t i = 0; i < N; i++)
                assert_true(values[i] == (i == at ? (float)LARGEST : (float)i * 5000));
            assert_false(take_ints(type, N, at, LARGEST + 1, values));
            assert_false(take_ints(type, N, at, -1, values));
            assert_false(take_ints(type, N, at, INT32_MIN, values));
            if (bytes == 8)
                assert_false(take_ints(type, N, at, INT64_C(1) << 32, values));
            assert_true(take_ints(type, at, at, -1, values)); /* `at` is past the end */
        }
    }
}

TEST(test_to_float_of_other_types)
{
    static float values[N];
    static const struct cov_h5_type others[] = {
        {COV_H5_INT, 2, true, host_big, '\0'},   {COV_H5_INT, 4, true, !host_big, '\0'},
        {COV_H5_INT, 8, false, !host_big, '\0'}, {COV_H5_FLOAT, 4, true, host_big, '\0'},
        {COV_H5_FLOAT, 8, true, host_big, '\0'},
    };
    for (size_t i = 0; i < COV_COUNT(others); i++)
        assert_false(take_ints(others[i], 1, 0, 1, values));
    const struct cov_h5_type natural = {COV_H5_INT, 4, false, host_big, '\0'};
    assert_true(take_ints(natural, 1, 0, 7, values));
    assert_true(values[0] == 7);
}

TEST(test_count_valid)
{
    static const size_t sizes[] = {0, 1, 1023, 1024, 1025, N};
    static const float bad[] = {NAN, INFINITY, -INFINITY, -1, -1e-30F};
    static float values[N];
    for (size_t k = 0; k < COV_COUNT(sizes); k++) {
        size_t n = sizes[k];
        for (size_t i = 0; i < N; i++)
            values[i] = i % 3 == 0 ? -0.0F : i % 3 == 1 ? (float)i : FLT_MAX;
        assert_int_equal(cov_count_valid(values, n), n);
        for (size_t b = 0; b < COV_COUNT(bad); b++)
            for (size_t at = 0; at<n; at += at % 1024> 1020 || n < 3 ? 1 : 340) {
                float before = values[at];
                values[at] = bad[b];
                assert_int_equal(cov_count_valid(values, n), at);
                values[at] = before;
            }
    }
}
