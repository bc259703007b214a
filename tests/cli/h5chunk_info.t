#!/bin/sh
# h5chunk info: table and JSON for every kind of file.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

printf '>chr1 x\nACGTACGTACGTACGTACGTACGTA\n>chr2\nNNNNNACGTR\n' >g.fa
SOURCE_DATE_EPOCH=0 fasta2h5 -q --subsequence-length 10 --species Sp --compression libdeflate -o g.h5 g.fa || exit 99
"$PYTHON" - <<'END' || exit 99
import h5py
import numpy as np

with h5py.File("g.h5") as src, h5py.File("p.h5", "w") as f:
    for name in ("seqids", "start_ends"):
        f["data/" + name] = src["data/" + name][:]
    f.create_dataset("prediction/predictions", data=np.ones((8, 10, 2), ">i2"), chunks=(3, 5, 1), compression="gzip",
                     compression_opts=7, shuffle=True, fletcher32=True)
    f["prediction/datasets"] = np.array([b"atac", b"a\x1bb"], "S25")
with h5py.File("g.h5") as src, h5py.File("part.h5", "w") as f:
    src.copy("data", f)
    for name in ("X", "seqids", "species", "start_ends"):
        f["data/" + name].resize(1, 0)
    f["data/seq_names"] = np.array([b"chr1", b"chr2"], "S50")
    f["data/seq_lengths"] = np.array([25, 10])
    f["evaluation/x_coverage"] = np.zeros((1, 10, 1), "f4")
    f.attrs["partial"] = 1
with h5py.File("part.h5") as src, h5py.File("nameless.h5", "w") as f:
    src.copy("data", f)
    del f["data/seq_names"]
    f["data/seq_names"] = np.array([], "S50")
with h5py.File("many.h5", "w") as f:
    f["data/seqids"] = np.array([b"c%d" % i for i in range(30)])
    f["data/start_ends"] = np.array([(0, i + 1) for i in range(30)], "i4")
    f["evaluation/x_coverage"] = np.zeros((30, 30, 1), "i4")
END

run_ok 'a genome file' h5chunk info g.h5
stderr_is '' '  prints no messages'
stdout_like '^  dataset          type     shape       chunk       filters                 bytes    a base$' '  a header'
stdout_like '^  data/X           float16  8 x 10 x 4  1 x 10 x 4  shuffle, gzip 4  +[0-9]+ +[0-9.]+$' '  the bases'
stdout_like '^  data/species     S25      8           8           gzip 4           +[0-9]+ +[0-9.]+$' '  a column'
stdout_like '^g\.h5: genome file$' '  the kind'
stdout_like '^  chunks     8 of 10 bases, in 4 pairs$' '  the chunks'
stdout_like '^  bases      one-hot$' '  the layout'
stdout_like '^  sequences  2, together 35 bases, the longest 25, the shortest 10$' '  the sequences'
stdout_like "^  size       $(stat -c %s g.h5) bytes, [0-9.]+ a base\$" '  the size'
stdout_like '^            25         6  chr1 \(Sp\)$' '  the first sequence'
stdout_like '^            10         2  chr2 \(Sp\)$' '  the last sequence'
stdout_like '^  attribute  input_path: g\.fa$' '  attributes'
run_ok 'a predictions file and a partial file' h5chunk info p.h5 part.h5
stdout_like '^p\.h5: predictions file$' '  kind of the first'
stdout_like '^  prediction/predictions  int16 big-endian  8 x 10 x 2  3 x 5 x 1  shuffle, gzip 7, fletcher32 ' '  its storage'
stdout_like '^  prediction/datasets: atac, a\?b$' '  names, without control characters'
stdout_like '^part\.h5: genome file$' '  kind of the second'
stdout_like '^  partial    10 of these bases are here$' '  a partial file'
stdout_like '^            10         0  chr2 \(Sp\)$' '  a sequence without chunks'
printf 'text\n' >text
run_refused 1 'none\.h5: No such file' 'files that cannot be read' h5chunk info none.h5 p.h5 text part.h5
stderr_like '^h5chunk: warning: text: not an HDF5 file$' '  are all reported'
is "$(grep -c '^p\.h5: predictions file$\|^part\.h5: genome file$' "$stdout")" 2 '  and the others are shown'
run h5chunk info --json none.h5 p.h5
status_is 1 '  as JSON'
ok '  too' "$PYTHON" -c 'import json, sys; assert [f["path"] for f in json.load(open(sys.argv[1]))["files"]] == ["p.h5"]' "$stdout"
run_refused 1 'nameless\.h5: data/seq_names is empty$' 'a partial file without names' h5chunk info nameless.h5
run h5chunk info many.h5
stdout_like '^many\.h5: file of chunks$' 'a file of another kind'
stdout_like '^  \.\.\. and 10 more \(--json lists them all\)$' 'only some of many sequences are listed'

h5chunk cat -o g.cov g.h5
run h5chunk info g.cov
stdout_like '^g\.cov: genome file, as a stream$' 'a chunk stream in a file'
stdout_like '^            25         6  chr1 \(Sp\)$' '  the sequences'

