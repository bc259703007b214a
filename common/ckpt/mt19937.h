/* mt19937.h - states of the Mersenne Twister, stored in checkpoints of Python programs: Matsumoto
 * and Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudorandom number
 * generator", 1998, with the initialisation of 2002. covtools draws its numbers elsewhere (rng.h).
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_MT19937_H
#define COV_CKPT_MT19937_H

#include <stdint.h>

enum { COV_MT19937_N = 624 };

/* Seeds with an integer, as NumPy and PyTorch do. */
void cov_mt19937_seed(uint32_t seed, uint32_t state[COV_MT19937_N]);
/* Seeds with an array that holds this one integer, as Python's random.seed does. */
void cov_mt19937_seed_array(uint32_t seed, uint32_t state[COV_MT19937_N]);

#endif
