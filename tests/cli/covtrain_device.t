#!/bin/sh
# shellcheck disable=SC2086 # lists of words everywhere
# covtrain --device: without GPUs, and on mock GPUs (tests/mock/runtime_mock.h): the same training as on the CPU, resuming on
# either device, refusals, and too little memory.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

mkdir none
COVTOOLS_PLUGINS=$PWD/none
export COVTOOLS_PLUGINS
unset COVTOOLS_MOCK

mkdir -p d/train d/val
"$PYTHON" "$SRC/tests/oracle/training_data.py" d/train/a.h5 1 4 48 || exit 99
"$PYTHON" "$SRC/tests/oracle/training_data.py" d/val/v.h5 2 2 48 || exit 99
net='--filter-size 4 --kernel-size 5 --hidden-size 4 --lstm-layers 2 --dropout 0.2 --learning-rate 0.01 --seed 1'
train() { # ARG...
    run covtrain -f -i d $net -b 4 "$@"
}
# shellcheck disable=SC2317 # ok calls it
# A B: the training losses differ by rounding only, which Adam amplifies, since it follows the sign of even the smallest
# gradient. Validation losses may differ more: they depend on biases that the norms hide in training.
close() {
    "$PYTHON" -c '
import json, sys
a, b = ([json.loads(l) for l in open(d + "/metrics.jsonl")] for d in sys.argv[1:])
assert len(a) == len(b) > 2
for x, y in zip(a, b):
    assert list(x) == list(y)
    for k in x:
        bound = 0.1 if "val" in k else 1e-5 if x.get("step") == 1 else 1e-2
        assert abs(x[k] - y[k]) <= bound * (1 + abs(y[k])), (x, y)' "$1" "$2"
}

train -o x -e 1 --device cuda
refused 1 "^covtrain: error: --device cuda: GPU plugin not installed: $PWD/none/covtools-cuda\.so not found" \
    'no plugin'
run_ok 'the CPU' train -o cpu -e 2 --device cpu
train -o x -e 2
ok 'auto without a plugin is the CPU' cmp x/last.ckpt cpu/last.ckpt

