#!/bin/sh
# covpredict --device: without GPUs, and on mock GPUs (tests/mock/runtime_mock.h): how the plugin is found, opened, shared and
# refused.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
. "$SRC/tests/lib/covpredict.sh"

mkdir none
COVTOOLS_PLUGINS=$PWD/none
export COVTOOLS_PLUGINS
unset COVTOOLS_MOCK

odd_lengths 3 | head -n 30 >g.fa
make_ckpt bi-hybrid m.ckpt || exit 99
predict() {
    run covpredict -f --subsequence-length 48 -m m.ckpt "$@" g.fa
}

# shellcheck disable=SC2317 # ok calls it
# A B: the predictions, which are up to 40,000, differ by rounding only.
close() {
    "$PYTHON" -c "
import sys, h5py, numpy
a, b = (h5py.File(f)['prediction/predictions'][:].astype(float) for f in sys.argv[1:])
assert a.shape == b.shape and ((a == -1) == (b == -1)).all()
assert (numpy.abs(a - b) <= 2e-5 * numpy.abs(a) + 1).all() and (numpy.abs(a - b) > 0.5).mean() < 0.01" "$1" "$2"
}

# ---------------------------------------------------------------- without the plugin

while IFS='|' read -r options regex; do
    # shellcheck disable=SC2086 # a list of words
    run_refused 2 "^covpredict: error: $regex" "$options" predict -o x.h5 $options
done <<'END'
--device cuda:|--device: 'cuda:': expected GPU numbers from 0 to 9999 after 'cuda:', separated by commas, as in cuda:0 or cuda:0,1$
--device cuda:x|--device: 'cuda:x': expected GPU numbers from 0 to 9999 after 'cuda:', separated by commas, as in cuda:0 or cuda:0,1$
--device cuda:0,|--device: 'cuda:0,': expected GPU numbers from 0 to 9999 after 'cuda:', separated by commas, as in cuda:0 or cuda:0,1$
--device cuda:-1|--device: 'cuda:-1': expected GPU numbers from 0 to 9999 after 'cuda:', separated by commas, as in cuda:0 or cuda:0,1$
--device cuda:1,2,1|--device: duplicate GPU 1$
--device cuda --cpu base|--cpu and --device cuda contradict each other$
END
predict -o x.h5 --device cuda
refused 1 "^covpredict: error: --device cuda: GPU plugin not installed: $PWD/none/covtools-cuda\.so not found" \
    'no plugin'
