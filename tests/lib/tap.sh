# shellcheck shell=sh
# tap.sh - Test Anything Protocol for shell scripts, run by prove from `make check`.
# SPDX-License-Identifier: MIT
#
#   #!/bin/sh
#   . "$SRC/tests/lib/tap.sh"
#   need_shared                        # or need_python h5py; skips the script if it is missing
#   run_ok 'a FASTA is converted' fasta2h5 -o x.h5 "$SRC/x.fa"   # sets $status, and writes the files $stdout and $stderr
#   leaves x.h5 '  without temporary files'
#   done_testing
#
# A name that is indented continues the last one that is not, and is printed after it, so that a failed line says what
# failed: "a FASTA is converted: without temporary files".
#
# Each script runs in an empty directory, which is removed at the end, with the built tools first in PATH. It uses from the
# environment: BIN, TESTLIB (helper programs), SRC, PYTHON, SHARED, WRAP (a command that runs the programs of `run`).
# Small files written by Helixer and Predmoter are in $SRC/tests/data, larger ones in $SHARED.

set -u
: "${SRC:?}" "${BIN:?}" "${TESTLIB:?}" "${PYTHON:=/usr/bin/python3}" "${SHARED:=/nonexistent}" "${WRAP:=}"
LC_ALL=C
PATH=$BIN:$TESTLIB:$PATH
export LC_ALL PATH

# This directory is not in $work, because tests look there for leftovers of tools.
tap_dir=$(mktemp -d) || exit 99
work=$tap_dir/work
stdout=$tap_dir/stdout
stderr=$tap_dir/stderr
status=0
# shellcheck disable=SC2034 # for the scripts
random=$(cat "$SRC/tests/lib/random.awk") || exit 99
: "${HOME:=$tap_dir}" # without one, mpirun crashes
export HOME
mkdir "$work" && cd "$work" || exit 99
tap_end() {
    cd / && chmod -R u+rwx "$tap_dir" && rm -rf "$tap_dir"
}
trap tap_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

tap_newline='
'
tap_n=0
tap_failed=0

# Ends every script: prints the plan, and exits with status 1 if a test failed.
done_testing() {
    echo "1..$tap_n"
    [ "$tap_failed" -eq 0 ]
    exit
}

skip_all() {
    echo "1..0 # SKIP $*"
    exit 0
}

# need_shared [PATH below the directory]...: skips the script without these reference files.
need_shared() {
    [ -d "$SHARED/reference" ] || skip_all 'no reference files (set SHARED to their directory)'
    for tap_path; do
        [ -e "$SHARED/$tap_path" ] || skip_all "no $tap_path in $SHARED"
    done
}

# rest_needs_shared PATH...: ends the script here without these reference files.
rest_needs_shared() {
    for tap_path; do
        [ -e "$SHARED/$tap_path" ] && continue
        pass "the rest # SKIP no $tap_path in SHARED"
        done_testing
    done
}

