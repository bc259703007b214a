/* alphabet.c - see alphabet.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/alphabet.h"

#include <endian.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/half.h"
#include "common/base/mem.h"

const char cov_letter_of_code[17] = "-ACMGRSVTWYHKDBN";

#define X COV_CODE_BAD
#define NONE X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X
/* clang-format off */
const uint8_t cov_code_of_letter[256] = {
    NONE, NONE, NONE, NONE,
/*     A   B  C   D  E  F  G   H  I  J   K  L  M   N  O */
    X, 1, 14, 2, 13, X, X, 4, 11, X, X, 12, X, 3, 15, X,
/*  P  Q  R  S  T  U  V  W  X   Y  Z */
    X, X, 5, 6, 8, 8, 7, 9, X, 10, X, X, X, X, X, X,
    X, 1, 14, 2, 13, X, X, 4, 11, X, X, 12, X, 3, 15, X,
    X, X, 5, 6, 8, 8, 7, 9, X, 10, X, X, X, X, X, X,
    NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
};
#undef X
#undef NONE

/* The one-hot rows of all codes; the arguments are the values for codes of one to four bases. */
#define ONEHOT(ONE, HALF, THIRD, QUARTER) { \
/*    C      A      T      G  */ \
    { 0,     0,     0,     0}, \
    { 0,     ONE,   0,     0},     /* A */ \
    {ONE,    0,     0,     0},     /* C */ \
    {HALF,   HALF,  0,     0},     /* M */ \
    { 0,     0,     0,     ONE},   /* G */ \
    { 0,     HALF,  0,     HALF},  /* R */ \
    {HALF,   0,     0,     HALF},  /* S */ \
    {THIRD,  THIRD, 0,     THIRD}, /* V */ \
    { 0,     0,     ONE,   0},     /* T */ \
    { 0,     HALF,  HALF,  0},     /* W */ \
    {HALF,   0,     HALF,  0},     /* Y */ \
    {THIRD,  THIRD, THIRD, 0},     /* H */ \
    { 0,     0,     HALF,  HALF},  /* K */ \
    { 0,     THIRD, THIRD, THIRD}, /* D */ \
    {THIRD,  0,     THIRD, THIRD}, /* B */ \
    {QUARTER, QUARTER, QUARTER, QUARTER}, /* N */ \
}
/* clang-format on */
/* 0.330078125 is the half nearest to 0.33. */
const uint16_t cov_onehot_f16[16][4] = ONEHOT(0x3c00, 0x3800, 0x3548, 0x3400);
const float cov_onehot_f32[16][4] = ONEHOT(1, 0.5F, 0.330078125F, 0.25F);

/* ---- letters to codes ---- */

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* Returns the codes of A, C, G, T and N in either case; 0 for any other letter. */
static inline bytes16 plain_codes(bytes16 x)
{
    x &= 0xdf; /* upper case */
    return ((bytes16)(x == 'A') & COV_CODE_A) | ((bytes16)(x == 'C') & COV_CODE_C) |
           ((bytes16)(x == 'G') & COV_CODE_G) | ((bytes16)(x == 'T') & COV_CODE_T) |
           ((bytes16)(x == 'N') & COV_CODE_N);
}

/* Translates 16 letters. Sets the bytes of *others whose letters are not A, C, G, T or N. */
static inline void plain_codes_at(const char *letters, uint8_t *codes, bytes16 *others)
{
    bytes16 x;
    memcpy(&x, letters, sizeof x);
    x = plain_codes(x);
    memcpy(codes, &x, sizeof x);
    *others |= (bytes16)(x == 0);
}

static bool take(const char *letters, size_t n, uint8_t *codes)
{
    bytes16 others = {0};
    for (size_t i = 0; i + 16 <= n; i += 16)
        plain_codes_at(letters + i, codes + i, &others);
    if (n % 16)
        plain_codes_at(letters + n - 16, codes + n - 16, &others);
    uint64_t any[2];
    memcpy(any, &others, sizeof any);
    return !(any[0] | any[1]);
}

static size_t take_lines(const char *text, size_t n, size_t n_lines, uint8_t *codes)
{
    return cov_letters_by_lines(take, text, n, n_lines, codes);
}

const struct cov_letters cov_letters_base = {take, take_lines};

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

/* ---- the other strand ---- */

const uint8_t cov_code_complement[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};

/* Computes the other strand of eight codes: reverses the bytes, and the four low bits of each
 * byte. */
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

/* ---- one-hot rows to codes ---- */

