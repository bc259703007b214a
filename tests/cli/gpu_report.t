#!/bin/sh
# tests/gpu/report.sh with stubs for nvcc, nvidia-smi, make and all programs that it runs; and bench_gpu in emulation.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

mkdir -p tests/gpu tools programs
cp "$SRC/tests/gpu/report.sh" tests/gpu
# FILE: a program, from standard input. Each call is recorded.
tool() {
    {
        echo '#!/bin/sh'
        echo "echo \"${1##*/} \$*\" >>'$work/calls'"
        cat
    } >"$1"
    chmod +x "$1"
}
tool tools/nvcc <<'END'
case $1 in
--list-gpu-arch) printf 'compute_80\ncompute_90\ncompute_120\n' ;;
*) echo 'Cuda compilation tools, release 13.0, V13.0.48' ;;
esac
END
tool tools/nvidia-smi <<'END'
case "$*" in
*' -l 1')
    echo $$ >sampler
    while sleep 0.1; do echo '1755, 432.10'; done
    ;;
*--query-gpu=memory.total*) echo "$MEMORY MiB" ;;
*compute_cap,*) echo 'Test Card, 81559 MiB, 9.0, 700.00 W' ;;
*compute_cap*) echo 9.0 ;;
*driver_version*) echo 580.1 ;;
*clocks.max*) echo '345 MHz, 2619 MHz' ;;
esac
END
# "Builds" the files of programs/.
tool tools/make <<'END'
echo 'warning: a warning of the build'
mkdir -p build/gpu
cp programs/* build/gpu
END
tool programs/check_kernels <<'END'
case "$*" in
*balanced) echo 'Bail out! an illegal memory access'; exit 1 ;;
*'--big --precision tf32') echo 'not ok 1 - tf32: layers'; exit 1 ;;
esac
echo "# ${*##* }, convolution: off by 1e-7 of the largest value, 3e-6 allowed"
END
tool programs/check_training <<'END'
mkdir busy 2>/dev/null || echo '# at the same time as another'
sleep 0.2
rmdir busy 2>/dev/null
echo ok 1 - gradients
END
tool programs/check_lstm <<'END'
echo ok 1 - training
END
tool programs/check_edits <<'END'
echo ok 1 - edits
END
tool programs/bench_gpu <<'END'
case "$*" in
*--once*) exit ;;
*'--forward --variants'*) echo "forward $4 batch 64, 1 call: 15000.4 chunks/s (14000.0 to 16000.0, 9 rounds)" ;;
*'--training --variants'*) echo "training $4 batch 64, no graph: 3010.0 chunks/s (2900.0 to 3100.0, 9 steps)" ;;
*--forward*' balanced '*) sleep "$HANG" ;;
*--forward*)
    echo "layers $3 batch 64, one stream, the median of 9:"
    echo '  layer 1 convolution    0.250 ms, limit 0.125 ms (arithmetic),  50 %'
    echo "layers $3 batch 256, one stream, the median of 9:"
    echo '  layer 1 convolution    1.000 ms, limit 0.500 ms (arithmetic),  50 %'
    echo '  layer 2 convolution    1.500 ms, limit 0.500 ms (arithmetic),  33 %'
    case $COVTOOLS_CUBLAS,$3 in
    always,tf32) echo 'Bail out! cuBLAS not found, or without cublasLtCreate' && exit 1 ;;
    always,*) echo '  layer 4 gates of an LSTM    0.500 ms, limit 0.400 ms (arithmetic),  80 %' ;;
    *) echo '  layer 4 gates of an LSTM    1.000 ms, limit 0.400 ms (arithmetic),  40 %' ;;
    esac
    echo '  layer 4 steps of an LSTM    2.000 ms, limit 0.800 ms (memory),  40 %'
    echo '  layer 5 convolution    3.000 ms, limit 0.300 ms (arithmetic),  10 %'
    echo "forward $3 batch 64: 20000.0 chunks/s (19000.0 to 21000.0, 9 rounds)"
    echo "forward $3 batch 64, 1000 bases: 90000.0 chunks/s (9000.0 to 91000.0, 9 rounds)"
    ;;
*--edits*)
    echo "# edits $3 batch 128: off by 1e-6 of the largest value, 1e-3 allowed"
    echo "edits $3 batch 128: 120000.0 SNVs/s (110000.0 to 130000.0, 3 rounds)"
    ;;
*--training*) echo "training $3 batch 64: 3000.0 chunks/s (2900.0 to 3100.0, 9 steps)" ;;
esac
sleep "$SLOW"
END
tool tools/ncu <<'END'
cat <<'EOF'
==PROF== Connected to process 1
  void products<(int)3, (bool)1>(const float *, int) (132, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
    Section: GPU Speed Of Light Throughput
    DRAM Frequency                  Ghz         2.62
    Memory Throughput                 %        45.20
    Duration                         us        12.34
    Compute (SM) Throughput           %        67.10
    Registers Per Thread    register/thread              96
    Achieved Occupancy                        %        24.90
    Memory Throughput           Tbyte/s        1.50
EOF
END
tool tools/python3 <<'END'
echo 'PyTorch 2.11.0, CUDA 13.0'
case "$*" in
*'--only forward'*)
    echo 'PyTorch forward fp16 batch 64, eager: 1000.0 chunks/s (900.0 to 1100.0, 9 calls)'
    echo 'PyTorch forward bf16 batch 64, eager: 8000.0 chunks/s'
    ;;
*'--only training'*) echo 'PyTorch training bf16 batch 64, eager: out of memory' ;;
*compiled-training*) echo 'PyTorch training bf16 batch 64, compiled: 1500.0 chunks/s' ;;
*) echo 'PyTorch forward bf16 batch 64, compiled: 10000.0 chunks/s' ;;
esac
END
tool tools/compute-sanitizer <<'END'
[ "$2" != racecheck ] || { echo '========= Error: Race reported'; exit 1; }
END
report() { # [OPTION]...
    : >calls
    rm -rf out
    PATH=$PWD/tools:$PATH run tests/gpu/report.sh "$@" out
    report=$(cat out/report.txt)
}
of_parts() { # RESULT: the names of parts with this result
    sed -n "s/^$1  *\([a-z0-9-]*\)  *[0-9]* s.*/\1/p" out/report.txt | sort | paste -sd ' ' -
}
MEMORY=81559 NVCC=$PWD/tools/nvcc PYTHON=python3 SECONDS_EACH=1 SLOW=0 HANG=0 COMMIT=abc1234
export MEMORY NVCC PYTHON SECONDS_EACH SLOW HANG COMMIT
unset CUDA_ARCHS CUDA_VISIBLE_DEVICES

