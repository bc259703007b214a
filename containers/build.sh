#!/bin/sh
# build.sh - first stage of the containers, as root in a bare Debian 12: builds covtools from the sources in the current
# directory.
#
#   build.sh DESTDIR [USER]
#
# Installs to DESTDIR. With USER, that user, who owns the sources, builds and runs `make $TESTS` (default: check), with
# $PROVE_FLAGS (default: a job per CPU).
# With CUDA=1 in the environment and nvcc in /usr/local/cuda, builds the GPU plugin, too.
# Used by Dockerfile, covtools.def and check.sh.
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
[ -z "${CUDA:-}" ] || apt-get install -y --no-install-recommends g++ # nvcc runs it
as_user make -j"$(nproc)" CUDA="${CUDA:-}"
# shellcheck disable=SC2086 # words for make
[ -z "$user" ] || as_user make PROVE_FLAGS="${PROVE_FLAGS:--j$(nproc)}" ${TESTS:-check}
make DESTDIR="$dest" prefix=/usr/local CUDA="${CUDA:-}" install-strip
