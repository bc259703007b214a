/* copies.c - see copies.h.
 * SPDX-License-Identifier: MIT */
#include "common/seq/copies.h"

#include <stdlib.h>
#include <string.h>

#include "common/file/hash.h"
#include "common/seq/alphabet.h"

/* Two hashes that begin differently. */
static struct cov_bases_key key_of_strand(const uint8_t *codes, size_t n)
{
    return (struct cov_bases_key){{cov_fingerprint(0, codes, n), cov_fingerprint(1, codes, n)}};
}

static int compare_keys(const struct cov_bases_key *a, const struct cov_bases_key *b)
{
    for (int i = 0; i < 2; i++)
        if (a->hash[i] != b->hash[i])
            return a->hash[i] < b->hash[i] ? -1 : 1;
    return 0;
}

struct cov_bases_key cov_bases_key(const uint8_t *codes, size_t n, uint8_t *scratch)
{
    struct cov_bases_key one = key_of_strand(codes, n), other;
    cov_codes_other_strand(codes, n, scratch);
    other = key_of_strand(scratch, n);
    return compare_keys(&one, &other) <= 0 ? one : other;
}

static int by_key(const void *a, const void *b)
{
    const struct cov_keyed_chunk *x = a, *y = b;
    int order = compare_keys(&x->key, &y->key);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

void cov_copies_sort(struct cov_keyed_chunk *x, size_t n)
{
    if (n > 0)
        qsort(x, n, sizeof *x, by_key);
}

size_t cov_copies_end(const struct cov_keyed_chunk *x, size_t n, size_t beg)
{
    size_t end = beg + 1;
    while (end < n && compare_keys(&x[end].key, &x[beg].key) == 0)
        end++;
    return end;
}
