#!/bin/sh
# paired_check.sh TIMES [OPTIONS] - whether `benchmark compare --paired` tells a slower kernel from noise.
#
# TIMES times each: a piece of work for a kernel (kernel_work) against the same with a fifth more of it, which has to
# be found worse, and against itself, which must not. OPTIONS are those of `benchmark compare` (--clock cpu, which on
# a machine with other work is what to compare by). Prints a line a run, `slower` or `same` (what it was), the ratio,
# its interval and the verdict, and at the end how many were right; fails unless all were. PATH has benchmark and
# kernel_work: after `make && make build/default/bench/kernel_work` those of bin/ and build/default/bench/.
# SECONDS_OF_WORK (0.2): how long a piece takes about.
# SPDX-License-Identifier: MIT
set -eu
times=${1-}
case $times in
'' | *[!0-9]*)
    sed -n '2,10p' "$0" >&2
    exit 2
    ;;
esac
shift
# So much work that starting the program is nothing.
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
echo "same: $false of $times taken for slower"
[ "$found" -eq "$times" ] && [ "$false" -eq 0 ]
