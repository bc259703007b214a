/* windows.h - overlapping windows along a sequence, and which bases each of them is believed for.
 *
 * A network that reads a chunk knows nothing of what lies beyond its ends, and is worst there.
 * Windows of L bases at a step of L - N cover a sequence so that neighbours share N bases; where
 * two meet, N/2 are dropped from each. The first window begins at base 0, the last one ends with
 * the sequence and may be shorter (of more than one, by less than L - N): windows depend on the
 * sequence's length, L and N alone.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_WINDOWS_H
#define COV_SEQ_WINDOWS_H

#include <stdint.h>

struct cov_window {
    int64_t beg, end;           /* its bases, at most L */
    int64_t core_beg, core_end; /* those it is believed for; the cores tile the sequence */
};

/* Number of the window whose core holds base `at` of a sequence of `length` bases. 0 <= at <
 * length, 0 <= N < L. */
int64_t cov_window_at(int64_t length, int64_t L, int64_t N, int64_t at);

struct cov_window cov_window_number(int64_t length, int64_t L, int64_t N, int64_t k);

#endif
