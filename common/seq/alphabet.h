/* alphabet.h - bases as 4-bit codes, and their one-hot form.
 *
 * A code is htslib's: a set of bases as bits A=1, C=2, G=4, T=8; so R = A|G = 5 and N = 15. 0 is
 * padding, which is no base. The one-hot form of Helixer has the columns C, A, T, G; an IUPAC code
 * of k bases has 1, 0.5, 0.33, 0.25 for k = 1..4 in the columns of its bases; padding is all zero.
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

/* Code of a letter of either case; U is T. COV_CODE_BAD for everything outside IUPAC. */
extern const uint8_t cov_code_of_letter[256];
/* codes[0..n) = codes of letters[0..n). False if one of them is COV_CODE_BAD. */
bool cov_codes_of_letters(const char *letters, size_t n, uint8_t *codes);
/* codes[0..width * the result) = those of as many lines, at most n_lines, each of `width` letters
 * and '\n'. Ends before the first line that has something else than A, C, G, T and N, of either
 * case, or is of another width, and may do so at any time; the codes behind are undefined. */
size_t cov_codes_of_lines(const char *text, size_t width, size_t n_lines, uint8_t *codes);

/* "-ACMGRSVTWYHKDBN" */
extern const char cov_letter_of_code[17];

/* Row of X of a code, in the columns C, A, T, G: as IEEE half bit patterns, and as float (the value
 * of the half). */
extern const uint16_t cov_onehot_f16[16][4];
extern const float cov_onehot_f32[16][4];

/* The complement: A<->T, C<->G, so the four bits reversed. */
extern const uint8_t cov_code_complement[16];

/* The other strand of codes[0..n), in place: reversed, each code complemented. */
void cov_codes_reverse_complement(uint8_t *codes, size_t n);
/* The same into dst[0..n), which does not overlap codes[0..n). */
void cov_codes_other_strand(const uint8_t *codes, size_t n, uint8_t *dst);

/* The code whose row is v within 0.01 in each column, or COV_CODE_BAD (NaN too). */
uint8_t cov_code_from_onehot(const float v[4]);
/* The same for a row of four half bit patterns. */
uint8_t cov_code_from_onehot_f16(const uint16_t v[4]);

/* Two codes a byte, the first in the high half (as BAM). packed holds (n + 1) / 2 bytes. */
void cov_codes_pack(const uint8_t *codes, size_t n, uint8_t *packed);
/* Codes first .. first+n-1 of a packed array. */
void cov_codes_unpack(const uint8_t *packed, size_t first, size_t n, uint8_t *codes);

#endif
