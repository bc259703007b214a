#!/usr/bin/env bash
# coverage.sh - prints how many lines of its target files each harness runs with the inputs of its corpora.
#
# usage: coverage.sh BUILD CORPORA HARNESS...
#
# BUILD is the directory of a build with gcov, CORPORA a directory with further inputs, CORPORA/X. The comment at the top of
# tests/fuzz/fuzz_X.c names the target files after "Target:".
# SPDX-License-Identifier: MIT
set -eu
build=$1 more=$2
shift 2
here=$(dirname "$0")
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
printf '%-12s %9s  %s\n' harness lines target
for name; do
    inputs=("$here/corpus/$name")
    [ ! -d "$more/$name" ] || inputs+=("$more/$name")
    rm -rf "${data:?}"/*
    GCOV_PREFIX=$data "$build/fuzz/fuzz_$name" "${inputs[@]}" >"$data/log" 2>&1 ||
        { cat "$data/log" >&2; exit 1; }
    for target in $(sed -n '/Target:/,/\*\//{s/.*Target:\|SPDX.*//g;p}' "$here/fuzz_$name.c" | tr -d ',*' | tr ' ' '\n' | grep '\.c$'); do
        object=$build/obj/${target%.c}
        mv "$data$PWD/$object.gcda" "$data/" 2>/dev/null || :
        cp "$object.gcno" "$data/"
        gcov -n -o "$data" "$data/$(basename "$object").gcno" 2>/dev/null |
            awk -v name="$name" -v file="$target" 'index($0, "File ") { mine = index($0, file) }
                mine && /^Lines/ { sub(/.*:/, ""); sub(/%.*/, ""); printf "%-12s %7.1f %%  %s\n", name, $0, file; mine = 0 }'
    done
done
