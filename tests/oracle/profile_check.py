"""Random tracks and annotations, and profiles computed base by base: an independent answer for the tests of covprofile; see start_python in tap.sh.

    random SEED                           writes t.bg, u.bg, sizes, and the same features as f.gff3, f.gtf, f.bed
    fill TRACK OUT                        writes TRACK with zeros at bases that lack a value
    table TABLE [KEY=VALUE]...            compares a table with the tracks t.bg and u.bg around f.bed
    matrix FILE [KEY=VALUE]...            compares the file of --matrix
    sums TABLE [KEY=VALUE]...             compares the table of covprofile table
    correlations TABLE [KEY=VALUE]...     compares the table of covprofile correlate
    fingerprints TABLE [KEY=VALUE]...     compares the table of covprofile fingerprint
    coverage TABLE CURVES [KEY=VALUE]...  compares the tables of covprofile coverage
    make, input, ...                      as track_check.py

Keys: anchor (tss), before, after (3000), body (1000), bin (10), reduce (mean), preset (none), genes (f.bed), tracks (t.bg,u.bg);
of correlations: bins (0: features), method (pearson), mode (windows), anchor (whole), before, after (0), tracks; of fingerprints: bins, tracks, control (0: the first track is none);
of coverage: step (1), tracks, drop (none; contig:beg-end, without these bases).
SPDX-License-Identifier: MIT"""

import gzip
import json
import random

import numpy
import serve
import track_check


def write_random(seed):
    r = random.Random(int(seed))
    sizes = {"chr1": 30000, "chr10": 9000, "chr2": 500, "c|3": 20000, "unused": 100}
    with open("sizes", "w", encoding="ascii") as f:
        f.writelines(f"{name}\t{n}\n" for name, n in sizes.items())
    for path, gaps, values in (("t.bg", 0, [0, 0, 0, 1, 2, 3, 5, 8, 13]), ("u.bg", 0.3, [0, 0.5, 2.25, 7.1, -3.3, 1e-3])):
        with open(path, "w", encoding="ascii") as f:
            for name, n in sizes.items():
                at = 0
                while at < n:
                    to = min(n, at + r.choice([1, 1, 2, 3, 5, 10, 30, 31, 100, 300]))
                    if r.random() >= gaps:
                        f.write(f"{name}\t{at}\t{to}\t{r.choice(values)}\n")
                    at = to
    features = []
    for name, n in sizes.items():
        for _ in range({"chr2": 2, "unused": 0}.get(name, 25)):
            beg = r.randrange(n)
            end = min(n, beg + r.choice([1, 5, 9, 10, 37, 400, 2000, 5000]))
            features.append((name, beg, end, f"g{len(features)}", r.choice(".079"), r.choice("+-+-.")))
    r.shuffle(features)
    with open("f.bed", "w", encoding="ascii") as f:
        f.write("track name=x\n\n")
        f.writelines("\t".join(map(str, x)) + "\n" for x in features)
    with open("f.gff3", "w", encoding="ascii") as f:
        f.write("##gff-version 3\n")
        for name, beg, end, gene, score, strand in features:
            f.write(f"{name}\tmade\tgene\t{beg + 1}\t{end}\t{score}\t{strand}\t.\tNote=a,b;ID={gene};Name=x\n"
                    f"{name}\tmade\tmRNA\t{beg + 1}\t{end}\t.\t{strand}\t.\tID=m\n###\n")
        f.write("##FASTA\n>chr1\nACGT\n")
    with open("f.gtf", "w", encoding="ascii") as f:
        for name, beg, end, gene, score, strand in features:
            f.write(f"{name}\tmade\tgene\t{beg + 1}\t{end}\t{score}\t{strand}\t.\tgene_biotype \"a\"; gene_id \"{gene}\";\n"
                    f"{name}\tmade\ttranscript\t{beg + 1}\t{end}\t{score}\t{strand}\t.\tgene_id \"x\"; transcript_id \"{gene}\";\n")


def read_track(path):
    """{contig: values by base}; NaN: no value."""
    with open("sizes", encoding="ascii") as f:
        track = {name: numpy.full(int(n), numpy.nan, numpy.float32) for name, n in (line.split() for line in f)}
    with open(path, encoding="ascii") as f:
        for line in f:
            contig, beg, end, value = line.split()
            track[contig][int(beg):int(end)] = float(value)
    return track


def fill(path, out):
    with open(out, "w", encoding="ascii") as f:
        for name, values in read_track(path).items():
            f.writelines(f"{name}\t{i}\t{i + 1}\t{x if x == x else 0}\n" for i, x in enumerate(values))


