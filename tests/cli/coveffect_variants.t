#!/bin/sh
# coveffect vcf: variants of other programs, of other genomes, and files that contradict themselves.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

make_ckpt bi-hybrid m.ckpt || exit 99
awk "$random"'BEGIN { seed(3); record("c1", 3000); record("c2", 3000) }' | sed '2s/^\(.\{900\}\).\{10\}/\1NNNNNNNNNN/' >g.fa
vcf() { run coveffect vcf -m m.ckpt -g g.fa --window 504 --width 301 --datasets atacseq "$@"; }
bases() { sed -n 2p g.fa | cut -c"$1-$2"; }
other() { bases "$1" "$1" | tr ACGT CGTA | tr N A; }
# record POS [REF ALT [INFO [GENOTYPE]]]: a record of c1; by default, an SNV.
record() {
    printf 'c1\t%s\t.\t%s\t%s\t.\tPASS\t%s' "$1" "${2:-$(bases "$1" "$1")}" "${3:-$(other "$1")}" "${4:-.}"
    [ $# -lt 5 ] || printf '\tGT\t%s' "$5"
    echo
}
head_of() { # [LENGTH [SAMPLES]]
    printf '##fileformat=VCFv4.4\n##contig=<ID=c1,length=%s>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="">\n' "${1:-3000}"
    printf '#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO%s\n' "${2:+	FORMAT	$2}"
}
columns() { awk -F'\t' -v OFS=' ' -v list="$1" 'NR > 1 { n = split(list, c, ","); for (i = 1; i <= n; i++) printf "%s%s", $c[i], i < n ? OFS : ORS }' "$2"; }

# ---------------------------------------------------------------- N for no base

{
    head_of
    record 500 "$(bases 500 540)" "$(bases 500 500)"
    record 501 "$(bases 501 540)" N 'SVTYPE=DEL;SVLEN=-40'
    record 501 "$(bases 501 502)" n
    record 500 N ACGTTGCAACGTTGCA 'SVTYPE=INS;SVLEN=16'
    record 500 N "NACGT,$(other 500)"
    record 905 N NACGT
    record 905 N ACGT
    record 600 "$(bases 600 600)" N
} >sv.vcf
vcf -o sv.tsv sv.vcf
is "$(awk -F'\t' 'NR > 1 { printf "%s", $8 == "NA" ? "-" : "+" }' sv.tsv)" '+----++-+' 'N for no base in REF or ALT has no scores'
stderr_like '^coveffect: warning: sv\.vcf: no scores for alleles whose record has N where no base is \(5\), as Sniffles writes them; write the base before them in REF and ALT$' '  which is said'
vcf --stats s.json -f -o sv.vcf.gz sv.vcf
is "$("$PYTHON" -c 'import json; a = json.load(open("s.json"))["alleles"]; print(a["scored"], a["n_for_no_base"])')" '4 5' '  and counted'
{ head_of && record 2990 '' "$(bases 2990 2990)$(bases 1 20)"; } >end.vcf
vcf -o end.tsv end.vcf
stderr_like '^coveffect: warning: end\.vcf: no scores for insertions that are longer than the rest of their sequence \(1\)$' 'an insertion at the end of a sequence'
unlike "$(cat "$stderr")" 'larger --window' '  for which a larger window is no help'
{ head_of && record 1500 '' "$(bases 1500 1500)$(bases 1 400)"; } >long.vcf
vcf -o long.tsv long.vcf
stderr_like 'no scores for alleles that reach past their windows \(1\); use a larger --window$' '  unlike for one in the middle'

# ---------------------------------------------------------------- other genomes

{ head_of 3100 && record 500; } >other.vcf
run_ok 'another length in the header' vcf -o other.tsv other.vcf
stderr_like '^coveffect: warning: other\.vcf: c1 has 3100 bases in the header, but 3000 in g\.fa \(1 of 1 sequences differ\); check that the variants were called with this genome$' '  warns'
vcf --strict -o x.tsv other.vcf
refused 1 '^coveffect: error: other\.vcf: c1 has 3100 bases in the header, but 3000 in g\.fa ' '  with --strict, fails'
{ head_of 3000 && record 500; } | sed 's/,length=3000//' >none.vcf
run_ok '  no length is no fault' vcf --strict -o none.tsv none.vcf
swapped() { record "$1" "$(other "$1")" "$(bases "$1" "$1")"; }
{ head_of && for i in 300 400 500 600 700; do record $i && swapped $((i + 50)); done; } >half.vcf
vcf -o half.tsv half.vcf
stderr_like ' differ from the genome \(5 of 10\), the first at c1:350: .*; in 5 of these 5, ALT is what the genome has: REF and ALT are swapped, as PLINK and TASSEL write them; plink2 --ref-from-fa or bcftools norm ' 'swapped alleles'
{ head_of && for i in 300 400 500; do swapped $i; done && record 600 "$(bases 600 600 | tr ACGT GTAC)"; } >all.vcf
vcf -o x.tsv all.vcf
refused 1 "^coveffect: error: all\.vcf: no variant has the genome's bases as REF \(4 of 4 differ\), the first at c1:300: .*; in 3 of these 4, ALT is what the genome has: " '  of all records, are an error'
vcf --strict -o x.tsv half.vcf
refused 1 '^coveffect: error: half\.vcf:6: c1:350: REF is ., but the genome has ., which is an allele of ALT$' '  with --strict'

# ---------------------------------------------------------------- genotypes

{ head_of 3000 one && record 500 '' '' . '|0|1' && record 520 '' '' . /0/1 && record 540 '' '' . '|1|0' && record 560 '' '' . /0\|1 &&
    record 580 '' '' . '|1' && record 590 '' '' . '/1:3'; } | sed '/^c1	590/s/GT/GT:DP/; 2s/$/\n##FORMAT=<ID=DP,Number=1,Type=Integer,Description="">/' >signs.vcf
sed 's/	[|/]\([01][^	]*\)$/	\1/' signs.vcf >plain.vcf
for input in signs plain; do
    vcf --haplotypes -o $input.tsv $input.vcf
    is "$(columns 17 $input.tsv | tr '\n' ' ')" 'one:2 NA one:1 one:2 one:1 one:1 ' "a phase sign before the first allele: $input.vcf"
done
ok '  changes nothing' cmp signs.tsv plain.tsv
vcf -f --haplotypes -o signs.tsv signs.vcf
stderr_like '^coveffect: warning: signs\.vcf: genotypes with another phase sign before the first allele than after it \(2\); the first sign does not count$' '  but contradictions are counted'
for format in vcf bcf; do
    vcf -o out.$format signs.vcf
    stderr_like 'genotypes with another phase sign .* \(2\); the first sign is not written$' "  is not written to $format"
    vcf --haplotypes -o out.$format.tsv out.$format
    ok "  which has the same haplotypes" cmp signs.tsv out.$format.tsv
done
{ head_of 3000 one && record 500 '' '' . 0/1 && record 520 '' '' . 0/1; } >unphased.vcf
vcf --haplotypes -o unphased.tsv unphased.vcf
stderr_like '^coveffect: warning: unphased\.vcf: no phased genotype \(0\|1\) has an allele of ALT, so that --haplotypes has no effect; not phased: 2$' 'unphased genotypes only'
{ cat unphased.vcf && record 540 '' '' . '1|0'; } >mixed.vcf
vcf --haplotypes -o mixed.tsv mixed.vcf
stderr_like '^coveffect: warning: mixed\.vcf: genotypes that are not phased \(0/1\) are in no haplotype \(2 of 3 with an allele of ALT\)$' '  some'

# A variant that an insertion moves towards the end of the window: all sums are of the same bases.
{ head_of 3000 one && record 1500 '' "$(bases 1500 1500)$(sed -n 4p g.fa | cut -c1-150)" . '0|1' && record 1510 '' '' . '0|1'; } >moved.vcf
vcf --haplotypes -o moved.tsv moved.vcf
stderr_like '^coveffect: warning: moved\.vcf: scores of fewer bases than --width, because other variants of the haplotype move the allele towards an end of its window \(1\); use a larger --window$' 'less than the width in a haplotype'
# Of 151 + 102 bases: the SNV is at 252 + 150, and 151 before it are scored.
{ echo '>g' && bases 1258 1761; echo '>h' && printf '%s%s%s%s%s\n' "$(bases 1258 1500)" "$(sed -n 4p g.fa | cut -c1-150)" "$(bases 1501 1509)" "$(other 1510)" "$(bases 1511 1611)"; } >two.fa
covpredict -q --full --float --subsequence-length 504 -m m.ckpt -o two.h5 two.fa || exit 99
vcf -f --full --haplotypes -o moved.tsv moved.vcf
ok '  has the values of covpredict' "$PYTHON" -c 'import h5py, math, sys
v = h5py.File("two.h5")["prediction/predictions"][:, :, 0]
g, h = ((v[i] + v[i + 1][::-1]) / 2 for i in (0, 2))
row = [l.split("\t") for l in open("moved.tsv")][2]
wanted = math.log2(float(h[402 - 150:504].sum(dtype="f8")) / float(g[252 - 150:252 + 102].sum(dtype="f8")))
assert abs(float(row[15]) - wanted) < 1e-6, (row, wanted)'

# ---------------------------------------------------------------- contradictions

printf '\357\273\277>c\nACGT\n' >mark.txt
run_refused 1 '^coveffect: error: mark\.txt: neither VCF nor BCF' 'another text with a byte order mark' vcf -o y.tsv mark.txt
# bcf N_HEADER N_RECORD: a BCF with records of fewer or more samples than its header has.
cat >bcf.py <<'E'
import struct
import sys
n, m, ref, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
text = ("##fileformat=VCFv4.2\n##FILTER=<ID=PASS,Description=\"\">\n##contig=<ID=c1,length=3000>\n##FORMAT=<ID=GT,Number=1,Type=String,Description=\"\">\n"
        "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t" + "\t".join(f"s{i}" for i in range(n)) + "\n\0").encode()
f = b"BCF\2\2" + struct.pack("<I", len(text)) + text
for k in range(3):
    shared = struct.pack("<3iI2I", 0, 499, 1, 0x7f800001, 2 << 16, 1 << 24 | m) + b"\7" + b"\x17" + ref.encode() + b"\x17" + (b"C" if ref != "C" else b"A") + b"\0"
    indiv = b"\x11\1\x21" + b"\2\5" * m
    f += struct.pack("<2I", len(shared), len(indiv)) + shared + indiv
open(out, "wb").write(f)
E
for n in 2000:1 3:2 2:3 1:0; do
    "$PYTHON" bcf.py ${n%:*} ${n#*:} "$(bases 500 500)" few.bcf || exit 99
    bgzip -f -c few.bcf >few.bcf.gz 2>/dev/null && mv few.bcf.gz few.bcf
    vcf --haplotypes -o x2.tsv few.bcf
    refused 1 "^coveffect: error: few\.bcf: record 1: ${n#*:} samples, but the header has ${n%:*}\$" "a BCF with ${n#*:} samples of ${n%:*}"
    vcf -o x2.vcf few.bcf
    refused 1 "^coveffect: error: few\.bcf: record 1: ${n#*:} samples, but the header has ${n%:*}\$" '  written'
done
"$PYTHON" bcf.py 2 2 "$(bases 500 500)" two.bcf
vcf --haplotypes -o two.tsv two.bcf
is "$status $(columns 17 two.tsv | sort -u)" '0 s0:2,s1:2' '  and with all'

# A file that grows: the table does not fit into the pipe, so nobody reads the rest before this script reads the table.
head_of >grows.vcf
record 500 >one
awk '{ for (i = 0; i < 6000; i++) print }' one >>grows.vcf
mkfifo table || exit 99
for option in '' --haplotypes; do
    if [ "$option" ]; then
        sed -i '/^#CHROM/s/$/\tFORMAT\tone/; /^c1/s/$/\tGT\t0|0/' grows.vcf one
        sed -i '5,$!s/0|0$/0|1/' grows.vcf # one has it, so that there is no warning
    fi
    # shellcheck disable=SC2086 # a list of words
    coveffect vcf -q -@ 1 --cpu base $option -m m.ckpt -g g.fa --window 48 --width 48 -o - grows.vcf >table 2>"$stderr" &
    {
        read -r _
        cat one >>grows.vcf
        cat >rest
    } <table
    wait $!
    status=$?
    refused 1 '^coveffect: error: grows\.vcf: changed while it was read; run again$' "a file that grows $option"
done
done_testing
