/* smooth_pieces.h - for unit tests: smooths a contig that arrives in pieces.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SMOOTH_PIECES_H
#define TESTS_SMOOTH_PIECES_H

#include "tests/lib/unit.h"

#include "common/track/smooth.h"

enum { MAX_N = 3000 };

/* Passes x[0..n) in pieces of `piece` values (0: pieces of many lengths) and collects the output. */
static inline void smooth(struct cov_smoother *s, const float *x, size_t n, size_t piece,
                          float *out)
{
    size_t k = 0;
    cov_smoother_begin(s);
    for (size_t i = 0; i < n;) {
        size_t m = piece ? piece : 1 + (i * 7 + n) % (n < 500 ? 13 : 43);
        m = m < n - i ? m : n - i;
        float part[MAX_N];
        memcpy(part, x + i, m * sizeof *x);
        size_t got = cov_smoother_add(s, part, m, part); /* in place */
        assert_true(got <= m && k + got <= n);
        memcpy(out + k, part, got * sizeof *out);
        k += got;
        i += m;
    }
    size_t got;
    while ((got = cov_smoother_end(s, out + k, 3)) > 0)
        k += got;
    assert_int_equal(k, n);
}

#endif
