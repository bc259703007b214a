/* alphabet.h - bases as 4-bit codes, and their one-hot form.
 *
 * A code is htslib's: a set of bases as bits A=1, C=2, G=4, T=8; so R = A|G = 5 and N = 15. 0 is
 * padding. Helixer's one-hot form has the columns C, A, T, G; an IUPAC code of k bases has 1, 0.5,
 * 0.33, 0.25 for k = 1..4 in the columns of its bases; padding is all zero.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_ALPHABET_H
#define COV_SEQ_ALPHABET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COV_CODE_PAD = 0,
    COV_CODE_A = 1,
    COV_CODE_C = 2,
    COV_CODE_G = 4,
    COV_CODE_T = 8,
    COV_CODE_N = 15
};
enum { COV_CODE_BAD = 0xff };

/* Code of a letter of either case; U is read as T. COV_CODE_BAD for any other byte. */
extern const uint8_t cov_code_of_letter[256];
/* codes[0..n) = codes of letters[0..n). Returns false if one of them is COV_CODE_BAD. */
bool cov_codes_of_letters(const char *letters, size_t n, uint8_t *codes);
/* Reads up to n_lines lines of `width` letters and '\n' each; returns the number m of lines read,
 * and codes[0 .. m * width). Stops before the first line of another width or with a letter other
 * than A, C, G, T, N of either case; may stop earlier. The codes after those are undefined. */
size_t cov_codes_of_lines(const char *text, size_t width, size_t n_lines, uint8_t *codes);

/* "-ACMGRSVTWYHKDBN" */
extern const char cov_letter_of_code[17];

/* One-hot row of a code in the columns C, A, T, G: as IEEE half bit patterns, and as floats of the
 * same values. */
extern const uint16_t cov_onehot_f16[16][4];
extern const float cov_onehot_f32[16][4];

/* The complement: A<->T, C<->G, that is, the four bits reversed. */
extern const uint8_t cov_code_complement[16];

/* Reverse complement of codes[0..n), in place. */
void cov_codes_reverse_complement(uint8_t *codes, size_t n);
/* Reverse complement into dst[0..n), which must not overlap codes[0..n). */
void cov_codes_other_strand(const uint8_t *codes, size_t n, uint8_t *dst);

/* The code whose row equals v within 0.01 in each column, or COV_CODE_BAD (also for NaN). */
uint8_t cov_code_from_onehot(const float v[4]);
/* The same for a row of four half bit patterns. */
uint8_t cov_code_from_onehot_f16(const uint16_t v[4]);

/* Packs two codes a byte, the first in the high half as in BAM, into (n + 1) / 2 bytes. */
void cov_codes_pack(const uint8_t *codes, size_t n, uint8_t *packed);
/* codes[0..n) = codes first .. first + n - 1 of a packed array. */
void cov_codes_unpack(const uint8_t *packed, size_t first, size_t n, uint8_t *codes);

#endif
