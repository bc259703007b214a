#!/bin/sh
# covtrain_plant.t - a small network learns the promoters of a synthetic plant well enough to predict a held-out
# chromosome. With LONG=1 (make check-long) the genome is larger.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_program awk

# No wrapper: this runs a script, and its programs have their own tests.
WRAP=
make_plant=$TESTLIB/../../demo/make_plant
train=$SRC/workflows/demo/train.sh
network='--filter-size 16 --hidden-size 32 --batch-size 4 --epochs 12'

if [ -n "${LONG:-}" ]; then
    least=0.6
    # shellcheck disable=SC2086 # a list
    run "$train" "$make_plant" out 3000000 1 $network --learning-rate 0.008 --warmup-steps 50 --average-weights 0.99
else
    least=0.4
    # shellcheck disable=SC2086 # a list
    run "$train" "$make_plant" out 700000 1 $network --learning-rate 0.02 --warmup-steps 100 --clip 1
fi
status_is 0 'a network is trained'
for dataset in atacseq h3k4me3; do
    r=$(awk -v dataset=$dataset '$2 == dataset { print $5 }' "$stdout")
    is "$(echo "$r" | awk -v least=$least '{ print ($1 >= least) }')" 1 \
        "$dataset of a held-out chromosome: r $r, at least $least"
done

run sh -c 'trap "" XFSZ; ulimit -f 1; exec "$@"' - "${make_plant%/*}/keep_weights" out/models/best.ckpt short.ckpt
refused 1 '^keep_weights: error: cannot write short\.ckpt: File too large$' 'keep_weights: a file that is too large'
leaves 'out' '  is not there in part'
run "$train" "$make_plant" out 700000 --epochs 12
status_is 2 'train.sh: an option in the place of GENOMES'
stderr_is "train.sh: error: GENOMES: '--epochs' is not a positive integer" '  is refused'
done_testing
