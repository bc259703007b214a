#!/bin/sh
# cpg.t - from FASTA to a track with a hand-made network that counts CpG: correct at every base.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_program awk

make_plant=$TESTLIB/../../demo/make_plant
cpg_awk=$SRC/tests/oracle/cpg.awk

# Counted by hand: L = 8, so ACGCGNCG and CgG are chunks; 1 base to each side.
printf '>x some words\nACGCG\nNCGCgG\n>y\nA\n' >x.fa
awk -v flank=1 -v L=8 -v what=count -f "$cpg_awk" x.fa >count.bg
printf 'x\t%s\n' '0	1	0' '1	5	1' '5	6	0' '6	10	1' '10	11	0' >wanted.bg
printf 'y\t0\t1\t0\n' >>wanted.bg
ok 'awk counts CpG within chunks' cmp count.bg wanted.bg
awk -v flank=5 -v L=100 -v what=coverage -f "$cpg_awk" x.fa | sed -n 's/^x.*\t//p' | sort -n | tail -n 1 >most
is "$(cat most)" 2 '2^(4/4) for the 4 CpG within 5 bases'

mkdir one
make_ckpt cpg one/cpg.ckpt && "$make_plant" one 400000 || exit 99
like "$(sed '/>/d' one/genome.fa | fold -w 1 | sort -u | tr -d '\n')" '^ACGNTacgt$' 'soft masking and N'

# CG is its own reverse complement and the window is symmetric, so both strands and their mean are equal.
cd one || exit
awk -v flank=100 -v L=21384 -v what=coverage -f "$cpg_awk" genome.fa >expected.bg
run_ok 'the network predicts' covpredict -m cpg.ckpt -o predictions.h5 genome.fa
for strand in avg + -; do
    run_ok "strand $strand" cov2bigwig --strand "$strand" -o "strand$strand.bg" predictions.h5
    ok "strand $strand is right" cmp "strand$strand.bg" expected.bg
done

done_testing
