#!/bin/sh
# cov2bigwig --measured: the table and the JSON, against numpy; all kinds of inputs; rejected inputs.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
need_python h5py numpy pyBigWig

for pair in 'pred p.h5' 'pred one.h5 datasets=atacseq seed=3' 'pred other.h5 datasets=ATACseq seed=3' 'exp e.h5 seed=2' \
    'pred float.h5 datasets=atacseq seed=5 dtype=float32 value=float'; do
    # shellcheck disable=SC2086 # words
    "$PYTHON" "$SRC/tests/oracle/track_check.py" make $pair || exit 99
done
start_python "$SRC/tests/oracle/compare_check.py"
check() { # TABLE X.bg Y.bg NAME [KEY=VALUE]...
    table=$1 x=$2 y=$3 name=$4
    shift 4
    ok "$name" ask check "$table" "$x" "$y" "$@"
}
# agrees NAME INPUT X.bg Y.bg OPTIONS [KEY=VALUE]...: with these options, which are words, the table of INPUT is that of X and Y.
agrees() {
    what=$1 input=$2 track_x=$3 track_y=$4 words=$5
    shift 5
    # shellcheck disable=SC2086 # words
    run cov2bigwig $words "$input"
    cp "$stdout" table
    check table "$track_x" "$track_y" "$what" "$@"
}
track() { # OUT [ARG]...
    out=$1
    shift
    cov2bigwig -f -o "$out" "$@" || exit 99
}

# ---------------------------------------------------------------- tracks

for seed in 1 2 3; do
    for kind in '0 0' '0 1' '1 0' '1 1'; do
        # shellcheck disable=SC2086 # two words
        ask make "$seed" $kind x.bg && ask make "1$seed" $kind y.bg || exit 99
        agrees "bedGraph and bedGraph ($seed $kind)" x.bg x.bg y.bg '--compare y.bg --peak-threshold 2.5' threshold=2.5
    done
done
printf '%s\t%s\n' chr2 30011 chr10 12345 m 1 short 150 chr1 8000 >sizes
track x.bw --chrom-sizes sizes x.bg
track y.bw --chrom-sizes sizes y.bg
sort -k1,1r -k2,2n y.bg | gzip >z.bg.gz
for x in x.bg x.bw; do
    for y in y.bg y.bw z.bg.gz; do
        agrees "$x and $y" "$x" x.bg y.bg "--compare $y --peak-threshold 2.5 --bin-sizes 7,1,100000" sizes=7,1,100000 threshold=2.5
        is "$(sed '/: missing values at 42 % of the bases of x[.]b[gw]/d' "$stderr")" '' \
            '  with no warning except about gaps'
    done
done
# Places with extreme coverage.
ask repeat deep_x.bg deep_y.bg || exit 99
run_ok 'rDNA and an organelle' cov2bigwig --compare deep_y.bg --stats deep.json deep_x.bg
stderr_like "^cov2bigwig: warning: deep_y\.bg: extreme coverage decides Pearson's r: 0\.[0-9]{3} per base, but 0\.[0-9]{3} without chr1:420001-440000, chrM; --blacklist-file omits such regions, and --stats lists them$" \
    '  are a warning'
ok '  and in the JSON' ask outliers deep.json deep_x.bg deep_y.bg deep.bed chr1:420000-440000 chrM:0-12300
run cov2bigwig --compare deep_y.bg --blacklist-file deep.bed deep_x.bg
unlike "$(cat "$stderr")" 'extreme coverage' '  without these regions, none is left'
is "$(awk '$3 == "total" { printf "%.9f\n", $6 }' "$stdout")" \
    "$("$PYTHON" -c 'import json; print("%.9f" % json.load(open("deep.json"))["comparison"]["tracks"][0]["outliers"]["pearson_without"])')" \
    '  and r is pearson_without of --stats'
for width in 1k 10k 20k; do
    run covprofile correlate -f --bins $width -o r.tsv deep_x.bg deep_y.bg
    stderr_like "^covprofile: warning: deep_x and deep_y: extreme coverage decides Pearson's r: 0\.[0-9]{3} per bin, but 0\.[0-9]{3} without chr1:420001-440000, chrM; --blacklist-file omits such regions$" \
        "covprofile correlate warns, too: $width"
