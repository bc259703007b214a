#!/bin/sh
# coveffect vcf: scores equal those of covpredict's values for the edited genome; VCF and BCF; variants without scores.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/signals.sh"
. "$SRC/tests/lib/coveffect.sh"

# same_scores NAME TABLE VCF WINDOW WIDTHS SAMPLES [CKPT,... | --full]: the table has the scores of the values that covpredict gives
# the edited genome, or haplotypes of these samples.
same_scores() {
    models=${7:-m.ckpt} how='' off=1e-5
    [ "$models" != --full ] || models=m.ckpt how=--full off=0
    ask windows e.fa g.fa "$3" "$4" "$6" || exit 99
    # shellcheck disable=SC2086 # empty or an option
    covpredict -q -f $how --float --subsequence-length 504 -m "$models" -o e.h5 e.fa || exit 99
    ok "$1" ask scores "$2" g.fa "$3" "$4" "$5" e.h5 atacseq,h3k4me3 "$6" $off
}

# ---------------------------------------------------------------- scores

run_ok 'a table' vcf --width 101,504,2 -o o.tsv v.vcf
same_scores '  has the scores of the edited genome' o.tsv v.vcf 504 101,504,2 none
vcf --full --width 101,504,2 -o full.tsv v.vcf
same_scores '  with --full, exactly' full.tsv v.vcf 504 101,504,2 none --full
make_ckpt bi-hybrid n.ckpt 5 || exit 99
run coveffect vcf -q -m m.ckpt,n.ckpt -g g.fa --window 504 --width 504 -o ensemble.tsv v.vcf
same_scores '  with several checkpoints, too' ensemble.tsv v.vcf 504 504 none m.ckpt,n.ckpt
for model in m n; do
    run coveffect vcf -q -m $model.ckpt -g g.fa --window 504 --width 504 -o $model.tsv v.vcf
done
run coveffect vcf -q -m m.ckpt,n.ckpt --ensemble sd -g g.fa --window 504 --width 504 -o sd.tsv v.vcf
ok '  --ensemble sd adds the standard deviation of their scores' ask spread sd.tsv ensemble.tsv m.tsv n.tsv
run coveffect vcf -q -m m.ckpt,n.ckpt --ensemble sd -g g.fa --window 504 --width 504 -o sd.vcf --shuffles 3 v.vcf
is "$(sed -n '/^##INFO=<ID=COVEFFECT,/s/.*MAX_ABS_DIFF_POS//p' sd.vcf)" \
    '|ALLELE1_PRED_COUNTS_SD|ALLELE2_PRED_COUNTS_SD|LOGFC_SD|ABS_LOGFC_SD|JSD_SD|MAX_ABS_DIFF_SD|LOGFC_PVAL|ABS_LOGFC_PVAL|JSD_PVAL">' \
    '  the header names all numbers'
is "$(grep -v '^#' sd.vcf | grep -o 'COVEFFECT=[^,]*' | awk -F'|' '{ print NF }' | sort -u)" 18 '  and the field has them'
vcf -o again.vcf sd.vcf
is "$(grep -c '^##INFO=<ID=COVEFFECT,.*MAX_ABS_DIFF_POS">' again.vcf) $(grep -c '^##INFO=<ID=COVEFFECT,' again.vcf)" '1 1' \
    '  another run replaces header and field'
for how in '-@ 1 --batch-size 1' '-@ 2 --batch-size 3' '-@ 3 --batch-size 4' '-@ 2 --batch-size 50'; do
    # shellcheck disable=SC2086 # a list of words
    vcf -f $how --width 101,504,2 -o x.tsv v.vcf
    ok "  the same bytes with $how" cmp o.tsv x.tsv
done

# Windows that variants share
run_ok '--step' vcf --step 200 --width 101,504,2 --stats step.json -o step.tsv v.vcf
same_scores '  has the scores of these windows' step.tsv v.vcf 504:200 101,504,2 none
for how in '-@ 1 --batch-size 1' '-@ 3 --batch-size 7' '-@ 2 --batch-size 50'; do
    # shellcheck disable=SC2086 # a list of words
    vcf -f $how --step 200 --width 101,504,2 -o x.tsv v.vcf
    ok "  the same bytes with $how" cmp step.tsv x.tsv
done
vcf -f --step 200 --width 2 --stats narrow.json -o x.tsv v.vcf
vcf -f --width 101,504,2 --stats alone.json -o x.tsv v.vcf
ok '  computes less, the less the width' "$PYTHON" -c 'import json, sys
n = [json.load(open(f))["positions_computed"] for f in sys.argv[1:]]
sys.exit(not n[0] < n[1] < n[2])' narrow.json step.json alone.json

