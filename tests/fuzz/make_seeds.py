#!/usr/bin/python3
"""make_seeds.py - makes those seed corpora tests/fuzz/corpus/X that consist of files of the tools: bigwig, ckpt, h5, stream and track.

usage: make_seeds.py DIRECTORY_OF_TOOLS (make all first); replaces files seed_*, keeps all others.

The same seeds come out each time, except that tools write their version into files.
SPDX-License-Identifier: MIT"""
import gzip
import os
import pickle
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "data")
rng = random.Random(1)
corpus = os.path.join(HERE, "corpus")


def seed(name, *inputs):
    """Writes the inputs, bytes each."""
    directory = os.path.join(corpus, name)
    os.makedirs(directory, exist_ok=True)
    for old in os.listdir(directory):
        if old.startswith("seed_"):
            os.remove(os.path.join(directory, old))
    for i, data in enumerate(inputs):
        with open(os.path.join(directory, f"seed_{i:02}"), "wb") as f:
            f.write(data)


def checkpoint(path):
    """An input of fuzz_ckpt: the sizes of the storages, and the pickle."""
    with zipfile.ZipFile(path) as z:
        names = sorted((i for i in z.namelist() if "/data/" in i), key=lambda i: int(i.rsplit("/", 1)[1]))
        data = next(z.read(i) for i in z.namelist() if i.endswith("data.pkl"))
        sizes = [z.getinfo(i).file_size for i in names]
    return bytes([len(sizes)]) + b"".join(struct.pack("<H", min(s, 65535)) for s in sizes) + data


def checkpoints(tools):
    tools = os.path.abspath(tools)
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        tool = lambda name, *args: subprocess.run([os.path.join(tools, name), "-q", *args], check=True, cwd=directory,
                                                  stderr=subprocess.DEVNULL)
        with open(path("g.fa"), "wb") as f:
            f.write(b">c1\n" + b"ACGTTGCAAC" * 6 + b"\n")
        with open(path("r.sam"), "wb") as f:
            f.write(b"@HD\tVN:1.6\n@SQ\tSN:c1\tLN:60\nr\t0\tc1\t10\t60\t4M\t*\t0\t0\tACGT\tIIII\n")
        os.makedirs(path("d/train"))
        os.makedirs(path("d/val"))
        tool("fasta2h5", "--subsequence-length", "32", "-o", "d/train/g.h5", "g.fa")
        tool("bam2h5", "-p", "atacseq", "d/train/g.h5", "r.sam")
        shutil.copy(path("d/train/g.h5"), path("d/val"))
        # With the state of Adam, means of weights, and two checkpoints that it ranks
        tool("covtrain", "-i", "d", "-o", "o", "-e", "2", "-b", "2", "--cnn-layers", "1", "--lstm-layers", "1", "--filter-size",
             "2", "--kernel-size", "3", "--hidden-size", "2", "--average-weights", "0.5", "--seed", "1")
        trained = checkpoint(path("o/last.ckpt"))
    made = [checkpoint(os.path.join(DATA, name)) for name in ("cnn_init.ckpt", "hybrid_init.ckpt")]
    seed("ckpt", *made, b"\0\x80\2}.", b"\1\4\0" + pickle.dumps({"epoch": 1, "state_dict": {}}, 2), trained,
         trained.replace(b"exp_avg", b"exp_axg", 1), trained.replace(b"best_k_models", b"best_k_models"[::-1], 1),
         trained.replace(b"step", b"stop"))


