#!/bin/sh
# coveffect vcf: a symbolic allele has the scores of a record that spells it out; structural variants without scores.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

make_ckpt bi-hybrid m.ckpt || exit 99
awk "$random"'BEGIN { seed(3); record("c1", 3000); record("c2", 300) }' | sed '2s/^\(.\{900\}\).\{10\}/\1NNNNNNNNNN/' >g.fa
vcf() { run coveffect vcf -f -m m.ckpt -g g.fa --window 504 --datasets atacseq "$@"; }
bases() { sed -n 2p g.fa | cut -c"$1-$2"; }
complement() { awk '{ for (i = length($0); i > 0; i--) printf "%s", substr($0, i, 1) }' | tr ACGTN TGCAN; }
head_of() { # TYPE: of END and SVLEN
    printf '##fileformat=VCFv4.4\n##contig=<ID=c1>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="">\n'
    printf '##INFO=<ID=END,Number=1,Type=%s,Description="">\n##INFO=<ID=SVLEN,Number=A,Type=%s,Description="">\n' "$1" "$1"
    for key in SVTYPE SEQ SVINSSEQ; do printf '##INFO=<ID=%s,Number=.,Type=String,Description="">\n' $key; done
    printf '#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts\n'
}
record() { printf 'c1\t%s\t.\t%s\t%s\t.\tPASS\t%s\tGT\t0|1\n' "$@"; } # POS REF ALT INFO
scores() { cut -f 1-3,6- "$1"; }

# ---------------------------------------------------------------- with scores

inserted=$(sed -n 4p g.fa | cut -c1-60)
# POS, the symbolic allele and INFO, then the REF and ALT that spell it out.
pairs() {
    at=$(bases 500 500)
    echo "1 <DEL> END=252 $(bases 1 252) $(bases 1 1)"
    echo "500 <DEL> SVTYPE=DEL;END=540 $(bases 500 540) $at"
    echo "500 <DEL> SVLEN=-40 $(bases 500 540) $at"
    echo "500 <DEL:ME:ALU> END=540;SVLEN=40 $(bases 500 540) $at"
    echo "500 <DEL> END=540;SVLEN=-40;SVINSSEQ=ttg $(bases 500 540) ${at}TTG"
    echo "500 <DUP> END=540 $at $(bases 500 540)"
    echo "500 <DUP:TANDEM> END=540;SVLEN=40;SVINSSEQ=GATTACA $at $(bases 500 540)GATTACA"
    echo "500 <INV> END=540;SVLEN=0 $(bases 500 540) $at$(bases 501 540 | complement)"
    echo "500 <INS> SEQ=$inserted $at $at$inserted"
    echo "500 <INS:ME> END=500;SVLEN=60;SVINSSEQ=$inserted;SEQ=A $at $at$inserted"
    echo "880 <DEL> END=1000 $(bases 880 1000) $(bases 880 880)"
    echo "890 <INV> END=930;SVLEN=40 $(bases 890 930) $(bases 890 890)$(bases 891 930 | complement)"
    echo "1500 <DEL> END=1751 $(bases 1500 1751) $(bases 1500 1500)"
    echo "2900 <DEL> END=3000 $(bases 2900 3000) $(bases 2900 2900)"
}
symbolic() { head_of "$1" && pairs | while read -r pos alt info _; do record "$pos" N "$alt" "$info"; done; }
{ head_of Integer && pairs | while read -r pos _ _ ref alt; do record "$pos" "$ref" "$alt" .; done; } >spelled.vcf
symbolic Integer >symbolic.vcf
symbolic String >texts.vcf
more='--width 301,504 --shuffles 3'
# shellcheck disable=SC2086 # words, also below
vcf $more --tracks spelled/ -o spelled.tsv spelled.vcf
is "$(awk -F'\t' 'NR > 1 { n += $8 != "NA" } END { print n }' spelled.tsv)" 28 'records that spell out structural variants'
# shellcheck disable=SC2086
run_ok 'symbolic alleles' vcf $more --tracks symbolic/ -o symbolic.tsv symbolic.vcf
unlike "$(cat "$stderr")" warning '  without a warning'
is "$(scores symbolic.tsv)" "$(scores spelled.tsv)" '  have the scores of records that spell them out'
is "$(for t in symbolic/*; do
    n=${t#*/} && cmp "$t" spelled/"${n%%_*}"_*"_${n##*_}"
done 2>&1)" '' '  and the tracks'
# shellcheck disable=SC2086
vcf $more -o texts.tsv texts.vcf
is "$(scores texts.tsv)" "$(scores spelled.tsv)" '  also if the header declares their numbers as text'
for format in vcf bcf; do
    vcf -o out.$format symbolic.vcf
    # shellcheck disable=SC2086
    vcf $more -o out.tsv out.$format
    ok "  and from $format, which keeps the records" cmp symbolic.tsv out.tsv
