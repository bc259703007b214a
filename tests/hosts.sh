#!/bin/sh
# hosts.sh TEST...: runs command-line tests as on other machines: with other awks, shells, locales, users and CPUs, and in
# a directory with an unusual name. Needs what `make check-cli` has built.
# SPDX-License-Identifier: MIT
set -u
tests=$*
failed=''
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
copy=$directory/'Grüße an alle'

awk_is() { # PROGRAM: prints a directory for PATH where awk is that program
    program=$(command -v "$1") && mkdir -p "$directory/$1" && ln -sf "$program" "$directory/$1/awk" && echo "$directory/$1"
}
settings_of() { # LOCALE: prints settings of variables
    mkdir -p "$directory/locales" && localedef -i "${1%.*}" -f UTF-8 "$directory/locales/$1" 2>/dev/null &&
        echo "LOCPATH=$directory/locales LC_ALL=$1"
}
try() { # NAME COMMAND...: runs make by the command
    name=$1
    shift
    echo "== $name"
    "$@" make --no-print-directory check-cli CLI_TESTS="$tests" PROVE_FLAGS=-j2 || failed="$failed; $name"
}

name='gawk, German, umask 077, TMPDIR, no HOME, an ordinary user, a directory with blanks'
if awk=$(awk_is gawk) && locale=$(settings_of de_DE.UTF-8); then
    mkdir -p "$copy/build" "$directory/tmp"
    # Without .git, the version differs, so that everything is linked again.
    cp -a Makefile mk README.md NEWS.md LICENSE CONTRIBUTING.md .ci bin common containers lib man tests tools workflows "$copy"
    cp -a build/default "$copy/build"
    user=''
    [ "$(id -u)" -ne 0 ] || user='setpriv --reuid=65534 --regid=65534 --clear-groups'
    [ -z "$user" ] || chown -R 65534:65534 "$directory"
    before=$PWD mask=$(umask)
    cd "$copy" && umask 077
    # shellcheck disable=SC2086 # lists of words
    try "$name" $user env -u HOME PATH="$awk:$PATH" TMPDIR="$directory/tmp" $locale
    cd "$before" && umask "$mask"
else
    echo "== SKIP, no gawk or locales: $name"
fi
name='busybox, bash, Turkish, no terminal, threads of OpenBLAS and OpenMP'
if awk=$(awk_is busybox) && locale=$(settings_of tr_TR.UTF-8) && command -v bash >/dev/null; then
    # shellcheck disable=SC2086 # a list of words
    try "$name" setsid -w nohup env PATH="$awk:$PATH" TEST_SHELL='bash --posix' OPENBLAS_NUM_THREADS=3 OMP_NUM_THREADS=3 $locale </dev/null
else
    echo "== SKIP, no busybox, bash or locales: $name"
fi
name='mawk, one CPU'
if awk=$(awk_is mawk); then
    try "$name" taskset -c "$(taskset -cp $$ | sed 's/.*[:,-] *//')" env PATH="$awk:$PATH"
else
    echo "== SKIP, no mawk: $name"
fi
[ -z "$failed" ] || { echo "failed: ${failed#; }" && exit 1; }
