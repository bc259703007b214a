#!/bin/sh
# covpeaks: peaks, summits and broad peaks against peaks found base by base (tests/lib/peaks_check.py); formats, inputs, options,
# statistics, refusals; compare and stats.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
need_python h5py numpy
start_python "$SRC/tests/lib/track_check.py"

check() { "$PYTHON" "$SRC/tests/lib/peaks_check.py" "$@"; }
columns() { cut -f "$1" "$stdout"; }
# refuses_call STATUS REGEX NAME [ARG]...
refuses_call() {
    wanted=$1 regex=$2 name=$3
    shift 3
    find . | sort >"$tap_dir/before"
    run covpeaks call "$@"
    refused "$wanted" "$regex" "$name"
    is "$(find . | sort | comm -13 "$tap_dir/before" -)" '' '  and leaves nothing'
}

# ---------------------------------------------------------------- peaks

: >all_peaks
: >all_broad
for seed in 1 2 3 4 5 6; do
    check track $seed >t.bg || exit 99
    for rules in '2.5 200 30' '1 100 20' '7.25 1 0' '5 50 100' '0.5 300 50'; do
        # shellcheck disable=SC2086 # three words
        set -- $rules
        run covpeaks call -q -c "$1" -l "$2" -g "$3" -o - t.bg
        check narrow "$1" "$2" "$3" t.bg >wanted
        is "$(columns 1-3,10)" "$(cut -f 1-4 wanted)" "track $seed: -c $1 -l $2 -g $3"
        is "$(columns 7)" "$(cut -f 5 wanted)" '  signalValue is the largest value'
        check gapped "$1" 0.25 "$2" "$3" 150 t.bg >broad
        run covpeaks call -q --broad -c "$1" -C 0.25 -l "$2" -g "$3" -G 150 -o - t.bg
        is "$(columns 1-3,10-12)" "$(cat broad)" '  broad'
        cat wanted >>all_peaks
        cat broad >>all_broad
    done
done
# shellcheck disable=SC2317 # ok calls it
several() { [ "$(wc -l <all_peaks)" -gt 500 ] && cut -f 4 all_broad | grep -q '[5-9]'; }
ok 'they have peaks, and broad ones with several blocks' several

# ---------------------------------------------------------------- formats

check track 7 >t.bg
check narrow 2.5 200 30 t.bg >wanted
n=$(wc -l <wanted)
run covpeaks call -c 2.5 -o t.narrowPeak t.bg
status_is 0 'narrowPeak'
stderr_like "^covpeaks: $n peaks with [0-9]+ bases\$" '  reports the number'
is "$(awk -F'\t' '{ print NF, $6, $8, $9 }' t.narrowPeak | sort -u)" '10 . -1 -1' '  columns without values'
is "$(cut -f 4 t.narrowPeak)" "$(awk '{ print "t_peak_" NR }' wanted)" '  names'
is "$(cut -f 5 t.narrowPeak)" "$(awk -F'\t' '{ print int(10 * $5) }' wanted)" '  scores'
run covpeaks call -q -c 2.5 --signal mean -o - t.bg
is "$(columns 7)" "$(cut -f 6 wanted)" '  --signal mean'
run covpeaks call -q -c 2.5 -o t.bed.gz t.bg
is "$(gzip -dc t.bed.gz)" "$(cut -f 1-6 t.narrowPeak)" 'compressed BED'
run covpeaks call -q -c 2.5 --summits -o t.bed t.bg
is "$(cat t.bed)" "$(awk -F'\t' -v OFS='\t' '{ s = $2 + $10; print $1, s, s + 1, $4, $5, $6 }' t.narrowPeak)" 'summits'
run covpeaks call -q -c 2.5 --summits -o - t.bg
ok '  also to standard output' cmp "$stdout" t.bed
for suffix in gappedPeak broadPeak.gz bed; do
    run covpeaks call -q -f --broad -c 5 -C 1 -o "b.$suffix" t.bg
    status_is 0 "broad: $suffix"
done
is "$(awk -F'\t' '{ print NF, $9, $14, $15 }' b.gappedPeak | sort -u)" '15 0 -1 -1' '  gappedPeak has 15 columns'
is "$(gzip -dc b.broadPeak.gz | cut -f 1-7)" "$(cut -f 1-6,13 b.gappedPeak)" '  broadPeak has the same regions'
# shellcheck disable=SC2016 # for awk
ok '  blocks begin and end with the peak' awk -F'\t' '{ n = split($11, size, ","); split($12, at, ",")
    if (n != $10 || at[1] != 0 || at[n] + size[n] != $3 - $2) exit 1 }' b.gappedPeak
