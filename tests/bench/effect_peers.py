#!/usr/bin/env python3
"""effect_peers.py - how many times as fast as PyTorch are coveffect vcf and ism?

    effect_peers.py [--rounds N] [--seconds S] [--spacing LIST] [--variants N] [--step N] [--length N] [--window N]
                    [--batches LIST] [--check N] [-@ N] CHECKPOINT GENOME.fa

For each spacing in LIST (25,250,100000), places replaced bases this far apart, from the longest sequence on, at
most N variants (4000), and runs `coveffect vcf --step N` (a quarter of the window); then `coveffect ism` on a region of
N bases (1000). Its times are those of the whole command: starting, reading the genome and the windows without variants.

PyTorch is assumed to have kept the windows without variants, so it computes only windows with them, on both strands.
This time is measured on random bases, for at least S seconds (3) with the fastest of the --batches (1,4,8,16,32
windows), and multiplied by the number of alternative alleles. The network is that of CHECKPOINT, in single precision
and not compiled. In each of N rounds (5), the contestants run one at a time in random order, all on N threads (2).
Prints median, least and greatest of the seconds and of PyTorch's divided by covtools'.

Then PyTorch computes the N variants (6) of the closest spacing with the largest effects on the first dataset. The
status is 1 if a log2 fold change differs by more than 1e-4.

Needs coveffect in PATH, torch, h5py and numpy.
SPDX-License-Identifier: MIT"""
import argparse
import csv
import math
import os
import random
import statistics
import sys
import tempfile
import time

import torch

sys.dont_write_bytecode = True
sys.path.insert(0, f"{os.path.dirname(os.path.abspath(__file__))}/../oracle")
from attribution_peers import WIDTH, Mean, load_network, one_hot, timed  # noqa: E402
from effect_check import Window, beginning  # noqa: E402
from genome_check import read_fasta  # noqa: E402

TOLERANCE = 1e-4


def numbers(text):
    return [int(n) for n in text.split(",")]