# p-values
vcf --width 504 --shuffles 9 -o p.tsv v.vcf
vcf --width 504 -o plain.tsv v.vcf
ok 'p-values among 9 shuffles' ask ranks p.tsv plain.tsv 9
vcf --width 504 --shuffles 9 -@ 3 --batch-size 6 -f -o x.tsv v.vcf
ok '  the same bytes with other threads and batches' cmp p.tsv x.tsv
vcf --width 504 --shuffles 9 --seed 2 -f -o x.tsv v.vcf
is "$(cut -f 1-14 x.tsv | cmp - plain.tsv && cut -f 15- x.tsv | cksum | grep -vxF "$(cut -f 15- p.tsv | cksum)" | grep -c .)" 1 '  another seed changes them only'
# Shuffled, AAA... and CACA... are the same; with the same scores, p is 1.
awk 'BEGIN { print ">a"; for (i = 0; i < 600; i++) printf "A"; print "\n>c"; for (i = 0; i < 300; i++) printf "CA"; print "" }' >same.fa
printf '##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\na\t300\t.\tA\tC\t.\t.\t.\nc\t301\t.\tCACA\tC\t.\t.\t.\nc\t301\t.\tC\tCGG\t.\t.\t.\n' >same.vcf
run coveffect vcf -q -m m.ckpt -g same.fa --window 504 --shuffles 4 -o - same.vcf
is "$(awk 'NR > 1' "$stdout" | cut -f 15- | sort | uniq -c | tr -s ' \t' ' ')" ' 6 1 1 1' '  both alleles are scored in the shuffled DNA'

vcf --datasets h3k4me3 --width 504 -o - v.vcf
is "$(cat "$stdout")" "$(awk 'NR == 1 || ($6 == "h3k4me3" && $7 == 504)' o.tsv)" '  --datasets and --width choose rows'
vcf --width 101,504,2 -o o.tsv.gz v.vcf
is "$(gzip -dc o.tsv.gz | cksum)" "$(cksum <o.tsv)" '  compressed'
vcf -o - v.vcf
is "$(awk 'NR > 1 { print $7 }' "$stdout" | sort -u)" 504 'the default width is the window, if that is short'

# A GPU in emulation
if [ -e "$TESTLIB/../plugins/covtools-cuda.so" ]; then
    { grep '^#' v.vcf && grep '^c2' v.vcf | head -n 3; } >gpu.vcf
    for batch in 1 4; do
        COVTOOLS_PLUGINS=$TESTLIB/../plugins run coveffect vcf -q -m m.ckpt -g g.fa --window 48 --device cuda --batch-size $batch -o gpu$batch.tsv gpu.vcf
        status_is 0 "on a GPU, $batch strands at a time"
    done
    ok '  the same bytes' cmp gpu1.tsv gpu4.tsv
    run coveffect vcf -q -m m.ckpt -g g.fa --window 48 --device cpu -o - gpu.vcf
    ok '  the sums of the CPU' "$PYTHON" -c 'import sys
a, b = ([line.split("\t") for line in open(f)][1:] for f in sys.argv[1:])
assert len(a) == len(b) > 0
for x, y in zip(a, b):
    assert x[:7] == y[:7] and (x[7] == y[7] == "NA" or abs(float(x[7]) / float(y[7]) - 1) < 2e-5), (x, y)' gpu1.tsv "$stdout"
fi

# Tracks
{ grep '^#' v.vcf && grep '^c[24]' v.vcf; } >few.vcf
run_ok '--tracks' vcf --width 504 --shuffles 1 --tracks tracks/ -o t.tsv few.vcf
ok '  tracks have the values of the scores' ask tracks tracks t.tsv g.fa 504 "$(command -v bw_dump)"
vcf --width 504 --tracks tracks -o x2.tsv few.vcf
refused 1 '^coveffect: error: tracks/1\.1_.*_ref\.bw: already exists; use -f to replace it$' '  are not replaced'
cp -r tracks tracks1
vcf --width 504 --tracks tracks -@ 3 --batch-size 4 -f -o t.tsv few.vcf
ok '  unless -f is given, by the same bytes' diff -r tracks tracks1
run_refused 1 '^coveffect: error: --tracks: .*g\.fa.*' '  need a directory' vcf --tracks g.fa -o x2.tsv few.vcf
{ grep '^#' v.vcf && awk 'BEGIN { for (i = 0; i < 1667; i++) print "c1\t9\t.\tN\tA\t.\t.\t.\tGT\t.\t." }'; } >many.vcf
vcf --tracks many -o x2.tsv many.vcf
refused 1 '^coveffect: error: many\.vcf:[0-9]*: --tracks: more than 9999 files; use fewer variants or --datasets$' '  are limited'
ok '  before there is a directory' test ! -e many

