#!/bin/sh
# covpeaks curve and covpeaks call --auto: against peaks found base by base at all cutoffs (tests/oracle/peaks_check.py); measured
# peaks and tracks, refusals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covpeaks.sh"

# ---------------------------------------------------------------- curve

make_predictions
: >none.bed
printf 'chrX\t0\t5\n' >x.bed
printf 'chr1\t0\t99999\n' >long.bed
printf 'chr1\t0\t5\nchr1\tx\t5\n' >word.bed
for seed in 1 2 3; do
    check track $seed >t.bg || exit 99
    check narrow 2.5 200 30 t.bg | awk -v OFS='\t' 'NR % 3 { print $1, $2 + 20, $3 + 90 }' >m.bed
    run_ok "curve $seed" covpeaks curve -f --measured m.bed --windows 1,8,16 --stats s.json t.bg
    prints '  precision and recall at each value' curve t.bg m.bed 1 8 16
    is "$(check areas s.json t.bg m.bed 2>&1)" 3 '  areas, baselines and the best cutoffs'
done
stderr_like '^covpeaks: window 16: area 0\.[0-9]+ \(baseline 0\.[0-9]+\), largest F1 0\.[0-9]+ at [0-9.]+$' '  are printed'
printf 'chr1\t1500\t1700\nchr10\t0\t9\n' >drop.bed
check cut t.bg drop.bed >d.bg
run covpeaks curve -q --measured m.bed --blacklist-file drop.bed t.bg
prints 'regions that do not count' curve d.bg m.bed 1
stderr_is '' '  without a warning'
run covpeaks curve -q --measured m.bed d.bg
is "$(cat "$stdout")" "$(cat wanted)" 'bases without a value do not count'
run sh -c 'covpeaks curve -q --measured m.bed - <t.bg'
prints 'standard input' curve t.bg m.bed 1
run_ok 'files' covpeaks curve -q --measured m.bed -o curve.tsv --plot curve.svg --windows 1,16 t.bg
check curve t.bg m.bed 1 16 >wanted
ok '  a table' cmp curve.tsv wanted
ok '  a picture with the curves and the baseline' "$PYTHON" -c '
import sys, xml.etree.ElementTree as tree
texts = "".join(tree.parse("curve.svg").getroot().itertext())
for wanted in "not smoothed: area 0.", "window 16: area 0.", "baseline 0.", "recall", "precision", "t: bases in peaks of m":
    assert wanted in texts, wanted'
mkdir fake
# shellcheck disable=SC2016 # for the fake
printf '#!/bin/sh\ntee "%s/script" | "%s" "$@"\n' "$PWD" "$(command -v gnuplot)" >fake/gnuplot
chmod +x fake/gnuplot
printf 'c\t%d\t%d\t%d\n' 0 10 9 10 20 5 20 30 3 30 40 1 >steps.bg
printf 'c\t0\t10\n' >first.bed
PATH=$PWD/fake:$PATH run covpeaks curve -q --measured first.bed -o steps.tsv --plot steps.svg steps.bg
is "$(sed -n '/^\$d0 << EOD/,/^EOD/p' script | cut -d ' ' -f 1,2 | sed '1d; $d')" "$(printf '1 %s\n' 1 0.5 0.333333333 0.25)" \
    '  where recall stays the same, precision falls with the cutoff'
run covpeaks curve -q --measured m.bed --windows 64 --stats s.json -f t.bg
check curve t.bg m.bed 64 | sort >all
is "$(sort "$stdout" | comm -13 all -)" '' 'more than 1000 cutoffs: each row is also in the whole table'
n=$(wc -l <"$stdout")
covpeaks curve -q --measured m.bed --windows 1,64 --stats weed_mqc.json -o weed.tsv t.bg || exit 99
ok '  a graph of a report has the curves' "$PYTHON" -c '
import csv, json
lines = json.load(open("weed.curve_mqc.json"))["data"]
assert list(lines) == ["weed.window 1", "weed.window 64"], list(lines)
rows = [(float(x["recall"]), float(x["precision"])) for x in csv.DictReader(open("weed.tsv"), delimiter="\t")]
for line in lines.values():
    assert line[-1][0] == 1 and 5 < len(line) <= 202 and all(tuple(p) in rows for p in line), line'
ok '  fewer' [ "$n" -ge 100 -a "$n" -le 1010 -a "$(wc -l <all)" -gt 1400 ]
is "$(check areas s.json t.bg m.bed 2>&1)" 1 '  with the same area'
ok '  and the best' grep -q "	$("$PYTHON" -c 'import json; print(json.load(open("s.json"))["curves"][0]["best"]["f1"])')	" "$stdout"

