#!/usr/bin/python3
"""Generates and checks the code lengths of common/deflate/onehot_codes.c.

usage: onehot_lengths.py print
       onehot_lengths.py check ONEHOT_CODES.C

Generates chunks of DNA, finds repeats as onehot_deflate.c does, counts the symbols of literals, lengths
and distances, and computes the best code lengths of at most 11 bits. `print` prints them. `check`
reads the tables of the C file instead: all codes must be complete, and must need at most 0.1 % more bits for these
chunks than the best codes.
SPDX-License-Identifier: MIT"""

import random
import re
import sys
from collections import Counter

CHUNKS, LENGTH, LONGEST = 40, 21384, 11
WORD, LONG_RUN, WINDOW, HEAD = 4, 64, 8191, 512
BASE, ZERO, HALF, QUARTER, END = 0x3C, 0x00, 0x38, 0x34, 256


def make_chunk(rng):
    """Uniformly random bases with diverged copies of earlier bases, and tandem repeats."""
    s = []
    while len(s) < LENGTH:
        kind = rng.random()
        if len(s) > 500 and kind < 0.10:
            beg = rng.randint(max(0, len(s) - 8000), len(s) - 1)
            for i in range(rng.randint(30, 400)):
                copy = s[min(beg + i, len(s) - 1)]
                s.append(rng.randrange(4) if rng.random() < 0.1 else copy)
        elif kind < 0.13:
            unit = [rng.randrange(4) for _ in range(rng.randint(1, 12))]
            n = rng.randint(12, 60)
            s += (unit * n)[:n]
        else:
            s += [rng.randrange(4) for _ in range(rng.randint(100, 1000))]
    return s[:LENGTH]


def length_symbol(n):
    """Returns the symbol of RFC 1951, 3.2.5, for 11 to 257 bytes."""
    extra = (n - 3).bit_length() - 3
    return 257 + 4 * extra + (n - 3 >> extra)


def distance_symbol(n):
    """Returns the symbol of RFC 1951, 3.2.5, for a distance of 4 bytes or more."""
    extra = max(0, (n - 1).bit_length() - 2)
    return 2 * extra + (n - 1 >> extra)


def count(rng):
    literals, distances = Counter(), Counter()
    for _ in range(CHUNKS):
        s, last = make_chunk(rng), {}
        words = [tuple(s[i:i + WORD]) for i in range(LENGTH - WORD + 1)]
        for i in range(HEAD):
            last[words[i]] = i
        for t in range(HEAD, LENGTH, WORD):
            seen = last.get(words[t])
            if seen is not None and t - seen <= WINDOW:
                literals[length_symbol(4 * WORD)] += 1
                distances[distance_symbol(4 * (t - seen))] += 1
            else:
                literals[ZERO] += 3 * WORD
                literals[BASE] += WORD
            for i in range(t, min(t + WORD, len(words))):
                last[words[i]] = i
        literals[END] += 1
    # Every symbol that can occur has a code.
    for n in range(1, WINDOW + 1):
        distances.setdefault(distance_symbol(4 * n), 1)
    literals.update((HALF, QUARTER, length_symbol(4 * LONG_RUN)))
    return literals, distances


def best_lengths(counts):
    """Computes the lengths by package-merge (Larmore and Hirschberg, 1990)."""
    symbols = sorted((n, (s,)) for s, n in counts.items())
    row = symbols
    for _ in range(LONGEST - 1):
        pairs = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(row[::2], row[1::2])]
        row = sorted(symbols + pairs)
    return Counter(s for _, package in row[:2 * len(symbols) - 2] for s in package)


def bits(counts, lengths):
    return sum(n * lengths[s] for s, n in counts.items())


def read_tables(path):
    names = {"END": END, "MATCH_258": 285}
    with open(path, encoding="ascii") as f:
        text = f.read()
    tables = {}
    for name, body in re.findall(r"struct symbol (\w+)\[\] = \{(.*?)\};", text, re.S):
        pairs = re.findall(r"\{(\w+), (\d+)\}", body)
        tables[name] = {names[s] if s in names else int(s, 0): int(n) for s, n in pairs}
        if len(tables[name]) != len(pairs):
            sys.exit(f"{name}: duplicate symbol")
    return tables


def main():
    counts = dict(zip(("small_literals", "small_distances"), count(random.Random(1))))
    if sys.argv[1:] == ["print"]:
        for name, c in counts.items():
            lengths = best_lengths(c)
            print(name, ", ".join("{%d, %d}" % (s, lengths[s]) for s in sorted(lengths)))
        return
    if len(sys.argv) != 3 or sys.argv[1] != "check":
        sys.exit("usage: onehot_lengths.py print | check ONEHOT_CODES.C")
    tables = read_tables(sys.argv[2])
    for name, lengths in tables.items():
        kraft = sum(2**(15 - n) for n in lengths.values())
        # A code of a single symbol has one bit.
        if kraft != 2**15 and list(lengths.values()) != [1]:
            sys.exit(f"{name}: the code is not complete: {kraft} / {2**15}")
    for name, c in counts.items():
        if set(c) != set(tables[name]):
            sys.exit(f"{name}: other symbols: {sorted(set(c) ^ set(tables[name]))}")
        best, ours = bits(c, best_lengths(c)), bits(c, tables[name])
        if ours > 1.001 * best:
            sys.exit(f"{name}: {ours} bits instead of {best}")


if __name__ == "__main__":
    main()
