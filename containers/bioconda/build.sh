#!/bin/bash
# SPDX-License-Identifier: MIT
set -eu

# All libraries are in ${PREFIX}; some have other names than in Debian.
flags=(
    CC="${CC}"
    CPPFLAGS="${CPPFLAGS} -I${PREFIX}/include $(pkg-config --cflags liblzf libcjson)"
    CFLAGS="${CFLAGS}"
    LDFLAGS="${LDFLAGS} -L${PREFIX}/lib"
    PACKAGES=
    LDLIBS="-lhts -lhdf5 -lcrypto -ldeflate -llzf -llz4 -lzstd -lblosc -lcjson"
    prefix="${PREFIX}"
)
make -j"${CPU_COUNT}" "${flags[@]}"
make "${flags[@]}" install
