/* dinucleotides.c - see dinucleotides.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/dinucleotides.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum { N_CODES = 16 };

/* Sorts the successors of each code: those of code c are next[begin[c] .. begin[c + 1]). */
static void sort_edges(const uint8_t *codes, size_t n, uint8_t *next, size_t begin[N_CODES + 1])
{
    size_t place[N_CODES];
    memset(begin, 0, (N_CODES + 1) * sizeof *begin);
    for (size_t i = 0; i + 1 < n; i++)
        begin[codes[i] + 1]++;
    for (size_t c = 0; c < N_CODES; c++) {
        begin[c + 1] += begin[c];
        place[c] = begin[c];
    }
    for (size_t i = 0; i + 1 < n; i++)
        next[place[codes[i]]++] = codes[i + 1];
}

static void swap(uint8_t *a, uint8_t *b)
{
    const uint8_t c = *a;
    *a = *b;
    *b = c;
}

/* Chooses the last edge of each code but `root` and puts it at the end of the code's edges. A walk
 * along random edges from a code ends at the tree; the last edge that it took from each code joins
 * the tree, so that loops of the walk are left out. */
static void choose_last_edges(uint8_t *next, const size_t *begin, uint8_t root, struct cov_rng *rng)
{
    bool in_tree[N_CODES] = {false};
    size_t last[N_CODES] = {0};
    in_tree[root] = true;
    for (size_t c = 0; c < N_CODES; c++) {
        if (begin[c] == begin[c + 1])
            continue;
        for (size_t at = c; !in_tree[at]; at = next[last[at]])
            last[at] = begin[at] + cov_rng_below(rng, begin[at + 1] - begin[at]);
        for (size_t at = c; !in_tree[at]; at = next[last[at]])
            in_tree[at] = true;
    }
    for (size_t c = 0; c < N_CODES; c++)
        if (c != root && begin[c] < begin[c + 1])
            swap(&next[last[c]], &next[begin[c + 1] - 1]);
}

int cov_dinucleotide_shuffle(uint8_t *codes, size_t n, struct cov_rng *rng, struct cov_err *e)
{
    size_t begin[N_CODES + 1];
    if (n < 3)
        return COV_OK;
    uint8_t *next = cov_malloc(n, 1, e);
    if (!next)
        return COV_ENOMEM;
    const uint8_t root = codes[n - 1];
    sort_edges(codes, n, next, begin);
    choose_last_edges(next, begin, root, rng);
    for (size_t c = 0; c < N_CODES; c++) {
        const size_t n_edges = begin[c + 1] - begin[c];
        for (size_t i = c == root ? n_edges : n_edges > 0 ? n_edges - 1 : 0; i > 1; i--)
            swap(&next[begin[c] + i - 1], &next[begin[c] + cov_rng_below(rng, i)]);
    }
    for (size_t i = 0; i + 1 < n; i++)
        codes[i + 1] = next[begin[codes[i]]++];
    free(next);
    return COV_OK;
}