def read_features(path):
    with open(path, encoding="ascii") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if line.startswith("c") or line.startswith("x")]
    order = list(dict.fromkeys(row[0] for row in rows))
    rows = [(row[0], int(row[1]), int(row[2]), *(row[3:] or ["", ".", "."])) for row in rows]
    return sorted(rows, key=lambda row: (order.index(row[0]), row[1], row[2]))


def mean(values):
    return means(values, len(values))[0]


def means(values, size):
    """Of bins of `size` bases each, without those that lack a value."""
    values = values.reshape(-1, size).astype(numpy.float64)
    there = ~numpy.isnan(values)
    return numpy.divide(numpy.where(there, values, 0).sum(axis=1), there.sum(axis=1), out=numpy.full(len(values), numpy.nan),
                        where=there.any(axis=1))


def value_at(values, positions):
    inside = (positions >= 0) & (positions < len(values))
    return numpy.where(inside, values[numpy.clip(positions, 0, len(values) - 1)], numpy.float32(numpy.nan))


def bins_of(values, feature, o):
    """The bins of a feature, in its direction."""
    _, beg, end, _, _, strand = feature
    step = -1 if strand == "-" else 1
    if o["anchor"] == "scale":
        if end - beg < o["bin"]:
            return numpy.full((o["before"] + o["body"] + o["after"]) // o["bin"], numpy.nan)
        left, right = (o["after"], o["before"]) if step < 0 else (o["before"], o["after"])
        n = o["body"] // o["bin"]
        cuts = numpy.linspace(left, left + end - beg, n, endpoint=False, dtype=int) - left + beg
        cuts = numpy.append(cuts, end)
        body = [mean(value_at(values, numpy.arange(a, max(b, a + 1)))) for a, b in zip(cuts, cuts[1:])]
        sides = [means(value_at(values, window), o["bin"]) for window in (numpy.arange(beg - left, beg), numpy.arange(end, end + right))]
        return numpy.concatenate([sides[0], body, sides[1]])[::step]
    if o["preset"] == "predmoter":  # positions as in Predmoter's script
        if strand == "+":
            window = numpy.arange(beg - o["before"], beg + 1 + o["after"])
        else:
            window = numpy.arange(end - 1 - o["after"], end + o["before"])
    else:
        first, last = (end - 1, beg) if step < 0 else (beg, end - 1)
        anchor = {"tss": first, "tes": last + step, "centre": beg + (end - beg) // 2 - (step < 0)}[o["anchor"]]
        window = numpy.arange(anchor - step * o["before"], anchor + step * o["after"], step)
        step = 1
    return means(value_at(values, window)[::step], o["bin"])


def profile(o):
    """{track: bins of each feature}"""
    features = read_features(o["genes"])
    found = []
    for path in o["tracks"].split(","):
        track = read_track(path)
        found.append(numpy.array([bins_of(track[f[0]], f, o) if f[0] in track else
                                  numpy.full((o["before"] + o["body"] * (o["anchor"] == "scale") + o["after"]) // o["bin"], numpy.nan)
                                  for f in features]))
    return features, found


def check_table(path, o):
    _, wanted = profile(o)
    rows, names = read_table(path), names_of(o)
    assert rows[0] == ["position", *names], rows[0]
    reduce = numpy.nanmedian if o["reduce"] == "median" else numpy.nanmean
    assert [int(row[0]) for row in rows[1:]] == [i * o["bin"] - o["before"] for i in range(wanted[0].shape[1])]
    for k, bins in enumerate(wanted):
        got = numpy.array([numpy.nan if row[k + 1] == "NA" else float(row[k + 1]) for row in rows[1:]])
        empty = numpy.isnan(bins).all(axis=0)
        assert (numpy.isnan(got) == empty).all(), names[k]
        assert not empty.all()
        numpy.testing.assert_allclose(got[~empty], reduce(bins[:, ~empty], axis=0), rtol=1e-12, atol=1e-12)


def check_matrix(path, o):
    with gzip.open(path, "rt", encoding="utf-8") as f:
        lines = f.read().splitlines()
    features, wanted = profile(o)
    wanted = numpy.hstack(wanted)
    n_tracks, n = len(o["tracks"].split(",")), len(features)
    head = json.loads(lines[0][1:])
    assert lines[0][0] == "@" and len(lines) == n + 1, (lines[0], len(lines))
    point = {"tss": "TSS", "tes": "TES", "centre": "center", "scale": None}[o["anchor"]]
    each = {"upstream": o["before"], "downstream": o["after"], "body": o["body"] * (o["anchor"] == "scale"),
            "bin size": o["bin"], "ref point": point, "unscaled 5 prime": 0, "unscaled 3 prime": 0}
    whole = {"verbose": False, "bin avg type": "mean", "missing data as zero": False, "min threshold": None,
             "max threshold": None, "scale": 1, "skip zeros": False, "nan after end": False, "proc number": 1,
             "sort regions": "keep", "sort using": "mean", "group_labels": ["genes"], "group_boundaries": [0, n],
             "sample_labels": names_of(o),
             "sample_boundaries": [i * wanted.shape[1] // n_tracks for i in range(n_tracks + 1)]}
    assert head == {**{key: [value] * n_tracks for key, value in each.items()}, **whole}, head
    for line, (contig, beg, end, name, score, strand), bins in zip(lines[1:], features, wanted):
        row = line.split("\t")
        assert row[:6] == [contig, str(beg), str(end), name or f"{contig}:{beg}-{end}", score, strand], row[:6]
        for got, x in zip(row[6:], bins, strict=True):
            assert got == f"{x:f}" or abs(float(got) - x) < 1e-6 and abs(x * 1e6 % 1 - 0.5) < 1e-6, (row[:6], got, x)


def check_sums(path, o):
    features, rows = read_features(o["genes"]), read_table(path)
    columns = [f"{name}_{what}" for name in names_of(o) for what in ("mean", "min", "max", "sum", "covered")]
    assert rows[0] == ["chr", "start", "end", "name", "strand", *columns], rows[0]
    wanted = []
    for track in map(read_track, o["tracks"].split(",")):
        parts = [track[contig][beg:end] for contig, beg, end, *_ in features]
        parts = [x[~numpy.isnan(x)].astype(float) for x in parts]
        wanted.append([[x.mean(), x.min(), x.max(), x.sum(), len(x)] if len(x) else [numpy.nan] * 3 + [0, 0] for x in parts])
    assert [row[:5] for row in rows[1:]] == [[f[0], str(f[1]), str(f[2]), f[3], f[5]] for f in features]
    got = numpy.array([row[5:] for row in rows[1:]])
    numpy.testing.assert_allclose(numpy.where(got == "NA", "nan", got).astype(float), numpy.hstack(wanted), rtol=1e-12)


def ranks(x):
    """From 0; equal values get the mean of theirs."""
    return numpy.array([(x < v).sum() + ((x == v).sum() - 1) / 2 for v in x])


def window_mean(values, feature, o):
    _, beg, end, *_, strand = feature
    if o["anchor"] != "whole":
        return bins_of(values, feature, {**o, "bin": o["before"] + o["after"]})[0]
    left, right = (o["after"], o["before"]) if strand == "-" else (o["before"], o["after"])
    return mean(value_at(values, numpy.arange(beg - left, end + right)))


def columns_of(o):
    """[track][bin or feature], where all tracks have a value."""
    columns = []
    for track in map(read_track, o["tracks"].split(",")):
        if o["bins"] > 0:
            columns.append([mean(values[i:i + o["bins"]]) for _, values in sorted(track.items())
                            for i in range(0, len(values), o["bins"])])
        else:
            columns.append([window_mean(track[f[0]], f, o) for f in read_features(o["genes"])])
    columns = numpy.array(columns)
    columns = columns[:, ~numpy.isnan(columns).any(axis=0)]
    assert columns.shape[1] > 10, columns.shape
    return columns


def names_of(o):
    return [x.split(".")[0] for x in o["tracks"].split(",")]


def read_table(path):
    with open(path, encoding="ascii") as f:
        return [line.rstrip("\n").split("\t") for line in f]


def entropy(p):
    p = p[p > 0]
    return -(p * numpy.log2(p)).sum()


def js_distance(p, q):
    return numpy.sqrt(entropy((p + q) / 2) - (entropy(p) + entropy(q)) / 2)


def rises(x):
    """How the curve of the values above 0 grows in 100,000 steps."""
    x = numpy.sort(x[x > 0])
    curve = numpy.insert(numpy.cumsum(x), 0, 0) / x.sum()
    return numpy.diff(numpy.interp(numpy.linspace(0, 1, 100001), numpy.linspace(0, 1, len(x) + 1), curve))


def check_fingerprints(path, o):
    columns = columns_of(o)
    n = columns.shape[1]
    wanted = []
    for k, x in enumerate(columns):
        curve = numpy.cumsum(numpy.sort(x)) / x.sum()
        row = [curve.mean(), (numpy.argmax(curve > 0) + 1) / n, (numpy.argmax(numpy.arange(n) / (n - 1) - curve) + 1) / n]
        if o["control"] and k > 0:
            cuts = numpy.unique(x)
            shares = numpy.array([[y[x <= v].sum() / y.sum() for y in (x, columns[0])] for v in cuts])
            best = numpy.argmax(shares[:, 1] - shares[:, 0])
            p, q = shares[best]
            assert q - p > 0.01, (p, q)
            row += [js_distance(rises(x), rises(columns[0])), (n - (x <= cuts[best]).sum() + 1) / n, q - p,
                    js_distance(numpy.array([p, 1 - p]), numpy.array([q, 1 - q]))]
        elif o["control"]:
            row += [numpy.nan] * 4
        wanted.append(row)
    rows = read_table(path)
    assert rows[0] == ["track", "auc", "x_intercept", "elbow"] + ["js_distance", "enriched", "difference", "divergence"] * o["control"]
    assert [row[0] for row in rows[1:]] == names_of(o), rows
    got = numpy.array([[numpy.nan if x == "NA" else float(x) for x in row[1:]] for row in rows[1:]])
    numpy.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-9)


def check_coverage(path, curves, o):
    rows, points = read_table(path), read_table(curves)
    assert rows[0] == "track bases mean sd min q1 median q3 max zero missing".split(), rows[0]
    assert points[0] == ["track", "coverage", "share", "share_at_least"], points[0]
    assert [row[0] for row in rows[1:]] == names_of(o), rows
    for row, path in zip(rows[1:], o["tracks"].split(",")):
        track = read_track(path)
        n_all = sum(map(len, track.values()))
        if o["drop"]:
            contig, beg, end = o["drop"].replace(":", "-").split("-")
            track[contig][int(beg):int(end)] = numpy.nan
        x = numpy.concatenate(list(track.values()))
        x = x[~numpy.isnan(x)].astype(numpy.float64)
        wanted = [len(x), x.mean(), x.std(), x.min(), *numpy.percentile(x, [25, 50, 75]), x.max(), (x == 0).mean(),
                  numpy.nan if o["drop"] else 1 - len(x) / n_all]
        numpy.testing.assert_allclose([numpy.nan if v == "NA" else float(v) for v in row[1:]], wanted, rtol=1e-6, atol=1e-9)
        steps = numpy.floor(numpy.round(x / float(o["step"]), 4))
        values, counts = numpy.unique(steps, return_counts=True)
        got = numpy.array([point[1:] for point in points if point[0] == row[0]], float)
        numpy.testing.assert_allclose(got, numpy.transpose([values * float(o["step"]), counts / len(x),
                                                            [(steps >= v).mean() for v in values]]), rtol=1e-7, atol=1e-9)


def check_base_correlations(path, o):
    """As Predmoter's script: the mean of r in each window."""
    _, windows = profile({**o, "preset": "predmoter", "bin": 1})
    sums = numpy.zeros((len(windows), len(windows)))
    for window in zip(*windows):
        x = numpy.array([values - numpy.nanmean(values) if (values == values).any() else values for values in window])
        x = numpy.nan_to_num(x)
        roots = numpy.sqrt((x * x).sum(axis=1))
        sums += x @ x.T / (numpy.outer(roots, roots) + 1e-8)
    rows, names = read_table(path), names_of(o)
    assert rows[0] == ["track", *names] and [row[0] for row in rows[1:]] == names, rows
    got = numpy.array([[float(x) for x in row[1:]] for row in rows[1:]])
    assert (got == got.T).all() and got[0, 2] < -0.3, got
    numpy.testing.assert_allclose(got, sums / len(windows[0]), rtol=1e-8, atol=1e-10)


def check_correlations(path, o):
    if o["mode"] == "bases":
        check_base_correlations(path, o)
        return
    columns = columns_of(o)
    if o["method"] == "spearman":
        columns = numpy.array([ranks(x) for x in columns])
    rows, names = read_table(path), names_of(o)
    assert rows[0] == ["track", *names] and [row[0] for row in rows[1:]] == names, rows
    got = numpy.array([[float(x) for x in row[1:]] for row in rows[1:]])
    assert (numpy.diag(got) == 1).all() and (got == got.T).all(), got
    assert abs(got[0, 1]) < 0.9, got
    numpy.testing.assert_allclose(got, numpy.corrcoef(columns), atol=1e-12)


def main(what, path, *settings):
    o = {"anchor": "tss", "before": 3000, "after": 3000, "body": 1000, "bin": 10, "reduce": "mean", "preset": "none", "mode": "windows",
         "genes": "f.bed", "tracks": "t.bg,u.bg", "bins": 0, "method": "pearson", "control": 0, "step": "1", "drop": ""}
    checks = {"table": check_table, "matrix": check_matrix, "sums": check_sums, "correlations": check_correlations, "fingerprints": check_fingerprints,
              "coverage": check_coverage}
    if what not in checks:
        return {"random": write_random, "fill": fill}.get(what, lambda *args: track_check.main(what, *args))(path, *settings)
    if what == "correlations" and "mode=bases" not in settings:
        o.update(anchor="whole", before=0, after=0)
    files = [path, *(text for text in settings if "=" not in text)]
    for key, value in (text.split("=") for text in settings if "=" in text):
        o[key] = int(value) if isinstance(o[key], int) else value
    return checks[what](*files, o)


if __name__ == "__main__":
    serve.run(main)
