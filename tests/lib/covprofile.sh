# shellcheck shell=sh
# covprofile.sh - functions for the tests of covprofile; source it after tap.sh.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/cov2bigwig.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/profile_check.py"

# refuses STATUS REGEX NAME SUBCOMMAND [ARG]...: it fails and leaves no files.
refuses() { tool_refuses covprofile "$@"; }