# ---------------------------------------------------------------- haplotypes

ask phased p.vcf g.fa 1 || exit 99
run_ok '--haplotypes' vcf --haplotypes --width 101,504,2 -o h.tsv p.vcf
same_scores '  has the scores of haplotypes' h.tsv p.vcf 504 101,504,2 0,1,2
vcf --haplotypes --full --width 101,504,2 -f -o full.tsv p.vcf
same_scores '  with --full, exactly' full.tsv p.vcf 504 101,504,2 0,1,2 --full
for how in '-@ 1 --batch-size 1' '-@ 3 --batch-size 7' '-@ 2 --batch-size 50'; do
    # shellcheck disable=SC2086 # a list of words
    vcf -f --haplotypes $how --width 101,504,2 -o x.tsv p.vcf
    ok "  the same bytes with $how" cmp h.tsv x.tsv
done
vcf --haplotypes --step 200 --width 101 -o hstep.tsv p.vcf
same_scores '  with --step' hstep.tsv p.vcf 504:200 101 0,1,2
vcf --haplotypes --samples three,one --width 101 -o hsome.tsv p.vcf
same_scores '  with --samples' hsome.tsv p.vcf 504 101 0,2
vcf --haplotypes --width 101,504,2 -o h.bcf p.vcf
vcf -f --haplotypes --width 101,504,2 -o hx.vcf h.bcf
ok '  VCF and BCF have the same scores' ask fields h.tsv hx.vcf
ok '  and all that the input has' ask same hx.vcf p.vcf
is "$(grep -c '^##INFO=<ID=COVEFFECT,.*MAX_ABS_DIFF_POS|REFERENCE_PRED_COUNTS|HAPLOTYPE_LOGFC|HAPLOTYPES">' hx.vcf)" 1 '  the header names them'

# By hand: two SNVs in one haplotype of each sample, and what their genotypes say.
base() { sed -n 2p g.fa | cut -c"$1" | tr acgt ACGT; }
other() { base "$1" | tr ACGT CGTA; }
two() { # GENOTYPE GENOTYPE: writes two.vcf, and prints the haplotypes of the second variant and whether the first changes its scores
    {
        printf '##fileformat=VCFv4.2\n##FORMAT=<ID=GT,Number=1,Type=String,Description="">\n##FORMAT=<ID=PS,Number=1,Type=Integer,Description="">\n'
        printf '##contig=<ID=c1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts\n'
        printf 'c1\t%s\t.\t%s\t%s\t.\t.\t.\tGT:PS\t%s\n' 501 "$(base 501)" "$(other 501)" "$1" 504 "$(base 504)" "$(other 504)" "$2"
    } >two.vcf
    vcf -f --full --datasets atacseq -o alone.tsv two.vcf
    vcf -f --full --haplotypes --datasets atacseq -o two.tsv two.vcf
    awk 'FNR == NR { alone = $8; next } $2 == 504 { print $17, ($8 == alone ? "alone" : "together") }' alone.tsv two.tsv
}
while IFS='|' read -r one two wanted; do
    is "$(two "$(echo "$one" | tr , '|')" "$(echo "$two" | tr , '|')")" "$wanted" "  $one and $two: $wanted"