check track 9 >u.bg
run covpeaks call -q -c 2.5 -l 100 -g 10 -o u.narrowPeak u.bg
run_ok 'a measured track' covpeaks curve --measured-cutoff 2.5 -l 100 -g 10 --measured u.bg u.bg
cp "$stdout" from_track
run covpeaks curve --measured u.narrowPeak u.bg
ok '  gives the curve of its peaks' cmp "$stdout" from_track
make_input exp m.h5 >"$tap_dir/said" 2>&1 || exit 99
covpeaks call -q -c 3 -l 1 -g 0 --experimental --datasets h3k4me3 -o m.h5.bed m.h5 || exit 99
run_ok 'measured coverage' covpeaks curve -q --experimental --datasets atacseq --measured m.h5.bed m.h5
cp "$stdout" experimental
run covpeaks curve -q --datasets atacseq --measured m.h5.bed m.h5
ok '  also without --experimental' cmp "$stdout" experimental
run covpeaks curve -q --datasets h3k4me3 --measured m.h5.bed p.h5
cp "$stdout" from_bed
status_is 0 'predictions'
run covpeaks curve -q --measured m.h5.bed p.bw
ok '  and their bigWig' cmp "$stdout" from_bed
run covpeaks curve -q --datasets h3k4me3 --measured m.h5 --measured-cutoff 3 -l 1 -g 0 p.h5
ok '  with measured coverage' cmp "$stdout" from_bed
run covpeaks curve -q --measured m.h5 --measured-cutoff 3 --measured-dataset h3k4me3 -l 1 -g 0 p.bw
ok '  whose dataset is chosen for a track' cmp "$stdout" from_bed
run covpeaks call -q -f --auto --measured m.h5 --measured-cutoff 3 --measured-dataset h3k4me3 -l 1 -g 0 -o auto1.bed p.bw
status_is 0 '  also by call --auto'
run covpeaks call -q -f --auto --measured m.h5.bed -l 1 -g 0 -o auto2.bed p.bw
ok '  the same as with its peaks' cmp auto1.bed auto2.bed
run covpeaks curve -q --datasets atacseq --measured m.h5 --measured-cutoff 3 --measured-dataset h3k4me3 -l 1 -g 0 p.h5
cp "$stdout" other
run covpeaks curve -q --datasets atacseq --measured m.h5.bed p.h5
ok '  and may be another one than that of the input' cmp "$stdout" other

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
for how in '--measured none.bed' '--measured u.bg --measured-cutoff 99'; do
    # shellcheck disable=SC2086 # words
    run_ok "no measured peaks: $how" covpeaks curve -f $how -o none.tsv --plot none.svg --stats s.json t.bg
    is "$(sed 1d none.tsv | cut -f 2- | sort -u)" '1	0	0	0' '  precision and recall are 0'
    ok '  the area, too' grep -q '"area": 0,' s.json
done
like "$(cat "$stderr")" '^covpeaks: warning: u\.bg: no peaks at 99: the largest value is 13
' '  a warning says why'
printf 'chr1\t0\t1\t1\nchr10\t0\t1\t1\nchr2\t0\t1\t1\n' >tiny.bg
refuses 2 '--measured is missing' 'no measured peaks' curve t.bg
refuses 1 'm\.h5: 2 datasets \(atacseq, h3k4me3\); choose one with --measured-dataset$' 'two measured datasets' curve --measured m.h5 --measured-cutoff 3 p.bw
refuses 1 "m\.h5: unknown dataset 'x'; it has: atacseq, h3k4me3$" 'an unknown one' curve --measured m.h5 --measured-cutoff 3 --measured-dataset x p.bw
refuses 1 'p\.h5: 2 datasets' '  the input needs one, too' curve --measured m.h5 --measured-cutoff 3 --measured-dataset atacseq p.h5
refuses 1 '--measured-dataset: u\.bg is a track, which has no datasets$' '  of a track' curve --measured u.bg --measured-cutoff 3 --measured-dataset x t.bg
refuses 2 '--measured-dataset needs --measured-cutoff$' '  of peaks' curve --measured m.bed --measured-dataset x t.bg
h5chunk drop -q --datasets atacseq -o m1.h5 m.h5 || exit 99
refuses 1 "m1\\.h5: unknown dataset 'atacseq'; it has: h3k4me3; choose one with --measured-dataset\$" '  not that of the input' curve \
    --datasets atacseq --measured m1.h5 --measured-cutoff 3 p.h5
