#!/bin/sh
# runtime.sh - second stage of the containers, as root in a bare Debian 12: installs the libraries that covtools needs,
# gnuplot for plots, and ps for workflow engines.
# Used by Dockerfile, covtools.def and check.sh.
# SPDX-License-Identifier: MIT
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends libhts3 libhdf5-103-1 libssl3 libbigwig0 libdeflate0 liblzf1 libcjson1 liblz4-1 \
    libzstd1 libblosc1 libopenblas0-pthread zlib1g gnuplot-nox procps ca-certificates
rm -rf /var/lib/apt/lists/*
useradd --create-home --uid 1000 covtools
