"""predict_check.py - creates valid and invalid genome files for covpredict, and checks its output, with h5py.

predict_check.py variant KIND GENOME FILE     writes GENOME in a different form (`variants`) or with a fault (`broken`)
predict_check.py kinds sound|broken           prints the kinds
predict_check.py layout FILE GENOME MODEL TYPE DATASET...
predict_check.py same FILE FILE               checks for the same values
predict_check.py rounded FILE FLOATS          checks that FILE is FLOATS, rounded half to even
predict_check.py constant FILE VALUE
predict_check.py close FILE EXPECTED [NAME]   checks float predictions against float32 exp(output) of the first
                                              rows, in the dataset NAME (predictions)
predict_check.py accuracy FILE EXPECTED MAX [MAX_1_R [MOST [NAME]]]
                                              checks that the largest relative error is below MAX, 1 - Pearson's r
                                              below MAX_1_R (-: any), and 99 % of the errors below MOST (-: any)
predict_check.py nearly FILE REFERENCE        checks that at most two integers differ, and by at most one
predict_check.py serve                        does any of these for each request of tests/lib/tap.sh

SPDX-License-Identifier: MIT
"""
import shutil

import h5py
import numpy as np

import serve

P = "prediction/predictions"


# ---- genome files ----

def store(source, path, libver="earliest", **how):
    """Copies the file with other h5py options for data/X, or other arrays (name: array)."""
    arrays = {k[5:]: how.pop(k) for k in list(how) if k.startswith("data_")}
    with h5py.File(source) as a, h5py.File(path, "w", libver=libver) as b:
        for name in ("seqids", "species", "start_ends"):
            b["data/" + name] = arrays.get(name, a["data"][name][:])
        b.create_dataset("data/X", data=arrays.get("X", a["data/X"][:]), **how)


def change(source, path, edit):
    shutil.copy(source, path)
    with h5py.File(path, "r+") as f:
        edit(f)


def with_x(source, path, edit):
    """Changes X as an array."""
    with h5py.File(source) as f:
        x = edit(f["data/X"][:])
    store(source, path, data_X=x)


def put(index, value):
    def edit(x):
        x[index] = value
        return x
    return edit


def array(source, name, kind):
    with h5py.File(source) as f:
        return f["data"][name][:].astype(kind)


def quarter(source):
    with h5py.File(source) as f:
        return f["data/X"].shape[1] // 4


SOUND = {
    "contiguous": lambda s, p: store(s, p),
    "chunked": lambda s, p: store(s, p, chunks=(3, quarter(s), 1)),
    "lzf": lambda s, p: store(s, p, chunks=(3, quarter(s), 1), compression="lzf"),
    "shuffled-lzf": lambda s, p: store(s, p, chunks=(1, 4 * quarter(s), 4), compression="lzf", shuffle=True),
    "large-chunks": lambda s, p: store(s, p, chunks=(40, quarter(s), 2), compression="gzip"),
    "gzip-9": lambda s, p: store(s, p, chunks=(1, 4 * quarter(s), 4), compression=9),
    "checksums": lambda s, p: store(s, p, chunks=(1, 4 * quarter(s), 4), compression="gzip", shuffle=True, fletcher32=True),
    "latest": lambda s, p: store(s, p, libver="latest", chunks=(1, 4 * quarter(s), 4), compression="gzip", maxshape=(None, None, 4)),
    "float32": lambda s, p: store(s, p, data_X=array(s, "X", "f4")),
    "float64": lambda s, p: store(s, p, data_X=array(s, "X", ">f8"), chunks=(3, quarter(s), 1), compression="lzf"),
    "int32": lambda s, p: store(s, p, data_start_ends=array(s, "start_ends", "i4")),
    "uint16": lambda s, p: store(s, p, data_start_ends=array(s, "start_ends", ">u2")),
    "short-texts": lambda s, p: store(s, p, data_seqids=array(s, "seqids", "S2"), data_species=array(s, "species", "S1")),
}
BROKEN = {
    "no-X": lambda s, p: change(s, p, lambda f: f.__delitem__("data/X")),
    "no-data": lambda s, p: change(s, p, lambda f: f.__delitem__("data")),
    "no-seqids": lambda s, p: change(s, p, lambda f: f.__delitem__("data/seqids")),
    "no-start_ends": lambda s, p: change(s, p, lambda f: f.__delitem__("data/start_ends")),
    "five-columns": lambda s, p: with_x(s, p, lambda x: np.concatenate([x, x[:, :, :1]], axis=2)),
    "three-columns": lambda s, p: with_x(s, p, lambda x: x[:, :, :3]),
    "two-dimensions": lambda s, p: with_x(s, p, lambda x: x[:, :, 0]),
    "integers": lambda s, p: with_x(s, p, lambda x: x.astype("i2")),
    "fewer-rows": lambda s, p: with_x(s, p, lambda x: x[:-1]),
    "no-rows": lambda s, p: store(s, p, data_X=np.zeros((0, 1008, 4), "f2"), data_seqids=np.zeros(0, "S5"),
                                  data_species=np.zeros(0, "S5"), data_start_ends=np.zeros((0, 2), "i8")),
    "nan": lambda s, p: with_x(s, p, put((2, 5, 1), np.nan)),
    "infinity": lambda s, p: with_x(s, p, put((2, 5, 1), np.inf)),
    "no-base": lambda s, p: with_x(s, p, put((2, 5), 0.7)),
    "padding-inside": lambda s, p: with_x(s, p, put((2, 5), 0)),
    "base-past-end": lambda s, p: with_x(s, p, put((8, -1), (1, 0, 0, 0))),
    "group-as-X": lambda s, p: change(s, p, lambda f: (f.__delitem__("data/X"), f.create_group("data/X"))),
    "negative": lambda s, p: change(s, p, lambda f: f["data/start_ends"].__setitem__(0, (-5, 1003))),
    # 8 TB per row, and rows without stored data
    "huge-rows": lambda s, p: change(s, p, lambda f: (f.__delitem__("data/X"), f.create_dataset(
        "data/X", (len(f["data/seqids"]), 10**12, 4), "f2", chunks=(1, 1000, 4), compression="gzip"))),
    "not-stored": lambda s, p: change(s, p, lambda f: (f.__delitem__("data/X"), f.create_dataset(
        "data/X", (len(f["data/seqids"]), 1008, 4), "f2", chunks=(1, 1008, 4), compression="gzip"))),
}


