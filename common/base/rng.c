/* rng.c - see rng.h.
 * SPDX-License-Identifier: MIT */
#include "common/base/rng.h"

void cov_rng_init(struct cov_rng *r, uint64_t seed)
{
    for (int i = 0; i < 4; i++) { /* splitmix64 */
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        r->s[i] = z ^ z >> 31;
    }
}

static uint64_t rotate(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

uint64_t cov_rng_next(struct cov_rng *r)
{
    uint64_t *s = r->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t cov_rng_below(struct cov_rng *r, uint64_t n)
{
    /* Rejects numbers below 2^64 mod n, which would make small results more likely. */
    uint64_t least = -n % n, x;
    do
        x = cov_rng_next(r);
    while (x < least);
    return x % n;
}

double cov_rng_double(struct cov_rng *r)
{
    return (double)(cov_rng_next(r) >> 11) * 0x1p-53;
}
