#!/usr/bin/env python3
"""attribution_peers.py - coveffect ism and gradients against tangermeme, autograd and captum on the same network in PyTorch.

    attribution_peers.py [--regions N] [--length N] [--window N] [--steps N] [-@ N] CHECKPOINT GENOME.fa TARGET

Takes N regions (2) from the middle of the longest sequence on, and computes their scores with coveffect, which must be in
PATH, and with PyTorch, both on N threads (2). The network in PyTorch takes the mean of the strands, as coveffect does.
captum's IntegratedGradients gets the references of coveffect, which are computed here again. Prints the largest
difference of scores, relative to the largest score, and the seconds of both.

Needs torch, tangermeme, captum and numpy.
SPDX-License-Identifier: MIT"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

sys.dont_write_bytecode = True
sys.path.insert(0, f"{os.path.dirname(os.path.abspath(__file__))}/../oracle")
from genome_check import read_fasta  # noqa: E402
from torch_network import Network  # noqa: E402
from training_draws import BITS, Generator  # noqa: E402

WIDTH = 1001


class Mean(torch.nn.Module):
    """ln of the sum over the width of the mean of both strands, from x[B, 4, L] in the order A, C, G, T."""

    def __init__(self, network, target, beg, end):
        super().__init__()
        self.network, self.target, self.beg, self.end = network, target, beg, end

    def forward(self, x):
        x = x.float()
        plus = x[:, [1, 0, 3, 2]].transpose(1, 2)
        p = torch.exp(self.network(plus)[..., self.target])
        m = torch.exp(self.network(torch.flip(plus, (1, 2)))[..., self.target])
        return torch.log(((p + torch.flip(m, (1,))) / 2)[:, self.beg : self.end].double().sum(1))[:, None]


def one_hot(bases):
    return np.array([[b == c for b in bases] for c in "ACGT"], np.float32)


def load_network(path, window):
    """Returns the network of a checkpoint, and the names of its datasets."""
    checkpoint = torch.load(path, map_location="cpu", weights_only=False)
    network = Network({**checkpoint["hyper_parameters"], "seq_len": window})
    network.load_state_dict(checkpoint["state_dict"])
    return network, list(checkpoint["hyper_parameters"]["datasets"])


def timed(arguments, out, threads):
    """Returns the seconds of a run of coveffect."""
    start = time.time()
    subprocess.run(["coveffect", *arguments, "-q", "-f", "-@", str(threads), "-o", out], check=True)
    return time.time() - start


def coveffect(arguments, directory, threads):
    seconds = timed(arguments, f"{directory}/out", threads)
    return np.load(f"{directory}/out/attr.npz")["arr_0"], seconds


def report(name, ours, theirs, seconds):
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    print(f"{name:24} {error:12.2e} {seconds[0]:12.2f} {seconds[1]:12.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regions", type=int, default=2)
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--window", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("-@", dest="threads", type=int, default=2)
    parser.add_argument("checkpoint")
    parser.add_argument("genome")
    parser.add_argument("target")
    o = parser.parse_args()
    torch.set_num_threads(o.threads)
    network, datasets = load_network(o.checkpoint, o.window)
    genome = read_fasta(o.genome)
    name = max(genome, key=lambda n: len(genome[n]))
    first = len(genome[name]) // 2
    beg = o.window // 2 - WIDTH // 2
    model = Mean(network, datasets.index(o.target), beg, beg + WIDTH).eval()
    part = slice(o.window // 2 - o.length // 2, o.window // 2 - o.length // 2 + o.length)
    middles = [first + i * 5000 for i in range(o.regions)]
    x = torch.from_numpy(np.stack([one_hot(genome[name][m - o.window // 2 : m - o.window // 2 + o.window]) for m in middles]))
    print(f"{'':24} {'difference':>12} {'s, covtools':>12} {'s, PyTorch':>12}")
    with tempfile.TemporaryDirectory() as directory:
        with open(f"{directory}/r.bed", "w") as f:
            f.writelines(f"{name}\t{m - o.length // 2}\t{m - o.length // 2 + o.length}\n" for m in middles)
        shared = ["-m", o.checkpoint, "-g", o.genome, "-R", f"{directory}/r.bed", "--dataset", o.target, "--window", str(o.window)]

        from tangermeme.saturation_mutagenesis import saturation_mutagenesis
        ours, seconds = coveffect(["ism", *shared], directory, o.threads)
        start = time.time()
        theirs = saturation_mutagenesis(model, x, start=part.start, end=part.stop, hypothetical=True, batch_size=32, device="cpu")
        report("ism, tangermeme", ours, theirs.numpy(), (seconds, time.time() - start))

        ours, seconds = coveffect(["gradients", *shared], directory, o.threads)
        start = time.time()
        at = x.clone().requires_grad_()
        (g,) = torch.autograd.grad(model(at).sum(), at)
        elapsed = time.time() - start
        g = (g - g.mean(1, keepdim=True))[:, :, part].numpy()
        report("gradients, autograd", ours, g, (seconds, elapsed))

        from captum.attr import IntegratedGradients
        ours, seconds = coveffect(["gradients", *shared, "--integrated", str(o.steps), "--shuffles", "1"], directory, o.threads)
        references = torch.from_numpy(np.stack([shuffle(x[i].numpy(), Generator((Generator(1).next() + i) & BITS)) for i in range(o.regions)]))
        start = time.time()
        theirs = IntegratedGradients(model).attribute(x, references, target=0, n_steps=o.steps, method="riemann_middle",
                                                      internal_batch_size=o.regions)
        elapsed = time.time() - start
        chosen = x.numpy()[:, :, part]
        report("integrated, captum", (ours * chosen).sum(1), theirs.sum(1)[:, part].numpy(), (seconds, elapsed))


def shuffle(x, rng):
    """cov_dinucleotide_shuffle, of a one-hot window without N."""
    codes = [int(c) for c in x.argmax(0)]
    edges = {c: [] for c in range(4)}
    for a, b in zip(codes, codes[1:]):
        edges[a].append(b)
    root, tree, last = codes[-1], {codes[-1]}, {}
    for c in range(4):
        if not edges[c]:
            continue
        at = c
        while at not in tree:
            last[at] = rng.below(len(edges[at]))
            at = edges[at][last[at]]
        at = c
        while at not in tree:
            tree.add(at)
            at = edges[at][last[at]]
    for c in range(4):
        if c != root and edges[c]:
            i = last[c]
            edges[c][i], edges[c][-1] = edges[c][-1], edges[c][i]
    for c in range(4):
        n = len(edges[c])
        for i in range(n if c == root else max(n - 1, 0), 1, -1):
            k = rng.below(i)
            edges[c][i - 1], edges[c][k] = edges[c][k], edges[c][i - 1]
    out, place = [codes[0]], [0] * 4
    for _ in codes[1:]:
        at = out[-1]
        out.append(edges[at][place[at]])
        place[at] += 1
    return np.array([[v == c for v in out] for c in range(4)], np.float32)


if __name__ == "__main__":
    main()
