#!/bin/sh
# bam2h5 - coverage from bigWig and bedGraph files.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/coverage_check.py"

cat >make.py <<'END'
"""make.py SEED FORM: a random track; make.py bigwig OUT.bw TRACK.bg FORM: the same as bigWig."""
import random, sys

LENGTHS = {"a": 5000, "b": 700, "c": 3}


def track(seed, integers):
    r = random.Random(seed)
    for name in ("b", "a"):
        at = r.randrange(5)
        while at < LENGTHS[name]:
            end = min(at + 1 + r.randrange(r.choice((3, 60, 2000))), LENGTHS[name])
            yield name, at, end, r.randrange(50) if integers else r.choice((0.5, 1.5, 2.5, 7.25, 9, 1e-3))
            at = end + r.choice((0, 0, 3, 500))


def bigwig(path, source, form):
    import pyBigWig
    bw = pyBigWig.open(path, "w")
    bw.addHeader([(name, LENGTHS[name]) for name in ("b", "a", "c")])
    rows = [line.split() for line in open(source)]
    for name in ("b", "a"):
        mine = [(int(b), int(e), float(v)) for n, b, e, v in rows if n == name]
        if form == "bedgraph":
            bw.addEntries([name] * len(mine), [b for b, _, _ in mine], ends=[e for _, e, _ in mine],
                          values=[v for _, _, v in mine])
        else: # base by base
            bases = [(p, v) for b, e, v in mine for p in range(b, e)]
            if form == "variable":
                bw.addEntries(name, [p for p, _ in bases], values=[v for _, v in bases], span=1)
            else:
                dense = [0.0] * (LENGTHS[name])
                for p, v in bases:
                    dense[p] = v
                bw.addEntries(name, 0, values=dense, span=1, step=1)
    bw.close()


if sys.argv[1] == "bigwig":
    bigwig(*sys.argv[2:])
else:
    for item in track(int(sys.argv[1]), sys.argv[2] == "integers"):
        print(*item, sep="\t")
END
make() {
    "$PYTHON" make.py "$@"
}

ask genome g.fa || exit 99
fasta2h5 -q --subsequence-length 1000 -o g.h5 g.fa
make 1 integers >t.bg

# ---- all forms of bedGraph
gzip -k t.bg
{ printf 'track type=bedGraph name="x y"\n#c\n\n' && tr '\t' ' ' <t.bg; } >spaces.txt
for file in t.bg t.bg.gz spaces.txt; do
    run_ok "$file is taken" bam2h5 -q -f -p x -o o.h5 g.h5 $file
    stderr_like 'warning: .*: 1 of the 3 sequences of g.h5 are missing and get 0: c$' 'a warning names the missing sequence'
    ok "$file: its values" ask o.h5 x 0 t.bg
done
run bam2h5 -f -p x -o o.h5 g.h5 t.bg --stats s.json
stderr_like "^bam2h5: t.bg: $(grep -c '' t.bg) intervals, 0 of them on contigs that are not in the genome$" \
    'intervals are reported'
ok '--stats and the file report what was read' "$PYTHON" -c '
import h5py, json
s = json.load(open("s.json"))
n = sum(1 for _ in open("t.bg"))
assert s["files"] == [{"path": "t.bg", "intervals": n, "rounded": 0, "not_in_genome": 0}], s["files"]
f = h5py.File("o.h5")
assert f["evaluation/x_coverage"].attrs["settings"] == "count=track strand=both file=t.bg"
x, ids = f["evaluation/x_coverage"][..., 0], f["data/seqids"][:]
for c in s["contigs"]:
    rows = x[ids == c["name"].encode()]
    assert abs(rows[rows >= 0].mean() - c["mean_coverage"][0]) < 1e-9
'
run_ok 'h5chunk verify passes' h5chunk verify o.h5

# ---- there and back
run cov2bigwig -q --experimental -o back.bw o.h5
run cov2bigwig -q --experimental -o back.bg o.h5
for file in back.bw back.bg; do
    for threads in 1 3; do
        run_ok "coverage to $file and back with $threads threads" bam2h5 -q -f -p x -@ $threads -o $threads.h5 g.h5 $file
        ok 'gives the same values' ask $threads.h5 x 0 t.bg
    done
    ok 'and the same file for any number of threads' cmp 1.h5 3.h5
