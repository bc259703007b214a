/* onehot_bits.h - bits that follow each other, and vectors of codes, of onehot.c and its kernels.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_ONEHOT_BITS_H
#define COV_CODEC_ONEHOT_BITS_H

#include <endian.h>
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

#endif