refuses 1 'x\.bed: none of the sequences with peaks \(chrX\) is in t\.bg \(chr1, chr10, chr2, empty\); --rename maps names$' 'other names' curve --measured x.bed -o y.tsv t.bg
refuses 1 'word\.bed:2: expected contig, start and end$' 'a malformed line' curve --measured word.bed -o y.tsv t.bg
refuses 1 'm\.bed: no base of tiny\.bg is in its peaks$' 'peaks elsewhere' curve --measured m.bed -o y.tsv tiny.bg
refuses 1 'long\.bed:1: the peak ends at 99999, but chr1 has only [0-9]+ bases in p\.bw$' 'past the end' curve --measured long.bed -o y.tsv p.bw
refuses 2 "^covpeaks: error: --windows: 'x' is not an integer" 'a window that is a word' curve --measured m.bed --windows x t.bg
refuses 2 '--min-length needs --measured-cutoff$' 'a length without a cutoff' curve --measured m.bed -l 5 t.bg
refuses 2 'y\.gif: the name must end in \.png or \.svg$' 'another picture' curve --measured m.bed --plot y.gif t.bg
refuses 1 'p\.h5: 2 datasets' 'two datasets' curve --measured m.bed p.h5
refuses 1 'curve\.tsv: already exists; use -f to replace it$' 'an existing table' curve --measured m.bed -o curve.tsv t.bg

# ---------------------------------------------------------------- curve: several inputs

# Tracks and peaks of two species, whose sequences have the same names.
awk -v OFS='\t' '{ print $1, $2 + 3, $3 + 5 }' m.bed >n.bed
awk '{ end[$1] = $3 } END { for (name in end) print name "\t" end[name] }' u.bg >sizes_u
awk -v OFS='\t' 'FNR == NR { end[$1] = $2; next } $3 <= end[$1]' sizes_u n.bed >o.bed
covpeaks curve -q --measured m.bed --windows 1,16 --stats t.json t.bg >t.tsv || exit 99
covpeaks curve -q --measured o.bed --windows 1,16 --stats u.json u.bg >u.tsv || exit 99
joined() { # LABEL TABLE LABEL TABLE: with a first column of the labels
    awk -v OFS='\t' -v labels="$1,$3" 'BEGIN { split(labels, label, ",") }
        FNR == 1 { n++ } FNR == 1 && n > 1 { next } { print NR == 1 ? "input" : label[n], $0 }' "$2" "$4"
}
run_ok 'several inputs' covpeaks curve -q --measured m.bed,o.bed --windows 1,16 --plot two.svg --stats two.json t.bg u.bg
joined t t.tsv u u.tsv >wanted
ok '  the table names them' cmp "$stdout" wanted
ok '  statistics of each, and of all' "$PYTHON" -c '
import json
two, *ones = (json.load(open(name + ".json")) for name in ("two", "t", "u"))
assert two["curves"] == ones[0]["curves"] + ones[1]["curves"]
assert [c["input"] for c in two["curves"]] == ["t", "t", "u", "u"]
assert two["bases"] == ones[0]["bases"] + ones[1]["bases"]'
ok '  a picture with all curves and both baselines' "$PYTHON" -c '
import xml.etree.ElementTree as tree
texts = [text.strip() for text in tree.parse("two.svg").getroot().itertext()]
for wanted in "t, window 1: area 0.", "t, window 16: area 0.", "u, window 1: area 0.", "u, window 16: area 0.", "baselines":
    assert sum(text.startswith(wanted) for text in texts) == 1, wanted
assert "bases in peaks of the experiments" in texts'
run_ok 'two models' covpeaks curve -q --measured m.bed --labels 'old,the new' --plot same.svg --stats same_mqc.json t.bg d.bg
is "$(cut -f 1 "$stdout" | uniq | tr '\n' ,)" 'input,old,the new,' '  have labels'
ok '  also in the report' "$PYTHON" -c '
import json
assert list(json.load(open("same.curve_mqc.json"))["data"]) == ["same.old", "same.the new"]'
mkdir -p there
cp d.bg there/t.bg
run covpeaks curve -q --measured m.bed t.bg there/t.bg
is "$(cut -f 1 "$stdout" | uniq | tr '\n' ,)" 'input,t,there/t.bg,' 'files of the same name'
covpeaks curve -q --datasets h3k4me3 --measured m.h5.bed p.h5 >h.tsv || exit 99
run covpeaks curve -q --datasets h3k4me3 --measured m.h5.bed --labels h5,bw p.h5 p.bw
joined h5 h.tsv bw h.tsv >wanted
ok 'predictions and a bigWig: --datasets is for one of them' cmp "$stdout" wanted
covpeaks curve -q --datasets h3k4me3 --measured m.h5.bed m.h5 >m.tsv || exit 99
run covpeaks curve -q --datasets h3k4me3 --measured m.h5.bed m.h5 p.h5
joined m m.tsv p h.tsv >wanted
ok 'a genome file and predictions' cmp "$stdout" wanted
run sh -c 'covpeaks curve -q --measured m.bed,o.bed - u.bg <t.bg'
covpeaks curve -q --measured m.bed,o.bed --labels stdin,u t.bg u.bg >wanted
ok 'standard input and a file' cmp "$stdout" wanted
run covpeaks curve --measured mx.bed,o.bed t.bg u.bg
stderr_like 'warning: mx\.bed: 1 peak on sequences that are not in t\.bg: chrX' 'a peak elsewhere, of one of them'
grep -v '^chr2	' m.bed >few.bed
awk '$1 == "chr2"' t.bg >chr2.bg
refuses 1 'few\.bed: none of the sequences with peaks \(chr1, chr10\) is in chr2\.bg \(chr2\)' 'other names, of the second only' \
    curve --measured few.bed -o y.tsv --plot y.svg t.bg chr2.bg
