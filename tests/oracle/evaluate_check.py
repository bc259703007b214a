"""evaluate_check.py - checks the table of covpredict --evaluate with h5py and NumPy.

evaluate_check.py table TABLE FLOATS GENOME [blacklist] [LIST]
                                                          checks the rows of GENOME in TABLE against values computed
                                                          from GENOME and its float predictions FLOATS; LIST: names or
                                                          BED, as for --blacklist-file
evaluate_check.py json TABLE STATS                        checks that "evaluation" in STATS equals the table
evaluate_check.py predmoter TABLE METRICS [KEY]           compares TABLE with Predmoter's metrics (KEY in case.json)

SPDX-License-Identifier: MIT
"""
import json
import os

import h5py
import numpy as np

import serve

HEAD = ["file", "dataset", "loss", "pearson", "pearson_all", "chunks"]


def read(path):
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f]
    if lines[0] != HEAD:
        raise ValueError(f"head: {lines[0]}")
    return {(r[0], r[1]): [None if x == "NA" else float(x) for x in r[2:5]] + [int(r[5])] for r in lines[1:]}


def near(got, wanted, relative, absolute):
    if got is None or wanted is None:
        return got is wanted
    return abs(got - wanted) <= relative * abs(wanted) + absolute


def r_of(v, t):
    v, t = v - v.mean(), t - t.mean()
    return (v * t).sum() / (np.sqrt((v * v).sum()) * np.sqrt((t * t).sum()) + 1e-8)


def listed(path, seqids, start_ends, length):
    """True [N, L] where a list of names or regions has a position."""
    out = np.zeros((len(seqids), length), bool)
    for line in open(path, encoding="utf-8") if path else []:
        name, *region = line.split()[:3]
        beg, end = map(int, region) if region else (0, 10 ** 12)
        for i, (seq, (a, b)) in enumerate(zip(seqids, start_ends)):
            at = np.arange(length)
            at = a + at if a < b else a - 1 - at
            out[i] |= (seq.decode() == name) & (at >= beg) & (at < end)
    return out


def rows_of(genome, floats, blacklist, path=None):
    with h5py.File(genome) as g, h5py.File(floats) as p:
        x, pairs = g["data/X"][:].astype(np.float32), {}
        keep = x[:, :, 0].max(axis=1) != 0.25
        if blacklist and "data/blacklist" in g:
            keep &= g["data/blacklist"][:].astype(bool)
        counts = (x.sum(axis=2) > 0) & ~listed(path, g["data/seqids"][:], g["data/start_ends"][:], x.shape[1])
        keep &= counts.any(axis=1)
        for k, name in enumerate(p["prediction/datasets"][:]):
            name = name.decode()
            pairs[name] = []
            if f"evaluation/{name}_coverage" not in g:
                continue
            y = g[f"evaluation/{name}_coverage"][:].astype(np.float32)
            y = np.around(np.mean(y, axis=2), 2)
            for i in np.flatnonzero(keep):
                base = counts[i]
                pairs[name].append((p["prediction/predictions"][i, base, k].astype(np.float64),
                                    y[i, base].astype(np.float64)))
        return pairs, int(keep.sum())


def figures(pairs, n):
    if not pairs:
        return [None, None, None, 0]
    loss = np.mean([(v - t * np.log(v)).mean() for v, t in pairs])
    whole = r_of(np.concatenate([v for v, _ in pairs]), np.concatenate([t for _, t in pairs]))
    return [loss, np.mean([r_of(v, t) for v, t in pairs]), whole, n]


def table(path, floats, genome, *how):
    found = {d: row for (f, d), row in read(path).items() if f == genome}
    lists = [x for x in how if x != "blacklist"]
    pairs, n = rows_of(genome, floats, "blacklist" in how, *lists)
    wanted = {name: figures(p, n) for name, p in pairs.items()}
    if len(pairs) > 1:
        wanted["total"] = figures([x for p in pairs.values() for x in p], n)
    if list(found) != list(wanted):
        return f"rows {list(found)} instead of {list(wanted)}"
    for name, row in wanted.items():
        if found[name][3] != row[3] or not all(near(a, b, 1e-5, 1e-6) for a, b in zip(found[name][:3], row[:3])):
            return f"{name}: {found[name]} instead of {row}"


def same_json(path, stats):
    with open(stats, encoding="utf-8") as f:
        rows = json.load(f)["evaluation"]
    wanted = read(path)
    if [(r["file"], r["dataset"]) for r in rows] != list(wanted):
        return f"rows {rows}"
    for r in rows:
        for a, b in zip(wanted[r["file"], r["dataset"]], [r["loss"], r["pearson"], r["pearson_all"], r["chunks"]]):
            if not near(a, b, 1e-8, 0):
                return f"{r} is not in the table"


def predmoter(path, metrics, key=None):
    with open(metrics, encoding="utf-8") as f:
        wanted = json.load(f)
    wanted, n = wanted[key] if key else wanted, 0
    for (file, dataset), row in read(path).items():
        of_file = wanted[os.path.basename(file)]
        if dataset == "total" and "total_avg_val_loss" not in of_file:
            return f"{file} has a total"
        for got, name, relative, absolute in ((row[0], "loss", 1e-5, 0), (row[1], "accuracy", 0, 1e-5)):
            value = of_file.pop(f"{dataset}_avg_val_{name}")
            n += 1
            if not near(got, None if np.isnan(value) else value, relative, absolute):
                return f"{file} {dataset} {name}: {got} instead of {value}"
        if dataset == "total" or "total_avg_val_loss" not in of_file:
            if "chunks" in of_file and of_file["chunks"] != row[3] and row[3] != 0:
                return f"{file}: {row[3]} chunks instead of {of_file['chunks']}"
    return None if n > 0 else "nothing was compared"


def main(action, *args):
    return {"table": table, "json": same_json, "predmoter": predmoter}[action](*args)


if __name__ == "__main__":
    serve.run(main)
