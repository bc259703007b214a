#!/usr/bin/env python3
"""variant_scorer_peers.py - do the scores of coveffect vcf equal those of variant-scorer?

    variant_scorer_peers.py [--variants N] [--window N] [--width N] [--seed N] [-@ N] CHECKPOINT GENOME.fa SRC

SRC is the directory src of a clone of github.com/kundajelab/variant-scorer. Half of N random variants (24) replace a base, the
others insert or delete up to 8. variant-scorer's VariantGenerator makes the windows of the alleles, and the network of
CHECKPOINT predicts them in PyTorch, in single precision, as the mean of both strands. get_variant_scores and
adjust_indel_jsd of utils/helpers.py score the WIDTH (1000, even) positions around the variant: their sums are the counts,
and their logarithms the logits of the profiles. Prints the largest differences; the status is 1 if a sum is off by more
than 1e-5 of its size, a log2 fold change by more than 3e-5, or a distance by more than 1e-5.

Needs coveffect in PATH, torch, numpy, pandas, scipy and tqdm, but not tensorflow.
SPDX-License-Identifier: MIT"""
import argparse
import contextlib
import csv
import io
import os
import random
import sys
import tempfile
import unittest.mock

import numpy as np
import pandas as pd
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from attribution_peers import load_network, one_hot, read_fasta, timed  # noqa: E402

LIMITS = {"allele1_pred_counts": 1e-5, "allele2_pred_counts": 1e-5, "logfc": 3e-5, "jsd": 1e-5}


def load_scorer(src):
    """Returns VariantGenerator and utils.helpers without the libraries that they need for other things."""
    keras = unittest.mock.MagicMock()
    keras.Sequence = object
    for name in ("tensorflow", "tensorflow.keras", "tensorflow.keras.models", "tensorflow_probability", "pyfaidx", "deeplift",
                 "deeplift.dinuc_shuffle", "pybedtools"):
        sys.modules[name] = unittest.mock.MagicMock()
    sys.modules["tensorflow.keras.utils"] = keras
    sys.path.insert(0, src)
    from generators.variant_generator import VariantGenerator
    from utils import helpers
    return VariantGenerator, helpers


class Bases(str):
    """A sequence as pyfaidx has it."""

    def __getitem__(self, key):
        return Bases(super().__getitem__(key))

    @property
    def seq(self):
        return str(self)


def draw(genome, o):
    """Returns rows chr, pos, variant_id, allele1, allele2, far from the ends of the sequences and from N, which is a mean of
    bases here and no base there."""
    rng, rows = random.Random(o.seed), []
    names = [name for name in genome if len(genome[name]) > 2 * o.window]
    while len(rows) < o.variants:
        name = rng.choice(names)
        at = rng.randrange(o.window, len(genome[name]) - o.window)
        n_ref, n_new = 1, 0
        if len(rows) % 2:
            n_ref, n_new = rng.choice(((1 + rng.randrange(1, 9), 0), (1, rng.randrange(1, 9))))
        ref = genome[name][at : at + n_ref]
        if not set(genome[name][at - o.window : at + o.window]) <= set("ACGT"):
            continue
        alt = ref[0] + "".join(rng.choice("ACGT") for _ in range(n_new)) if len(rows) % 2 else rng.choice("ACGT".replace(ref, ""))
        rows.append((name, at + 1, f"v{len(rows)}", ref, alt))
    return pd.DataFrame(rows, columns=["chr", "pos", "variant_id", "allele1", "allele2"])


@torch.inference_mode()
def predict(network, windows, target, width):
    """The mean of both strands, in the order A, C, G, T; the network wants C, A, T, G."""
    values = []
    for bases in windows:
        x = torch.from_numpy(one_hot(bases))[None][:, [1, 0, 3, 2]].transpose(1, 2)
        plus, minus = (torch.exp(network(strand)[0, :, target]).double() for strand in (x, torch.flip(x, (1, 2))))
        middle = len(bases) // 2
        values.append(((plus + torch.flip(minus, (0,))) / 2)[middle - width // 2 : middle + width // 2].numpy())
    return np.array(values)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--variants", type=int, default=24)
    p.add_argument("--window", type=int, default=21384)
    p.add_argument("--width", type=int, default=1000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-@", dest="threads", type=int, default=2)
    p.add_argument("checkpoint")
    p.add_argument("genome")
    p.add_argument("src")
    o = p.parse_args()
    if o.width % 2 or o.window % 2 or o.variants < 4:
        p.error("--width and --window must be even, and --variants at least 4")
    torch.set_num_threads(o.threads)
    generator_class, helpers = load_scorer(o.src)
    network, datasets = load_network(o.checkpoint, o.window)
    network.eval()
    genome = read_fasta(o.genome)
    table = draw(genome, o)
    with tempfile.TemporaryDirectory() as directory:
        with open(f"{directory}/v.vcf", "w") as f:
            f.write("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
            for row in table.itertuples():
                f.write(f"{row.chr}\t{row.pos}\t{row.variant_id}\t{row.allele1}\t{row.allele2}\t.\t.\t.\n")
        timed(["vcf", "-m", o.checkpoint, "-g", o.genome, "--window", str(o.window), "--width", str(o.width), "--device", "cpu", f"{directory}/v.vcf"],
              f"{directory}/o.tsv", o.threads)
        with open(f"{directory}/o.tsv") as f:
            ours = list(csv.DictReader(f, delimiter="\t"))
    generator = generator_class.__new__(generator_class)
    generator.genome = {name: Bases(bases) for name, bases in genome.items()}
    generator.flank_size, generator.shuf = o.window // 2, False
    windows = [generator.__get_allele_seq__(r.chr, r.pos, r.allele1, r.allele2) for r in table.itertuples()]
    worst = dict.fromkeys(LIMITS, 0)
    for d, dataset in enumerate(datasets):
        one, two = (predict(network, [w[k] for w in windows], d, o.width) for k in (0, 1))
        with contextlib.redirect_stdout(io.StringIO()):
            logfc, jsd = helpers.get_variant_scores(one.sum(1), two.sum(1), np.log(one), np.log(two))
        _, jsd = helpers.adjust_indel_jsd(table, np.log(one), np.log(two), jsd)
        theirs = {"allele1_pred_counts": one.sum(1), "allele2_pred_counts": two.sum(1), "logfc": logfc, "jsd": jsd}
        rows = [row for row in ours if row["dataset"] == dataset]
        for name, values in theirs.items():
            for row, value in zip(rows, values, strict=True):
                off = abs(float(row[name]) - value) / (value if "counts" in name else 1)
                worst[name] = np.maximum(worst[name], off)  # keeps NaN
        print(f"{dataset}: log2 fold changes {logfc.min():.3g} to {logfc.max():.3g}, distances up to {jsd.max():.3g}")
    for name, value in worst.items():
        print(f"{name}: differs by {value:.2g} at most")
    return any(not worst[name] <= limit for name, limit in LIMITS.items())


if __name__ == "__main__":
    sys.exit(main())
