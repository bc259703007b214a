"""h5_damage.py - runs every program on damaged copies of genome and predictions files.

  h5_damage.py WORKDIR N SEED MODEL.ckpt READS.sam BASE.h5...

Creates N files from valid ones by flipping bits, truncating, wiping, or setting wrong shapes, types, counts and values.
Runs every tool on each file. A program may refuse a file (status 1, one line, no output) or accept it. It must not
crash, hang, fail silently, or read values that differ from h5py's. Prints failures and counts; exits with status 1 if
there was a failure.
SPDX-License-Identifier: MIT"""
import io
import os
import random
import subprocess
import sys

import h5py
import numpy as np

import driver


def remake(f, name, data, **how):
    """Replaces the data of a dataset."""
    del f[name]
    f.create_dataset(name, data=data, **how)


def wrong(data, areas, rng):
    """Changes the contents such that the file is still valid for libhdf5."""
    image = io.BytesIO(data)
    with h5py.File(image, "r+") as f:
        names = []
        f.visititems(lambda n, o: names.append(n) if isinstance(o, h5py.Dataset) else None)
        name = rng.choice(names)
        x = f[name][:]
        how = rng.choice(("remove", "rank", "fewer", "more", "columns", "type", "value", "values", "group", "empty", "text"))
        if how == "remove":
            del f[name]
        elif how == "rank":
            remake(f, name, x[..., None] if x.ndim < 3 else x[0])
        elif how == "fewer":
            remake(f, name, x[:-1] if len(x) > 1 else x[:0])
        elif how == "more":
            remake(f, name, np.concatenate([x, x[:1]]))
        elif how == "columns":
            remake(f, name, x[:, :-1] if x.ndim > 1 else np.stack([x, x], 1))
        elif how == "type":
            remake(f, name, np.zeros(x.shape, rng.choice(("f8", "i1", "u8", "c16", "S3", "bool"))))
        elif how == "value" and x.size and x.dtype.kind in "if":
            y = x.reshape(-1)
            y[rng.randrange(y.size)] = rng.choice((-7, 3, 0, 1)) if x.dtype.kind == "i" else rng.choice((np.nan, np.inf, -1, 0.7, 0))
            remake(f, name, y.reshape(x.shape))
        elif how == "values" and x.size and x.dtype.kind in "if":
            remake(f, name, np.full(x.shape, rng.choice((-(2 ** 15), 9, 0)), x.dtype))
        elif how == "group":
            del f[name]
            f.create_group(name)
        elif how == "empty":
            remake(f, name, x[:0])
        elif how == "text" and x.dtype.kind == "S":
            y = x.copy()
            y[rng.randrange(len(y))] = rng.choice((b"", b"\xff\xfe", b"x" * 40, b"a/b\nc"))
            remake(f, name, y)
    data[:] = image.getvalue()


def commands(path, model, reads, out):
    at = ["-q", "-@", "1"]
    return {
        "info": ["h5chunk", "info", path],
        "info --json": ["h5chunk", "info", "--json", path],
        "verify": ["h5chunk", "verify", "-@", "1", path],
        "repack": ["h5chunk", "repack", *at, "--layout", "packed", "--compression", "zstd", "-o", f"{out}/repack.h5", path],
        "repack --chunk-rows": ["h5chunk", "repack", *at, "--chunk-rows", "3", "-o", f"{out}/rows.h5", path],
        "subset": ["h5chunk", "subset", *at, "--drop-n", "-r", "a", "-o", f"{out}/subset.h5", path],
        "split": ["h5chunk", "split", *at, "--shards", "2", "-o", f"{out}/split", path],
        "split --by chunk": ["h5chunk", "split", *at, "--val-fraction", "0.3", "--seed", "1", "--by", "chunk", "-o", f"{out}/d/", path],
        "merge": ["h5chunk", "merge", *at, "-o", f"{out}/merge.h5", path],
        "blacklist": ["h5chunk", "blacklist", "-q", "-f", "--names", f"{out}/../names", "-o", f"{out}/blacklist.h5", path],
        "cat": ["h5chunk", "cat", *at, path],
        "covpredict": ["covpredict", *at, "-m", model, "-o", f"{out}/predict.h5", path],
        "covpredict --loading": ["covpredict", *at, "--loading", "ram-packed", "-m", model, "-o", f"{out}/ram.h5", path],
        "cov2bigwig": ["cov2bigwig", *at, "--format", "bedgraph", "-o", f"{out}/t/", path],
        "cov2bigwig --experimental": ["cov2bigwig", *at, "--experimental", "-o", f"{out}/e/", path],
        "bam2h5": ["bam2h5", *at, "-p", "new", "-o", f"{out}/bam.h5", path, reads],
    }


READ = """
import h5py, sys, numpy as np
a, b = h5py.File(sys.argv[1]), h5py.File(sys.argv[2])
names = []
b.visititems(lambda n, o: names.append(n) if isinstance(o, h5py.Dataset) else None)
for name in names:
    if name.startswith("data/seq_") or name in ("data/X_packed", "data/species"):
        continue
    if name not in a:
        sys.exit(f"{name} is not in the input")
    x, y = a[name][:], b[name][:]
    if x.shape != y.shape:
        sys.exit(f"{name} has another shape")
    same = x == y if x.dtype.kind != "f" else (x == y) | (np.isnan(x) & np.isnan(y))
    if not np.all(same):
        sys.exit(f"{name} has other values")
"""


def is_faithful(path, made):
    """Compares h5chunk's output with what h5py reads from the file, in another process, because h5py may crash."""
    try:
        done = subprocess.run([sys.executable, "-c", READ, path, made], capture_output=True, text=True, timeout=driver.TIMEOUT)
    except subprocess.TimeoutExpired:
        return True, "h5py hangs on it"
    why = done.stderr.strip().split("\n")[-1]
    # Without the usual plugins, h5py can read neither file.
    # It refuses wrong levels of deflate, which reading does not need.
    return done.returncode == 0 or "can't open directory" in why or "invalid deflate aggression level" in why, why


def run_all(path, model, reads, work, report):
    out = os.path.join(work, "out")

    def judge(name, done, left, taken):
        # Options about bases do not apply to a file without (readable) bases.
        refused = done.returncode == 2 and (b" has no bases" in done.stderr or b" has neither " in done.stderr)
        if done.returncode not in (0, 1) and not refused:
            report(name, f"status {done.returncode}: {done.stderr[-200:]}")
        elif done.returncode == 1 and left:
            report(name, f"leaves {left}")
        elif done.returncode == 1 and not driver.errors(done) and not (name == "verify" and done.stdout):
            report(name, "fails without a message")
        elif done.returncode == 0 and name == "repack --chunk-rows":
            good, why = is_faithful(path, f"{out}/rows.h5")
            if not good:
                report(name, f"changes values: {why}")
        return done.returncode == 0

    return driver.run(commands(path, model, reads, out), out, report, judge)


def main():
    work, n, seed, model, reads, *bases = sys.argv[1:]
    rng = random.Random(int(seed))
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(work, "names"), "w") as f:
        f.write("a\n")
    kinds = {"flipped": driver.flip, "cut": driver.cut, "wiped": driver.wipe, "wrong": wrong}
    driver.main_loop(work, int(n), rng, [(base, [(0, 4096)]) for base in bases], kinds,
                     lambda k, path, report: run_all(path, model, reads, work, report))


if __name__ == "__main__":
    main()
