#!/bin/sh
# build.sh - what the first stage of the containers does, as root in a bare Debian 12: builds covtools from the
# sources in the current folder.
#
#   build.sh DESTDIR [USER]
#
# DESTDIR gets what is to be installed. With USER the sources are that user's, who builds, and makes what $TESTS
# says: check, unless told otherwise.
# Dockerfile, covtools.def and check.sh run it.
# SPDX-License-Identifier: MIT
set -eu
dest=$1
user=${2:-}
as_user() {
    if [ -n "$user" ]; then
        setpriv --reuid="$user" --regid="$user" --init-groups env HOME=/tmp "$@"
    else
        "$@"
    fi
}

export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends make
make deps
as_user make -j"$(nproc)"
# shellcheck disable=SC2086 # words for make
[ -z "$user" ] || as_user make PROVE_FLAGS="-j$(nproc)" ${TESTS:-check}
make DESTDIR="$dest" prefix=/usr/local install-strip
