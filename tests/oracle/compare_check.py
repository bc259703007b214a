"""compare_check.py - computes the results of cov2bigwig --measured base by base, with NumPy.

    make SEED WHOLE GAPS >x.bg     writes a bedGraph of random values: integers or not, with gaps or not
    columns OUT.h5 N               writes a genome file with the same sparse coverage in N columns, and an rDNA
    repeat X.bg Y.bg               writes tracks of a genome with an rDNA of 100 times the coverage, and an organelle
    organelle X.bg Y.bg            writes tracks of small chromosomes and an organelle of 8 times the coverage
    outliers STATS X.bg Y.bg OUT CONTIG:BEG-END...
                                   checks that STATS has these outliers, and writes them as BED
    check TABLE X.bg Y.bg [sizes=1,10,...] [threshold=V] [stem=S] [dataset=D] [empty=NAME,...]
                                   compares the table with the results for the tracks

X and Y may also be measured coverage, as FILE.h5:DATASET:STRAND with the strand avg, + or -.

SPDX-License-Identifier: MIT"""
import json
import math
import random
import sys

import h5py
import numpy as np

import serve

LENGTHS = {"chr2": 30011, "chr10": 12345, "m": 1, "short": 150, "chr1": 8000}


def make(seed, whole, gaps, out=None):
    r = random.Random(int(seed))
    out = open(out, "w") if out else sys.stdout
    for name, length in LENGTHS.items():
        at = 0
        while at < length:
            end = min(at + 1 + r.randrange(r.choice((2, 2, 30, 500))), length)
            value = r.choice((0, 1, 2, 3, 7, 12, 30, 31)) if whole == "1" else r.choice((0, r.gauss(5, 9)))
            print(name, at, end, value, sep="\t", file=out)
            at = end + (r.choice((0, 0, 0, 0, 1, 29, 30, 31, 400)) if gaps == "1" else 0)
    if out is not sys.stdout:
        out.close()


def repeat(x_path, y_path):
    r = random.Random(1)
    with open(x_path, "w") as xs, open(y_path, "w") as ys:
        for name, length in ("chr1", 900000), ("chr2", 700000), ("chrM", 12300):
            for at in range(0, length, 50):
                end, x = min(at + 50, length), r.random() * 10
                deep = 30 if name == "chrM" else 100 if name == "chr1" and 420000 <= at < 440000 else 1
                print(name, at, end, round(x, 2), sep="\t", file=xs)
                print(name, at, end, round((x + r.random() * 5) * deep, 2), sep="\t", file=ys)


def organelle(x_path, y_path):
    r = random.Random(2)
    with open(x_path, "w") as xs, open(y_path, "w") as ys:
        for name, length in ("chr1", 100000), ("chr2", 110000), ("chr3", 94000), ("chrM", 85779):
            for at in range(0, length, 50):
                end, x = min(at + 50, length), r.random() * 10
                print(name, at, end, round(x, 2), sep="\t", file=xs)
                print(name, at, end, round((x + r.random() * 5) * (8 if name == "chrM" else 1), 2), sep="\t", file=ys)


