/* mt19937.h - states of the Mersenne Twister, which checkpoints of Python programs hold: Matsumoto and
 * Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform pseudorandom number
 * generator", 1998, and its initialisation of 2002. Nothing is drawn from it here (rng.h does that).
 * SPDX-License-Identifier: MIT */
#ifndef COV_CKPT_MT19937_H
#define COV_CKPT_MT19937_H

#include <stdint.h>

enum { COV_MT19937_N = 624 };

/* Seeded by a word, as NumPy and PyTorch do. */
void cov_mt19937_seed(uint32_t seed, uint32_t state[COV_MT19937_N]);
/* Seeded by an array of this one word, as Python's random.seed does. */
void cov_mt19937_seed_array(uint32_t seed, uint32_t state[COV_MT19937_N]);

#endif