printf 'c\t0\t300\t1234.5\n' >high.bg
run covpeaks call -q -c 2 -o - high.bg
is "$(columns 5,7)" '1000	1234.5' 'the score is at most 1000'

# ---------------------------------------------------------------- options

run covpeaks call -q -c 5 --preset atac -o - t.bg
cp "$stdout" atac
run covpeaks call -q -c 5 -l 100 -g 20 -o - t.bg
ok '--preset atac' cmp "$stdout" atac
run covpeaks call -q -c 5 -C 1 --preset h3k4me3 -g 40 -o - t.bg
cp "$stdout" h3k4me3
run covpeaks call -q --broad -c 5 -C 1 -l 200 -g 40 -G 500 -o - t.bg
ok '--preset h3k4me3, changed' cmp "$stdout" h3k4me3
printf 'chr10\nchr2\n' >drop
run covpeaks call -q -c 2.5 --blacklist-file drop -o - t.bg
is "$(columns 1-3)" "$(grep '^chr1	' wanted | cut -f 1-3)" '--blacklist-file'
run covpeaks call -q -c 2.5 --window-size 51 -o - t.bg
cp "$stdout" smoothed
cov2bigwig -q --window-size 51 -o s.bg t.bg || exit 99
run covpeaks call -q -c 2.5 -o - s.bg
is "$(columns 1-3)" "$(cut -f 1-3 smoothed)" '--window-size'

# ---------------------------------------------------------------- inputs

make_input pred p.h5 datasets=atacseq,h3k4me3
cov2bigwig -q --datasets h3k4me3 -o p.bg p.h5 || exit 99
cov2bigwig -q --datasets h3k4me3 -o p.bw p.h5 || exit 99
run covpeaks call -q -c 2 -l 5 -g 3 -o - p.bg
columns 1-3,5-10 >wanted
ok 'a predictions file has peaks' test -s wanted
for input in p.bw '--datasets h3k4me3 p.h5' '-@ 1 --datasets h3k4me3 p.h5'; do
    # shellcheck disable=SC2086 # words
    run covpeaks call -q -c 2 -l 5 -g 3 -o - $input
    is "$(columns 1-3,5-10)" "$(cat wanted)" "  from $input"
done
is "$(columns 4 | head -n 1)" h3k4me3_peak_1 '  named after the data set'
run sh -c 'h5chunk cat p.h5 | covpeaks call -q -c 2 -l 5 -g 3 --datasets h3k4me3 -o - - | LC_ALL=C sort -k1,1 -k2,2n | cut -f 1-3'
is "$(cat "$stdout")" "$(LC_ALL=C sort -k1,1 -k2,2n wanted | cut -f 1-3)" '  from a stream'
make_input exp e.h5
run covpeaks call -q -c 2 -l 5 --experimental --datasets atacseq -o - e.h5
status_is 0 'measured coverage'
ok '  has peaks' test -s "$stdout"

run covpeaks call -c 99 -o none.narrowPeak t.bg
status_is 0 'no peaks'
stderr_is 'covpeaks: warning: t.bg: no peaks at 99: the largest value is 13' '  is a warning'
ok '  and an empty file' test -f none.narrowPeak -a ! -s none.narrowPeak
run covpeaks call -q -c 0 -o - t.bg
stderr_is 'covpeaks: warning: t.bg: 100 % of the bases are in peaks: the cutoff is too low to separate them' 'too many peaks'
run covpeaks call -c 2.5 -l 1M -o - t.bg
stderr_is 'covpeaks: warning: t.bg: no peaks at 2.5: all are shorter than 1000000 bases (--min-length)' 'peaks that are too short'
printf '%s\t100000\n' chr1 chr10 chr2 empty >sizes
run covpeaks call -c 2.5 -r chr1:90000-95000 --chrom-sizes sizes -o - t.bg
stderr_is 'covpeaks: warning: t.bg: no peaks at 2.5: no base has a value' 'a region without values'

