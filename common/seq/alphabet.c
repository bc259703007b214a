/* alphabet.c - see alphabet.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/alphabet.h"

#include <endian.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/half.h"
#include "common/seq/alphabet_kern.h"

const char cov_letter_of_code[17] = "-ACMGRSVTWYHKDBN";

#define X COV_CODE_BAD
/* clang-format off */
const uint8_t cov_code_of_letter[256] = {
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
/*     A   B  C   D  E  F  G   H  I  J   K  L  M   N  O */
    X, 1, 14, 2, 13, X, X, 4, 11, X, X, 12, X, 3, 15, X,
/*  P  Q  R  S  T  U  V  W  X   Y  Z */
    X, X, 5, 6, 8, 8, 7, 9, X, 10, X, X, X, X, X, X,
    X, 1, 14, 2, 13, X, X, 4, 11, X, X, 12, X, 3, 15, X,
    X, X, 5, 6, 8, 8, 7, 9, X, 10, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
};
#undef X

/* Bit patterns of 1, 0.5, 0.33 (nearest half: 0.330078125) and 0.25. */
#define H1 0x3c00
#define H2 0x3800
#define H3 0x3548
#define H4 0x3400
const uint16_t cov_onehot_f16[16][4] = {
/*   C   A   T   G */
    { 0,  0,  0,  0},
    { 0, H1,  0,  0}, /* A */
    {H1,  0,  0,  0}, /* C */
    {H2, H2,  0,  0}, /* M */
    { 0,  0,  0, H1}, /* G */
    { 0, H2,  0, H2}, /* R */
    {H2,  0,  0, H2}, /* S */
    {H3, H3,  0, H3}, /* V */
    { 0,  0, H1,  0}, /* T */
    { 0, H2, H2,  0}, /* W */
    {H2,  0, H2,  0}, /* Y */
    {H3, H3, H3,  0}, /* H */
    { 0,  0, H2, H2}, /* K */
    { 0, H3, H3, H3}, /* D */
    {H3,  0, H3, H3}, /* B */
    {H4, H4, H4, H4}, /* N */
};
#undef H1
#undef H2
#undef H3
#undef H4

#define F3 0.330078125F
const float cov_onehot_f32[16][4] = {
    {  0,   0,   0,   0},
    {  0,   1,   0,   0},
    {  1,   0,   0,   0},
    { .5,  .5,   0,   0},
    {  0,   0,   0,   1},
    {  0,  .5,   0,  .5},
    { .5,   0,   0,  .5},
    { F3,  F3,   0,  F3},
    {  0,   0,   1,   0},
    {  0,  .5,  .5,   0},
    { .5,   0,  .5,   0},
    { F3,  F3,  F3,   0},
    {  0,   0,  .5,  .5},
    {  0,  F3,  F3,  F3},
    { F3,   0,  F3,  F3},
    {.25, .25, .25, .25},
};
#undef F3
/* clang-format on */

static const struct cov_letters *chosen;

const struct cov_letters *cov_letters_choose(void)
{
    return cov_cpu_features() & COV_CPU_AVX2 ? &cov_letters_avx2 : &cov_letters_base;
}

static void choose(void)
{
    chosen = cov_letters_choose();
}

static const struct cov_letters *letters_kernels(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, choose);
    return chosen;
}

size_t cov_codes_of_lines(const char *text, size_t width, size_t n_lines, uint8_t *codes)
{
    return width < COV_LETTERS_MIN ? 0 : letters_kernels()->take_lines(text, width, n_lines, codes);
}

bool cov_codes_of_letters(const char *letters, size_t n, uint8_t *codes)
{
    enum { BLOCK = 256 };
    uint8_t any = 0;
    while (n > 0) {
        size_t m = n < BLOCK ? n : BLOCK;
        if (m < COV_LETTERS_MIN || !letters_kernels()->take(letters, m, codes))
            for (size_t i = 0; i < m; i++) {
                codes[i] = cov_code_of_letter[(unsigned char)letters[i]];
                any |= codes[i];
            }
        letters += m;
        codes += m;
        n -= m;
    }
    return !(any & 0x80);
}

