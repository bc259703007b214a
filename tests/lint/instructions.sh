#!/bin/sh
# instructions.sh OBJDIR - looks for instructions of wide registers, tiles and bf16 in object files that are
# not of their instruction set (x86-64); prints what is wrong, and ends with status 1.
# SPDX-License-Identifier: MIT
set -u
status=0

# says FILE PATTERN: whether its code has what matches.
says() {
    objdump -d --no-show-raw-insn "$1" | grep -Eq "$2"
}
complain() {
    echo "$1"
    status=1
}
list=$(find "$1" -name '*.o' | sort)
[ -n "$list" ] || complain "no object files in $1"
for file in $list; do
    name=${file##*/}
    case $name in
    *_avx512.o | *_avx512bf16.o | *_avx512vnni.o | *_amx.o)
        says "$file" '%zmm' || complain "$file: no 512-bit registers"
        ;;
    *_avx2.o)
        says "$file" '%ymm' || complain "$file: no 256-bit registers"
        says "$file" '%zmm|%k[1-7]' && complain "$file: AVX-512"
        ;;
    *) says "$file" '%[yz]mm|%k[1-7]' && complain "$file: registers of AVX or AVX-512" ;;
    esac
    case $name in
    *_amx.o)
        for instruction in ldtilecfg tilerelease tilezero tileloadd tileloaddt1 tilestored tdpbf16ps; do
            says "$file" "$instruction" || complain "$file: no $instruction"
        done
        ;;
    *) says "$file" '%tmm|tilerelease|ldtilecfg' && complain "$file: tiles" ;;
    esac
    case $name in
    *_avx512bf16.o) says "$file" 'vdpbf16ps' || complain "$file: no vdpbf16ps" ;;
    *) says "$file" 'vdpbf16ps|vcvtne' && complain "$file: AVX-512 BF16" ;;
    esac
    case $name in
    *_avx512vnni.o) says "$file" 'vpdpwssd' || complain "$file: no vpdpwssd" ;;
    *) says "$file" 'vpdp' && complain "$file: AVX-512 VNNI" ;;
    esac
done
exit $status