done
run covprofile correlate --bins 10k --blacklist-file deep.bed -o without.tsv -f deep_x.bg deep_y.bg
unlike "$(cat "$stderr")" 'extreme coverage' '  not without these regions'
run covprofile correlate --bins 10k --method spearman -o r.tsv -f deep_x.bg deep_y.bg
unlike "$(cat "$stderr")" 'extreme coverage' "  nor of Spearman's r"
ask organelle cell_x.bg cell_y.bg || exit 99
run_ok 'an organelle that is a fifth of the bases' cov2bigwig --compare cell_y.bg --stats cell.json cell_x.bg
stderr_like "^cov2bigwig: warning: cell_y\.bg: extreme coverage decides Pearson's r: 0\.[0-9]{3} per base, but 0\.[0-9]{3} without chrM; " \
    '  is a warning'
ok '  and in the JSON as a whole' ask outliers cell.json cell_x.bg cell_y.bg cell.bed chrM:0-85779
run cov2bigwig --compare cell_y.bg --blacklist-file cell.bed --stats cell.json cell_x.bg
unlike "$(cat "$stderr")" 'extreme coverage' '  without it, no chromosome is left'

# Thresholds without peaks.
run_ok 'a threshold above all values' cov2bigwig --compare y.bw --peak-threshold 100 x.bw
max() { "$PYTHON" -c 'import sys; print("%.4g" % max(float(line.split()[3]) for line in open(sys.argv[1])))' "$1"; }
is "$(grep -v 'missing values' "$stderr")" "cov2bigwig: warning: x.bw: no peaks at 100: the largest value is $(max x.bg)
cov2bigwig: warning: y.bw: no peaks at 100: the largest value is $(max y.bg)" '  is a warning for each track'
printf 'chr2\t0\t199\t9\nchr2\t199\t400\t0\n' >narrow.bg
# totals CUTOFF MEASURED_CUTOFF: the numbers of peaks of the two tracks.
totals() { cov2bigwig -q --measured y.bg --peak-cutoff "$1" --measured-cutoff "$2" x.bg |
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "peaks") p = i } $3 == "total" { print $p, $(p + 1) }'; }
low=$(totals 1 1) high=$(totals 2.5 2.5)
is "$(totals 1 2.5) $(totals 2.5 1)" "${low% *} ${high#* } ${high% *} ${low#* }" '--measured-cutoff is for measured peaks only'
unlike "$low" "^$high$" '  and changes them'
run cov2bigwig --compare narrow.bg --peak-threshold 2.5 x.bg
stderr_like 'warning: narrow\.bg: no peaks at 2\.5: all are shorter than 200 bases \(--peak-min-length\)$' '  so are peaks that are too short'
peaks() { "$PYTHON" -c 'import csv, sys; r = list(csv.DictReader(open(sys.argv[1]), delimiter="\t"))[0]; print(r["peaks_measured"])' "$stdout"; }
run cov2bigwig --compare narrow.bg --peak-threshold 2.5 --peak-length 199 x.bg
is "$(peaks)" 1 '  --peak-length allows them'
printf 'chr2\t0\t100\t9\nchr2\t100\t140\t0\nchr2\t140\t240\t9\nchr2\t240\t400\t0\n' >narrow.bg
run cov2bigwig --compare narrow.bg --peak-threshold 2.5 x.bg
is "$(peaks)" 0 '  two peaks that are too short'
run cov2bigwig --compare narrow.bg --peak-threshold 2.5 --peak-gap 40 x.bg
is "$(peaks)" 1 '  --peak-gap joins others'

track one.bw one.h5
track sparse.bw --min-value 3 one.h5
run_ok 'a measured track that lacks most bases' cov2bigwig --compare sparse.bw one.bw
stderr_like 'warning: sparse.bw: missing values at [0-9]+ % of the bases of one.bw' '  with a warning'
run_ok 'bedGraph from standard input' cov2bigwig --compare y.bg --chrom-sizes sizes -@ 1 -o t.tsv - <x.bg
stdout_is '' '  and the table to a file'
check t.tsv x.bg y.bg '  is right' stem=stdin
agrees 'sizes with a unit' x.bw x.bg y.bg '--compare y.bw --bin-sizes 1,1k,10000' sizes=1,1000,10000
agrees 'the name is that of the input' x.bw x.bg y.bg '--compare y.bw -@ 3'
is "$(head -n 1 table | cut -f 1-7)" 'sample	dataset	contig	bases	bins_1	pearson_1	spearman_1' \
    'a header line'
