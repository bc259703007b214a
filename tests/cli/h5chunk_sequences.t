#!/bin/sh
# Statistics of sequences (h5chunk info --sequences), and chunks with the same bases in training and validation data
# (h5chunk split).
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

# Chunks of 50 bases. `copy` has three chunks of `first`: as it is, reverse-complemented, and the last one, which is
# shorter; `twice` repeats its own first chunk; `gaps` and `gaps2` have chunks of N.
cat >make.py <<'END'
import random

random.seed(6)
bases = lambda n: "".join(random.choice("ACGT") for _ in range(n))
other = lambda s: s[::-1].translate(str.maketrans("ACGTRY", "TGCAYR"))
first = bases(220) + "RYNN" + bases(6)
twice = bases(50)
genome = {
    "first": first,
    "copy": bases(50) + first[50:100] + other(first[100:150]) + bases(50) + first[200:230],
    "single": bases(75),
    "twice": twice + bases(50) + other(twice),
    "gaps": "N" * 100 + bases(3),
    "gaps2": "N" * 50,
    "short": bases(7),
}
for path, width in ("g.fa", 40), ("lines.fa", 1000):
    with open(path, "w") as f:
        for name, s in genome.items():
            s = s[:10] + s[10:30].lower() + s[30:]
            print(">" + name, *(s[i:i + width] for i in range(0, len(s), width)), sep="\n", file=f)
END
"$PYTHON" make.py || exit 99
fasta2h5 -q --subsequence-length 50 -o g.h5 g.fa || exit 99
fasta2h5 -q --subsequence-length 50 --layout packed --compression zstd -o packed.h5 g.fa || exit 99

# The same statistics, computed in another way.
cat >expect.py <<'END'
import json
import math
import sys


def read(path):
    genome = {}
    for line in open(path):
        if line[0] == ">":
            name = line[1:].split()[0]
            genome[name] = ""
        else:
            genome[name] += line.strip()
    return genome


def statistics(genome, L):
    lengths = sorted(map(len, genome.values()))
    total = sum(lengths)
    text = "".join(genome.values())

    def reach(share):
        longest = lengths[::-1]
        return next((n, i + 1) for i, n in enumerate(longest) if sum(longest[:i + 1]) >= share * total)

    quantile = lambda q: lengths[max(math.ceil(q * len(lengths)), 1) - 1]
    count = lambda letters: sum(text.upper().count(c) for c in letters)
    chunks = [s.upper()[i:i + L] for s in genome.values() for i in range(0, len(s), L)]
    other = lambda s: s[::-1].translate(str.maketrans("ACGTRY", "TGCAYR"))
    filled = [c for c in chunks if c.strip("N")]
    classes = [d * 10 ** k for k in range(13) for d in (1, 2, 5)]
    return {
        "sequences": len(lengths), "bases": total, "shortest": lengths[0], "lower_quartile": quantile(0.25),
        "median": quantile(0.5), "mean": total / len(lengths), "upper_quartile": quantile(0.75), "longest": lengths[-1],
        "n50": reach(0.5)[0], "l50": reach(0.5)[1], "n90": reach(0.9)[0], "gc": count("GC") / count("ACGT"),
        "n": count("N") / total, "lower_case": sum(c.islower() for c in text) / total, "chunk_length": L,
        "pairs": len(chunks), "padding": 1 - total / (len(chunks) * L), "only_n": len(chunks) - len(filled),
        "copies": len(filled) - len({min(c, other(c)) for c in filled}),
        "lengths": [{"from": a, "to": b, "sequences": len(x), "bases": sum(x)} for a, b in zip(classes, classes[1:])
                    if (x := [n for n in lengths if a <= n < b])],
    }


def close(a, b):
    return a is not None and abs(a - b) <= 1e-8 * abs(b) if isinstance(b, float) else a == b


fasta, L, *masked = sys.argv[2:]
want = statistics(read(fasta), int(L))
if not masked:
    want["lower_case"] = None
for got in json.load(open(sys.argv[1]))["files"]:
    got.pop("path")
    assert got.keys() == want.keys(), got.keys() ^ want.keys()
    assert all(close(got[k], want[k]) for k in want), {k: (got[k], want[k]) for k in want if not close(got[k], want[k])}
END

# ---------------------------------------------------------------- info --sequences

run_ok 'sequences of genome files' h5chunk info --sequences --json g.h5 packed.h5
stderr_is '' '  no messages'
ok '  the statistics' "$PYTHON" expect.py "$stdout" g.fa 50
gzip -k g.fa
run_ok 'sequences of a FASTA' h5chunk info --sequences --json --subsequence-length 50 g.fa g.fa.gz
ok '  the statistics, with lower case' "$PYTHON" expect.py "$stdout" g.fa 50 masked
h5chunk info --sequences --json --subsequence-length 50 - <g.fa >piped.json
ok '  from a pipe' "$PYTHON" expect.py piped.json g.fa 50 masked
run h5chunk info --sequences --json lines.fa
ok '  in long lines, with the usual chunks' "$PYTHON" expect.py "$stdout" g.fa 21384 masked
run h5chunk info --sequences --json --subsequence-length 1 g.fa
ok '  with chunks of one base' "$PYTHON" expect.py "$stdout" g.fa 1 masked

