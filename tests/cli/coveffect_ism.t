#!/bin/sh
# coveffect ism: scores equal those of covpredict's values for the edited genome; the files; regions that are refused.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/lib/attribution_check.py"

cp "$SRC/workflows/demo/plant.ckpt" m.ckpt || exit 99 # single bases matter to it
awk 'BEGIN {
    srand(7)
    n = split("1500 300 504", length_of, " ")
    for (s = 1; s <= n; s++) {
        printf ">c%d some words\n", n - s + 1
        for (i = 1; i <= length_of[s]; i++)
            printf "%s", (i % 1200 > 1190 ? "N" : substr("ACGTacgtR", 1 + int(rand() * (i % 20 ? 8 : 9)), 1))
        print ""
    }
}' >g.fa
# In the middle, over others, at both ends of a sequence, with N, in a short sequence.
printf '%s\t%s\t%s\n' c3 700 720 c3 710 730 c1 100 120 c3 2 22 c3 1480 1500 c3 1185 1205 c2 0 20 >r.bed
# Past both ends.
{ cat r.bed && printf 'c3\t0\t4\nc3\t1498\t1500\n'; } >p.bed

ism() { run coveffect ism -q -m m.ckpt -g g.fa --window 504 --target h3k4me3 "$@"; }
predict() { covpredict -q -f --float --subsequence-length 504 -m "$1" -o e.h5 e.fa; }

# ---------------------------------------------------------------- scores

ism -R r.bed --one-hot ohe.npz --bigwig o.bw -o o.npz
status_is 0 'arrays of NumPy and a bigWig'
ask edited e.fa g.fa r.bed 504 0 0 || exit 99
predict m.ckpt || exit 99
ok '  have the scores of the values that covpredict gives the edited genome' ask ism o.npz g.fa r.bed 504 0 0 504 e.h5 h3k4me3
ism -R r.bed --width 33 -o w.npz
ok '  also of fewer values' ask ism w.npz g.fa r.bed 504 0 0 33 e.h5 h3k4me3
ism -R r.bed --full -o full.npz
ok '  also with --full' ask ism full.npz g.fa r.bed 504 0 0 504 e.h5 h3k4me3
make_ckpt bi-hybrid n.ckpt 5 || exit 99
run coveffect ism -q -m m.ckpt,n.ckpt -g g.fa --window 504 --target atacseq -R r.bed -o two.npz
predict m.ckpt,n.ckpt || exit 99
ok '  also of several checkpoints' ask ism two.npz g.fa r.bed 504 0 0 504 e.h5 atacseq
ism -R p.bed --length 10 --bigwig p.bw --one-hot pohe.npz -o p.npz
ask edited e.fa g.fa p.bed 504 10 0 || exit 99
predict m.ckpt || exit 99
ok '  also with --length, past the ends of sequences' ask ism p.npz g.fa p.bed 504 10 0 504 e.h5 h3k4me3
ism -R p.bed --length 10 --deletions 3 -o d.npz
ask edited e.fa g.fa p.bed 504 10 3 || exit 99
predict m.ckpt || exit 99
ok '  also of deletions' ask ism d.npz g.fa p.bed 504 10 3 504 e.h5 h3k4me3

ism -R r.bed --bigwig o2.bw -o o.h5
status_is 0 'a file of ChromBPNet'
bw_dump o.bw >o.bg
ok '  has the same scores, as the bigWig has' ask forms o.npz ohe.npz o.h5 o.bg g.fa r.bed 0
ok '  and the bigWig has the same bytes' cmp o.bw o2.bw
ism -R p.bed --length 10 -o p.h5
bw_dump p.bw >p.bg
ok '  also past the ends of sequences' ask forms p.npz pohe.npz p.h5 p.bg g.fa p.bed 10
for how in '-@ 1 --batch-size 1' '-@ 2 --batch-size 3' '-@ 3 --batch-size 50'; do
    # shellcheck disable=SC2086 # a list of words
    ism -f $how -R r.bed --one-hot x-ohe.npz --bigwig x.bw -o x.npz
    ok "  the same bytes with $how" eval 'cmp o.npz x.npz && cmp o.bw x.bw && cmp ohe.npz x-ohe.npz'
    # shellcheck disable=SC2086 # a list of words
    ism -f $how -R r.bed -o x.h5
    ok '  also of HDF5' cmp o.h5 x.h5
