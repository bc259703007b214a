#!/bin/sh
# The lints of sources, objects and man pages, on this tree and on trees with known faults.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

sources() {
    run "$PYTHON" "$SRC/tests/lint/sources.py" "$1"
}
pages() {
    run "$PYTHON" "$SRC/tests/lint/man_pages.py" "$@"
}

sources "$SRC"
stdout_is '' 'this tree has no findings'
status_is 0 '  and passes'
pages "$BIN" "$SRC"/man/*.1
stdout_is '' 'man pages agree with option tables'
status_is 0 '  and pass'

if command -v groff >/dev/null; then
    for page in "$SRC"/man/*.[157]; do
        run groff -t -man -Tutf8 -ww -rLL=78n -rLT=78n "$page"
        is "$status $(cat "$stderr")" '0 ' "${page##*/} fits 80 columns"
    done
else
    pass 'man pages at 80 columns # SKIP no groff'
fi

# A small correct tree, then one fault at a time.
spdx='/* SPDX-License-Identifier: MIT */'
mkdir -p good/common/base good/common/seq good/common/chunk good/common/net good/tools
echo "$spdx" >good/common/base/low.h
printf '%s\n' "$spdx" '#include "common/base/low.h"' '#include <zlib.h>' '#include <stdio.h>' \
    'int f(void) { return snprintf(0, 0, "exit(1); %s", "printf(x)"); } // atoi("1")' >good/common/base/low.c
printf '%s\n' "$spdx" '#include "common/base/low.h"' '#include <sys/stat.h>' >good/common/seq/mid.c
echo "$spdx" >good/common/chunk/store.h
printf '%s\n' "$spdx" '#include "common/seq/mid.h"' '#include "common/base/low.h"' \
    'int main(void) { return printf("x"); }' >good/tools/tool.c
printf '%s\n' "$spdx" '#include <hdf5.h>' >good/common/chunk/room_private.h
printf '%s\n' "$spdx" '#include "common/chunk/room_private.h"' | tee good/common/chunk/room.c >good/common/chunk/room_two.c
echo "$spdx" >good/common/seq/mid.h
printf '%s\n' "$spdx" '#include "common/seq/mid.h"' '#include "common/base/low.h"' >good/common/seq/mid.c
sources good
stdout_is '' 'a small tree without a fault'

fault() { # FILE LINE REGEX NAME: adds LINE to FILE
    rm -rf bad && cp -r good bad
    mkdir -p "bad/$(dirname "$1")"
    [ -e "bad/$1" ] || echo "$spdx" >"bad/$1"
    printf '%s\n' "$2" >>"bad/$1"
    sources bad
    if [ "$status" -ne 1 ]; then
        fail "$4"
        diag "status $status"
    else
        is "$(grep -cE -e "$3" "$stdout") $(wc -l <"$stdout")" '1 1' "$4" || diag "$(cat "$stdout")"
    fi
}
fault common/base/up.c '#include "common/seq/mid.h"' 'up\.c:2: .*base must not include seq' 'an upward include'
fault common/net/net.c '#include "common/chunk/store.h"' 'net must not include chunk' 'an include of a layer that is not allowed'
fault common/chunk/st.c '#include "common/net/net.h"' 'is not a file' 'a missing header'
fault common/base/own.c '#include "low.h"' 'is not a file; write paths from the top' 'a relative include'
fault common/seq/z.c '#include <zlib.h>' 'zlib\.h> is already included by common/base/low\.c' 'a second user of a third-party header'
fault common/seq/z.h '#include <lzf.h>' '<lzf\.h> in a header' 'a third-party header in a header'
fault common/chunk/other.c '#include "common/chunk/room_private.h"' 'is only for common/chunk/room\*\.c' 'a private header of another topic'
fault common/chunk/roomy.c '#include "common/chunk/room_private.h"' 'is only for common/chunk/room\*\.c' '  or of one with a longer name'
fault common/chunk/room.c '#include <hdf5.h>' '<hdf5\.h> is already included by' 'a second user of a third-party header in a private one'
fault tools/z.c '#include <zlib.h>' 'is only for the library' 'a third-party header in a tool'
fault tools/z.c '#include "tools/tool.c"' 'is not a header of the library' 'a tool that includes a tool'
mkdir -p good/tools/tool && echo "$spdx" >good/tools/tool/part.h
fault tools/z.c '#include "tools/tool/part.h"' 'is not a header of the library' 'a tool that includes a part of another tool'
printf '%s\n' '#include "tools/tool/part.h"' >>good/tools/tool.c
sources good
stdout_is '' 'a tool may include its own parts'
echo "$spdx" >good/common/seq/one.h
printf '%s\n' "$spdx" '#include "common/seq/one.h"' >good/common/seq/two.h
printf '%s\n' "$spdx" '#include "common/seq/two.h"' >good/common/seq/three.h
fault common/seq/one_private.h '#include "common/seq/three.h"' \
    'include circle of common/seq/one, common/seq/three, common/seq/two$' 'modules that include each other'