done

# ---- values that are not integers
make 2 fractions >f.bg
run bam2h5 -q -f -p x -o o.h5 g.h5 f.bg
n=$(awk '$4 != int($4)' f.bg | grep -c '')
stderr_like "warning: f.bg: rounded the values of $n of $(grep -c '' f.bg) intervals to integers; cov2bigwig --measured reads" \
    'a warning counts rounded values'
ok 'ties go to the even integer' ask o.h5 x 0 f.bg

# ---- bigWig with blocks of every type, by libBigWig
if "$PYTHON" -c 'import pyBigWig' 2>/dev/null; then
    for form in bedgraph variable fixed; do
        make bigwig $form.bw t.bg $form
        run_ok "bigWig of $form blocks" bam2h5 -q -f -p x -o o.h5 g.h5 $form.bw
        stderr_is '' 'with all contigs'
        ok 'its values' ask o.h5 x 0 t.bg
    done
    make bigwig t.bw t.bg bedgraph
else
    cp back.bw t.bw
fi

# ---- several files, including reads
printf '@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:5000\nr\t0\ta\t11\t60\t4M\t*\t0\t0\t*\t*\n' >r.sam
printf 'a\t10\t14\t1\n' >r.bg
cp g.h5 in_place.h5
run_ok 'tracks and reads' bam2h5 -q -p x in_place.h5 t.bw r.sam f.bg
make 3 integers >later.bg
run bam2h5 -q -p x --append in_place.h5 later.bg
ok 'the bigWig' ask in_place.h5 x 0 t.bg
ok 'the reads' ask in_place.h5 x 1 r.bg
ok 'the bedGraph' ask in_place.h5 x 2 f.bg
ok 'and one after them' ask in_place.h5 x 3 later.bg
run bam2h5 -q -f -p x --min-mapq 61 -o o.h5 g.h5 r.sam t.bg
: >none.bg
ok 'read options are rejected for tracks' ask o.h5 x 0 none.bg
ok 'but not for tracks' ask o.h5 x 1 t.bg

# ---- contigs
sed 's/^a/chrA/' t.bg >renamed.bg
run bam2h5 -f -p x -o o.h5 g.h5 renamed.bg
stderr_like 'warning: renamed.bg: skipping 1 of 2 contigs that are not in g.h5: chrA$' 'a contig that the genome lacks'
stderr_like "intervals, $(grep -c chrA renamed.bg) of them on contigs that are not in the genome" 'its intervals are counted'
ok 'the rest is taken' ask o.h5 x 0 renamed.bg
printf 'chrA a\n' >names
run bam2h5 -q -f -p x --rename names -o o.h5 g.h5 renamed.bg
ok 'renamed contigs' ask o.h5 x 0 renamed.bg rename=chrA:a
# A bigWig that lists a contig of the genome, but has values for others only.
sed 's/^/chr/' t.bg >foreign.bg
awk '/^>/ { name = substr($1, 2); next } { n[name] += length($0) } END { for (s in n) print (s == "c" ? "" : "chr") s "\t" n[s] }' g.fa >sizes
cov2bigwig -q --chrom-sizes sizes -o foreign.bw foreign.bg
cp o.h5 kept.h5
run bam2h5 -q -f -p x -o o.h5 g.h5 foreign.bw
refused 1 "foreign.bw: a track of another genome: all $(grep -c '' t.bg) intervals are on contigs \((chra, chrb|chrb, chra)\) that are not in g.h5, whose other contigs \(a, b\) are missing here; --rename maps names\$" \
    'a track with values on other contigs only'
ok '  and no output' cmp o.h5 kept.h5
awk '/^>/ { on = /^>c/ } on' g.fa | fasta2h5 -q --subsequence-length 1000 --species g -o one.h5 -
run_ok '  but a selection of its contigs may be without values' bam2h5 -q -f -p x -o one_x.h5 one.h5 foreign.bw
{ cat t.bg && printf 'chrA\t0\t1\t1\n'; } >both.bg
rm -f o.h5
run bam2h5 -q -p x --rename names -o o.h5 g.h5 both.bg
refused 1 'both.bg: two contigs both map to a of g.h5' 'two contigs with the same name'

