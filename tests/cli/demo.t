#!/bin/sh
# demo.t - the demo: its network predicts a chromosome of a synthetic plant that was not used for training.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_program gnuplot awk

# No wrapper: the demo is a script, and its programs have their own tests.
WRAP=
make_plant=$TESTLIB/../../demo/make_plant
demo=$SRC/workflows/demo

# The same bytes everywhere.
mkdir one two
ok 'makes genome and reads' "$make_plant" one 400000
ok 'and makes them again' "$make_plant" two 400000
for file in genome.fa features.bed atacseq.sam h3k4me3.sam; do
    ok "$file is the same" cmp one/$file two/$file
done
is "$(cat one/* | cksum)" '3684288755 2871865' 'as on every machine'
like "$(sed '/>/d' one/genome.fa | fold -w 1 | sort -u | tr -d '\n')" '^ACGNTacgt$' 'soft masking and N'
run_refused 2 'BASES' 'a size that is not a number' "$make_plant" one 12x
run_refused 1 'no/directory' 'a missing directory' "$make_plant" no/directory

# Reads are at the features in features.bed, sorted, and not on N. Coordinates of SAM are 1-based.
cat >reads.awk <<'EOF'
/^@/ { next }
FILENAME ~ /bed$/ {
    if ($4 == "gap")
        for (i = $2; i < $3; i++)
            gap[$1, i] = 1
    if ($4 == what && $3 - $2 < 3000) {
        middle = what == "gene" ? ($6 == "+" ? $2 + 300 : $3 - 300) : int(($2 + $3) / 2)
        score[++n] = $5
        for (i = middle - 60; i < middle + 60; i++)
            here[$1, i] = n
    }
    next
}
$3 == name && $4 < at { print "not sorted" }
{
    name = $3
    at = $4
    n_bases = $6 + 0
    if (($3, at - 1) in gap || ($3, at + n_bases - 2) in gap)
        print "on a gap"
    if (($3, at - 1 + int(n_bases / 2)) in here)
        reads[here[$3, at - 1 + int(n_bases / 2)]]++
}
END {
    for (i = 1; i <= n; i++) {
        x += score[i]; y += reads[i]; xx += score[i] * score[i]; yy += reads[i] * reads[i]; xy += score[i] * reads[i]
    }
    above = n * xy - x * y # the correlation r is this, divided by the root of below
    below = (n * xx - x * x) * (n * yy - y * y)
    print (n > 30 && above > 0 && above * above > 0.81 * below) ? "good" : "n " n " r^2 " above * above / below
}
EOF
is "$(awk -v what=promoter -f reads.awk one/features.bed one/atacseq.sam)" good 'ATAC-seq matches the strength of promoters'
is "$(awk -v what=enhancer -f reads.awk one/features.bed one/atacseq.sam)" good 'and enhancers'
is "$(awk -v what=gene -f reads.awk one/features.bed one/h3k4me3.sam)" good 'H3K4me3 matches the strength of genes'

run_ok 'the demo runs' "$demo/demo.sh" "$make_plant" out
stdout_like 'covpredict +[0-9.]+ s on [0-9]+ threads, +[0-9.]+ Mbp/s, +[0-9]+ MB' 'and reports its speed'
for dataset in atacseq h3k4me3; do
    stdout_like "$dataset +Pearson's r of predicted and measured: 0\.[6-9][0-9] base by base, 0\.[6-9]" \
        "predicts $dataset of a held-out chromosome"
done
# Bases next to motifs are harder: their promoters are open, too.
for others in anywhere 'in the same promoters and enhancers'; do
    least=0.9
    [ "$others" = anywhere ] || least=0.8
    area=$(sed -n "s/^ *[0-9]* variants in motifs against [0-9]* $others: area under the ROC curve //p" "$stdout")
    is "$(echo "$area" | awk -v least=$least '{ print ($1 >= least) }')" 1 "variants in motifs have larger effects than variants $others: area $area"
done
area=$(sed -n 's/^ *[0-9]* bases that motifs need against [0-9]* in no motif: area under the precision-recall curve //p' "$stdout")
is "$(echo "$area" | awk '{ print ($1 >= 0.9) }')" 1 "bases that motifs need have higher scores than others: area $area"
is "$(head -c 8 out/track.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a 'the picture is a PNG'
ok 'the tracks exist' test -s out/tracks/chr5_atacseq_avg_strand.bw -a -s out/tracks/chr5_h3k4me3_avg_strand.bw
ok 'the demo runs again on a smaller genome and replaces its files' "$demo/demo.sh" "$make_plant" out 400000

done_testing
