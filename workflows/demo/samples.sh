#!/bin/sh
# samples.sh - samples for the workflows: two synthetic genomes, one with reads, and the demo's network.
#
#   samples.sh MAKE_PLANT DIRECTORY [BASES]
#
# MAKE_PLANT is the program of make_plant.c. Writes to DIRECTORY: moss.fa.gz, weed.fa, weed_atacseq.sam, weed_h3k4me3.sam,
# weed.gff3, plant.ckpt and the sheet samples.csv.
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo 'usage: samples.sh MAKE_PLANT DIRECTORY [BASES]' >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
make_plant=$(cd "$(dirname "$1")" && pwd)/${1##*/}
bases=${3:-200000}
mkdir -p "$2"
cd "$2"

"$make_plant" . "$bases"
mv genome.fa weed.fa
mv atacseq.sam weed_atacseq.sam
mv h3k4me3.sam weed_h3k4me3.sam
awk -F '\t' -v OFS='\t' '$4 == "gene" { print $1, "made", "gene", $2 + 1, $3, ".", $6, ".", "ID=gene" ++n }' features.bed >weed.gff3
rm features.bed
# The other genome is a part of this one, with different names.
awk '/^>/ { n++ } n > 2 { sub(/^>chr/, ">scaffold_"); print }' weed.fa | gzip -n >moss.fa.gz
cp "$here/plant.ckpt" .

printf '%s\n' 'sample,fasta,dataset,assay,bams,model,checkpoint,genes,region' 'moss,moss.fa.gz,,,,plant,plant.ckpt,,' \
    'weed,weed.fa,atacseq,atacseq,weed_atacseq.sam,plant,plant.ckpt,weed.gff3,chr1:1-20000' \
    'weed,weed.fa,h3k4me3,chipseq,weed_h3k4me3.sam,plant,plant.ckpt,weed.gff3,chr1:1-20000' >samples.csv