done
printf 'd1 c1\nd2 c2\nd3 c3\n' >names
sed 's/^>c/>d/' g.fa >d.fa
run coveffect ism -q -m m.ckpt -g d.fa --rename names --window 504 --target h3k4me3 -R r.bed -o renamed.npz
ok '--rename' cmp o.npz renamed.npz
run coveffect ism -m m.ckpt -g g.fa --window 504 --target h3k4me3 -R r.bed --stats s.json -f -o x.npz
stderr_like '; regions: 7 of 20 bases$' 'the number of regions'
ok '--stats' "$PYTHON" -c 'import json; s = json.load(open("s.json")); assert s["positions_computed"] > 7 * 504 * 2'

# A GPU in emulation
if [ -e "$TESTLIB/../plugins/covtools-cuda.so" ]; then
    head -n 1 r.bed >one.bed
    COVTOOLS_PLUGINS=$TESTLIB/../plugins run coveffect ism -q -m m.ckpt -g g.fa --window 48 --target atacseq --device cuda -R one.bed --length 3 -o gpu.npz
    status_is 0 'on a GPU'
    run coveffect ism -q -m m.ckpt -g g.fa --window 48 --target atacseq --device cpu -R one.bed --length 3 -o cpu.npz
    ok '  the scores of the CPU' "$PYTHON" -c 'import numpy
a, b = (numpy.load(f)["arr_0"] for f in ("gpu.npz", "cpu.npz"))
assert 0 < abs(a - b).max() * 20 < abs(a).max(), (abs(a - b).max(), abs(a).max())'
fi

# ---------------------------------------------------------------- what is refused

bad() { # LINES STATUS REGEX NAME
    printf '%b' "$1" >bad.bed
    ism -R bad.bed -o x2.npz
    refused "$2" "$3" "$4"
    [ ! -e x2.npz ] || fail '  wrote an output'
}
bad 'c3\t1\t21\nc3\t1\t22\n' 1 '^coveffect: error: bad\.bed:2: the region has 21 bases, but the first one has 20; use --length$' 'regions of different lengths'
bad 'c3\t1\t21\nc9\t1\t21\n' 1 "^coveffect: error: bad\.bed:2: g\.fa does not have the sequence 'c9'; it has c3, c2, c1; --rename changes its names$" 'an unknown sequence'
bad 'c3\t1490\t1510\n' 1 '^coveffect: error: bad\.bed:1: the middle of the region is not in its sequence, which has 1500 bases$' 'a region past the end'
bad 'c3\t100\t700\n' 2 '^coveffect: error: bad\.bed:1: the region has 600 bases, but --window has 504; use --length or a larger --window$' 'a long region'
bad 'c3\tone\t700\n' 1 '^coveffect: error: bad\.bed' 'not a BED file'
bad '' 1 '^coveffect: error: bad\.bed: ' 'an empty file'
printf 'c3\tx\tgene\t1\t20\t.\t+\t.\tID=a\n' >genes.gff3
ism -R genes.gff3 -o x2.npz
refused 1 '^coveffect: error: genes\.gff3:1: GFF3 or GTF instead of BED$' 'a GFF3'
ism -R r.bed --deletions 21 -o x2.npz
refused 2 '^coveffect: error: r\.bed:1: the region has 20 bases, fewer than --deletions$' 'long deletions'
ism -R r.bed --width 505 -o x2.npz
refused 2 '^coveffect: error: --width must not be larger than --window$' 'a long --width'
run coveffect ism -m m.ckpt -g g.fa --window 504 -R r.bed -o x2.npz
refused 2 '^coveffect: error: --target is needed, since m\.ckpt has several data sets: ' 'no --target'
run coveffect ism -m m.ckpt -g g.fa --window 504 --target rnaseq -R r.bed -o x2.npz
refused 2 "^coveffect: error: --target: m\.ckpt does not have 'rnaseq': " 'an unknown --target'
run coveffect ism -m m.ckpt -g g.fa --window 505 --target h3k4me3 -R r.bed -o x2.npz
refused 1 '^coveffect: error: --window: subsequence length 505 is not a multiple of 8' 'a window that the network cannot have'
ism -R r.bed -o x2.bw
refused 2 '^coveffect: error: x2\.bw: the output is an array of NumPy, but \.bw is another kind; use \.npz$' 'another kind of file'
ism -R r.bed -o o.npz
refused 1 '^coveffect: error: o\.npz: ' 'an existing file'
ism -R r.bed --one-hot ohe.npz -o x2.npz
refused 1 '^coveffect: error: ohe\.npz: ' 'an existing file of bases'
ok '  nothing is written' test ! -e x2.npz

done_testing
