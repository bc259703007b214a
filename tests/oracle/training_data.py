"""training_data.py - creates small genome files for training, with h5py: coverage depends on the bases.

training_data.py FILE SEED [PAIRS [LENGTH]]   PAIRS chunks (12) of LENGTH (240) bases on each strand, of two
                                              sequences; datasets atacseq (one column) and h3k4me3 (two)

Coverage is high around CG (atacseq) and around TATA (h3k4me3), with noise.
SPDX-License-Identifier: MIT
"""
import sys

import h5py
import numpy as np


def smooth(hits, width):
    return np.convolve(hits, np.ones(width), mode="same")


def main(path, seed, pairs=12, length=240):
    rng, length, pairs = np.random.default_rng(int(seed)), int(length), int(pairs)
    seqs = [(pairs + 1) // 2 * length - length // 3, pairs // 2 * length]
    x, y1, y2, names, places = [], [], [], [], []
    for s, n in enumerate(seqs):
        bases = rng.integers(0, 4, n)  # C, A, T, G
        text = "".join("CATG"[b] for b in bases)
        signal = []
        for motif, width in ("CG", 9), ("TAT", 21):
            hits = np.zeros(n)
            for i in range(n - len(motif)):
                hits[i] = text[i:i + len(motif)] == motif
            signal.append(smooth(hits, width) * 6 + 1)
        counts = [rng.poisson(signal[0]), rng.poisson(signal[1]), rng.poisson(signal[1])]
        begs = list(range(0, n, length))
        for minus in False, True:
            for b in (begs[::-1] if minus else begs):
                e, step = min(b + length, n), -1 if minus else 1
                one = np.zeros((length, 4), "f2")
                row = bases[b:e][::step]
                one[np.arange(e - b), 3 - row if minus else row] = 1  # the complement
                cover = np.full((length, 3), -1)
                for k in range(3):
                    cover[:e - b, k] = counts[k][b:e][::step]
                x.append(one)
                y1.append(cover[:, :1])
                y2.append(cover[:, 1:])
                names.append(b"s%d" % s)
                places.append((e, b) if minus else (b, e))
    how = {"compression": "gzip", "compression_opts": 4}
    with h5py.File(path, "w") as f:
        f.create_dataset("data/X", data=np.array(x), chunks=(1, length, 4), **how)
        f["data/seqids"] = np.array(names, "S50")
        f["data/species"] = np.array([b"sp"] * len(names), "S25")
        f["data/start_ends"] = np.array(places, "i8")
        f.create_dataset("evaluation/atacseq_coverage", data=np.array(y1), chunks=(1, length, 1), **how)
        f.create_dataset("evaluation/h3k4me3_coverage", data=np.array(y2), chunks=(1, length, 1), **how)


if __name__ == "__main__":
    main(*sys.argv[1:])
