#!/bin/sh
# train.sh - trains the demo's network again: makes a larger synthetic genome than the demo's, with the same families of
# transposable elements but no other common sequence, and its reads, and runs covtrain on them.
#
#   train.sh MAKE_PLANT FOLDER [BASES [OPTION...]]
#
# MAKE_PLANT is the program of make_plant.c; the tools must be in PATH. chr4 is for validation; the epoch that predicts it
# best becomes FOLDER/plant.ckpt. Ends with a table of how well it predicts chr5, which is in neither set. OPTIONs of
# covtrain replace the schedule below.
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ]; then
    echo 'usage: train.sh MAKE_PLANT FOLDER [BASES [OPTION...]]' >&2
    exit 2
fi
make_plant=$(cd "$(dirname "$1")" && pwd)/${1##*/}
folder=$2
bases=${3:-20000000}
[ $# -lt 3 ] || shift
shift 2
[ $# -gt 0 ] || set -- --epochs 20 --learning-rate 0.008 --warmup-steps 50 --average-weights 0.99
mkdir -p "$folder"
cd "$folder"

"$make_plant" . "$bases" 2
fasta2h5 -f --subsequence-length 4800 -o genome.h5 genome.fa
bam2h5 -p atacseq --shift genome.h5 atacseq.sam
bam2h5 -p h3k4me3 genome.h5 h3k4me3.sam

printf '%s\n' chr1 chr2 chr3 chr4 >seen.txt
echo chr4 >val.txt
echo chr5 >unseen.txt
h5chunk subset -f --names seen.txt -o seen.h5 genome.h5
h5chunk subset -f --names unseen.txt -o unseen.h5 genome.h5
rm -rf data models
h5chunk split --val-names val.txt -o data/ seen.h5

covtrain -f -i data -o models --seed 1 --datasets atacseq,h3k4me3 --loading ram-packed --random-offset \
    --model-type bi-hybrid --cnn-layers 3 --filter-size 16 --up 1 --kernel-size 9 --step 2 --lstm-layers 1 \
    --hidden-size 32 --batch-size 4 --schedule cosine --patience 1000 --save-top-k 1 --ckpt-quantity avg_val_loss "$@"
set -- models/predmoter_*.ckpt
mv "$1" plant.ckpt
covpredict -m plant.ckpt --evaluate unseen.h5
