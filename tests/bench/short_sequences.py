#!/usr/bin/python3
"""short_sequences.py - measures the CPU time that covpredict saves on sequences much shorter than a chunk.

usage: short_sequences.py -m CKPT [--count N] [--length N] [--full N] [--rounds N] [--most F] [--part F] [-- OPTION...]

In each round (3), covpredict predicts N synthetic sequences (1000) of --length bases (1000), then the first of them
(--full, 60) with its own option --full. Both runs get the OPTIONs. Prints the milliseconds of CPU time per sequence of
both runs and their ratio, one line per round; then the median, lowest and highest ratio, and the largest difference of
the unrounded values relative to --full. Exits with status 1 if a difference exceeds --most (1e-5) or the median ratio
exceeds --part (0.125). Needs h5py; uses the tools in PATH.

  short_sequences.py -m model.ckpt --count 20000 --full 400 --rounds 1 -- --precision bf16
SPDX-License-Identifier: MIT"""
import argparse
import random
import resource
import statistics
import subprocess
import sys
import tempfile

import h5py
import numpy as np


def write(path, n, length):
    draw = random.Random(1)
    with open(path, "w") as f:
        for i in range(n):
            f.write(f">sequence{i}\n{''.join(draw.choices('ACGT', (31, 19, 19, 31), k=length))}\n")


def predict(c, genome, n, output, *options):
    """Returns the milliseconds of CPU time per sequence."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["covpredict", "-qf", "--float", "-m", c.model, *c.options, *options, "-o", output, genome], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / n


def difference(path, full_path):
    """Returns the largest relative difference of the second file's rows from the first rows of the other file."""
    most = 0.0
    with h5py.File(path) as a, h5py.File(full_path) as b:
        values, full = a["prediction/predictions"], b["prediction/predictions"]
        n = full.shape[0]
        for name in ("seqids", "start_ends"):
            if not np.array_equal(a["data"][name][:n], b["data"][name][:]):
                sys.exit(f"short_sequences.py: data/{name} differ")
        for i in range(n):
            length = abs(int(b["data/start_ends"][i, 1]) - int(b["data/start_ends"][i, 0]))
            x, y = values[i, :length].astype(float), full[i, :length].astype(float)
            most = max(most, float(np.max(np.abs(x - y) / np.abs(y))))
    return most


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("-m", "--model", required=True)
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--length", type=int, default=1000)
    p.add_argument("--full", type=int, default=60)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--most", type=float, default=1e-5)
    p.add_argument("--part", type=float, default=0.125)
    p.add_argument("options", nargs="*")
    c = p.parse_args()
    if not 1 <= c.full <= c.count or c.rounds < 1 or c.length < 1:
        p.error("numbers are 1 or more, and --full is not more than --count")
    with tempfile.TemporaryDirectory() as directory:
        write(f"{directory}/all.fa", c.count, c.length)
        write(f"{directory}/first.fa", c.full, c.length)
        ratios = []
        print("ms\tms --full\tratio")
        for _ in range(c.rounds):
            full = predict(c, f"{directory}/first.fa", c.full, f"{directory}/full.h5", "--full")
            short = predict(c, f"{directory}/all.fa", c.count, f"{directory}/all.h5")
            ratios.append(short / full)
            print(f"{short:.4g}\t{full:.4g}\t{ratios[-1]:.4f}", flush=True)
        most, part = difference(f"{directory}/all.h5", f"{directory}/full.h5"), statistics.median(ratios)
    print(f"ratio\t{part:.4f}\t{min(ratios):.4f}\t{max(ratios):.4f}")
    print(f"difference\t{most:.3g}")
    return most > c.most or part > c.part


sys.exit(main())