done <<'END'
0,1|0,1|s:2 together
1,0|0,1|s:2 alone
0/1|0,1|s:2 alone
1/1|0,1|s:2 together
0,1|0/1|NA alone
0,1|0,0|NA alone
1|1|s:1 together
.,1|.,1|s:2 together
./.|0,1|s:2 alone
0,1:7|0,1:7|s:2 together
0,1:7|0,1:8|s:2 alone
1/1|0,1:8|s:2 together
0,0,0,1|0,0,0,1|s:4 together
END
# An insertion that is too long, and an allele that it moves out of its window.
{
    grep '^#' two.vcf
    printf 'c1\t501\t.\t%s\t%s\t.\t.\t.\tGT:PS\t0|1:1\n' "$(base 501)" "$(base 501)$(sed -n 2p g.fa | cut -c1-300)"
    printf 'c1\t504\t.\t%s\t%s\t.\t.\t.\tGT:PS\t0|1:1\n' "$(base 504)" "$(other 504)"
} >moved.vcf
run coveffect vcf -f -m m.ckpt -g g.fa --window 504 --haplotypes --datasets atacseq -o moved.tsv moved.vcf
like "$(cat "$stderr")" 'no scores for alleles that reach past their windows \(2\);' '  an insertion, and an allele that it moves out of its window'
is "$(awk '$2 == 504 { print $8 }' moved.tsv)" NA '    has no scores'
two '0|1' '0|2' >out
refused 1 '^coveffect: error: two\.vcf:7: a genotype has an allele that the record lacks$' '  an allele that is not there'
sed 's/ID=PS,Number=1,Type=Integer/ID=PS,Number=1,Type=Float/' p.vcf >ps.vcf
# Phase sets named by text, of several lengths.
awk -F'\t' -v OFS='\t' '/^##FORMAT=<ID=PS/ { sub(/Integer/, "String") }
    !/^#/ { for (i = 10; i <= NF; i++) if (split($i, v, ":") == 2 && v[2] != ".") $i = v[1] ":" (v[2] % 2 ? "set-" v[2] : "a_longer_name_" v[2]) }
    { print }' p.vcf >text.vcf
vcf --haplotypes --width 101,504,2 -o text.tsv text.vcf
ok '  phase sets named by text' cmp h.tsv text.tsv
like "$(cat text.vcf)" '\|[0-9]:set-[0-9]+' '    of which there are some'
vcf -f --haplotypes --width 101,504,2 -o text.bcf text.vcf
vcf -f --haplotypes --width 101,504,2 -o text.tsv text.bcf
ok '    in BCF' cmp h.tsv text.tsv
two '0|1:7' '1|1' >twice
sed 's/ID=PS,Number=1,Type=Integer/ID=PS,Number=1,Type=String/; /\t504\t/s/GT:PS/GT/' two.vcf >plain.vcf
for file in plain.vcf plain.bcf; do
    vcf -f --full --haplotypes --datasets atacseq -o plain.tsv $file
    ok "    next to records without phase sets: $file" cmp two.tsv plain.tsv
    vcf -f --full --haplotypes --datasets atacseq -o plain.bcf plain.vcf
done
{ grep '^#' p.vcf; grep -v '^#' p.vcf | tac; } >unsorted.vcf
rm -f x.tsv

# ---------------------------------------------------------------- VCF and BCF

for format in vcf vcf.gz bcf; do
    run_ok "writes $format" vcf --width 101,504,2 -o o.$format v.vcf
    vcf -f --width 101,504,2 -o x.vcf o.$format
    ok '  with the same scores' ask fields o.tsv x.vcf
    ok '  and all that the input has' ask same x.vcf v.vcf
    vcf --width 101,504,2 -o - o.$format
    is "$(cksum <"$stdout")" "$(cksum <o.tsv)" '  and reads it'
    vcf --width 101,504,2 -o - - <o.$format
    is "$(cksum <"$stdout")" "$(cksum <o.tsv)" '  also from standard input'
done
is "$(grep -c '^##INFO=<ID=COVEFFECT,' x.vcf)" 1 'the header describes the field once'
vcf -f -o x.vcf v.vcf
is "$(grep -v '^##INFO=<ID=COVEFFECT,' x.vcf | grep '^##' | grep -v '^##FILTER=<ID=PASS')" "$(grep '^##' v.vcf)" 'the header is kept'

# ---------------------------------------------------------------- variants without scores

second=$(awk '!/^>/ { s = s $0 } />c2/ { s = "" } END { print toupper(substr(s, 10, 1)) }' g.fa)
other=$(echo "$second" | tr ACGT CGTA)
c1=$(sed -n 2p g.fa | tr acgtr ACGTR)
at() { printf '%s' "$c1" | cut -c"$1-$2"; }
{
    printf '##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
    printf 'c1\t%s\t.\t.\t.\n' "5	same	$(at 5 5)	." "6	star	$(at 6 6)	*" "7	sym	$(at 7 7)	<DEL>,$(at 7 7)]c2:4]" \
        "8	case	$(at 8 8 | tr ACGT acgt)	acg" "9	wrong	$(at 9 9 | tr ACGTR CGTAY)	G" "2500	past	NN	G" "0	none	N	G" \
        "1000	n	N	A" "12	long	$(at 12 12)	$(printf '%0600d' 0 | tr 0 A)" "13	odd	$(at 13 13)	A-"
    printf 'c9\t5\tfar\tA\tC\t.\t.\t.\n'
} >odd.vcf
run_ok 'odd variants' coveffect vcf -m m.ckpt -g g.fa --window 504 --datasets atacseq -o odd.tsv odd.vcf
is "$(awk 'NR > 1 { print $3, $4 == "N" ? "N" : "", $8 == "NA" }' odd.tsv | tr '\n' ';')" \
    'star  1;sym  1;sym  1;case  0;wrong  1;past  1;none N 1;n N 0;long  1;odd  1;far  1;' '  have scores or NA'