fault common/chunk/store.c '#include <stdio.h>' 'first include is not "common/chunk/store\.h"' 'another header before its own'
fault common/misc/x.c '' 'common/misc/ is not a layer' 'an unknown layer'
fault common/net/low.c '' 'the name is taken by common/base/low\.c' 'a duplicate file name'
fault common/base/a.c 'int x(void) { return atoi("1"); }' 'atoi\(\) is banned' 'a banned call'
fault tools/a.c 'int x(void) { return system("ls"); }' 'system\(\) is banned' 'a shell in a tool'
fault common/base/a.c 'void x(void) { exit (1); }' 'exit\(\) is banned' 'an exit in the library'
fault common/base/a.c 'void x(void) { _exit(1); }' '_exit\(\) is banned' 'an _exit in the library'
fault common/base/a.c 'void x(void) { if (fork()) atol(""); else _exit(1); }' 'atol\(\) is banned' 'an _exit in a child is allowed'
fault common/base/a.c 'void x(void) { fputs("", stderr); }' 'stderr is for' 'a message of the library'
fault common/base/a.c "/* TO""DO: later */" 'left' 'a note to oneself'
rm -rf bad && cp -r good bad && echo 'int x;' >bad/common/base/bare.c
sources bad
stdout_like 'bare\.c:1: no line' 'no licence line'
seq 801 | sed 's/.*/int x&;/' >>bad/common/base/bare.c
sources bad
stdout_like 'bare\.c:801: longer than 800 lines' 'a file that is too long'