# All parts, with failures.
SLOW=0.3
report
SLOW=0
status_is 1 'a failure sets the exit status'
is "$(of_parts FAIL)" "check-kernels-balanced check-kernels-tf32 \
racecheck-edits-bf16 racecheck-edits-fp32 racecheck-kernels-bf16 racecheck-kernels-fp32 racecheck-lstm-fp32 racecheck-training-bf16" '  failed parts are named'
is "$(of_parts ok | wc -w)" 46 '  all other parts run'
like "$report" '^FAIL +check-kernels-tf32 .* status 1: not ok 1 - tf32: layers$' '  a failed check with its message'
like "$report" '^FAIL +racecheck-kernels-fp32 .* status 1: ========= Error: Race reported$' '  an error of a tool'
like "$report" '^not ok 1 - tf32: layers$' '  messages of failed parts'
like "$report" '^covtools on a GPU: finished$' '  the report is complete'
ok 'builds for the architecture of the card, without -Werror' grep -q \
    '^make .* CUDA_WERROR= CUDA_ARCHS=90 build/gpu/bench_gpu build/gpu/check_kernels build/gpu/check_training build/gpu/check_lstm' calls
is "$(grep -v '^nvcc\|^nvidia\|^bench_gpu .*--once' calls | sed 's/^\(compute-.*check\) .*/\1/
    s/^\(bench_gpu .*--precision [a-z0-9]*\) .*/\1/; s/^\(make\|ncu\|check\)[ _].*/\1/; s/ .*--only \([a-z-]*\) .*/ \1/' | uniq)" \
    'make
