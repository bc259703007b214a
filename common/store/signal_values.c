/* signal_values.c - see signal_values.h.
 * SPDX-License-Identifier: MIT */
#include "common/store/signal_values.h"

#include <float.h>
#include <string.h>

enum { TILE = 512, MAX_ELEM = 8 };

size_t cov_signal_values(const struct cov_h5_type *type, const uint8_t *elems, size_t n,
                         size_t n_all, size_t col, size_t n_cols, float *values)
{
    uint8_t gathered[TILE * MAX_ELEM];
    double tile[TILE], sum = 0;
    size_t n_elems = n * n_cols, summed = 0, at = 0; /* at: which column, of which position */
    float *out = values;
    for (size_t beg = 0; beg < n_elems; beg += TILE) {
        size_t m = n_elems - beg < TILE ? n_elems - beg : TILE;
        const uint8_t *src = elems + beg * type->bytes;
        if (n_cols < n_all) {
            for (size_t j = 0; j < m; j++) {
                memcpy(gathered + j * type->bytes, elems + (col + at) * type->bytes, type->bytes);
                at = at + 1 == n_cols ? 0 : at + 1;
                elems += at ? 0 : n_all * type->bytes;
            }
            src = gathered;
        }
        cov_h5_to_double(type, src, m, tile);
        for (size_t j = 0; j < m; j++) {
            sum += tile[j];
            if (++summed < n_cols)
                continue;
            *out++ = (float)(sum / (double)n_cols);
            summed = 0;
            sum = 0;
        }
    }
    size_t t = 0;
    while (t < n && values[t] >= 0 && values[t] <= FLT_MAX)
        t++;
    return t;
}

size_t cov_signal_prefix(const char *name)
{
    static const char tail[] = "_coverage", spliced[] = "_spliced_coverage";
    size_t n = strlen(name), n_tail = sizeof tail - 1, n_spliced = sizeof spliced - 1;
    if (n <= n_tail || strcmp(name + n - n_tail, tail) != 0)
        return 0;
    if (n > n_spliced && strcmp(name + n - n_spliced, spliced) == 0)
        return 0;
    return n - n_tail;
}
