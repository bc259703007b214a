/* onehot_kern.h - what the files of the one-hot encoder share: its Huffman codes (onehot_codes.c)
 * and its inner loops. onehot_base.c and onehot_avx2.c each compile the loops for one instruction
 * set, with the same results.
 * SPDX-License-Identifier: MIT */
#ifndef COV_DEFLATE_ONEHOT_KERN_H
#define COV_DEFLATE_ONEHOT_KERN_H

#include <stdbool.h>

#include "common/deflate/bits.h"

/* ---- codes ---- */

/* The number of bases in a match in the block `small`; the window, 2^n - 1, which is how many
 * bases back a match may be; and the number of rows in a long run of one code. */
enum { COV_ONEHOT_WORD = 4, COV_ONEHOT_WINDOW = 8191, COV_ONEHOT_LONG_RUN = 64 };

/* Width of a field that holds the summed sizes, in bits, of two matches. */
enum { COV_ONEHOT_BACK_BITS = 6 };

/* n bits in stream order, the first in the lowest bit. */
struct cov_bits {
    uint64_t bits;
    uint32_t n;
};

struct cov_onehot_block {
    /* The header of the block (RFC 1951, 3.2.7); its first bit, BFINAL, is 0. */
    uint8_t head[64];
    uint32_t n_head; /* in bits */
    struct cov_bits end;
    struct cov_bits zero, quarter; /* the bytes 0x00 and 0x34 (of 0.25) */
    struct cov_bits
        row[16]; /* by base code: its four bytes in the high plane; n = 0: not in this block */
    struct cov_bits match258; /* 258 bytes equal to the last one */
};

struct cov_onehot_codes {
    struct cov_onehot_block zeros; /* runs of zero bytes */
    struct cov_onehot_block fast, small;
    /* Matches in `small`: COV_ONEHOT_LONG_RUN rows equal to the last one; and, in back[d],
     * COV_ONEHOT_WORD rows equal to those d rows earlier. Because back[] is read very often, its
     * entries are compact: the lowest COV_ONEHOT_BACK_BITS bits are the number of bits, and the
     * bits themselves are above. */
    struct cov_bits long_run;
    uint32_t back[COV_ONEHOT_WINDOW + 1];
    /* The sums of h[k] and of k h[k] over the four high bytes h[k] of a code. */
    uint32_t row_sum[16], row_moment[16];
    /* True if both `fast` and `small` include the base code and its low bytes are zero. */
    uint8_t possible[16];
};

/* Returns the codes. The first call builds them. Thread-safe. */
const struct cov_onehot_codes *cov_onehot_codes(void);

/* ---- inner loops ---- */

static inline void cov_put_code(struct cov_bit_writer *w, struct cov_bits code)
{
    cov_put_bits(w, code.bits, code.n);
}

/* Writes a match of COV_ONEHOT_WORD rows with those `distance` rows earlier. */
static inline void cov_put_back(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                                uint32_t distance)
{
    uint32_t back = c->back[distance];
    cov_put_bits(w, back >> COV_ONEHOT_BACK_BITS, back % (1U << COV_ONEHOT_BACK_BITS));
}

/* The most codes per call of `take`; the number that the number of codes must be a multiple of;
 * and the number of bases in a group, which is two words. */
enum { COV_ONEHOT_BLOCK = 1024, COV_ONEHOT_STEP = 32, COV_ONEHOT_GROUP = 8 };

struct cov_onehot_kern {
    /* Stores codes[0..n) as two bits each in bases[0..n): A, C, G, T become 0 to 3. n is a
     * multiple of COV_ONEHOT_STEP, at most COV_ONEHOT_BLOCK. Sets *columns to the sum of the
     * codes' columns, which are in the order C, A, T, G. Returns false if a code is not A, C, G
     * or T. */
    bool (*take)(const uint8_t *codes, size_t n, uint8_t *bases, uint64_t *columns);

    /* For each t < n, sets bases[t] to the word of the bases t to t + 3, with the first in the
     * lowest bits. n is a multiple of COV_ONEHOT_STEP; COV_ONEHOT_STEP more bases must be
     * readable. */
    void (*join)(uint8_t *bases, size_t n);

    /* Write n_groups groups of eight bases, starting at base t of the strand. `words` are the
     * words that start at each base: words[0], words[1], ..., or words[0], words[-1], ... on the
     * other strand. last[word] is the last position of the word + COV_ONEHOT_WINDOW + 1, or 0 if
     * the word has not occurred. */
    void (*put_plus)(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                     const uint8_t *words, size_t t, size_t n_groups, uint32_t *last);
    void (*put_minus)(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                      const uint8_t *words, size_t t, size_t n_groups, uint32_t *last);
};

extern const struct cov_onehot_kern cov_onehot_base, cov_onehot_avx2;

/* Returns the fastest kernels for cov_cpu_features(). */
const struct cov_onehot_kern *cov_onehot_choose(void);

/* A word on the other strand has the same number as its reverse complement. */
enum cov_onehot_strand { COV_ONEHOT_PLUS = 1, COV_ONEHOT_MINUS = -1 };

/* Writes a word as a match if `distance` is within the window, otherwise as its four rows. */
static inline void cov_onehot_put_word(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                                       uint32_t word, enum cov_onehot_strand strand,
                                       uint32_t distance)
{
    if (distance <= COV_ONEHOT_WINDOW) {
        cov_put_back(w, c, distance);
        return;
    }
    for (uint32_t i = 0; i < COV_ONEHOT_WORD; i++) {
        uint32_t code =
            strand == COV_ONEHOT_PLUS ? 1U << (word >> 2 * i & 3) : 8U >> (word >> (6 - 2 * i) & 3);
        cov_put_code(w, c->small.row[code]);
    }
}

