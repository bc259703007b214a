/* onehot_codes.c - the Huffman codes of the deflate blocks that onehot_deflate.c writes.
 *
 * The tables give the code lengths, which Huffman's algorithm computed; everything else follows
 * from RFC 1951, section 3.2. Each code for literals and lengths is complete, as zlib requires. So
 * is each code for distances, except those with a single symbol, which has one bit. Section numbers
 * are those of RFC 1951.
 * SPDX-License-Identifier: MIT */
#include "common/deflate/onehot_kern.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "common/base/err.h"
#include "common/seq/alphabet.h"

enum { N_LITERALS = 286, N_DISTANCES = 30, END = 256, MATCH_258 = 285 };

struct symbol {
    uint16_t symbol, n_bits;
};

/* Block `zeros`, for runs of zero bytes: the low plane and the padding. */
static const struct symbol zeros_literals[] = {{MATCH_258, 1}, {0x00, 2}, {END, 2}};

/* Block `fast`: bases take five bits. Runs of N are detected; bytes of 0.5 are rare. */
static const struct symbol fast_literals[] = {
    {0x00, 1}, {0x3c, 2}, {MATCH_258, 3}, {0x34, 4}, {0x38, 5}, {END, 5},
};

/* Distance 1. */
static const struct symbol one_distance[] = {{0, 1}};

/* Block `small`: the best codes of at most 11 bits for synthetic DNA, which test_onehot.c makes:
 * uniformly random bases, a tenth of them in diverged copies from up to 8000 bases away, and some
 * in tandem repeats. Matches have 16 bytes, or 256 in runs of one code. Distances are multiples of
 * four bytes, so some symbols do not occur. */
static const struct symbol small_literals[] = {
    {0x00, 2}, {0x34, 6}, {0x38, 6}, {0x3c, 3}, {END, 4}, {267, 1}, {284, 5},
};
static const struct symbol small_distances[] = {
    {3, 7},  {5, 8},  {6, 8},  {7, 8},  {8, 6},   {9, 7},   {10, 6},  {11, 6},  {12, 5},
    {13, 5}, {14, 4}, {15, 4}, {16, 3}, {17, 4},  {18, 3},  {19, 3},  {20, 3},  {21, 4},
    {22, 4}, {23, 5}, {24, 6}, {25, 9}, {26, 11}, {27, 11}, {28, 11}, {29, 11},
};

/* ---- from lengths to codes ---- */

struct tree {
    uint8_t n_bits[N_LITERALS];
    struct cov_bits code[N_LITERALS];
};

/* Canonical codes (3.2.2), in stream order. */
static void make_tree(const struct symbol *symbols, size_t n_symbols, struct tree *t)
{
    memset(t, 0, sizeof *t);
    for (size_t i = 0; i < n_symbols; i++)
        t->n_bits[symbols[i].symbol] = (uint8_t)symbols[i].n_bits;
    uint32_t code = 0;
    for (uint32_t n = 1; n <= 15; n++, code <<= 1)
        for (int s = 0; s < N_LITERALS; s++)
            if (t->n_bits[s] == n)
                t->code[s] = (struct cov_bits){cov_reverse_bits(code++, n), n};
}

/* Returns the bits of `a` followed by those of `b`, at most 56 bits in all. */
static struct cov_bits joined(struct cov_bits a, struct cov_bits b)
{
    return (struct cov_bits){a.bits | b.bits << a.n, a.n + b.n};
}

/* Returns the code and the extra bits for a match of 11 to 257 bytes (3.2.5). */
static struct cov_bits length_code(const struct tree *t, uint32_t n_bytes)
{
    uint32_t v = n_bytes - 3, n_extra = cov_log2(v) - 2;
    uint32_t symbol = 257 + 4 * n_extra + (v >> n_extra);
    return joined(t->code[symbol], (struct cov_bits){v & ((1U << n_extra) - 1), n_extra});
}

/* Returns the same for a distance of at least 4 bytes. */
static struct cov_bits distance_code(const struct tree *t, uint32_t n_bytes)
{
    uint32_t v = n_bytes - 1, n_extra = cov_log2(v) - 1;
    uint32_t symbol = 2 * n_extra + (v >> n_extra);
    return joined(t->code[symbol], (struct cov_bits){v & ((1U << n_extra) - 1), n_extra});
}

/* ---- the header of a block (3.2.7) ---- */

static void append(struct cov_onehot_block *b, uint32_t bits, uint32_t n)
{
    for (; n > 0; n--, bits >>= 1, b->n_head++)
        b->head[b->n_head / 8] |= (uint8_t)((bits & 1) << b->n_head % 8);
}

