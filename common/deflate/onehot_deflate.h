/* onehot_deflate.h - zlib streams of one-hot chunks, written directly from base codes.
 *
 * A chunk of a genome file has L rows of four float16 (cov_onehot_f16). HDF5's shuffle filter turns
 * it into a plane of 4L low bytes and a plane of 4L high bytes. The low bytes are all zero, except
 * those of 0.33, which only codes of three bases have; each position has four high bytes. So the
 * deflate stream of both planes can be written directly from the base codes, with fixed Huffman
 * codes and without generating the planes. All functions are thread-safe.
 * SPDX-License-Identifier: MIT */
#ifndef COV_DEFLATE_ONEHOT_DEFLATE_H
#define COV_DEFLATE_ONEHOT_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cov_onehot_effort {
    COV_ONEHOT_FAST,  /* 5 bits per base, no search for matches */
    COV_ONEHOT_SMALL, /* matches of four bases: 3.5 bits per base */
};

/* Returns how many bytes cov_onehot_encode needs at dst for L codes; it may write to all of
 * them. Returns SIZE_MAX on overflow. */
size_t cov_onehot_bound(size_t L);

/* Writes the zlib stream (RFC 1950) of the two planes of codes[0..L), each 0..15, to
 * dst[0..*n_dst). cap >= cov_onehot_bound(L). Deterministic. Returns false, with dst undefined,
 * for chunks that need a general compressor: those with codes of three bases (B, D, H, V), with
 * padding before a base, or with 2^31 codes or more. */
bool cov_onehot_encode(enum cov_onehot_effort effort, const uint8_t *codes, size_t L, void *dst,
                       size_t cap, size_t *n_dst);

/* Returns how many bytes of scratch cov_onehot_encode_both needs for L codes; SIZE_MAX on
 * overflow. */
size_t cov_onehot_scratch(size_t L);

/* Writes the streams of both strands of codes[0..n), n <= L, padded to L codes. They are the
 * same as those of cov_onehot_encode with COV_ONEHOT_SMALL. dst[0] and n_dst[0] are for the
 * codes, dst[1] and n_dst[1] for the other strand; cap is the size of each buffer. Supports only
 * chunks for which this is faster than two calls, those of bases with few runs of other codes;
 * otherwise returns false, with dst undefined. */
bool cov_onehot_encode_both(const uint8_t *codes, size_t n, size_t L, uint8_t *scratch,
                            void *const dst[2], size_t cap, size_t n_dst[2]);

#endif
