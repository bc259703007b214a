"""training_draws.py - repeats the random draws of covtrain: the order of an epoch, and dropout.

Sources: David Blackman and Sebastiano Vigna, "Scrambled linear pseudorandom number generators" (xoshiro256**, splitmix64);
common/compute/dropout.h and common/examples/example_batches.c define the draws.
SPDX-License-Identifier: MIT
"""
import numpy as np

BITS, GOLDEN = 2 ** 64 - 1, 0x9E3779B97F4A7C15


def mix(z):
    """The finaliser of splitmix64, for a number or an array of uint64."""
    last = BITS if isinstance(z, int) else np.uint64(BITS)
    kind = type(z) if isinstance(z, int) else np.uint64
    for shift, factor in (30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB):
        z = (z ^ z >> kind(shift)) * kind(factor) & last
    return z ^ z >> kind(31)


class Generator:
    """xoshiro256**, seeded by splitmix64."""

    def __init__(self, seed):
        self.s = [mix(seed + (i + 1) * GOLDEN & BITS) for i in range(4)]

    def next(self):
        def turned(x, k):
            return (x << k | x >> 64 - k) & BITS
        a, b, c, d = self.s
        c, d = c ^ a, d ^ b
        self.s = [a ^ d, b ^ c, c ^ (b << 17 & BITS), turned(d, 45)]
        return turned(b * 5 & BITS, 7) * 9 & BITS

    def below(self, n):
        x = self.next()
        while x < 2 ** 64 % n:
            x = self.next()
        return x % n


    def shuffle(self, items):
        for i in range(len(items), 1, -1):
            j = self.below(i)
            items[i - 1], items[j] = items[j], items[i - 1]


def generator_of(seed, epoch):
    return Generator(seed ^ (epoch + 1) * GOLDEN & BITS)


def order(n, seed, epoch):
    """Returns the order of n chunks in an epoch."""
    items = list(range(n))
    generator_of(seed, epoch).shuffle(items)
    return items


def balanced(species, seed, epoch):
    """Returns the chunks of an epoch with --balance species, given the species of each chunk."""
    generator, items = generator_of(seed, epoch), []
    stocks = [[i for i, s in enumerate(species) if s == name] for name in dict.fromkeys(species)]
    left = [[] for _ in stocks]
    for i in range(len(species)):
        turn = i % len(stocks)
        other = turn + generator.below(len(stocks) - turn)
        if not left[other]:
            generator.shuffle(stocks[other])
            left[other] = stocks[other][:]
        items.append(left[other].pop(0))
        stocks[turn], stocks[other] = stocks[other], stocks[turn]
        left[turn], left[other] = left[other], left[turn]
    return items


def dropout(shape, p, seed, step, layer):
    """Returns the dropout factors, 0 or 1 / (1 - p), of a layer's output [chunks, t, c] at a step. c is even; `layer`
    counts convolutions and LSTMs from 0."""
    n, t, c = shape
    places = (np.arange(t * c // 2, dtype="u8") + np.uint64(1)) * np.uint64(GOLDEN)
    factors = np.empty((n, t * c), "f4")
    for chunk in range(n):
        key = mix(mix(mix(seed + GOLDEN & BITS) ^ step) ^ layer << 48 ^ chunk)
        z = mix(places + np.uint64(key))
        bits = np.stack([z & np.uint64(0xFFFFFFFF), z >> np.uint64(32)], axis=1).reshape(-1)
        factors[chunk] = (bits >= int(p * 2 ** 32)) / (1 - p)
    return factors.reshape(shape)