# ---- partial genome files
run h5chunk subset -q -o part.h5 -r a:2500-3500 -r b g.h5
run_ok 'a partial file gets the coverage of its chunks' bam2h5 -q -f -p x -o o.h5 part.h5 t.bg
ok 'with the right values' ask o.h5 x 0 t.bg
rm -f o.h5

# ---- bad files
while IFS='|' read -r name text regex; do
    # shellcheck disable=SC2059 # the text has escapes
    printf "$text" >"$name"
    run_refused 1 "$regex" "$name" bam2h5 -q -p x -o o.h5 g.h5 "$name"
done <<'END'
beyond.bg|a 0 5 1\nb 699 701 1\n|beyond.bg:2: interval ends at 701, but b has 700 bases in g.h5
negative.bg|a 0 5 1\n\na 5 6 -1\n|negative.bg:3: value -1 is negative
large.bg|a 0 5 2147483648\n|large.bg:1: value 2.14748365e\+09 does not fit in 32 bits
order.bg|a 9 10 1\na 0 1 1\n|order.bg:2: a 0 1: interval begins before the previous one ends
apart.bg|a 0 1 1\nb 0 1 1\na 2 3 1\n|apart.bg:3: contig in two places
three.bg|a 0 1 1\na 1 2\n|three.bg:2: missing value
other.bg|z 0 1 1\n|other.bg: none of its contigs \(z\) is in g.h5 \(a, b, c\); --rename maps names
nothing.bg|#\n|nothing.bg: no lines of data$
END
head -c 100 t.bg.gz >cut.bg.gz
run_refused 1 'cut.bg.gz: truncated' 'a truncated gzip file' bam2h5 -q -p x -o o.h5 g.h5 cut.bg.gz
sed 's/SN:a/&/' g.fa | sed '2s/^/A/' >longer.fa
fasta2h5 -q --subsequence-length 1000 -o longer.h5 longer.fa
run bam2h5 -q -p x -o o.h5 longer.h5 t.bw
refused 1 't.bw: contig a has 5000 bases, but 5001 in longer.h5' 'a bigWig with a contig of a different length'
size=$(wc -c <t.bw)
for n in 3 63 200 $((size / 2)); do
    head -c "$n" t.bw >cut.bw
    run_refused 1 'cut.bw: ' "a bigWig cut to $n bytes" bam2h5 -q -p x -o o.h5 g.h5 cut.bw
done
"$PYTHON" - <<'END'
data = bytearray(open("t.bw", "rb").read())
offset = int.from_bytes(data[16:24], "little") + 8 + 30
data[offset] ^= 0x55
open("flipped.bw", "wb").write(data)
END
run bam2h5 -q -p x -o o.h5 g.h5 flipped.bw
refused 1 'flipped.bw: the block at byte [0-9]+: deflate:' 'a bigWig with a damaged block'
ok 'no output is left' test ! -e o.h5

# ---- options for reads
for option in --shift --count=cut --count=read --min-mapq=3 --require-flags=2 --exclude-flags=0 --strand=own \
    --genome=g.fa --preset=helixer; do
    run bam2h5 -q -p x $option -o o.h5 g.h5 t.bg t.bw
    refused 1 "^bam2h5: error: ${option%%=*} applies to reads, but t.bg is a track" "$option without reads"
done
run_ok '--strand both is allowed for tracks' bam2h5 -q -p x --strand both -o o.h5 g.h5 t.bg

# ---- gaps, and files that resemble tracks
printf 'a\t0\t10\t2\na\t10\t20\tnan\na\t20\t30\t3\n' >nan.bg
run bam2h5 -f -p x -o o.h5 g.h5 nan.bg
stderr_like 'warning: nan\.bg: 1 interval with the value NaN is a gap$' 'NaN is a gap'
is "$(cov2bigwig -q --experimental --skip-zero -o - o.h5)" "$(grep -v nan nan.bg)" '  where coverage is 0'
printf 'fixedStep chrom=a start=1\n1\n' >fixed.wig
run bam2h5 -f -p x -o o.h5 g.h5 fixed.wig
refused 1 '^bam2h5: error: fixed\.wig: wiggle text; convert it with wigToBigWig$' 'wiggle text is named'
done_testing
