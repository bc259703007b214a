#!/bin/sh
# paired_check.sh TIMES [OPTIONS] - checks that `benchmark compare --paired` tells a slower kernel from noise.
#
# Makes two comparisons, TIMES times each: kernel_work with 20 % more work, which must be found slower, and kernel_work
# with itself, which must not. OPTIONS are passed to `benchmark compare` (use --clock cpu on a busy machine). Prints a
# line per run: `slower` or `same` (the truth), the ratio, its interval and the verdict; and, at the end, the numbers of
# correct verdicts. Fails unless all are correct. benchmark and kernel_work must be in PATH: after `make && make
# build/default/bench/kernel_work`, they are in bin/ and build/default/bench/. SECONDS_OF_WORK (0.2): approximate
# duration of a run.
# SPDX-License-Identifier: MIT
set -eu
times=${1-}
case $times in
'' | *[!0-9]*)
    sed -n '2,9p' "$0" >&2
    exit 2
    ;;
esac
shift
# Enough work to make the program's startup negligible.
pieces=$(kernel_work 200 | awk -v want="${SECONDS_OF_WORK:-0.2}" '{print int(want / $1 * 200 + 1)}')
more=$((pieces * 6 / 5))
echo "pieces of work: $pieces and $more"
found=0 false=0 run=0
while [ "$run" -lt "$times" ]; do
    run=$((run + 1))
    for what in slower same; do
        other=$pieces status=0
        [ "$what" = same ] || other=$more
        table=$(benchmark compare -q --paired "$@" "kernel_work $pieces" "kernel_work $other" 2>/dev/null) || status=$?
        if [ "$status" -gt 1 ] || [ -z "$table" ]; then
            echo "paired_check.sh: benchmark compare ended with $status" >&2
            exit 1
        fi
        echo "$run $what $(echo "$table" | sed -n 2p | cut -f 5-)"
        if [ "$what" = slower ]; then found=$((found + status)); else false=$((false + status)); fi
    done
done
echo "slower: $found of $times found"
echo "same: $false of $times found slower"
[ "$found" -eq "$times" ] && [ "$false" -eq 0 ]