stderr_like "^coveffect: warning: odd\.vcf: no scores for variants that differ from the genome \(3 of 11\), the first at c1:9: REF is ., but the genome has .$" '  REF differs'
stderr_like "^coveffect: warning: odd\.vcf: no scores for variants on unknown sequences \(1 of 11\): g\.fa does not have the sequence 'c9'; --rename changes its names$" '  unknown sequences'
stderr_like '^coveffect: warning: odd\.vcf: no scores for alleles that reach past their windows \(1\); use a larger --window$' '  long alleles'
stderr_like '^coveffect: variants: 11; alleles with scores: 2; without: symbolic 3, overlapping deletions \(\*\) 1$' '  and all are counted'
printf '##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nc1\t9\t.\t%s\tG\t.\t.\t.\n' "$(at 9 9 | tr ACGTR CGTAY)" >other.vcf
for input in other.vcf -; do
    vcf -o y.tsv $input <other.vcf
    refused 1 ": no variant has the genome's bases as REF \\(1 of 1 differ\\), the first at c1:9: .*; check that the variants were called with this genome\$" "variants of another genome: $input"
done
vcf --strict -o y.tsv odd.vcf
refused 1 '^coveffect: error: odd\.vcf:7: c1:9: REF is ., but the genome has .$' '--strict'
vcf -o x.bcf odd.vcf
refused 1 '^coveffect: error: odd\.vcf:3: the header does not declare the sequence or another name of the record, which BCF needs; write VCF$' 'BCF needs a complete header'
vcf -f -o x.vcf odd.vcf
is "$(grep -v '^#' x.vcf | cut -f 1-5)" "$(grep -v '^#' odd.vcf | cut -f 1-5)" 'VCF does not'
grep -v '^c1' odd.vcf >far.vcf
for input in far.vcf -; do
    vcf -o y.tsv $input <far.vcf
    refused 1 "^coveffect: error: .*: no variant is on a sequence of the genome: g\.fa does not have the sequence 'c9'; it has c1, c2, c3, c4; --rename changes its names$" "only unknown sequences: $input"
done
echo 'c2 c9' >names
printf '##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nc9\t10\tx\t%s\t%s\t.\t.\t.\n' "$second" "$other" >renamed.vcf
vcf --rename names -o - renamed.vcf
is "$(awk 'NR > 1 { print $1, $3, $8 == "NA" }' "$stdout" | sort -u)" 'c9 x 0' '--rename'
grep '^#' v.vcf >none.vcf
vcf -o - none.vcf
is "$status $(wc -l <"$stdout")" '0 1' 'a VCF without variants'
sed 's/^/x/' v.vcf >no.vcf
sed 's/^\(##INFO=<ID=\)DP\(.*\)/\1COVEFFECT\2/; s/DP=/COVEFFECT=/' v.vcf >type.vcf

# ---------------------------------------------------------------- --resume

# The limit for files stops the run when its journal has some variants.
vcf --width 101 -o whole.vcf.gz v.vcf
interrupt() {
    # shellcheck disable=SC2016 # for the inner shell
    run sh -c 'trap "" XFSZ; ulimit -f 6; exec "$@"' sh coveffect vcf -m m.ckpt -g g.fa --window 504 --width 101 --resume "$@" -o r.vcf.gz v.vcf
}
interrupt -@ 1
refused 1 '^coveffect: error: r\.vcf\.gz\.resume: cannot be written: File too large$' '--resume: interrupted'
stderr_like '^coveffect: finished variants are kept in r\.vcf\.gz\.resume; run the same command with --resume to continue$' '  says how to continue'
ok '  keeps the journal only' test -s r.vcf.gz.resume -a ! -e r.vcf.gz
cp r.vcf.gz.resume kept
run_ok '  continued' coveffect vcf -m m.ckpt -g g.fa --window 504 --width 101 --resume --stats s.json -o r.vcf.gz v.vcf
ok '  the same bytes as without an interruption' cmp r.vcf.gz whole.vcf.gz
n_done=$(sed -n 's/.*resume: \([0-9]*\) of .* variants are done$/\1/p' "$stderr")
ok "  has not computed the $n_done variants again" "$PYTHON" -c 'import json, sys
s = json.load(open("s.json"))
sys.exit(not 0 < int(sys.argv[1]) < s["variants"] or s["positions_computed"] >= 504 * 2 * (s["alleles"]["scored"] + s["variants"]) - 2 * 504 * int(sys.argv[1]))' "$n_done"
touch -d 2001-01-01 r.vcf.gz
run coveffect vcf -m m.ckpt -g g.fa --window 504 --width 101 --resume --stats again.json -o r.vcf.gz v.vcf
status_is 0 '  the same command again'
stderr_like '^coveffect: nothing to do: r\.vcf\.gz is complete$' '  has nothing to do'
is "$(stat -c %y r.vcf.gz | cut -c 1-4)" 2001 '  and leaves the output as it is'
ok '  with --stats that count the same variants and no work' "$PYTHON" -c 'import json
a, b = (json.load(open(name)) for name in ("s.json", "again.json"))
assert a["variants_resumed"] == int("'"$n_done"'") < b["variants_resumed"] <= b["variants"], (a, b)
for s, n in (a, 2), (b, 3):
    runs = s["all_runs"]
    assert runs["n"] == n and s["wall_seconds"] < runs["wall_seconds"] and s["cpu_seconds"] < runs["cpu_seconds"], s
