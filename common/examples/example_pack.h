/* example_pack.h - packs a chunk with targets, for memory and for sending: 4 bits per base, and per
 * dataset nothing (all zero), integers of one or two bytes, hundredths in two bytes, or floats,
 * whichever is the shortest exact form.
 * SPDX-License-Identifier: MIT */
#ifndef COV_EXAMPLES_EXAMPLE_PACK_H
#define COV_EXAMPLES_EXAMPLE_PACK_H

#include <stddef.h>
#include <stdint.h>

/* Returns an upper bound of the packed size in bytes, for L positions and D datasets. */
size_t cov_example_pack_bound(size_t L, size_t D);

/* Packs codes[L] and targets[L, D] (hundredths, as in examples.h) to out[]. Returns the number of
 * bytes written. */
size_t cov_example_pack(const uint8_t *codes, const float *targets, size_t L, size_t D,
                        uint8_t *out);

/* Unpacks the output of cov_example_pack. */
void cov_example_unpack(const uint8_t *packed, size_t L, size_t D, uint8_t *codes, float *targets);

#endif
