#!/bin/sh
# train.sh - trains the demo's network again: makes synthetic genomes with the same families of transposable elements as the
# demo's, but no other common sequence, and their reads, and runs covtrain on them.
#
#   train.sh MAKE_PLANT DIRECTORY [BASES [GENOMES [OPTION...]]]
#
# MAKE_PLANT is the program of make_plant.c, with that of keep_weights.c next to it; the tools must be in PATH. Trains on
# GENOMES genomes of BASES bases. Of another one, chr4 is for validation, and chr5 for the table at the end. The weights of the
# epoch that predicts chr4 best become DIRECTORY/plant.ckpt. OPTIONs of covtrain replace the size of the network and the schedule
# below. plant.ckpt in the directory of this script was trained on a GPU (NVIDIA H200), which took a minute.
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ]; then
    echo 'usage: train.sh MAKE_PLANT DIRECTORY [BASES [GENOMES [OPTION...]]]' >&2
    exit 2
fi
programs=$(cd "$(dirname "$1")" && pwd)
make_plant=$programs/${1##*/}
directory=$2
bases=${3:-20000000}
genomes=${4:-5}
case $genomes in
*[!0-9]* | 0*)
    echo "train.sh: error: GENOMES: '$genomes' is not a positive integer" >&2
    exit 2
    ;;
esac
if [ $# -gt 4 ]; then
    shift 4
else
    set -- --filter-size 64 --hidden-size 64 --batch-size 32 --epochs 10 --learning-rate 0.004 --warmup-steps 200 --clip 1 \
        --average-weights 0.99
fi
mkdir -p "$directory"
cd "$directory"

genome() { # SEED: makes genome.h5
    "$make_plant" . "$bases" "$1"
    fasta2h5 -f --subsequence-length 4800 -o genome.h5 genome.fa
    bam2h5 -p atacseq --shift genome.h5 atacseq.sam
    bam2h5 -p h3k4me3 genome.h5 h3k4me3.sam
}
rm -rf data models
mkdir -p data/train data/val
genome 2
echo chr4 >val.txt
echo chr5 >unseen.txt
h5chunk subset -f --names val.txt -o data/val/g2.h5 genome.h5
h5chunk subset -f --names unseen.txt -o unseen.h5 genome.h5
seed=3
while [ $seed -lt $((genomes + 3)) ]; do
    genome $seed
    mv genome.h5 data/train/g$seed.h5
    seed=$((seed + 1))
done

covtrain -f -i data -o models --seed 1 --datasets atacseq,h3k4me3 --loading ram-packed --random-offset \
    --model-type bi-hybrid --cnn-layers 3 --up 1 --kernel-size 9 --step 2 --lstm-layers 1 --schedule cosine --patience 1000 \
    --save-top-k 0 --ckpt-quantity avg_val_loss "$@"
"$programs/keep_weights" models/best.ckpt plant.ckpt
covpredict -m plant.ckpt --evaluate unseen.h5
