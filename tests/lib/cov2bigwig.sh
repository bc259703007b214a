# shellcheck shell=sh
# cov2bigwig.sh - functions for the tests of cov2bigwig; source it after tap.sh.
# SPDX-License-Identifier: MIT
: "${tap_dir:?}" "${stdout:?}"

# The script must have started track_check.py.
make_input() { # KIND FILE [KEY=VALUE]...
    ask make "$@" || exit 99
}
check_track() { # FILE TRACK NAME [KEY=VALUE]...: compares the track with FILE
    file=$1 track=$2 name=$3
    shift 3
    ok "$name" ask input "$file" "$track" "$@"
}
# converts INPUT TRACK NAME OPTIONS [KEY=VALUE]...: with these options, which are words, INPUT becomes the right TRACK.
converts() {
    file=$1 track=$2 name=$3 words=$4
    shift 4
    rm -f "$track"
    # shellcheck disable=SC2086 # words
    run cov2bigwig -q $words -o "$track" "$file"
    check_track "$file" "$track" "$name" "$@"
}
# refuses STATUS REGEX NAME [ARG]...: the tool fails and leaves no files.
tool=cov2bigwig
refuses() { tool_refuses "$tool" "$@"; }
