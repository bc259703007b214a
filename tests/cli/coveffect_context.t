#!/bin/sh
# coveffect vcf: quantiles among random variants, and nearest genes.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/coveffect.sh"

# ---------------------------------------------------------------- random variants

ask draws d.vcf g.fa 1 120 || exit 99
run_ok '--background' vcf --width 101,504 --background 120 --stats s.json -o q.tsv v.vcf
vcf --width 101,504 -o plain.tsv v.vcf
vcf --width 101,504 -o d.tsv d.vcf
ok '  adds the quantiles of the scores of random variants' ask quantiles q.tsv plain.tsv d.tsv 120
is "$("$PYTHON" -c 'import json; s = json.load(open("s.json")); print(s["background_variants"], s["variants"], "background" in s["stages"])')" \
    "120 $(grep -vc '^#' v.vcf) True" '  and counts them'
for how in '-@ 1 --batch-size 1' '-@ 3 --batch-size 7'; do
    # shellcheck disable=SC2086 # a list of words
    vcf -f $how --width 101,504 --background 120 -o x.tsv v.vcf
    ok "  the same bytes with $how" cmp q.tsv x.tsv
done
vcf -f --width 101,504 --background 120 -o x.tsv - <v.vcf
ok '  from standard input' cmp q.tsv x.tsv
# A variant does not need the others.
{ grep '^#' v.vcf && grep '^c3' v.vcf; } >c3.vcf
vcf -f --width 101,504 --background 120 -o x.tsv c3.vcf
is "$(grep -c ^c3 x.tsv) $(sed 1d x.tsv | cksum)" "$(grep -c ^c3 q.tsv) $(grep ^c3 q.tsv | cksum)" '  for a part of the variants'
vcf -f --width 101,504 --background 120 --seed 2 -o x.tsv v.vcf
is "$(cut -f 1-14 x.tsv | cmp - plain.tsv && cut -f 15- x.tsv | cksum | grep -vxF "$(cut -f 15- q.tsv | cksum)" | grep -c .)" 1 '  another seed changes the quantiles only'
ask draws d.vcf g.fa 2 120 || exit 99
vcf -f --width 101,504 -o d.tsv d.vcf
ok '  to those of other variants' ask quantiles x.tsv plain.tsv d.tsv 120
# Random variants are scored as without these.
vcf -f --width 101,504 --background 120 --shuffles 2 --tracks t/ -o x.tsv v.vcf
is "$(cut -f 18,19 x.tsv)" "$(cut -f 15,16 q.tsv)" '  --shuffles and --tracks do not matter'
is "$(find t -name '*.bw' | wc -l | tr -d ' ')" "$((3 * $(awk -F'\t' 'NR > 1 && $7 == 101 && $8 != "NA"' q.tsv | wc -l)))" '  and random variants have no tracks'
ask phased p.vcf g.fa 1 || exit 99
vcf --width 101 --haplotypes --background 30 -o h.tsv p.vcf
sed 's/	GT:PS	.*//; /^##FORMAT/d; /^#CHROM/s/	FORMAT.*//' p.vcf >n.vcf
vcf --width 101 --background 30 -o n.tsv n.vcf
is "$(awk -F'\t' '$19 == "NA" { print $1, $2, $5, $6, $15, $16 }' h.tsv | cksum)" \
    "$(awk -F'\t' 'FNR == NR { if ($19 == "NA") is[$1, $2, $5, $6] = 1; next } is[$1, $2, $5, $6] { print $1, $2, $5, $6, $15, $16 }' h.tsv n.tsv | cksum)" \
    '  with --haplotypes'
like "$(awk -F'\t' '$19 == "NA" && $15 != "NA"' h.tsv | wc -l)" '[1-9]' '    of which some have quantiles'
awk 'BEGIN { printf ">n\n"; while (n++ < 600) printf "N"; print "" }' >n.fa
printf '##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nn\t300\t.\tN\tA\t.\t.\t.\n' >nn.vcf
run_refused 1 '^coveffect: error: n\.fa: --background: hardly any base is A, C, G or T$' '  a genome without bases' \
    coveffect vcf -m m.ckpt -g n.fa --window 504 --background 5 -o x2.tsv nn.vcf

# ---------------------------------------------------------------- genes

awk 'BEGIN {
    split("40 60 300 390 395 800 1000 1002 1700 2300", start, " ")
    for (i = 1; i <= 10; i++)
        printf "c1\t%d\t%d\tgene;%d\t0\t%s\n", start[i], start[i] + (i % 3 ? 30 : 120), i, substr("+-.", i % 3 + 1, 1)
    printf "c3\t100\t103\tlast\t0\t-\nc3\t400\t450\tother\t0\t+\nc1\t200\t201\t.\t0\t+\nc1\t1300\t1301\tn\t0\t-\nc2\t100\t120\tp\t0\t.\nc2\t10\t11\tq\t0\t+\n"
}' >genes.bed
ask variants places.vcf g.fa 5 || exit 99
awk '/^>/ { name = substr($1, 2); next } { print name "\t" $1 }' g.fa >lines
awk -F'\t' -v OFS='\t' 'FNR == NR { bases[$1] = toupper($2); next }
    { for (at = $2 - 1; at <= $3 + 2; at++) if (at > 0) print $1, at, ".", substr(bases[$1], at, 1 + at % 3), "N", ".", ".", "." }' \
    lines genes.bed | sed 's/$/	GT	0|1	.\/./' >>places.vcf
