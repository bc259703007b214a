/* onehot_kern.h - the loops of onehot.c that take the time, compiled once per instruction set, with
 * the same results. For onehot.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_ONEHOT_KERN_H
#define COV_CODEC_ONEHOT_KERN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/codec/onehot_codes.h"

/* Fewer than eight bits wait in `bits`; eight bytes are always stored, of which the next store
 * replaces those that were not full. */
struct cov_bit_writer {
    uint8_t *at;
    uint64_t bits;
    uint32_t n;
};

static inline void cov_store64(uint8_t *p, uint64_t x)
{
    x = htole64(x);
    memcpy(p, &x, sizeof x);
}

/* n <= 56 */
static inline void cov_put_bits(struct cov_bit_writer *w, uint64_t bits, uint32_t n)
{
    w->bits |= bits << w->n;
    w->n += n;
    cov_store64(w->at, w->bits);
    w->at += w->n / 8;
    w->bits >>= w->n / 8 * 8;
    w->n %= 8;
}

static inline void cov_put_code(struct cov_bit_writer *w, struct cov_bits code)
{
    cov_put_bits(w, code.bits, code.n);
}

/* A repeat of the last COV_ONEHOT_WORD rows that are the `distance`-th before. */
static inline void cov_put_back(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                                uint32_t distance)
{
    uint32_t back = c->back[distance];
    cov_put_bits(w, back >> COV_ONEHOT_BACK_BITS, back % (1U << COV_ONEHOT_BACK_BITS));
}

/* Codes that are taken at most at once, in multiples of what; and bases in a group, which are two
 * words. */
enum { COV_ONEHOT_BLOCK = 1024, COV_ONEHOT_STEP = 32, COV_ONEHOT_GROUP = 8 };

struct cov_onehot_kern {
    /* codes[0..n) as bases, two bits each: A, C, G, T are 0 to 3. n is a multiple of
     * COV_ONEHOT_STEP, at most COV_ONEHOT_BLOCK. *columns is the sum of their columns in C, A, T,
     * G. Returns whether all are A, C, G or T. */
    bool (*take)(const uint8_t *codes, size_t n, uint8_t *bases, uint64_t *columns);

    /* bases[t] = the word of the bases t to t + 3, the first the lowest, for t < n, a multiple of
     * COV_ONEHOT_STEP; COV_ONEHOT_STEP more can be read. */
    void (*join)(uint8_t *bases, size_t n);

    /* Writes n_groups of eight bases, the first the t-th of its strand, by the words that begin
     * with them: words[0], words[1] and so on, or words[0], words[-1] on the other strand.
     * last[word] is the place where it was last + COV_ONEHOT_WINDOW + 1, or 0. */
    void (*put_plus)(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                     const uint8_t *words, size_t t, size_t n_groups, uint32_t *last);
    void (*put_minus)(struct cov_bit_writer *w, const struct cov_onehot_codes *c,
                      const uint8_t *words, size_t t, size_t n_groups, uint32_t *last);
};

extern const struct cov_onehot_kern cov_onehot_base, cov_onehot_avx2;

/* The fastest for cov_cpu_features(). */
const struct cov_onehot_kern *cov_onehot_choose(void);

/* Words of the other strand go by those of its complement, in which its first base is the last. */
enum cov_onehot_strand { COV_ONEHOT_PLUS = 1, COV_ONEHOT_MINUS = -1 };

/* A word as a repeat of what is `distance` rows before, if that is possible, else its four rows. */
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

#endif
