#!/bin/sh
# report.sh - builds, tests and measures the plugin on a GPU in one run of about half an hour; needs only CUDA, a C
# compiler and make. Checks every kernel at each precision, repeats the checks under compute-sanitizer, runs the
# benchmarks, and finally prints a line for each part. A part that fails or takes too long does not stop the others.
#   report.sh [FOLDER]      folder of the logs (build/gpu/report)
# Exit status 0 if nothing failed.
# Environment: NVCC, CC, CXX, PYTHON, CUDA_ARCHS as for make; SECONDS_EACH per measurement (3).
# SPDX-License-Identifier: MIT
cd "$(dirname "$0")/../.." || exit 1
out=${1:-build/gpu/report}
mkdir -p "$out" || exit 1
summary=$out/summary
: >"$summary"
each=${SECONDS_EACH:-3}
n_failed=0

find_nvcc() {
    for nvcc in "${NVCC:-}" "$(command -v nvcc)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" /usr/local/cuda-*/bin/nvcc; do
        [ -n "$nvcc" ] && [ -x "$nvcc" ] && echo "$nvcc" && return
    done
}

# compute-sanitizer may be in the folder of nvcc instead of PATH.
find_sanitizer() {
    for tool in "$(command -v compute-sanitizer)" "${nvcc%/*}/compute-sanitizer" \
        "${nvcc%/bin/nvcc}/compute-sanitizer/compute-sanitizer"; do
        [ -n "$tool" ] && [ -x "$tool" ] && echo "$tool" && return
    done
}

note() { # RESULT NAME SECONDS MORE
    printf '%-4s %-28s %5s s  %s\n' "$1" "$2" "$3" "$4" >>"$summary"
    [ "$1" != FAIL ] || n_failed=$((n_failed + 1))
}

# NAME LIMIT COMMAND...: runs a part; its output goes to a log and to standard output.
part() {
    name=$1 limit=$2 beg=$(date +%s) log=$out/$(echo "$1" | tr ' ' -).log
    shift 2
    echo "== $name"
    { timeout -k 10 "$limit" "$@" 2>&1; echo "status $?"; } | tee "$log" | sed '/^status [0-9]*$/d'
    status=$(sed -n '$s/^status //p' "$log") more=
    case $status in
    0) result=ok ;;
    124 | 137) result=FAIL more="more than $limit s, see $log" ;;
    *) result=FAIL more="status $status, see $log" ;;
    esac
    if [ "$result" = ok ] && grep -q '^1\.\.0 # SKIP' "$log"; then
        result=SKIP more=$(sed -n 's/^1\.\.0 # SKIP //p' "$log")
    fi
    note "$result" "$name" $(($(date +%s) - beg)) "$more"
    [ "$result" != FAIL ]
}

# Writes the report, even after an interruption.
report() {
    {
        echo '== errors'
        sed -n 's/^# \(.*: off by .*\)/\1/p' "$out"/check-*.log 2>/dev/null
        grep -h '^not ok' "$out"/check-*.log 2>/dev/null
        echo '== layers'
        sed -n '/^[a-z0-9]*, batch .* one stream/p; /^  layer /p; /^  all /p' "$out"/bench-*.log 2>/dev/null
        echo '== chunks/s'
        grep -h 'chunks/s (' "$out"/bench-*.log 2>/dev/null
        grep -h 'chunks/s$' "$out"/PyTorch.log 2>/dev/null
        echo '== parts'
        cat "$summary"
    } >"$out/report.txt"
    cat "$out/report.txt"
    echo "== logs: $out"
}
trap 'report; exit 130' INT TERM

nvcc=$(find_nvcc)
if [ -z "$nvcc" ]; then
    echo 'report.sh: no nvcc (set NVCC=/path/of/nvcc)' >&2
    exit 1
fi
# Builds only for the installed cards if nvcc supports them, which takes a quarter of the time.
archs=${CUDA_ARCHS:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -un | paste -sd' ' -)}
known=$("$nvcc" --list-gpu-arch 2>/dev/null)
for arch in $archs; do
    echo "$known" | grep -qx "compute_$arch" || archs=
done

{
    nvidia-smi 2>/dev/null || echo 'nvidia-smi: missing, or no driver'
    "$nvcc" --version | tail -n 2
    "${CC:-cc}" --version 2>/dev/null | head -n 1
    uname -srm
    git describe --always --dirty 2>/dev/null
} 2>&1 | tee "$out/machine.log"

rm -f build/gpu/check_kernels build/gpu/check_training build/gpu/bench_gpu
if ! part build 900 make -k "-j$(nproc)" NVCC="$nvcc" ${archs:+CUDA_ARCHS="$archs"} build/gpu/check_kernels \
    build/gpu/check_training build/gpu/bench_gpu; then
    echo 'report.sh: the build is incomplete; running what it produced' >&2
fi
if [ -x build/gpu/check_kernels ]; then
    for p in fp32 tf32x3 balanced tf32 bf16; do
        part "check $p" 240 build/gpu/check_kernels --big --precision "$p"
    done
fi
if [ -x build/gpu/check_training ]; then
    for p in fp32 tf32x3 balanced tf32 bf16; do
        part "check training $p" 240 build/gpu/check_training --big --precision "$p"
    done
fi
if [ -x build/gpu/bench_gpu ]; then
    for p in bf16 tf32 balanced bf16x3 fp32; do
        part "bench $p" 150 build/gpu/bench_gpu --precision "$p" "$each"
    done
fi
if command -v "${PYTHON:-python3}" >/dev/null; then
    part PyTorch 400 "${PYTHON:-python3}" tests/gpu/torch_peer.py "$each"
fi
# The sanitizer runs last because it is slowest, and only on the small networks.
sanitizer=$(find_sanitizer)
for tool in memcheck racecheck synccheck; do
    for p in bf16 fp32; do
        if [ -z "$sanitizer" ]; then
            note SKIP "$tool $p" 0 'no compute-sanitizer'
        elif [ -x build/gpu/check_kernels ]; then
            part "$tool $p" 150 "$sanitizer" --tool $tool --error-exitcode 1 build/gpu/check_kernels --precision $p
        fi
    done
    if [ -n "$sanitizer" ] && [ -x build/gpu/check_training ]; then
        part "$tool training" 150 "$sanitizer" --tool $tool --error-exitcode 1 build/gpu/check_training
    fi
done
report
[ "$n_failed" -eq 0 ]
