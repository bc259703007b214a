#!/usr/bin/python3
"""Compares two files of chunks: datasets, types, shapes, values, fill values, attributes, also of groups.

usage: h5_equal.py A B [ROWS]      ROWS: a file with the numbers of the rows of A that B has, one per line
       h5_equal.py rows A EXPRESSION ROWS    writes the numbers of the rows that satisfy EXPRESSION of s (sequence),
                                             beg and end
       h5_equal.py whole A                   checks that A is not marked as partial
       h5_equal.py halves A DIR [sequences]  checks that DIR/train/A and DIR/val/A together have all rows of A
                                             without splitting a pair (or sequence); writes the row numbers as
                                             train.rows and val.rows
       h5_equal.py serve                     serves requests of tests/lib/tap.sh: ask A B [ROWS]

Storage (filters, chunk shapes, byte order, one-hot or packed bases) and attributes that are not texts may differ. With `--dtype T` before A, coverage and
predictions of B have the type T.
SPDX-License-Identifier: MIT"""

import h5py
import numpy as np

import serve

STEP = 256
# Datasets of texts, whose width may differ.
COLUMNS = {"data/seqids", "data/species", "data/seq_names", "data/seq_species"}
# Groups of datasets with a row for each chunk.
BY_ROW = {"data", "evaluation", "prediction", "scores", "alternative"}
# What covtools writes, whatever the types of its input.
TYPES = {"data/X": np.float16, "data/start_ends": np.int64}
# Attributes that covtools adds; times and versions may differ.
OURS = {"timestamp", "covtools_version", "partial", "shard", "subsequence_length"}


def one_hot_table():
    table = np.zeros((16, 4), np.float16)
    for code in range(1, 16):
        bits = [code >> b & 1 for b in range(4)]  # A C G T
        value = np.float16([0, 1, 0.5, 0.33, 0.25][sum(bits)])
        a, c, g, t = bits
        table[code] = np.array([c, a, t, g]) * value
    return table


TABLE = one_hot_table()


class Bases:
    """Reads data/X from one-hot or packed bases."""

    def __init__(self, f):
        self.packed = "X_packed" in f["data"]
        self.set = f["data/X_packed"] if self.packed else f["data/X"]
        self.length = int(self.set.attrs["subsequence_length"]) if self.packed else self.set.shape[1]
        self.shape = (self.set.shape[0], self.length, 4)
        self.dtype = TABLE.dtype if self.packed else self.set.dtype

    def __getitem__(self, rows):
        x = self.set[rows]
        if not self.packed:
            return x
        codes = np.stack([x >> 4, x & 15], axis=-1).reshape(x.shape[0], -1)
        assert not codes[:, self.length:].any(), "the odd half byte is not 0"
        return TABLE[codes[:, : self.length]]


def data_sets(f):
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            found[name] = item

    f.visititems(visit)
    if "data/X" in found or "data/X_packed" in found:
        found.pop("data/X", None)
        found.pop("data/X_packed", None)
        found["data/X"] = Bases(f)
    return found


def attributes(item):
    texts = {k: v.decode() if isinstance(v, bytes) else v for k, v in item.attrs.items()}
    return {k: v for k, v in texts.items() if isinstance(v, str) and k not in OURS}


def group_attributes(f):
    found = {}
    f.visititems(lambda name, item: found.update({name: attributes(item)} if isinstance(item, h5py.Group) and len(item) else {}))
    return {name: attrs for name, attrs in found.items() if attrs}