h5chunk cat -o part.cov part.h5
run h5chunk info part.cov
stdout_like '^  chunks     1 of 10 bases, in 1 pair$' 'a stream of a partial file'
stdout_like '^  partial    10 of these bases are here$' '  counts what is there'
head -c 150 part.cov >cut.cov
run_refused 1 '^h5chunk: error: cut\.cov: truncated' '  truncated' h5chunk info cut.cov
run h5chunk info --json g.cov
ok '  as JSON' "$PYTHON" -c 'import json, sys
s, = json.load(open(sys.argv[1]))["files"]
assert s["format"] == "stream" and s["chunks"] == 8 and s["bases"] == 35, s
assert not any("stored_bytes" in d for d in s["data_sets"]), s' "$stdout"

run_ok 'JSON' h5chunk info --json --stats stats.json g.h5 p.h5 part.h5 many.h5
cp "$stdout" info.json
cat >check.py <<'END'
import json
import os

import h5py

files = json.load(open("info.json"))["files"]
assert [f["path"] for f in files] == ["g.h5", "p.h5", "part.h5", "many.h5"]
assert [f["kind"] for f in files] == ["genome", "predictions", "genome", "chunks"]
assert [f["layout"] for f in files] == ["onehot", None, "onehot", None]
assert [f["chunks"] for f in files] == [8, 8, 1, 30] and [f["pairs"] for f in files] == [4, 4, 1, 30]
assert [f["chunk_length"] for f in files] == [10, 10, 10, 30]
assert [f["partial"] for f in files] == [False, False, True, False]
assert [f["bases"] for f in files] == [35, 35, 10, 465]
for f in files:
    size = os.path.getsize(f["path"])
    assert f["file_bytes"] == size and abs(f["bytes_per_base"] - size / f["bases"]) < 1e-9
    with h5py.File(f["path"]) as h5:
        found = []
        h5.visititems(lambda name, d: found.append(name) if isinstance(d, h5py.Dataset) else None)
        assert sorted(d["name"] for d in f["data_sets"]) == sorted(found), found
        for d in f["data_sets"]:
            real = h5[d["name"]]
            assert d["shape"] == list(real.shape), d
            assert d["chunk"] == list(real.chunks or ()), d
            assert d["stored_bytes"] == real.id.get_storage_size(), d
            assert ("gzip %s" % real.compression_opts in d["filters"]) == (real.compression == "gzip"), d
            assert ("shuffle" in d["filters"]) == real.shuffle and ("fletcher32" in d["filters"]) == real.fletcher32, d
assert files[0]["sequences"] == [{"name": "chr1", "species": "Sp", "length": 25, "chunks": 6},
                                 {"name": "chr2", "species": "Sp", "length": 10, "chunks": 2}]
assert files[2]["sequences"][1] == {"name": "chr2", "species": "Sp", "length": 10, "chunks": 0}
assert len(files[3]["sequences"]) == 30
assert files[1]["names"] == {"prediction/datasets": ["atac", "a\x1bb"]}
assert files[0]["attributes"]["input_path"] == "g.fa"
assert [f["format"] for f in files] == ["hdf5"] * 4
stats = json.load(open("stats.json"))
assert stats["chunks"] == 47 and stats["bases"] == 545, stats
END
ok '  equals what h5py reads' "$PYTHON" check.py

run h5chunk info --stats sums_mqc.json g.h5 p.h5
like "$(cat sums_mqc.json)" '"sequences": 4,' 'sums for MultiQC'

run_refused 1 '^h5chunk: error: none\.h5: .*No such file' 'missing files among others' h5chunk info none.h5 g.h5 none.h5 g.h5
is "$(grep -c '^$' "$stdout") $(sed -n '1p;$p' "$stdout" | grep -c .)" '1 2' '  empty lines are between files only'
head -c 3000 g.h5 >cut.h5
run_refused 1 '^h5chunk: error: cut\.h5: ' 'a truncated file' h5chunk info --json g.h5 cut.h5
ok '  the output is still valid JSON' "$PYTHON" -c 'import json, sys
assert len(json.load(open(sys.argv[1]))["files"]) == 1' "$stdout"
run_refused 1 'standard output: No space left on device$' 'a full disk' sh -c 'h5chunk info g.h5 >/dev/full'

# A format of a later HDF5: the layout of a dataset has version 5.
"$PYTHON" - <<'END'
import re, h5py
with h5py.File("later.h5", "w") as f:
    f["data/seqids"] = [b"c"]
    f["data/start_ends"] = [[0, 4]]
    f.create_dataset("data/X", (1, 4, 4), "f2", chunks=(1, 4, 4))
data = bytearray(open("later.h5", "rb").read())
for at in re.finditer(rb"\x08\x00..[\x00-\xff]\x00\x00\x00\x03[\x01\x02]", data, re.S):
    data[at.start() + 8] = 5
open("later.h5", "wb").write(data)
END
for command in info verify; do
    run h5chunk $command later.h5
    refused 1 "^h5chunk: error: later\\.h5: data/[a-zA-Z_]+: written in a format that this HDF5 \\(1\\.[0-9.]+\\) cannot read, .* or damaged \\(libhdf5: .*version number.*\\); write it with libver='v110', or convert it with h5repack --high=2\$" \
        "$command: a format of a later HDF5 is named"
done
done_testing
