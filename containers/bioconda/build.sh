#!/bin/bash
# SPDX-License-Identifier: MIT
set -eu

# The libraries are all in ${PREFIX}, some without a file for pkg-config.
flags=(
    CC="${CC}"
    CPPFLAGS="${CPPFLAGS} -I${PREFIX}/include -I${PREFIX}/include/cjson"
    CFLAGS="${CFLAGS}"
    LDFLAGS="${LDFLAGS} -L${PREFIX}/lib"
    PACKAGES=
    LDLIBS="-lhts -lhdf5 -ldeflate -llzf -llz4 -lzstd -lblosc -lcjson"
    prefix="${PREFIX}"
)
make -j"${CPU_COUNT}" "${flags[@]}"
make "${flags[@]}" install
