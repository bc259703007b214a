#!/bin/sh
# completion.sh - prints a shell's completion of a program's options.
#
#   completion.sh bash|zsh|fish PROGRAM
#
# SPDX-License-Identifier: MIT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tab=$(printf '\t')
shell=$1
program=$2
list=$("$program" --help-machine)
{
    printf '%s\n' "$list" | sed "s/^/$tab/"
    # A program with subcommands lists them in two columns.
    printf '%s\n' "$list" | awk -F '\t' 'NF == 2 { print $1 }' | while read -r subcommand; do
        "$program" "$subcommand" --help-machine | sed "s/^/$subcommand$tab/"
    done
} | LC_ALL=C awk -v shell="$shell" -v program="${program##*/}" -f "$here/completion.awk"
