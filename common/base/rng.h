/* rng.h - random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna,
 * "Scrambled linear pseudorandom number generators", 2021), seeded by splitmix64.
 * SPDX-License-Identifier: MIT */
#ifndef COV_BASE_RNG_H
#define COV_BASE_RNG_H

#include <stdint.h>

struct cov_rng {
    uint64_t s[4];
};

/* Any seed is valid, including 0. */
void cov_rng_init(struct cov_rng *r, uint64_t seed);

/* Returns 64 random bits. */
uint64_t cov_rng_next(struct cov_rng *r);

/* Returns a uniform number in [0, n), without bias; n > 0. */
uint64_t cov_rng_below(struct cov_rng *r, uint64_t n);

/* Returns a uniform number in [0, 1), a multiple of 2^-53. */
double cov_rng_double(struct cov_rng *r);

#endif