/* Returns the code with these columns set. */
static uint8_t code_of_columns(unsigned c, unsigned a, unsigned t, unsigned g)
{
    return (uint8_t)(a | c << 1 | g << 2 | t << 3);
}

uint8_t cov_code_from_onehot(const float v[4])
{
    /* The smallest value for a base is 0.25, so only columns above half of that can be set. */
    uint8_t code = code_of_columns(v[0] > 0.125F, v[1] > 0.125F, v[2] > 0.125F, v[3] > 0.125F);
    for (int k = 0; k < 4; k++)
        if (!(fabsf(v[k] - cov_onehot_f32[code][k]) <= 0.01F))
            return COV_CODE_BAD;
    return code;
}

uint8_t cov_code_from_onehot_f16(const uint16_t v[4])
{
    /* Bit 13 is set in the bit patterns of 1, 0.5, 0.33 and 0.25, but not in the pattern of 0. */
    uint8_t code = code_of_columns(v[0] >> 13 & 1, v[1] >> 13 & 1, v[2] >> 13 & 1, v[3] >> 13 & 1);
    if (memcmp(v, cov_onehot_f16[code], sizeof cov_onehot_f16[code]) == 0)
        return code;
    float f[4];
    for (int k = 0; k < 4; k++)
        f[k] = cov_half_to_float(v[k]);
    return cov_code_from_onehot(f);
}

/* ---- two codes a byte ---- */

/* Packs eight codes into four bytes, the first code in the lowest byte. */
static inline uint32_t pack_eight(uint64_t x)
{
    x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ff;
    x = (x | x >> 8) & 0x0000ffff0000ffff;
    return (uint32_t)(x | x >> 16);
}

/* The inverse of pack_eight. */
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

/* ---- shuffling ---- */

enum { N_CODES = 16 };

/* Sorts the successors of each code: those of code c are next[begin[c] .. begin[c + 1]). */
static void sort_edges(const uint8_t *codes, size_t n, uint8_t *next, size_t begin[N_CODES + 1])
{
    size_t place[N_CODES];
    memset(begin, 0, (N_CODES + 1) * sizeof *begin);
    for (size_t i = 0; i + 1 < n; i++)
        begin[codes[i] + 1]++;
    for (size_t c = 0; c < N_CODES; c++) {
        begin[c + 1] += begin[c];
        place[c] = begin[c];
    }
    for (size_t i = 0; i + 1 < n; i++)
        next[place[codes[i]]++] = codes[i + 1];
}

static void swap(uint8_t *a, uint8_t *b)
{
    const uint8_t c = *a;
    *a = *b;
    *b = c;
}

/* Chooses the last edge of each code but `root` and puts it at the end of the code's edges. A walk
 * along random edges from a code ends at the tree; the last edge that it took from each code joins
 * the tree, so that loops of the walk are left out. */
static void choose_last_edges(uint8_t *next, const size_t *begin, uint8_t root, struct cov_rng *rng)
{
    bool in_tree[N_CODES] = {false};
    size_t last[N_CODES] = {0};
    in_tree[root] = true;
    for (size_t c = 0; c < N_CODES; c++) {
        if (begin[c] == begin[c + 1])
            continue;
        for (size_t at = c; !in_tree[at]; at = next[last[at]])
            last[at] = begin[at] + cov_rng_below(rng, begin[at + 1] - begin[at]);
        for (size_t at = c; !in_tree[at]; at = next[last[at]])
            in_tree[at] = true;
    }
    for (size_t c = 0; c < N_CODES; c++)
        if (c != root && begin[c] < begin[c + 1])
            swap(&next[last[c]], &next[begin[c + 1] - 1]);
}

int cov_dinucleotide_shuffle(uint8_t *codes, size_t n, struct cov_rng *rng, struct cov_err *e)
{
    size_t begin[N_CODES + 1];
    if (n < 3)
        return COV_OK;
    uint8_t *next = cov_malloc(n, 1, e);
    if (!next)
        return COV_ENOMEM;
    const uint8_t root = codes[n - 1];
    sort_edges(codes, n, next, begin);
    choose_last_edges(next, begin, root, rng);
    for (size_t c = 0; c < N_CODES; c++) {
        const size_t n_edges = begin[c + 1] - begin[c];
        for (size_t i = c == root ? n_edges : n_edges > 0 ? n_edges - 1 : 0; i > 1; i--)
            swap(&next[begin[c] + i - 1], &next[begin[c] + cov_rng_below(rng, i)]);
    }
    for (size_t i = 0; i + 1 < n; i++)
        codes[i + 1] = next[begin[codes[i]]++];
    free(next);
    return COV_OK;
}