run covpeaks call -q -c 2.5 --stats s_mqc.json -o x.bed t.bg
status_is 0 '--stats'
ok '  has the number of peaks' "$PYTHON" -c '
import json, sys
row = json.load(open("s_mqc.json"))["data"]["s"]
lines = [line.split("\t") for line in open("x.bed")]
assert row["peaks"] == len(lines) and row["cutoff"] == 2.5, row
assert row["peak_bases"] == sum(int(x[2]) - int(x[1]) for x in lines), row'

# One peak, 0-360, with 300 of the 310 bases that have a value.
printf 'c\t%s\n' '0	100	30' '130	230	30' '260	360	30' '380	390	1' >islands.bg
run covpeaks call -q -f -c 30 --stats s_mqc.json -o x.bed islands.bg
stderr_is 'covpeaks: warning: islands.bg: 97 % of the bases are in peaks: the cutoff is too low to separate them' 'gaps without values are no part of the share'
is "$(cut -f 2,3 x.bed)" '0	360' '  but of the peak'
run covpeaks call -q -f --broad -c 30 -C 1 --stats s.json -o x.bed islands.bg
ok '  in statistics' "$PYTHON" -c '
import json
row, broad = json.load(open("s_mqc.json"))["data"]["s"], json.load(open("s.json"))["peaks"]
assert row["peak_bases"] == 360 and abs(row["peak_share"] - 100 * 300 / 310) < 1e-6, row
assert broad["n"] == 1 and broad["bases"] == 390 and broad["share"] == 1, broad'
run covpeaks call -f --auto --share 1 -o x.bed islands.bg
stderr_like '^covpeaks: cutoff 1: 100 % of the bases are in peaks, closest to 100 %$' '  nor is a cutoff chosen for them'

# ---------------------------------------------------------------- refusals

refuses_call 2 '^covpeaks: error: -c/--cutoff is missing' 'no cutoff' -o y.bed t.bg
refuses_call 2 'y\.txt: unknown suffix; use \.narrowPeak or \.bed' 'an unknown suffix' -c 1 -o y.txt t.bg
refuses_call 2 'y\.gappedPeak: this format needs --broad; use \.narrowPeak or \.bed$' 'gappedPeak without --broad' -c 1 -o y.gappedPeak t.bg
refuses_call 2 'y\.narrowPeak: with --broad, use \.gappedPeak, \.broadPeak or \.bed$' 'narrowPeak with it' --broad -c 2 -C 1 -o y.narrowPeak t.bg
refuses_call 2 'y\.narrowPeak: --summits needs \.bed; column 10 of narrowPeak already has the summits$' 'summits elsewhere' -c 1 --summits -o y.narrowPeak t.bg
refuses_call 2 '--broad needs -C/--weak-cutoff$' 'no weak cutoff' --broad -c 2 -o y.bed t.bg
refuses_call 2 '--preset h3k4me3 is --broad, which needs -C/--weak-cutoff$' '  nor with a preset' --preset h3k4me3 -c 2 -o y.bed t.bg
refuses_call 2 '--weak-cutoff needs --broad$' 'a weak cutoff alone' -c 2 -C 1 -o y.bed t.bg
refuses_call 2 '--weak-cutoff 2 must be less than --cutoff 2$' 'equal cutoffs' --broad -c 2 -C 2 -o y.bed t.bg
refuses_call 2 '--link-gap 30 must be greater than --max-gap 30$' 'equal gaps' --broad -c 2 -C 1 -G 30 -o y.bed t.bg
refuses_call 2 '--summits and --broad' 'broad summits' --broad --summits -c 2 -C 1 -o y.bed t.bg
refuses_call 2 '--cutoff: 1e\+39 is out of range$' 'a cutoff that no value reaches' -c 1e39 -o y.bed t.bg
refuses_call 2 '--weak-cutoff: -1e\+39 is out of range$' 'a weak cutoff that all values reach' --broad -c 1 -C -1e39 -o y.bed t.bg
refuses_call 2 'p\.h5: 2 data sets \(atacseq, h3k4me3\); choose one with --datasets$' 'two data sets' -c 2 -o y.bed p.h5
refuses_call 1 't\.narrowPeak: already exists; use -f to replace it$' 'an existing output' -c 2 -o t.narrowPeak t.bg
refuses_call 1 'missing\.bw: No such file' 'a missing input' -c 2 -o y.bed missing.bw
printf 'c\t5\t9\t1\nc\t3\t4\t1\n' >unsorted.bg
refuses_call 1 'unsorted\.bg:2: ' 'an unsorted bedGraph' -c 1 -o y.bed unsorted.bg