done
is "$(sed 's/;COVEFFECT=[^\t]*//' out.vcf | grep -v '^#')" "$(grep -v '^#' symbolic.vcf)" '  as they are'
like "$(grep -v '^#' out.vcf | sed -n 7p)" 'COVEFFECT=<DUP:TANDEM>\|atacseq\|504\|[0-9.]*\|' '  with their scores'
vcf --haplotypes -o spelled.tsv spelled.vcf
vcf --haplotypes -o symbolic.tsv symbolic.vcf
is "$(scores symbolic.tsv)" "$(scores spelled.tsv)" '  and the same haplotypes'
like "$(cut -f 17 symbolic.tsv | sort -u | tr '\n' ' ')" 's:2' '  of which there are some'

# Several alleles of a record.
{ head_of Integer && record 500 N '<DEL>,<DEL>,<INS>,<DUP>' 'END=540;SVLEN=10,40,4,.;SVINSSEQ=.,.,GATT,.'; } >several.vcf
{ head_of Integer && record 500 "$(bases 500 510)" "$(bases 500 500)" . && record 500 "$(bases 500 540)" "$(bases 500 500)" . &&
    record 500 "$(bases 500 500)" "$(bases 500 500)GATT" . && record 500 "$(bases 500 500)" "$(bases 500 540)" .; } >each.vcf
vcf -o several.tsv several.vcf
vcf -o each.tsv each.vcf
is "$(scores several.tsv)" "$(scores each.tsv)" 'SVLEN and SVINSSEQ of several alleles'

# ---------------------------------------------------------------- without scores

{
    head_of Integer
    record 500 N '<DEL>' .
    record 500 N '<DUP>' 'SVLEN=.'
    record 500 N '<INV>' 'SVLEN=0'
    record 500 N '<DEL>' 'END=540;SVLEN=-41'
    record 500 N '<DEL>' 'END=500'
    record 500 N '<DEL>,<DEL>' 'END=540;SVLEN=-10,-50'
    record 500 N '<INS>' 'SVLEN=60'
    record 500 N '<INS>' 'SVINSSEQ=AC-'
    record 500 N '<CNV>,<DUP:INT>,<del>' 'END=540'
    record 500 N 'N[c2:5[' .
    record 500 N '<*>,<NON_REF>' .
    record 1500 N '<DEL>' 'END=1752'
    record 1500 N '<DUP>' 'END=1752'
    record 1500 N '<INV>' 'END=1752'
    record 2990 N '<DEL>' 'END=3001'
    record 2990 N '<DEL>' 'END=3000'
} >without.vcf
run_ok 'structural variants without scores' vcf --stats s.json -o without.tsv without.vcf
is "$(awk -F'\t' 'NR > 1 { printf "%s", $8 == "NA" ? "-" : "+" }' without.tsv)" '-----+-------------+' '  have NA'
stderr_like '^coveffect: warning: without\.vcf: no scores for symbolic alleles: <DEL>, <DUP> or <INV> without END and SVLEN \(3\), END contradicts POS or SVLEN \(3\), <INS> without its bases in SVINSSEQ or SEQ \(2\), breakends and other symbols \(4\)$' \
    '  and are counted by reason'
stderr_like '^coveffect: warning: without\.vcf: no scores for alleles that reach past their windows \(3\); use a larger --window$' '  long ones'
stderr_like '^coveffect: warning: without\.vcf: .* differ from the genome \(1 of 16\), the first at c1:2990: END is not inside the sequence$' '  ends past the sequence'
stderr_like '^coveffect: variants: 16; alleles with scores: 2; without: symbolic 14, ' '  all'
is "$("$PYTHON" -c 'import json; print(*(f"{k}:{n}" for k, n in json.load(open("s.json"))["alleles"].items() if n))')" \
    'scored:2 mismatch:1 any_other:2 symbolic:4 no_end:3 contradictory_end:3 no_bases:2 too_long:3' '  with --stats'
run_refused 1 '^coveffect: error: without\.vcf:24: c1:2990: END is not inside the sequence$' '  --strict stops at an end past the sequence' vcf --strict -o x.tsv without.vcf
done_testing
