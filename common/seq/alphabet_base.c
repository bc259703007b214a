/* alphabet_base.c - see alphabet_kern.h; for every processor.
 * SPDX-License-Identifier: MIT */
#include "common/seq/alphabet_kern.h"

#include <string.h>

#include "common/seq/alphabet.h"

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* Letters, and their codes if they are A, C, G, T or N, else 0. */
static inline bytes16 plain_codes(bytes16 x)
{
    x &= 0xdf; /* upper case */
    return ((bytes16)(x == 'A') & COV_CODE_A) | ((bytes16)(x == 'C') & COV_CODE_C) |
           ((bytes16)(x == 'G') & COV_CODE_G) | ((bytes16)(x == 'T') & COV_CODE_T) |
           ((bytes16)(x == 'N') & COV_CODE_N);
}

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
