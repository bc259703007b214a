#!/bin/sh
# `make install` installs working tools, plugins, man pages, completions, documents and workflows; `make dist` is
# reproducible.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

[ -z "${SAN:-}" ] || skip_all 'a sanitized library is not for installing'
# $MAKEFLAGS is that of the make that runs the tests, so nothing is rebuilt.
dest=$work/dest
root=$dest/usr/local
ok 'make install' make -s -C "$SRC" DESTDIR="$dest" prefix=/usr/local install
find "$dest" -type f >installed
unlike "$(cat installed)" '\.(o|h|pc|a)$' 'no object files, headers or pkg-config files'
is "$(cd "$root/lib" && find . -name 'libcov*')" "$(cd "$root/lib" && echo ./libcov.so.[0-9])" 'of the library, only what the tools load'

for tool in "$root"/bin/*; do
    name=${tool##*/}
    run_ok "$name runs from where it is installed" "$tool" --version
    stdout_like "^$name [0-9]" '  and prints its version'
    is "$(sed -n 's/^\(htslib\|HDF5\|zlib\|libdeflate\|LZ4\|Zstandard\|Blosc\) [0-9.]*$/\1/p' "$stdout" | xargs)" \
        'htslib HDF5 zlib libdeflate LZ4 Zstandard Blosc' '  and those of its libraries'
    like "$(ldd "$tool")" "libcov\\.so\\.[0-9]+ => $dest/" '  with the installed library'
    ok '  and has its man page' test -s "$root/share/man/man1/$name.1"
done
# Hardening. A tool may have no function that needs the last two, so they are checked in libcov.
if [ -n "${HARDENED:-}" ]; then
    for file in "$root"/bin/* "$root"/lib/libcov.so.? "$root"/lib/covtools/*.so; do
        [ -e "$file" ] || continue
        like "$(readelf -dW "$file")" 'BIND_NOW|FLAGS_1.*NOW' "${file##*/} binds its symbols at the start"
        like "$(readelf -lW "$file")" GNU_RELRO '  and then makes them read-only'
        like "$(readelf -hW "$file")" 'Type: *DYN' '  and is independent of its position'
    done
    readelf --dyn-syms -W "$root"/lib/libcov.so.? >symbols
    like "$(cat symbols)" __stack_chk_fail 'libcov protects its stack'
    like "$(cat symbols)" '__(v?snprintf|memcpy|read|memset)_chk' '  and checks the sizes of buffers'
else
    pass 'hardening # SKIP built without optimisation or for coverage'
fi
run "$root/bin/benchmark" model --length 808 --batch-size 1 --repeats 1 --seconds 0.001 -@ 1 -o "$work/speed/"
stdout_like '^model/max_relative_error/precision=exact	' "benchmark finds the demo's network, whose errors it measures"
for page in "$SRC"/man/*.[57]; do
    ok "the page $(basename "$page")" cmp "$page" "$root/share/man/man${page##*.}/$(basename "$page")"
done

# Completions: what bash offers. zsh and fish, if installed, only read their files.
share=$root/share
offers() { # NAME EXPECTED WORD...: completes the last word
    name=$1 wanted=$2
    shift 2
    # shellcheck disable=SC2016 # bash is to expand it
    is "$(bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1"; echo "${COMPREPLY[*]}"' \
        - "$share/bash-completion/completions/$1" "$@")" "$wanted" "$name"
}
offers 'bash completes an option' '--precision' covpredict --prec
offers '  and its values' 'bf16x3 balanced bf16' covpredict --precision b
offers '  also after =' 'bf16x3 bf16' covpredict --precision = bf
offers '  also of a common option' 'bar' covpredict -m x --progress ba
offers '  and leaves files to the shell' '' covpredict -m x
offers '  knows subcommands' 'subset split save' h5chunk s
offers '  and the options of each' '--val-fraction --val-names' h5chunk split --val
offers '  and only of that' '' h5chunk merge --val
for shell in bash zsh fish; do
    command -v $shell >/dev/null || continue
    case $shell in
    bash) set -- "$share"/bash-completion/completions/* ;;
    zsh) set -- "$share"/zsh/site-functions/* ;;
    fish) set -- "$share"/fish/vendor_completions.d/* ;;
    esac
    for file; do
        ok "$shell reads ${file##*/}" $shell -n "$file"
    done
done

# The workflows, as installed, on a small sheet.
is "$(find "$share/covtools/workflows" -name '*.t' -o -path '*/tests/*' -o -name check.sh -o -path '*/.*')" '' 'workflows without their tests'
for file in snakemake/Snakefile snakemake/README.md nextflow/main.nf nextflow/nextflow.config; do
    ok "$file" cmp "$SRC/workflows/$file" "$share/covtools/workflows/$file"
done
if command -v snakemake >/dev/null; then
    printf '>chr1\nACGTTGCA\n' >x.fa
    : >x.bam
    : >x.ckpt
    printf '%s\n' sample,fasta,dataset,bams,model,checkpoint x,x.fa,atacseq,x.bam,m,x.ckpt >samples.csv
    HOME=$tap_dir snakemake -s "$share/covtools/workflows/snakemake/Snakefile" -n -c1 >plan 2>&1
    is "$?" 0 'the installed Snakefile plans all steps' || diag "$(cat plan)"
    is "$(grep -o -E '^(bam2h5|cov2bigwig_compare|covpredict|covprofile_correlate|fasta2h5|multiqc) +1( |$)' plan | tr -d ' ' | sort -u | grep -c .)" \
        6 '  once each'
fi

# The pages as HTML.
run make -s -C "$SRC" HTML="$work/html" html
if [ -e html/index.html ]; then
    is "$(find html -name '*.[157].html' | wc -l)" "$(find "$SRC/man" -name '*.[157]' | wc -l)" 'make html: all pages'
    ok '  which link to each other' grep -q 'href="covpredict.1.html"' html/index.html
else
    stdout_like '^html: SKIP' 'make html'
fi

ok 'make uninstall' make -s -C "$SRC" DESTDIR="$dest" prefix=/usr/local uninstall
is "$(find "$dest" ! -type d)" '' '  leaves no file'

# A tarball has no git history.
if [ -e "$SRC/.git" ]; then
    for n in 1 2; do
        make -s -C "$SRC" DIST="$work/$n.tar.gz" dist || break
    done
    ok 'make dist packs the same bytes each time' cmp 1.tar.gz 2.tar.gz
    like "$(tar -tzf 1.tar.gz)" '^covtools-[^/]*/common/cli/opt\.c$' '  below a directory with the version'
fi

done_testing
