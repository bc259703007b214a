#!/bin/sh
# Features common to all tools: options, messages, signals, statistics, exit status.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

# Help and version.
run_ok '--help succeeds' toy_tool --help
stdout_like '^toy_tool - does little$' 'help begins with the summary'
stdout_like '^Usage: toy_tool \[options\] -o OUT INPUT\.\.\.$' 'help shows the usage'
stdout_like '^  -n, --number N  +an integer \(default: 7\)$' 'help shows an option and its default'
stdout_like '^      --shift\[=A,B\] +an optional value' 'help shows that a value is optional'
stdout_like '^  -@, --threads N ' 'help shows the common options'
unlike "$(cat "$stdout")" 'help-machine' 'help omits hidden options'
is "$(awk 'length > 80' "$stdout")" '' 'help is at most 80 columns wide'
stderr_is '' 'help writes nothing to standard error'
run_ok '-h is the same' toy_tool -h
run_ok '--version succeeds' toy_tool --version
like "$(head -n 1 "$stdout")" '^toy_tool [0-9]+\.[0-9]+\.[0-9]+[^ ]*$' 'the version is the last word of line 1'
stdout_like '^built with (gcc|clang) ' '--version names the compiler'
stdout_like '^toylib 3\.2\.1$' '--version names the libraries'
stdout_like '^processor: .' '--version names the processor'
run toy_tool --help-machine
is "$(grep -c "$(printf '^number\tn\tint\tN\t7\t-\t-\tan integer$')" "$stdout")" 1 '--help-machine: a row of the table'
is "$(awk -F '\t' 'NF != 8' "$stdout")" '' '--help-machine: eight fields in every line'
for option in --help --version --help-machine; do
    # shellcheck disable=SC2016 # for the inner shell
    run sh -c 'toy_tool "$0" >/dev/full' "$option"
    refused 1 '^toy_tool: error: standard output: No space left on device$' "$option to a full disk fails"
done

# A good run.
run_ok 'a run with defaults' toy_tool -o x in
stdout_like '^number=7 size=1000 ratio=0\.5 shift=4,-5 names=a\+b <in>$' 'defaults are set'
stdout_like '^threads=[1-9][0-9]* shift given=0$' 'the number of threads is chosen'
stderr_is '' 'nothing on standard error'
run_ok 'options of every form' toy_tool -ox -n-3 --size=2M -r .25 --name_list=c,d --name-list e --shift=1,2 -@3 in1 -- -in2
stdout_like '^number=-3 size=2000000 ratio=0\.25 shift=1,2 names=c\+d\+e <in1> <-in2>$' 'their values'
stdout_like '^threads=3 shift given=1$' 'the number of threads as given'

# Wrong usage: status 2, one line, a hint. (Names and values of options: test_opt.c.)
while IFS='|' read -r args text; do
    # shellcheck disable=SC2086 # a list of words
    run_refused 2 "$text" "refused: toy_tool $args" toy_tool $args
    is "$(sed -n '2p' "$stderr")" "Try 'toy_tool --help'." '  with a hint'
done <<END
|an input is missing
-o x|an input is missing
-o x a b c|unexpected argument 'c'
a|-o/--output is missing
-o x a -model in|unknown option '-model'; did you mean --model\\?
-o x a -n 11|--number: 11 is out of range \\(-10 to 10\\)
-o x a -@ 0|--threads: 0 is out of range \\(1 to 1024\\)
-o x a -@ 1025|--threads: 1025 is out of range
-o x a -q -v|--quiet and --verbose contradict
-o x a -q --progress=bar|--quiet and --progress=bar contradict
-o x a --progress=dance|--progress: 'dance' is not one of auto, bar, lines, none
-o - a --stats -|--stats and --output both name '-'
-o x a --stats x|--stats and --output both name 'x'
-o x a --act usage|that makes no sense
END
leaves 'wrong usage leaves nothing behind'

# Outputs and inputs.
echo precious >in
run_refused 2 '^toy_tool: error: in: is both an input and an output$' 'an output cannot be an input' toy_tool -a write -f -o in in
ln in link
run toy_tool -a write -f -o out -m in --stats link other
refused 2 '^toy_tool: error: link: is both an input and an output$' '  nor can the statistics file, even under another name'
is "$(cat in)" precious '  the input is unchanged'
run toy_tool -a write -f -o out -m - in
refused 2 '^toy_tool: error: --model: must not be standard input$' 'an option does not read standard input'
rm link
run_ok 'an output is written' toy_tool -a write -o out in
is "$(cat out)" whole '  completely'
run toy_tool -a write -o out in
refused 1 '^toy_tool: error: out: already exists; use -f to replace it$' 'an existing output is not replaced'
run_ok '-f replaces it' toy_tool -a write -f -o out in