run cov2bigwig --compare x.bw -@ 1 x.bw
is "$(tail -n 1 "$stdout" | cut -f 3-8 | tr '\t' ' ')" "total $(awk '{n += $3 - $2} END {print n, n, 1, 1}' x.bg) $(
    tail -n 1 "$stdout" | cut -f 8
)" 'a track agrees with itself'
awk '$1 != "m" && $1 != "short"' y.bg >few.bg
printf 'more\t0\t9\t1\n' >>few.bg
agrees 'contigs that only one has are left out' x.bg x.bg few.bg '--compare few.bg'
stderr_like 'x.bg: skipping 2 of 5 contigs that are not in few.bg: m, short' '  and listed'
stderr_like 'few.bg: skipping 1 of 4 contigs that are not in x.bg: more' '  of both'

echo chr1 >drop
run cov2bigwig --blacklist-file drop --compare y.bg x.bg
stderr_like 'y.bg: skipping 1 of [0-9]+ contigs that are not in x.bg, or are dropped by drop: chr1' \
    'a contig that a list drops'

# ---------------------------------------------------------------- signal

for dataset in atacseq h3k4me3; do
    track p_$dataset.bg --datasets $dataset p.h5
    track e_$dataset.bg --experimental --datasets $dataset e.h5
done
run_ok 'predictions and a genome file' cov2bigwig --compare e.h5 --peak-threshold 2 p.h5
stderr_is '' '  without a word'
cp "$stdout" table
for dataset in atacseq h3k4me3; do
    check table p_$dataset.bg e.h5:$dataset:avg "  $dataset is right" dataset=$dataset stem=p threshold=2
done
run cov2bigwig --compare e.h5 --peak-threshold 2 -@ 1 p.h5
ok '  whatever the number of threads' cmp table "$stdout"
h5chunk cat -q p.h5 >stream || exit 99
agrees 'a chunk stream' - p_atacseq.bg e.h5:atacseq:avg '--compare e.h5' dataset=atacseq stem=stdin <stream
run cov2bigwig --experimental --compare e.h5 --datasets h3k4me3 e.h5
is "$(tail -n 1 "$stdout" | cut -f 6-7 | tr '\t' ' ')" '1 1' 'a genome file agrees with itself'
track e.bw --experimental --datasets atacseq e.h5
agrees 'a bigWig, and one dataset by its name' p.h5 p_atacseq.bg e_atacseq.bg '--compare e.bw --datasets atacseq' dataset=atacseq stem=p
agrees '  and the other way round' p_atacseq.bg p_atacseq.bg e.h5:atacseq:avg '--compare e.h5 --datasets atacseq' dataset=atacseq stem=p_atacseq
track f.bg float.h5
agrees 'values that are not integers' float.h5 f.bg e.h5:atacseq:avg '--compare e.h5' dataset=atacseq stem=float
track p+.bg --strand + --datasets atacseq p.h5
agrees 'one strand of measured coverage, and a track' p_atacseq.bg p_atacseq.bg e.h5:atacseq:+ '--compare e.h5 --strand + --datasets atacseq' dataset=atacseq stem=p_atacseq
# shellcheck disable=SC2094 # nothing is written
agrees '  from standard input' - p_atacseq.bg e.h5:atacseq:+ '--compare e.h5 --strand + --datasets atacseq' dataset=atacseq stem=stdin \
    <p_atacseq.bg
gzip -k p_atacseq.bg
mkfifo pipe
run sh -c 'cat p_atacseq.bg.gz >pipe & cov2bigwig --compare e.h5 --datasets atacseq -@ 2 pipe'
cp "$stdout" table
check table p_atacseq.bg e.h5:atacseq:avg '  and from a pipe' dataset=atacseq stem=pipe
rm p_atacseq.bg.gz
run_ok 'a single dataset' cov2bigwig --compare e.h5 --strand + one.h5
agrees 'one strand of both' p.h5 p+.bg e.h5:atacseq:+ '--compare e.h5 --strand + --datasets atacseq' dataset=atacseq stem=p

