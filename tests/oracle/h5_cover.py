#!/usr/bin/python3
"""Adds synthetic measured coverage and predictions to a genome file, as Helixer and Predmoter store them.

usage: h5_cover.py GENOME.h5 COVERED.h5 PREDICTED.h5

COVERED is GENOME with two datasets of coverage, a blacklist and attributes; PREDICTED has its predictions.
Values are small, except for one of 40000 in the last row of each file.
SPDX-License-Identifier: MIT"""

import shutil
import sys

import h5py
import numpy as np


def signal(rng, pieces, length, columns, scale):
    """Returns [rows, length, columns], with -1 past the end of each chunk."""
    x = rng.poisson(scale, (len(pieces), length, columns)).astype(np.int64)
    filled = np.abs(pieces[:, 1] - pieces[:, 0])
    x[np.arange(length)[None, :] >= filled[:, None]] = -1
    x[-1, 0, 0] = 40000
    return x


def main(genome, covered, predicted):
    rng = np.random.default_rng(11)
    shutil.copy(genome, covered)
    with h5py.File(covered, "r+") as f, h5py.File(predicted, "w") as p:
        pieces = f["data/start_ends"][:]
        n, length = len(pieces), f["data/X"].shape[1]
        for name, columns in (("atacseq", 1), ("h3k4me3", 2)):
            f.create_dataset(f"evaluation/{name}_coverage", data=signal(rng, pieces, length, columns, 0.3),
                             chunks=(1, length, 1), maxshape=(None, length, None), compression="lzf", shuffle=True,
                             fillvalue=-1)
            f.create_dataset(f"evaluation/{name}_meta/bam_files",
                             data=np.array([f"rep{i}.bam".encode() for i in range(columns)], dtype="S512"))
        f.create_dataset("data/blacklist", data=(np.arange(n) % 3 > 0).astype(np.int32), maxshape=(None,),
                         chunks=(1,), fillvalue=-1, compression="gzip")
        f["evaluation/atacseq_coverage"].attrs["protocol"] = "unstranded"
        f.attrs["note"] = "of a test"
        for name in ("seqids", "species", "start_ends"):
            p.create_dataset(f"data/{name}", data=f[f"data/{name}"][:], compression="gzip")
        p.create_dataset("prediction/predictions", data=signal(rng, pieces, length, 2, 2.0), chunks=(1, length, 1),
                         compression="gzip", compression_opts=9, fillvalue=-1)
        p.create_dataset("prediction/model_name", data=np.array([b"a model.ckpt"], dtype="S256"))
        p.create_dataset("prediction/datasets", data=np.array([b"atacseq", b"h3k4me3"], dtype="S25"))


if __name__ == "__main__":
    main(*sys.argv[1:])