run_ok 'the CPU' predict -o cpu.h5 --device cpu
run_ok 'auto without a plugin' predict -o x.h5
is "$(grep -c '' "$stderr")" 1 '  logs one line only'
ok '  uses the CPU' cmp x.h5 cpu.h5
echo text >none/covtools-cuda.so
predict -o x.h5 --device cuda
refused 1 "^covpredict: error: --device cuda: $PWD/none/covtools-cuda\.so: " 'a file that is not a plugin'
if [ ! -e /proc/driver/nvidia/version ] && [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
    predict -o x.h5
    unlike "$(cat "$stderr")" 'GPU' '  auto says nothing of a GPU that nobody has'
    export CUDA_VISIBLE_DEVICES=-1
    predict -o x.h5
    unlike "$(cat "$stderr")" 'GPU' '  or that is switched off'
fi
export CUDA_VISIBLE_DEVICES=0
predict -o x.h5
stderr_like "no GPU: $PWD/none/covtools-cuda\.so: .*; using the CPU\$" '  auto reports it if a GPU was chosen'
unset CUDA_VISIBLE_DEVICES
ok '  uses the CPU' cmp x.h5 cpu.h5

# ---------------------------------------------------------------- with mock cards

COVTOOLS_PLUGINS=$TESTLIB/../plugins
if [ -f "$COVTOOLS_PLUGINS/covtools-cuda.so" ]; then
    run_ok 'a card' predict -o one.h5 --device cuda --stats stats.json
    stderr_like '^covpredict: GPU 0 \(Mock A\), fp32, [0-9]+ threads; m\.ckpt: ' '  the log names it'
    ok '  --stats names it' grep -q '"device": "GPU 0 (Mock A), fp32"' stats.json
    ok '  the same values as the CPU, up to rounding' close one.h5 cpu.h5
    # Self-checks, which pass above, take longer than the prediction.
    COVTOOLS_MOCK=cards=3,trusted=1
    export COVTOOLS_MOCK
    for options in '--device auto' '--device cuda -@ 1' '--device cuda:2,0 --batch-size 3' \
        '--device cuda:1 --batch-size 1 -@ 3'; do
        # shellcheck disable=SC2086 # a list of words
        run_ok "three cards, $options" predict -o x.h5 $options
        ok '  the same bytes' cmp x.h5 one.h5
    done
    predict -o x.h5 --device auto
    stderr_like 'GPU 0 \(Mock A\), GPU 1 \(Mock B\), GPU 2 \(Mock C\), fp32' 'auto uses all cards'
    predict -o x.h5 --cpu base
    stderr_like '^covpredict: .*, baseline, [0-9]+ threads?; m\.ckpt: ' '  but none with --cpu'
    predict -o x.h5 --device cuda:3
    refused 1 '^covpredict: error: --device cuda: no GPU 3: CUDA finds 3, numbered from 0$' 'a card that does not exist'
    predict -o x.h5 --device cuda --precision bf16x3
    stderr_like 'tf32x3 instead of bf16x3: ' 'bf16x3 is replaced by tf32x3, with a message'
    for precision in balanced tf32 bf16; do
        predict -o x.h5 --device cuda --precision $precision --stats stats.json
        ok "--precision $precision" grep -q "\"precision\": \"$precision\"" stats.json
    done
    predict -o x.h5 --device cuda --overlap 16
    covpredict -q -f --subsequence-length 48 -m m.ckpt --device cpu --overlap 16 -o y.h5 g.fa
    ok 'overlapping windows' close x.h5 y.h5
    run covpredict -q -f --subsequence-length 480 -m m.ckpt --device cuda --float -o x.h5 --stats stats.json g.fa
    ok 'padding is skipped' grep -q '"positions_at_rest": [1-9]' stats.json
    run covpredict -q -f --subsequence-length 480 -m m.ckpt --device cuda --float --full -o y.h5 --stats stats.json g.fa
    ok '  but not with --full' grep -q '"positions_at_rest": 0,' stats.json
    ok '  the same values' "$PYTHON" -c "
import h5py, numpy
a, b = (h5py.File(f)['prediction/predictions'][:] for f in ('x.h5', 'y.h5'))
assert numpy.allclose(a, b, 1e-5, 0)"
    run_ok '--resume' predict -o x.h5 --device cuda --resume
    ok '  the same bytes' cmp x.h5 one.h5

    # Products by cuBLAS (tests/mock/runtime_mock.h).
    COVTOOLS_MOCK=cublas=130100
    predict -o own.h5 --device cuda --precision tf32 --stats stats.json
    is "$(grep -c '"products"' stats.json)" 0 'cuBLAS is not used unless demanded'
    COVTOOLS_CUBLAS=always
    export COVTOOLS_CUBLAS
    predict -o y.h5 --device auto -v --precision tf32 --stats stats.json
    stderr_like 'gates of an LSTM, [0-9]+ x [0-9]+: cublas 13\.1\.0$' 'COVTOOLS_CUBLAS=always: cuBLAS'
    is "$(grep '"products"' stats.json | tr -d ' ,')" '"products":"cublas13.1.0"' '  --stats names it'
    predict -o x.h5 --device cuda --precision fp32 --stats stats.json
    ok '  but not in fp32' cmp x.h5 one.h5
    is "$(grep -c '"products"' stats.json)" 0 '  where there is no choice'
    COVTOOLS_CUBLAS=sometimes predict -o x.h5 --device cuda
    refused 2 "^covpredict: error: --device cuda: COVTOOLS_CUBLAS: 'sometimes': expected no or always\$" \
        'a wrong value of COVTOOLS_CUBLAS'
    COVTOOLS_CUBLAS=no predict -o x.h5 --device cuda --precision tf32
    ok 'COVTOOLS_CUBLAS=no' cmp x.h5 own.h5
    # A run that is interrupted, and resumed with the other choice.
    COVTOOLS_MOCK=cublas=130100,fail=60
    rm -f x.h5
    predict -o x.h5 --device cuda --precision tf32 --batch-size 1 -@ 1 --resume
    refused 1 'computing: ' 'interrupted'
    COVTOOLS_MOCK=cublas=130100
    COVTOOLS_CUBLAS=''
    run covpredict --subsequence-length 48 -m m.ckpt -o x.h5 --device cuda --precision tf32 --resume g.fa
    refused 1 'x\.h5\.resume: journal of a run with different products \(COVTOOLS_CUBLAS\): cublas 13\.1\.0, now own; use the same to resume' \
        '  cannot be resumed with other products'
    COVTOOLS_CUBLAS=always
    run covpredict --subsequence-length 48 -m m.ckpt -o x.h5 --device cuda --precision tf32 --resume g.fa
    unset COVTOOLS_CUBLAS
    status_is 0 '  but with the same'
    ok '  to the same bytes' cmp x.h5 y.h5

    rm -f x.h5
    COVTOOLS_MOCK=cards=2,fail=9
    predict -o x.h5 --device cuda --batch-size 2
    refused 1 '^covpredict: error: GPU [01] \(Mock [AB]\): computing: ' 'a card fails during prediction'
    ok '  no output is left' test ! -e x.h5
    COVTOOLS_MOCK=wrong=0
    predict -o x.h5 --device cuda
    refused 1 '^covpredict: error: --device cuda: GPU 0 \(Mock A\) computes wrong values: ' 'a card that is broken'
    predict -o x.h5
    stderr_like 'warning: GPU 0 \(Mock A\) computes wrong values: .*; continuing on the CPU$' '  auto does not use it'
    ok '  auto uses the CPU' cmp x.h5 cpu.h5
    # Too little memory on a card is an error; auto falls back to the CPU.
    COVTOOLS_MOCK=memory=200000,spare=2
    run covpredict -f -m m.ckpt --subsequence-length 4800 -o x.h5 --device cuda g.fa
    refused 137 '^covpredict: error: GPU 0 \(Mock A\): memory: out of memory$' 'too little memory'
    run_ok '  auto' covpredict -q -f -m m.ckpt --subsequence-length 4800 -o x.h5 --stats stats.json g.fa
    is "$(cat "$stderr")" 'covpredict: warning: GPU 0 (Mock A): memory: out of memory; continuing on the CPU' \
        '  logs one line, also with -q'
    covpredict -q -f -m m.ckpt --subsequence-length 4800 -o y.h5 --device cpu g.fa
    ok '  uses the CPU' cmp x.h5 y.h5
    ok '  --stats names the CPU' grep -q '"device": "[^G]' stats.json
    # The same in an evaluation, which then uses the threads and batch size of the CPU.
    "$PYTHON" "$SRC/tests/oracle/training_data.py" t.h5 1 2 4800 || exit 99
    run_ok '  --evaluate' covpredict --evaluate -@ 2 -m m.ckpt --device auto t.h5
    stderr_like '^covpredict: warning: GPU 0 \(Mock A\): memory: out of memory; continuing on the CPU$' '  reports it'
    stderr_like '^covpredict: [^G].*, 2 threads; ' '  then names the CPU and its threads'
    cp "$stdout" auto.tsv
    run covpredict --evaluate -@ 2 -m m.ckpt --device cpu t.h5
    ok '  the same table' cmp auto.tsv "$stdout"
    COVTOOLS_MOCK=driver=no
    predict -o x.h5 --device cuda
    refused 1 '^covpredict: error: --device cuda: no working NVIDIA driver' 'no driver'
    export CUDA_VISIBLE_DEVICES=0
    run_ok '  auto' predict -o x.h5
    stderr_like 'no GPU: no working NVIDIA driver \(libcuda\.so\.1\); using the CPU$' '  reports why'
    unset CUDA_VISIBLE_DEVICES
    ok '  uses the CPU' cmp x.h5 cpu.h5
    covpredict --version >version
    ok '--version names the plugin, but does not load it' grep -qx "GPU plugin: $COVTOOLS_PLUGINS/covtools-cuda\.so" version
    # Others must not be able to write it.
    COVTOOLS_MOCK=trusted=1
    mkdir -m 700 up up/mine
    cp "$COVTOOLS_PLUGINS/covtools-cuda.so" up/mine
    COVTOOLS_PLUGINS=up/mine
    run_ok 'a plugin that only its owner may write' predict -o x.h5 --device cuda
    while read -r mode part; do
        before=$(stat -c %a "$part")
        chmod "$mode" "$part"
        predict -o x.h5 --device cuda
        refused 1 "^covpredict: error: --device cuda: $PWD/up/mine/covtools-cuda\.so: not loaded, because others may write to $PWD/$part\$" \
            "  is refused if others may write $part"
        predict -o x.h5
        stderr_like 'warning: .*: not loaded, because others may write to .*; continuing on the CPU$' '  and auto warns'
        covpredict --version >version
        ok '  --version does not load it' grep -qx 'GPU plugin: up/mine/covtools-cuda\.so' version
        chmod "$before" "$part"
    done <<'END'
o+w up/mine/covtools-cuda.so
o+w up/mine
o+w up
END
    chmod 1777 up
    run_ok '  but not in a directory with the sticky bit' predict -o x.h5 --device cuda
    if [ "$(id -u)" -eq 0 ]; then
        chown 12345 up/mine
        predict -o x.h5 --device cuda
        refused 1 'not loaded, because others may write to .*/up/mine$' '  a directory of another user is refused'
        mkdir own
        cp "${LD_LIBRARY_PATH:-$BIN/../lib}"/libcov.so.? own
        chown 12345 own/*
        (LD_LIBRARY_PATH=$PWD/own predict -o x.h5 --device cuda; exit "$status")
        is $? 0 '  but not one of the user that owns libcov'
    fi
else
    pass 'mock cards # SKIP no C++ compiler, or a sanitized build'
fi
done_testing