# ---------------------------------------------------------------- compare

printf 'chr1\t100\t900\nchr2\t0\t50\nchr2\t40\t1500\n' >drop.bed
for seed in 1 2 3; do
    check beds $seed || exit 99
    run covpeaks compare --chrom-sizes sizes p.bed m.bed
    check compare sizes p.bed m.bed >wanted
    is "$(cat "$stdout")" "$(cat wanted)" "compare $seed"
    run covpeaks compare --chrom-sizes sizes --blacklist-file drop.bed p.bed m.bed
    check compare sizes p.bed m.bed drop.bed >wanted
    is "$(cat "$stdout")" "$(cat wanted)" '  with regions that do not count'
done
is "$(grep ^chr3 wanted | cut -f 2-5)" '0	0	0	0' '  a sequence without predicted peaks'
run covpeaks compare --chrom-sizes sizes --blacklist-file drop.bed --stats weed.x_mqc.json p.bed m.bed
run covpeaks compare --chrom-sizes sizes --blacklist-file drop.bed --dataset x.y --stats weed.x.y_mqc.json p.bed m.bed
is "$(cat "$stdout")" "$(cat wanted)" '  the table is the same with --stats'
cat >total.py <<'END'
import csv, json
total = list(csv.DictReader(open("wanted"), delimiter="\t"))[-1]
assert total.pop("contig") == "total" and float(total["f1"]) > 0 and float(total["overlapping"]) > 0, total
shown = ["f1", "overlapping", "overlapping_measured", "peaks", "peaks_measured", "precision", "recall"]
for path, row, prefix, title in ("weed.x_mqc.json", "weed.x", "", "F1"), ("weed.x.y_mqc.json", "weed", "x.y_", "x.y: F1"):
    stats = json.load(open(path))
    assert stats["comparison"] == {name: float(text) for name, text in total.items()}, (stats["comparison"], total)
    assert stats["plot_type"] == "generalstats" and list(stats["data"]) == [row], stats
    assert stats["data"][row] == {prefix + name: float(total[name]) for name in shown}, (stats["data"], total)
    header = stats["headers"][prefix + "f1"]
    assert header["title"] == title and not header["hidden"], header
END
ok '  which has the total, as figures of the sample; with --dataset, in columns of this data set' "$PYTHON" total.py
run covpeaks compare --chrom-sizes sizes --dataset 'a b' p.bed m.bed
refused 2 '--dataset a b: must not contain' 'an invalid name of a data set'
echo chr2 >drop
run covpeaks compare --chrom-sizes sizes --blacklist-file drop p.bed m.bed
grep -v '^chr2' p.bed >p2.bed
grep -v '^chr2' m.bed >m2.bed
grep -v '^chr2' sizes >sizes2
check compare sizes2 p2.bed m2.bed >wanted
is "$(cat "$stdout")" "$(cat wanted)" 'without a sequence'
awk '{ printf ">%s\n", $1; for (i = 0; i < $2; i++) printf "A"; print "" }' sizes >g.fa
fasta2h5 -q --subsequence-length 500 -o g.h5 g.fa
gzip -c m.bed >m.bed.gz
run sh -c 'covpeaks compare --genome g.h5 - m.bed.gz <p.bed'
check compare sizes p.bed m.bed >wanted
is "$(cat "$stdout")" "$(cat wanted)" 'sequences of a genome file, peaks from standard input, compressed peaks'
printf 'chrX\t0\t5\n' | cat p.bed - >px.bed
run covpeaks compare --chrom-sizes sizes px.bed m.bed
stderr_is 'covpeaks: warning: px.bed: 1 peak on sequences that are not in sizes: chrX' 'an unknown sequence'
is "$(cat "$stdout")" "$(cat wanted)" '  its peaks do not count'

# refuses_files REGEX NAME [ARG]...
refuses_files() {
    regex=$1 name=$2
    shift 2
    run covpeaks "$@"
    refused 1 "$regex" "$name"
    stdout_is '' '  and no table'
}
echo 'track name=x' >none.bed
run covpeaks compare --chrom-sizes sizes none.bed m.bed
status_is 0 'a file without peaks'
stderr_is 'covpeaks: warning: none.bed: there are no peaks' '  is a warning'
is "$(tail -n 1 "$stdout" | cut -f 2-6)" '0	0	0	0	0' '  and has a recall of 0'
run covpeaks stats none.bed
is "$(tail -n 1 "$stdout")" 'none.bed	0	NA	NA	0	NA' '  with statistics'
printf 'chrX\t0\t5\n' >x.bed
refuses_files 'x\.bed: none of its sequences \(chrX\) is in sizes \(chr1, chr2, chr3, chr4\)$' 'other names' \
    compare --chrom-sizes sizes p.bed x.bed
