#!/bin/sh
# h5chunk verify: sound files of every kind, and files with one fault each.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

# Two sequences in chunks of 100: rows 0 to 2 are chr1 +, 3 to 5 chr1 -, 6 chr2 +, 7 chr2 -.
awk "$random"'BEGIN { seed(3); record("chr1", 250); record("chr2", 60) }' >g.fa
run_ok 'a genome file' fasta2h5 --subsequence-length 100 --compression libdeflate --species S -o bases.h5 g.fa

# `make NAME` writes NAME.h5: a sound file, or one with a fault.
cat >make.py <<'END'
import os
import sys

import h5py
import numpy as np

sys.path.insert(0, os.environ["SRC"] + "/tests/oracle")
import serve

L = 100


def lengths(f):
    ranges = f["data/start_ends"][:]
    return np.abs(ranges[:, 1] - ranges[:, 0])


def fill(f, name, columns, dtype):
    """A dataset of random values, padded with -1."""
    rng = np.random.default_rng(5)
    n = lengths(f)
    values = rng.integers(0, 50, (len(n), L, columns)).astype(dtype)
    for row, length in enumerate(n):
        values[row, length:] = -1
    f.create_dataset(name, data=values, chunks=(1, L, 1), compression="gzip", shuffle=True, maxshape=(None, L, None),
                     fillvalue=-1)


def genome(path):
    with h5py.File("bases.h5") as src, h5py.File(path, "w") as f:
        for name, value in src.attrs.items():
            f.attrs[name] = value
        src.copy("data", f)
        fill(f, "evaluation/atac_coverage", 2, "i8")
        fill(f, "evaluation/atac_spliced_coverage", 2, "i4")
        f["evaluation/atac_meta/bam_files"] = np.array([b"a.bam", b"a.bam"], "S512")
        f["data/blacklist"] = np.ones(len(lengths(f)), "i4")


def predictions(path, dtype="i8"):
    with h5py.File("bases.h5") as src, h5py.File(path, "w") as f:
        for name in ("seqids", "species", "start_ends"):
            src.copy("data/" + name, f.require_group("data"))
        fill(f, "prediction/predictions", 2, dtype)
        f["prediction/datasets"] = np.array([b"atac", b"h3k4me3"], "S25")
        f["prediction/model_name"] = np.array([b"m.ckpt"], "S256")


def rows(f, keep):
    """Only these rows, in this order."""
    def change(name, d):
        if isinstance(d, h5py.Dataset) and d.shape[0] == n and not name.endswith(("bam_files", "datasets")):
            values, options = d[:][keep], dict(chunks=d.chunks, compression=d.compression, shuffle=d.shuffle,
                                               maxshape=d.maxshape, fillvalue=d.fillvalue)
            found.append((name, values, options if d.chunks else {}))
    n, found = f["data/seqids"].shape[0], []
    f.visititems(change)
    for name, values, options in found:
        del f[name]
        f.create_dataset(name, data=values, **options)


def partial(f):
    f["data/seq_names"] = np.array([b"chr1", b"chr2"], "S50")
    f["data/seq_lengths"] = np.array([250, 60])
    f.attrs["partial"] = 1


def put(name, at, value):
    def change(f):
        f[name][at] = value
    return change


def set_ranges(**ranges):
    def change(f):
        for row, pair in ranges.items():
            f["data/start_ends"][int(row[1:])] = pair
    return change


def replace(name, value):
    def change(f):
        del f[name]
        f[name] = value
    return change


def delete(name):
    def change(f):
        del f[name]
    return change


def swap_bases(f):
    x = f["data/X"][4]
    x[7] = x[7][[1, 0, 3, 2]]
    f["data/X"][4] = x


