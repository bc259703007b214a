#!/bin/sh
# tests/gpu/report.sh, with stubs for nvcc, make and the programs it builds: failures are reported, and the other parts still
# run.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

mkdir -p tests/gpu tools
cp "$SRC/tests/gpu/report.sh" tests/gpu
tool() { # NAME: a stub, from standard input
    { echo '#!/bin/sh'; cat; } >"tools/$1"
    chmod +x "tools/$1"
}
tool nvcc <<'END'
case $1 in
--list-gpu-arch) printf 'compute_80\ncompute_90\n' ;;
*) echo 'release 13.0' ;;
esac
END
tool nvidia-smi <<'END'
case $1 in
--query-gpu*) echo 9.0 ;;
esac
END
tool make <<'END'
echo "$@" >made
mkdir -p build/gpu
cat >build/gpu/check_kernels <<'EOF'
#!/bin/sh
case "$*" in
*balanced) echo 'Bail out! an illegal memory access'; exit 1 ;;
*tf32) echo 'not ok 1 - tf32: layers'; exit 1 ;;
esac
echo "# ${*##* }, convolution: off by 1e-7 of the largest value, 3e-6 allowed"
EOF
cat >build/gpu/bench_gpu <<'EOF'
#!/bin/sh
echo "$2, batch 264, one stream, the median of 9; 132 multiprocessors:"
echo '  layer 1 convolution    1.000 ms'
echo "$2 batch  264 x 4, 21384 bases:   20000.0 chunks/s (19000.0 to 21000.0, 9 rounds)"
EOF
echo 'echo ok 1 - gradients' >build/gpu/check_training
chmod +x build/gpu/*
END
tool compute-sanitizer <<'END'
[ "$2" != racecheck ]
END
tool python3 <<'END'
echo 'fp32 eager    batch   16:      1000.0 chunks/s'
END
report() {
    PATH=$PWD/tools:$PATH run_plain tests/gpu/report.sh out
}
# Like run, for programs other than the tools.
run_plain() {
    stdout=$PWD/stdout
    status=0
    "$@" >"$stdout" 2>&1 || status=$?
}

NVCC=$PWD/tools/nvcc PYTHON=python3 SECONDS_EACH=1
export NVCC PYTHON SECONDS_EACH
report
is "$status" 1 'a failure sets the exit status'
ok 'builds for the architecture of the card' grep -q 'CUDA_ARCHS=90 build/gpu/check_kernels build/gpu/check_training build/gpu/bench_gpu' made
is "$(sed -n 's/^FAIL \(.*[a-z0-9]\)  *[0-9]* s .*/\1/p' out/report.txt | tr -s ' ' | tr '\n' ',')" \
    'check balanced,check tf32,racecheck bf16,racecheck fp32,racecheck training,' 'failed parts are listed'
is "$(grep -c '^ok ' out/report.txt)" 21 '  all other parts run'
is "$(grep -c '^[a-z0-9]*, convolution: off by' out/report.txt)" 3 'the report lists errors'
is "$(grep -c '^not ok 1 - tf32: layers' out/report.txt)" 1 '  and failed tests'
is "$(grep -c '[0-9] chunks/s' out/report.txt)" 6 '  and rates'
is "$(grep -c '^  layer 1' out/report.txt)" 5 '  and layers'
rm tools/compute-sanitizer
if ! command -v compute-sanitizer >/dev/null; then
    report
    is "$(grep -c '^SKIP' out/report.txt)" 6 'without compute-sanitizer'
fi
tool make <<'END'
exit 2
END
report
is "$status" 1 'the build fails'
is "$(grep -c '^FAIL build .*status 2' out/report.txt)" 1 '  is reported'
is "$(grep -c '^ok .*check' out/report.txt)" 0 '  programs of an earlier build are not run'
done_testing
