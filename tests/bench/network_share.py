#!/usr/bin/python3
"""network_share.py - the speed of `covpredict` from a FASTA file, as a share of the speed of the network alone.

  network_share.py -m CKPT [--size N] [--rounds N] [--seconds S] [-@ N] [--batch-size N] [--precision P] [--keep DIRECTORY]

In each of N rounds (3), `benchmark model` measures the network for S seconds (3), covpredict predicts a synthetic
genome of --size bases (8M), and the network is measured again. All run on the CPU with the same batch (16), threads
(all) and precision (exact). Prints for each round the chunks per second of the network, of covpredict (total time) and
of the network again, and the ratio of covpredict to the mean of the network's two; then the median, least and greatest
ratio. --keep stores the genome in DIRECTORY for the next run. Uses the tools in PATH. The ratio is unreliable on a busy
machine, and in a round whose two network measurements differ.
SPDX-License-Identifier: MIT"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def network(c, directory):
    subprocess.run(["benchmark", "model", "-q", "-f", "-m", c.model, "--batch-size", c.batch_size, "--precision", c.precision, "--device", "cpu",
                    "-@", c.threads, "--seconds", c.seconds, "--repeats", "1", "-o", f"{directory}/network"],
                   check=True, stderr=subprocess.DEVNULL)
    with open(f"{directory}/network/benchmark.json") as f:
        return next(figure["median"] for figure in json.load(f)["figures"] if figure["name"].startswith("model/chunks_per_second/"))


def covpredict(c, fasta, directory):
    beg = time.monotonic()
    subprocess.run(["covpredict", "-qf", "-m", c.model, "--batch-size", c.batch_size, "--precision", c.precision, "--device", "cpu",
                    "-@", c.threads, "--stats", f"{directory}/stats.json", "-o", f"{directory}/predictions.h5", fasta], check=True)
    seconds = time.monotonic() - beg
    with open(f"{directory}/stats.json") as f:
        return json.load(f)["chunks"] / seconds


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("-m", "--model", required=True)
    p.add_argument("--size", default="8M")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", default="3")
    p.add_argument("-@", "--threads", default=str(len(os.sched_getaffinity(0))))
    p.add_argument("--batch-size", default="16")
    p.add_argument("--precision", default="exact")
    p.add_argument("--keep")
    c = p.parse_args()
    if c.rounds < 1:
        p.error("--rounds: 1 or more")
    with tempfile.TemporaryDirectory() as directory:
        fasta = f"{c.keep or directory}/{c.size}.fa"
        if not os.path.exists(fasta):
            made = subprocess.run(["benchmark", "synth", "-q", "--size", c.size, "--repeats", "0", "-o", "-"], check=True, stdout=subprocess.PIPE)
            with open(fasta, "wb") as f:
                f.write(made.stdout.replace(b"N", b"A"))  # without padding
        ratios = []
        print("network\tcovpredict\tnetwork\tratio")
        for _ in range(c.rounds):
            before, whole, after = network(c, directory), covpredict(c, fasta, directory), network(c, directory)
            ratios.append(2 * whole / (before + after))
            print(f"{before:.4g}\t{whole:.4g}\t{after:.4g}\t{ratios[-1]:.3f}", flush=True)
    print(f"ratio\t{statistics.median(ratios):.3f}\t{min(ratios):.3f}\t{max(ratios):.3f}")


sys.exit(main())
