/* onehot_codes.h - the Huffman codes of the deflate blocks that onehot.c writes. For onehot.c
 * alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_ONEHOT_CODES_H
#define COV_CODEC_ONEHOT_CODES_H

#include <stdint.h>

/* Bases in a repeat of the block `small`, and how far back it may be, 2^n - 1; and rows in a long
 * run of one code. */
enum { COV_ONEHOT_WORD = 4, COV_ONEHOT_WINDOW = 8191, COV_ONEHOT_LONG_RUN = 64 };

/* What the numbers of bits of two repeats fit into. */
enum { COV_ONEHOT_BACK_BITS = 6 };

/* n bits in the order of the stream, the first the lowest of `bits`. */
struct cov_bits {
    uint64_t bits;
    uint32_t n;
};

struct cov_onehot_block {
    /* The block's head (RFC 1951, 3.2.7); its first bit, BFINAL, is 0. */
    uint8_t head[64];
    uint32_t n_head; /* in bits */
    struct cov_bits end;
    struct cov_bits zero, quarter; /* the bytes 0x00 and 0x34 (of 0.25) */
    struct cov_bits row[16];  /* four bytes of the high plane; by code; n = 0: not possible here */
    struct cov_bits match258; /* 258 bytes equal to the last one */
};

struct cov_onehot_codes {
    struct cov_onehot_block zeros; /* runs of zero bytes */
    struct cov_onehot_block fast, small;
    /* In `small`: COV_ONEHOT_LONG_RUN rows as the last one; COV_ONEHOT_WORD rows as those d rows
     * before, of which the second is looked up very often: their number in the lowest
     * COV_ONEHOT_BACK_BITS bits of back[d], and they above it. */
    struct cov_bits long_run;
    uint32_t back[COV_ONEHOT_WINDOW + 1];
    /* Of the four high bytes h[k] of a code: the sum of h[k], and the sum of k h[k]. */
    uint32_t row_sum[16], row_moment[16];
    /* Whether `fast` and `small` have the code and its low bytes are zero. */
    uint8_t possible[16];
};

/* Made by the first call, in whichever thread; then constant. */
const struct cov_onehot_codes *cov_onehot_codes(void);

#endif