# The same reads in one BAM file or in six.
for n in 1 6; do
    ask columns reads$n.h5 $n || exit 99
done
track reads.bg --experimental reads1.h5
track smooth.bg --window-size 40 reads.bg
for n in 1 6; do
    run cov2bigwig --compare reads$n.h5 --stats reads$n.json smooth.bg
    cp "$stdout" measured$n
    run cov2bigwig --experimental --compare smooth.bg reads$n.h5
    sed 's/^reads.//' "$stdout" >input$n
done
check measured6 smooth.bg reads6.h5:atacseq:avg 'six columns of sparse coverage' dataset=atacseq stem=smooth
ok '  agree with a track as well as their sum' cmp measured1 measured6
ok '  also as the input' cmp input1 input6
h5chunk cat -q reads6.h5 >reads.stream || exit 99
run cov2bigwig --compare reads.stream smooth.bg
ok '  and as a chunk stream' cmp measured6 "$stdout"
ok '  with the same outliers, whose means are of a column' "$PYTHON" - <<'END'
import json
one, six = (json.load(open(f"reads{n}.json"))["comparison"]["tracks"][0]["outliers"] for n in (1, 6))
mean = [o["regions"][0].pop("mean_measured") for o in (one, six)]
assert all(abs(one[k] - six[k]) < 1e-12 and one[k] > 0.1 for k in ("pearson", "pearson_without")), (one, six)
assert one["regions"] == six["regions"] == [{"contig": "chr1", "beg": 70000, "end": 80000}], (one, six)
assert abs(mean[0] / mean[1] - 6) < 1e-6 and abs(mean[0] - 15) < 1, mean
END

# ---------------------------------------------------------------- bases

# Files of two assemblies whose contigs have the same names and lengths; seq2 differs in one base.
"$PYTHON" -c '
import random
r = random.Random(3)
bases = {name: r.choices("ACGT", k=n) for name, n in (("seq1", 30000), ("seq2", 50000), ("seq3", 900))}
for path in "g.fa", "other.fa":
    with open(path, "w") as f:
        f.writelines(">%s\n%s\n" % (name, "".join(s)) for name, s in bases.items())
    bases["seq2"][30000] = "A" if bases["seq2"][30000] != "A" else "C"'
for layout in onehot packed; do
    fasta2h5 -q --layout $layout -o $layout.h5 g.fa && fasta2h5 -q --layout $layout -o other_$layout.h5 other.fa || exit 99
done
fasta2h5 -q --subsequence-length 10692 -o short.h5 g.fa
printf 'seq%s\t0\t900\t7\n' 1 2 3 >reads.bg
for genome in onehot packed other_onehot other_packed short; do
    bam2h5 -q -p atacseq $genome.h5 reads.bg || exit 99
done
cp "$SRC/workflows/demo/plant.ckpt" m.ckpt
covpredict -q -m m.ckpt -o g_pred.h5 g.fa && covpredict -q -m m.ckpt -r seq3 -o part.h5 g.fa || exit 99
for genome in onehot packed short; do
    run_ok "predictions and $genome.h5 of the same bases" cov2bigwig -q --datasets atacseq --compare $genome.h5 g_pred.h5
done
where='seq2:21385-42768: made from other bases than'
end='; to compare nevertheless, convert one to a bigWig'
for genome in other_onehot other_packed; do
    refuses 1 "^cov2bigwig: error: g_pred\.h5: $where $genome\.h5$end\$" "$genome.h5 with other bases" \
        --datasets atacseq --compare $genome.h5 g_pred.h5
done
refuses 1 "^cov2bigwig: error: onehot\.h5: $where other_packed\.h5$end\$" '  two genome files' \
    --experimental --compare other_packed.h5 onehot.h5
