#!/bin/sh
# train_yeast.sh DATA FOLDER plain|better|apart [SEED]... - trains a network of the published size on ATAC-seq of yeast;
# prints how well it predicts held-out chromosomes, and the time of training.
#
# DATA holds bam/yeast_500k_SRR1822137.sorted.bam and fasta/sacCer3.renamed.fa.gz. Trains on chrI to chrXI and chrXIV,
# validates on chrXIII, and tests on chrXV and chrXVI; omits chrXII (ribosomal DNA) and the mitochondrion. `plain` is
# Predmoter's recipe; `better` uses more options of covtrain; `apart` is `better` with --pair-strands=apart.
# Environment: EPOCHS (plain 19, others 16: in bf16 all take less than half as long as 14 epochs of Predmoter's network
# in PyTorch), OPTIONS (further options of covtrain, such as "--precision bf16"). Uses the tools in PATH. Prints a line
# per seed: Pearson's r, base by base, of both strands (`covpredict --evaluate`), and of their mean
# (`cov2bigwig --compare`). Of several seeds, the last line is their ensemble. The aims for
# `train_yeast.sh DATA FOLDER better 1 2 3` are 0.765, 0.775, and 0.785 for the mean of the ensemble.
# SPDX-License-Identifier: MIT
set -eu
[ $# -ge 3 ] || {
    sed -n '2,13p' "$0" >&2
    exit 2
}
data=$(realpath "$1") folder=$2 recipe=$3
shift 3
bam=$data/bam/yeast_500k_SRR1822137.sorted.bam fasta=$data/fasta/sacCer3.renamed.fa.gz
if ! [ -r "$bam" ] || ! [ -r "$fasta" ]; then
    echo "SKIP: no $bam or $fasta"
    exit 0
fi
case $recipe in
plain) epochs=19 options='--dropout 0.3 --learning-rate 0.001' ;;
better | apart)
    epochs=16 options='--dropout 0.1 --learning-rate 0.002 --schedule cosine --warmup-steps 50 --average-weights 0.99 --random-offset'
    [ "$recipe" = better ] && options="$options --pair-strands" || options="$options --pair-strands=apart"
    ;;
*)
    echo "train_yeast.sh: recipe '$recipe': plain, better or apart" >&2
    exit 2
    ;;
esac
mkdir -p "$folder"
cd "$folder"
if [ ! -e data/test/yeast.h5 ]; then
    mkdir -p data/train data/val data/test
    fasta2h5 -fq --species yeast -o all.h5 "$fasta"
    bam2h5 -q -p atacseq --shift all.h5 "$bam"
    for chromosome in I II III IV V VI VII VIII IX X XI XIV; do echo "chr$chromosome"; done >train.names
    echo chrXIII >val.names
    printf 'chrXV\nchrXVI\n' >test.names
    for part in train val test; do
        h5chunk subset -fq --names $part.names -o data/$part/yeast.h5 all.h5
    done
fi
now() { date +%s; }
best() { # FOLDER: the checkpoint with the lowest validation loss
    awk 'NR > 1 && (least == "" || $2 < least) { least = $2; epoch = $1 } END { print epoch }' "$1/metrics.log" |
        { read -r epoch && ls "$1"/*_epoch="$epoch"_*.ckpt; }
}
test_models() { # CHECKPOINT,... FOLDER: their r, of both strands and of the mean of the strands
    r=$(covpredict -q -m "$1" --evaluate data/test/yeast.h5 | awk 'NR == 2 { print $5 }')
    covpredict -fq -m "$1" --float -o "$2/test_predictions.h5" data/test/yeast.h5
    averaged=$(cov2bigwig -q --compare data/test/yeast.h5 --bin-sizes 1 "$2/test_predictions.h5" |
        awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i } $column["contig"] == "total" { print $column["pearson_1"] }')
    printf '%s\t%s' "$r" "$averaged"
}
models=''
printf 'recipe\tseed\tseconds\tepochs\tpearson\tpearson_averaged\n'
for seed in "${@:-1}"; do
    out=$recipe.$seed
    rm -rf "$out"
    start=$(now)
    # shellcheck disable=SC2086 # lists of words
    covtrain -q -i data -o "$out" --model-type bi-hybrid --cnn-layers 3 --filter-size 64 --kernel-size 9 --step 2 --up 2 \
        --lstm-layers 2 --hidden-size 128 --bnorm true -b 8 -e "${EPOCHS:-$epochs}" --patience 100 --save-top-k -1 --datasets atacseq \
        --seed "$seed" $options ${OPTIONS-}
    seconds=$(($(now) - start))
    model=$(best "$out")
    models=$models${models:+,}$model
    printf '%s\t%s\t%s\t%s\t%s\n' "$recipe" "$seed" "$seconds" "$(($(wc -l <"$out/metrics.log") - 1))" "$(test_models "$model" "$out")"
done
case $models in *,*) printf '%s\tensemble\t-\t-\t%s\n' "$recipe" "$(test_models "$models" .)" ;; esac