check
bench_gpu --forward --precision bf16
bench_gpu --training --precision bf16
bench_gpu --edits --precision bf16
python3 forward
python3 training
python3 compiled
python3 compiled-training
bench_gpu --forward --variants --precision bf16
bench_gpu --training --variants --precision bf16
bench_gpu --forward --precision tf32
bench_gpu --forward --precision balanced
bench_gpu --forward --precision bf16x3
bench_gpu --forward --precision fp32
bench_gpu --training --precision tf32
bench_gpu --training --precision fp32
bench_gpu --edits --precision fp32
bench_gpu --forward --precision bf16
bench_gpu --forward --precision tf32
ncu
python3 training
python3 forward
compute-sanitizer --tool memcheck
compute-sanitizer --tool synccheck
compute-sanitizer --tool racecheck' 'the order of the parts'
for line in 'commit: abc1234' 'card: Test Card, 81559 MiB.*' 'driver: 580.1' 'clocks: .*at most 345 MHz, 2619 MHz.*' \
    'CUDA: release 13.0, V13.0.48, built for 90' 'system: Linux .* CPUs.*' \
    'bf16, convolution: off by 1e-7 of the largest value, 3e-6 allowed' \
    '  layer 1 convolution    1.000 ms, limit 0.500 ms .*' \
    'bf16  layer 4 gates of an LSTM    1.000 ms.*' \
    'bf16, cuBLAS  layer 4 gates of an LSTM    0.500 ms.*' \
    'skip +cublas-tf32 .* cuBLAS not found, or without cublasLtCreate' \
    'forward fp32 batch 64: 20000.0 chunks/s .*' \
    'training tf32 batch 64: 3000.0 chunks/s .*' \
    'edits fp32 batch 128: 120000.0 SNVs/s .*' \
    'edits bf16 batch 128: off by 1e-6 of the largest value, 1e-3 allowed' \
    'PyTorch forward fp16 batch 64, eager: 1000.0 chunks/s \(900.0 to 1100.0, 9 calls\); covtools bf16 20000.0: 20.00 times as fast' \
    'PyTorch forward bf16 batch 64, eager: 8000.0 chunks/s; covtools bf16 20000.0: 2.50 times as fast' \
    'PyTorch training bf16 batch 64, eager: out of memory' \
    'PyTorch training bf16 batch 64, compiled: 1500.0 chunks/s; covtools bf16 3000.0: 2.00 times as fast' \
    '  products<\(int\)3, \(bool\)1> +12.34 us, SM 67.10 %, memory 45.20 %, occupancy 24.90 %, 96 registers' \
    'forward bf16 batch 64, 1 call: 15000.4 chunks/s .*' \
    '\| Test Card \| batch \| covtools, chunks/s \| PyTorch \| torch.compile \| times as fast as the faster \|' \
    '\| predict, bf16 \| 64 \| 20,000 \(19,000 to 21,000\) \| 8,000 \| 10,000 \| 2.00 \|' \
    '\| train, bf16 \| 64 \| 3,000 \(2,900 to 3,100\) \|  \| 1,500 \| 2.00 \|' \
    '\| train, tf32 \| 64 \| 3,000 \(2,900 to 3,100\) \|  \|  \|  \|' \
    '\| predict, bf16, 1000 bases \| 64 \| 90,000 \(9,000 to 91,000\) \| 450 % \|' \
    '\| edits, bf16 \| 128 \| 120,000 \(110,000 to 130,000\) SNVs/s \|  \|' \
    '\| predict, bf16, 1 call \| 64 \| 15,000 \(14,000 to 16,000\) \| 75 % \|' \
    '\| train, bf16, no graph \| 64 \| 3,010 \(2,900 to 3,100\) \| 100 % \|' \
    '\| ms \| bf16 \| limit \| bf16x3 \| limit \| fp32 \| limit \| tf32 \| limit \|' \
    '\| convolutions \| 2.50 \| 1.00( \| 2.50 \| 1.00)* \|' \
    '\| sums over x of both LSTMs \| 1.00 \| 0.40.*' '\| steps of both LSTMs \| 2.00 \| 0.80.*' \
    '\| transposed convolutions \| 3.00 \| 0.30.*' \
    'ok +bench-fp32 .* SM clock 1755 to 1755 MHz, at most 432 W'; do
    like "$report" "^$line\$" "the report has: $line"
done
is "$(grep -c '^  layer 1' out/report.txt)" 2 'only the layers of bf16'
like "$(cat out/all.log)" '^warning: a warning of the build$' 'all.log has the output of the build'
is "$(grep -c '^== ' out/all.log)" 56 '  and of all other parts'
is "$(find out -type f | wc -l)" 2 'two files'
like "$(cat out/all.log)" '^# at the same time' 'checks run in parallel'
ok 'the report is shown' grep -q "all parts: $PWD/out/all.log" "$stdout"

# Limits are those of 570 s, scaled.
HANG=100
report --until 38 --part bench-balanced,bench-fp32
status_is 1 'a part hangs'
like "$report" '^FAIL +bench-balanced +[0-9]+ s  ended at its limit of 5 s$' '  it ends at its limit'
like "$report" '^ok +bench-fp32 ' '  the next one runs'

# Nothing is lost by a kill during bench-balanced.
for signal in KILL TERM; do
    : >calls
    rm -rf out
    PATH=$PWD/tools:$PATH tests/gpu/report.sh --part check,bench out >log 2>&1 &
    pid=$!
    await grep -q 'bench_gpu .*balanced' calls
    kill -"$signal" $pid
    status=0
    wait $pid 2>/dev/null || status=$?
    report=$(cat out/report.txt)
    is "$(of_parts ok | tr ' ' '\n' | grep -v '^check-training\|^check-kernels-[bf]' | paste -sd ' ' -)" \
        'bench-bf16 bench-tf32 build check-edits check-kernels-tf32x3 check-lstm' "killed by $signal: the report has the parts that ended"
    like "$report" '^forward tf32 batch 64: 20000.0' '  their rates'
    like "$report" '^FAIL +check-kernels-tf32 ' '  and failures'
    like "$(cat out/all.log)" '^forward tf32 batch 64: 20000.0' '  all.log has their output'
    [ "$signal" = TERM ] || kill "$(cat sampler)" "$(cat build/gpu/parts/bench-balanced.log.pid)"