echo seq2 >seq2
run cov2bigwig -q --datasets atacseq --blacklist-file seq2 --compare other_onehot.h5 g_pred.h5
status_is 0 '  a contig that is dropped does not matter'
run_ok '  nor do chunks that are not predicted' cov2bigwig -q --datasets atacseq --compare other_onehot.h5 part.h5
echo seq2 new >rename
run cov2bigwig -q --datasets atacseq --rename rename --compare other_onehot.h5 g_pred.h5
status_is 0 '  nor one that has another name there'
printf 'seq1 seq2\nseq2 seq1\n' >swap
refuses 1 'contig seq1 has 50000 bases, but 30000 in other_onehot\.h5' '  different lengths are reported first' \
    --rename swap --datasets atacseq --compare other_onehot.h5 g_pred.h5
"$PYTHON" -c '
import h5py
del h5py.File("g_pred.h5", "r+")["data/bases_fingerprint"]'
run_ok '  nor do predictions without fingerprints' cov2bigwig -q --datasets atacseq --compare other_onehot.h5 g_pred.h5

# ---------------------------------------------------------------- options of the input

contig=$(head -n 1 p_atacseq.bg | cut -f 1)
printf '%s\t5\t900\n' "$contig" >regions.bed
printf '%s new\n' "$contig" >names
sed "s/^$contig	/new	/" e_atacseq.bg >e_new.bg
set -- --window-size 25 --scale 0.5 --min-value 1 --blacklist-file regions.bed --rename names
# A comparison does not round smoothed values, like those of tracks.
track p_plain.bg --datasets atacseq p.h5
track p_new.bg "$@" p_plain.bg
agrees 'the input is smoothed, scaled, filtered and renamed' p.h5 p_new.bg e_new.bg "--datasets atacseq $* --compare e_new.bg --peak-threshold 3" \
    dataset=atacseq stem=p threshold=3 empty=new,chr10

# ---------------------------------------------------------------- on a terminal

on_terminal() { # COMMAND...: its output without the terminal's carriage returns
    run "$PYTHON" -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" </dev/null
    tr -d '\r' <"$stdout" >shown
}
cov2bigwig -q --compare e.h5 --peak-threshold 3 -o whole.tsv p.h5 || exit 99
run_ok 'a table on a terminal' on_terminal cov2bigwig -q --compare e.h5 --peak-threshold 3 p.h5
ok '  the totals, aligned' "$PYTHON" - <<'END'
import csv
rows = [r for r in csv.DictReader(open("whole.tsv"), delimiter="\t") if r["contig"] == "total"]
lines = open("shown").read().splitlines()
head = lines[0].split()
assert head == ["dataset", "bases", "pearson_1", "pearson_10", "pearson_100", "pearson_1000", "precision", "recall", "f1"], head
assert len(lines) == len(rows) + 1 > 2 and len({len(line) for line in lines}) == 1, lines
for row, line in zip(rows, lines[1:]):
    for name, cell in zip(head, line.split()):
        wanted = row[name] if name in ("dataset", "bases") or row[name] == "NA" else "%.3f" % float(row[name])
        assert cell == wanted, (name, cell, wanted)
END
on_terminal cov2bigwig --compare y.bg x.bg
stdout_like '-o FILE\.tsv writes a table of all contigs and columns; -o - prints it' '  and how to get all of it'
stdout_like '^x +[0-9]+ +-?0\.[0-9]{3}' '  also of tracks without datasets'
on_terminal cov2bigwig -q --compare e.h5 --peak-threshold 3 -o - p.h5
ok '  -o - prints it' cmp shown whole.tsv
rm whole.tsv shown

# ---------------------------------------------------------------- JSON

run cov2bigwig --compare y.bg --peak-threshold 2.5 --stats s.json -o t.tsv -f x.bg
ok 'JSON and the table have the same values' "$PYTHON" - <<'END'
import csv, json
t = {r["contig"]: r for r in csv.DictReader(open("t.tsv"), delimiter="\t")}
s = json.load(open("s.json"))
assert s["inputs"] == ["x.bg", "y.bg"], s["inputs"]
c = s["comparison"]
assert c["measured"] == "y.bg" and c["peak_cutoff"] == 2.5
(track,) = c["tracks"]
assert track["dataset"] is None
rows = track["contigs"] + [dict(track["total"], contig="total")]
assert len(rows) == len(t)
def same(a, text):
    return text == "NA" if a is None else abs(a - float(text)) < 1e-8
