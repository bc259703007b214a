#!/bin/sh
# build.sh - what the first stage of the containers does, as root in a bare Debian 12: builds covtools from the
# sources in the current folder.
#
#   build.sh DESTDIR [USER]
#
# DESTDIR gets what is to be installed. With USER the sources are that user's, who builds, and makes what $TESTS
# says: check, unless told otherwise. With CUDA=1 in the environment, and nvcc in /usr/local/cuda, the plugin for GPUs too.
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
[ -z "${CUDA:-}" ] || apt-get install -y --no-install-recommends g++ # nvcc runs it
as_user make -j"$(nproc)" CUDA="${CUDA:-}"
# shellcheck disable=SC2086 # words for make
[ -z "$user" ] || as_user make PROVE_FLAGS="-j$(nproc)" ${TESTS:-check}
make DESTDIR="$dest" prefix=/usr/local CUDA="${CUDA:-}" install-strip