COVTOOLS_PLUGINS=$TESTLIB/../plugins
if [ -f "$COVTOOLS_PLUGINS/covtools-cuda.so" ]; then
    run_ok 'a card' train -o gpu -e 2 --device cuda --stats stats.json
    stderr_like '^covtrain: GPU 0 \(Mock A\), fp32, ' '  the log names it'
    ok '  --stats names it' grep -q '"device": "GPU 0 (Mock A), fp32"' stats.json
    ok '  the same losses as on the CPU' close gpu cpu
    train -o again -e 2 -@ 1
    ok '  auto uses it; the same bytes' cmp again/last.ckpt gpu/last.ckpt

    # Self-checks, which pass above, take longer than the training.
    COVTOOLS_MOCK=cards=3,trusted=1
    export COVTOOLS_MOCK
    for cards in 0 0,2; do
        train -o again -e 2 --device cuda:$cards --recompute
        is "$status $(cmp again/metrics.jsonl gpu/metrics.jsonl 2>&1)" '0 ' "--recompute: exactly the same losses, cuda:$cards"
    done
    # The published size, in batches that are too large.
    mkdir -p long/train long/val
    for file in train/a val/v; do
        "$PYTHON" "$SRC/tests/oracle/training_data.py" long/$file.h5 1 2 21384 || exit 99
    done
    needs() { # OPTION...: prints the memory
        COVTOOLS_MOCK=memory=500000000,trusted=1 run covtrain -f -i long -o x -e 1 --device cuda --cnn-layers 3 --lstm-layers 2 -b 100 "$@"
        sed -n 's/.*: they need \([0-9]*\) MiB, .*/\1/p' "$stderr"
    }
    ok '  in 0.6 of the memory' test "$(needs --recompute)" -lt $(($(needs) * 6 / 10))
    decay='--weight-decay 5'
    train -o decay.cpu -e 2 --device cpu $decay
    for cards in 0 0,2; do
        train -o decay -e 2 --device cuda:$cards $decay
        ok "weight decay as on the CPU, cuda:$cards" close decay decay.cpu
    done
    is "$(close decay cpu >/dev/null 2>&1; echo $?)" 1 '  which changes the losses'
    train -o ice.cpu -e 2 --device cpu --freeze conv
    for cards in 0 0,2; do
        train -o ice -e 2 --device cuda:$cards --freeze conv
        ok "frozen layers as on the CPU, cuda:$cards" close ice ice.cpu
    done

    train -o part -e 1 --device cuda
    train -o part -e 2 --device cuda --resume-training part/last.ckpt
    ok 'resumed: the same bytes' cmp part/last.ckpt gpu/last.ckpt
    train -o within -e 2 --device cuda --max-hours 0.000001
    train -o within -e 2 --device cuda --resume-training within/last.ckpt
    ok '  also from within an epoch' cmp within/last.ckpt gpu/last.ckpt
    train -o mixed -e 1 --device cpu
    train -o mixed -e 2 --device cuda --resume-training mixed/last.ckpt
    ok '  also after a start on the CPU, up to rounding' close mixed cpu

    run_ok 'another card, in bf16' train -o x -e 1 --device cuda:2 --precision bf16
    stderr_like '^covtrain: GPU 2 \(Mock C\), bf16, ' '  the log names it'
    run_ok 'two cards' train -o two -e 2 --device cuda:0,2 --stats stats.json
    ok '  --stats names them' grep -q '"device": "GPU 0 (Mock A), GPU 2 (Mock C), fp32"' stats.json
    ok '  exactly the losses of one' cmp two/metrics.jsonl gpu/metrics.jsonl
    train -o again -e 1 --device cuda:0,2
    train -o again -e 2 --device cuda:0,2 --resume-training again/last.ckpt
    ok '  resumed: the same bytes' cmp again/last.ckpt two/last.ckpt
    train -o again -e 2 --device cuda:0,2 --resume-training part/last.ckpt
    ok '  also after an epoch on one card' cmp again/last.ckpt two/last.ckpt
    run_ok 'more cards than chunks in a batch' covtrain -f -i d $net -b 2 -o three -e 1 --device cuda:0,1,2
    run covtrain -f -i d $net -b 2 -o one -e 1 --device cuda
    ok '  exactly the losses of one' cmp three/metrics.jsonl one/metrics.jsonl
    COVTOOLS_MOCK=cards=2,wrong=1
    run_refused 1 'GPU 1 \(Mock B\) computes wrong ' 'one of two cards is broken' train -o x -e 1 --device cuda:0,1
    # Waits of both cards are counted, so any of them may fail.
    for n in 8 15 22 29 36 43 50; do
        COVTOOLS_MOCK=cards=2,fail=$n
        train -o x -e 1 --device cuda:0,1
        refused 1 'GPU [01] \(Mock [AB]\)' "wait $n fails: the other card does not wait for ever"
    done
    COVTOOLS_MOCK=cards=2,memory=3000000,spare=6
    run covtrain -f -i d $net -b 2000 -o x -e 1 --device cuda:0,1
    refused 137 'for the share of each of 2 GPUs in a batch: GPU 0 \(Mock A\): not enough memory for batches of 1000 chunks .*; try a batch size of [1-9]' \
        'two cards with little memory'
    fits=$(sed -n 's/.*try a batch size of //p' "$stderr")
    run_ok '  the suggested batch size fits' covtrain -f -i d $net -b "$fits" -o x -e 1 --device cuda:0,1
    run covtrain -f -i d $net -b "$((fits + 1))" -o x -e 1 --device cuda:0,1
    refused 137 "try a batch size of $fits\$" '  a larger one does not'
    COVTOOLS_MOCK=memory=3000000,spare=3
    run covtrain -f -i d $net -b 1000 -o x -e 1 --device cuda
    refused 137 'GPU 0 \(Mock A\): not enough memory for batches of 1000 chunks of 48 positions: .*; try a batch size of [1-9][0-9]*$' \
        'a card with little memory'
    fits=$(sed -n 's/.*try a batch size of //p' "$stderr")
    run_ok '  the suggested batch size fits' covtrain -f -i d $net -b "$fits" -o x -e 1 --device cuda
    run covtrain -f -i d $net -b "$((fits + 1))" -o x -e 1 --device cuda
    refused 137 "not enough memory for batches of $((fits + 1)) chunks .*; try a batch size of $fits\$" '  a larger one does not'
    COVTOOLS_MOCK=memory=100000,spare=3
    run_ok 'auto trains on the CPU if a card lacks memory' train -o x -e 1
    stderr_like 'not enough memory .*; continuing on the CPU$' '  and reports it'
    COVTOOLS_MOCK=wrong=0
    train -o x -e 1
    stderr_like 'GPU 0 \(Mock A\) computes wrong values: .*; continuing on the CPU$' 'auto does not use a broken card'
else
    pass 'mock cards # SKIP no C++ compiler, or a sanitized build'
fi
done_testing
