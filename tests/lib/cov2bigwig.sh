# shellcheck shell=sh
# cov2bigwig.sh - what the tests of cov2bigwig have in common; after tap.sh.
# SPDX-License-Identifier: MIT
: "${tap_dir:?}"

# Of track_check.py, which the script has started.
make_input() { # KIND FILE [KEY=VALUE]...
    ask make "$@" || exit 99
}
check_track() { # FILE TRACK NAME [KEY=VALUE]...: the track is what FILE says.
    file=$1 track=$2 name=$3
    shift 3
    ok "$name" ask input "$file" "$track" "$@"
}
# refuses STATUS REGEX NAME [ARG]...: cov2bigwig is refused and leaves nothing.
refuses() {
    wanted=$1 regex=$2 name=$3
    shift 3
    find . | sort >"$tap_dir/before"
    run cov2bigwig "$@"
    refused "$wanted" "$regex" "$name"
    is "$(find . | sort | comm -13 "$tap_dir/before" -)" '' '  and leaves nothing'
}
