"""track_damage.py - runs every reader of tracks on damaged copies of bigWig and bedGraph files.

  track_damage.py WORKDIR N SEED GENOME.h5

Creates valid files, and N damaged ones by flipping bits, truncating, wiping, moving bytes, or changing numbers in the
structure. Converts each file. A program may refuse a file (status 1, one line, no output) or accept it. It must not
crash, hang, or read a track that differs from the one in the file: the values of a bigWig must be those of the original
track, because checksums cover them; uncompressed text must be that of the damaged file. Prints failures and counts; exits
with status 1 if there was a failure. GENOME.h5 has the sequences of make_bases. test_bigwig_reader.c damages bigWig
files without checksums.
SPDX-License-Identifier: MIT"""
import gzip
import math
import os
import random
import shutil
import struct
import subprocess
import sys

import h5py

import driver


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


# ---- tracks: lists of (contig, beg, end, value)

def merge(track):
    """Joins neighbours with equal values."""
    out = []
    for name, beg, end, value in track:
        if out and out[-1][0] == name and out[-1][2] == beg and out[-1][3] == value:
            out[-1][2] = end
        else:
            out.append([name, beg, end, value])
    return out


def make_track(rng, lengths, values):
    track = []
    for name, length in lengths.items():
        at = rng.randrange(5)
        while at < length:
            end = min(at + 1 + rng.randrange(rng.choice((3, 20, 200))), length)
            track.append((name, at, end, f32(rng.choice(values))))
            at = end + rng.choice((0, 0, 0, 0, 7))
    return track


def text_of(track):
    return "".join(f"{n}\t{b}\t{e}\t{v:.9g}\n" for n, b, e, v in track).encode()


def parse_text(data):
    """Returns the intervals of a bedGraph, or None if it is invalid."""
    track, done, last = [], set(), None
    for line in data.split(b"\n"):
        words = line.replace(b"\r", b" ").replace(b"\v", b" ").replace(b"\f", b" ").replace(b"\t", b" ").split(b" ")
        words = [w for w in words if w]
        if not words or words[0][:1] == b"#" or words[0] in (b"track", b"browser"):
            continue
        if len(words) != 4 or not words[1].isdigit() or not words[2].isdigit():
            return None
        if not set(words[3]) <= set(b"0123456789+-.eE"):
            return None
        try:
            value = f32(float(words[3]))
        except (ValueError, OverflowError):
            return None
        name, beg, end = words[0], int(words[1]), int(words[2])
        if name != last:
            if name in done:
                return None
            done.add(name)
            at = 0
        last = name
        if beg < at or end <= beg or not math.isfinite(value):
            return None
        at = end
        track.append((name.decode("latin-1"), beg, end, value))
    return track


def structure(path):
    """Returns the byte ranges of the numbers outside blocks."""
    if not path.endswith(".bw"):
        return [(0, os.path.getsize(path))]
    with open(path, "rb") as f:
        blocks, index = struct.unpack_from("<QQ", f.read(64), 16)
    return [(0, blocks + 8), (index, min(os.path.getsize(path), index + 48 + 3000))]


# ---- damage

def number(data, areas, rng):
    """Changes a number of 2, 4 or 8 bytes."""
    form = rng.choice("HIQ")
    n = struct.calcsize(form)
    at = driver.place(data, areas, rng) & ~(rng.choice((2, 4)) - 1)
    value = rng.choice((0, 1, 2, 3, 64, 255, 2 ** 15, 2 ** (8 * n) - 1, 2 ** (8 * n - 1), len(data), len(data) - 4, rng.randrange(len(data) + 1)))
    if at + n <= len(data):
        struct.pack_into(rng.choice("<>") + form, data, at, value % 2 ** (8 * n))


KINDS = {"flipped": driver.flip, "cut": driver.cut, "wiped": driver.wipe, "moved": driver.move, "numbers": number}


# ---- runs

class Base:
    def __init__(self, path, track):
        self.path, self.track = path, merge(track)
        self.areas = structure(path)
        self.is_bigwig = path.endswith(".bw")


def values_of(track):
    """The intervals without the names of their contigs."""
    return sorted(tuple(x[1:]) for x in merge(track))


