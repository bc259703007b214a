#!/bin/sh
# demo.t - the demo: a network set by hand counts CpG, and the track says so at every base.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_program gnuplot awk

# A script is not to be wrapped, and its programs have tests of their own.
WRAP=
make_demo=$TESTLIB/../../demo/make_demo
demo=$SRC/workflows/demo

# What is counted, by hand: L = 8, so that ACGCGNCG and CgG are chunks; 1 base to each side.
printf '>x some words\nACGCG\nNCGCgG\n>y\nA\n' >x.fa
awk -v flank=1 -v L=8 -v what=count -f "$demo/cpg.awk" x.fa >count.bg
printf 'x\t%s\n' '0	1	0' '1	5	1' '5	6	0' '6	10	1' '10	11	0' >wanted.bg
printf 'y\t0\t1\t0\n' >>wanted.bg
ok 'awk counts CpG within chunks' cmp count.bg wanted.bg
awk -v flank=5 -v L=100 -v what=coverage -f "$demo/cpg.awk" x.fa | sed -n 's/^x.*\t//p' | sort -n | tail -n 1 >most
is "$(cat most)" 2 '2^(4/4) for the 4 CpG within 5 bases'

# The same bytes everywhere.
mkdir one two
ok 'the genome and the network are made' "$make_demo" one 400000
ok 'and again' "$make_demo" two 400000
for file in genome.fa features.bed cpg.ckpt; do
    ok "$file is the same" cmp one/$file two/$file
done
is "$(cksum <one/genome.fa)" '4248621841 434698' 'the genome is that of every machine'
like "$(sed '/>/d' one/genome.fa | fold -w 1 | sort -u | tr -d '\n')" '^ACGNTacgt$' 'soft masking and N'
run "$make_demo" one 12x
refused 2 'BASES' 'a size that is no number'
run "$make_demo" no/folder
refused 1 'no/folder' 'a folder that is not there'

run "$demo/demo.sh" "$make_demo" out 400000
status_is 0 'the demo runs'
stdout_like 'the track is 2\^\(n/4\) for n CpG within 100 bases, at each of 427205 bases' \
    'and finds the track right'
stdout_like 'covpredict +[0-9.]+ s on [0-9]+ threads, +[0-9.]+ Mbp/s, +[0-9]+ MB' \
    'and says how fast'
printf 'x\t0\t1000\t0\nx\t1000\t200000\t7\ny\t0\t40\t3\n' >flat.bg
ok 'reads lie where coverage is' awk -v length_of_read=10 -f "$demo/poisson.awk" -f "$demo/reads.awk" flat.bg
awk -v length_of_read=10 -f "$demo/poisson.awk" -f "$demo/reads.awk" flat.bg >reads.bg
is "$(awk '$1 == "x" { n += ($3 - $2) * $4 } END { print (n > 1383000 && n < 1403000) }' reads.bg)" 1 'and as many of them'
is "$(awk '$1 == "x" && $3 <= 996 { n += $4 } $1 == "y" { y += $3 - $2 } END { print n + 0, y }' reads.bg)" '0 40' \
    'and no further'
stdout_like 'predicted and measured: 0\.[5-9][0-9] base by base, 0\.[5-9][0-9] in bins of 100' \
    'and how near to what was measured'
is "$(head -c 8 out/track.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a 'the picture is a PNG'
ok 'the demo runs again over its files' "$demo/demo.sh" "$make_demo" out 400000

# CG reads the same on both strands, and its window lies evenly about a base.
for strand in + -; do
    run cov2bigwig --strand "$strand" -o "out/strand$strand.bg" out/predictions.h5
    status_is 0 "strand $strand"
    ok "strand $strand is right" cmp "out/strand$strand.bg" out/plot/expected.bedGraph
done

done_testing
