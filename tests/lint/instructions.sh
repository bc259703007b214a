#!/bin/sh
# instructions.sh OBJDIR... - looks for instructions in object files that are not of their instruction set
# (x86-64), and for those that a file was written for; prints what is wrong, and ends with status 1.
#
# What belongs to which set, the assembler knows: what objdump prints of all files of a set goes back to it
# with that set alone.
# SPDX-License-Identifier: MIT
set -u

avx2=+avx2+fma
avx512=$avx2+avx512f+avx512dq+avx512bw+avx512vl

# What the file of an object may use besides SSE2: what whoever chooses it has asked cov_cpu_features for.
set_of() {
    case $1 in
    */alphabet_avx2.o | */gauss_avx2.o) echo +avx2 ;;
    */onehot_avx2.o) echo +avx2+bmi2 ;;
    *_avx2.o) echo $avx2 ;;
    *_avx512bf16.o) echo $avx512+avx512_bf16 ;;
    *_avx512vnni.o) echo $avx512+avx512_vnni ;;
    *_avx512*.o) echo $avx512 ;;
    *_amx.o) echo $avx512+amx_tile+amx_bf16 ;;
    */base/cpu.o) echo +xsave ;; # XGETBV, which it asks for itself
    esac
}

# Code as the assembler reads it, each line once a file, with the name of the file before it. Left out: padding,
# and where jumps go. BSF with a prefix that CPUs without TZCNT ignore is listed as TZCNT.
# shellcheck disable=SC2016
code='
/^[^\t].*: +file format / { file = $0; sub(/: +file format .*/, "", file); print "# 1 \"" file "\""; next }
!/^[ \t]/ { next }
{
    gsub(/^[ \t]+|[ \t]*(#.*)?$/, ""); gsub(/ *<[^>]*>/, "")
    if (/(^|[ \t])nop|^data16|^xchg +%ax,%ax|^tzcnt /) next
    if (/^((bnd|notrack) )?(j[a-z]+|call|loop[a-z]*|xbegin)( +[0-9a-f]+)?$/) next
    if (!((file, $0) in seen)) { seen[file, $0]; print }
}'

# What files were written for has to be there.
# shellcheck disable=SC2016
wanted='
function want(text) { if (file != "" && !index(all, text)) print file ": no " text }
function done(  i) {
    if (file ~ /_avx2\.o$/) want("%ymm")
    if (file ~ /_(avx512[a-z0-9]*|amx)\.o$/) want("%zmm")
    if (file ~ /_avx512bf16\.o$/) want("vdpbf16ps")
    if (file ~ /_avx512vnni\.o$/) want("vpdpwssd")
    if (file ~ /_amx\.o$/) for (i = 1; i <= n; i++) want(tiles[i])
}
BEGIN { n = split("ldtilecfg tilerelease tilezero tileloadd tileloaddt1 tilestored tdpbf16ps", tiles) }
/^# 1 "/ { done(); file = $3; gsub(/"/, "", file); all = ""; next }
{ all = all $0 "\n" }
END { done() }'

# What the assembler says of a file, in one line: its first words, each once.
# shellcheck disable=SC2016
sum_up='
{
    at = index($0, ": not of "); file = substr($0, 1, at - 1); rest = substr($0, at)
    split(rest, words, ": *"); what = substr(rest, index(rest, words[2]) + length(words[2]) + 2)
    sub(/. is not supported on .*/, "", what); sub(/^`/, "", what)
    if (!(file in heads)) { order[++n] = file; heads[file] = file ": " words[2] ":" }
    if (!((file, what) in seen)) { seen[file, what]; if (++count[file] <= 8) heads[file] = heads[file] " " what }
}
END { for (i = 1; i <= n; i++) print heads[order[i]] (count[order[i]] > 8 ? " ..." : "") }'

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
find "$@" -name '*.o' | LC_ALL=C sort >"$scratch/files"
[ -s "$scratch/files" ] || echo "no object files in $*" >"$scratch/found"
while IFS= read -r file; do
    printf '%s\n' "$file" >>"$scratch/set$(set_of "$file")"
done <"$scratch/files"
for list in "$scratch"/set*; do
    [ -e "$list" ] || break
    extensions=${list#"$scratch/set"}
    tr '\n' '\0' <"$list" | xargs -0 objdump -d --no-show-raw-insn --no-addresses >"$scratch/dump" 2>>"$scratch/found" ||
        echo "objdump failed on the objects of x86-64$extensions" >>"$scratch/found"
    awk "$code" "$scratch/dump" >"$scratch/code.s"
    awk "$wanted" "$scratch/code.s" >>"$scratch/found"
    as -march=generic64"$extensions" -o /dev/null "$scratch/code.s" 2>&1 |
        sed -n "s/:[0-9]*: Error:/: not of x86-64$extensions:/p" | awk "$sum_up" >>"$scratch/found"
done
[ -e "$scratch/found" ] || exit 1
cat "$scratch/found"
[ ! -s "$scratch/found" ]
