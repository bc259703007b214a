/* alphabet_kern.h - letters to codes, compiled once per instruction set.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_ALPHABET_KERN_H
#define COV_SEQ_ALPHABET_KERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What there is at least to take. */
enum { COV_LETTERS_MIN = 32 };

typedef bool cov_letters_fn(const char *letters, size_t n, uint8_t *codes);

struct cov_letters {
    /* codes[0..n) = those of the n letters, n >= COV_LETTERS_MIN. Whether all are A, C, G, T or N,
     * of either case; if not, the codes are undefined. */
    cov_letters_fn *take;

    /* The same of n_lines lines of n letters and an end of line. Returns how many lines there are
     * before the first of which that is not true. */
    size_t (*take_lines)(const char *text, size_t n, size_t n_lines, uint8_t *codes);
};

extern const struct cov_letters cov_letters_base, cov_letters_avx2;

/* The fastest for cov_cpu_features(). */
const struct cov_letters *cov_letters_choose(void);

/* take_lines by `take`, which the compiler knows. */
static inline size_t cov_letters_by_lines(cov_letters_fn *take, const char *text, size_t n,
                                          size_t n_lines, uint8_t *codes)
{
    for (size_t i = 0; i < n_lines; i++, text += n + 1, codes += n)
        if (text[n] != '\n' || !take(text, n, codes))
            return i;
    return n_lines;
}

#endif
