#!/bin/sh
# model.sh - downloads a published model into the current directory, and checks it.
#
#   model.sh [NAME]
#
# NAME is one of models.tsv, or of the file in the variable MODELS; without it, lists them. The checksum is the one that Git has of a
# file: SHA-1 of "blob SIZE", a zero byte, and the contents, as `git hash-object FILE` prints it.
# SPDX-License-Identifier: MIT
set -eu
: "${MODELS:=$(dirname "$0")/models.tsv}"
name=${1-}

fail() { # MESSAGE
    echo "model: error: $1" >&2
    exit 1
}
is_good() { # FILE
    sum=$({ printf 'blob %d\0' "$(wc -c <"$1")" && cat "$1"; } | sha1sum)
    [ "${sum%% *}" = "$blob" ]
}

if [ -z "$name" ]; then
    awk -F '\t' 'NR > 1 { printf "%-14s %s\n", $1, $5 }' "$MODELS"
    exit
fi
row=$(awk -F '\t' -v name="$name" 'NR > 1 && $1 == name { print $2, $3, $6 }' "$MODELS")
[ -n "$row" ] || fail "$name: unknown; the models are: $(awk -F '\t' 'NR > 1 { printf "%s%s", sep, $1; sep = ", " }' "$MODELS")"
file=${row%% *} url=${row##* } blob=${row#* } blob=${blob%% *}
if [ -e "$file" ]; then
    is_good "$file" || fail "$file: already exists, and is not this model"
    echo "$file: already there"
    exit
fi
command -v curl >/dev/null || fail 'no program curl'
tmp=.$file.tmp.$$
trap 'rm -f "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
curl -fsSL -o "$tmp" "$url" || fail "$url: not downloaded"
is_good "$tmp" || fail "$url: wrong checksum; not saved"
mv "$tmp" "$file"
echo "$file"
