/* example_pack.h - a chunk with targets in few bytes, for keeping many in memory or passing them on: 4
 * bits a base, and of each data set nothing (zeros), whole numbers of one or two bytes, hundredths of
 * two, or floats, whichever is the shortest that is exact.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_TRAIN_EXAMPLE_PACK_H
#define COV_JOB_TRAIN_EXAMPLE_PACK_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that codes of L positions and D data sets may take at most. */
size_t cov_example_pack_bound(size_t L, size_t D);

/* Packs codes[L] and targets[L, D]; returns the bytes that were written to out[]. Targets are those of
 * examples.h: hundredths. */
size_t cov_example_pack(const uint8_t *codes, const float *targets, size_t L, size_t D,
                        uint8_t *out);

/* The same again from what cov_example_pack made. */
void cov_example_unpack(const uint8_t *packed, size_t L, size_t D, uint8_t *codes, float *targets);

#endif