# Correct objects, then one fault at a time.
objects() {
    run "$SRC/tests/lint/instructions.sh" objects
}
object() { # NAME CODE
    printf '%s\n' "$2" | as -o "objects/$1" -
}
found_one() { # REGEX NAME
    objects
    is "$status $(grep -cE -e "$1" "$stdout") $(wc -l <"$stdout")" '1 1 1' "$2" || diag "$(cat "$stdout")"
}
fault_in() { # OBJECT CODE REGEX NAME: adds the code to the object
    mv "objects/$1" right.o
    printf '%s\n' "$2" | as -o wrong.o - && ld -r -o "objects/$1" right.o wrong.o
    found_one "$3" "$4"
    mv right.o "objects/$1"
}
lacking() { # OBJECT CODE REGEX NAME: the object has only this code
    mv "objects/$1" right.o
    object "$1" "$2"
    found_one "$3" "$4"
    mv right.o "objects/$1"
}
instruction_checks() {
    tiles='ldtilecfg (%rax); tilezero %tmm0; tileloadd (%rax,%rcx),%tmm1; tileloaddt1 (%rax,%rcx),%tmm2
        tdpbf16ps %tmm2,%tmm1,%tmm0
        tilestored %tmm0,(%rax,%rcx); tilerelease'
    mkdir objects
    objects
    stdout_is 'no object files in objects' 'no objects'
    object plain.o 'addps %xmm0,%xmm1; rep bsf %eax,%ecx; jmp plain; data16 nop; nopw 8(%rax,%rax); plain: ret; xchg %ax,%ax'
    object alphabet_avx2.o 'vaddpd %ymm0,%ymm1,%ymm2'
    object some_avx2.o 'vfmadd231ps %ymm0,%ymm1,%ymm2; call some'
    object some_avx512.o 'vfmadd231ps %zmm0,%zmm1,%zmm2{%k1}; vpmovm2b %k1,%ymm0; vorps %zmm0,%zmm0,%zmm0'
    object some_avx512bf16.o 'vdpbf16ps %zmm0,%zmm1,%zmm2'
    object some_avx512vnni.o 'vpdpwssd %zmm0,%zmm1,%zmm2'
    object gemm_amx.o "vmovups (%rax),%zmm0; $tiles"
    objects
    stdout_is '' 'correct objects'
    status_is 0 '  pass'
    fault_in plain.o 'vaddps %ymm0,%ymm1,%ymm2' "not of x86-64: .*vaddps" 'AVX in a plain file'
    fault_in plain.o 'vaddss %xmm0,%xmm1,%xmm2' "not of x86-64: .*vaddss" 'scalar AVX'
    fault_in plain.o 'pshufb %xmm0,%xmm1' "not of x86-64: .*pshufb" 'SSSE3'
    fault_in plain.o 'popcnt %eax,%ecx' "not of x86-64: .*popcnt" 'POPCNT'
    fault_in plain.o 'shlx %eax,%ecx,%edx' "not of x86-64: .*shlx" 'BMI2'
    fault_in plain.o 'vmovups %zmm17,(%rax)' "not of x86-64: .*vmovups" 'AVX-512'
    fault_in plain.o 'tilerelease' "not of x86-64: .*tilerelease" 'AMX'
    fault_in alphabet_avx2.o 'vfmadd231ps %ymm0,%ymm1,%ymm2' 'alphabet_avx2.o: not of x86-64\+avx2: .*vfmadd231ps' 'FMA in AVX2'
    fault_in some_avx2.o 'vaddps %ymm0,%ymm1,%ymm2{%k1}' 'avx2\+fma: .*k1' 'a mask in AVX2'
    fault_in some_avx2.o 'vaddps %ymm0,%ymm1,%ymm17' 'avx2\+fma: .*ymm17' 'an upper register in AVX2'
    fault_in some_avx2.o 'shlx %eax,%ecx,%edx' 'avx2\+fma: .*shlx' 'BMI2 in AVX2 and FMA'
    fault_in some_avx512.o 'vcvtneps2bf16 %zmm0,%ymm1' 'vl: .*vcvtneps2bf16' 'BF16 in AVX-512'
    fault_in some_avx512.o 'vpdpbusd %ymm0,%ymm1,%ymm2' 'vl: .*vpdpbusd' 'VNNI in AVX-512'
    fault_in some_avx512.o 'vpermb %zmm0,%zmm1,%zmm2' 'vl: .*vpermb' 'VBMI in AVX-512'
    fault_in some_avx512bf16.o 'vpdpwssd %zmm0,%zmm1,%zmm2' 'bf16: .*vpdpwssd' 'VNNI in BF16'
    fault_in some_avx512vnni.o 'vdpbf16ps %zmm0,%zmm1,%zmm2' 'vnni: .*vdpbf16ps' 'BF16 in VNNI'
    fault_in gemm_amx.o 'tdpbssd %tmm2,%tmm1,%tmm0' 'amx_bf16: .*tdpbssd' 'integer tiles'
    lacking some_avx2.o 'vaddps %xmm0,%xmm1,%xmm2' 'some_avx2.o: no %ymm' 'AVX2 without its registers'
    lacking some_avx512.o 'vaddps %ymm0,%ymm1,%ymm2' 'some_avx512.o: no %zmm' 'AVX-512 without its registers'
    lacking some_avx512bf16.o 'vaddps %zmm0,%zmm1,%zmm2' 'bf16.o: no vdpbf16ps' 'BF16 without its instruction'
    lacking some_avx512vnni.o 'vaddps %zmm0,%zmm1,%zmm2' 'vnni.o: no vpdpwssd' 'VNNI without its instruction'
    lacking gemm_amx.o "vmovups (%rax),%zmm0; $(echo "$tiles" | sed /tdpbf16ps/d)" 'amx.o: no tdpbf16ps' 'AMX without its product'
}
case $(as --version | tail -n 1) in
*x86_64*) instruction_checks ;;
*) diag 'the assembler is not for x86-64: the checks of instructions are skipped' ;;
esac

