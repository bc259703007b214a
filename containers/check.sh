#!/bin/sh
# check.sh - the steps of the containers without a container engine, in debootstrap roots: builds and tests a tarball of
# `make dist` in a bare Debian 12, then runs the tutorial of covtools(7) with the installed files in another one, as an
# unprivileged user on a read-only root file system.
#
#   check.sh TARBALL DIRECTORY          as root; needs 3 GB in DIRECTORY, which keeps the bare system for the next run
#
# $TESTS: goals of make instead of check. $PROVE_FLAGS: flags of prove instead of a job per CPU. $MIRROR: a Debian mirror
# instead of deb.debian.org. $SUITE: another release of Debian than bookworm, such as trixie: ends after building and
# testing, since the containers are of Debian 12.
#
# SPDX-License-Identifier: MIT
set -eu

if [ $# -ne 2 ] || [ "$(id -u)" -ne 0 ]; then
    echo 'usage, as root: check.sh TARBALL DIRECTORY' >&2
    exit 2
fi
tarball=$(readlink -f "$1")
mkdir -p "$2"
directory=$(readlink -f "$2")
mirror=${MIRROR:-http://deb.debian.org/debian}
suite=${SUITE:-bookworm}
base=$directory/base-$suite

# Mounts vanish with the namespace of this process.
if [ -z "${COVTOOLS_CHECK_NAMESPACE:-}" ]; then
    COVTOOLS_CHECK_NAMESPACE=1 exec unshare --mount --propagation private -- "$0" "$tarball" "$directory"
fi

say() {
    printf '== %s\n' "$*"
}
fresh() { # NAME: a bare system
    rm -rf --one-file-system "${directory:?}/$1"
    cp -a -x "$base" "$directory/$1"
    cp /etc/resolv.conf "$directory/$1/etc/resolv.conf"
    mount -t proc proc "$directory/$1/proc"
    mount --rbind /dev "$directory/$1/dev"
}
inside() { # NAME COMMAND...
    root=$directory/$1
    shift
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LC_ALL=C \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} ${TESTS:+TESTS="$TESTS"} \
        ${PROVE_FLAGS:+PROVE_FLAGS="$PROVE_FLAGS"} chroot "$root" "$@"
}

if ! [ -e "$base/.complete" ]; then
    say "a bare Debian, $suite"
    rm -rf --one-file-system "$base"
    debootstrap --variant=minbase "$suite" "$base" "$mirror"
    : >"$base/.complete"
fi

say "build, and make ${TESTS:-check}"
fresh build
inside build useradd --create-home builder
mkdir "$directory/build/src"
tar -xzf "$tarball" -C "$directory/build/src" --strip-components=1
inside build chown -R builder:builder /src
inside build sh -c 'cd /src && sh containers/build.sh /out builder && setpriv --reuid=builder --regid=builder --init-groups make samples'
if [ "$suite" != bookworm ]; then
    say 'passed'
    exit
fi

say 'runtime system'
fresh run
cp "$directory/build/src/containers/runtime.sh" "$directory/run/tmp/"
inside run sh /tmp/runtime.sh
cp -a "$directory/build/out/." "$directory/run/"
inside run ldconfig

say 'the tutorial, as an unprivileged user, on a read-only root file system'
mkdir "$directory/run/data"
cp -a "$directory/build/src/build/samples/." "$directory/run/data/"
sed -n '/^\.SH TUTORIAL/,/^\.SH ENVIRONMENT/p' "$directory/run/usr/local/share/man/man7/covtools.7" |
    sed -n '/^\.EX/,/^\.EE/p' | sed '/^\.E[XE]/d; s/\\-/-/g' >"$directory/run/data/tutorial.sh"
inside run chown -R covtools:covtools /data
mount --bind "$directory/run" "$directory/run"
mount -o remount,bind,ro "$directory/run"
mount --bind "$directory/run/data" "$directory/run/data"
mount -o remount,bind,rw "$directory/run/data"
mount -t proc proc "$directory/run/proc"
mount --rbind /dev "$directory/run/dev"
if inside run touch /written 2>/dev/null; then
    echo 'check.sh: error: the root file system is writable' >&2
    exit 1
fi
# shellcheck disable=SC2016 # expanded by the inner shell
inside run setpriv --reuid=covtools --regid=covtools --init-groups bash -c \
    'set -eux; cd /data; ps --version; for tool in fasta2h5 bam2h5 covtrain covpredict cov2bigwig covpeaks covprofile coveffect h5chunk benchmark; do $tool --version | head -n 1; done; . ./tutorial.sh'
for file in weed.bw weed.png weed.tsv weed_merged.h5 moss.bw; do
    [ -s "$directory/run/data/$file" ] || {
        echo "check.sh: error: the tutorial did not make $file" >&2
        exit 1
    }
done
say 'passed'
