#!/bin/sh
# species.sh - genome files of three synthetic species with ATAC-seq, to leave each of them out in training.
#
#   species.sh MAKE_PLANT DIRECTORY [BASES]
#
# MAKE_PLANT is the program of make_plant.c; the tools must be in PATH. The species are chromosomes of one synthetic genome,
# with other names: DIRECTORY/moss.h5 (two chromosomes), weed.h5 (two) and fern.h5 (one and the contigs).
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo 'usage: species.sh MAKE_PLANT DIRECTORY [BASES]' >&2
    exit 2
fi
make_plant=$(cd "$(dirname "$1")" && pwd)/${1##*/}
mkdir -p "$2"
cd "$2"

"$make_plant" . "${3:-600000}"
n=1
for species in moss weed fern; do
    awk -v n=$n '/^>/ { k++ } (k == n || k == n + 1 || (n == 5 && k > n))' genome.fa >$species.fa
    fasta2h5 -fq --subsequence-length 2400 -o $species.h5 $species.fa
    awk 'FNR == NR { if (/^>/) is_here[substr($1, 2)]; next }
        /^@/ ? !/^@SQ/ || substr($2, 4) in is_here : $3 in is_here' $species.fa atacseq.sam >$species.sam
    bam2h5 -q -p atacseq --shift $species.h5 $species.sam
    n=$((n + 2))
done
rm ./*.fa ./*.sam features.bed
