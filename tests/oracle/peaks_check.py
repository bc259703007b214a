#!/usr/bin/python3
"""Random tracks, and their peaks found base by base: an independent answer for the tests of covpeaks.

usage: peaks_check.py track SEED            prints a bedGraph without gaps
       peaks_check.py narrow CUTOFF LENGTH GAP BEDGRAPH
       peaks_check.py gapped CUTOFF WEAK LENGTH GAP LINK BEDGRAPH
       peaks_check.py beds SEED             writes sizes, p.bed and m.bed
       peaks_check.py compare SIZES PREDICTED MEASURED [DROPPED_REGIONS.bed]
       peaks_check.py auto count|share|measured GOAL LENGTH GAP BEDGRAPH [LINK [CUTOFF]]
       peaks_check.py cut BEDGRAPH DROPPED_REGIONS.bed
       peaks_check.py curve BEDGRAPH MEASURED.bed WINDOW...
       peaks_check.py areas STATS BEDGRAPH MEASURED.bed
       peaks_check.py frip BEDGRAPH PEAKS.bed [DROPPED_REGIONS.bed]

narrow prints contig, start, end, offset of the summit, largest value and mean of each peak; gapped prints contig,
start, end, number of blocks, their sizes and offsets; compare prints the table of covpeaks compare, curve that of
covpeaks curve. auto prints the cutoff and the number of peaks of covpeaks call --auto; with LINK, the weak cutoff and those
of --broad, at twice the weak cutoff or at CUTOFF. cut prints the track without the regions, base by
base. areas checks the statistics of covpeaks curve. frip prints the fraction of the sum of the track that is in peaks.
SPDX-License-Identifier: MIT"""

import json
import random
import sys


def print_track(seed):
    r = random.Random(seed)
    for contig in ("chr1", "chr10", "chr2", "empty"):
        at, end = 0, r.randint(2000, 9000)
        while at < end:
            to = min(end, at + r.choice([1, 2, 3, 5, 10, 30, 31, 50, 100, 200, 300]))
            value = 0 if contig == "empty" else r.choice([0, 0, 0, 1, 2, 3, 5, 8, 13, 0.5, 2.5, 7.25])
            print(contig, at, to, value, sep="\t")
            at = to


def read_track(path):
    """{contig: values by base}; None: no value."""
    track = {}
    with open(path, encoding="ascii") as f:
        for line in f:
            contig, beg, end, value = line.split()
            values = track.setdefault(contig, [])
            values += [None] * (int(beg) - len(values)) + [float(value)] * (int(end) - int(beg))
    return track


def find_peaks(values, cutoff, length, gap):
    """(start, end) of the peaks."""
    high = [i for i, v in enumerate(values) if v is not None and v >= cutoff]
    groups = []
    for i in high:
        if groups and i - groups[-1][1] <= gap:
            groups[-1][1] = i + 1
        else:
            groups.append([i, i + 1])
    return [(beg, end) for beg, end in groups if end - beg >= length]


