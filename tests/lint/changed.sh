#!/bin/sh
# changed.sh REVISION - prints the .c files that have changed since this commit, and those that include a changed header.
# SPDX-License-Identifier: MIT
set -eu
changed=$(git diff --name-only --diff-filter=d "$1")
{
    printf '%s\n' "$changed" | grep '\.c$' || true
    for header in $(printf '%s\n' "$changed" | grep '\.h$'); do
        git grep -l "#include \"$header\"" -- '*.c' || true
    done
} | sort -u
