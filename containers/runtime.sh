#!/bin/sh
# runtime.sh - what the second stage of the containers does, as root in a bare Debian 12: installs the libraries
# that covtools needs, gnuplot for pictures, and ps, which workflow engines ask for.
# Dockerfile, covtools.def and check.sh run it.
# SPDX-License-Identifier: MIT
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends libhts3 libhdf5-103-1 libbigwig0 libdeflate0 liblzf1 libcjson1 liblz4-1 \
    libzstd1 libblosc1 libopenblas0-pthread zlib1g gnuplot-nox procps ca-certificates
rm -rf /var/lib/apt/lists/*
useradd --create-home --uid 1000 covtools
