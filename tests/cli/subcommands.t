#!/bin/sh
# Features common to programs with subcommands.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

run_ok '--help succeeds' toy_box --help
is "$(head -n 1 "$stdout")" 'toy_box - keeps toys' 'help begins with the summary'
stdout_like '^Usage: toy_box SUBCOMMAND ' '  shows the usage'
stdout_like '^  spin +turn round$' '  lists the first subcommand'
stdout_like '^  rest +do nothing$' '  and the last'
run_ok '-h is the same' toy_box -h
run toy_box --version
like "$(head -n 1 "$stdout")" '^toy_box [0-9]+\.[0-9]+\.[0-9]+[^ ]*$' '--version'
run toy_box rest --version
like "$(head -n 1 "$stdout")" '^toy_box [0-9]+\.[0-9]+\.[0-9]+[^ ]*$' 'a subcommand prints the version of the program'
run toy_box --help-machine
stdout_is "$(printf 'spin\tturn round\nrest\tdo nothing')" '--help-machine lists the subcommands'

run toy_box spin --help
is "$(head -n 1 "$stdout")" 'toy_box spin - turn round' 'help of a subcommand'
stdout_like '^Usage: toy_box spin \[options\] \[-o OUT\] \[TOP\.\.\.\]$' '  shows its usage'
stdout_like '^  -n, --times N  +how often \(default: 3\)$' '  and its options'
stdout_like '^  -o, --output PATH +where to turn$' '  and describes its output'
cp "$stdout" help
run toy_box --help spin
ok '--help SUBCOMMAND prints the same' cmp help "$stdout"
rm help
run toy_box rest --help
unlike "$(cat "$stdout")" '^Options:|--output|--threads|--progress|--tmpdir' 'help omits options that the subcommand lacks'
stdout_like '^  -q, --quiet ' '  and has the others'
run toy_box spin --help-machine
is "$(cut -f 1 "$stdout" | tr '\n' ' ')" \
    'times log output threads force quiet verbose progress stats tmpdir help ' \
    '--help-machine of a subcommand'
run toy_box rest --help-machine
is "$(cut -f 1 "$stdout" | tr '\n' ' ')" 'force quiet verbose stats help ' '  that lacks options'

run_ok 'a subcommand is run' toy_box spin
stdout_like '^spin 3 given=0 threads=[1-9][0-9]* none$' '  with its defaults'
run toy_box spin -n 2 -@ 5 -o x a --stats stats.json b
stdout_is 'spin 2 given=1 threads=5 x <a> <b>' 'options of the subcommand and common options'
if "$PYTHON" -c '' 2>/dev/null; then
    ok 'statistics' "$PYTHON" -c 'import json
s = json.load(open("stats.json"))
assert s["tool"] == "toy_box" and s["inputs"] == ["a", "b"] and s["threads"] == 5, s
assert s["command"].endswith("toy_box spin -n 2 -@ 5 -o x a --stats stats.json b"), s'
fi
rm stats.json
run toy_box rest a
stdout_is 'rest threads=1 none' 'a subcommand without options'

# Wrong usage: status 2, one line, a hint to the right help.
while IFS='|' read -r args text hint; do
    # shellcheck disable=SC2086 # a list of words
    run_refused 2 "$text" "refused: toy_box $args" toy_box $args
    is "$(sed -n '2p' "$stderr")" "Try '$hint --help'." '  with a hint'
done <<END
|^toy_box: error: a subcommand is missing \\(subcommands: spin, rest\\)$|toy_box
sing|^toy_box: error: unknown subcommand 'sing' \\(subcommands: spin, rest\\)$|toy_box
--help sing|^toy_box: error: unknown subcommand 'sing' \\(subcommands: spin, rest\\)$|toy_box
spn|^toy_box: error: unknown subcommand 'spn'; did you mean spin\\?$|toy_box
--help res|^toy_box: error: unknown subcommand 'res'; did you mean rest\\?$|toy_box
-n 2 spin|^toy_box: error: a subcommand must precede '-n' \\(subcommands: spin, rest\\)$|toy_box
spin -n 9|^toy_box: error: too often$|toy_box spin
spin -n 10|^toy_box: error: --times: 10 is out of range|toy_box spin
spin --log x x|^toy_box: error: x: is both an input and an output$|toy_box spin
spin --log x -o x|^toy_box: error: --log and --output both name 'x'$|toy_box spin
spin --log x --stats x|^toy_box: error: --log and --stats both name 'x'$|toy_box spin
rest|an input is missing \\(usage: toy_box rest TOY\\)$|toy_box rest
rest a b|unexpected argument 'b' \\(usage: toy_box rest TOY\\)$|toy_box rest
rest -n 2 a|unknown option '-n'|toy_box rest
rest --times 2 a|unknown option '--times'; toy_box spin has it$|toy_box rest
rest --times=2 a|unknown option '--times'; toy_box spin has it$|toy_box rest
rest --tim 2 a|unknown option '--tim'$|toy_box rest
rest -o x a|unknown option '-o'|toy_box rest
END
run_ok 'options that all tools have, where they change nothing' toy_box rest -@ 2 --tmpdir . --progress none a
run_refused 1 '^toy_box: error: x: cannot rest$' 'a failure' toy_box rest x
run_refused 1 'standard output: No space left on device$' '--help to a full disk' sh -c 'toy_box --help >/dev/full'
leaves 'nothing is left behind'

# Options that all subcommands of all tools take, also where they change nothing.
for tool in bam2h5 benchmark cov2bigwig coveffect covpeaks covpredict covprofile covtrain fasta2h5 h5chunk; do
    subcommands=
    "$tool" --help | grep -q '^Usage: .* SUBCOMMAND' && subcommands=$("$tool" --help-machine | cut -f 1)
    for subcommand in ${subcommands:-''}; do
        [ "$subcommand" = "''" ] && subcommand=
        # shellcheck disable=SC2086 # no word, or one
        run $tool $subcommand -@ 1 --tmpdir . --progress none -q --no-such-option
        stderr_like "unknown option '--no-such-option'" "$tool $subcommand: the common options are taken"
    done
done
for call in 'covtrain' 'covpredict' 'coveffect vcf' 'coveffect ism' 'coveffect gradients'; do
    run $call -b 2 --no-such-option
    stderr_like "unknown option '--no-such-option'" "$call: -b is --batch-size"
done
done_testing
