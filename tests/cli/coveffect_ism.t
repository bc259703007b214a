#!/bin/sh
# coveffect ism: scores equal those of covpredict's values for the edited genome; the files; regions that are refused.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/attribution_check.py"

cp "$SRC/workflows/demo/plant.ckpt" m.ckpt || exit 99 # single bases matter to it
awk "$random"'BEGIN {
    seed(7)
    n = split("1500 300 504", length_of, " ")
    for (s = 1; s <= n; s++) {
        printf ">c%d some words\n", n - s + 1
        for (i = 1; i <= length_of[s]; i++)
            printf "%s", (i % 1200 > 1190 ? "N" : letter(i % 20 ? "ACGTacgt" : "ACGTacgtR"))
        print ""
    }
}' >g.fa
# In the middle, over others, at both ends of a sequence, with N, in a short sequence.
printf '%s\t%s\t%s\n' c3 700 720 c3 710 730 c1 100 120 c3 2 22 c3 1480 1500 c3 1185 1205 c2 0 20 >r.bed
# Near both ends; past the end.
{ cat r.bed && printf 'c3\t0\t4\tfirst\nc3\t1498\t1502\tlast\n'; } >p.bed

ism() { run coveffect ism -q -m m.ckpt -g g.fa --window 504 --target h3k4me3 "$@"; }
refuses() { tool_refuses ism "$@"; }
predict() { covpredict -q -f --float --subsequence-length 504 -m "$1" -o e.h5 e.fa; }

# ---------------------------------------------------------------- scores and files

run_ok 'a directory' ism -R r.bed -o o/
is "$(cd o && echo ./* .[!.]*)" './attr.npz ./ohe.npz ./regions.bed ./scores.bw ./scores.h5 .[!.]*' '  has these files'
ask edited e.fa g.fa r.bed 504 0 0 || exit 99
predict m.ckpt || exit 99
ok '  with the scores of the values that covpredict gives the edited genome' ask ism o/attr.npz g.fa r.bed 504 0 0 504 e.h5 h3k4me3
bw_dump o/scores.bw >o.bg
ok '  the same in all files' ask forms o o.bg g.fa r.bed 0
ism -R r.bed --width 33 -o new/w
ok '  also of fewer values' ask ism new/w/attr.npz g.fa r.bed 504 0 0 33 e.h5 h3k4me3
ism -R r.bed --full -o full
ok '  also with --full' ask ism full/attr.npz g.fa r.bed 504 0 0 504 e.h5 h3k4me3
make_ckpt bi-hybrid n.ckpt 5 || exit 99
run coveffect ism -q -m m.ckpt,n.ckpt -g g.fa --window 504 --target atacseq -R r.bed -o two
predict m.ckpt,n.ckpt || exit 99
ok '  also of several checkpoints' ask ism two/attr.npz g.fa r.bed 504 0 0 504 e.h5 atacseq
ism -R p.bed --length 10 -o p
ask edited e.fa g.fa p.bed 504 10 0 || exit 99
predict m.ckpt || exit 99
ok '  also with --length, moved at the ends of sequences' ask ism p/attr.npz g.fa p.bed 504 10 0 504 e.h5 h3k4me3
bw_dump p/scores.bw >p.bg
ok '  in all files' ask forms p p.bg g.fa p.bed 10
ism -R p/regions.bed -o again
ok '  their regions give the same files' diff -r p again
ism -R p.bed --length 10 --deletions 3 -o d
ask edited e.fa g.fa p.bed 504 10 3 || exit 99
predict m.ckpt || exit 99
ok '  also of deletions' ask ism d/attr.npz g.fa p.bed 504 10 3 504 e.h5 h3k4me3

for how in '-@ 1 --batch-size 1' '-@ 2 --batch-size 3' '-@ 3 --batch-size 50'; do
    # shellcheck disable=SC2086 # a list of words
    ism -f $how -R r.bed -o x
    ok "  the same bytes with $how" diff -r o x
