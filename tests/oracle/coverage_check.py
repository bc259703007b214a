"""coverage_check.py - compares the coverage in a genome file with a count of SAM or BED text by line, or a bedGraph.

  coverage_check.py GENOME.h5 PREFIX COLUMN READS.sam|READS.bed|TRACK.bg [unit=read] [strand=both] [shift=A,B]
                    [exclude=772] [require=0] [mapq=0] [min=0] [max=0] [drop=REGIONS.bed] [rename=FROM:TO,...]
  coverage_check.py same A.h5 B.h5 PREFIX     compares the values
  coverage_check.py genome OUT.fa             writes a genome of the contigs a (5000 bases), b (700) and c (3)
  coverage_check.py random OUT.sam SEED N [sorted]   reads over these; N is the most
  coverage_check.py bed OUT.bed SEED N COLUMNS       reads (6 columns) or fragments (3 or 5)
  coverage_check.py serve                     does any of these for each request of tests/lib/tap.sh

This is an independent, simple implementation of the rules.
SPDX-License-Identifier: MIT"""
import random
import re

import h5py
import numpy as np

import serve


def strands_of(flag, strand, unit):
    """Returns the strands, '+' or '-', on which a read counts."""
    own = "-" if flag & 16 else "+"
    other = "+" if own == "-" else "-"
    second = flag & 1 and flag & 128
    if strand == "both":
        return "+-"
    if strand == "own":
        return other if unit == "fragment" and second else own
    sense_is_own = bool(second) == (strand == "second")
    return own if sense_is_own else other


def is_long_enough(n, o):
    return int(o["min"]) <= n <= (int(o["max"]) or n)


def bed(path, lengths, o):
    """Counts lines: reads with a strand, or fragments, whose both ends are ends of reads."""
    depth, spliced = ({(c, s): np.zeros(n, int) for c, n in lengths.items() for s in "+-"} for _ in range(2))
    a, b = (int(x) for x in (o["shift"] or "0,0").split(","))
    for line in open(path):
        contig, beg, end, *rest = line.split()
        strand = rest[2] if len(rest) > 2 else "."
        beg, end = int(beg), int(end)
        if contig not in lengths or beg == end or not is_long_enough(end - beg, o):
            continue
        beg, end = beg + a * (strand != "-"), end + b * (strand != "+")
        ends = [(beg, beg + 1)] * (strand != "-") + [(end - 1, end)] * (strand != "+")
        for first, stop in ends if o["unit"] == "cut" else [(beg, end)]:
            for s in strands_of(16 * (strand == "-"), o["strand"], o["unit"]):
                depth[contig, s][max(first, 0) : max(stop, 0)] += 1
    return depth, spliced


def count(sam, lengths, o):
    depth = {(c, s): np.zeros(n, int) for c, n in lengths.items() for s in "+-"}
    spliced = {(c, s): np.zeros(n, int) for c, n in lengths.items() for s in "+-"}
    shift = [int(x) for x in o["shift"].split(",")] if o["shift"] else None
    names = dict(pair.split(":") for pair in o["rename"].split(",")) if o["rename"] else {}
    counted = set()
    for line in open(sam):
        if line.startswith("@"):
            continue
        read, flag, contig, pos, mapq, cigar, mate, mate_pos, tlen = line.split("\t")[:9]
        flag, pos, mapq, mate_pos, tlen = int(flag), int(pos) - 1, int(mapq), int(mate_pos) - 1, int(tlen)
        contig = names.get(contig, contig)
        if flag & 4 or contig not in lengths or flag & int(o["exclude"]) or mapq < int(o["mapq"]):
            continue
        if flag & int(o["require"]) != int(o["require"]):
            continue
        end, runs = pos, []
        for n, op in re.findall(r"(\d+)([MIDNSHP=X])", cigar):
            n = int(n)
            if op in "M=X":
                runs.append((end, end + n, depth))
            elif op in "DN":
                runs.append((end, end + n, spliced))
            end += n if op in "M=XDN" else 0
        if not is_long_enough(abs(tlen) or sum(int(n) for n, op in re.findall(r"(\d+)([M=XD])", cigar)), o):
            continue
        if o["unit"] == "fragment":
            if flag & 0x800:
                continue
            if flag & 1:
                if not flag & 2 or flag & 8 or mate not in ("=", contig) or tlen == 0 or read in counted:
                    continue
                counted.add(read)
                pos = pos if tlen > 0 else mate_pos
                end = pos + abs(tlen)
                runs = [(pos + (shift[0] if shift else 0), end + (shift[1] if shift else 0), depth)]
            elif shift:
                runs = [(pos, end + shift[1], depth)] if flag & 16 else [(pos + shift[0], end, depth)]
        elif shift:
            runs = [(pos, end + shift[1], depth)] if flag & 16 else [(pos + shift[0], end, depth)]
        if o["unit"] == "cut":
            a, b = shift or (0, 0)
            at = end - 1 + b if flag & 16 else pos + a
            runs = [(at, at + 1, depth)]
        for beg, stop, where in runs:
            for s in strands_of(flag, o["strand"], o["unit"]):
                where[contig, s][max(beg, 0) : max(stop, 0)] += 1
    return depth, spliced


def track(path, lengths, o):
    names = dict(pair.split(":") for pair in o["rename"].split(",")) if o["rename"] else {}
    depth, spliced = ({(c, s): np.zeros(n, int) for c, n in lengths.items() for s in "+-"} for _ in range(2))
    for line in open(path):
        name, beg, end, value = line.split()
        for s in "+-" if names.get(name, name) in lengths else "":
            depth[names.get(name, name), s][int(beg):int(end)] = round(float(value))
    return depth, spliced