def find_summit(values, beg, end):
    """The middle of the stretch of the largest value; of several, of the middle one."""
    top = max(v for v in values[beg:end] if v is not None)
    stretches = []
    for i in range(beg, end):
        if values[i] != top:
            continue
        if stretches and stretches[-1][1] == i:
            stretches[-1][1] = i + 1
        else:
            stretches.append([i, i + 1])
    first, last = stretches[(len(stretches) - 1) // 2]
    return (first + last) // 2, top


def print_narrow(cutoff, length, gap, path):
    for contig, values in sorted(read_track(path).items()):
        for beg, end in find_peaks(values, cutoff, length, gap):
            summit, top = find_summit(values, beg, end)
            mean = sum(v or 0 for v in values[beg:end]) / (end - beg)
            print(contig, beg, end, summit - beg, f"{top:.6g}", f"{mean:.6g}", sep="\t")


def print_gapped(cutoff, weak, length, gap, link, path):
    for contig, values in sorted(read_track(path).items()):
        strong = find_peaks(values, cutoff, length, gap)
        for beg, end in find_peaks(values, weak, length, link) if strong else []:
            blocks = [(a, b) for a, b in strong if beg <= a and b <= end]
            if not blocks or blocks[0][0] > beg:
                blocks.insert(0, (beg, beg + 1))
            if blocks[-1][1] < end:
                blocks.append((end - 1, end))
            print(contig, beg, end, len(blocks), ",".join(str(b - a) for a, b in blocks),
                  ",".join(str(a - beg) for a, _ in blocks), sep="\t")


def write_beds(seed):
    r = random.Random(seed)
    sizes = {f"chr{i}": r.randint(2000, 9000) for i in range(1, 5)}
    with open("sizes", "w", encoding="ascii") as f:
        f.writelines(f"{name}\t{n}\n" for name, n in sizes.items())
    for path in ("p.bed", "m.bed"):
        lines = []
        for name, n in sizes.items():
            for _ in range(0 if (path, name) == ("p.bed", "chr3") else 20):
                beg = r.randrange(n - 300)
                lines.append(f"{name}\t{beg}\t{beg + r.randint(1, 300)}\tx\n")
        with open(path, "w", encoding="ascii") as f:
            f.writelines(["track name=x\n", *lines])


def read_peaks(path):
    with open(path, encoding="ascii") as f:
        rows = [line.split()[:3] for line in f if not line.startswith("track")]
    return [(name, int(beg), int(end)) for name, beg, end in rows]


def read_bed(path):
    """{contig: set of bases}."""
    bases = {}
    for name, beg, end in read_peaks(path):
        bases.setdefault(name, set()).update(range(beg, end))
    return bases


def print_comparison(sizes, predicted, measured, dropped=None):
    a, b, drop = read_bed(predicted), read_bed(measured), read_bed(dropped) if dropped else {}
    total = [0] * 7

    def put(name, tp, fp, fn, *peaks):
        precision = tp / (tp + fp) if tp + fp else 0
        recall = tp / (tp + fn) if tp + fn else 0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
        print(name, *(repr(x).removesuffix(".0") for x in (f1, precision, recall)), tp, fp, fn, *peaks, sep="\t")

    def count_peaks(path, name, other):
        """(number of peaks with a base that is not dropped, number of those that share such a base with `other`)."""
        kept = [set(range(beg, end)) - drop.get(name, set()) for at, beg, end in read_peaks(path) if at == name]
        return sum(bool(x) for x in kept), sum(bool(x & other) for x in kept)
    print("contig\tf1\tprecision\trecall\ttp\tfp\tfn\tpeaks\tpeaks_measured\toverlapping\toverlapping_measured")
    with open(sizes, encoding="ascii") as f:
        for name in (line.split()[0] for line in f):
            x, y = (s.get(name, set()) - drop.get(name, set()) for s in (a, b))
            n, shared = count_peaks(predicted, name, y)
            m, shared_measured = count_peaks(measured, name, x)
            counts = len(x & y), len(x - y), len(y - x), n, m, shared, shared_measured
            total = [t + n for t, n in zip(total, counts)]
            put(name, *counts)
    put("total", *total)


def find_auto(by, goal, length, gap, path, link=None, strong=None):
    """(cutoff, number of peaks), by trying all values; of broad peaks with `link`."""
    track = read_track(path)
    measured = read_bed(goal) if by == "measured" else {}
    n_bases = sum(v is not None for values in track.values() for v in values)
    n_measured = sum(v is not None and i in measured.get(name, ())
                     for name, values in track.items() for i, v in enumerate(values))
    found = []
    for cutoff in sorted({v for values in track.values() for v in values if v is not None}, reverse=True):
        n = valued = both = 0
        if link is not None and (cutoff >= strong if strong else cutoff <= 0):
            continue
        for name, values in track.items():
            if link is not None and not find_peaks(values, strong or 2 * cutoff, length, gap):
                continue
            for beg, end in find_peaks(values, cutoff, length, gap if link is None else link):
                there = [i for i in range(beg, end) if values[i] is not None]
                n += 1
                valued += len(there)
                both += sum(i in measured.get(name, ()) for i in there)
        if by == "count":
            found.append((-abs(n - int(goal)), cutoff, n))
        elif by == "share":
            found.append((-abs(valued / n_bases - float(goal)), cutoff, n))
        else:
            found.append((2 * both / (valued + n_measured), cutoff, n))
    if by == "count":
        del found[1 + max(range(len(found)), key=lambda i: found[i][2]):]
    return max((x for x in found if x[2]), key=lambda x: x[0])[1:]


def print_cut(track, regions):
    dropped = read_bed(regions)
    for contig, values in read_track(track).items():
        for i, value in enumerate(values):
            if i not in dropped.get(contig, ()):
                print(contig, i, i + 1, value, sep="\t")


def read_scores(track, measured, window):
    """The smoothed values of all bases that have one, and whether they are in measured peaks."""
    import numpy  # here, because loading it takes longer than most calls
    values, truth = [], []
    peaks = read_bed(measured)
    for contig, x in read_track(track).items():
        x = numpy.array([numpy.nan if v is None else v for v in x])
        there = ~numpy.isnan(x)
        edges = numpy.flatnonzero(numpy.diff(numpy.concatenate([[False], there, [False]]).astype(int)))
        for beg, end in edges.reshape(-1, 2):
            padded = numpy.concatenate([numpy.zeros(window - 1 - (window - 1) // 2), x[beg:end],
                                        numpy.zeros((window - 1) // 2)])
            values.append(numpy.convolve(padded, numpy.ones(window), "valid") / window)
            truth.append([i in peaks.get(contig, ()) for i in range(beg, end)])
    return numpy.concatenate(values).astype("f4"), numpy.concatenate(truth)


def find_curve(track, measured, window):
    """Rows of cutoff, F1, precision and recall, by ascending cutoff."""
    import numpy
    values, truth = read_scores(track, measured, window)
    rows = []
    for cutoff in numpy.unique(values):
        called = values >= cutoff
        tp = int(numpy.sum(called & truth))
        n, positive = int(numpy.sum(called)), int(numpy.sum(truth))
        rows.append((cutoff, 2 * tp / (n + positive), tp / n, tp / positive))
    return rows


def print_curves(track, measured, *windows):
    print("cutoff\twindow\tf1\tprecision\trecall")
    for window in windows:
        for cutoff, *rates in find_curve(track, measured, int(window)):
            print(f"{cutoff:.9g}", window, *(repr(x).removesuffix(".0") for x in rates), sep="\t")


def check_areas(stats, track, measured):
    import numpy
    with open(stats, encoding="utf-8") as f:
        curves = json.load(f)["curves"]
    for curve in curves:
        rows = find_curve(track, measured, curve["window"])[::-1]
        _, _, precision, recall = numpy.array(rows, "f8").T
        area = numpy.sum(numpy.diff(recall, prepend=0) * precision)
        assert abs(curve["area"] - area) < 1e-12, (curve, area)
        assert abs(curve["baseline"] - precision[-1]) < 1e-12 and recall[-1] == 1, curve
        best = max(rows, key=lambda row: row[1])  # the first, which has the largest cutoff
        assert [float(x) for x in best] == [curve["best"][x] for x in ("cutoff", "f1", "precision", "recall")], curve
    print(len(curves))


def print_frip(track, peaks, dropped=None):
    inside, drop = read_bed(peaks), read_bed(dropped) if dropped else {}
    bases = [(v, i in inside.get(name, ())) for name, values in read_track(track).items()
             for i, v in enumerate(values) if v is not None and i not in drop.get(name, ())]
    print(sum(v for v, is_inside in bases if is_inside) / sum(v for v, _ in bases))


def print_auto(by, goal, length, gap, path, *broad):
    link = [int(broad[0]), *map(float, broad[1:])] if broad else []
    print(*(f"{x:.9g}" for x in find_auto(by, goal, int(length), int(gap), path, *link)))


def main():
    what, *rest = sys.argv[1:]
    {"track": lambda seed: print_track(int(seed)),
     "narrow": lambda cutoff, length, gap, path: print_narrow(float(cutoff), int(length), int(gap), path),
     "gapped": lambda cutoff, weak, *rest: print_gapped(float(cutoff), float(weak), *map(int, rest[:3]), rest[3]),
     "beds": lambda seed: write_beds(int(seed)),
     "compare": print_comparison, "auto": print_auto, "cut": print_cut, "curve": print_curves, "areas": check_areas, "frip": print_frip}[what](*rest)


main()