def write_vcf(path, genome, spacing, most):
    """Returns the number of variants."""
    rng, n = random.Random(1), 0
    with open(path, "w") as f:
        f.write("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for name in sorted(genome, key=lambda name: -len(genome[name])):
            for at in range(spacing // 2, len(genome[name]), spacing):
                ref = genome[name][at]
                if n < most and ref in "ACGT":
                    n += 1
                    f.write(f"{name}\t{at + 1}\tv{n}\t{ref}\t{rng.choice('ACGT'.replace(ref, ''))}\t.\t.\t.\n")
    return n


class Alternatives:
    """Windows computed by PyTorch."""

    def __init__(self, model, o):
        self.model, self.o = model, o
        self.batch = min(o.batches, key=lambda n: self.turn(n, 0))

    @torch.inference_mode()
    def turn(self, batch, seconds):
        """Returns the seconds per window, on both strands."""
        codes = torch.randint(4, (batch, self.o.window))
        x = torch.nn.functional.one_hot(codes, 4).float().transpose(1, 2).contiguous()
        self.model(x)
        n, beg = 0, time.perf_counter()
        while n == 0 or time.perf_counter() - beg < seconds:
            self.model(x)
            n += batch
        return (time.perf_counter() - beg) / n


def commands(genome, directory, target, o):
    """Returns the name of each command, its number of alternative alleles, its arguments, and its output."""
    shared = ["-m", o.checkpoint, "-g", o.genome, "--window", str(o.window), "--precision", "exact", "--device", "cpu"]
    found = []
    for spacing in o.spacing:
        path = f"{directory}/{spacing}.vcf"
        n = write_vcf(path, genome, spacing, o.variants)
        found.append((f"vcf, 1 in {spacing}", n, ["vcf", *shared, "--step", str(o.step), path], f"{directory}/{spacing}.tsv"))
    name = max(genome, key=lambda name: len(genome[name]))
    middle = len(genome[name]) // 2
    with open(f"{directory}/region.bed", "w") as f:
        f.write(f"{name}\t{middle - o.length // 2}\t{middle - o.length // 2 + o.length}\n")
    ism = ["ism", *shared, "-R", f"{directory}/region.bed", "--dataset", target]
    return [*found, (f"ism, {o.length} bases", 3 * o.length, ism, f"{directory}/ism")]


def measure(jobs, peer, o):
    values = {name: [] for name, *_ in [*jobs, ("PyTorch",)]}
    for n in range(o.rounds):
        for job in random.sample([*jobs, None], len(jobs) + 1):
            if job is None:
                values["PyTorch"].append(peer.turn(peer.batch, o.seconds))
            else:
                values[job[0]].append(timed(job[2], job[3], o.threads))
        print(f"round {n + 1} of {o.rounds}: " + ", ".join(f"{name} {v[-1]:.4g} s" for name, v in values.items()), file=sys.stderr)
    return values


def spread(values):
    return "\t".join(f"{v:.4g}" for v in (statistics.median(values), min(values), max(values)))


def report(jobs, values, peer):
    one = values["PyTorch"]
    print(f"# PyTorch {torch.__version__}: s per alternative window, batches of {peer.batch}: {spread(one)}; multiplied by the alleles")
    print("job\talleles\t" + "\t".join(f"{what}\tleast\tgreatest" for what in ("s, covtools", "s, PyTorch", "ratio")))
    for name, n, *_ in jobs:
        theirs = [n * v for v in one]
        print(name, n, spread(values[name]), spread(theirs), spread([b / a for a, b in zip(values[name], theirs)]), sep="\t")


@torch.inference_mode()
def check(table, genome, dataset, model, o):
    """Returns whether the scores with the largest effects equal PyTorch's."""
    with open(table) as f:
        rows = [row for row in csv.DictReader(f, delimiter="\t") if row["dataset"] == dataset and row["logfc"] != "NA"]
    rows = sorted(rows, key=lambda row: -float(row["abs_logfc"]))[: o.check]
    worst = 0
    for row in rows:
        bases, at = genome[row["chr"]], int(row["pos"]) - 1
        beg = beginning(len(bases), at, Window(f"{o.window}:{o.step}"))
        inside = at - beg
        window = bases[beg : beg + o.window]
        other = window[:inside] + row["allele2"] + window[inside + 1 :]
        model.beg, model.end = max(0, inside - WIDTH // 2), inside - WIDTH // 2 + WIDTH
        ref, alt = model(torch.stack([torch.from_numpy(one_hot(w)) for w in (window, other)]))[:, 0].tolist()
        worst = max(worst, abs((alt - ref) / math.log(2) - float(row["logfc"])))
    effects = [float(row["abs_logfc"]) for row in rows]
    print(f"# log2 fold changes of {len(rows)} variants, {min(effects):.3g} to {max(effects):.3g}: differ by {worst:.2g} at most")
    return worst <= TOLERANCE


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=3)
    p.add_argument("--spacing", type=numbers, default=[25, 250, 100000])
    p.add_argument("--variants", type=int, default=4000)
    p.add_argument("--step", type=int)
    p.add_argument("--length", type=int, default=1000)
    p.add_argument("--window", type=int, default=21384)
    p.add_argument("--batches", type=numbers, default=[1, 4, 8, 16, 32])
    p.add_argument("--check", type=int, default=6)
    p.add_argument("-@", dest="threads", type=int, default=2)
    p.add_argument("checkpoint")
    p.add_argument("genome")
    o = p.parse_args()
    o.step = o.step or o.window // 4
    if o.rounds < 1 or o.check < 1 or min(o.spacing) < 1:
        p.error("rounds, check and spacing are 1 or more")
    torch.set_num_threads(o.threads)
    network, datasets = load_network(o.checkpoint, o.window)
    genome = read_fasta(o.genome)
    beg = (o.window - WIDTH) // 2
    model = Mean(network, 0, beg, beg + WIDTH).eval()
    with tempfile.TemporaryDirectory() as directory:
        jobs = commands(genome, directory, datasets[0], o)
        peer = Alternatives(model, o)
        report(jobs, measure(jobs, peer, o), peer)
        closest = jobs[o.spacing.index(min(o.spacing))]
        return not check(closest[3], genome, datasets[0], model, o)


if __name__ == "__main__":
    sys.exit(main())
