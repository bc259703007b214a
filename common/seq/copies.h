/* copies.h - finds chunks that hold the same bases, on the same or on opposite strands.
 * SPDX-License-Identifier: MIT */
#ifndef COV_SEQ_COPIES_H
#define COV_SEQ_COPIES_H

#include <stddef.h>
#include <stdint.h>

/* A hash of bases and of their reverse complement. Keys of different bases are equal by chance in
 * one of about 2^128 cases. */
struct cov_bases_key {
    uint64_t hash[2];
};

/* Returns the key of codes[0..n). `scratch` has n bytes. */
struct cov_bases_key cov_bases_key(const uint8_t *codes, size_t n, uint8_t *scratch);

/* A chunk, or a pair of chunks, by its number. */
struct cov_keyed_chunk {
    struct cov_bases_key key;
    size_t index;
};

/* Sorts by key; chunks with the same key, by index. */
void cov_copies_sort(struct cov_keyed_chunk *x, size_t n);
/* Returns the end of the chunks of the sorted list that have the key of x[beg]. */
size_t cov_copies_end(const struct cov_keyed_chunk *x, size_t n, size_t beg);

#endif
