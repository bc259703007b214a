#!/usr/bin/env bash
# run.sh - runs libFuzzer harnesses one by one, and prints a table of executions and findings.
#
# usage: run.sh DIRECTORY SECONDS HARNESS...
#
# DIRECTORY/fuzz/fuzz_X are the programs. Inputs found are kept in DIRECTORY/corpus/X, and the next run starts from them and
# from tests/fuzz/corpus/X. Inputs that end a harness are kept as DIRECTORY/findings/X-*. Exits with status 1 if there are
# any.
# SPDX-License-Identifier: MIT
set -u
directory=$1 seconds=$2
shift 2
seeds=$(dirname "$0")/corpus
mkdir -p "$directory/findings" "$directory/logs"
# libhts allocates what the header of a BAM claims; a limit makes that an ordinary error. Memory is not cleared, so
# large claims that are never used take none.
export ASAN_OPTIONS=max_allocation_size_mb=1000:allocator_may_return_null=1:quarantine_size_mb=16
LSAN_OPTIONS=suppressions=$(dirname "$0")/../lib/lsan.supp:print_suppressions=0
export LSAN_OPTIONS
found=0
printf '%-12s %12s %8s  %s\n' harness executions per_s findings
for name; do
    mkdir -p "$directory/corpus/$name"
    log=$directory/logs/$name.log
    timeout=5
    [ "$name" != h5 ] || timeout=30 # libhdf5 gets 5 s of CPU for a damaged file
    rm -f "$log"
    touch "$directory/logs/start"
    "$directory/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout="$timeout" -rss_limit_mb=1500 -malloc_limit_mb=1024 \
        -max_len=60000 -print_final_stats=1 -artifact_prefix="$directory/findings/$name-" \
        "$directory/corpus/$name" "$seeds/$name" >"$log" 2>&1
    status=$?
    n=$(find "$directory/findings" -name "$name-*" -newer "$directory/logs/start" | wc -l)
    [ "$status" -eq 0 ] || { found=1; [ "$n" -gt 0 ] || n=1; }
    awk -v name="$name" -v n="$n" -v log_file="$log" '
        /^stat::number_of_executed_units/ { runs = $2 }
        /^stat::average_exec_per_sec/ { rate = $2 }
        END { printf "%-12s %12s %8s  %s\n", name, runs, rate, n ? n " (see " log_file ")" : "none" }' "$log"
done
exit "$found"
