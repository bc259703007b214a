/* mt19937.h - states of the Mersenne Twister, which checkpoints of Python programs contain. Source:
 * Matsumoto and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform
 * pseudorandom number generator", 1998, with the initialisation of 2002. covtools uses another
 * generator for its own random numbers (rng.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_MT19937_H
#define COV_CKPT_MT19937_H

#include <stdint.h>

enum { COV_MT19937_N = 624 };

/* Seeds with an integer, like NumPy and PyTorch. */
void cov_mt19937_seed(uint32_t seed, uint32_t state[COV_MT19937_N]);
/* Seeds with an array that holds only this integer, like Python's random.seed. */
void cov_mt19937_seed_array(uint32_t seed, uint32_t state[COV_MT19937_N]);

#endif