run_refused 1 '^h5chunk: error: none\.h5: ' 'a missing file' h5chunk info --sequences g.h5 none.h5 g.fa
is "$(cut -f 1-3 "$stdout")" "$(printf 'file\tsequences\tbases\ng.h5\t7\t845\ng.fa\t7\t845')" '  and the others, as a table'
is "$(awk -F '\t' '{ print NF ":" $15 }' "$stdout" | tr '\n' ' ')" '20:lower_case 20:NA 20:0.142011834 ' '  whose rows are complete'
h5chunk subset -q -r single,first:1-60 -o part.h5 g.h5
run h5chunk info --sequences part.h5
is "$(sed 1d "$stdout" | cut -f 2-4,9)" "$(printf '2\t175\t75\t230')" 'a partial file: its bases, and the lengths of their sequences'
printf '>a\nACGT*C\n' >star.fa
run_ok 'a letter that is not a base' h5chunk info --sequences star.fa
stderr_like 'star\.fa: read 1 invalid letters as N, the first at line 2, column 5$' '  counts as N'
is "$(sed 1d "$stdout" | cut -f 14)" 0.166666667 '  in the table, too'
printf '@HD\tVN:1.6\n' >x.sam
run_refused 1 '^h5chunk: error: x\.sam: not a FASTA file' 'another kind of file' h5chunk info --sequences x.sam
run_refused 2 '[-]-subsequence-length needs --sequences' 'chunks without --sequences' h5chunk info --subsequence-length 5 g.fa
run_refused 2 '[-]-plot draws one file, but 2 are given' 'a picture of two files' h5chunk info --sequences --plot x.svg g.h5 g.fa
run_refused 2 'must end in \.png or \.svg' 'a picture of another kind' h5chunk info --sequences --plot x.pdf g.h5
run h5chunk info --sequences --stats weed.h5chunk_mqc.json g.h5
ok 'figures for MultiQC' "$PYTHON" -c 'import json
j = json.load(open("weed.h5chunk_mqc.json"))
assert j["section_name"] == "h5chunk info --sequences", j["section_name"]
row = j["data"]["weed"]
assert row["sequences"] == 7 and row["n50"] == 230 and abs(row["copies"] - 100 * 4 / 20) < 0.01, row'
if command -v gnuplot >/dev/null; then
    run_ok 'a picture' h5chunk info --sequences --plot x.svg g.h5
    is "$(grep -Eo '>(5|10|20|50|100|200|500|sequences|their bases|g: lengths of 7 sequences)<' x.svg | sort -u | tr -d '\n')" \
        '>100<>10<>200<>20<>50<>5<>g: lengths of 7 sequences<>sequences<>their bases<' '  has a bar for each class'
    run_refused 1 'x\.svg: already exists' '  is not replaced' h5chunk info --sequences --plot x.svg g.h5
else
    pass 'a picture # SKIP no gnuplot'
fi
rm -f x.svg

# ---------------------------------------------------------------- split

# Prints the pairs of chunks for validation: "NAME:INDEX ...".
cat >sides.py <<'END'
import h5py

sides = {}
for side in "train", "val":
    with h5py.File(f"d/{side}/g.h5") as f:
        for name, (beg, end) in zip(f["data/seqids"][:], f["data/start_ends"][:]):
            sides.setdefault(f"{name.decode()}:{min(beg, end) // 50}", []).append(side)
assert all(len(v) == 2 and v[0] == v[1] for v in sides.values()), sides
print(" ".join(sorted(k for k, v in sides.items() if v[0] == "val")))
END
printf 'copy\ngaps2\ntwice\n' >names
run_ok 'validation without copies of training data' h5chunk split --val-names names --stats s.json -o d/ g.h5
is "$("$PYTHON" sides.py)" 'copy:0 copy:3 gaps2:0 twice:0 twice:1 twice:2' '  all copies are in training data'
stderr_like '^h5chunk: 6 chunks moved from validation to training, where the same bases are$' '  they are counted'
stderr_like '^h5chunk: 28 chunks for training, 12 for validation$' '  like the others'
is "$(grep copies_moved s.json)" '  "copies_moved": 6' '  in the statistics, too'
h5chunk split -q -f --val-fraction 0.5 --seed 3 --by chunk -o d/ packed.h5
h5chunk split -q -f --val-fraction 0.5 --seed 3 --by chunk -o d/ g.h5
for file in g packed; do
    ok "$file: pairs are drawn without copies" "$PYTHON" -c '
import sys

import h5py

def read(side):
    with h5py.File("d/" + side + "/" + sys.argv[1]) as f:
        x = f["data/X" if "X" in f["data"] else "data/X_packed"][:]
        return {row.tobytes() for row in x if (row.max() == 1 if row.ndim > 1 else row[0] != 255)}

train, val = read("train"), read("val")
assert len(train) > 4 and len(val) > 4 and not train & val' $file.h5
done
printf '>x\nAAACC\nGGGTTACTAC\n>y\nGTAGTAACCCGGTTT\n' | fasta2h5 -q --subsequence-length 15 --species x -o same.h5 -
echo y >names
run_refused 1 '^h5chunk: error: same\.h5: no chunks left for validation: all of them have the bases of chunks for training$' \
    'only copies' h5chunk split --val-names names -o e/ same.h5
is "$(find . -name e)" '' '  leaves no directory'
done_testing
