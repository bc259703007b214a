"""overlap_ends.py - measures errors of predictions near the ends of chunks, with and without --overlap.

  overlap_ends.py WORKDIR GENOME.fa MODEL CHUNK OVERLAP...

The reference is a prediction of MODEL with each sequence as one chunk, so that there are no inner ends. Prints, for
chunks of CHUNK bases without overlap (0) and for each OVERLAP: the mean absolute difference within 500 bases of inner
ends of chunks, over both strands and all datasets; its reduction compared with no overlap; the mean difference over
all bases; and CPU seconds. Ignores sequences with only one chunk.

  build/default/demo/make_plant D 400000 && build/default/tests/lib/make_ckpt cpg D/cpg.ckpt
  overlap_ends.py W D/genome.fa D/cpg.ckpt 21384 1000
SPDX-License-Identifier: MIT"""
import gzip
import os
import resource
import subprocess
import sys

import h5py
import numpy as np

NEAR = 500
STRIDE = 5040 * 16  # a multiple of the strides of common networks


def lengths_of(path):
    lengths = []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        for line in f:
            if line.startswith(">"):
                lengths.append(0)
            else:
                lengths[-1] += len(line.strip())
    return lengths


def predict(genome, model, length, overlap, output):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["covpredict", "-q", "-f", "--float", "--subsequence-length", str(length), "--overlap", str(overlap),
                    "-m", model, "-o", output, genome], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def strands(path):
    """Returns the values along each sequence and strand."""
    out = {}
    with h5py.File(path) as f:
        lengths = {}
        for name, (start, end) in zip(f["data/seqids"][:], f["data/start_ends"][:]):
            lengths[name] = max(lengths.get(name, 0), start, end)
        for i, (name, (start, end)) in enumerate(zip(f["data/seqids"][:], f["data/start_ends"][:])):
            minus = bool(start > end)
            beg, stop = min(start, end), max(start, end)
            values = f["prediction/predictions"][i][: stop - beg]
            whole = out.setdefault((name, minus), np.empty((lengths[name], values.shape[1]), np.float32))
            whole[beg:stop] = values[::-1] if minus else values
    return out


def main():
    work, genome, model, chunk, *overlaps = sys.argv[1:]
    chunk = int(chunk)
    os.makedirs(work, exist_ok=True)
    longest = max(lengths_of(genome))
    reference, output = f"{work}/reference.h5", f"{work}/predictions.h5"
    predict(genome, model, -(-longest // STRIDE) * STRIDE, 0, reference)
    truth = strands(reference)
    os.remove(reference)
    print("overlap\tnear_ends\ttimes_less\tall\tcpu_seconds")
    plain = None
    for overlap in [0] + [int(n) for n in overlaps]:
        seconds = predict(genome, model, chunk, overlap, output)
        near, everywhere = [0.0, 0], [0.0, 0]
        for key, values in strands(output).items():
            n = len(values)
            if n <= chunk:
                continue
            off = np.abs(values.astype(np.float64) - truth[key])
            at = np.zeros(n, bool)
            for end in range(chunk, n, chunk):
                at[max(0, end - NEAR):end + NEAR] = True
            near[0] += off[at].sum()
            near[1] += off[at].size
            everywhere[0] += off.sum()
            everywhere[1] += off.size
        error, total = near[0] / near[1], everywhere[0] / everywhere[1]
        plain = error if plain is None else plain
        print(f"{overlap}\t{error:.6g}\t{plain / error if error else float('inf'):.1f}\t{total:.6g}\t{seconds:.1f}")
    os.remove(output)


main()
