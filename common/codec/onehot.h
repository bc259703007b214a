/* onehot.h - zlib streams of one-hot chunks, written straight from the codes of the bases.
 *
 * A chunk of a genome file is L rows of four halves (cov_onehot_f16). Behind HDF5's shuffle filter
 * that is a plane of 4L low bytes and a plane of 4L high bytes. The low bytes are all zero, except
 * for 0.33, the half of a code of three bases; the high bytes are four per base. So the deflate
 * stream of both can be put together from the codes, with Huffman codes that are fixed beforehand
 * and without the planes. All functions are thread-safe.
 * SPDX-License-Identifier: MIT */
#ifndef COV_CODEC_ONEHOT_H
#define COV_CODEC_ONEHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cov_onehot_effort {
    COV_ONEHOT_FAST,  /* five bits a base, nothing is searched for */
    COV_ONEHOT_SMALL, /* four bases are a repeat of what was before: 3.5 bits a base */
};

/* Bytes that cov_onehot_encode needs at dst for L codes; all of them may be written to. SIZE_MAX
 * when there are too many. */
size_t cov_onehot_bound(size_t L);

/* dst[0..*n_dst) = the zlib stream (RFC 1950) of the two planes of codes[0..L), each 0..15. cap is
 * at least cov_onehot_bound(L). The same bytes for the same codes and effort.
 * Returns false, with nothing of use at dst, for what is left to a general compressor: codes of
 * three bases (B, D, H, V), padding before a base, and 2^31 codes or more. */
bool cov_onehot_encode(enum cov_onehot_effort effort, const uint8_t *codes, size_t L, void *dst,
                       size_t cap, size_t *n_dst);

/* Bytes of scratch that cov_onehot_encode_both needs for L codes. SIZE_MAX when there are too many. */
size_t cov_onehot_scratch(size_t L);

/* The streams of both strands of codes[0..n), n <= L, each filled up to L with padding: dst[0] and
 * n_dst[0] as cov_onehot_encode makes them of the codes, [1] of the other strand. cap is that of
 * each.
 * Returns false, with nothing of use at both, unless it is faster at this than two calls are: for
 * bases alone, of COV_ONEHOT_SMALL. */
bool cov_onehot_encode_both(enum cov_onehot_effort effort, const uint8_t *codes, size_t n, size_t L,
                            uint8_t *scratch, void *const dst[2], size_t cap, size_t n_dst[2]);

#endif