done
printf 'd1 c1\nd2 c2\nd3 c3\n' >names
sed 's/^>c/>d/' g.fa >d.fa
run coveffect ism -q -m m.ckpt -g d.fa --rename names --window 504 --target h3k4me3 -R r.bed -o renamed
ok '--rename' diff -r o renamed
ism -r c3:701-720,c3:711-730 -r c1:101-120,c3:3-22 -r c3:1,481- -r c3:1186-1205,c2:-20 -o text
ok '--regions' diff -r o text
tail -n 4 r.bed >four.bed
printf 'c3\t1480\t1700\n' >past.bed
ism -r c3:1481-1700 -R past.bed -o cut
ok '  cut at the ends of sequences, as in a BED file' eval \
    'cut -f 1-3 cut/regions.bed | uniq -c | grep "^ *2 c3	1480	1500$"'
stderr_like '^coveffect: warning: past\.bed:1: the region extends past the end of its sequence \(1 such line\); check that it is for this genome$' '  with a warning'
ism -r c3:701-720,c3:711-730,c1:101-120 -R four.bed -o both
ok '  before those of a file' diff -r o both
run coveffect ism -m m.ckpt -g g.fa --window 504 --target h3k4me3 -R r.bed --stats s.json -f -o x/
stderr_like '; 7 regions of 20 bases$' 'the number of regions'
ok '--stats' "$PYTHON" -c 'import json; s = json.load(open("s.json")); assert s["positions_computed"] > 7 * 504 * 2'

# ---------------------------------------------------------------- pictures

if command -v gnuplot >/dev/null; then
    run_ok 'a picture' ism -r c3:701-720,c3:711-730,c3:1185-1204 --plot x.svg -o plotted
    ok '  is XML' "$PYTHON" -c 'import xml.dom.minidom; xml.dom.minidom.parse("x.svg")'
    like "$(cat x.svg)" '>c3:701-720<' '  of the first region'
    like "$(cat x.svg)" '>20 bases; the height of a letter is its score<' '  and its letters'
    like "$(cat x.svg)" '>h3k4me3<' '  with the dataset'
    # letters FILE: the letters with their colours.
    letters() { "$PYTHON" "$SRC/tests/oracle/logo_letters.py" "$1"; }
    # bases FIRST LAST
    bases() { awk -v first="$1" -v last="$2" '/^>/ { on = $1 == ">c3" } on && !/^>/ { print toupper(substr($0, first, last - first + 1)) }' g.fa; }
    is "$(letters x.svg | tr -d '+-')" "$(bases 701 720)" '  those of the genome'
    ism -f -r c3:701-720,c3:711-730,c3:1185-1204 --plot x.svg --plot-region c3:691-735 -o plotted
    is "$(letters x.svg | tr -d '+-')" "$(bases 701 730)" '--plot-region: only scored bases have letters'
    bw_dump plotted/scores.bw | awk '$2 >= 700 && $2 < 730 { for (i = $2; i < $3; i++) printf "%s", ($4 > 0 ? "+" : "-") } END { print "" }' >signs
    is "$(letters x.svg | tr -d ACGT)" "$(cat signs)" '  upright if the score is positive'
    ism -f -r c3:1185-1204 --plot x.svg -o plotted
    is "$(letters x.svg | tr -d '+-')" "$(bases 1185 1204 | tr -d NR)" '  and no letter for N'
    ism -f -r c3:601-850 --plot x.svg -o plotted
    is "$(letters x.svg | tr -d '+-')" "$(bases 601 850 | tr -d NR)" 'a long logo has several rows'
    ism -f -r c3:701-720 --plot x.png -o plotted
    is "$(head -c 4 x.png | tail -c 3)" PNG '  as PNG'
    plot_refused() { refuses "$@" -r c3:701-720 -o y; }
    plot_refused 1 '^coveffect: error: --plot-region: c3:1-20 is in none of the regions$' 'no scores in the picture' --plot y.png --plot-region c3:1-20
    plot_refused 1 '^coveffect: error: --plot-region: c3 has 1500 bases, too many for letters; at most 960$' 'too many letters' --plot y.png --plot-region c3
    plot_refused 1 '^coveffect: error: --plot-region: region c9: unknown contig' 'an unknown sequence in the picture' --plot y.png --plot-region c9
    plot_refused 1 '^coveffect: error: --plot-region: region c3:2000-2010: begins past the end' 'a picture past the end' --plot y.png --plot-region c3:2000-2010
    plot_refused 2 '^coveffect: error: --plot-region needs --plot$' '--plot-region alone' --plot-region c3:1-20
    plot_refused 2 '^coveffect: error: --plot y\.pdf: the name must end in \.png or \.svg$' 'another picture' --plot y.pdf