done
is "$status" 130 '  the exit status after TERM'
like "$report" '^covtools on a GPU: interrupted; running: bench-balanced$' '  the part that was running'
hung=$(cat build/gpu/parts/bench-balanced.log.pid)
has_ended() { # PID
    # shellcheck disable=SC2317 # await calls it
    ! kill -0 "$1"
}
await has_ended "$hung"
ok '  is ended' has_ended "$hung"

MEMORY=11000
report --part check-training
is "$(grep -c '^ok ' out/report.txt)" 6 'a card with memory for one check'
unlike "$(cat out/all.log)" '^# at the same time' '  one check at a time'

# No time left.
HANG=0 SLOW=4
report --until 10 --part bench,train,ncu,torch-forward
SLOW=0
n=$(grep -v -e --once calls | grep -c '^bench_gpu')
ok "only parts that start within 10 s run: $n of 4 s each" test "$n" -ge 1 -a "$n" -le 3
like "$(of_parts 'not run')" 'ncu-forward ncu-training torch-forward' 'parts that no longer fit are not run'
like "$report" '^not run ncu-forward +0 s  no time left$' '  with the reason'
is "$(grep -c '^ncu\|^python3\|^check_' calls)" 0 '  nor are those not selected'

# Without ncu, PyTorch and compute-sanitizer.
echo "echo '1..0 # SKIP no PyTorch'" >tools/python3
rm tools/ncu tools/compute-sanitizer
run_ok 'missing programs are not a failure' report --part bench-bf16,ncu,torch,memcheck
like "$report" '^skip +torch-forward .* no PyTorch$' '  no PyTorch'
if ! command -v ncu >/dev/null && ! find /opt/nvidia/nsight-compute -name ncu 2>/dev/null | grep -q .; then
    like "$report" '^skip +ncu-forward .* no ncu$' '  no ncu'
fi
if ! command -v compute-sanitizer >/dev/null; then
    like "$report" '^skip +memcheck-kernels-bf16 .* no compute-sanitizer$' '  no compute-sanitizer'
fi
tool tools/ncu <<'END'
echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters'
exit 1
END
run_ok 'nor are missing permissions' report --part ncu
like "$report" '^skip +ncu-forward .*no permission to read counters \(ERR_NVGPUCTRPERM\)$' '  with the reason'

# A newer card than nvcc knows; the build fails.
tool tools/make <<'END'
echo 'x.cu(3): error: identifier "y" is undefined'
exit 2
END
sed -i 's/echo 9.0/echo 10.3/' tools/nvidia-smi
report --part check
status_is 1 'the build fails'
like "$report" '^FAIL +build .* status 2: x.cu\(3\): error: identifier "y" is undefined$' '  is reported'
is "$(of_parts 'not run' | wc -w)" 12 '  programs of an earlier build are not run'
ok 'a newer card: the newest architecture before it' grep -q '^make .*CUDA_ARCHS=90 ' calls
cp programs/check_lstm build/gpu
report --no-build --part check-lstm
is "$status $(of_parts ok) $(of_parts FAIL)" '0 check-lstm ' '--no-build: programs of an earlier build are run'
like "$report" '^CUDA: programs of an earlier build$' '  and not taken for new ones'

for arguments in '--until soon' '--part brench' '--until' '--quick'; do
    # shellcheck disable=SC2086 # words
    run tests/gpu/report.sh $arguments
    is "$status $(cut -d: -f 1,2 "$stderr")" '2 report.sh: error' "report.sh $arguments"
done

bench=$TESTLIB/../bench_gpu
if [ -x "$bench" ] && [ -z "$SAN" ]; then
    COVTOOLS_MOCK=memory=800000000 run "$bench" --once --length 24 --precision bf16 1 1
    status_is 0 'bench_gpu in emulation'
    stdout_like '^forward bf16 batch 1: once' '  a forward pass'
    stdout_like '^training bf16 batch 1: once' '  a training step'
    is "$(grep -c '^  layer .* ms, limit .* ms' "$stdout")" 13 '  the time of each layer'
    COVTOOLS_MOCK=memory=800000000,shared=232448 run "$bench" --edits --once --length 48 --precision bf16 1 4
    stdout_like '^# edits bf16 batch 4: off by ' '  chunks after edits'
    stdout_like '^edits bf16 batch 4: once' '  a batch of them'
    COVTOOLS_MOCK=memory=800000000 run "$bench" --once --variants --length 24 --precision bf16 1 1
    is "$status $(grep -c '^forward bf16 batch 1, [12n].*: once\|^training bf16 batch 1, [nw].*: once' "$stdout")" '0 5' '  variants'
fi
done_testing
