/* windows.c - see windows.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/windows.h"

#include <stdbool.h>

static int64_t last_window(int64_t length, int64_t L, int64_t N)
{
    return length <= L ? 0 : (length - L - 1) / (L - N) + 1;
}

int64_t cov_window_at(int64_t length, int64_t L, int64_t N, int64_t at)
{
    int64_t last = last_window(length, L, N);
    int64_t k = at < N / 2 ? 0 : (at - N / 2) / (L - N);
    return k < last ? k : last;
}

struct cov_window cov_window_number(int64_t length, int64_t L, int64_t N, int64_t k)
{
    struct cov_window w = {.beg = k * (L - N)};
    bool is_last = k == last_window(length, L, N);
    w.end = is_last ? length : w.beg + L;
    w.core_beg = k == 0 ? 0 : w.beg + N / 2;
    w.core_end = is_last ? length : w.beg + L - N + N / 2;
    return w;
}
