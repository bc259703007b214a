#!/bin/sh
# bam2h5 - mean and median of columns, and replicates that disagree.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

# Tracks over 160 kb: `one` and `two` agree, `noise` does not, and `organelle` agrees with `one` only on contig c.
cat >make.py <<'END'
import random

random.seed(8)
genome = {"a": 90500, "b": 21000, "c": 50000, "d": 77}
with open("g.fa", "w") as f:
    for name, n in genome.items():
        print(">" + name, "".join(random.choice("ACGT") for _ in range(n)), sep="\n", file=f)
tracks = {name: open(name + ".bedGraph", "w") for name in ("one", "two", "noise", "cp1", "cp2")}
for name, n in genome.items():
    for beg in range(0, n, 250):
        x = random.randrange(30)
        own = {"one": x, "two": 2 * x + random.randrange(9), "noise": random.randrange(40), "cp1": x, "cp2": random.randrange(30)}
        if name == "c":
            own["cp1"] = own["cp2"] = 5000 + 40 * random.randrange(100)
        for track, y in own.items():
            print(name, beg, min(beg + 250, n), y, sep="\t", file=tracks[track])
with open("r.sam", "w") as f:
    print("@HD\tVN:1.6\tSO:coordinate", *(f"@SQ\tSN:{k}\tLN:{n}" for k, n in genome.items()), sep="\n", file=f)
    for at in sorted(random.randrange(1, 90000) for _ in range(3000)):
        print("r", random.choice((0, 16)), "a", at, 60, "150M", "*", 0, 0, "*", "*", sep="\t", file=f)
END
"$PYTHON" make.py || exit 99
fasta2h5 -q --subsequence-length 3500 -o g.h5 g.fa || exit 99

# Prints mean, median and correlation of each column of x, computed in another way. Arguments: file, what --stats has.
cat >expect.py <<'END'
import json
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1]) as f:
    set_ = f["evaluation/x_coverage"]
    x, places = set_[:], list(zip(f["data/seqids"][:], f["data/start_ends"][:].tolist()))
    notes = [[float(v) for v in set_.attrs[k].split("\n")] for k in ("mean_coverage", "median_coverage")]
    names = [v.decode() for v in f["evaluation/x_meta/bam_files"][:]]
columns = json.load(open(sys.argv[2]))["columns"]
assert [c["file"] for c in columns] == names, columns
n = x.shape[2]
bins = {}
for row, (name, (beg, end)) in zip(x, places):
    row = row[:abs(end - beg)][::1 if beg < end else -1]
    n_bins = -(-len(row) // 1000)
    for i in range(n_bins):
        a, b = len(row) * i // n_bins, len(row) * (i + 1) // n_bins
        bins.setdefault((name, min(beg, end) + a, b - a), []).append(row[a:b].mean(axis=0))
strands = {len(v) for v in bins.values()}
assert strands == {2}, strands
means = np.array([np.mean(v, axis=0) for v in bins.values()])
weights = [k[2] for k in bins]
for b in range(n):
    values = np.sort(x[:, :, b][x[:, :, b] >= 0])
    want = [values.mean(), values[(len(values) + 1) // 2 - 1]]
    if n > 1:
        others = (means.sum(axis=1) - means[:, b]) / (n - 1)
        cov = np.cov(means[:, b], others, aweights=weights)
        want.append(cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1]))
    c = columns[b]
    assert np.allclose([c["mean_coverage"], c["median_coverage"]] + ([c["correlation"]] if n > 1 else []), want, 1e-6), (c, want)
    assert n > 1 or c["correlation"] is None, c
    assert np.allclose([v[b] for v in notes], want[:2], 1e-5), (notes, want)
    print("%.3f" % want[-1])
END

run_ok 'one file' bam2h5 -q -p x -o o.h5 --stats s.json g.h5 one.bedGraph
stderr_is '' '  has no replicates to compare'
ok '  mean and median' "$PYTHON" expect.py o.h5 s.json
run bam2h5 -q -f -p x --append --stats s.json o.h5 two.bedGraph
stderr_is '' 'a replicate that agrees'
ok '  means, medians and correlations' "$PYTHON" expect.py o.h5 s.json
run h5chunk info o.h5
stdout_like '^  evaluation/x_coverage mean_coverage: [0-9.]+$' '  h5chunk info shows them'
is "$(grep -c 'x_coverage median_coverage: [0-9]*$' "$stdout")" 2 '  of each column'
run_ok 'a replicate that does not' bam2h5 -q -f -p x --append -o three.h5 --stats s.json o.h5 noise.bedGraph
"$PYTHON" expect.py three.h5 s.json >r || fail '  means, medians and correlations'
stderr_like "^bam2h5: warning: noise\.bedGraph: Pearson's r of $(sed -n 3p r) with the mean of the other columns of x, in bins of 1000 bases; " \
    '  causes a warning'
is "$(grep -c warning "$stderr")" "$(awk '$1 < 0.8' r | wc -l)" '  like each other column below the limit'
for threads in 1 5; do
    run bam2h5 -q -@ $threads -f -p x --strand own -o t.h5 --stats s$threads.json g.h5 r.sam two.bedGraph
    ok "strands that differ, $threads threads" "$PYTHON" expect.py t.h5 s$threads.json
    sed -n '/"columns"/,$p' s$threads.json >c$threads
done
is "$(grep -c "warning: .*Pearson's r of [-0-9.]* with the other column of x" "$stderr")" 2 '  a warning for each of two'
is "$(diff c1 c5)" "" "  the same results"
run bam2h5 -q -f -p x -o t.h5 --stats s.json g.h5 cp1.bedGraph cp2.bedGraph
is "$(grep -c "warning: cp[12].bedGraph: Pearson's r of -*0\.[01]" "$stderr")" 2 'an organelle does not hide that replicates differ'
h5chunk subset -q -r b,d -o small.h5 g.h5
run bam2h5 -q -f -p x --stats s.json small.h5 one.bedGraph noise.bedGraph
is "$(grep -c '"correlation": null' s.json)" 2 'a few bins are not compared'

printf '>c\nACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT\n' >g.fa
{
    printf '@SQ\tSN:c\tLN:40\n'
    for at in 1 5 9; do
        printf 'r%d\t0\tc\t%d\t60\t8M\t*\t0\t0\tACGTACGT\t*\n' $at $at
    done
    printf 'u\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\t*\n'
} >r.sam
head -n 3 r.sam | sed 's/c\t\([15]\)\t/c\t1\1\t/' >s.sam # reads of other places
printf 'c\t0\t10\t3\n' >t.bg
run fasta2h5 -q -f --subsequence-length 40 -o g.h5 g.fa
run bam2h5 -q -p x g.h5 r.sam
run bam2h5 -q -p x --append g.h5 s.sam t.bg
is "$("$PYTHON" -c 'import h5py
print(h5py.File("g.h5")["evaluation/x_coverage"].attrs["counted_reads"].split())')" "['3', '2', '0']" \
    'the reads of each column are noted, also when others are added'
done_testing