# A program with a correct page, then one fault at a time.
mkdir bin
cp "$TESTLIB/toy_tool" bin/ 2>/dev/null
cat >toy_tool.1 <<'END'
.TH TOY_TOOL 1 2000-01-01 toys toys
.SH NAME
toy_tool \- does little
.SH OPTIONS
.TP
\fB\-a\fR, \fB\-\-act\fR \fIACT\fR
.BR print ,
.BR write ,
fail, usage, no\-memory, wait, flood, warn or create (default: print)
END
toy_tool --help-machine | awk -F '\t' '$1 != "act" {
    gsub(/-/, "\\-"); letter = $2 == "\\-" ? "" : "\\fB\\-" $2 "\\fR, "
    value = $4 == "\\-" ? "" : $4 ~ /^\[/ ? $4 : " \\fI" $4 "\\fR"
    printf ".TP\n%s\\fB\\-\\-%s\\fR%s\n%s%s\n", letter, $1, value, $8, $5 == "\\-" ? "" : " (default: " $5 ")" }' >>toy_tool.1
sed -i 's/\\fIACT\\fR/\\fIprint|write|fail|usage|no\\-memory|wait|flood|warn|create\\fR/' toy_tool.1
pages bin toy_tool.1
stdout_is '' 'a correct page'
page=toy_tool.1
page_fault() { # SED-COMMAND N REGEX NAME: N findings in the changed page, one of them matches
    sed "$1" $page >"$tap_dir/$page"
    pages bin "$tap_dir/$page"
    is "$status $(grep -cE -e "$3" "$stdout") $(wc -l <"$stdout")" "1 1 $2" "$4" || diag "$(cat "$stdout")"
}
page_fault 's/does little/does a lot/' 1 'NAME is not' 'another summary'
page_fault 's/-number/-nummer/' 2 '--nummer is not an option' 'an option that the program lacks'
page_fault 's/-number/-nummer/' 2 '--number is missing' 'an option that the page lacks'
page_fault 's/(default: 7)/(default: 8)/' 1 "--number: states the default \['8'\], expected \['7'\]" 'another default'
page_fault 's/(default: 7)//' 1 '--number: states the default \[\]' 'no default'
page_fault 's/replace an existing output/& (default: yes)/' 1 '--force: states the default' 'a wrong default'
page_fault 's/process may use)/& (default: 2)/' 1 '--threads: states the default' 'two defaults in words'
page_fault 's/\\fB\\-n\\fR, //' 1 '--number: the short name -n is missing' 'no short name'
page_fault 's/^\\fB\\-\\-size/\\fB\\-s\\fR, &/' 1 '--size: has no short name' 'a wrong short name'
page_fault 's/flood/food/g' 2 '--act: the choice flood is missing' 'a missing choice'
page_fault 's/\\fISIZE\\fR/\\fINUMBER\\fR/' 1 '--size: the value SIZE' 'another value'
rm toy_tool.1
pages bin
stdout_is 'toy_tool: no man page' 'no page'