def columns(path, n):
    """The sum of the columns does not depend on N, which divides 6."""
    rng, n_rows, length, n = np.random.default_rng(1), 300, 1000, int(n)
    deep = np.where(np.arange(n_rows) // 10 == 7, 50, 1)[:, None, None]
    x = np.concatenate([rng.poisson(0.05 * deep * np.ones((1, length, 6))),
                        rng.poisson(0.05 * deep[::-1] * np.ones((1, length, 6)))])
    begs = np.arange(n_rows) * length
    plus = np.stack([begs, begs + length], axis=1)
    with h5py.File(path, "w") as f:
        f["data/seqids"] = np.array([b"chr1"] * 2 * n_rows, "S50")
        f["data/species"] = np.array([b"one"] * 2 * n_rows, "S25")
        f["data/start_ends"] = np.concatenate([plus, plus[::-1, ::-1]])
        f.create_dataset("data/X", data=np.full((2 * n_rows, length, 4), 0.25, "f2"), chunks=(1, length, 4))  # N
        f["evaluation/atacseq_coverage"] = x.reshape(2 * n_rows, length, n, 6 // n).sum(axis=3)


def outliers(stats, x_path, y_path, out, *wanted):
    with open(stats) as f:
        found = json.load(f)["comparison"]["tracks"][0]["outliers"]
    regions = [(r["contig"], r["beg"], r["end"]) for r in found["regions"]]
    if [f"{name}:{beg}-{end}" for name, beg, end in regions] != list(wanted):
        return f"regions {regions}"
    x, y = read(x_path), read(y_path)
    for r in found["regions"]:
        if abs(r["mean_measured"] - y[r["contig"]][r["beg"]:r["end"]].mean()) > 1e-3:
            return f"{r}"
    for key in "pearson", "pearson_without":
        r = pearson(np.concatenate(list(x.values())), np.concatenate(list(y.values())))
        if abs(found[key] - r) > 1e-9:
            return f"{key}: {found[key]} instead of {r}"
        for name, beg, end in regions[::-1]:
            x[name], y[name] = (np.delete(t[name], np.s_[beg:end]) for t in (x, y))
    with open(out, "w") as f:
        for region in regions:
            print(*region, sep="\t", file=f)


def read(path):
    spans = {}
    for line in open(path):
        name, beg, end, value = line.split()
        spans.setdefault(name, []).append((int(beg), int(end), np.float32(float(value))))
    tracks = {}
    for name, list_ in spans.items():
        x = np.full(max(LENGTHS.get(name, 0), list_[-1][1]), np.nan)
        for beg, end, value in list_:
            x[beg:end] = value
        tracks[name] = x
    return tracks


def read_measured(spec):
    """Returns {contig: integers}, and the number by which these are divided in the means of columns and strands."""
    path, dataset, strand = spec.split(":")
    with h5py.File(path) as f:
        sums = f[f"evaluation/{dataset}_coverage"][:].sum(axis=2)
        denominator = f[f"evaluation/{dataset}_coverage"].shape[2] * (2 if strand == "avg" else 1)
        names, places = [name.decode() for name in f["data/seqids"]], f["data/start_ends"][:]
    tracks = {name: np.zeros(places[np.array(names) == name].max()) for name in set(names)}
    for name, (a, b), values in zip(names, places, sums):
        if strand in ("avg", "+" if a < b else "-"):
            tracks[name][min(a, b):max(a, b)] += values[:abs(b - a)][::1 if a < b else -1]
    return tracks, denominator


def read_any(path):
    return read_measured(path) if ":" in path else (read(path), 1)


def ranks(x):
    _, which, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[which]


def pearson(x, y):
    x, y = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y
    if len(x) < 2 or (x == x[0]).all() or (y == y[0]).all():
        return math.nan
    return (x * y).sum() / math.sqrt((x * x).sum() * (y * y).sum())


def bins(x, y, size):
    there = ~np.isnan(x) & ~np.isnan(y)
    where = np.arange(len(x))[there] // size
    n = np.bincount(where)
    keep = n > 0
    return [(np.bincount(where, v[there])[keep] / n[keep]).astype(np.float32).astype(float) for v in (x, y)]


def peaks(x, threshold):
    """Returns an array that is true for each base in a peak, and the number of peaks."""
    mask = np.zeros(len(x), bool)
    above = np.flatnonzero(np.nan_to_num(x, nan=-np.inf) >= np.float32(threshold))
    n = 0
    for part in np.split(above, np.flatnonzero(np.diff(above) > 31) + 1):
        if len(part) and part[-1] + 1 - part[0] >= 200:
            mask[part[0]:part[-1] + 1] = True
            n += 1
    return mask, n


def close(text, wanted):
    if math.isnan(wanted):
        return text == "NA"
    return text != "NA" and abs(float(text) - wanted) < 2e-8


def share(a, b):
    return a / b if b else math.nan


def check(table, x_path, y_path, *options):
    o = dict(v.split("=", 1) for v in options)
    sizes = [int(s) for s in o.get("sizes", "1,10,100,1000").split(",")]
    head, *rows = [line.rstrip("\n").split("\t") for line in open(table)]
    (x, y), denominators = zip(read_any(x_path), read_any(y_path))
    for name in o["empty"].split(",") if "empty" in o else ():  # contigs of X without a value
        x.setdefault(name, np.full(len(y[name]), np.nan))
    found = {}
    for row in rows:
        assert len(row) == len(head), row
        d = dict(zip(head, row))
        if "dataset" in o and d["dataset"] != o["dataset"]:
            continue
        assert d["contig"] not in found, d
        found[d["contig"]] = d
    names = [n for n in x if n in y]
    assert sorted(found) == sorted(names + ["total"]), (sorted(found), names)
    both = {}
    for name in names:
        n = max(len(x[name]), len(y[name]))
        both[name] = [np.pad(v, (0, n - len(v)), constant_values=np.nan) for v in (x[name], y[name])]
    for contig, row in found.items():
        of = names if contig == "total" else [contig]
        prefix = o.get("stem", "x") + ("_" + o["dataset"] if "dataset" in o else "")
        assert row["sample"] == prefix + ("" if contig == "total" else ":" + contig), row
        assert row["dataset"] == o.get("dataset", "NA"), row
        there = {n: ~np.isnan(both[n][0]) & ~np.isnan(both[n][1]) for n in of}
        assert int(row["bases"]) == sum(t.sum() for t in there.values()), row
        for size in sizes:
            a, b = np.hstack([bins(*both[n], size) for n in of])
            assert int(row["bins_%d" % size]) == len(a), (row, size)
            assert close(row["pearson_%d" % size], pearson(a, b)), (row, size, pearson(a, b))
            r = pearson(ranks(a), ranks(b)) if len(a) else math.nan
            assert close(row["spearman_%d" % size], r), (row, size, r)
        if "threshold" not in o:
            assert "f1" not in row
            continue
        n = [0, 0]
        p = m = pm = 0
        for name in of:
            (a, k), (b, l) = (peaks(v, float(o["threshold"]) * d) for v, d in zip(both[name], denominators))
            n = [n[0] + k, n[1] + l]
            t = there[name]
            p, m, pm = p + (a & t).sum(), m + (b & t).sum(), pm + (a & b & t).sum()
        assert [int(row["peaks"]), int(row["peaks_measured"])] == n, (row, n)
        assert [int(row[k]) for k in ("peak_bases", "peak_bases_measured", "peak_bases_both")] == [p, m, pm], row
        assert close(row["precision"], share(pm, p)) and close(row["recall"], share(pm, m)), row
        assert close(row["f1"], share(2 * pm, p + m)), row


def main(command, *args):
    return {"make": make, "check": check, "columns": columns, "repeat": repeat, "organelle": organelle,
            "outliers": outliers}[command](*args)


serve.run(main)
