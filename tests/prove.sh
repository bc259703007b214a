#!/bin/sh
# prove.sh STATE ARG...: runs prove. If tests fail, lists their files with the command to run each alone, and what their
# results may depend on. STATE is a file that prove writes.
# SPDX-License-Identifier: MIT
state=$1
shift
rm -f "$state"
prove --timer --statefile "$state" --state save "$@" && exit
status=$?
[ -e "$state" ] || exit $status # interrupted
echo
echo 'Failed files, and how to run each alone:'
prove --statefile "$state" --state failed --dry | grep . |
    sed "s|.*|  ${COVTOOLS_CPU:+COVTOOLS_CPU=$COVTOOLS_CPU }make check ${SAN:+SAN=$SAN }TESTS=& PROVE_FLAGS=-v|"
echo "CPU levels: $("$BIN/covpredict" --version 2>/dev/null | sed -n 's/^--cpu: //p'); CPUs: $(nproc); user: $(id -u); $(uname -m)"
echo "awk: $(readlink -f "$(command -v awk)"), sh: $(readlink -f "$(command -v sh)"), umask $(umask), TMPDIR=${TMPDIR:-}, LC_ALL=${LC_ALL:-}"
# shellcheck disable=SC3045 # dash and bash have these limits
echo "limits: $(ulimit -t) s of CPU time, $(ulimit -v) KB of memory, $(ulimit -n) open files; COV_TEST_SEED=${COV_TEST_SEED:-}"
exit $status
