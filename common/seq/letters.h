/* letters.h - letters to codes, compiled once per instruction set. For alphabet.c alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_LETTERS_H
#define COV_SEQ_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What there is at least to take. */
enum { COV_LETTERS_MIN = 32 };

struct cov_letters {
    /* codes[0..n) = those of the n letters, n >= COV_LETTERS_MIN. Whether all are A, C, G, T or N, of either
     * case; if not, the codes are undefined. */
    bool (*take)(const char *letters, size_t n, uint8_t *codes);

    /* The same of n_lines lines of n letters and an end of line. Returns how many lines there are before the
     * first of which that is not true. */
    size_t (*take_lines)(const char *text, size_t n, size_t n_lines, uint8_t *codes);
};

extern const struct cov_letters cov_letters_base, cov_letters_avx2;

#endif
