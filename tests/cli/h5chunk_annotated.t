#!/bin/sh
# h5chunk and covtrain with Helixer's annotation: truth values, texts, scores and other annotations stay with their chunks.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/h5_equal.py"

"$PYTHON" "$SRC/tests/oracle/training_data.py" g.h5 1 && "$PYTHON" - <<'END' || exit 99
import h5py
import numpy as np

rng = np.random.default_rng(5)
with h5py.File("g.h5", "r+") as f:
    n, L = f["data/X"].shape[:2]

    def add(name, *shape, dtype="i1", top=2, fill=None, compression="lzf"):
        f.create_dataset(name, data=rng.integers(0, top, (n,) + shape).astype(dtype), maxshape=(None,) + shape,
                         chunks=(1,) + shape, compression=compression, shuffle=bool(shape), fillvalue=fill)

    for group in "data", "alternative/helixer_post", "alternative/other":
        for name, columns in ("y", 4), ("phases", 4), ("transitions", 6):
            add(f"{group}/{name}", L, columns)
        add(f"{group}/gene_lengths", L, dtype="u4", top=1 << 32)
        add(f"{group}/sample_weights", L)
        for name in "err_samples", "fully_intergenic_samples", "is_annotated":
            add(f"{group}/{name}", dtype=bool, fill=name == "is_annotated")
    add("alternative/other/X", L, 4, dtype="f2")
    f["alternative/other/seqids"] = f["data/seqids"][:]
    add("data/mask", L, dtype=bool)
    add("data/masks", L, 3, dtype=bool, compression="gzip")
    f["data/labels"] = np.array([[b"a%d" % i, b"", b"zz"] for i in range(n)], "S5")
    f["data/blacklist"] = np.arange(n) % 4 < 2
    f["data/y"].attrs["columns"] = "intergenic, UTR, CDS, intron"
    f["data"].attrs["made_by"] = "Helixer"
    f["alternative/helixer_post"].attrs["model"] = "land_plant"
    f["evaluation/h3k4me3_meta/bam_files"] = np.array([b"one.bam", b"two.bam"])
    f["evaluation/h3k4me3_meta"].attrs["reads"] = "paired\nends"
    add("evaluation/atacseq_mask", L, dtype=bool)
    for name, *shape in ("by_bp", L), ("norm_cov_by_bp", L, 2), ("one",), ("four", 4):
        f.create_dataset(f"scores/{name}", data=rng.random([n] + shape), compression="lzf", fillvalue=-1)
    f["extra/flags"] = np.array([[True, False, True]])
END
same() { # NAME [ARG]... as h5_equal.py
    name=$1
    shift
    ok "$name" ask "$@"
}
does() { # NAME ARG...: h5chunk
    name=$1
    shift
    run_ok "$name" h5chunk "$@"
}

does 'verify' verify g.h5
stdout_is '' '  finds nothing'
does 'info' info g.h5
stdout_like '^  data/is_annotated +bool +24 +1 +lzf ' '  shows truth values'
stdout_like '^  alternative/helixer_post/y +int8 +24 x 240 x 4 ' '  and another annotation'
stdout_like '^  alternative/helixer_post model: land_plant$' '  and attributes of groups'
does '  as JSON' info --json g.h5
ok '    too' "$PYTHON" -c 'import json, sys
groups = {group["name"]: group["attributes"] for group in json.load(sys.stdin)["files"][0]["groups"]}
assert groups == {"alternative/helixer_post": {"model": "land_plant"}, "data": {"made_by": "Helixer"},
                  "evaluation/h3k4me3_meta": {"reads": "paired\nends"}}, groups' <"$stdout"
for options in '--compression none' '--layout packed --compression zstd' '--chunk-rows 5' '--compression fast'; do
    # shellcheck disable=SC2086 # a list of words
    does "repack $options" repack -f $options -o a.h5 g.h5
    does '  back' repack -f --layout onehot --compression gzip -o b.h5 a.h5
    same '  keeps values and types' g.h5 b.h5
done
does 'repack --dtype' repack -f --dtype int32 -o a.h5 g.h5
same '  changes coverage only' --dtype int32 g.h5 a.h5
ask rows g.h5 's == "s1" and beg < 500' rows
does 'subset' subset -f -r s1:1-500 -o a.h5 g.h5
same '  has the rows of the chunks' g.h5 a.h5 rows
does 'split into shards' split --shards 3 -o part g.h5
does '  merge' merge -f -o a.h5 part.3.h5 part.1.h5 part.2.h5
same '  gives the same file' g.h5 a.h5
does 'split for training' split -q --val-fraction 0.3 --seed 1 --by chunk -o d/ g.h5
ok '  has all rows once' ask halves g.h5 d
for part in train val; do
    same "  $part has the rows of its chunks" g.h5 d/$part/g.h5 $part.rows
done
h5chunk cat g.h5 >stream
does 'cat and save' save -f -o a.h5 - <stream
same '  give the same file' g.h5 a.h5
does 'rename' rename --datasets atacseq=x -o a.h5 -f g.h5
does '  back' rename --datasets x=atacseq a.h5
same '  gives the same file' g.h5 a.h5
echo s1 >names
does 'blacklist' blacklist -f --names names -o a.h5 g.h5
does 'drop' drop --datasets h3k4me3 -f -o b.h5 g.h5
"$PYTHON" - <<'END' || exit 99
import h5py
import shutil
shutil.copy("g.h5", "c.h5")
with h5py.File("a.h5", "r+") as a, h5py.File("b.h5", "r+") as b, h5py.File("c.h5", "r+") as c:
    assert a["data/blacklist"].dtype == "i4" and a["data/blacklist"][:].sum() == (a["data/seqids"][:] == b"s0").sum()
    for f in a, b, c:
        del f["data/blacklist"]
    for f in a, c:
        del f["evaluation/h3k4me3_coverage"], f["evaluation/h3k4me3_meta"]
END
same 'blacklist keeps the other datasets' c.h5 a.h5
same 'drop keeps the other datasets' c.h5 b.h5

train() { # ARG...
    run covtrain -q -i d --filter-size 8 --hidden-size 8 -b 4 -e 1 --seed 1 -o net -f "$@"
}
train --blacklist
status_is 0 'covtrain trains on its coverage'
stderr_is '' '  without warnings'
"$PYTHON" -c 'import h5py
with h5py.File("d/val/g.h5", "r+") as f:
    del f["evaluation"]'
train
refused 1 'd/val/g\.h5: no measured coverage \(evaluation/<name>_coverage\); bam2h5 adds it$' 'covtrain says if there is no coverage'

"$PYTHON" -c 'import h5py, numpy as np
with h5py.File("a.h5", "r+") as f:
    f["alternative/helixer_post/short"] = np.zeros((5, 2), bool)
with h5py.File("b.h5", "r+") as f:
    f.create_dataset("data/kind", (24,), h5py.enum_dtype({"no": 0, "yes": 1}, "i1"))'
run_refused 1 'a\.h5: alternative/helixer_post/short: 5 rows, but there are 24 chunks$' 'another number of rows' h5chunk info a.h5
run_refused 1 'b\.h5: data/kind: elements are neither integers, floats, booleans nor fixed-length strings$' 'other enumerations' \
    h5chunk info b.h5
done_testing