/* The code lengths are themselves written with a code of 16 symbols of four bits: the lengths 0
 * to 13, and 17 and 18 for runs of zeros. This takes about 20 bytes more than the best code
 * would. */
static void append_lengths(struct cov_onehot_block *b, const uint8_t *n_bits, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t run = 0;
        while (i + run < n && n_bits[i + run] == 0 && run < 138)
            run++;
        if (run < 3) {
            append(b, cov_reverse_bits(n_bits[i++], 4), 4);
            continue;
        }
        if (run < 11) {
            append(b, cov_reverse_bits(14, 4), 4);
            append(b, (uint32_t)run - 3, 3);
        } else {
            append(b, cov_reverse_bits(15, 4), 4);
            append(b, (uint32_t)run - 11, 7);
        }
        i += run;
    }
}

static void make_head(struct cov_onehot_block *b, const struct tree *literals,
                      const struct tree *distances)
{
    /* In the order of 3.2.7: 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1. */
    static const uint8_t lengths_of_lengths[18] = {0, 4, 4, 4, 4, 4, 4, 4, 4,
                                                   4, 4, 4, 4, 4, 4, 4, 0, 4};
    uint32_t n_distances = N_DISTANCES;
    while (n_distances > 1 && distances->n_bits[n_distances - 1] == 0)
        n_distances--;
    append(b, 0, 1);
    append(b, 2, 2);
    append(b, N_LITERALS - 257, 5);
    append(b, n_distances - 1, 5);
    append(b, COV_COUNT(lengths_of_lengths) - 4, 4);
    for (size_t i = 0; i < COV_COUNT(lengths_of_lengths); i++)
        append(b, lengths_of_lengths[i], 3);
    append_lengths(b, literals->n_bits, N_LITERALS);
    append_lengths(b, distances->n_bits, n_distances);
}

/* ---- blocks ---- */

static struct cov_bits row_code(const struct tree *literals, const uint16_t row[4])
{
    struct cov_bits bits = {0, 0};
    for (int k = 0; k < 4; k++) {
        struct cov_bits byte = literals->code[row[k] >> 8];
        if (byte.n == 0 || (row[k] & 0xff))
            return (struct cov_bits){0, 0};
        bits = joined(bits, byte);
    }
    return bits;
}

static void make_block(const struct symbol *literals, size_t n_literals,
                       const struct symbol *distances, size_t n_distances,
                       struct cov_onehot_block *b, struct tree *lit, struct tree *dist)
{
    make_tree(literals, n_literals, lit);
    make_tree(distances, n_distances, dist);
    make_head(b, lit, dist);
    b->end = lit->code[END];
    b->zero = lit->code[0x00];
    b->quarter = lit->code[0x34];
    for (int code = 0; code < 16; code++)
        b->row[code] = row_code(lit, cov_onehot_f16[code]);
    b->match258 = joined(lit->code[MATCH_258], dist->code[0]);
}

static struct cov_onehot_codes codes;

static void make_codes(void)
{
    struct tree lit, dist;
    make_block(zeros_literals, COV_COUNT(zeros_literals), one_distance, COV_COUNT(one_distance),
               &codes.zeros, &lit, &dist);
    make_block(fast_literals, COV_COUNT(fast_literals), one_distance, COV_COUNT(one_distance),
               &codes.fast, &lit, &dist);
    make_block(small_literals, COV_COUNT(small_literals), small_distances,
               COV_COUNT(small_distances), &codes.small, &lit, &dist);
    codes.long_run = joined(length_code(&lit, 4 * COV_ONEHOT_LONG_RUN), distance_code(&dist, 4));
    for (uint32_t d = 1; d <= COV_ONEHOT_WINDOW; d++) {
        struct cov_bits x =
            joined(length_code(&lit, 4 * COV_ONEHOT_WORD), distance_code(&dist, 4 * d));
        /* At most 1 bit for the length, and 11 + 13 for the distance. */
        codes.back[d] = (uint32_t)(x.bits << COV_ONEHOT_BACK_BITS | x.n);
    }
    for (int code = 0; code < 16; code++) {
        codes.possible[code] = codes.fast.row[code].n > 0 && codes.small.row[code].n > 0;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t high = cov_onehot_f16[code][k] >> 8;
            codes.row_sum[code] += high;
            codes.row_moment[code] += k * high;
        }
    }
}

const struct cov_onehot_codes *cov_onehot_codes(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_codes);
    return &codes;
}
