# shellcheck shell=sh
# signals.sh - ends tools in the background with signals; source it after tap.sh.
# SPDX-License-Identifier: MIT
: "${stderr:?}"

# shellcheck disable=SC2016,SC2086 # for perl; WRAP is a list of words
start() { # TOOL ARG...: starts a tool in the background, with the signals as on a terminal, also under nohup
    tool=$1
    shift
    perl -e '@SIG{qw(INT QUIT HUP)} = ("DEFAULT") x 3; exec @ARGV' $WRAP "$BIN/$tool" "$@" 2>"$stderr" &
    pid=$!
}
ends_by() { # INT:130 NAME: the signal ends the tool with this status
    kill -s "${1%:*}" "$pid"
    wait "$pid"
    is $? "${1#*:}" "SIG${1%:*} $2: exits with 128 + signal"
}
ends_while_reading() { # INT:130 TOOL ARG...: it writes late.h5, and reads a pipe that stays open after some bases
    by=$1
    shift
    [ -p fifo ] || mkfifo fifo
    start "$@" -o late.h5 fifo
    exec 7>fifo
    printf '>a\nACGT\n' >&7
    await found . -name '.*late*'
    ends_by "$by" 'while reading'
    exec 7>&-
}