for r in rows:
    w = t[r["contig"]]
    assert r["bases"] == int(w["bases"])
    for b in r["bins"]:
        assert b["n"] == int(w["bins_%d" % b["size"]])
        for k in "pearson", "spearman":
            assert same(b[k], w["%s_%d" % (k, b["size"])]), (r, w)
    p = r["peaks"]
    assert (p["n"], p["n_measured"]) == (int(w["peaks"]), int(w["peaks_measured"]))
    for k in "precision", "recall", "f1":
        assert same(p[k], w[k]), (r, w)
assert any(b["pearson"] is None for r in rows for b in r["bins"])
END
run cov2bigwig -f --compare y.bg --stats s.json x.bg
ok '  and no peaks without a threshold' sh -c '! grep -q "\"peaks\"" s.json && grep -q "\"peak_cutoff\": null" s.json'

run cov2bigwig --compare e.h5 --stats s.json -o t.tsv -f p.h5
ok 'statistics of the input, and one more stage' "$PYTHON" - <<'END'
import json, h5py
s = json.load(open("s.json"))
with h5py.File("p.h5") as f:
    n = len(f["data/seqids"])
    bases = int(abs(f["data/start_ends"][:, 0] - f["data/start_ends"][:, 1]).sum()) // 2
assert s["chunks"] == n, (s["chunks"], n)
assert s["bases"] == bases, (s["bases"], bases)
stages = list(s["stages"])
assert len(set(stages)) == len(stages) and stages.count("measured") == 1, stages
END

# ---------------------------------------------------------------- wrong usage

refuses 2 '--peak-max-gap needs --measured' 'a gap without --compare' --peak-gap 1 -o o.bw p.h5
refuses 2 '--peak-min-length needs --peak-cutoff' 'a length without a threshold' --compare e.h5 --peak-length 1 p.h5
for list in 0 1,0 x 1,1 -5 1.5 1k,1000 2G 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17; do
    refuses 2 '--bin-size' "bins $list" --compare e.h5 --bin-sizes=$list p.h5
done
refuses 2 '--peak-cutoff' 'a threshold that is none' --compare e.h5 --peak-threshold nan p.h5
for threshold in 1e39 -1e39; do
    refuses 2 '--peak-cutoff: .*1e\+39 is out of range' "a threshold of $threshold" --compare e.h5 --peak-threshold=$threshold p.h5
done
for suffix in bw bigWig bg bedGraph.gz; do
    refuses 2 "t\.$suffix: the output is a table, but \.(bw|bigwig|bg|bedgraph) is another kind; use \.tsv$" "a table as $suffix" --compare e.h5 -o t.$suffix p.h5
done
refuses 2 'error: --measured: must not be standard input$' 'standard input' --compare - p.h5
refuses 1 '--measured pipe: not a regular file' 'a pipe' --compare pipe p.h5
refuses 1 '--measured \.: not a regular file' '  or a directory' --compare . p.h5
refuses 1 '--strand: x.bg is a track' 'a strand of two tracks' --compare e.bw --strand + x.bg
refuses 2 '--format is for tracks' 'a format' --compare e.h5 --format bedgraph p.h5
refuses 2 '--basename is for tracks' 'a name' --compare e.h5 --basename x p.h5
refuses 2 '\.: is a directory' 'a directory' --compare e.h5 -o . p.h5
refuses 1 'e\.h5: has 2 datasets \(atacseq, h3k4me3\), but x\.bg is a single track' 'a track and two datasets' \
    --compare e.h5 x.bg
refuses 1 "unknown dataset 'x'" 'an unknown dataset' --compare e.h5 --datasets x p.h5
refuses 1 'e\.h5: no dataset in common with other\.h5; it has: atacseq, h3k4me3; other\.h5 has: ATACseq; .*h5chunk rename$' \
    'other names of datasets' --compare e.h5 other.h5
refuses 1 'is a track, which has no datasets' '  nor in tracks' --compare e.bw --datasets x x.bg

refuses 2 'both go to standard output' 'two outputs to one file' --compare y.bg --stats - x.bg
refuses 2 'both name' '  by name' --compare y.bg --stats - -o - x.bg

