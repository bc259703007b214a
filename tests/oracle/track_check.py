"""track_check.py - creates inputs for cov2bigwig, and compares its tracks with expected ones.

track_check.py make KIND FILE [KEY=VALUE]...   creates a predictions file (KIND pred) or genome file (exp), see make()
track_check.py input FILE TRACK [KEY=VALUE]... compares a track with the values in the input, HDF5 or text, computed
                                               independently, see expected() and combined()
track_check.py same TRACK REFERENCE            compares two tracks base by base, contigs in any order
track_check.py cut FILE OUT what=WHAT          damages a copy of a file
track_check.py subset FILE OUT drop=LIST       makes a partial file, see subset()

Tracks are read with pyBigWig, or as text; bw_dump prints what libBigWig reads.
SPDX-License-Identifier: MIT
"""
import gzip
import shutil

import h5py
import numpy as np
import pyBigWig
import serve

NAMES = ["chr1", "chr10", "chr2", "Mito", "scaffold|7:x.1", "B", "a", "\u00e9"]


def make(kind, path, species="one", names=NAMES, length=1000, seed=1, value="random", datasets="atacseq,h3k4me3",
         dtype="int64", order="arithmetic", max_length=4000, compression="gzip", columns=3):
    rng = np.random.default_rng(int(seed))
    names = names.split(",") if isinstance(names, str) else names
    length, datasets = int(length), datasets.split(",")
    seqids, places = [], []
    for i, name in enumerate(names):
        n = [int(max_length), 1, length, length + 1, 2 * length, 7, 37, 150][i % 8]
        begs = list(range(0, n, length))
        seqids += [name.encode()] * (2 * len(begs))
        places += [(b, min(b + length, n)) for b in begs]
        places += [(min(b + length, n), b) for b in reversed(begs)]
    rows = np.arange(len(places))
    if order == "shuffled":
        rng.shuffle(rows)
    def signal(*shape):
        if value == "zero":
            return np.zeros(shape)
        if value == "constant":
            return np.full(shape, 5)
        if value == "large":
            return rng.integers(0, 2**23, shape)
        if value == "float":
            return rng.random(shape) * 10
        return np.repeat(rng.integers(0, 5, shape), 3, axis=1)[:, :shape[1]]
    with h5py.File(path, "w") as f:
        f["data/seqids"] = np.array(seqids, "S60")[rows]
        f["data/species"] = np.array([species.encode()] * len(rows), "S25")
        f["data/start_ends"] = np.array(places)[rows]
        widths = [abs(b - a) for a, b in np.array(places)[rows]]
        def store(where, x):
            for i, n in enumerate(widths):
                x[i, n:] = -1
            extra = {} if compression == "none" else {"compression": compression}
            f.create_dataset(where, data=x.astype(dtype), chunks=(1, length, 1), **extra)
        if kind == "pred":
            f["prediction/model_name"] = np.array([b"m.ckpt"], "S256")
            f["prediction/datasets"] = np.array([d.encode() for d in datasets], "S25")
            store("prediction/predictions", signal(len(rows), length, len(datasets)))
        else:
            bases = np.full((len(rows), length, 4), 0.25, "f2")  # N
            for i, n in enumerate(widths):
                bases[i, n:] = 0
            f.create_dataset("data/X", data=bases, chunks=(1, length, 4))
            for i, d in enumerate(datasets):
                store(f"evaluation/{d}_coverage", signal(len(rows), length, 1 + i * (int(columns) - 1)))


def subset(path, out, drop=""):
    """Writes a partial file without the rows in `drop`: NAME:BEG-END[:STRAND],... (from 0); NAME:all."""
    drop = drop.split(",")
    with h5py.File(path, "r") as f, h5py.File(out, "w") as g:
        names, places = f["data/seqids"][:], f["data/start_ends"][:]
        keep, lengths = [], {}
        for i, (name, (a, b)) in enumerate(zip(names, places)):
            lengths[name] = max(lengths.get(name, 0), int(a), int(b))
            place = f"{name.decode()}:{min(a, b)}-{max(a, b)}"
            strand = "+" if a < b else "-"
            if not {place, f"{place}:{strand}", f"{name.decode()}:all"} & set(drop):
                keep.append(i)
        for group in f:
            for key, data in f[group].items():
                by_row = data.shape[0] == len(names) and (group, key) != ("prediction", "datasets")
                rows = data[:][keep] if by_row and data.ndim != 1 or group == "data" else data[:]
                chunks = (1,) + data.shape[1:] if data.chunks else None
                g.create_dataset(f"{group}/{key}", data=rows, chunks=chunks if len(rows) and data.ndim == 3 else None)
        g["data/seq_names"] = np.array(list(lengths), "S60")
        g["data/seq_species"] = np.array([f["data/species"][0]] * len(lengths), "S25")
        g["data/seq_lengths"] = np.array(list(lengths.values()), "i8")
        g.attrs["partial"] = 1


