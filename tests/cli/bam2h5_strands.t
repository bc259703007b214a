#!/bin/sh
# bam2h5 warns if a library looks stranded but is counted as unstranded, and the other way.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

# 150 places of 1000 bases
awk "$random"'BEGIN {
    seed(1)
    print ">c"
    for (i = 0; i < 1500; i++) {
        for (k = 0; k < 100; k++)
            printf "%s", letter("ACGT")
        print ""
    }
}' >g.fa
fasta2h5 -q --subsequence-length 5000 -o g.h5 g.fa || exit 99
# reads NAME PLACES ANTISENSE SORT [PAIRS COPIES]: NAME.sam with PAIRS (45) at each place, of a gene on one of the strands, and
# ANTISENSE per cent of them on the other; COPIES (1) of each pair
reads() {
    awk -v places="$2" -v antisense="$3" -v order="$4" -v pairs="${5:-45}" -v copies="${6:-1}" "$random"'BEGIN {
        seed(2)
        printf "@HD\tVN:1.6\tSO:%s\n@SQ\tSN:c\tLN:150000\n", order
        for (p = 0; p < places; p++)
            for (i = 0; i < pairs; i++) {
                minus = (p % 2) != (random() * 100 < antisense)
                # The left mate is read 1 of a + pair, or read 2 of a - pair.
                for (c = 0; c < copies; c++)
                    left[++n] = sprintf("r%d.%d.%d\t%d\tc\t%d\t60\t20M\t=\t%d\t180\t*\t*\n", p, i, c, \
                        minus ? 163 : 99, p * 1000 + i * 16 + 1, p * 1000 + i * 16 + 161)
                for (c = 0; c < copies; c++)
                    right[n - c] = sprintf("r%d.%d.%d\t%d\tc\t%d\t60\t20M\t=\t%d\t-180\t*\t*\n", p, i, c, \
                        minus ? 83 : 147, p * 1000 + i * 16 + 161, p * 1000 + i * 16 + 1)
            }
        # Of the pairs of a place, those 10 further on have their left mates where these have their right ones.
        for (p = 0; p < places; p++) {
            for (i = 0; i < pairs + 10; i++) {
                for (c = 1; i >= 10 && c <= copies; c++)
                    printf "%s", right[(p * pairs + i - 10) * copies + c]
                for (c = 1; i < pairs && c <= copies; c++)
                    printf "%s", left[(p * pairs + i) * copies + c]
            }
        }
    }' >"$1.sam"
}
reads stranded 150 4 coordinate
reads unstranded 150 50 coordinate
reads between 150 20 coordinate
reads few 99 4 coordinate
reads unsorted 150 4 unsorted
reads copies 150 50 coordinate 1 40

counts() { # FILE STRAND
    run_ok "$1 --strand $2" bam2h5 -q --replace -p x --strand "$2" g.h5 "$1.sam"
}
warning='^bam2h5: warning: stranded\.sam: looks like a stranded library: .* only [1-6] % .*; --strand second \(dUTP\) or --strand first '
counts stranded both
stderr_like "$warning" '  is a warning'
run bam2h5 -q --replace -p x --count fragment g.h5 stranded.sam
stderr_like "$warning" '  of fragments, too'
for strand in first second; do
    counts unstranded $strand
    stderr_like '^bam2h5: warning: unstranded\.sam: looks like an unstranded library: .* usually 4[0-9] % .*; --strand both suits it$' \
        '  is a warning'
done
while read -r file strand; do
    counts "$file" "$strand"
    unlike "$(cat "$stderr")" 'looks like' '  is no warning'
done <<'END'
stranded first
stranded second
stranded own
unstranded both
unstranded own
between both
between first
few both
unsorted both
copies both
END
awk -F '\t' -v OFS='\t' '/^r/ { $2 = $9 < 0 ? 16 : 0; $7 = "*"; $8 = $9 = 0 } { print }' unstranded.sam >single.sam
run_ok 'unpaired reads of one strand that flags select' bam2h5 -q --replace -p x --exclude-flags 772,REVERSE g.h5 single.sam
unlike "$(cat "$stderr")" 'looks like' '  are no warning'
done_testing
