#!/bin/sh
# layouts.sh DIRECTORY CONTIGS LENGTH CHUNK - converts genome files of many contigs from each layout to every other, also
# through streams and in parts, and compares them with the output of fasta2h5: `h5chunk cat` must give the same bytes
# for all. Contigs have at least LENGTH bases. The variable FORMS replaces the list of forms below. Prints differences;
# exits with status 1 if there are any. Run it by hand, with the tools in PATH. These examples take some minutes:
#   layouts.sh /dev/shm/x 1840 20000 21384; layouts.sh /dev/shm/x 300000 1000 1100
# SPDX-License-Identifier: MIT
set -eu
[ $# -eq 4 ] || {
    sed -n '2,7p' "$0" >&2
    exit 2
}
random=$(cat "${0%/*}/../lib/random.awk")
dir=$1 n_contigs=$2 length=$3 chunk=$4
mkdir -p "$dir"
cd "$dir"
export SOURCE_DATE_EPOCH=1
n_bad=0

awk -v n="$n_contigs" -v length_of="$length" "$random"'BEGIN {
    seed(11)
    # Letters, including N and lower case; each contig is made of parts of them.
    for (i = 0; i < 400000; i++)
        pool = pool letter("ACGTACGTACGTACGTacgtACGTACGTACGTACGTNY")
    for (c = 0; c < n; c++) {
        print ">contig_" c
        left = length_of + int(random() * 30)
        while (left > 0) {
            m = left < 60 ? left : 60
            print substr(pool, 1 + int(random() * (400000 - 60)), m)
            left -= m
        }
    }
}' >genome.fa
grep '^>' genome.fa | sed 's/^>//' | awk 'NR % 3 == 1' >names

# A form is LAYOUT:COMPRESSION:ROWS.
forms=${FORMS:-onehot:gzip:1 onehot:fast:1 onehot:lzf:3 packed:zstd:1 packed:none:4}
digest() { # FILE
    h5chunk cat -q "$1" | sha256sum | cut -d ' ' -f 1
}
check() { # NAME DIGEST EXPECTED
    [ "$2" = "$3" ] && return
    echo "$1 differs"
    n_bad=$((n_bad + 1))
}

fasta2h5 -q -f --species s --subsequence-length "$chunk" -o one.h5 genome.fa
all=$(digest one.h5)
fasta2h5 -q -f --species s --subsequence-length "$chunk" --layout packed -o two.h5 genome.fa
check 'fasta2h5 --layout packed' "$(digest two.h5)" "$all"
fasta2h5 -q --species s --subsequence-length "$chunk" -o - genome.fa | h5chunk save -q -f -o two.h5 -
check 'fasta2h5 -o -' "$(digest two.h5)" "$all"
rm two.h5
h5chunk subset -q -f --names names -o part.h5 one.h5
part=$(digest part.h5)
rm part.h5
for from in $forms; do
    IFS=: read -r layout compression rows <<EOF
$from
EOF
    h5chunk repack -q -f --layout "$layout" --compression "$compression" --chunk-rows "$rows" -o from.h5 one.h5
    check "$from" "$(digest from.h5)" "$all"
    h5chunk verify -q from.h5 >verify.txt || {
        echo "$from is not sound: $(head -n 3 verify.txt)"
        n_bad=$((n_bad + 1))
    }
    h5chunk cat -q from.h5 | h5chunk save -q -f -o saved.h5 -
    check "$from by cat and save" "$(digest saved.h5)" "$all"
    rm saved.h5
    h5chunk subset -q -f --names names -o part.h5 from.h5
    check "a part of $from" "$(digest part.h5)" "$part"
    rm part.h5
    for to in $forms; do
        IFS=: read -r layout compression rows <<EOF
$to
EOF
        h5chunk repack -q -f --layout "$layout" --compression "$compression" --chunk-rows "$rows" -o to.h5 from.h5
        check "$from to $to" "$(digest to.h5)" "$all"
        rm to.h5
    done
    rm from.h5
done
rm -f one.h5 genome.fa names verify.txt
echo "# $n_contigs contigs: $n_bad differ"
[ "$n_bad" -eq 0 ]
