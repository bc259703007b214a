#!/bin/sh
# fasta2h5, covpredict and cov2bigwig joined by pipes write the same tracks as with files, and no tracks if
# one of them fails.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

# Random sequences of the given lengths.
random_fasta() { # SEED 'LENGTH...'
    awk -v from="$1" -v lengths="$2" "$random"'BEGIN {
        seed(from)
        n = split(lengths, length_of, " ")
        for (s = 1; s <= n; s++)
            record("c" s * 7 % n, length_of[s], "ACGTacgtN")
    }' | fold -w 80
}
random_fasta 3 '5000 1 999 1008 1009 2016 37 7777 300' >g.fa
make_ckpt cnn M.ckpt || exit 99

values() { # BIGWIG
    bw_dump "$1" | sort
}

# ---------------------------------------------------------------- the same tracks

fasta2h5 --subsequence-length 1008 -o g.h5 g.fa && covpredict -m M.ckpt -o p.h5 g.h5 &&
    cov2bigwig -o files.bw p.h5 || exit 99
# shellcheck disable=SC2016 # for the inner shell
pipeline='fasta2h5 --subsequence-length 1008 -o - $FASTA | covpredict -m M.ckpt -o - - | cov2bigwig -o $OUT -'
for threads in 1 2; do
    # shellcheck disable=SC2086 # for the inner shell
    FASTA=g.fa OUT=pipe.bw run bash -o pipefail -c "$(echo "$pipeline" | sed "s/ -o/ -@ $threads -f -o/g")"
    status_is 0 "fasta2h5 | covpredict | cov2bigwig, $threads threads"
    unlike "$(cat "$stderr")" 'error|warning' '  without an error'
    values files.bw >files.txt
    values pipe.bw >pipe.txt
    ok '  the bigWig has the same values as with files' cmp files.txt pipe.txt
done
run bash -o pipefail -c 'fasta2h5 --subsequence-length 1008 -o - - <g.fa | covpredict -m M.ckpt -o q.h5 -'
status_is 0 'fasta2h5 | covpredict'
cov2bigwig -o half.bw q.h5
values half.bw >pipe.txt
ok '  the same values' cmp files.txt pipe.txt
leaves M.ckpt files.bw files.txt g.fa g.h5 half.bw p.h5 pipe.bw pipe.txt q.h5 'nothing else is left'

# ---------------------------------------------------------------- one of three is killed

# fasta2h5 reads from a pipe that stays open after the first bytes, so all three run until one is killed.
rm ./*.bw ./*.txt ./*.h5
random_fasta 4 400000 >part.fa
random_fasta 5 '10 500000' | sed 's/^>/>more_/' >more.fa
# pipe_of NAME: opens the file descriptors 3 for reading and 4 for writing of a new pipe.
pipe_of() {
    mkfifo "$1"
    # shellcheck disable=SC2094 # opening a pipe for both does not block
    exec 9<>"$1" 3<"$1" 4>"$1" 9>&-
    rm "$1"
}
begin() { # BYTES
    pipe_of genome
    exec 5<&3 7>&4
    pipe_of one
    fasta2h5 --subsequence-length 1008 -o - - <&5 >&4 2>first.err 3<&- 4>&- 5<&- 7>&- &
    first=$!
    exec 5<&3 4>&-
    pipe_of two
    covpredict -@ 1 -m M.ckpt -o - - <&5 >&4 2>second.err 3<&- 4>&- 5<&- 7>&- &
    second=$!
    cov2bigwig -@ 1 -o out.bw - <&3 2>third.err 3<&- 4>&- 5<&- 7>&- &
    third=$!
    exec 3<&- 4>&- 5<&-
    head -c "$1" part.fa >&7
}
# await_exec PID NAME: waits until the process runs the program, not the shell that starts it, whose handlers
# would take the signal.
await_exec() {
    until [ "$(cat "/proc/$1/comm")" = "$2" ]; do
        sleep 0.01
    done
}
# await_end PID: sets $status.
await_end() {
    wait "$1" 2>/dev/null
    status=$?
}
quiet() { # FILE NAME
    unlike "$(cat "$1")" 'error' "$2"
}
failed() { # FILE NAME
    like "$(cat "$1")" 'error: .*(truncated|empty)' "$2"
}
for signal in KILL:137 TERM:143; do
    for bytes in 0 2000 400000; do
        for victim in first second third; do
            begin $bytes
            await_exec "$first" fasta2h5
            await_exec "$second" covpredict
            await_exec "$third" cov2bigwig
            [ $bytes -eq 0 ] || sleep 0.3
            case $victim in
            first) pid=$first ;;
            second) pid=$second ;;
            third) pid=$third ;;
            esac
            kill -s "${signal%:*}" "$pid"
            name="SIG${signal%:*} to the $victim after $bytes bytes"
            # Programs upstream notice when they write, so they get enough input.
            trap '' PIPE
            [ $victim = first ] || { tail -c +$((bytes + 1)) part.fa && cat more.fa; } >&7 2>/dev/null
            exec 7>&-
            trap - PIPE
            await_end "$first"
            first_status=$status
            await_end "$second"
            second_status=$status
            await_end "$third"
            third_status=$status
            case $victim in
            first)
                is "$first_status" "${signal#*:}" "$name ends it"
                is "$second_status $third_status" '1 1' '  and the two downstream fail'
                failed second.err '  covpredict reports it'
                failed third.err '  cov2bigwig reports it'
                ;;
            second)
                is "$second_status" "${signal#*:}" "$name ends it"
                is "$first_status $third_status" '141 1' '  the one upstream ends, the one downstream fails'
                quiet first.err '  fasta2h5 is quiet'
                failed third.err '  cov2bigwig reports it'
                ;;
            third)
                is "$third_status" "${signal#*:}" "$name ends it"
                is "$first_status $second_status" '141 141' '  the two upstream end'
                quiet first.err '  fasta2h5 is quiet'
                quiet second.err '  covpredict is quiet'
                ;;
            esac
            leaves M.ckpt first.err g.fa more.fa part.fa second.err third.err '  no output is left'
        done
    done
done
done_testing