assert b["all_runs"]["wall_seconds"] - b["wall_seconds"] > a["wall_seconds"] / 2, (a, b)
assert a["variants"] == b["variants"] > 0 and a["alleles"] == b["alleles"] and a["positions_computed"] > 0 == b["positions_computed"], (a, b)'
vcf --width 102 --resume -o r.vcf.gz v.vcf
refused 1 '^coveffect: error: r\.vcf\.gz\.resume: journal of a run with different --width: 101, now 102;' '  not with other options'
echo more >>r.vcf.gz
vcf --width 101 --resume -o r.vcf.gz v.vcf
refused 1 '^coveffect: error: r\.vcf\.gz\.resume: journal of a run with different output: r\.vcf\.gz \([0-9]* bytes, .*use the same to resume, or -f to start over$' '  nor if the output has changed'
rm r.vcf.gz
vcf --width 101 --resume -o r.vcf.gz v.vcf
ok '  if it is missing, it is made again' cmp r.vcf.gz whole.vcf.gz
rm r.vcf.gz.resume
vcf --width 101 --resume -o r.vcf.gz v.vcf
refused 1 '^coveffect: error: r\.vcf\.gz: already exists; use -f to replace it$' '  an output of unknown origin is not replaced'
rm r.vcf.gz
head -c $(($(wc -c <kept) - 30)) kept >r.vcf.gz.resume # torn
vcf --width 101 --resume -@ 3 --batch-size 3 -o r.vcf.gz v.vcf
ok '  also after a torn piece, with other threads and batches' cmp r.vcf.gz whole.vcf.gz
rm r.vcf.gz
cp kept r.vcf.gz.resume
vcf --width 101,504 --resume -o r.vcf.gz v.vcf
refused 1 '^coveffect: error: r\.vcf\.gz\.resume: journal of a run with different --width: 101, now 101,504; use the same to resume, or -f to start over$' '  not with other options'
vcf --width 101 --datasets h3k4me3 --resume -o r.vcf.gz v.vcf
refused 1 '^coveffect: error: r\.vcf\.gz\.resume: journal of a run with different --datasets: atacseq,h3k4me3, now h3k4me3; use' '  nor of other datasets'
vcf --width 101 --shuffles 2 --resume -o r.vcf.gz v.vcf
refused 1 '^coveffect: error: r\.vcf\.gz\.resume: journal of a run with different --shuffles: none, now 2, seed 1;' '  nor with shuffles'
sed 's/DP=1;*/DP=2/' v.vcf >other.vcf
vcf --width 101 --resume -o r.vcf.gz other.vcf
refused 1 '^coveffect: error: r\.vcf\.gz\.resume: journal of a run with different variants: v\.vcf \(' '  nor with other variants'
run_ok '  -f starts over' vcf --width 101,504 --resume -f -o r.vcf.gz v.vcf
rm r.vcf.gz s.json
cp kept r.vcf.gz.resume
run coveffect vcf -m m.ckpt -g g.fa --window 504 -o r.vcf.gz v.vcf
stderr_like '^coveffect: r\.vcf\.gz\.resume is from a run with --resume; this run ignores it$' 'a run without --resume mentions the journal'
rm r.vcf.gz r.vcf.gz.resume kept other.vcf
{ sed '/^#CHROM/q' v.vcf && awk 'BEGIN { for (i = 300; i < 2300; i++) print "c1\t" i "\t.\tN\tA,C,G,T\t.\t.\t." }'; } | cut -f 1-8 >many.vcf
start coveffect vcf -m m.ckpt -g g.fa --window 504 --full -@ 1 --resume -o r.tsv many.vcf
# shellcheck disable=SC2016 # for sh
await sh -c 'test "$(wc -c <r.tsv.resume)" -gt 5000' 2>/dev/null # a block of variants is done
ends_by TERM:143 'during a run with --resume'
stderr_like '^coveffect: stopped by SIGTERM; finished variants are kept in r\.tsv\.resume; run the same command with --resume to continue$' '  says how to continue'
rm r.tsv.resume many.vcf