printf 'chr1\t0\t99999\n' >long.bed
refuses_files "long\.bed:1: the peak ends at 99999, but chr1 has only $(head -n 1 sizes | cut -f 2) bases in sizes\$" 'past the end' \
    compare --chrom-sizes sizes p.bed long.bed
printf '#c\nchr1\t5\t5\n' >empty.bed
refuses_files 'empty\.bed:2: the peak ends at 5, but starts at 5$' 'an empty peak' stats empty.bed
printf 'chr1\t0\t5\nchr1\tx\t5\n' >word.bed
refuses_files 'word\.bed:2: expected a sequence, a start and an end$' 'a word for a number' stats word.bed
printf 'chr1\t-5\t500\n' >negative.bed
refuses_files 'negative\.bed:1: expected a sequence, a start and an end; the start is negative$' 'a negative start' stats negative.bed
printf 'chrom start end\n' >header.bed
refuses_files "header\.bed:1: expected a sequence, a start and an end; if this is a header, begin it with '#'\$" 'a header' stats header.bed
refuses_files 'missing\.bed: No such file' 'a missing file' stats missing.bed
for track in t.bg p.bw p.h5; do
    run covpeaks stats p.bed $track
    refused 2 "$track: a track, not peaks; call its peaks with covpeaks call\$" "$track has no peaks"
    stdout_is '' '  and no table'
done
run covpeaks compare --chrom-sizes sizes p.bed t.bg
refused 2 't\.bg: a track, not peaks; call its peaks with covpeaks call$' '  nor for compare'
run covpeaks compare p.bed m.bed
refused 2 'needs --genome or --chrom-sizes$' 'no genome'
for what in 'compare --chrom-sizes sizes p.bed m.bed' 'stats p.bed'; do
    # shellcheck disable=SC2086 # words
    run covpeaks $what --stats -
    refused 2 '--stats and the table cannot both go to standard output$' "${what%% *}: JSON in the table"
done
run covpeaks compare --genome g.h5 --chrom-sizes sizes p.bed m.bed
refused 2 '--genome and --chrom-sizes cannot be used together$' 'two genomes'
run covpeaks compare --chrom-sizes - p.bed m.bed
refused 2 'error: --chrom-sizes: must not be standard input$' 'lengths from standard input'

# ---------------------------------------------------------------- curve

for seed in 1 2 3; do
    check track $seed >t.bg || exit 99
    check narrow 2.5 200 30 t.bg | awk -v OFS='\t' 'NR % 3 { print $1, $2 + 20, $3 + 90 }' >m.bed
    run covpeaks curve -f --measured m.bed --windows 1,16,64 --points 9999 --stats s.json t.bg
    status_is 0 "curve $seed"
    check curve t.bg m.bed 1 16 64 >wanted
    is "$(cat "$stdout")" "$(cat wanted)" '  precision and recall at each value'
    is "$(check areas s.json t.bg m.bed 2>&1)" 3 '  areas, baselines and the best cutoffs'
done
stderr_like '^covpeaks: window 16: area 0\.[0-9]+ \(baseline 0\.[0-9]+\), largest F1 0\.[0-9]+ at [0-9.]+$' '  are printed'
printf 'chr1\t1500\t1700\nchr10\t0\t9\n' >drop.bed
check cut t.bg drop.bed >d.bg
run covpeaks curve -q --measured m.bed --blacklist-file drop.bed t.bg
check curve d.bg m.bed 1 >wanted
is "$(cat "$stdout")" "$(cat wanted)" 'regions that do not count'
stderr_is '' '  without a warning'
run covpeaks curve -q --measured m.bed d.bg
is "$(cat "$stdout")" "$(cat wanted)" 'bases without a value do not count'
run sh -c 'covpeaks curve -q --measured m.bed - <t.bg'
check curve t.bg m.bed 1 >wanted
is "$(cat "$stdout")" "$(cat wanted)" 'standard input'
run covpeaks curve -q --measured m.bed -o curve.tsv --plot curve.svg --windows 1,16 t.bg
status_is 0 'files'
check curve t.bg m.bed 1 16 >wanted
ok '  a table' cmp curve.tsv wanted
ok '  a picture with the curves and the baseline' "$PYTHON" -c '
import sys, xml.etree.ElementTree as tree
texts = "".join(tree.parse("curve.svg").getroot().itertext())
for wanted in "not smoothed: area 0.", "window 16: area 0.", "baseline 0.", "recall", "precision", "t: bases in peaks of m":
    assert wanted in texts, wanted'