/* The file for each instruction set defines ONEHOT_TABLE, the name of its table, and
 * ONEHOT_BYTES, the size of its vectors. */
#if defined(ONEHOT_TABLE)

typedef uint8_t bytes __attribute__((vector_size(ONEHOT_BYTES)));
typedef uint64_t wides __attribute__((vector_size(ONEHOT_BYTES)));

/* A word whose bytes all equal `byte`. */
#define EACH(byte) ((byte)*0x0101010101010101U)

static inline bytes load(const uint8_t *p)
{
    bytes x;
    memcpy(&x, p, sizeof x);
    return x;
}

static bool take(const uint8_t *codes, size_t n, uint8_t *bases, uint64_t *columns)
{
    /* A column is at most 3, so a byte can hold the sum of COV_ONEHOT_BLOCK / 16 columns. */
    bytes sums = {0}, bad = {0};
    for (size_t t = 0; t < n; t += ONEHOT_BYTES) {
        bytes x = load(codes + t), less = x - 1;
        bad |= less & (x | 0xf0); /* 0 becomes 255 */
        wides y = (wides)x;
        x = (bytes)((y >> 1 & EACH(7U)) - (y >> 3 & EACH(1U)));
        memcpy(bases + t, &x, sizeof x);
        /* Bases A, C, G, T are 0 to 3; their columns are 1, 0, 3, 2. */
        sums += x ^ 1;
    }
    uint64_t sum[ONEHOT_BYTES / 8], any[ONEHOT_BYTES / 8], not_bases = 0;
    memcpy(sum, &sums, sizeof sum);
    memcpy(any, &bad, sizeof any);
    *columns = 0;
    for (size_t i = 0; i < ONEHOT_BYTES / 8; i++) {
        uint64_t pairs = (sum[i] & 0x00ff00ff00ff00ff) + (sum[i] >> 8 & 0x00ff00ff00ff00ff);
        *columns += pairs * 0x0001000100010001 >> 48;
        not_bases |= any[i];
    }
    return not_bases == 0;
}

static void join(uint8_t *bases, size_t n)
{
    /* Shifting two bits by up to 6 keeps them within their byte. */
    for (size_t t = 0; t < n; t += ONEHOT_BYTES) {
        wides x = (wides)load(bases + t) | (wides)load(bases + t + 1) << 2 |
                  (wides)load(bases + t + 2) << 4 | (wides)load(bases + t + 3) << 6;
        memcpy(bases + t, &x, sizeof x);
    }
}

/* Writes n_groups groups of COV_ONEHOT_GROUP bases from base t on, each as two words of four bases.
 * A word is a match with its last occurrence, or, if that is too far back, what cov_onehot_put_word
 * writes. words[strand * i] is the word at base i; last[w] is the place of the last word w, as in
 * `here`. */
static inline __attribute__((always_inline)) void
put_groups(struct cov_bit_writer *w, const struct cov_onehot_codes *c, const uint8_t *words,
           enum cov_onehot_strand strand, size_t t, size_t n_groups, uint32_t *last)
{
    struct cov_bit_writer to = *w;
    const uint8_t *p = words;
    uint32_t here = (uint32_t)t + COV_ONEHOT_WINDOW + 1;
    for (; n_groups > 0; n_groups--, p += strand * COV_ONEHOT_GROUP, here += COV_ONEHOT_GROUP) {
        uint32_t first = here - last[p[0]];
        last[p[0]] = here;
        last[p[strand * 1]] = here + 1;
        last[p[strand * 2]] = here + 2;
        last[p[strand * 3]] = here + 3;
        uint32_t second = here + 4 - last[p[strand * 4]];
        last[p[strand * 4]] = here + 4;
        last[p[strand * 5]] = here + 5;
        last[p[strand * 6]] = here + 6;
        last[p[strand * 7]] = here + 7;
        if ((first | second) <= COV_ONEHOT_WINDOW) {
            /* The lowest bits of `back` are the shift count; the shift instruction ignores the
             * bits above. */
            uint64_t a = c->back[first], b = c->back[second];
            uint64_t both = a >> COV_ONEHOT_BACK_BITS | b >> COV_ONEHOT_BACK_BITS << (a & 63);
            to.bits |= both << to.n;
            to.n += (uint32_t)(a + b) & 63;
            cov_store64(to.at, to.bits);
            to.at += to.n / 8;
            to.bits >>= to.n & 56;
            to.n &= 7;
        } else {
            cov_onehot_put_word(&to, c, p[0], strand, first);
            cov_onehot_put_word(&to, c, p[strand * 4], strand, second);
        }
    }
    *w = to;
}

static void put_plus(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                     const uint8_t *words, size_t t, size_t n_groups, uint32_t *last)
{
    put_groups(w, c, words, COV_ONEHOT_PLUS, t, n_groups, last);
}

static void put_minus(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                      const uint8_t *words, size_t t, size_t n_groups, uint32_t *last)
{
    put_groups(w, c, words, COV_ONEHOT_MINUS, t, n_groups, last);
}

const struct cov_onehot_kern ONEHOT_TABLE = {take, join, put_plus, put_minus};

#endif

#endif
