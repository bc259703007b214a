/* test_alphabet.c - codes, their one-hot rows, packing and reverse complement.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/cpu.h"
#include "common/seq/alphabet.h"

/* The bases that each IUPAC letter stands for. */
static const struct {
    const char *bases;
    char letter;
    char complement;
} iupac[] = {
    {"A", 'A', 'T'},   {"C", 'C', 'G'},   {"G", 'G', 'C'},   {"T", 'T', 'A'},
    {"T", 'U', 'A'},   {"AG", 'R', 'Y'},  {"CT", 'Y', 'R'},  {"CG", 'S', 'S'},
    {"AT", 'W', 'W'},  {"GT", 'K', 'M'},  {"AC", 'M', 'K'},  {"CGT", 'B', 'V'},
    {"AGT", 'D', 'H'}, {"ACT", 'H', 'D'}, {"ACG", 'V', 'B'}, {"ACGT", 'N', 'N'},
};
enum { N_IUPAC = sizeof iupac / sizeof iupac[0] };

TEST(test_letters)
{
    int known = 0;
    for (int c = 0; c < 256; c++)
        known += cov_code_of_letter[c] != COV_CODE_BAD;
    assert_int_equal(known, 2 * N_IUPAC);
    for (size_t i = 0; i < N_IUPAC; i++) {
        unsigned char upper = (unsigned char)iupac[i].letter;
        unsigned code = 0;
        for (const char *p = iupac[i].bases; *p; p++)
            code |= *p == 'A'   ? COV_CODE_A
                    : *p == 'C' ? COV_CODE_C
                    : *p == 'G' ? COV_CODE_G
                                : COV_CODE_T;
        assert_int_equal(cov_code_of_letter[upper], code);
        assert_int_equal(cov_code_of_letter[upper | 0x20], code);
        if (upper != 'U')
            assert_int_equal(cov_letter_of_code[code], upper);
        assert_int_equal(cov_code_complement[code],
                         cov_code_of_letter[(unsigned char)iupac[i].complement]);
    }
    assert_int_equal(cov_code_complement[COV_CODE_PAD], COV_CODE_PAD);
    assert_int_equal(cov_letter_of_code[COV_CODE_PAD], '-');
}

/* Every byte at every position of texts of all lengths. */
static void check_kernels(const struct cov_letters *k)
{
    enum { MOST = 80 };
    static const char plain[] = "ACGTNacgtn";
    char text[MOST];
    uint8_t codes[MOST + 1];
    for (size_t n = COV_LETTERS_MIN; n < MOST; n++) {
        for (size_t i = 0; i < n; i++)
            text[i] = plain[(i + n) % (sizeof plain - 1)];
        for (size_t at = 0; at < n; at++) {
            char before = text[at];
            for (int c = n % 8 == at % 8 ? 0 : 255; c < 256; c++) {
                text[at] = (char)c;
                codes[n] = 0x55;
                bool good = k->take(text, n, codes);
                assert_int_equal(good, c > 0 && strchr(plain, c) != NULL);
                assert_int_equal(codes[n], 0x55);
                for (size_t i = 0; good && i < n; i++)
                    assert_int_equal(codes[i], cov_code_of_letter[(unsigned char)text[i]]);
            }
            text[at] = before;
        }
    }
}

static void check_lines(const struct cov_letters *k)
{
    enum { WIDTH = 41, LINES = 5 };
    char text[LINES * (WIDTH + 1)];
    uint8_t codes[LINES * WIDTH];
    for (size_t at = 0; at < sizeof text; at++) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = i % (WIDTH + 1) == WIDTH ? '\n' : "ACGT"[i % 4];
        text[at] = '-';
        size_t whole = at / (WIDTH + 1);
        memset(codes, 0x55, sizeof codes);
        assert_int_equal(k->take_lines(text, WIDTH, LINES, codes), whole);
        for (size_t i = 0; i < whole * WIDTH; i++)
            assert_int_equal(
                codes[i],
                cov_code_of_letter[(unsigned char)text[i / WIDTH * (WIDTH + 1) + i % WIDTH]]);
    }
    assert_int_equal(k->take_lines(text, WIDTH, LINES - 1, codes), LINES - 1);
}

TEST(test_kernels)
{
    check_kernels(&cov_letters_base);
    check_lines(&cov_letters_base);
    if (cov_cpu_features() & COV_CPU_AVX2) {
        check_kernels(&cov_letters_avx2);
        check_lines(&cov_letters_avx2);
    }
}

TEST(test_onehot)
{
    static const double share[5] = {0, 1, 0.5, 0.33, 0.25};
    static const uint16_t half[5] = {0, 0x3c00, 0x3800, 0x3548, 0x3400};
    static const unsigned bit[4] = {COV_CODE_C, COV_CODE_A, COV_CODE_T, COV_CODE_G};
    for (unsigned code = 0; code < 16; code++) {
        int n = __builtin_popcount(code);
        for (int k = 0; k < 4; k++) {
            bool in = code & bit[k];
            assert_int_equal(cov_onehot_f16[code][k], in ? half[n] : 0);
            assert_true(fabs((double)cov_onehot_f32[code][k] - (in ? share[n] : 0)) < 2e-4);
        }
        assert_int_equal(cov_code_from_onehot(cov_onehot_f32[code]), code);
        assert_int_equal(cov_code_from_onehot_f16(cov_onehot_f16[code]), code);
    }
}

