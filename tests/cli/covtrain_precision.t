#!/bin/sh
# shellcheck disable=SC2086 # lists of words
# covtrain --precision: the same weights for any number of threads, in every precision and at every CPU level.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

# Chunks that are computed in several pieces, and a batch that threads do not share evenly.
mkdir -p d/train d/val
"$PYTHON" "$SRC/tests/oracle/training_data.py" d/train/a.h5 1 6 1200 || exit 99
"$PYTHON" "$SRC/tests/oracle/training_data.py" d/val/v.h5 2 2 1200 || exit 99
# The first convolution has its own code path, the second is wide enough for minimal filtering, including the backward pass; two
# LSTM layers with dropout between them.
net='--model-type bi-hybrid --cnn-layers 2 --filter-size 96 --kernel-size 9 --lstm-layers 2 --hidden-size 40 --dropout 0.3
     --bnorm true -b 5 --max-steps 2 -e 1 --seed 1'
train() { # DIRECTORY ARG...
    run covtrain -q -f -i d $net --stats stats.json -o "$@"
    used=$(sed -n 's/.*"precision": "\([^"]*\)".*/\1/p' stats.json)
    weights=$(cksum <"$1/last.ckpt")
}
differs() { # A B NAME
    if [ "$1" != "$2" ]; then pass "$3"; else fail "$3"; fi
}
unset COVTOOLS_CPU
same_bytes() { # CPU PRECISION USED-PRECISION: with one, two and three threads; sets `first` to the weights
    train x --cpu "$1" --precision "$2" -@ 1
    is "$status $used" "0 $3" "--cpu $1 --precision $2 computes in $3"
    first=$weights
    for threads in 2 3; do
        train x --cpu "$1" --precision "$2" -@ $threads
        is "$status $weights" "0 $first" "  the same weights with -@ $threads"
    done
}
for level in $(covtrain --version | sed -n 's/^--cpu: //p'); do
    case $level in
    scalar) continue ;; # it only predicts
    avx512bf16 | amx) bf16=bf16 ;;
    *) bf16=fp32 ;;
    esac
    same_bytes $level fp32 fp32
    fp32=$first
    same_bytes $level bf16 $bf16
    case $bf16 in
    fp32) is "$first" "$fp32" '  equal to those of fp32' ;;
    *) differs "$first" "$fp32" '  different from those of fp32' ;;
    esac
done

done_testing