run_ok '--genes' vcf --width 48 --datasets atacseq --genes genes.bed -o g.tsv places.vcf
ok '  adds the nearest gene and its distance' ask nearest g.tsv genes.bed
printf 'c1\tx\tgene\t401\t420\t.\t-\t.\tID=g1;Name=a%%3Bb\nc1\tx\texon\t1\t2000\t.\t-\t.\tID=e1\nc9\tx\tgene\t1\t2\t.\t+\t.\tID=g2\n' >genes.gff3
printf 'c1\t100\tv\t%s\tA,*\t.\t.\t.\nc4\t2\tw\t%s\tN\t.\t.\t.\n' "$(sed -n 2p g.fa | cut -c100)" "$(sed -n 8p g.fa | cut -c2)" >two
{ grep '^##' v.vcf && grep '^#CHROM' v.vcf | cut -f 1-8 && cat two; } >two.vcf
run coveffect vcf -m m.ckpt -g g.fa --window 504 --datasets atacseq --genes genes.gff3 -o two.tsv two.vcf
is "$(cut -f 3,5,15,16 two.tsv | tr '\t\n' ' ;')" 'variant_id allele2 gene gene_distance;v A g1 301;v * g1 301;w N NA NA;' '  of a GFF3, also without a score'
stderr_like '^coveffect: warning: genes\.gff3: 1 feature on sequences that are not in g\.fa: c9$' '  warns of other sequences'
vcf -f --datasets atacseq --genes genes.gff3 --feature exon -o two.tsv two.vcf
is "$(cut -f 15,16 two.tsv | sed -n 2p)" 'e1	0' '  --feature'
vcf --datasets atacseq --background 9 --genes genes.bed -o two.vcf.gz two.vcf
is "$(gzip -dc two.vcf.gz | sed -n '/^##INFO=<ID=COVEFFECT,/s/.*MAX_ABS_DIFF_POS//p')" '|ABS_LOGFC_QUANTILE|JSD_QUANTILE|GENE|GENE_DISTANCE">' '  in VCF, the header names them'
vcf -f --datasets atacseq --background 9 --genes genes.bed -o two.tsv two.vcf
is "$(gzip -dc two.vcf.gz | sed -n 's/.*COVEFFECT=\([^;	]*\).*/\1/p' | cut -d'|' -f 10-)" "$(awk -F'\t' 'NR == 2 || NR == 4 { print $15, $16, $17, $18 }' two.tsv | sed 's/;/%3B/; s/NA/./g' | tr ' ' '|')" '  with the same values'
like "$(gzip -dc two.vcf.gz)" '\|gene%3B2\|' '  and special characters as in VCF'

# ---------------------------------------------------------------- resumed

context() { # GENES BACKGROUND OPTION...
    genes=$1 background=$2
    shift 2
    run coveffect vcf -m m.ckpt -g g.fa --window 504 --width 101 --genes "$genes" --background "$background" "$@" v.vcf
}
context genes.bed 40 -q -o whole.tsv
n=$(grep -vc '^#' v.vcf)
# The journal has room for a part of the random variants, or for all of them and some others.
for case in '8 [1-9]|[12][0-9]|3[0-8]' '34 4[1-9]|5[0-9]'; do
    : "$((limit = ${case%% *}))"
    run sh -c 'trap "" XFSZ; ulimit -f '$limit'; exec "$@"' sh coveffect vcf -m m.ckpt -g g.fa --window 504 --width 101 \
        --genes genes.bed --background 40 --batch-size 1 -@ 1 --resume -o r.tsv v.vcf
    refused 1 '^coveffect: error: r\.tsv\.resume: cannot be written: File too large$' "interrupted: a journal of $limit blocks"
    cp r.tsv.resume kept
    run_ok '  continued' context genes.bed 40 --resume -o r.tsv
    stderr_like "^coveffect: r\.tsv\.resume: (${case#* }) of $((n + 40)) variants are done\$" '  from what is done'
    ok '  has the bytes of an uninterrupted run' cmp whole.tsv r.tsv
    run_ok '  finished' context genes.bed 40 --resume -o r.tsv
    stderr_like '^coveffect: nothing to do: r\.tsv is complete$' '  has nothing to do'
    rm r.tsv r.tsv.resume
done
cp genes.bed same.bed
while IFS='|' read -r genes background more regex; do
    cp kept r.tsv.resume
    # shellcheck disable=SC2086 # words
    context "$genes" "$background" --resume $more -o r.tsv
    refused 1 "^coveffect: error: r\.tsv\.resume: journal of a run with different $regex" "  not with $genes $background $more"
done <<'END'
genes.bed|40|--seed 2|--background: 40, seed 1, now 40, seed 2;
genes.bed|0||--background: 40, seed 1, now none;
genes.gff3|40||--genes: genes\.bed \(
END
cp kept r.tsv.resume
run_ok '  but with the same file of another name' context same.bed 40 --resume -o r.tsv

# ---------------------------------------------------------------- faults

printf 'c8\t1\t2\n' >far.bed
printf 'c1\t2400\t2501\n' >long.bed
while IFS='|' read -r code args regex; do
    # shellcheck disable=SC2086 # a list of words
    run_refused "$code" "^coveffect: error: $regex" "refused: $args" vcf $args
done <<'END'
2|--feature gene -o y.tsv v.vcf|--feature needs --genes$
1|--feature gene --genes genes.bed -o y.tsv v.vcf|--feature: genes\.bed is a BED file, which has no types of features$
1|--genes far.bed -o y.tsv v.vcf|far\.bed: none of its sequences \(c8\) is in g\.fa \(c1, c2, c3, c4\); --rename maps names$
1|--genes long.bed -o y.tsv v.vcf|long\.bed:1: .*2501.*2500
1|--genes missing.bed -o y.tsv v.vcf|missing\.bed: No such file
2|--background 1000001 -o y.tsv v.vcf|--background: 
END
done_testing
