/* alphabet.h - bases as 4-bit codes, their one-hot form, and shuffled sequences.
 *
 * The codes are those of htslib. A code is a set of bases, stored as bits A=1, C=2, G=4, T=8; so R
 * = A|G = 5 and N = 15. 0 is padding. Helixer's one-hot form has the columns C, A, T, G. An IUPAC
 * code of k = 1, 2, 3 or 4 bases has 1, 0.5, 0.33 or 0.25, respectively, in the columns of its
 * bases; padding is all zero.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_ALPHABET_H
#define COV_SEQ_ALPHABET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/rng.h"

enum {
    COV_CODE_PAD = 0,
    COV_CODE_A = 1,
    COV_CODE_C = 2,
    COV_CODE_G = 4,
    COV_CODE_T = 8,
    COV_CODE_N = 15
};
enum { COV_CODE_BAD = 0xff };

/* The code of a letter in either case, with U read as T; COV_CODE_BAD for any other byte. */
extern const uint8_t cov_code_of_letter[256];
/* Sets codes[0..n) to the codes of letters[0..n). Returns false if any code is COV_CODE_BAD. */
bool cov_codes_of_letters(const char *letters, size_t n, uint8_t *codes);
/* Reads up to n_lines lines, each of `width` letters and '\n'. Returns the number of lines read,
 * m, and sets codes[0 .. m * width). Stops before the first line that has another width, or a
 * letter other than A, C, G, T and N in either case; may stop earlier. The codes after the last
 * line read are undefined. */
size_t cov_codes_of_lines(const char *text, size_t width, size_t n_lines, uint8_t *codes);

/* "-ACMGRSVTWYHKDBN" */
extern const char cov_letter_of_code[17];

/* The one-hot row of a code, in the columns C, A, T, G: as bit patterns of IEEE half precision,
 * and as floats with the same values. */
extern const uint16_t cov_onehot_f16[16][4];
extern const float cov_onehot_f32[16][4];

/* The complement of a code: A<->T, C<->G, that is, the code with its four bits reversed. */
extern const uint8_t cov_code_complement[16];

/* Replaces codes[0..n) with their reverse complement. */
void cov_codes_reverse_complement(uint8_t *codes, size_t n);
/* Writes the reverse complement of codes[0..n) to dst[0..n), which must not overlap codes[0..n). */
void cov_codes_other_strand(const uint8_t *codes, size_t n, uint8_t *dst);

/* Returns the code whose row equals v to within 0.01 in each column, or COV_CODE_BAD if there is
 * none or a value is NaN. */
uint8_t cov_code_from_onehot(const float v[4]);
/* Does the same for a row of four half precision bit patterns. */
uint8_t cov_code_from_onehot_f16(const uint16_t v[4]);

/* Packs the codes into (n + 1) / 2 bytes, two codes per byte, with the first in the high half as
 * in BAM. */
void cov_codes_pack(const uint8_t *codes, size_t n, uint8_t *packed);
/* Sets codes[0..n) to the codes number `first` to first + n - 1 of a packed array. */
void cov_codes_unpack(const uint8_t *packed, size_t first, size_t n, uint8_t *codes);

/* ---- kernels ---- */

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

/* ---- shuffling that keeps the number of each dinucleotide ----
 *
 * Altschul and Erickson, "Significance of nucleotide sequence alignments" (1985): bases are nodes,
 * dinucleotides are edges, and a shuffled sequence is a random path through all edges. The last
 * edges of the nodes form a tree, drawn as in Wilson, "Generating random spanning trees more
 * quickly than the cover time" (1996). All shuffled sequences are equally likely. */

/* Shuffles codes[0..n). Keeps the first and the last code, and the number of each pair
 * of adjacent codes; IUPAC codes and padding count as further letters. The result depends only on
 * the codes and the state of the generator. COV_ENOMEM; then the codes are unchanged. */
int cov_dinucleotide_shuffle(uint8_t *codes, size_t n, struct cov_rng *rng,
                             struct cov_err *e) COV_MUST_USE;

#endif
