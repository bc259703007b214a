"""overlap_check.py - checks for tests/cli/covpredict_regions.t; see start_python in tap.sh.
SPDX-License-Identifier: MIT"""
import random

import h5py
import numpy as np
import serve

L = 1008
LENGTHS = {"c1": 4000, "c2": 1, "c3": 999, "c4": 1008, "c5": 1009, "c6": 2500, "c7": 1716, "c8": 7777}


def windows(n, overlap):
    """Returns the windows by definition: steps of L - overlap until the end."""
    out, beg = [], 0
    while True:
        out.append((beg, min(beg + L, n)))
        if out[-1][1] == n:
            return out
        beg += L - overlap


def genome(path, overlap):
    rng = random.Random(3)
    with open(path, "w") as f, open(path + ".windows", "w") as g:
        for name, n in LENGTHS.items():
            bases = "".join(rng.choice("ACGTacgtNR") for _ in range(n))
            f.write(f">{name}\n{bases}\n")
            for i, (beg, end) in enumerate(windows(n, int(overlap))):
                g.write(f">{name}_{i}\n{bases[beg:end]}\n")


def rows(path):
    """Maps (name, start, end) to values."""
    with h5py.File(path) as f:
        where = zip(f["data/seqids"][:], f["data/start_ends"][:])
        values = f["prediction/predictions"][:]
        return {(name.decode(), *map(int, place)): values[i] for i, (name, place) in enumerate(where)}


def along(values, start, end):
    """Returns a row along the + strand, without padding."""
    assert (values[abs(end - start):] == -1).all()
    values = values[: abs(end - start)]
    return values[::-1] if start > end else values


def overlap(path, of_windows, n):
    got, single = rows(path), rows(of_windows)
    checked = 0
    for name, length in LENGTHS.items():
        places = windows(length, int(n))
        for minus in False, True:
            wanted = []
            for i, (beg, end) in enumerate(places):
                place = (0, end - beg)
                values = along(single[(f"{name}_{i}", *(place[::-1] if minus else place))], *(place[::-1] if minus else place))
                first = int(n) // 2 if i else 0
                last = places[i + 1][0] + int(n) // 2 - beg if i + 1 < len(places) else end - beg
                wanted.append(values[first:last])
            wanted = np.concatenate(wanted)
            assert len(wanted) == length
            for beg in range(0, length, L):
                place = (beg, min(beg + L, length))
                place = place[::-1] if minus else place
                assert np.array_equal(along(got[(name, *place)], *place), wanted[min(place):max(place)]), (name, place)
                checked += 1
    assert checked == len(got)


def equal(a, b):
    x, y = rows(a), rows(b)
    assert x.keys() == y.keys() and all(np.array_equal(x[k], y[k]) for k in x)


def read_bed(path):
    with open(path) as f:
        return [(name, int(beg), int(end)) for name, beg, end in (line.split()[:3] for line in f)]


def regions(path, whole, bed):
    got, n = rows(path), 0
    for (name, start, end), values in rows(whole).items():
        beg, stop = min(start, end), max(start, end)
        there = np.zeros(stop - beg, bool)
        for region, low, high in read_bed(bed):
            if region == name:
                there[max(low - beg, 0):max(high - beg, 0)] = True
        if not there.any():
            continue
        wanted = np.where(there[:, None], along(values, start, end), -1)
        assert np.array_equal(along(got[(name, start, end)], start, end), wanted), (name, start, end)
        n += 1
    assert n == len(got)


def bases(path):
    with open(path) as f:
        return {(name, i): value for name, beg, end, value in map(str.split, f) for i in range(int(beg), int(end))}


def track(path, whole, bed):
    wanted = bases(whole)
    assert bases(path) == {(name, i): wanted[(name, i)] for name, beg, end in read_bed(bed) for i in range(beg, end)}


def unmark(path):
    with h5py.File(path, "r+") as f:
        del f["prediction/predictions"].attrs["outside_regions"]


def main(action, *args):
    return ACTIONS[action](*args)


ACTIONS = {f.__name__: f for f in (genome, overlap, equal, regions, track, unmark)}
serve.run(main)