def join(pieces):
    """Joins adjacent [(beg, values)], given in any order."""
    joined = []
    for beg, x in sorted(pieces, key=lambda y: y[0]):
        if joined and joined[-1][0] + len(joined[-1][1]) == beg:
            joined[-1] = (joined[-1][0], np.concatenate([joined[-1][1], x]))
        else:
            joined.append((beg, x))
    return joined


def gauss(x, sd):
    r = int(4 * sd + 0.5)
    w = np.exp(-0.5 * (np.arange(-r, r + 1) / sd) ** 2)
    return np.convolve(np.concatenate([np.zeros(r), x, np.zeros(r)]), w / w.sum(), mode="valid")


def finish(x, is_float, window, sd, scale):
    """Returns rounded, smoothed and scaled values, and other acceptable ones."""
    x = x.astype(np.float32).astype(float) if is_float else x.round()
    other = None
    if window:
        r = (window - 1) // 2
        padded = np.concatenate([np.zeros(window - 1 - r), x, np.zeros(r)])
        mean = np.array([padded[i:i + window].sum() for i in range(len(x))]) / window
        # If the mean is halfway between integers, both are accepted; a unit test checks which one is right. The order
        # in which floats are summed may change the last digit.
        halves = np.where(mean % 1 == 0.5, np.floor(mean) + (mean.round() == np.floor(mean)), mean.round())
        other = mean * (1 + 2**-24) if is_float else halves
        x = mean if is_float else mean.round()
    if sd:
        mean = gauss(x, sd)
        other = mean * (1 + 2**-24) if is_float else np.rint(mean + 1e-9)
        x = mean if is_float else np.rint(mean - 1e-9)
    x = x.astype(np.float32)
    other = x if other is None else other.astype(np.float32)
    return tuple((v.astype(float) * scale).astype(np.float32) for v in (x, other))


def bins(x, size):
    """Returns the means of bins, from the first to the last value of each bin."""
    x = x.copy()
    for beg in range(0, len(x), size):
        there = beg + np.flatnonzero(~np.isnan(x[beg:beg + size]))
        if len(there):
            x[there[0]:there[-1] + 1] = x[there].astype(float).sum() / len(there)
    return x


def normalized(path, to, scale, **options):
    """Returns the scale that turns the sum of all values to `to`, times `scale`."""
    tracks, _ = expected(path, **options)
    return float(scale) * float(to) / sum(np.nansum(x.astype(float)) for x in tracks.values())


def read_pieces(path, dataset, strand, experimental):
    """Returns {contig: [(beg, values without gaps)]}, {contig: length}, and whether values are floats."""
    if not path.endswith(".h5"):
        tracks = read(path, ours=False, arrival=True)
        runs = {c: np.split(np.arange(len(x)), np.flatnonzero(np.diff(np.isnan(x))) + 1) for c, x in tracks.items()}
        return ({c: [(r[0], x[r]) for r in runs[c] if not np.isnan(x[r[0]])] for c, x in tracks.items()},
                {c: len(x) for c, x in tracks.items()}, True)
    with h5py.File(path, "r") as f:
        if experimental:
            data = f[f"evaluation/{dataset}_coverage"][:].astype(float).mean(axis=2).round()
        else:
            datasets = [d.decode() for d in f["prediction/datasets"][:]]
            data = f["prediction/predictions"][:, :, datasets.index(dataset)].astype(float)
        is_float = not experimental and f["prediction/predictions"].dtype.kind == "f"
        rows = list(zip(f["data/seqids"][:], f["data/start_ends"][:]))
        partial = "seq_names" in f["data"]
        lengths = dict(zip(f["data/seq_names"][:], f["data/seq_lengths"][:])) if partial else {}
    lengths = {name.decode(): n for name, n in lengths.items()}
    sides = {name: ([], []) for name in lengths}
    for i, (name, (beg, end)) in enumerate(rows):
        x = data[i, :abs(end - beg)]
        side = sides.setdefault(name.decode(), ([], []))
        side[int(beg > end)].append((min(beg, end), x if beg < end else x[::-1]))
    pieces = {}
    for name, (plus, minus) in sides.items():
        plus, minus = join(plus), join(minus)
        lengths[name] = lengths.get(name) or len(plus[0][1])
        mean = [(beg, (p + m) / 2) for (beg, p), (_, m) in zip(plus, minus)] if strand == "avg" else []
        pieces[name] = {"+": plus, "-": minus, "avg": mean}[strand]
    return pieces, lengths, is_float


