#!/bin/sh
# samples.sh - samples for the workflows: made-up genomes, one of them with reads, and the demo's network.
#
#   samples.sh MAKE_DEMO FOLDER [BASES]
#
# MAKE_DEMO is the program of make_demo.c. FOLDER gets moss.fa.gz, weed.fa, weed.sam, cpg.ckpt, the sheets
# config/samples.tsv (for Snakemake) and samples.csv (for Nextflow), and config/config.yaml.
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo 'usage: samples.sh MAKE_DEMO FOLDER [BASES]' >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
make_demo=$(cd "$(dirname "$1")" && pwd)/${1##*/}
bases=${3:-200000}
mkdir -p "$2/config"
cd "$2"

"$make_demo" . "$bases"
mv genome.fa weed.fa
# The other genome is a part of the same, under other names.
awk '/^>/ { n++ } n > 2 { sub(/^>chr/, ">scaffold_"); print }' weed.fa | gzip -n >moss.fa.gz
awk -v flank=100 -v L=21384 -v what=coverage -f "$here/cpg.awk" weed.fa >expected.bedGraph
awk -v length_of_read=100 -f "$here/poisson.awk" -f "$here/sam.awk" expected.bedGraph expected.bedGraph >weed.sam
rm expected.bedGraph features.bed

{
    printf 'sample\tfasta\tbams\tmodels\n'
    printf 'moss\tmoss.fa.gz\t\t\n'
    printf 'weed\tweed.fa\tcpg=weed.sam\tcpg\n'
} >config/samples.tsv
printf '%s\n' 'sample,fasta,dataset,bams,model,checkpoint' 'moss,moss.fa.gz,cpg,,cpg,cpg.ckpt' \
    'weed,weed.fa,cpg,weed.sam,cpg,cpg.ckpt' >samples.csv
cat >config/config.yaml <<'YAML'
models:
  cpg:
    checkpoint: cpg.ckpt
    datasets: [cpg]
bam2h5:
  extra: ""
YAML