# A record that is too large for the output leaves a complete journal, as a kill at the very end does.
{ cat v.vcf && printf 'c1\t5\t%0100000d\tN\t.\t.\t.\t.\tGT\t.\t.\n' 0; } >large.vcf
vcf -o large_whole.vcf large.vcf
run sh -c 'trap "" XFSZ; ulimit -f 100; exec coveffect vcf -q -m m.ckpt -g g.fa --window 504 --resume -o r.vcf large.vcf'
refused 1 'File too large$' '--resume: interrupted at the end'
echo more >r.vcf
vcf --resume -o r.vcf large.vcf
refused 1 '^coveffect: error: r\.vcf: already exists; use -f to replace it$' '  another output is not replaced'
cp large_whole.vcf r.vcf
run_ok '  but that of this run, which was killed before it noted its end' vcf --resume -o r.vcf large.vcf
run coveffect vcf -m m.ckpt -g g.fa --window 504 --resume -o r.vcf large.vcf
stderr_like '^coveffect: nothing to do: r\.vcf is complete$' '  which is then noted'
ok '  the same bytes as without an interruption' cmp r.vcf large_whole.vcf
rm r.vcf r.vcf.resume
vcf --haplotypes --width 101 --resume --stats long.json -o h.tsv.gz moved.vcf
vcf --haplotypes --width 101 --resume --stats long2.json -o h.tsv.gz moved.vcf
ok '--resume --haplotypes counts the same long alleles again' "$PYTHON" -c 'import json
a, b = (json.load(open(name))["alleles"] for name in ("long.json", "long2.json"))
assert a == b and a["too_long"] == 2, (a, b)'

# A directory in the place of a track stops the run.
first=$(find tracks -name '1.1_*_atacseq_ref.bw') last=$(find tracks -name '*_diff.bw' | sort -t / -k 2n | tail -n 1)
mkdir -p "resumed/${last#*/}"
with_tracks() { vcf --width 504 --resume --tracks resumed -o rt.tsv few.vcf; }
run_refused 1 '^coveffect: error: resumed/.*_diff\.bw: ' '--resume --tracks: interrupted' with_tracks
rmdir "resumed/${last#*/}"
mv "resumed/${first#*/}" first.bw
with_tracks
refused 1 '^coveffect: error: resumed/1\.1_.*_ref\.bw: missing, but its variant is finished; put the file back, or use -f without --resume to start over$' \
    '  misses the track of a finished variant'
mv first.bw "resumed/${first#*/}"
with_tracks
ok '  continued with it, has the tracks of an uninterrupted run' diff -r resumed tracks
mv resumed away
with_tracks
refused 1 '^coveffect: error: resumed/1\.1_.*_ref\.bw: missing, but its variant is finished; ' '  finished, misses the directory'
ok '  and does not make it' test ! -e resumed
mv away resumed
run_ok '  which may be put back' with_tracks
rm -r resumed rt.tsv rt.tsv.resume h.tsv.gz h.tsv.gz.resume

# ---------------------------------------------------------------- faults

head -c 300 o.bcf >cut.bcf
head -c $(($(wc -c <o.vcf.gz) - 28)) o.vcf.gz >cut.vcf.gz
head -n 12 v.vcf | cut -c 1-9 >short.vcf
{ cat v.vcf; printf 'c1\t5\tx\tA\tC\t.\t.\t.\n'; } >columns.vcf
: >empty.vcf
rm -f x.*
: >x.tsv
while IFS='|' read -r code args regex; do
    # shellcheck disable=SC2086 # a list of words
    run_refused "$code" "^coveffect: error: $regex" "refused: $args" vcf $args