# ---------------------------------------------------------------- bad inputs

refuses 1 'absent\.bw: No such file' 'a missing file' --compare absent.bw p.h5
refuses 1 'p\.h5: a predictions file without measured coverage \(evaluation/<name>_coverage\)$' 'predictions as the measured file' \
    --compare p.h5 one.h5
refuses 1 'p\.h5: a predictions file without .*; swap them: --measured e\.h5 p\.h5$' 'inputs in the wrong order' --compare p.h5 e.h5
refuses 1 'e\.h5: a genome file with .*; swap them: --measured e\.h5 x\.bg$' '  one of them a track' --compare x.bg e.h5
printf 'other\t0\t9\t1\n' >other.bg
refuses 1 'none of its contigs \(.*chr2.*\) is in other\.bg \(other\)' 'no contig in common' --compare other.bg x.bg
printf 'chr2\t0\t10\t1\n' >early.bg
printf 'chr2\t10\t20\t1\n' >late.bg
refuses 1 'no base has a value in both it and late\.bg' 'no base in common' --compare late.bg early.bg
sed 's/12345/12346/' sizes >longer
track longer.bw --chrom-sizes longer x.bg
refuses 1 'contig chr10 has 12345 bases, but 12346 in longer\.bw' 'a different length' --compare longer.bw y.bw
refuses 1 'contig chr10 has 12346 bases, but 12345 in y\.bw' '  the other way round' -o t --compare y.bw longer.bw
printf 'chr2\t30000\t30012\t1\n' >beyond.bg
refuses 1 'beyond\.bg: contig chr2 reaches base 30012, but has only 30011 bases in y\.bw' 'bedGraph past the end' \
    --compare beyond.bg y.bw
refuses 1 'beyond\.bg: contig chr2 reaches base 30012, but has only 30011 bases in y\.bw' '  the other way round' \
    --compare y.bw beyond.bg
printf 'chr2\t5\t9\t1\nchr2\t8\t12\t1\n' >overlap.bg
refuses 1 'overlap\.bg:2' 'damaged bedGraph' --compare overlap.bg x.bg
head -c 3000 y.bw >cut.bw
refuses 1 'cut\.bw' 'a bigWig that was cut' --compare cut.bw x.bg
refuses 1 'cut\.bw' '  the other way round' -o t.x --compare x.bg cut.bw
head -c 20000 e.h5 >cut.h5
refuses 1 'cut\.h5' 'a genome file that was cut' --compare cut.h5 p.h5
refuses 1 't\.tsv: already exists' 'an existing table' -o t.tsv --compare y.bg x.bg
refuses 1 'absent/t\.tsv: .*absent' 'a missing directory' -o absent/t.tsv --tmpdir . --compare y.bg x.bg
refuses 1 'tmpdir: absent: No such' 'nor for temporary files' --tmpdir absent --compare y.bg x.bg
refuses 1 '/dev/full: No space left on device$' 'a full disk' -o /dev/full --tmpdir . --compare y.bg x.bg
run_refused 1 'standard output: No space left on device$' '  as standard output' sh -c 'cov2bigwig --compare y.bg x.bg >/dev/full'
mkdir closed && chmod a-w closed
run_unprivileged cov2bigwig -o closed/t.tsv --tmpdir . --compare y.bg x.bg
refused 1 'closed' 'a directory that cannot be written to'

# ---------------------------------------------------------------- memory

# A million distinct pairs of values, which are sorted in files, in bins of five sizes.
"$PYTHON" - <<'END'
import numpy as np
r = np.random.default_rng(4)
n = 1_000_000
for path, x in ("u.bg", r.random(n)), ("v.bg", r.random(n)):
    with open(path, "w") as f:
        f.writelines("c\t%d\t%d\t%.9g\n" % (i, i + 1, v) for i, v in enumerate(x))
END
agrees 'all pairs are different' u.bg u.bg v.bg '--compare v.bg --bin-sizes 1,2,3,5,7 -f --stats s.json' sizes=1,2,3,5,7 stem=u
ok '  in bounded memory' "$PYTHON" -c 'import json; assert json.load(open("s.json"))["peak_rss_bytes"] < 400e6'

done_testing