refuses 2 '--measured: 2 files for 3 inputs$' 'too few measured files' curve --measured m.bed,n.bed t.bg u.bg d.bg
refuses 2 '--measured: 2 files for 1 input$' '  too many' curve --measured m.bed,n.bed t.bg
refuses 2 '--labels: 1 label for 2 inputs$' 'too few labels' curve --measured m.bed --labels a t.bg u.bg
refuses 2 "--labels: duplicate a$" 'a label twice' curve --measured m.bed --labels a,a t.bg u.bg
refuses 2 't\.bg: ' 'an input twice' curve --measured m.bed t.bg t.bg

# ---------------------------------------------------------------- call --auto

# auto NAME TRACK LENGTH GAP [OPTION]...: the cutoff in --stats and the number of peaks.
auto() {
    name=$1 file=$2 length=$3 gap=$4
    shift 4
    run_ok "--auto: $name" covpeaks call -f --auto -l "$length" -g "$gap" --stats s.json -o auto.bed "$@" "$file"
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

# broad NAME GOAL VALUE [OPTION]...: like `auto`, for broad peaks of t.bg.
broad() {
    name=$1 goal=$2 value=$3
    shift 3
    run covpeaks call -f --auto --broad -l 20 -g 10 -G 150 --stats s.json -o auto.bed "--$goal" "$value" "$@" t.bg
    status_is 0 "--auto --broad: $name"
    stderr_like '^covpeaks: cutoff [0-9.]+, weak cutoff [0-9.]+: ' '  prints the cutoffs'
    found=$("$PYTHON" -c 'import json
peaks = json.load(open("s.json"))["peaks"]
print("%.9g %d" % (peaks["weak_cutoff"], peaks["n"]))')
    is "$(wc -l <auto.bed)" "${found#* }" '  with its peaks'
    cutoffs=$("$PYTHON" -c 'import json
peaks = json.load(open("s.json"))["peaks"]
print("-c %.9g -C %.9g" % (peaks["cutoff"], peaks["weak_cutoff"]))')
    # shellcheck disable=SC2086 # words
    run covpeaks call -q --broad -l 20 -g 10 -G 150 $cutoffs -o again.bed -f t.bg
    ok '  the same as with these cutoffs' cmp again.bed auto.bed
}
check track 6 >t.bg || exit 99
check gapped 5 2.5 20 10 150 t.bg | awk -v OFS='\t' 'NR % 4 { print $1, $2, $3 + 30 }' >m.bed
for goal in 'count 3' 'count 25' 'share 0.2' 'share 0.7' 'measured m.bed'; do
    # shellcheck disable=SC2086 # words
    set -- $goal
    broad "$goal" "$1" "$2"
    is "$found" "$(check auto "$1" "$2" 20 10 t.bg 150)" '  the closest'
    is "$cutoffs" "-c $("$PYTHON" -c "print('%.9g -C %.9g' % (2 * ${found% *}, ${found% *}))")" '  at twice the weak cutoff'
    broad "$goal, -c 8" "$1" "$2" -c 8
    is "$found ${cutoffs%% -C*}" "$(check auto "$1" "$2" 20 10 t.bg 150 8) -c 8" '  below a given cutoff'
done
broad 'measured peaks' measured m.bed
awk '{ end[$1] = $3 } END { for (name in end) print name, end[name] }' t.bg >sizes6
run covpeaks compare --chrom-sizes sizes6 auto.bed m.bed
is "$(tail -n 1 "$stdout" | cut -f 2 | cut -c 1-12)" "$("$PYTHON" -c 'import json; print(str(json.load(open("s.json"))["peaks"]["f1"])[:12])')" '  the F1 is that of compare'
run covpeaks call -q -f --auto --broad -l 20 -g 10 -c 0.7 --share 0.001 -o auto.bed t.bg
stderr_like '^covpeaks: warning: t\.bg: the weak cutoff cannot be higher: the next value is not less than --cutoff$' 'a weak cutoff at its limit'
printf 'c\t0\t300\t3\nc\t300\t900\t8\nc\t900\t1000\t0\n' >low.bg
run covpeaks call -f --auto --broad --share 0.5 -o auto.bed low.bg
stderr_like '^covpeaks: warning: low\.bg: the weak cutoff cannot be higher: no sequence has a peak at twice the next value; -c sets the cutoff
covpeaks: cutoff 6, weak cutoff 3: 90 % of the bases are in peaks, closest to 50 %
' '  because of the cutoff'
# A contig without a strong peak has no broad ones, whatever the cutoff.
printf 'high\t0\t300\t8\nhigh\t300\t900\t3\nlow\t0\t400\t3\nlow\t400\t900\t0\n' >two.bg
run covpeaks call -q -f --auto --broad -c 8 -l 20 -g 10 --count 2 -o auto.bed two.bg
is "$(cut -f 1-3 auto.bed)" 'high	0	900' '  on sequences with a strong peak'
run_ok '  with a preset' covpeaks call -q -f --auto --preset h3k4me3 --share 0.1 -o preset.gappedPeak t.bg
run covpeaks call -q -f --auto --broad -l 200 -g 30 -G 500 --share 0.1 -o broad.gappedPeak t.bg
ok '  the same as its options' cmp preset.gappedPeak broad.gappedPeak
covpeaks call -q -f -c 2.5 -l 20 -g 150 -o u150.narrowPeak u.bg
broad 'peaks of a file' measured u150.narrowPeak
wanted=$found
broad 'a measured track has the gaps of regions' measured u.bg --measured-cutoff 2.5
is "$found" "$wanted" '  the same'

refuses 2 '--cutoff and --auto cannot be used together$' 'both' call --auto --count 5 -c 2 -o y.bed t.bg
refuses 2 '--auto needs only one of --count, --share and --measured$' '  with two' call --auto --count 5 --share 0.1 -o y.bed t.bg
refuses 2 '--share needs --auto$' 'a goal without --auto' call -c 2 --share 0.1 -o y.bed t.bg
refuses 2 '--measured-cutoff needs --measured$' 'a cutoff of nothing' call --auto --count 5 --measured-cutoff 5 -o y.bed t.bg
refuses 2 '--weak-cutoff and --auto cannot be used together: with --broad, --auto finds the weak cutoff$' 'a weak cutoff and --auto' call \
    --auto --count 5 --broad -C 1 -o y.bed t.bg
refuses 1 't\.bg: no value is less than --cutoff 0$' 'no weak cutoff' call --auto --count 5 --broad -c 0 -o y.bed t.bg
refuses 1 't\.bg: no broad peaks: no sequence has a peak of 20 bases \(--min-length\) at --cutoff 99$' 'no strong peak' call \
    --auto --count 5 --broad -c 99 -l 20 -o y.bed t.bg
refuses 1 't\.bg: no broad peaks: no sequence has a peak of 1000000 bases \(--min-length\) at twice any value$' '  at any cutoff' call \
    --auto --count 5 --broad -l 1M -o y.bed t.bg
printf 'c\t0\t500\t0\n' >zero.bg
refuses 1 'zero\.bg: no value is greater than 0$' '  nor a value' call --auto --count 5 --broad -o y.bed zero.bg
refuses 2 '--share: 1.5 is out of range ' 'more than all' call --auto --share 1.5 -o y.bed t.bg
refuses 1 'none\.bed: there are no peaks$' 'nothing to agree with' call --auto --measured none.bed -o y.bed t.bg
refuses 1 'u\.bg: no peaks at 99: the largest value is 13$' '  a track' call --auto --measured u.bg --measured-cutoff 99 -o y.bed t.bg
refuses 1 't\.bg: no peaks at any cutoff: all are shorter than 1000000 bases \(--min-length\)$' 'no peaks' call --auto --count 5 -l 1M -o y.bed t.bg
refuses 1 'm\.bed: no base of tiny\.bg is in its peaks$' 'no measured base' call --auto --measured m.bed -l 1 -o y.bed tiny.bg
: >empty.bg
refuses 1 'empty\.bg: ' 'an empty track' call --auto --count 5 -o y.bed empty.bg
done_testing