def expected(path, dataset="atacseq", strand="avg", window=0, sd=0, experimental=0, min_value=None, skip_zero=0,
             scale=1, drop="", bed="", rename="", bin_size=0, normalize="", keep=""):
    """Returns {contig: values, NaN in gaps}, and the positions where a value may also be `other`. normalize: the sum of
    all values; keep: the only regions, NAME:BEG:END (from 0), separated by commas."""
    if normalize:
        scale = normalized(path, normalize, scale, dataset=dataset, strand=strand, window=window, sd=sd,
                           experimental=experimental, drop=drop, bed=bed)
    inputs, lengths, is_float = read_pieces(path, dataset, strand, int(experimental))
    renamed = dict(line.split() for line in open(rename)) if rename else {}
    tracks, others = {}, {}
    for name, pieces in inputs.items():
        if name in drop.split(","):
            continue
        length = lengths[name]
        x, other = (np.full(length, np.nan, np.float32) for _ in range(2))
        for beg, piece in pieces:
            x[beg:beg + len(piece)], other[beg:beg + len(piece)] = finish(piece, is_float, int(window), float(sd),
                                                                               float(scale))
        if int(bin_size):
            x, other = bins(x, int(bin_size)), bins(other, int(bin_size))
        for v in (x, other):
            outside = np.full(length, keep != "")
            for region in filter(None, keep.split(",")):
                contig, beg, end = region.rsplit(":", 2)
                if contig == name:
                    outside[int(beg):int(end)] = False
            v[outside] = np.nan
            if int(skip_zero):
                v[v == 0] = np.nan
            if min_value is not None:
                v[v < float(min_value)] = np.nan
            for line in open(bed) if bed else []:
                contig, beg, end = line.split()[:3]
                if contig == name:
                    v[int(beg):int(end)] = np.nan
        tracks[renamed.get(name, name)], others[renamed.get(name, name)] = x, other
    return tracks, others


def combined(path, op, others, pseudocount=1, skip_zero=0, min_value=None, **options):
    """Returns what --minus, --log2 or --mean (op) makes of the input and `others`: {contig: values, NaN in gaps}."""
    parts = []
    for p in [path] + others.split(","):
        is_genome = p.endswith(".h5") and "evaluation" in h5py.File(p, "r")
        parts.append(expected(p, **options, experimental=is_genome)[0])
    results = {}
    for contig, x in parts[0].items():
        values = np.full((len(parts), len(x)), np.nan)
        for v, part in zip(values, parts):
            v[:len(part.get(contig, []))] = part.get(contig, [])
        added = values + float(pseudocount)
        x = {"minus": values[0] - values[-1], "log2": np.log2(added[0] / added[-1]),
             "mean": values.sum(axis=0) / len(values)}[op].astype(np.float32)
        if int(skip_zero):
            x[x == 0] = np.nan
        if min_value is not None:
            x[x < float(min_value)] = np.nan
        results[contig] = x
    return results


