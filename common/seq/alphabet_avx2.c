/* alphabet_avx2.c - see alphabet.h. Contains the kernels for AVX2; empty on other targets.
 * SPDX-License-Identifier: MIT */

#ifdef __AVX2__

#include <immintrin.h>

#include "common/seq/alphabet.h"

/* A table indexed by the low four bits of a letter, which differ between the five letters. Every
 * other entry holds a byte whose low bits differ from the index, so that it matches no letter.
 * An index byte with its highest bit set yields 0. */
#define LETTERS(A, C, T, G, N, none, last)                                                         \
    none, A, none, C, T, none, none, G, none, none, none, none, none, none, N, last

static inline __m256i step(const char *letters, uint8_t *codes)
{
    const __m256i letter_of =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(LETTERS('A', 'C', 'T', 'G', 'N', '?', 'A')));
    const __m256i code_of = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(LETTERS(COV_CODE_A, COV_CODE_C, COV_CODE_T, COV_CODE_G, COV_CODE_N, 0, 0)));
    __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)letters);
    x = _mm256_and_si256(x, _mm256_set1_epi8((char)0xdf)); /* upper case */
    _mm256_storeu_si256((__m256i *)(void *)codes, _mm256_shuffle_epi8(code_of, x));
    return _mm256_cmpeq_epi8(_mm256_shuffle_epi8(letter_of, x), x);
}

static inline bool take(const char *letters, size_t n, uint8_t *codes)
{
    enum { STEP = 32 };
    __m256i good = step(letters + n - STEP, codes + n - STEP);
    for (size_t i = 0; i + STEP < n; i += STEP)
        good = _mm256_and_si256(good, step(letters + i, codes + i));
    return _mm256_movemask_epi8(good) == -1;
}

static size_t take_lines(const char *text, size_t n, size_t n_lines, uint8_t *codes)
{
    return cov_letters_by_lines(take, text, n, n_lines, codes);
}

const struct cov_letters cov_letters_avx2 = {take, take_lines};

#else

const struct cov_letters cov_letters_avx2;

#endif
