/* mt19937.c - see mt19937.h.
 * SPDX-License-Identifier: MIT */
#include "common/ckpt/mt19937.h"

#include <stddef.h>

void cov_mt19937_seed(uint32_t seed, uint32_t state[COV_MT19937_N])
{
    state[0] = seed;
    for (uint32_t i = 1; i < COV_MT19937_N; i++)
        state[i] = 1812433253U * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
}

/* Mixes word i with the word before it. */
static void mix(uint32_t *state, size_t i, uint32_t factor, uint32_t plus)
{
    uint32_t before = state[i - 1];
    state[i] = (state[i] ^ ((before ^ (before >> 30)) * factor)) + plus;
}

void cov_mt19937_seed_array(uint32_t seed, uint32_t state[COV_MT19937_N])
{
    cov_mt19937_seed(19650218U, state);
    size_t i = 1;
    for (int round = 0; round < 2; round++)
        for (size_t k = COV_MT19937_N - (size_t)round; k > 0; k--) {
            mix(state, i, round ? 1566083941U : 1664525U, round ? 0U - (uint32_t)i : seed);
            if (++i == COV_MT19937_N) {
                state[0] = state[COV_MT19937_N - 1];
                i = 1;
            }
        }
    state[0] = 0x80000000U;
}
