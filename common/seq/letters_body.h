/* letters_body.h - the functions of letters.h by `take`; LETTERS_TABLE gets them.
 * SPDX-License-Identifier: MIT */

static size_t take_lines(const char *text, size_t n, size_t n_lines, uint8_t *codes)
{
    for (size_t i = 0; i < n_lines; i++, text += n + 1, codes += n)
        if (text[n] != '\n' || !take(text, n, codes))
            return i;
    return n_lines;
}

const struct cov_letters LETTERS_TABLE = {take, take_lines};