def files(tools):
    import h5py
    import numpy
    tool = lambda name, *args, **how: subprocess.run([os.path.join(tools, name), "-q", *args], check=True, **how)
    with tempfile.TemporaryDirectory() as directory:
        path = lambda name: os.path.join(directory, name)
        read = lambda name: open(path(name), "rb").read()
        env = dict(os.environ, SOURCE_DATE_EPOCH="0")
        with open(path("g.fa"), "wb") as f:
            f.write(b">c1\n" + bytes(rng.choice(b"ACGTN") for _ in range(70)) + b"\n>c2\nACGTACGT\n")
        model = os.path.join(DATA, "cnn.ckpt")
        length = ("--subsequence-length", "32")
        tool("fasta2h5", *length, "-o", path("g.h5"), path("g.fa"), env=env)
        tool("fasta2h5", *length, "-o", path("packed.h5"), "--layout", "packed", path("g.fa"), env=env)
        for how in (("p.h5",), ("f.h5", "--float")):
            tool("covpredict", *length, *how[1:], "-m", model, "-o", path(how[0]), path("g.fa"), env=env)
        streams = []
        for name in ("g.h5", "p.h5", "f.h5"):
            done = subprocess.run([os.path.join(tools, "h5chunk"), "cat", "-q", path(name)], check=True, stdout=subprocess.PIPE)
            streams.append(gzip.decompress(done.stdout))
        whole = streams + [streams[0][:-10], streams[1][:200], streams[0] + b"x", streams[1].replace(b"PAIR", b"PAIX")]
        seed("stream", *whole)
        with h5py.File(path("c.h5"), "w") as f, h5py.File(path("g.h5")) as g:
            for name in ("X", "seqids", "species", "start_ends"):
                f[f"data/{name}"] = g[f"data/{name}"][()]
            n, L = g["data/X"].shape[:2]
            f.create_dataset("evaluation/atacseq_coverage", data=numpy.arange(n * L * 2).reshape(n, L, 2) % 9, dtype="i4",
                             chunks=(1, L, 1), compression="lzf", shuffle=True)
            f["evaluation/atacseq_meta/bam_files"] = numpy.array([b"a.bam", b"b.bam"])
        done = subprocess.run([os.path.join(tools, "h5chunk"), "cat", "-q", path("c.h5")], check=True, stdout=subprocess.PIPE)
        coverage = gzip.decompress(done.stdout)
        seed("track", *(bytes([kind]) + s for kind in (0, 1) for s in (*streams, coverage, streams[1][:300])))
        packed = []
        for codec in ("lz4", "zstd:3", "lzf", "blosc:5"):
            out = path(f"{codec[:3]}.h5")
            subprocess.run([os.path.join(tools, "h5chunk"), "repack", "-q", "--compression", codec, "-o", out, path("p.h5")],
                           check=True, env=env)
            packed.append(open(out, "rb").read())
        with h5py.File(path("x.h5"), "w") as f:
            f["data/X"] = numpy.zeros((2, 3, 4), ">f2")
            f["data/seqids"] = numpy.array([b"a", b"a"])
            f["data/start_ends"] = numpy.array([(0, 3), (3, 0)], "i2")
            f["other"] = numpy.arange(5, dtype=">i4")
        seed("h5", read("g.h5"), read("packed.h5"), read("p.h5"), read("c.h5"), read("x.h5"), *packed[:2])
        from pyBigWig import open as open_bw
        tracks = []
        for kind in range(3):
            with open_bw(path("x.bw"), "w") as bw:
                bw.addHeader([("chr1", 1000), ("chr2", 500)], maxZooms=kind)
                if kind == 0:
                    bw.addEntries(["chr1"] * 3, [0, 10, 30], ends=[10, 20, 40], values=[1.0, 2.5, -3.0])
                    bw.addEntries(["chr2"], [5], ends=[9], values=[4.0])
                elif kind == 1:
                    bw.addEntries("chr1", [5, 9, 30], values=[1.0, 2.0, 3.0], span=3)
                else:
                    bw.addEntries("chr1", 100, values=[1.0, 2.0, 3.0, 4.0], span=5, step=10)
            tracks.append(read("x.bw"))
        seed("bigwig", *tracks, tracks[0][:300], tracks[0][:-4], b"")


if __name__ == "__main__":
    checkpoints(sys.argv[1])
    files(sys.argv[1])
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(corpus) for f in names)
    print(f"{size / 1000:.0f} kB")