def is_right(base, path, made):
    """Returns None, or the difference between the file and the bedGraph made from it."""
    with open(made, "rb") as f:
        got = merge(parse_text(f.read()) or [])
    if got == base.track:
        return None
    if base.is_bigwig:
        # Checksums cover the blocks, but not the names of the contigs.
        return None if values_of(got) == values_of(base.track) else "has other values than the original"
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        # gzip also ignores bytes after the last member that do not begin another one.
        done = subprocess.run(["gzip", "-dc", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode == 1:
            return "accepts damaged gzip"
        data = done.stdout
    wanted = parse_text(data)
    return None if wanted is not None and merge(wanted) == got else "differs from the text"


def is_counted(path, made):
    """Checks that the coverage of bam2h5 is the rounded bedGraph made from the same file."""
    with h5py.File(made, "r") as f:
        x = f["evaluation/new_coverage"][:].astype(float)
    with open(path, "rb") as f:
        wanted = sum((e - b) * round(v) for _, b, e, v in parse_text(f.read()))
    return x[x > 0].sum() == 2 * wanted


def run_all(base, path, genome, work, report):
    out = os.path.join(work, "out")
    sizes = os.path.join(work, "sizes")
    at = ["-q", "-@", "1"]
    lengths = [] if base.is_bigwig else ["--chrom-sizes", sizes]
    commands = {
        "to bedGraph": ["cov2bigwig", *at, "-o", f"{out}/x.bg", path],
        "to bigWig": ["cov2bigwig", *at, *lengths, "-o", f"{out}/x.bw", path],
        "smoothed": ["cov2bigwig", *at, "--smooth", "gauss:3", "--skip-zero", "-o", f"{out}/x.bg.gz", path],
        "bam2h5": ["bam2h5", *at, "-p", "new", "-o", f"{out}/x.h5", genome, path],
    }
    text = os.path.join(work, "taken.bg")

    def judge(name, done, left, taken):
        # A bedGraph that is damaged beyond recognition is not detected as a track and needs other options.
        refused = done.returncode == 2 and (b" has the lengths" in done.stderr or b"--chrom-sizes" in done.stderr)
        if done.returncode not in (0, 1) and not refused:
            report(name, f"status {done.returncode}: {done.stderr[-300:]}")
        elif done.returncode != 0 and left:
            report(name, f"leaves {left}")
        elif done.returncode != 0 and len(driver.errors(done)) != 1:
            report(name, f"says {done.stderr[-300:]}")
        elif done.returncode == 0:
            if name == "bam2h5" and "to bedGraph" in taken and not is_counted(text, f"{out}/x.h5"):
                report(name, "has other counts")
            if name == "to bedGraph":
                shutil.copy(f"{out}/x.bg", text)
                wrong = is_right(base, path, f"{out}/x.bg")
                if wrong:
                    report(name, wrong)
        return done.returncode == 0

    return driver.run(commands, out, report, judge)


def make_bases(work, rng):
    lengths = {"a": 3000, "b": 700}
    many = {f"c{i:04d}": 10 + i % 60 for i in range(700)}
    with open(os.path.join(work, "sizes"), "w") as f:
        f.writelines(f"{n} {x}\n" for n, x in {**lengths, **many}.items())
    at = lambda name: os.path.join(work, "base." + name)
    few, long = make_track(rng, lengths, (0, 1, 2, 5, 37)), make_track(rng, many, (0, 1, 0.5, -3.25, 1e-7, 3e5))
    with open(at("bg"), "wb") as f:
        f.write(text_of(few))
    with open(at("many.bg"), "wb") as f:
        f.write(text_of(long))
    with open(at("gzip.bg.gz"), "wb") as f:
        f.write(gzip.compress(text_of(few), mtime=0))
    subprocess.run(["cov2bigwig", "-q", "-f", "-o", at("bgzf.bg.gz"), at("many.bg")], check=True)
    for name in ("", "many."):
        subprocess.run(["cov2bigwig", "-q", "-f", "--chrom-sizes", os.path.join(work, "sizes"), "-o", at(f"{name}ours.bw"),
                        at(f"{name}bg")], check=True)
    tracks = {"bg": few, "gzip.bg.gz": few, "bgzf.bg.gz": long, "ours.bw": few, "many.ours.bw": long}
    try:
        import pyBigWig
        with pyBigWig.open(at("lib.bw"), "w") as f:
            f.addHeader(list(many.items()))
            for name in many:
                part = [x for x in long if x[0] == name]
                f.addEntries([name] * len(part), [x[1] for x in part], ends=[x[2] for x in part], values=[x[3] for x in part])
        tracks["lib.bw"] = long
    except ImportError:
        print("# no pyBigWig")
    return [Base(at(name), track) for name, track in tracks.items()]


def main():
    work, n, seed, genome = sys.argv[1:]
    rng = random.Random(int(seed))
    os.makedirs(work, exist_ok=True)
    bases = make_bases(work, rng)
    for base in bases:
        run_all(base, base.path, genome, work, lambda name, what: sys.exit(f"{base.path} is valid, but {name}: {what}"))
    driver.main_loop(work, int(n), rng, [(base.path, base.areas) for base in bases], KINDS,
                     lambda k, path, report: run_all(bases[k], path, genome, work, report))


if __name__ == "__main__":
    main()
