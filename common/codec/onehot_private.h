/* onehot_private.h - the functions of onehot_kern.h, for whatever instruction set this is compiled
 * for: ONEHOT_TABLE gets them, in which vectors have ONEHOT_BYTES.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "common/codec/onehot_kern.h"

typedef uint8_t bytes __attribute__((vector_size(ONEHOT_BYTES)));
typedef uint64_t wides __attribute__((vector_size(ONEHOT_BYTES)));

/* Each of the bytes. */
#define EACH(byte) ((byte)*0x0101010101010101U)

static inline bytes load(const uint8_t *p)
{
    bytes x;
    memcpy(&x, p, sizeof x);
    return x;
}

static bool take(const uint8_t *codes, size_t n, uint8_t *bases, uint64_t *columns)
{
    /* A column is at most 3, so that bytes hold the sums of COV_ONEHOT_BLOCK / 16 of them. */
    bytes sums = {0}, bad = {0};
    for (size_t t = 0; t < n; t += ONEHOT_BYTES) {
        bytes x = load(codes + t), less = x - 1;
        bad |= less & (x | 0xf0); /* 0 becomes 255 */
        wides y = (wides)x;
        x = (bytes)((y >> 1 & EACH(7U)) - (y >> 3 & EACH(1U)));
        memcpy(bases + t, &x, sizeof x);
        /* A, C, G, T are 0 to 3, and in the columns 1, 0, 3, 2. */
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
    /* Two bits do not leave their byte. */
    for (size_t t = 0; t < n; t += ONEHOT_BYTES) {
        wides x = (wides)load(bases + t) | (wides)load(bases + t + 1) << 2 |
                  (wides)load(bases + t + 2) << 4 | (wides)load(bases + t + 3) << 6;
        memcpy(bases + t, &x, sizeof x);
    }
}

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
            /* Where one shifts by the number of bits, what is above it in `back` does not count. */
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