# Failures.
run_refused 1 '^toy_tool: error: bad\.fa: is damaged$' 'a failed run exits with status 1' toy_tool -a fail -o x bad.fa
is "$(grep -c '' "$stderr")" 1 '  and one line'
run_refused 137 'out of memory' 'out of memory exits with status 137' toy_tool -a no-memory -o x in

# Messages.
run toy_tool -a warn -o x in
stderr_is 'toy_tool: warning: careful
toy_tool: by the way' 'warnings and notes'
run toy_tool -a warn -q -o x in
stderr_is 'toy_tool: warning: careful' '-q leaves the warnings'
run toy_tool -a warn -v -@ 2 -o x 'in put'
stderr_like '^toy_tool: in detail$' '-v adds detail'
like "$(tail -n 1 "$stderr")" \
    "^toy_tool: wall [0-9.]+ s, CPU [0-9.]+ s, peak memory [0-9.]+ [kMG]B: .*toy_tool -a warn -v -@ 2 -o x 'in put'\$" \
    'the last line with -v is the summary'

# Statistics.
run_ok 'statistics are written' toy_tool -a write -f -@ 2 -o out -m model --stats stats.json in
if "$PYTHON" -c '' 2>/dev/null; then
    cat >check.py <<'END'
import json
s = json.load(open("stats.json"))
assert s["tool"] == "toy_tool" and s["version"][0].isdigit() and s["threads"] == 2, s
assert s["inputs"] == ["in", "model"] and s["device"] == "cpu" and s["precision"] is None, s
assert s["command"].endswith("toy_tool -a write -f -@ 2 -o out -m model --stats stats.json in"), s
assert s["wall_seconds"] > 0 and s["cpu_seconds"] > 0 and s["peak_rss_bytes"] > 100000, s
assert s["bases"] == 1000 and s["bases_per_second"] > 0 and s["stages"] == {"write": 0.25}, s
assert "chunks" not in s and "chunks_per_second" not in s, s
END
    ok '  with all fields' "$PYTHON" check.py
    rm check.py
fi
run_ok '  or as a log' toy_tool -q -a write -f -o out -m model --stats stats.log in
like "$(cat stats.log)" '^[0-9]{2}\.[0-9]{2}\.20[0-9]{2} [0-9:]{8}, INFO: tool: "toy_tool"$' '    with a line for each figure'
like "$(cat stats.log)" ', INFO: inputs\[1\]: "in"$' '    also in lists'
rm stats.log
run toy_tool -a write -o new --stats stats.json in
refused 1 '--stats: stats\.json: already exists; use -f to replace it$' 'statistics replace nothing without -f'
is "$(cat new 2>/dev/null)" '' '  and the run does not begin'
ln -s nowhere broken
run toy_tool -a write -o new --stats broken in
refused 1 '--stats: broken: already exists; use -f to replace it$' '  nor a broken link'
rm broken
toy_tool -q -a write -o new --stats /dev/stderr in 2>log
ok 'statistics to standard error, also if that is a file' grep -q '"tool": "toy_tool"' log
rm -f new
toy_tool -q -a write -o new --stats /dev/fd/3 in 3>&1 >/dev/null 2>&1 | grep -c '"tool": "toy_tool"' >log
is "$(cat log)" 1 '  and to a pipe'
rm -f new
mkfifo pipe
cat pipe >log &
run_ok '  and to a named pipe' toy_tool -q -a write -o new --stats pipe in
wait
ok '  completely' grep -q '"tool": "toy_tool"' log
rm -f new pipe log
run toy_tool -a write -f -o out --stats - in
stdout_like '^  "tool": "toy_tool",$' 'statistics to standard output'
run toy_tool -a write -f -o out --stats no/such/stats.json in
refused 1 'no/such' 'a missing directory for the statistics fails before the run'
run toy_tool -a fail -o x --stats failed.json in
leaves in out stats.json 'a failed run writes no statistics'

# Directories for temporary files.
run_refused 1 '^toy_tool: error: --tmpdir: in is not a directory$' '--tmpdir must be a directory' toy_tool -o x --tmpdir in in
run_refused 1 '^toy_tool: error: --tmpdir: none: No such file or directory$' '--tmpdir must exist' toy_tool -o x --tmpdir none in
mkdir locked && chmod 555 locked
run_unprivileged toy_tool -o x --tmpdir locked in
refused 1 '^toy_tool: error: --tmpdir: locked: Permission denied$' '--tmpdir must be writable'
rmdir locked