# A program with subcommands and its page.
rm bin/toy_tool
cp "$TESTLIB/toy_box" bin/
cat >toy_box.1 <<'END'
.TH TOY_BOX 1 2000-01-01 toys toys
.SH NAME
toy_box \- keeps toys
.SH SYNOPSIS
.B toy_box spin
.RI [ options ]
.br
.B toy_box rest
.I TOY
.SH SPIN
.TP
\fB\-n\fR, \fB\-\-times\fR \fIN\fR
how often (default: 3)
.TP
\fB\-\-log\fR \fIFILE\fR
another output
.TP
\fB\-o\fR, \fB\-\-output\fR \fIPATH\fR
where to turn
.SH REST
does nothing
.SH COMMON OPTIONS
END
toy_box spin --help-machine | awk -F '\t' '$1 != "times" && $1 != "log" && $1 != "output" {
    gsub(/-/, "\\-"); letter = $2 == "\\-" ? "" : "\\fB\\-" $2 "\\fR, "
    value = $4 == "\\-" ? "" : " \\fI" $4 "\\fR"
    no = $1 ~ /threads|progress|tmpdir/ ? " (not in rest)" : ""
    printf ".TP\n%s\\fB\\-\\-%s\\fR%s\n%s%s%s\n", letter, $1, value, $8, $5 == "\\-" ? "" : " (default: " $5 ")", no }' >>toy_box.1
pages bin toy_box.1
stdout_is '' 'a correct page of subcommands'
page=toy_box.1
page_fault 's/keeps/loses/' 1 'NAME is not' 'another summary of the program'
page_fault 's/toy_box rest/toy_box wait/' 1 'SYNOPSIS lacks rest' 'a subcommand that SYNOPSIS lacks'
page_fault 's/SH REST/SH RESTED/' 1 'no section REST' 'a subcommand without a section'
page_fault 's/-times/-turns/' 2 'spin: --turns is not an option' 'an option that a subcommand lacks'
page_fault 's/-times/-turns/' 2 'spin: --times is missing' 'an option that its section lacks'
page_fault 's/(default: 3)//' 1 'spin: --times: states the default' 'no default of an option'
page_fault 's/-quiet/-quick/' 3 'rest: --quiet is missing' 'a common option that the page lacks'
page_fault '0,/ (not in rest)/s///' 1 '--threads: states that \[\] lack it' 'a common option that a subcommand lacks, not stated'
page_fault 's/only warnings/& (not in spin)/' 1 "--quiet: states that \['spin'\] lack it" '  or stated of one that has it'

# ---------------------------------------------------------------- two builds

# compare.py of `make golden`: what two builds wrote for each command.
if "$PYTHON" -c 'import h5py' 2>/dev/null; then
    for build in old new; do
        for name in same "in_$build" fails lacking; do
            mkdir -p "$build/$name"
            echo "$name" >"$build/$name/stdout"
            echo "tool: error: no $name" >"$build/$name/stderr"
            echo 0 >"$build/$name/status"
        done
        mv "$build/in_$build" "$build/differs"
        echo 1 >"$build/fails/status"
    done
    echo 2 >old/lacking/status
    golden() { # NAME...
        run sh -c 'printf "%s\n" "$@" end | "$0" "$SRC/tests/golden/compare.py" old new "covpredict 1" "covpredict 2"' "$PYTHON" "$@"
    }
    golden same lacking
    is "$status $(tail -n 1 "$stdout")" '0 golden: equal (1 of 2 not in OLD)' 'golden: equal, or new'
    golden same differs fails
    is "$status $(tail -n 1 "$stdout")" '1 golden: 1 of 3 differ, 1 of 3 fail in both' 'golden: what differs, or fails in both'
    stdout_like '^fails +FAILS in both \(status 1\): tool: error: no fails$' '  the first line of the message'
    stdout_like "^differs +DIFFERS: stderr: line 1: '.* in_old' and '.* in_new'" '  the first difference'
else
    pass 'golden # SKIP no h5py'
fi
done_testing
