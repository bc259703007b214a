/* alphabet_kern.h - the kernels that translate letters to codes, for each instruction set.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_ALPHABET_KERN_H
#define COV_SEQ_ALPHABET_KERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Minimum number of letters that a kernel accepts. */
enum { COV_LETTERS_MIN = 32 };

typedef bool cov_letters_fn(const char *letters, size_t n, uint8_t *codes);

struct cov_letters {
    /* Sets codes[0..n) to the codes of n >= COV_LETTERS_MIN letters. Returns true if all letters
     * are A, C, G, T or N in either case; otherwise the codes are undefined. */
    cov_letters_fn *take;

    /* Does the same for n_lines lines, each of n letters and a newline. Returns the number of
     * lines before the first line of another form. */
    size_t (*take_lines)(const char *text, size_t n, size_t n_lines, uint8_t *codes);
};

extern const struct cov_letters cov_letters_base, cov_letters_avx2;

/* Returns the fastest kernels for cov_cpu_features(). */
const struct cov_letters *cov_letters_choose(void);

/* Implements take_lines with a `take` that the compiler can inline. */
static inline size_t cov_letters_by_lines(cov_letters_fn *take, const char *text, size_t n,
                                          size_t n_lines, uint8_t *codes)
{
    for (size_t i = 0; i < n_lines; i++, text += n + 1, codes += n)
        if (text[n] != '\n' || !take(text, n, codes))
            return i;
    return n_lines;
}

#endif
