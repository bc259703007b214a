#!/usr/bin/python3
"""macs3_peaks.py - does `covpeaks call` find the peaks of MACS3's bdgpeakcall and bdgbroadcall?

  macs3_peaks.py [--macs3 PROGRAM] [--keep DIRECTORY] TRACK...

A TRACK is a file that cov2bigwig reads: predictions, bigWig, bedGraph; of a genome file, the measured coverage. For each dataset,
both programs call narrow and broad peaks with five settings, whose cutoffs are quantiles of the bases that are not 0. Compares the
sequence, start, end and summit of narrow peaks, and the sequence, start, end and blocks of broad ones.

MACS3 gives a base without a value the value that follows. For a track with such bases, covpeaks therefore reads one where they
have that value; `raw` is the number of peaks that differ (in one of the two) if both read the track as it is.

Prints a line per dataset: its intervals, the bases without a value, the peaks of all settings and those that differ. The status is
1 if any do. Needs MACS3 3.0 (or PROGRAM) and the tools in PATH.
SPDX-License-Identifier: MIT"""
import argparse
import glob
import itertools
import os
import subprocess
import sys
import tempfile

# The cutoff and the weaker one of broad peaks as shares of the bases that are lower; then lengths and gaps, and gaps of broad peaks.
SETTINGS = ((0.5, 0.2, 200, 30, 800), (0.75, 0.4, 100, 20, 500), (0.9, 0.5, 200, 30, 500), (0.95, 0.75, 50, 100, 300), (0.99, 0.9, 1, 0, 50))


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"macs3_peaks.py: error: {' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def tracks_of(path, directory):
    """Converts a file to bedGraph; returns the files."""
    options = ["--experimental"] if path.endswith(".h5") and "predictions file" not in run("h5chunk", "info", path) else []
    run("cov2bigwig", "-q", "--format", "bedgraph", *options, "-o", directory + "/", path)
    return sorted(glob.glob(directory + "/*.bg"))


def read(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            contig, beg, end, value = line.split("\t")
            yield contig, int(beg), int(end), value.rstrip("\n")


def fill_gaps(path, out):
    """Gives bases without a value the one that follows, but 0 at the start of a sequence, as MACS3 does; returns their number."""
    n_missing, last = 0, ("", 0)
    with open(out, "w", encoding="utf-8") as file:
        for contig, beg, end, value in read(path):
            at = last[1] if contig == last[0] else 0
            n_missing += beg - at
            if at == 0 and beg > 0:
                file.write(f"{contig}\t0\t{beg}\t0\n")
                at = beg
            file.write(f"{contig}\t{at}\t{end}\t{value}\n")
            last = contig, end
    return n_missing


def quantiles(path, shares):
    """The smallest values that at least these shares of the bases with values other than 0 do not exceed."""
    bases = {}
    for _, beg, end, value in read(path):
        if float(value) != 0:
            bases[float(value)] = bases.get(float(value), 0) + end - beg
    values = sorted(bases)
    sums = list(itertools.accumulate(bases[value] for value in values))
    return {share: next((v for v, n in zip(values, sums) if n >= share * sums[-1]), 0) for share in shares}


def columns(text, places):
    rows = (line.split("\t") for line in text.splitlines() if not line.startswith("track"))
    return {tuple(row[place].rstrip(",") for place in places) for row in rows if row[0]}


def ours(track, setting, is_broad):
    cutoff, weak, length, gap, link = setting
    broad = ("--broad", "-C", weak, "-G", link) if is_broad else ()
    text = run("covpeaks", "call", "-q", "-c", cutoff, "-l", length, "-g", gap, *broad, "-o", "-", track)
    return columns(text, (0, 1, 2, 9, 10, 11) if is_broad else (0, 1, 2, 9))


def theirs(macs3, track, setting, is_broad, out):
    cutoff, weak, length, gap, link = setting
    how = ("bdgbroadcall", "-C", weak, "-G", link) if is_broad else ("bdgpeakcall", "--no-trackline")
    run(macs3, how[0], "-i", track, "-c", cutoff, "-l", length, "-g", gap, *how[1:], "-o", out)
    with open(out, encoding="utf-8") as file:
        return columns(file.read(), (0, 1, 2, 9, 10, 11) if is_broad else (0, 1, 2, 9))


def compare(track, macs3, directory):
    filled = directory + "/filled.bg"
    n_missing = fill_gaps(track, filled)
    n_intervals = sum(1 for _ in read(track))
    cutoffs = quantiles(track, {share for setting in SETTINGS for share in setting[:2]})
    n = {False: [0, 0, 0], True: [0, 0, 0]}  # peaks, different ones, and those of the track as it is
    for (high, low, *lengths), is_broad in itertools.product(SETTINGS, n):
        setting = (cutoffs[high], cutoffs[low], *lengths)
        if is_broad and cutoffs[low] >= cutoffs[high]:
            continue
        wanted = theirs(macs3, track, setting, is_broad, directory + "/macs3")
        n[is_broad][0] += len(wanted)
        n[is_broad][1] += len(wanted ^ ours(filled, setting, is_broad))
        n[is_broad][2] += len(wanted ^ ours(track, setting, is_broad)) if n_missing else 0
    return n_intervals, n_missing, *n[False], *n[True]


def main():
    parser = argparse.ArgumentParser(usage=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--macs3", default="macs3")
    parser.add_argument("--keep")
    parser.add_argument("tracks", nargs="+")
    arguments = parser.parse_args()
    n_different = 0
    print("track", "intervals", "missing", "narrow", "different", "raw", "broad", "different", "raw", sep="\t")
    with tempfile.TemporaryDirectory() as scratch:
        for number, path in enumerate(arguments.tracks):
            directory = f"{arguments.keep or scratch}/{number}"
            os.makedirs(directory)
            for track in tracks_of(path, directory):
                counts = compare(track, arguments.macs3, scratch)
                n_different += counts[3] + counts[6]
                print(f"{os.path.basename(os.path.dirname(path))}/{os.path.basename(track)}", *counts, sep="\t", flush=True)
    sys.exit(n_different > 0)


if __name__ == "__main__":
    main()