fi

# A GPU in emulation
if [ -e "$TESTLIB/../plugins/covtools-cuda.so" ]; then
    head -n 1 r.bed >one.bed
    COVTOOLS_MOCK=shared=232448 COVTOOLS_PLUGINS=$TESTLIB/../plugins \
        run coveffect ism -v -m m.ckpt -g g.fa --window 48 --target atacseq --device cuda -R one.bed --length 3 -o gpu
    status_is 0 'on a GPU'
    stderr_like '^coveffect: GPU 0 \(Mock A\): a chunk after an edit is off by [0-9.e-]+, ' '  computes only what differs'
    run coveffect ism -q -m m.ckpt -g g.fa --window 48 --target atacseq --device cpu -R one.bed --length 3 -o cpu
    ok '  the scores of the CPU' "$PYTHON" -c 'import numpy
a, b = (numpy.load(f + "/attr.npz")["arr_0"] for f in ("gpu", "cpu"))
assert 0 < abs(a - b).max() * 20 < abs(a).max(), (abs(a - b).max(), abs(a).max())'
fi

# ---------------------------------------------------------------- what is refused

bad() { # LINES STATUS REGEX NAME
    printf '%b' "$1" >bad.bed
    refuses "$2" "$3" "$4" -R bad.bed -o y/z
}
bad 'c3\t1\t21\nc9\t1\t21\n' 1 "^coveffect: error: bad\.bed:2: g\.fa does not have the sequence 'c9'; it has c3, c2, c1; --rename changes its names$" 'an unknown sequence'
bad 'c3\t1500\t1510\n' 1 '^coveffect: error: bad\.bed:1: begins past the end of the sequence, which has 1500 bases$' 'a region past the end'
bad 'c3\t100\t700\n' 1 '^coveffect: error: bad\.bed:1: has 600 bases, more than --window; use --length or a larger --window$' 'a long region'
bad 'c3\tone\t700\n' 1 '^coveffect: error: bad\.bed:1: expected contig, start and end$' 'not a BED file'
bad '' 1 '^coveffect: error: bad\.bed: ' 'an empty file'
printf 'c3\tx\tgene\t1\t20\t.\t+\t.\tID=a\n' >genes.gff3
while IFS='|' read -r code args regex; do
    # shellcheck disable=SC2086 # a list of words
    refuses "$code" "^coveffect: error: $regex" "refused: $args" $args -o y/z
done <<'END'
1|-R genes.gff3|genes\.gff3:1: GFF3 or GTF instead of BED$
1|-R r.bed --deletions 21|r\.bed:1: has 20 bases, fewer than --deletions$
1|-R r.bed --length 301|r\.bed:7: the sequence has 300 bases, fewer than --length$
1|-r c9|g\.fa: region c9: unknown contig c9; the contigs are: c3, c2, c1$
1|-r c3:1501-1502|g\.fa: region c3:1501-1502: begins past the end of the contig, which has 1500 bases$
2|-r c3:5-4|region c3:5-4: ends before it begins$
1|-r c3|region c3: has 1500 bases, more than --window; use --length or a larger --window$
1|-r c3:1-20,c1:1-19|region c1:1-19: has 19 bases, but the first region has 20; use --length$
END
refuses 2 '^coveffect: error: -o: the output is a directory, not standard output$' 'standard output' -R r.bed -o -
refuses 1 '^coveffect: error: m\.ckpt/: is not a directory$' 'a file as directory' -R r.bed -o m.ckpt/
mkdir old
echo precious >old/attr.npz
refuses 1 '^coveffect: error: old/attr\.npz: already exists; use -f to replace it$' 'an existing file' -R r.bed -o old
is "$(cat old/attr.npz)" precious '  nor replaces it'
: >pic.svg
refuses 1 '^coveffect: error: pic\.svg: already exists; use -f to replace it$' 'an existing picture' -R r.bed --plot pic.svg -o y

done_testing
