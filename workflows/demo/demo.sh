#!/bin/sh
# demo.sh - a network that has learned a synthetic plant's promoters predicts a chromosome that it has not seen.
#
#   demo.sh MAKE_PLANT DIRECTORY [BASES]
#
# MAKE_PLANT is the program of make_plant.c; the tools must be in PATH. The network is plant.ckpt in the directory of this
# script, which train.sh trained on other synthetic genomes. Also scores single-base variants and bases, in planted motifs and
# elsewhere. Writes all files to DIRECTORY and replaces those of an earlier run.
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo 'usage: demo.sh MAKE_PLANT DIRECTORY [BASES]' >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
make_plant=$(cd "$(dirname "$1")" && pwd)/${1##*/}
directory=$2
bases=${3:-3000000}
for program in fasta2h5 bam2h5 covpredict cov2bigwig covprofile coveffect gnuplot; do
    if ! command -v "$program" >/dev/null; then
        echo "demo.sh: error: no program $program; run \`sudo make deps\` and \`make\`" >&2
        exit 1
    fi
done
mkdir -p "$directory/tracks" "$directory/stats"
cd "$directory"
cp "$here/plant.ckpt" .

say() {
    printf '\n%s\n' "$*"
}
show() { # COMMAND...: prints and runs it
    printf '  $ %s\n' "$*"
    "$@"
}

say 'A synthetic plant: its genome, and reads of ATAC-seq and H3K4me3 ChIP-seq. Chromosome 5:'
"$make_plant" . "$bases"
awk '/^>/ { on = $1 == ">chr5" } on' genome.fa >chr5.fa
for assay in atacseq h3k4me3; do
    awk '/^@SQ/ && $2 != "SN:chr5" { next } /^@/ || $3 == "chr5"' $assay.sam >chr5_$assay.sam
done
wc -c chr5.fa chr5_atacseq.sam chr5_h3k4me3.sam | awk '$2 != "total" { printf "  %-16s %9d bytes\n", $2, $1 }'

say 'Predict coverage from the DNA, with a network that was trained on other synthetic genomes:'
show fasta2h5 -f --stats stats/fasta2h5.json -o chr5.h5 chr5.fa
show covpredict -f --stats stats/covpredict.json -m plant.ckpt --overlap 1k -o predictions.h5 chr5.h5
show cov2bigwig -f --stats stats/cov2bigwig.json --basename chr5 -o tracks/ predictions.h5

say 'Count the reads:'
show bam2h5 -f --stats stats/atacseq.json -p atacseq --shift chr5.h5 chr5_atacseq.sam
show bam2h5 -f --stats stats/h3k4me3.json -p h3k4me3 chr5.h5 chr5_h3k4me3.sam

say 'Compare prediction and reads:'
# The region to draw, or all of a short chromosome.
length=$(awk '$1 == "@SQ" { sub(/LN:/, "", $3); print $3 }' chr5_atacseq.sam)
beg=160000
end=200000
if [ "$length" -lt "$end" ]; then
    beg=0
    end=$length
fi
awk -v OFS='\t' '$4 == "gene" { $4 = ++n; print }' features.bed >genes.bed
show covprofile region -f -r "chr5:$((beg + 1))-$end" --genes genes.bed \
    --labels 'ATAC-seq predicted,H3K4me3 predicted,ATAC-seq measured,H3K4me3 measured' --plot track.png -o track.tsv \
    predictions.h5 chr5.h5
show cov2bigwig -f --measured chr5.h5 --bin-size 1,100 -o comparison.tsv predictions.h5
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    $column["contig"] == "total" {
        printf "  %-8s Pearson'"'"'s r of predicted and measured: %.2f base by base, %.2f in bins of 100\n",
            $column["dataset"], $column["pearson_1"], $column["pearson_100"] }' comparison.tsv

say 'Predict what single bases do: one in each intact motif of a promoter or enhancer, and others:'
awk -v chromosome=chr5 -f "$here/motifs.awk" -f "$here/variants.awk" features.bed chr5.fa >variants.vcf
show coveffect vcf -f --stats stats/coveffect.json -m plant.ckpt -g chr5.fa --datasets atacseq --window 4800 --step 1200 \
    -o effects.tsv variants.vcf
for others in background nearby; do
    tail -n +2 effects.tsv | sort -t "$(printf '\t')" -k 11,11g | awk -v others=$others -f "$here/auroc.awk" |
        while read -r area n_motifs n_others; do
            printf '  %s variants in motifs against %s %s: area under the ROC curve %s\n' "$n_motifs" "$n_others" \
                "$([ $others = nearby ] && echo 'in the same promoters and enhancers' || echo 'anywhere')" "$area"
        done
done

say 'Find the bases that matter in the promoters and enhancers of the picture:'
awk -v FS='\t' -v beg="$beg" -v end="$end" '$1 == "chr5" && ($4 == "promoter" || $4 == "enhancer") && $2 >= beg && $3 <= end' \
    features.bed >sites.bed
show coveffect ism -f --stats stats/ism.json -m plant.ckpt -g chr5.fa -R sites.bed --length 240 --dataset atacseq \
    --window 4800 --width 501 -o ism
cov2bigwig -q --format bedgraph -o - ism/scores.bw >scores.bedGraph
sort -t "$(printf '\t')" -k 4,4gr scores.bedGraph |
    awk -v chromosome=chr5 -f "$here/motifs.awk" -f "$here/auprc.awk" features.bed - |
    while read -r area n_motifs n_others; do
        printf '  %s bases that motifs need against %s in no motif: area under the precision-recall curve %s\n' \
            "$n_motifs" "$n_others" "$area"
    done

# KEY FILE: a number of the --stats file, which has one key per line.
number() {
    sed -n "s/^ *\"$1\": *\([0-9.eE+-]*\),*\$/\1/p" "stats/$2.json" | head -n 1
}
say 'What it took:'
for tool in fasta2h5 covpredict cov2bigwig; do
    printf '%s %s %s %s\n' "$tool" "$(number wall_seconds $tool)" "$(number peak_rss_bytes $tool)" \
        "$(number threads $tool)"
done | awk -v length_of_chr5="$length" '{ printf "  %-10s %6.2f s on %d threads, %7.2f Mbp/s, %4.0f MB of memory\n",
    $1, $2, $4, length_of_chr5 / $2 / 1e6, $3 / 1e6 }'

say 'To look at:'
echo "  picture  $directory/track.png"
echo "  tracks   $directory/tracks/*.bw (with $directory/chr5.fa and features.bed in a genome browser)"