run covpeaks curve -q --measured m.bed --windows 64 --points 10 --stats s.json -f t.bg
check curve t.bg m.bed 64 | sort >all
is "$(sort "$stdout" | comm -13 all -)" '' '--points: each row is also in the whole table'
n=$(wc -l <"$stdout")
ok '  few' [ "$n" -ge 5 -a "$n" -le 14 ]
is "$(check areas s.json t.bg m.bed 2>&1)" 1 '  with the same area'
ok '  and the best' grep -q "	$("$PYTHON" -c 'import json; print(json.load(open("s.json"))["curves"][0]["best"]["f1"])')	" "$stdout"

check track 9 >u.bg
run covpeaks call -q -c 2.5 -l 100 -g 10 -o u.narrowPeak u.bg
run covpeaks curve --measured-cutoff 2.5 -l 100 -g 10 --measured u.bg u.bg
status_is 0 'a measured track'
cp "$stdout" from_track
run covpeaks curve --measured u.narrowPeak u.bg
ok '  gives the curve of its peaks' cmp "$stdout" from_track
make_input exp m.h5 >"$tap_dir/said" 2>&1 || exit 99
covpeaks call -q -c 3 -l 1 -g 0 --experimental --datasets h3k4me3 -o m.h5.bed m.h5 || exit 99
run covpeaks curve -q --datasets h3k4me3 --measured m.h5.bed p.h5
cp "$stdout" from_bed
status_is 0 'predictions'
run covpeaks curve -q --measured m.h5.bed p.bw
ok '  and their bigWig' cmp "$stdout" from_bed
run covpeaks curve -q --datasets h3k4me3 --measured m.h5 --measured-cutoff 3 -l 1 -g 0 p.h5
ok '  with measured coverage' cmp "$stdout" from_bed

printf 'chrX\t0\t5\n' | cat - m.bed >mx.bed
run covpeaks curve -q --measured mx.bed t.bg
stderr_is 'covpeaks: warning: mx.bed: 1 peak on sequences that are not in t.bg: chrX' 'a peak elsewhere'
awk '{ end[$1] = $3 } END { for (name in end) print name, end[name] }' t.bg >sizes4
grep -v '	0$' t.bg >sparse.bg
run covpeaks curve -q --chrom-sizes sizes4 --measured m.bed sparse.bg
stderr_like '^covpeaks: warning: sparse\.bg: [0-9]+ % of its bases have no value and are not counted; store zeros as 0$' 'a track without its zeros'
awk -v OFS='\t' '{ print $1, 0, $2 }' sizes4 >all.bed
run covpeaks curve -q --measured all.bed t.bg
stderr_is 'covpeaks: warning: all.bed: all bases of t.bg are in its peaks; a track needs --measured-cutoff' 'peaks everywhere'
printf 'chr1\t0\t1\t1\nchr10\t0\t1\t1\nchr2\t0\t1\t1\n' >tiny.bg
# refuses_curve STATUS REGEX NAME [ARG]...
refuses_curve() {
    wanted=$1 regex=$2 name=$3
    shift 3
    find . | sort >"$tap_dir/before"
    run covpeaks curve "$@"
    refused "$wanted" "$regex" "$name"
    stdout_is '' '  without a table'
    is "$(find . | sort | comm -13 "$tap_dir/before" -)" '' '  and leaves nothing'
}
refuses_curve 2 '--measured is missing' 'no measured peaks' t.bg
refuses_curve 2 'u\.bg: a track needs --measured-cutoff$' 'a track without a cutoff' --measured u.bg t.bg
refuses_curve 2 'p\.bw: a track needs --measured-cutoff$' '  a bigWig' --measured p.bw t.bg
refuses_curve 1 'u\.bg: no peaks at 99: the largest value is 13$' 'a track without peaks' --measured u.bg --measured-cutoff 99 -o y.tsv t.bg
refuses_curve 1 'none\.bed: there are no peaks$' 'a file without peaks' --measured none.bed -o y.tsv --plot y.svg t.bg
refuses_curve 1 'x\.bed: none of the sequences with peaks \(chrX\) is in t\.bg \(chr1, chr10, chr2, empty\); --rename maps names$' 'other names' --measured x.bed -o y.tsv t.bg
refuses_curve 1 'word\.bed:2: expected a sequence, a start and an end$' 'a malformed line' --measured word.bed -o y.tsv t.bg
refuses_curve 1 'm\.bed: no base of tiny\.bg is in its peaks$' 'peaks elsewhere' --measured m.bed -o y.tsv tiny.bg
refuses_curve 1 'long\.bed:1: the peak ends at 99999, but chr1 has only [0-9]+ bases in p\.bw$' 'past the end' --measured long.bed -o y.tsv p.bw
refuses_curve 2 '--windows: duplicate 16$' 'the same window twice' --measured m.bed --windows 16,16 t.bg
refuses_curve 2 "^covpeaks: error: --windows: 'x' is not an integer" 'a window that is a word' --measured m.bed --windows x t.bg
refuses_curve 2 'standard input: several --windows need a file$' 'windows of standard input' --measured m.bed --windows 1,2 -
refuses_curve 2 '--min-length needs --measured-cutoff$' 'a length without a cutoff' --measured m.bed -l 5 t.bg
refuses_curve 2 'y\.gif: the name must end in \.png or \.svg$' 'another picture' --measured m.bed --plot y.gif t.bg
refuses_curve 2 'p\.h5: 2 data sets' 'two data sets' --measured m.bed p.h5
refuses_curve 1 'curve\.tsv: already exists; use -f to replace it$' 'an existing table' --measured m.bed -o curve.tsv t.bg