# ---- predictions ----

def lengths(f):
    return np.abs(np.diff(f["data/start_ends"][:].astype(int), axis=1))[:, 0]


def padding(f):
    """Returns an array [N, L] that is true at padding."""
    return np.arange(f[P].shape[1])[None, :] >= lengths(f)[:, None]


def layout(path, genome, model, kind, *datasets):
    with h5py.File(path) as f, h5py.File(genome) as g:
        p = f[P]
        n, length = g["data/X"].shape[:2]
        assert set(f) == {"data", "prediction"} and set(f["prediction"]) == {"predictions", "model_name", "datasets"}
        assert set(f["data"]) == {"seqids", "species", "start_ends", "bases_fingerprint"}, set(f["data"])
        assert p.shape == (n, length, len(datasets)), p.shape
        assert p.dtype == np.dtype(kind) and p.fillvalue == -1, (p.dtype, p.fillvalue)
        assert p.chunks == (1, length, 1) and p.compression == "gzip" and p.compression_opts == 9
        assert f["prediction/model_name"].dtype == "S256" and f["prediction/model_name"][:].tolist() == [model.encode()]
        assert f["prediction/datasets"].dtype == "S25"
        assert f["prediction/datasets"][:].tolist() == [d.encode() for d in datasets]
        for name, dtype in ("seqids", "S50"), ("species", "S50"), ("start_ends", "i8"):
            assert f["data"][name].dtype == dtype, (name, f["data"][name].dtype)
            assert np.array_equal(f["data"][name][:], g["data"][name][:]), name
        pad = padding(f)
        assert pad.any() and (p[:][pad] == -1).all(), "padding"
        assert (p[:][~pad] >= 0).all() and len(np.unique(p[:][~pad])) > 1, "values"


def same(path, other):
    with h5py.File(path) as f, h5py.File(other) as g:
        assert np.array_equal(f[P][:], g[P][:])


def rounded(path, floats):
    with h5py.File(path) as f, h5py.File(floats) as g:
        assert g[P].dtype == np.float32 and (g[P][:] % 1 != 0).mean() > 0.5
        assert np.array_equal(f[P][:], np.rint(g[P][:]))


def constant(path, value):
    with h5py.File(path) as f:
        pad = padding(f)
        assert (f[P][:][pad] == -1).all()
        assert np.abs(f[P][:][~pad].astype(float) / float(value) - 1).max() < 1e-6


def close(path, expected, name="predictions"):
    with h5py.File(path) as f, h5py.File(expected) as g:
        y = g[name][:]
        x = f[P][:len(y)]
        pad = padding(f)[:len(y)]
        assert x.shape == y.shape and np.array_equal(y[:, :, 0] == -1, pad)
        assert (x[pad] == -1).all()
        error = np.abs(x[~pad] / y[~pad].astype(float) - 1)
        assert np.median(error) < 5e-6 and error.max() < 2e-4, (np.median(error), error.max())


def accuracy(path, expected, largest, one_minus_r="-", most="-", name="predictions"):
    with h5py.File(path) as f, h5py.File(expected) as g:
        n = min(len(f[P]), len(g[name]))
        y = g[name][:n].astype(float)
        x = f[P][:n].astype(float)
        pad = padding(f)[:n]
        assert n and x.shape == y.shape and (x[pad] == -1).all()
        x, y = x[~pad], y[~pad]
        error = np.abs(x / y - 1)
        got = (error.max(), np.percentile(error, 99), np.median(error), 1 - np.corrcoef(x.ravel(), y.ravel())[0, 1])
        assert error.max() < float(largest), got
        assert most == "-" or got[1] < float(most), got
        assert one_minus_r == "-" or got[3] < float(one_minus_r), got


def nearly(path, reference):
    with h5py.File(path) as f, h5py.File(reference) as g:
        x, y = f[P][:], g[P][:]
        assert x.shape == y.shape
        off = np.abs(x - y)
        assert (off > 0).sum() <= 2 and off.max() <= 1, ((off > 0).sum(), off.max())
        assert set(f["data"]) == set(g["data"]) | {"bases_fingerprint"}, set(f["data"])
        for name in g["data"]:
            assert np.array_equal(f["data"][name][:], g["data"][name][:]), name
        assert np.array_equal(f["prediction/datasets"][:], g["prediction/datasets"][:])


def main(action, *args):
    if action == "variant":
        kind, source, path = args
        {**SOUND, **BROKEN}[kind](source, path)
    elif action == "kinds":
        print(" ".join(SOUND if args[0] == "sound" else BROKEN))
    else:
        {"layout": layout, "same": same, "rounded": rounded, "constant": constant, "close": close, "accuracy": accuracy, "nearly": nearly}[action](*args)


if __name__ == "__main__":
    serve.run(main)