def read_text(path, ours, arrival=False):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    tracks, last = {}, None
    text = data.decode()
    assert not ours or text == "" or text.endswith("\n"), "the last line has no end"
    for line in text.splitlines():
        contig, beg, end, value = line.split("\t")
        beg, end = int(beg), int(end)
        if contig != last:
            assert contig not in tracks, f"contig {contig} is repeated"
            assert arrival or last is None or last.encode() < contig.encode(), f"{contig} follows {last}"
            tracks[contig], last = [], contig
        runs = tracks[contig]
        assert beg < end and beg >= (runs[-1][1] if runs else 0), f"{line}: out of order"
        if ours:
            assert not runs or runs[-1][1] < beg or runs[-1][2] != value, f"{line}: is no new run"
            assert value == f"{float(value):.9g}" or value == str(int(float(value))), f"{line}: how it is written"
        runs.append((beg, end, value))
    return tracks


def read(path, lengths=None, ours=True, arrival=False):
    """Returns {contig: values, NaN in gaps} of a track; the contigs of a bigWig are those of its header."""
    if path.endswith((".bw", ".bigWig")):
        bw = pyBigWig.open(path)
        assert bw is not None and bw.isBigWig()
        tracks = {}
        for contig, n in bw.chroms().items():
            tracks[contig] = [(b, e, v) for b, e, v in bw.intervals(contig) or ()]
            assert lengths is None or lengths.get(contig, n) == n, f"{contig} has {n} bases"
        got = {c: np.full(n, np.nan, np.float32) for c, n in bw.chroms().items()}
        header, contigs = bw.header(), list(bw.chroms())
        bw.close()
        assert arrival or [c.encode() for c in contigs] == sorted(c.encode() for c in contigs), "contigs are not sorted"
    else:
        tracks, header = read_text(path, ours, arrival), None
        got = {c: np.full(lengths[c] if lengths else runs[-1][1], np.nan, np.float32) for c, runs in tracks.items()}
    for contig, runs in tracks.items():
        for beg, end, value in runs:
            got[contig][beg:end] = np.float32(value)
    if header and ours:
        values = [v for runs in tracks.values() for _, _, v in runs]
        assert header["minVal"] == int(min(values, default=0)), f"minimum {header['minVal']}"
        assert header["maxVal"] == int(max(values, default=0)), f"maximum {header['maxVal']}"
        assert header["nBasesCovered"] == sum(e - b for runs in tracks.values() for b, e, _ in runs)
        assert not values or header["nLevels"] > 0, "no zoom level"
    return got


def compare(got, wanted, other=None, off=0):
    for contig, x in wanted.items():
        y = got.get(contig, np.full(len(x), np.nan, np.float32))
        assert len(x) == len(y), f"{contig}: {len(y)} bases instead of {len(x)}"
        same = np.isclose(x, y, rtol=off, atol=off, equal_nan=True)
        if other is not None:
            same |= other[contig] == y
        i = np.flatnonzero(~same)
        assert len(i) == 0, f"{contig}: {len(i)} bases differ, the first at {i[0]}: {y[i[0]]} instead of {x[i[0]]}"
    for contig in got:
        assert contig in wanted, f"{contig} is too many"


def compare_input(path, track, arrival="", **options):
    wanted, other = (combined(path, **options), None) if "op" in options else expected(path, **options)
    is_text = not path.endswith(".h5")  # the order of sums may differ
    got = read(track, {c: len(x) for c, x in wanted.items()}, arrival=arrival or is_text)
    compare(got, wanted, other, 1e-6 if is_text and {"window", "sd"} & set(options) or "op" in options else 0)
    assert not track.endswith((".bw", ".bigWig")) or is_text or set(got) == set(wanted), "a contig is missing from the header"


def cut(source, path, what):
    shutil.copy(source, path)
    with h5py.File(path, "r+") as f:
        if what == "nan":
            f["prediction/predictions"][3, 5, 0] = np.nan
        elif what == "negative":
            f["prediction/predictions"][3, 5, 0] = -1
        elif what == "hole":
            f["data/start_ends"][1] = f["data/start_ends"][0]
        elif what == "uneven":
            n = f["data/start_ends"].shape[0]
            f["data/start_ends"][n - 1] = (1, 0)
        else:
            del f[what]


def main(action, *args):
    options = dict(a.split("=", 1) for a in args[2:])
    {"make": make, "input": compare_input, "subset": subset, "cut": cut,
     "same": lambda a, b: compare(read(a), read(b, ours=False))}[action](*args[:2], **options)


if __name__ == "__main__":
    serve.run(main)