TEST(test_onehot_inexact)
{
    for (unsigned code = 0; code < 16; code++)
        for (int k = 0; k < 4; k++) {
            float v[4];
            memcpy(v, cov_onehot_f32[code], sizeof v);
            v[k] += 0.009F;
            assert_int_equal(cov_code_from_onehot(v), code);
            v[k] += 0.002F;
            assert_int_equal(cov_code_from_onehot(v), COV_CODE_BAD);
            v[k] = NAN;
            assert_int_equal(cov_code_from_onehot(v), COV_CODE_BAD);
            v[k] = -1;
            assert_int_equal(cov_code_from_onehot(v), COV_CODE_BAD);
        }
    /* 1/3 as a half, the halves next to 0.25, a subnormal and a negative zero are accepted. */
    assert_int_equal(cov_code_from_onehot_f16((uint16_t[4]){0x3555, 0x3555, 0, 0x3555}), 7);
    assert_int_equal(cov_code_from_onehot_f16((uint16_t[4]){0x33ff, 0x3401, 0x3400, 0x3400}), 15);
    assert_int_equal(cov_code_from_onehot_f16((uint16_t[4]){0x0001, 0x3c00, 0x8000, 0}), 1);
    /* Infinity, NaN, -1, 2, 0.75 and a mixture are refused. */
    static const uint16_t bad[] = {0x7c00, 0x7e00, 0xbc00, 0x4000, 0x3a00};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cov_code_from_onehot_f16((uint16_t[4]){0, bad[i], 0, 0}), COV_CODE_BAD);
    assert_int_equal(cov_code_from_onehot_f16((uint16_t[4]){0x3c00, 0x3c00, 0, 0}), COV_CODE_BAD);
}

enum { MAX = 70 };

static void fill(uint8_t *codes, size_t n)
{
    uint32_t x = 12345;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        codes[i] = (uint8_t)(x >> 28);
    }
}

TEST(test_reverse_complement)
{
    uint8_t src[MAX], dst[MAX + 1];
    fill(src, MAX);
    for (size_t at = 0; at < 3; at++)
        for (size_t n = 0; n + at <= MAX; n++) {
            memset(dst, 0xee, sizeof dst);
            memcpy(dst, src + at, n);
            cov_codes_reverse_complement(dst, n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(dst[i], cov_code_complement[src[at + n - 1 - i]]);
            assert_int_equal(dst[n], 0xee);
            uint8_t other[MAX + 1];
            memset(other, 0xee, sizeof other);
            cov_codes_other_strand(src + at, n, other);
            assert_memory_equal(other, dst, n);
            assert_int_equal(other[n], 0xee);
        }
}

/* Every byte at every position of texts that are about as long as a block. */
TEST(test_texts)
{
    enum { LONGEST = 300 };
    char text[LONGEST];
    uint8_t codes[LONGEST + 1];
    for (size_t n = 0; n <= LONGEST; n += n < 70 ? 1 : 23) {
        for (size_t i = 0; i < n; i++)
            text[i] = "ACGTNacgtn"[i % 10];
        for (size_t at = 0; at < n; at++) {
            char kept = text[at];
            for (int byte = 0; byte < 256; byte += n < 40 ? 1 : 7) {
                text[at] = (char)byte;
                codes[n] = 0xee;
                bool good = cov_codes_of_letters(text, n, codes);
                assert_int_equal(good, cov_code_of_letter[byte] != COV_CODE_BAD);
                assert_int_equal(codes[at], cov_code_of_letter[byte]);
                for (size_t i = 0; i < n; i++)
                    if (codes[i] != cov_code_of_letter[(unsigned char)text[i]])
                        fail_msg("letter %zu of %zu", i, n);
                assert_int_equal(codes[n], 0xee);
            }
            text[at] = kept;
        }
    }
}

TEST(test_packing)
{
    uint8_t codes[MAX], packed[MAX / 2 + 1], back[MAX + 1];
    fill(codes, MAX);
    for (size_t n = 0; n <= MAX; n++) {
        memset(packed, 0xee, sizeof packed);
        cov_codes_pack(codes, n, packed);
        assert_int_equal(packed[(n + 1) / 2], 0xee);
        if (n > 1)
            assert_int_equal(packed[0], codes[0] << 4 | codes[1]);
        for (size_t first = 0; first <= n; first++)
            for (size_t end = first; end <= n; end++) {
                memset(back, 0xee, sizeof back);
                cov_codes_unpack(packed, first, end - first, back);
                assert_memory_equal(back, codes + first, end - first);
                assert_int_equal(back[end - first], 0xee);
            }
    }
}