# ---------------------------------------------------------------- call --auto

# auto NAME TRACK LENGTH GAP [OPTION]...: the cutoff in --stats and the number of peaks.
auto() {
    name=$1 file=$2 length=$3 gap=$4
    shift 4
    run covpeaks call -f --auto -l "$length" -g "$gap" --stats s.json -o auto.bed "$@" "$file"
    status_is 0 "--auto: $name"
    stderr_like '^covpeaks: cutoff ' '  prints the cutoff'
    found=$("$PYTHON" -c 'import json
peaks = json.load(open("s.json"))["peaks"]
print("%.9g %d" % (peaks["cutoff"], peaks["n"]))')
    is "$(wc -l <auto.bed)" "${found#* }" '  with its peaks'
}
for seed in 4 6; do
    check track $seed >t.bg || exit 99
    check cut t.bg drop.bed >gaps.bg
    check narrow 5 20 10 t.bg | awk -v OFS='\t' 'NR % 4 { print $1, $2, $3 + 30 }' >m.bed
    for track in t gaps; do
        for goal in 1 25 1000; do
            auto "$track $seed: $goal peaks" $track.bg 20 10 --count $goal
            is "$found" "$(check auto count $goal 20 10 $track.bg)" '  the closest'
        done
        for goal in 0.01 0.6; do
            auto "a share of $goal" $track.bg 50 5 --share $goal
            is "$found" "$(check auto share $goal 50 5 $track.bg)" '  the closest'
        done
        auto 'measured peaks' $track.bg 20 10 --measured m.bed
        is "$found" "$(check auto measured m.bed 20 10 $track.bg)" '  the largest F1'
    done
done
auto 'too many peaks' t.bg 20 10 --count 1000
stderr_like '^covpeaks: warning: t\.bg: no cutoff gives 1000 peaks; the most is [0-9]+$' '  is a warning'
auto 'measured peaks' t.bg 20 10 --measured m.bed
awk '{ end[$1] = $3 } END { for (name in end) print name, end[name] }' t.bg >sizes5
run covpeaks compare --chrom-sizes sizes5 auto.bed m.bed
is "$(tail -n 1 "$stdout" | cut -f 2 | cut -c 1-12)" "$("$PYTHON" -c 'import json; print(str(json.load(open("s.json"))["peaks"]["f1"])[:12])')" 'the F1 is that of compare'
cov2bigwig -q --window-size 64 -o smooth.bg t.bg || exit 99
auto 'a smoothed track' t.bg 20 10 --window-size 64 --count 20
is "$found" "$(check auto count 20 20 10 smooth.bg)" '  has other values'
run sh -c 'covpeaks call -q --auto --count 12 -l 20 -g 10 -o - - <t.bg'
cut -f 1-3 "$stdout" >piped
covpeaks call -q -f --auto --count 12 -l 20 -g 10 -o auto.bed t.bg
is "$(cat piped)" "$(cut -f 1-3 auto.bed)" 'from and to a pipe'
run covpeaks call -q --auto --count 30 -l 5 -g 3 --datasets h3k4me3 -o - p.h5
cut -f 1-3 "$stdout" >from_h5
run covpeaks call -q --auto --count 30 -l 5 -g 3 -o - p.bw
is "$(cut -f 1-3 "$stdout")" "$(cat from_h5)" 'predictions, and their bigWig'
covpeaks call -q -f -c 2.5 -l 20 -g 10 -o u.narrowPeak u.bg
auto 'measured peaks of a file' t.bg 20 10 --measured u.narrowPeak
wanted=$found
auto 'a measured track' t.bg 20 10 --measured u.bg --measured-cutoff 2.5
is "$found" "$wanted" '  gives the same'

refuses_call 2 '^covpeaks: error: -c/--cutoff is missing; --auto would find one$' 'neither a cutoff nor --auto' -o y.bed t.bg
refuses_call 2 '--cutoff and --auto cannot be used together$' 'both' --auto --count 5 -c 2 -o y.bed t.bg
refuses_call 2 '--auto needs one of --count, --share and --measured$' '--auto without a goal' --auto -o y.bed t.bg
refuses_call 2 '--auto needs only one of --count, --share and --measured$' '  with two' --auto --count 5 --share 0.1 -o y.bed t.bg
refuses_call 2 '--share needs --auto$' 'a goal without --auto' -c 2 --share 0.1 -o y.bed t.bg
refuses_call 2 '--measured-cutoff needs --measured$' 'a cutoff of nothing' --auto --count 5 --measured-cutoff 5 -o y.bed t.bg
refuses_call 2 '--broad and --auto cannot be used together$' 'broad peaks' --auto --count 5 --broad -C 1 -o y.bed t.bg
refuses_call 2 '--share: 1.5 is out of range ' 'more than all' --auto --share 1.5 -o y.bed t.bg
refuses_call 1 't\.bg: no peaks at any cutoff: all are shorter than 1000000 bases \(--min-length\)$' 'no peaks' --auto --count 5 -l 1M -o y.bed t.bg
refuses_call 1 'x\.bed: none of the sequences with peaks \(chrX\) is in t\.bg' 'other names' --auto --measured x.bed -o y.bed t.bg
refuses_call 1 'm\.bed: no base of tiny\.bg is in its peaks$' 'no measured base' --auto --measured m.bed -l 1 -o y.bed tiny.bg
: >empty.bg
refuses_call 1 'empty\.bg: ' 'an empty track' --auto --count 5 -o y.bed empty.bg

# ---------------------------------------------------------------- stats

printf 'chr1\t0\t10\nchr1\t5\t25\nchr2\t100\t133\n' >s.bed
run covpeaks stats s.bed
stdout_is 'file	peaks	mean_length	median_length	bases	share
s.bed	3	21	20	58	NA' 'stats: overlapping bases count once'
h5chunk subset -q -r chr1:1-500 -o part.h5 g.h5
run covpeaks stats --genome part.h5 s.bed
stderr_is "covpeaks: warning: part.h5: partial file: $(awk '{ n += $2 } END { print n - 500 }' sizes) bases are missing, but count in the share" '  a partial file is a warning'
run covpeaks stats --genome g.h5 s.bed
stderr_is '' '  a whole one is none'
printf 'chr1\t150\nchr2\t200\n' >sizes
run covpeaks stats --chrom-sizes sizes s.bed x.narrowPeak
refused 1 'x\.narrowPeak: No such file' '  of a missing file'
stdout_is '' '  prints no rows of others'
run covpeaks stats --chrom-sizes sizes s.bed
is "$(tail -n 1 "$stdout" | cut -f 6)" "$("$PYTHON" -c 'print(58 / 350)')" '  share of the genome'
tab=$(printf '\t.')
cp s.bed "a${tab%.}b.bed"
run covpeaks stats "a${tab%.}b.bed"
is "$(tail -n 1 "$stdout" | cut -f 1,2)" 'a?b.bed	3' '  a tab in a name starts no column'
done_testing