# Signals. Background jobs of a shell ignore SIGINT, and nohup ignores SIGHUP; so perl sets the dispositions.
act='wait'
begin_waiting() { # DEFAULT|IGNORE for SIGINT [OPTION]...
    int=$1
    shift
    : >"$stderr"
    # shellcheck disable=SC2016,SC2086 # for perl; WRAP is a list of words
    perl -e '@SIG{qw(HUP TERM QUIT PIPE)} = ("DEFAULT") x 4; $SIG{INT} = shift; exec @ARGV' "$int" $WRAP "$TESTLIB/toy_tool" "$@" -a $act -o late in \
        2>"$stderr" &
    pid=$!
    await grep -Eq 'waiting|creating' "$stderr"
}
for signal in INT:130 TERM:143 HUP:129 QUIT:131 USR1:138 USR2:140 XCPU:152; do
    begin_waiting DEFAULT
    like "$(find . -name '.*late*')" late "a temporary file exists before SIG${signal%:*}"
    kill -s "${signal%:*}" "$pid"
    wait "$pid"
    is $? "${signal#*:}" "SIG${signal%:*} exits with 128 + signal"
    leaves in out stats.json "SIG${signal%:*} leaves nothing behind"
    is "$(tail -n 1 "$stderr")" "toy_tool: stopped by SIG${signal%:*}; nothing was written" '  and this is reported'
done
for mode in bar lines; do
    begin_waiting DEFAULT --progress $mode
    words=$(cat "$stderr"; echo .)
    kill -s INT "$pid"
    wait "$pid"
    newline=$([ $mode = lines ] || printf '\n.')
    is "$(cat "$stderr")" "${words%.}${newline%.}toy_tool: stopped by SIGINT; nothing was written" \
        "after a signal, the cursor leaves the line of a bar: --progress $mode"
done
begin_waiting DEFAULT -q
kill -s INT "$pid"
wait "$pid"
is "$(cat "$stderr")" waiting 'no message with -q'
begin_waiting IGNORE
kill -s INT "$pid"
sleep 0.2
kill -s TERM "$pid"
wait "$pid"
is $? 143 'a SIGINT that was ignored at the start stays ignored'
act=create
begin_waiting DEFAULT
kill -s TERM "$pid"
wait "$pid"
is $? 143 'a signal while a file is created, which the thread of a library gets'
leaves in out stats.json '  and the file is removed'
act='wait'

# Two runs to one output; and a run that is killed.
begin_waiting DEFAULT
for force in '' -f; do
    # shellcheck disable=SC2086 # may be empty
    run toy_tool -a write $force -o late in
    refused 1 '^toy_tool: error: late: another run is writing it$' "a second run fails at once ${force:+with }$force"
done
is "$(find . -name '.*late*')" ./.late.covtools.tmp '  and leaves the file of the first alone'
kill -s KILL "$pid"
wait "$pid" 2>/dev/null
like "$(find . -name '.*late*')" late 'a killed run leaves its temporary file'
run_ok '  and the next run writes the output' toy_tool -a write -o late in
leaves in late out stats.json '  and removes that file'
rm late

# shellcheck disable=SC2016 # for the inner shell
run sh -c '{ toy_tool -a flood -o x in; echo $? >status; } | :'
is "$(cat status)" 141 'a closed pipe on standard output exits with SIGPIPE'
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'trap "" PIPE; { toy_tool -a flood -o x in; echo $? >status; } | :'
is "$(cat status)" 141 '  also if SIGPIPE is ignored'
stderr_is '' '  quietly'
rm status

# Closed standard streams must not be confused with the files that are opened next.
# shellcheck disable=SC2016 # for the inner shell
run_ok 'an output is written with all standard streams closed' sh -c 'exec 0<&- 1>&- 2>&-; toy_tool -a write -f -o out in'
is "$(cat out)" whole '  and holds only the output'
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'exec 1>&-; toy_tool -o x in'
refused 1 'standard output: Bad file descriptor' 'printing to a closed standard output fails'
run sh -c 'toy_tool -a flood -o x in >/dev/full'
refused 1 '^toy_tool: error: standard output: No space left on device$' 'standard output on a full disk'

# Names of checks that continue the one before.
cat >names.t <<'END'
. "$SRC/tests/lib/tap.sh"
pass 'a # SKIP why'
pass '  b'
pass '    c'
fail '  d'
pass e
fail '  f'
done_testing
END
run sh names.t
is "$status $(paste -sd ' ' "$stdout")" \
    '1 ok 1 - a # SKIP why ok 2 - a: b ok 3 - a: b: c not ok 4 - a: d ok 5 - e not ok 6 - e: f 1..6' 'names of checks say their subject'

done_testing