def same(a, b):
    if a.dtype.kind == "S":
        return np.array_equal(a, b)
    return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def compare(path_a, path_b, rows, dtype):
    with h5py.File(path_a, "r") as a, h5py.File(path_b, "r") as b:
        if attributes(a) != attributes(b):
            return f"attributes: {attributes(a)} and {attributes(b)}"
        x, y = data_sets(a), data_sets(b)
        if group_attributes(a) != group_attributes(b):
            return f"attributes of groups: {group_attributes(a)} and {group_attributes(b)}"
        if "data/species" not in x:
            y.pop("data/species", None)
        grid = {"data/seq_names", "data/seq_species", "data/seq_lengths"}
        if set(x) - grid != set(y) - grid:
            return f"datasets: {sorted(x)} and {sorted(y)}"
        if rows is None and (set(x) & grid) != (set(y) & grid):
            return "one is partial"
        n = x["data/start_ends"].shape[0]
        m = n if rows is None else len(rows)
        for name in sorted(set(x) - (grid if rows is not None else set())):
            s, t = x[name], y[name]
            is_signal = name.startswith(("evaluation/", "prediction/")) and len(s.shape) > 1 and s.dtype != bool
            wanted = np.dtype(dtype if dtype and is_signal else TYPES.get(name, s.dtype.newbyteorder("<")))
            if t.dtype != wanted and not (name in COLUMNS and t.dtype.kind == "S"):
                return f"{name}: type {t.dtype} instead of {wanted}"
            by_row = s.shape[0] == n and name.split("/")[0] in BY_ROW
            if name in grid or name in ("prediction/datasets", "prediction/model_name"):
                by_row = False
            shape = (m,) + tuple(s.shape[1:]) if by_row else tuple(s.shape)
            if tuple(t.shape) != shape:
                return f"{name}: shape {t.shape} instead of {shape}"
            if name != "data/X" and s.dtype.kind != "S" and s.fillvalue != t.fillvalue:
                return f"{name}: fill value {t.fillvalue} instead of {s.fillvalue}"
            if name != "data/X" and attributes(s) != attributes(t):
                return f"{name}: attributes {attributes(t)} instead of {attributes(s)}"
            if not by_row or rows is None:
                for i in range(0, t.shape[0], STEP):
                    if not same(s[i:i + STEP], t[i:i + STEP]):
                        return f"{name}: values of rows {i}..{i + STEP}"
                continue
            for i in range(0, m, STEP):
                if not same(s[rows[i:i + STEP]], t[i:i + STEP]):
                    return f"{name}: values of rows {i}..{i + STEP} of the second"
    return ""


def chunks(path):
    with h5py.File(path, "r") as f:
        return list(zip(f["data/seqids"][:].tolist(), map(tuple, f["data/start_ends"][:].tolist())))


def write_rows(path, numbers):
    with open(path, "w", encoding="ascii") as f:
        f.write("".join(f"{i}\n" for i in numbers))


def rows(path, expression, to):
    wanted = compile(expression, "rows", "eval")
    write_rows(to, [i for i, (s, ends) in enumerate(chunks(path))
                    if eval(wanted, {"s": s.decode().rstrip("\0"), "beg": min(ends), "end": max(ends)})])


def whole(path):
    with h5py.File(path, "r") as f:
        return "" if "partial" not in f.attrs and "seq_names" not in f["data"] else f"{path} is partial"


def halves(path, directory, together="pairs"):
    all_rows = chunks(path)
    train, val = (chunks(f"{directory}/{half}/{path}") for half in ("train", "val"))
    if sorted(train + val) != sorted(all_rows):
        return "not all rows once"
    order = {row: i for i, row in enumerate(all_rows)}
    for part, name in ((train, "train.rows"), (val, "val.rows")):
        numbers = [order[row] for row in part]
        if numbers != sorted(numbers) or not numbers:
            return f"{name}: none, or not in the order of the file"
        write_rows(name, numbers)
    if {(s, tuple(sorted(p))) for s, p in train} & {(s, tuple(sorted(p))) for s, p in val}:
        return "a pair is in both"
    if together == "sequences" and {s for s, _ in train} & {s for s, _ in val}:
        return "a sequence is in both"
    return ""


def main(*args):
    if args[0] in ASKED:
        return ASKED[args[0]](*args[1:])
    args = list(args)
    dtype = None
    if args[0] == "--dtype":
        dtype = args[1]
        args = args[2:]
    wanted = np.loadtxt(args[2], dtype=int, ndmin=1) if len(args) > 2 else None
    return compare(args[0], args[1], wanted, dtype)


ASKED = {"rows": rows, "whole": whole, "halves": halves}

if __name__ == "__main__":
    serve.run(main)