done <<'END'
1|-o y.tsv cut.bcf|cut\.bcf: truncated: the end-of-file block of BGZF is missing$
1|-o y.tsv cut.vcf.gz|cut\.vcf\.gz: truncated: the end-of-file block of BGZF is missing$
1|-o y.tsv columns.vcf|columns\.vcf:[0-9]*: 8 columns, but the header has 11$
1|-o y.tsv short.vcf|short\.vcf
1|-o y.tsv empty.vcf|empty\.vcf: empty file$
1|-o y.tsv g.fa|g\.fa: neither VCF nor BCF, but a FASTA file$
1|-o y.tsv no.vcf|no\.vcf: neither VCF nor BCF$
1|-o y.tsv missing.vcf|missing\.vcf: No such file
1|-o y.vcf type.vcf|type\.vcf: the header has INFO/COVEFFECT with another type$
1|-o x.tsv v.vcf|x\.tsv: already exists; use -f to replace it$
2|-o y.bcf.gz v.vcf|y\.bcf\.gz: the output is a table
2|-f -o v.vcf v.vcf|.*v\.vcf
2|--ensemble sd -o y.tsv v.vcf|--ensemble sd: needs at least two checkpoints$
2|--haplotypes -o y.tsv -|--haplotypes: standard input is not a file that can be read again$
2|--haplotypes --shuffles 2 -o y.tsv p.vcf|--haplotypes: not with --shuffles$
2|--haplotypes --tracks t/ -o y.tsv p.vcf|--haplotypes: not with --tracks$
1|--haplotypes --samples one,four -o y.tsv p.vcf|--samples: p\.vcf does not have 'four'$
1|--haplotypes -o y.tsv odd.vcf|odd\.vcf: no samples, whose genotypes --haplotypes needs$
1|--haplotypes -o y.tsv unsorted.vcf|unsorted\.vcf:[0-9]*: not sorted, as --haplotypes needs it: c4:[0-9]* after a later position$
1|--haplotypes -o y.tsv ps.vcf|ps\.vcf:[0-9]*: FORMAT/PS is neither an integer nor text$
2|--resume -o - v.vcf|--resume: output to standard output cannot be resumed$
1|--resume -o /dev/null v.vcf|--resume: output to /dev/null cannot be resumed$
2|--resume -o y.tsv -|--resume: standard input is not a file that can be read again$
END
vcf --stats s.json -o y.vcf.gz v.vcf
is "$("$PYTHON" -c 'import json; s = json.load(open("s.json")); print(s["variants"], s["alleles"]["scored"] > 0, "compute" in s["stages"])')" \
    "$(grep -vc '^#' v.vcf) True True" '--stats'
rm -f x.tsv y.vcf.gz s.json
if [ -e /dev/full ]; then
    for name in full.vcf full.tsv; do
        ln -s /dev/full $name.x.${name#*.}
        run_refused 1 'No space left on device$' "no space: $name" vcf -f -o $name.x.${name#*.} v.vcf
        rm $name.x.${name#*.}
    done
fi

# ---------------------------------------------------------------- progress

# 4 variants are computed at a time. If only some of these counted when the bar is drawn, the time left would be too long.
awk "$random"'BEGIN { seed(1); print ">p"; while (n++ < 800) { letters(50, "ACGT"); print "" } }' >p.fa
awk 'BEGIN { print "##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO" }
    NR > 241 && NR % 5 == 0 && NR < 480 { b = substr($0, 1, 1); printf "p\t%d\t.\t%s\t%s\t.\t.\t.\n", 50 * (NR - 2) + 1, b, b == "A" ? "C" : "A" }' p.fa >p.vcf
run_ok 'a bar' coveffect vcf -m "$SRC/workflows/demo/plant.ckpt" -g p.fa -o bar.tsv -@ 1 -b 16 --progress bar p.vcf
is "$(tr '\r' '\n' <"$stderr" | sed -n 's|.* \([0-9]*\)/\([0-9]*\) variants.*|\1 \2|p' | awk '$1 % 4 && $1 != $2 || $2 != 47')" '' '  counts the variants that are done together at once'

# ---------------------------------------------------------------- damaged files

# A damaged file is read or refused, and leaves no output when it is refused. COV_DAMAGED=N sets the number of files.
if command -v bgzip >/dev/null; then
    cp o.vcf.gz whole.vcf.gz && cp o.bcf whole.bcf
    ok "$((n = ${COV_DAMAGED:-16})) damaged files" "$PYTHON" "$SRC/tests/fuzz/variant_damage.py" work "$n" "${COV_TEST_SEED:-1}" \
        m.ckpt g.fa 48 v.vcf whole.vcf.gz whole.bcf
fi
done_testing