def flip(name, at, where):
    """Flips a byte of the stored chunk at these coordinates."""
    def change(f, path):
        info = f[name].id.get_chunk_info_by_coord(at)
        f.close()
        with open(path, "r+b") as raw:
            raw.seek(info.byte_offset + info.size // 2 if where is None else info.byte_offset + where)
            byte = raw.read(1)
            raw.seek(-1, 1)
            raw.write(bytes([byte[0] ^ 0x55]))
    change.closes = True
    return change


def cut_apart(f):
    """Only chr2, with its - strand in two chunks."""
    rows(f, [6, 7, 7])
    f["data/start_ends"][1] = (60, 20)
    f["data/start_ends"][2] = (20, 0)
    for name in ("data/X", "evaluation/atac_coverage", "evaluation/atac_spliced_coverage"):
        v, padding = f[name][:], 0 if name == "data/X" else -1
        v[2, :20] = v[2, 40:60]
        v[1, 40:] = padding
        v[2, 20:] = padding
        f[name][:] = v


def within(f):
    """A chunk inside another one, which does not hide the hole after it."""
    f["data/start_ends"][1] = (20, 40)
    f["data/X"][1, 20:] = 0
    for name in ("evaluation/atac_coverage", "evaluation/atac_spliced_coverage"):
        f[name][1, 20:] = -1


def both(*changes):
    def change(f):
        for c in changes:
            c(f)
    return change


def many(f):
    for row in range(8):
        f["prediction/predictions"][row, :40, 0] = -2


def long_many(path):
    with h5py.File(path, "w") as f:
        n = 120
        f["data/seqids"] = np.array([b"c%d" % (i // 2) for i in range(n)], "S50")
        f["data/species"] = np.array([b"s"] * n, "S25")
        f["data/start_ends"] = np.array([(0, 10) if i % 2 == 0 else (10, 0) for i in range(n)])
        f["prediction/predictions"] = np.full((n, 10, 1), -7)
        f["prediction/datasets"] = np.array([b"x"], "S25")
        f["evaluation/x_coverage"] = np.full((n, 10, 1), -7)


GENOMES = {
    "base": put("data/X", (1, 3), [.7, .7, 0, 0]),
    "nan_base": put("data/X", (1, 3), [np.nan, 0, 0, 0]),
    "gap": put("data/X", (0, 99), [0, 0, 0, 0]),
    "past_end": put("data/X", (6, 60), [1, 0, 0, 0]),
    "strand": swap_bases,
    "overlap": set_ranges(r1=(90, 190)),
    "mixed": lambda f: rows(f, [3, 1, 7, 0, 5, 2, 6, 4]),
    "within": within,
    "late": lambda f: rows(f, [1, 2, 3, 4, 6, 7]),
    "hole": lambda f: rows(f, [0, 2, 3, 5, 6, 7]),
    "short_strand": lambda f: rows(f, [0, 1, 2, 4, 5, 6, 7]),
    "no_minus": lambda f: rows(f, [0, 1, 2, 3, 4, 5, 6]),
    "cut_apart": cut_apart,
    "twice": lambda f: rows(f, [0, 1, 1, 2, 3, 4, 5, 6, 7]),
    "partial": lambda f: (rows(f, [1, 4, 6]), partial(f)),
    "partial_overlap": lambda f: (rows(f, [1, 4, 1]), partial(f)),
    "negative": put("evaluation/atac_coverage", (2, 49, 1), -5),
    "padding": put("evaluation/atac_coverage", (2, 50, 0), 0),
    "spliced": put("evaluation/atac_spliced_coverage", (7, 0, 0), -1),
    "blacklist": put("data/blacklist", 5, 2),
    "columns": lambda f: replace("evaluation/atac_spliced_coverage", f["evaluation/atac_spliced_coverage"][:, :, :1])(f),
    "positions": lambda f: replace("evaluation/atac_spliced_coverage", f["evaluation/atac_spliced_coverage"][:, :50])(f),
    "bam_files": replace("evaluation/atac_meta/bam_files", np.array([b"a.bam"], "S512")),
    "bam_name": replace("evaluation/atac_meta/bam_files", np.array([b"a.bam", b""], "S512")),
    "same_name": both(put("data/species", slice(6, 8), b"T"), put("data/seqids", slice(6, 8), b"chr1")),
    "blank": put("data/seqids", slice(6, 8), b"chr 2"),
    "flip_x": flip("data/X", (4, 0, 0), None),
    "flip_coverage": flip("evaluation/atac_coverage", (3, 0, 1), 0),
    "flip_two": flip("evaluation/atac_spliced_coverage", (0, 0, 0), 1),
}
PREDICTIONS = {
    "p_negative": put("prediction/predictions", (0, 0, 1), -1),
    "p_padding": put("prediction/predictions", (7, 60, 1), 7),
    "p_many": many,
    "p_names": replace("prediction/datasets", np.array([b"atac", b"atac"], "S25")),
    "p_columns": replace("prediction/datasets", np.array([b"atac"], "S25")),
    "p_no_names": delete("prediction/datasets"),
}
FLOATS = {
    "f_nan": put("prediction/predictions", (3, 12, 0), np.nan),
    "f_infinite": put("prediction/predictions", (3, 12, 0), np.inf),
    "f_negative": put("prediction/predictions", (3, 12, 0), -0.25),
    "f_zero": put("prediction/predictions", (3, 12, 0), -0.0),
}


def main(name):
    path = name + ".h5"
    kinds = [(GENOMES, genome), (PREDICTIONS, predictions), (FLOATS, lambda p: predictions(p, "f4"))]
    if name == "long_many":
        long_many(path)
    elif name in ("genome", "predictions"):
        globals()[name](path)
    elif name == "floats":
        predictions(path, "f4")
    elif name == "cut":
        genome(path)
        os.truncate(path, os.path.getsize(path) // 2)
    for table, base in kinds:
        if name in table:
            base(path)
            f = h5py.File(path, "r+")
            if getattr(table[name], "closes", False):
                table[name](f, path)
            else:
                table[name](f)
                f.close()


serve.run(main)
END
start_python make.py

# ---------------------------------------------------------------- sound files

for name in genome predictions floats partial mixed f_zero; do
    ask "$name" || fail "making $name"
    run_ok "$name is sound" h5chunk verify "$name.h5"
    is "$(cat "$stdout" "$stderr")" '' '  prints nothing'
done
run_ok 'several files' h5chunk verify bases.h5 genome.h5 predictions.h5
run h5chunk verify --stats stats.json genome.h5 predictions.h5
ok 'statistics are summed over files' "$PYTHON" -c 'import json
s = json.load(open("stats.json"))
assert s["chunks"] == 16 and s["bases"] == 620, s'
for compression in gzip fast lzf none; do
    run fasta2h5 -f --subsequence-length 100 --compression "$compression" -o x.h5 g.fa
    run_ok "bases by --compression $compression are sound" h5chunk verify x.h5
done

# ---------------------------------------------------------------- one fault each

while IFS='|' read -r name lines; do
    ask "$name" || fail "making $name"
    # @ separates lines.
    wanted=$(printf '%s' "$lines" | tr @ '\n' | sed "s/^/$name.h5: /")
    for threads in 1 3; do
        run h5chunk verify -@ "$threads" "$name.h5"
        is "$(cat "$stdout")" "$wanted" "$name is found, -@ $threads"
    done
    refused 1 "^h5chunk: error: $name\\.h5 is not sound \\(findings: $(printf '%s\n' "$wanted" | wc -l)\\)\$" '  status 1'
done <<'END'
base|data/X: row 1 (chr1:101-200, + strand), index 3: the four values are not a base
nan_base|data/X: row 1 (chr1:101-200, + strand), index 3: the four values are not a base
gap|data/X: row 0 (chr1:1-100, + strand), index 99: all values are 0 (padding), but data/start_ends has a base there
past_end|data/X: row 6 (chr2:1-60, + strand), index 60: a base past the end that data/start_ends gives
strand|data/X: row 4 (chr1:101-200, - strand): T at index 7, but the + strand (row 1) has G
overlap|data/start_ends: row 1 (chr1:91-190, + strand): overlaps row 0@data/start_ends: row 2 (chr1:201-250, + strand): bases 191 to 200 of this strand are missing before it
within|data/start_ends: row 1 (chr1:21-40, + strand): overlaps row 0@data/start_ends: row 2 (chr1:201-250, + strand): bases 101 to 200 of this strand are missing before it
late|data/start_ends: row 0 (chr1:101-200, + strand): bases 1 to 100 of this strand are missing before it@data/start_ends: row 3 (chr1:101-200, - strand): bases 1 to 100 of this strand are missing before it
hole|data/start_ends: row 1 (chr1:201-250, + strand): bases 101 to 200 of this strand are missing before it@data/start_ends: row 2 (chr1:201-250, - strand): bases 101 to 200 of this strand are missing before it
short_strand|data/start_ends: chr1, - strand: bases 201 to 250 are missing
no_minus|data/start_ends: chr2, - strand: bases 1 to 60 are missing
cut_apart|data/start_ends: row 2 (chr2:1-20, - strand): the + strand has no chunk of the same interval@data/start_ends: row 0 (chr2:1-60, + strand): the - strand has no chunk of the same interval@data/start_ends: row 1 (chr2:21-60, - strand): the + strand has no chunk of the same interval
twice|data/start_ends: row 2 (chr1:101-200, + strand): overlaps row 1
partial_overlap|data/start_ends: row 2 (chr1:101-200, + strand): overlaps row 0
negative|evaluation/atac_coverage: row 2 (chr1:201-250, + strand): -5 at index 49, column 1
padding|evaluation/atac_coverage: row 2 (chr1:201-250, + strand): 0 instead of -1 at index 50, column 0, past the end
spliced|evaluation/atac_spliced_coverage: row 7 (chr2:1-60, - strand): -1 at index 0, column 0
blacklist|data/blacklist: row 5 (chr1:1-100, - strand): 2 is neither 0 nor 1
columns|evaluation/atac_spliced_coverage: 1 columns, but evaluation/atac_coverage has 2
positions|evaluation/atac_spliced_coverage: rows do not hold numbers for 100 positions
bam_files|evaluation/atac_meta/bam_files: 1 names for 2 columns
bam_name|evaluation/atac_meta/bam_files: row 1: empty name
same_name|data/seqids: duplicate name chr1, also in T
blank|data/seqids: 'chr 2': white space in a name
p_negative|prediction/predictions: row 0 (chr1:1-100, + strand): -1 at index 0, column 1
p_padding|prediction/predictions: row 7 (chr2:1-60, - strand): 7 instead of -1 at index 60, column 1, past the end
p_names|prediction/datasets: row 1: duplicate name 'atac'
p_columns|prediction/datasets: 1 names for 2 columns
p_no_names|prediction/datasets: missing names of the prediction columns
f_nan|prediction/predictions: row 3 (chr1:201-250, - strand): nan at index 12, column 0
f_infinite|prediction/predictions: row 3 (chr1:201-250, - strand): inf at index 12, column 0
f_negative|prediction/predictions: row 3 (chr1:201-250, - strand): -0.25 at index 12, column 0
END

# The message depends on the decompressor; a flip may also change bases.
while IFS='|' read -r name set; do
    ask "$name" || fail "making $name"
    run h5chunk verify "$name.h5"
    stdout_like "^$name\\.h5: $set, [+-] strand\\).*: ." "$name is found"
    is "$(wc -l <"$stdout")" 1 '  and no other finding'
done <<'END'
flip_x|data/X: row 4 \(chr1:101-200
flip_coverage|evaluation/atac_coverage: row 3 \(chr1:201-250
flip_two|evaluation/atac_spliced_coverage: row 0 \(chr1:1-100
END

# ---------------------------------------------------------------- many findings

ask p_many
run h5chunk verify p_many.h5
is "$(sed 's/.*row \([0-9]\) .*/\1/' "$stdout" | tr '\n' ' ')" '0 5 1 4 2 3 6 7 ' 'findings are in the order of the pairs'
ask long_many
for threads in 1 3; do
    run h5chunk verify -@ "$threads" long_many.h5
    is "$(grep -c ': -7 at index 0' "$stdout") $(wc -l <"$stdout")" '40 42' "only the first of many findings are printed, -@ $threads"
    is "$(tail -n 2 "$stdout")" 'long_many.h5: evaluation/x_coverage: ... and 100 more chunks with invalid values
long_many.h5: prediction/predictions: ... and 100 more chunks with invalid values' '  the others are counted'
    refused 1 'long_many\.h5 is not sound \(findings: 240\)$' '  all count'
done
run h5chunk verify genome.h5 negative.h5 predictions.h5 p_names.h5
refused 1 '^h5chunk: error: 2 of 4 files are not sound \(findings: 2\)$' 'several files'
is "$(cut -d : -f 1 "$stdout" | tr '\n' ' ')" 'negative.h5 p_names.h5 ' '  each line begins with its file'

# ---------------------------------------------------------------- files that cannot be opened

ask cut
run_refused 1 '^h5chunk: error: cut\.h5: ' 'a truncated file' h5chunk verify cut.h5
stdout_is '' '  is a failure, not a finding'
run_refused 1 '^h5chunk: error: none\.h5: .*No such file' 'a missing file' h5chunk verify none.h5
run_refused 1 '^h5chunk: error: cut\.h5: ' 'other files are still checked' h5chunk verify cut.h5 negative.h5 none.h5 genome.h5
stdout_like '^negative\.h5: ' '  their findings are printed'
stderr_like '^h5chunk: warning: none\.h5: ' '  and other failures become warnings'
run_refused 1 'negative\.h5 is not sound|No space left' 'a full disk' sh -c 'h5chunk verify negative.h5 >/dev/full'
run_refused 2 "unknown option '-o'" '-o is not an option' h5chunk verify -o x genome.h5

done_testing
