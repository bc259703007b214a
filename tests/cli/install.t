#!/bin/sh
# What `make install` puts in place works from there: tools, library, headers, pkg-config file, man pages,
# completions; and what `make dist` packs is the same each time.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

[ -z "${SAN:-}" ] || skip_all 'a sanitized library is not for installing'
# $MAKEFLAGS is that of the make that runs the tests: nothing is built anew.
dest=$work/dest
root=$dest/usr/local
ok 'make install' make -s -C "$SRC" DESTDIR="$dest" prefix=/usr/local install
find "$dest" -type f >installed
unlike "$(cat installed)" '/bin/[^/]*\.o$' 'no object files'

for tool in "$root"/bin/*; do
    name=${tool##*/}
    run "$tool" --version
    status_is 0 "$name runs from where it is installed"
    stdout_like "^$name [0-9]" '  and says its version'
    is "$(sed -n 's/^\(htslib\|HDF5\|zlib\|libdeflate\|LZ4\|Zstandard\|Blosc\) [0-9.]*$/\1/p' "$stdout" | xargs)" \
        'htslib HDF5 zlib libdeflate LZ4 Zstandard Blosc' '  and those of libraries'
    like "$(ldd "$tool")" "libcov\\.so\\.[0-9]+ => $dest/" '  with the library installed beside it'
    ok '  and has its man page' test -s "$root/share/man/man1/$name.1"
done
for page in "$SRC"/man/*.[57]; do
    ok "the page $(basename "$page")" cmp "$page" "$root/share/man/man${page##*.}/$(basename "$page")"
done

# Completions: what bash offers; zsh and fish read theirs, where they are.
share=$root/share
offers() { # NAME WANTED WORD...: the last word is completed
    name=$1 wanted=$2
    shift 2
    # shellcheck disable=SC2016 # bash is to expand it
    is "$(bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1"; echo "${COMPREPLY[*]}"' \
        - "$share/bash-completion/completions/$1" "$@")" "$wanted" "$name"
}
offers 'bash completes an option' '--precision' covpredict --prec
offers '  and its values' 'bf16x3 balanced bf16' covpredict --precision b
offers '  behind = too' 'bf16x3 bf16' covpredict --precision = bf
offers '  also of an option of all tools' 'bar' covpredict -m x --progress ba
offers '  and leaves files to the shell' '' covpredict -m x
offers '  knows subcommands' 'subset split save' h5chunk s
offers '  and the options of each' '--val-fraction --val-names' h5chunk split --val
offers '  and only of it' '' h5chunk merge --val
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

cat >try.c <<'END'
#include <covtools/cov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    struct cov_err e = COV_ERR_INIT;
    char *stem = cov_path_stem("folder/x.1.fa.gz", &e);
    if (!stem || strcmp(stem, "x.1") != 0)
        return 1;
    free(stem);
    return puts(cov_version()) < 0;
}
END
PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
# shellcheck disable=SC2046,SC2086 # flags are words
ok 'a program of another project is compiled with pkg-config' \
    ${CC:-cc} -Wall -Werror -o try try.c $(pkg-config --cflags --libs libcov)
LD_LIBRARY_PATH=$root/lib run ./try
status_is 0 '  and runs'
is "$(cat "$stdout")" "$(pkg-config --modversion libcov)" '  with the version that pkg-config names'

ok 'make uninstall' make -s -C "$SRC" DESTDIR="$dest" prefix=/usr/local uninstall
is "$(find "$dest" ! -type d)" '' '  leaves no file'

# A tarball has no history to pack.
if [ -e "$SRC/.git" ]; then
    for n in 1 2; do
        make -s -C "$SRC" DIST="$work/$n.tar.gz" dist || break
    done
    ok 'make dist packs the same bytes each time' cmp 1.tar.gz 2.tar.gz
    like "$(tar -tzf 1.tar.gz)" '^covtools-[^/]*/common/cli/opt\.c$' '  below a folder with the version'
fi

done_testing