const uint8_t cov_code_complement[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

/* The other strand of eight codes: the order of the bytes and of the four low bits in each is
 * turned round. */
static uint64_t other_strand(uint64_t x)
{
    x = __builtin_bswap64(x);
    x = (x & 0x0505050505050505) << 1 | (x >> 1 & 0x0505050505050505);
    return (x & 0x0303030303030303) << 2 | (x >> 2 & 0x0303030303030303);
}

void cov_codes_reverse_complement(uint8_t *codes, size_t n)
{
    uint8_t *beg = codes, *end = codes + n;
    for (; end - beg >= 16; beg += 8, end -= 8) {
        uint64_t head, tail;
        memcpy(&head, beg, 8);
        memcpy(&tail, end - 8, 8);
        head = other_strand(head);
        tail = other_strand(tail);
        memcpy(beg, &tail, 8);
        memcpy(end - 8, &head, 8);
    }
    for (; end - beg >= 1; beg++) {
        uint8_t first = cov_code_complement[*beg & 15];
        *beg = cov_code_complement[*--end & 15];
        *end = first;
    }
}

typedef uint64_t pair64 __attribute__((vector_size(16)));

void cov_codes_other_strand(const uint8_t *codes, size_t n, uint8_t *dst)
{
    const uint8_t *end = codes + n;
    for (; n >= 16; n -= 16, dst += 16) {
        uint64_t x[2];
        end -= 16;
        memcpy(x, end, sizeof x);
        pair64 y = {__builtin_bswap64(x[1]), __builtin_bswap64(x[0])};
        y = (y & 0x0505050505050505) << 1 | (y >> 1 & 0x0505050505050505);
        y = (y & 0x0303030303030303) << 2 | (y >> 2 & 0x0303030303030303);
        memcpy(dst, &y, sizeof y);
    }
    for (; n > 0; n--)
        *dst++ = cov_code_complement[*--end & 15];
}

/* The code with exactly these columns. */
static uint8_t code_of_columns(unsigned c, unsigned a, unsigned t, unsigned g)
{
    return (uint8_t)(a | c << 1 | g << 2 | t << 3);
}

uint8_t cov_code_from_onehot(const float v[4])
{
    /* No base has less than 0.25, so the columns above half of that are the only candidate. */
    uint8_t code = code_of_columns(v[0] > 0.125F, v[1] > 0.125F, v[2] > 0.125F, v[3] > 0.125F);
    for (int k = 0; k < 4; k++)
        if (!(fabsf(v[k] - cov_onehot_f32[code][k]) <= 0.01F))
            return COV_CODE_BAD;
    return code;
}

uint8_t cov_code_from_onehot_f16(const uint16_t v[4])
{
    /* The patterns of 1, 0.5, 0.33 and 0.25 are told from 0 by bit 13. */
    uint8_t code = code_of_columns(v[0] >> 13 & 1, v[1] >> 13 & 1, v[2] >> 13 & 1, v[3] >> 13 & 1);
    if (memcmp(v, cov_onehot_f16[code], sizeof cov_onehot_f16[code]) == 0)
        return code;
    float f[4];
    for (int k = 0; k < 4; k++)
        f[k] = cov_half_to_float(v[k]);
    return cov_code_from_onehot(f);
}

/* Eight codes as four bytes, and back. In both, the first are in the lowest bytes. */
static inline uint32_t pack_eight(uint64_t x)
{
    x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ff;
    x = (x | x >> 8) & 0x0000ffff0000ffff;
    return (uint32_t)(x | x >> 16);
}

static inline uint64_t unpack_eight(uint32_t packed)
{
    uint64_t x = packed;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    return (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0f;
}

void cov_codes_pack(const uint8_t *codes, size_t n, uint8_t *packed)
{
    for (; n >= 8; n -= 8, codes += 8, packed += 4) {
        uint64_t x;
        memcpy(&x, codes, sizeof x);
        uint32_t y = htole32(pack_eight(le64toh(x)));
        memcpy(packed, &y, sizeof y);
    }
    for (; n >= 2; n -= 2, codes += 2)
        *packed++ = (uint8_t)(codes[0] << 4 | codes[1]);
    if (n > 0)
        *packed = (uint8_t)(codes[0] << 4);
}

void cov_codes_unpack(const uint8_t *packed, size_t first, size_t n, uint8_t *codes)
{
    packed += first / 2;
    if (n > 0 && first & 1) {
        *codes++ = *packed++ & 15;
        n--;
    }
    for (; n >= 8; n -= 8, codes += 8, packed += 4) {
        uint32_t x;
        memcpy(&x, packed, sizeof x);
        uint64_t y = htole64(unpack_eight(le32toh(x)));
        memcpy(codes, &y, sizeof y);
    }
    for (; n >= 2; n -= 2) {
        *codes++ = *packed >> 4;
        *codes++ = *packed++ & 15;
    }
    if (n > 0)
        *codes = *packed >> 4;
}
