#!/usr/bin/python3
"""recommended.py - compares the settings that `benchmark report` recommends with the best of a full sweep.

  recommended.py DIRECTORY -m CKPT [--size N] [--seconds S] [--repeats N] [--batches LIST] [--threads LIST] [--slack F]
                 [--loadings LIST] [--clock wall|cpu]

DIRECTORY is the output of `benchmark report -m CKPT -o DIRECTORY`. Predicts a synthetic genome of N bases (1.5M) with
covpredict and all combinations of batch (1,2,4,8,16,32), threads (powers of two, and all), layout and compression of
the genome file (onehot and gzip, onehot and blosc, packed and none) and --loading (disk, ram, ram-packed), with the
recommended precision and device; then predicts it with the recommended settings, which do not include --loading. Prints
the best setting, the recommended one and their ratio, by the median of chunks per second; exits with status 1 if the
ratio is below 1 - F (0.1).

Every setting runs once; then the settings within 1.5 F of the best run again, up to N times (5). The script stops after
S seconds (default: no limit); another call continues there, since results are kept in DIRECTORY/sweep/runs.tsv. On a busy
machine, use --clock cpu, which compares chunks times threads per second of CPU time. Uses the tools in PATH.

  benchmark report -m M.ckpt -o results/ && recommended.py results/ -m M.ckpt
SPDX-License-Identifier: MIT"""
import argparse
import itertools
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time

LAYOUTS = [("onehot", "gzip"), ("onehot", "blosc"), ("packed", "none")]
LOADINGS = ["disk", "ram", "ram-packed"]
CLOCKS = ["wall", "cpu"]


def numbers(text):
    return [int(n) for n in text.split(",")]


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def recommended_of(directory):
    with open(f"{directory}/benchmark.json") as f:
        report = json.load(f)
    value = {r["setting"]: r["value"] for r in report["recommendations"]}
    how = {r["setting"]: r.get("how", "").split() for r in report["recommendations"]}
    layout = how["layout"]
    setting = (int(value["batch"]), int(value["threads"]), layout[layout.index("--layout") + 1],
               layout[layout.index("--compression") + 1], "disk")
    fixed = how["precision"][1:] + how["device"][1:]
    return setting, fixed, report["machine"]["threads"]


class Sweep:
    def __init__(self, directory, c, fixed):
        self.directory, self.model, self.fixed = f"{directory}/sweep", c.model, fixed
        self.clock, self.repeats, self.slack = CLOCKS.index(c.clock), c.repeats, c.slack
        os.makedirs(self.directory, exist_ok=True)
        self.runs = {}
        fasta = f"{self.directory}/genome.fa"
        if not os.path.exists(fasta):
            made = subprocess.run(["benchmark", "synth", "-q", "--size", c.size, "-o", "-"], check=True, stdout=subprocess.PIPE)
            with open(fasta, "wb") as f:
                f.write(made.stdout.replace(b"N", b"A"))  # without padding
        for layout, compression in LAYOUTS:
            if not os.path.exists(self.genome(layout, compression)):
                subprocess.run(["fasta2h5", "-q", "--layout", layout, "--compression", compression, "-o",
                                self.genome(layout, compression), fasta], check=True)
        self.log = open(f"{self.directory}/runs.tsv", "a+")
        self.log.seek(0)
        for line in self.log:
            batch, threads, layout, compression, loading, *speeds = line.split("\t")
            key = (int(batch), int(threads), layout, compression, loading)
            self.runs.setdefault(key, []).append([float(speed) for speed in speeds])

    def genome(self, layout, compression):
        return f"{self.directory}/{layout}_{compression}.h5"

    def run(self, setting):
        batch, threads, layout, compression, loading = setting
        stats = f"{self.directory}/stats.json"
        start = time.monotonic(), cpu_seconds()
        subprocess.run(["covpredict", "-qf", "-m", self.model, "--batch-size", str(batch), "-@", str(threads), "--loading", loading,
                        *self.fixed, "--stats", stats, "-o", f"{self.directory}/predictions.h5", self.genome(layout, compression)], check=True)
        wall, cpu = time.monotonic() - start[0], cpu_seconds() - start[1]
        with open(stats) as f:
            chunks = json.load(f)["chunks"]
        speeds = [chunks / wall, chunks * threads / cpu]
        self.runs.setdefault(setting, []).append(speeds)
        self.log.write("\t".join(map(str, setting)) + "".join(f"\t{speed:.5g}" for speed in speeds) + "\n")
        self.log.flush()

    def speeds(self, setting):
        return sorted(speeds[self.clock] for speeds in self.runs[setting])

    def speed(self, setting):
        return statistics.median(self.speeds(setting))

    def waiting(self, settings, recommended):
        """Returns the settings to run next: all new ones, else the candidates for the best with the fewest runs."""
        new = [s for s in settings if s not in self.runs]
        if new:
            return new
        best = max(map(self.speed, settings))
        near = [s for s in settings if s == recommended or self.speed(s) >= (1 - 1.5 * self.slack) * best]
        least = min(len(self.runs[s]) for s in near)
        return [s for s in near if len(self.runs[s]) == least] if least < self.repeats else []


def text_of(setting):
    batch, threads, layout, compression, loading = setting
    return f"--batch-size {batch} -@ {threads} --loading {loading}, {layout} {compression}"


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("directory")
    p.add_argument("-m", "--model", required=True)
    p.add_argument("--size", default="1.5M")
    p.add_argument("--seconds", type=float, default=float("inf"))
    p.add_argument("--repeats", type=int, default=5)
    p.add_argument("--clock", choices=CLOCKS, default="wall")
    p.add_argument("--batches", type=numbers, default=[1, 2, 4, 8, 16, 32])
    p.add_argument("--threads", type=numbers)
    p.add_argument("--loadings", type=lambda text: text.split(","), default=LOADINGS)
    p.add_argument("--slack", type=float, default=0.1)
    c = p.parse_args()
    recommended, fixed, all_threads = recommended_of(c.directory)
    threads = c.threads or sorted({all_threads, *(1 << i for i in range(all_threads.bit_length()) if 1 << i < all_threads)})
    settings = [(b, t, *layout, loading) for b, t, layout, loading in itertools.product(c.batches, threads, LAYOUTS, c.loadings)]
    if recommended not in settings:
        settings.append(recommended)
    sweep = Sweep(c.directory, c, fixed)
    end = time.monotonic() + c.seconds
    while (waiting := sweep.waiting(settings, recommended)) and time.monotonic() < end:
        random.shuffle(waiting)
        for setting in waiting:
            if time.monotonic() >= end:
                break
            sweep.run(setting)
    missing = [s for s in settings if s not in sweep.runs]
    if missing:
        print(f"{len(missing)} of {len(settings)} settings remain: run again")
        return 0
    best = max(settings, key=sweep.speed)
    ratio = sweep.speed(recommended) / sweep.speed(best)
    print(f"settings\t{len(settings)}, {' '.join(fixed)}")
    for name, s in (("best", best), ("recommended", recommended)):
        speeds = sweep.speeds(s)
        print(f"{name}\t{text_of(s)}\t{sweep.speed(s):.4g} chunks/s ({speeds[0]:.4g} to {speeds[-1]:.4g}, n={len(speeds)})")
    print(f"ratio\t{ratio:.3f}")
    if waiting := sweep.waiting(settings, recommended):
        print(f"{len(waiting)} settings need more runs: run again")
    return ratio < 1 - c.slack


sys.exit(main())