def check(path, prefix, column, source, *options):
    o = {"unit": "read", "strand": "both", "shift": "", "exclude": "772", "require": "0", "mapq": "0", "rename": "",
         "min": "0", "max": "0", "drop": ""}
    read = {".bg": track, ".bed": bed}.get(source[source.rindex("."):], count)
    for text in options:
        key, value = text.split("=", 1)
        o[key] = value
    with h5py.File(path) as f:
        ids = [x.decode() for x in f["data/seqids"][:]]
        places = f["data/start_ends"][:]
        lengths = {}
        for name, (start, end) in zip(ids, places):
            lengths[name] = max(lengths.get(name, 0), int(start), int(end))
        for which, wanted in zip(("coverage", "spliced_coverage"), read(source, lengths, o)):
            for name, beg, end in (line.split()[:3] for line in open(o["drop"])) if o["drop"] else ():
                wanted[name, "+"][int(beg) : int(end)] = wanted[name, "-"][int(beg) : int(end)] = 0
            got = f[f"evaluation/{prefix}_{which}"][:, :, int(column)]
            for row, (name, (start, end)) in enumerate(zip(ids, places)):
                n = abs(end - start)
                x = wanted[name, "+"][start:end] if start < end else wanted[name, "-"][end:start][::-1]
                if not np.array_equal(got[row, :n], x):
                    return f"{which}, row {row}: {got[row, :n]} instead of {x}"
                if not np.all(got[row, n:] == -1):
                    return f"{which}, row {row}: padding is not -1"
    return ""


def same(a, b, prefix):
    with h5py.File(a) as f, h5py.File(b) as g:
        for which in ("coverage", "spliced_coverage"):
            x, y = f[f"evaluation/{prefix}_{which}"][:], g[f"evaluation/{prefix}_{which}"][:]
            if x.shape != y.shape or not np.array_equal(x, y):
                return f"{which} differs"
    return ""


CONTIGS = [("a", 5000), ("b", 700), ("c", 3)]


def make_genome(path):
    rng = random.Random(5)
    with open(path, "w") as f:
        f.writelines(f">{name}\n{''.join(rng.choices('ACGT', k=n))}\n" for name, n in CONTIGS)


def make_random(path, seed, n, order=""):
    rng = random.Random(int(seed))
    lines = []
    for i in range(int(n)):
        k = rng.choices(range(3), (20, 5, 1))[0]
        name, length = CONTIGS[k]
        pos = rng.randrange(length)
        cigar, left = "", length - pos
        for _ in range(rng.randrange(1, 6)):
            op = rng.choice("MMM=XIDNSP")
            size = rng.randrange(1, 300 if op == "N" else 40)
            if op in "M=XDN":
                size = min(size, left)
                left -= size
            if size:
                cigar += f"{size}{op}"
        cigar = cigar or "1S"
        n_query = sum(int(x) for x, op in re.findall(r"(\d+)([MIS=X])", cigar))
        flag = rng.choice([0, 16, 0, 16, 0x400, 0x800, 0x100, 0x200, 1 | 64, 1 | 128 | 16, 1 | 2 | 64, 1 | 2 | 128, 1 | 8])
        mate, mate_pos, tlen = ("=", min(pos + rng.randrange(300), length - 1), 1) if flag & 2 else ("*", -1, 0)
        tlen *= min(mate_pos + rng.randrange(1, 40), length) - pos
        rest = f"{cigar}\t{mate}\t{mate_pos + 1}\t{tlen}\t{'A' * n_query or '*'}\t*\n"
        lines.append((k, pos, f"r{i}\t{flag}\t{name}\t{pos + 1}\t{rng.randrange(61)}\t{rest}"))
        if flag & 2 and rng.random() < 0.8:  # the other mate
            lines.append((k, mate_pos, f"r{i}\t{flag ^ 192 | 16}\t{name}\t{mate_pos + 1}\t{rng.randrange(61)}\t1M\t=\t{pos + 1}\t{-tlen}\tA\t*\n"))
    if not order:
        rng.shuffle(lines)
    lines = [x for x in lines if "\t=\t" not in x[2] or rng.random() < 0.9]
    lines = lines[: int(n)]
    if order:
        lines.sort(key=lambda x: x[:2])
    with open(path, "w") as f:
        f.write(f"@HD\tVN:1.6\tSO:{'coordinate' if order else 'unsorted'}\n")
        f.writelines(f"@SQ\tSN:{c}\tLN:{m}\n" for c, m in CONTIGS)
        f.writelines(line for _, _, line in lines)
        f.write("u1\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\t*\n")


def make_bed(path, seed, n, columns):
    rng = random.Random(int(seed))
    with open(path, "w") as f:
        for _ in range(int(n)):
            name, length = rng.choices(CONTIGS, (20, 5, 1))[0]
            beg = rng.randrange(length)
            end = min(beg + rng.randrange(300), length)
            f.write("\t".join([name, str(beg), str(end), "x", "2", rng.choice("+-")][: int(columns)]) + "\n")


def main(*args):
    actions = {"genome": make_genome, "random": make_random, "bed": make_bed, "same": same}
    return actions[args[0]](*args[1:]) if args[0] in actions else check(*args)


if __name__ == "__main__":
    serve.run(main)
