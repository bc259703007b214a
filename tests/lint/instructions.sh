#!/bin/sh
# instructions.sh OBJECT|DIRECTORY... - checks that object files (x86-64) contain only instructions of their instruction set, and
# do contain those that they were written for. Prints faults, and exits with status 1 if there is one.
#
# The output of objdump for all files of a set is assembled again with only that set enabled.
# SPDX-License-Identifier: MIT
set -u

avx2=+avx2+fma
avx512=$avx2+avx512f+avx512dq+avx512bw+avx512vl

# The extensions to SSE2 that an object may use: those that its users check with cov_cpu_features.
set_of() {
    case $1 in
    */alphabet_avx2.o) echo +avx2 ;;
    */onehot_avx2.o) echo +avx2+bmi2 ;;
    *_avx2.o) echo $avx2 ;;
    *_avx512bf16.o) echo $avx512+avx512_bf16 ;;
    *_avx512vnni.o) echo $avx512+avx512_vnni ;;
    *_avx512*.o) echo $avx512 ;;
    *_amx.o) echo $avx512+avx512_bf16+amx_tile+amx_bf16 ;;
    */base/cpu.o) echo +xsave ;; # XGETBV, which it checks itself
    esac
}

# Turns the output of objdump into code that the assembler can read: each line once per file, after the file's name,
# without padding, jump targets and ENDBR64, which CPUs without it ignore. objdump lists BSF with a prefix that CPUs without
# TZCNT ignore as TZCNT.
# shellcheck disable=SC2016
code='
/^[^\t].*: +file format / { file = $0; sub(/: +file format .*/, "", file); print "# 1 \"" file "\""; next }
!/^[ \t]/ { next }
{
    gsub(/^[ \t]+|[ \t]*(#.*)?$/, ""); gsub(/ *<[^>]*>/, "")
    if (/(^|[ \t])nop|^endbr64|^data16|^xchg +%ax,%ax|^tzcnt /) next
    if (/^((bnd|notrack) )?(j[a-z]+|call|loop[a-z]*|xbegin)( +[0-9a-f]+)?$/) next
    if (!((file, $0) in seen)) { seen[file, $0]; print }
}'

# Instructions and registers that files must contain.
# shellcheck disable=SC2016
wanted='
function want(text) { if (file != "" && !index(all, text)) print file ": no " text }
function done(  i) {
    if (file ~ /_avx2\.o$/) want("%ymm")
    if (file ~ /_(avx512[a-z0-9]*|amx)\.o$/) want("%zmm")
    if (file ~ /_avx512bf16\.o$/) want("vdpbf16ps")
    if (file ~ /_avx512vnni\.o$/) want("vpdpwssd")
    if (file ~ /gemm_amx\.o$/) for (i = 1; i <= n; i++) want(tiles[i])
}
BEGIN { n = split("ldtilecfg tilerelease tilezero tileloadd tileloaddt1 tilestored tdpbf16ps", tiles) }
/^# 1 "/ { done(); file = $3; gsub(/"/, "", file); all = ""; next }
{ all = all $0 "\n" }
END { done() }'

# Joins the assembler's messages about a file into one line, each once.
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
