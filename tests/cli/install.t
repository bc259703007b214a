#!/bin/sh
# What `make install` puts in place works from there: tools, library, headers, pkg-config file, man pages.
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
    like "$(ldd "$tool")" "libcov\\.so\\.[0-9]+ => $dest/" '  with the library installed beside it'
    ok '  and has its man page' test -s "$root/share/man/man1/$name.1"
done
for page in "$SRC"/man/*.5; do
    ok "the page $(basename "$page")" cmp "$page" "$root/share/man/man5/$(basename "$page")"
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

done_testing