# need_python MODULE...
need_python() {
    # Only finds the modules, since loading them takes longer than many tests.
    tap_module=$("$PYTHON" -c 'import importlib.util, sys
print(*(m for m in sys.argv[1:] if not importlib.util.find_spec(m)))' "$@" 2>/dev/null) || skip_all "no $PYTHON"
    [ -z "$tap_module" ] || skip_all "no Python with the module $tap_module"
}

# start_python SCRIPT, once: then `ask ARG...` calls main(ARG...) of the script, all in one process, because starting
# Python and loading its modules takes longer than most calls. With "serve" as its only argument, the script reads one
# argument per line, then an empty line, and answers with the line "ok" or an error.
start_python() {
    mkfifo "$tap_dir/ask" "$tap_dir/answer" || exit 99
    "$PYTHON" "$1" serve <"$tap_dir/ask" >"$tap_dir/answer" &
    exec 8>"$tap_dir/ask" 9<"$tap_dir/answer"
}
ask() {
    printf '%s\n' "$@" '' >&8
    read -r tap_answer <&9 || tap_answer='no answer'
    [ "$tap_answer" = ok ] || {
        echo "$tap_answer" >&2
        return 1
    }
}

need_program() {
    for tap_program; do
        command -v "$tap_program" >/dev/null || skip_all "no program $tap_program"
    done
}

diag() {
    printf '%s\n' "$*" | sed 's/^/# /' >&2
}

tap_result() { # 0|1 NAME
    tap_n=$((tap_n + 1))
    case $2 in
    '    '*) tap_full="$tap_subject: $tap_part: ${2#    }" ;;
    '  '*)
        tap_part=${2#  } tap_full="$tap_subject: ${2#  }"
        tap_part=${tap_part%% \# SKIP*}
        ;;
    *) tap_subject=${2%% \# SKIP*} tap_part='' tap_full=$2 ;;
    esac
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_n - $tap_full"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_n - $tap_full"
        diag "failed: $tap_full"
        return 1
    fi
}

pass() { # NAME
    tap_result 0 "$1"
}
fail() { # NAME
    tap_result 1 "$1"
}

# ok NAME COMMAND [ARG]...: the command must succeed; otherwise its output is shown.
ok() {
    tap_name=$1
    shift
    if "$@" >"$tap_dir/ok" 2>&1; then
        pass "$tap_name"
    else
        fail "$tap_name"
        diag "$*"
        diag "$(cat "$tap_dir/ok")"
        return 1
    fi
}

# is GOT EXPECTED NAME
is() {
    if [ "$1" = "$2" ]; then
        pass "$3"
    else
        fail "$3"
        diag "     got: $1"
        diag "expected: $2"
        return 1
    fi
}

# tap_matches TEXT REGEX: a line of TEXT matches the extended regular expression. A here-document starts no process.
tap_matches() {
    grep -Eq -e "$2" <<END
$1
END
}
# like TEXT REGEX NAME
like() {
    if tap_matches "$1" "$2"; then
        pass "$3"
    else
        fail "$3"
        diag "  got: $1"
        diag "wants: $2"
        return 1
    fi
}
unlike() {
    if tap_matches "$1" "$2"; then
        fail "$3"
        diag "      got: $1"
        diag "wants not: $2"
        return 1
    else
        pass "$3"
    fi
}

# await COMMAND [ARG]...: waits until it succeeds, for 5 minutes at most, since machines may be slow.
await() {
    for _ in $(seq 15000); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.02
    done
    fail "waiting in vain for: $*"
}
found() { # FIND-ARG...: find prints a file
    [ -n "$(find "$@")" ]
}

# run PROGRAM [ARG]...: runs a tool, under $WRAP. Standard input is passed on.
run() {
    # shellcheck disable=SC2086 # WRAP is a list of words
    $WRAP "$@" >"$stdout" 2>"$stderr"
    status=$?
}

# The same, but permissions also apply to root.
run_unprivileged() {
    if [ "$(id -u)" -eq 0 ]; then
        run setpriv --inh-caps=-dac_override,-dac_read_search \
            --bounding-set=-dac_override,-dac_read_search -- "$@"
    else
        run "$@"
    fi
}

# status_is N NAME: shows standard error if the status differs.
status_is() {
    if [ "$status" -eq "$1" ]; then
        pass "$2"
    else
        fail "$2"
        diag "status $status instead of $1"
        diag "$(head -n 20 "$stderr")"
        return 1
    fi
}
stdout_is() { # TEXT NAME
    is "$(cat "$stdout")" "$1" "$2"
}
stdout_like() { # REGEX NAME
    like "$(cat "$stdout")" "$1" "$2"
}
stderr_is() { # TEXT NAME
    is "$(cat "$stderr")" "$1" "$2"
}
stderr_like() { # REGEX NAME
    like "$(cat "$stderr")" "$1" "$2"
}

# refused STATUS REGEX NAME: the last run exited with STATUS and printed one line `TOOL: error: ...` that matches REGEX.
refused() {
    tap_error=$(grep '^[a-z0-9_]*: error: ' "$stderr")
    case $tap_error in
    *"$tap_newline"*) tap_error='' ;; # several errors
    esac
    if [ "$status" -eq "$1" ] && [ "$tap_error" ] && tap_matches "$tap_error" "$2"; then
        pass "$3"
    else
        fail "$3"
        diag "status $status instead of $1, or not one error line that matches: $2"
        diag "$(head -n 20 "$stderr")"
        return 1
    fi
}

# run_ok NAME PROGRAM|FUNCTION [ARG]...: as `run`, or as the function, which uses `run`; it must succeed.
run_ok() {
    tap_said=$1
    shift
    tap_run "$@"
    status_is 0 "$tap_said"
}
# run_refused STATUS REGEX NAME PROGRAM|FUNCTION [ARG]...: the same, then `refused`.
run_refused() {
    tap_wanted=$1 tap_regex=$2 tap_said=$3
    shift 3
    tap_run "$@"
    refused "$tap_wanted" "$tap_regex" "$tap_said"
}
tap_run() {
    case $(type "$1" 2>&1) in
    "$1 is a "*function*) "$@" ;;
    *) run "$@" ;;
    esac
}

# tool_refuses 'PROGRAM [SUBCOMMAND]' STATUS REGEX NAME [ARG]...: it is refused, and leaves no new file.
tool_refuses() {
    tap_program=$1 tap_wanted=$2 tap_regex=$3 tap_said=$4
    shift 4
    find . | sort >"$tap_dir/before"
    # shellcheck disable=SC2086 # a list of words
    run_refused "$tap_wanted" "$tap_regex" "$tap_said" $tap_program "$@"
    is "$(find . | sort | comm -13 "$tap_dir/before" -)" '' '  and leaves nothing'
}

# leaves [FILE]... NAME: the working directory contains exactly these files, including hidden ones.
leaves() {
    : >"$tap_dir/wanted"
    while [ $# -gt 1 ]; do
        printf '%s\n' "$1" >>"$tap_dir/wanted"
        shift
    done
    is "$(find "$work" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort)" \
        "$(sort "$tap_dir/wanted")" "$1"
}
