#!/bin/sh
# shellcheck disable=SC2086 # lists of words
# covtrain --leave-out and --balance: three species of different sizes.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

mkdir -p s d/train d/val
n=1
for species in moss:12 weed:4 fern:6; do
    n=$((n + 1))
    file=s/${species%:*}.h5
    "$PYTHON" "$SRC/tests/oracle/training_data.py" $file $n ${species#*:} 48 || exit 99
    "$PYTHON" -c 'import h5py, sys
f = h5py.File(sys.argv[1], "r+")
f["data/species"][:] = sys.argv[2].encode()' $file ${species%:*} || exit 99
done
net='--filter-size 4 --kernel-size 5 --hidden-size 4 --learning-rate 0.01 --seed 1 -b 4 -e 2 -@ 1'
train() { # DIRECTORY ARG...
    in=$1
    shift
    run covtrain -f -i "$in" $net "$@"
}
use() { # TRAIN VAL: species in d
    rm -f d/*/*
    for species in $1; do ln -s ../../s/$species.h5 d/train; done
    for species in $2; do ln -s ../../s/$species.h5 d/val; done
}
while IFS='|' read -r left_out train; do
    run_ok "--leave-out $left_out" train s -o out --leave-out "$left_out"
    use "$train" "$(echo "$left_out" | tr , ' ')"
    train d -o by_hand
    ok '  the losses of these files in train/ and val/' cmp out/metrics.jsonl by_hand/metrics.jsonl
done <<'END'
weed|fern moss
fern|moss weed
moss|fern weed
weed,moss|fern
END
run h5chunk info out/last.ckpt
stdout_like '--leave-out weed,moss' '  the checkpoint has the option'
stdout_like 'val: moss\.h5, weed\.h5' '  and names the files for validation'
train s -o part --leave-out weed,moss --max-hours 0.000001
train s -o part --leave-out weed,moss --resume-training part/last.ckpt
ok '  resumed: the same bytes' cmp part/last.ckpt out/last.ckpt

run_ok '--balance species' train s -o balanced --leave-out weed --balance species
use 'fern moss' weed
train d -o again --balance species --loading ram-packed
ok '  the same losses from train/ and val/' cmp balanced/metrics.jsonl again/metrics.jsonl
train d -o by_hand
is "$(grep -c step balanced/metrics.jsonl)" "$(grep -c step by_hand/metrics.jsonl)" '  as many steps as without'
is "$(cmp -s balanced/metrics.jsonl by_hand/metrics.jsonl; echo $?)" 1 '  with other chunks'

# Killed at any moment, with all options that make a step or its checkpoint.
all='--leave-out weed --recompute --freeze down_layer_list.0 --lstm-layers 2 --dropout 0.2 --loss-weights 1,0.5
    --weight-decay 0.5 --clip 1 --accumulate 2 --average-weights 0.9 --schedule cosine --warmup-steps 2
    --save-every 1 --max-hours 9 --loading ram-packed'
for order in '--balance species' '--pair-strands=apart --random-offset'; do
    run_ok "all options, $order" train s -o whole $all $order
    rm -rf killed
    ok "  ${COV_KILLS:-3} kills, and the same bytes" "$PYTHON" "$SRC/tests/fuzz/train_kills.py" "${COV_KILLS:-3}" whole killed -- \
        -i s $net $all $order
done

while IFS='|' read -r code options regex; do
    run_refused "$code" "^covtrain: error: $regex" "$options" train s -o bad $options
done <<'END'
1|--leave-out wheat|s: no file is of the species wheat; they are of: fern, moss, weed$
1|--leave-out weed,wheat|s: no file is of the species wheat; they are of: fern, moss, weed$
1|--leave-out moss,weed,fern|s: all files are of fern, moss, weed$
1|--leave-out moss,weed --balance species|s without moss,weed: all files are of fern; --balance needs other species$
2|--leave-out moss --balance species --no-shuffle|--balance and --no-shuffle contradict each other$
2|--leave-out moss --balance species --pair-strands=apart|--balance and --pair-strands=apart contradict each other$
1|-e 2|s: no directory train/; covtrain needs train/ and val/, which `h5chunk split` makes from a genome file, or --leave-out$
END
"$PYTHON" -c 'import h5py
h5py.File("s/weed.h5", "r+")["data/species"][:3] = b"moss"'
train s -o bad --leave-out weed
refused 1 '^covtrain: error: s/weed\.h5: several species; --leave-out needs a file for each$' 'a file of two species'
train s -o bad --leave-out fern --balance species
refused 1 's/weed\.h5: several species; --leave-out needs a file for each$' '  also with --balance'
"$PYTHON" -c 'import h5py
for name in "moss", "fern":
    f = h5py.File("s/" + name + ".h5", "r+")
    f.move("evaluation/atacseq_coverage", "evaluation/%s_coverage" % name)
    del f["evaluation/h3k4me3_coverage"]
h5py.File("s/weed.h5", "r+")["data/species"][:] = b"weed"'
train s -o bad --leave-out fern,weed
refused 1 's without fern,weed has: moss; s of fern,weed has: fern, atacseq, h3k4me3; no dataset is in both$' 'no common dataset'
done_testing
