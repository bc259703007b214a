# shellcheck shell=sh
# cov2bigwig.sh - functions for the tests of cov2bigwig; source it after tap.sh.
# SPDX-License-Identifier: MIT
: "${tap_dir:?}"

# The script must have started track_check.py.
make_input() { # KIND FILE [KEY=VALUE]...
    ask make "$@" || exit 99
}
check_track() { # FILE TRACK NAME [KEY=VALUE]...: compares the track with FILE
    file=$1 track=$2 name=$3
    shift 3
    ok "$name" ask input "$file" "$track" "$@"
}
# refuses STATUS REGEX NAME [ARG]...: cov2bigwig fails and leaves no files.
refuses() { tool_refuses cov2bigwig "$@"; }
