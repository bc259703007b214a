#!/bin/sh
# benchmark compare: ratios of two files, different machines.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

# file MEMORY NAME BETTER VALUE...: a benchmark.json with one figure
file() {
    memory=$1 name=$2 better=$3
    shift 3
    printf '{"machine": {"probes": {"memory_gb_per_second": %s}}, "figures": [
        {"name": "%s", "unit": "s", "better": "%s", "n": %d, "values": [%s]}]}\n' \
        "$memory" "$name" "$better" $# "$(echo "$*" | tr ' ' ',')"
}
file 20 stages/a lower 10 10.1 9.9 >base.json
file 20 stages/a lower 10.2 10.3 10.1 >same.json
file 20 stages/a lower 12 12.1 11.9 >slow.json
file 20 stages/a lower 8 8.1 7.9 >fast.json
file 10 stages/a lower 12 12.1 11.9 >other.json
file 20 model/b higher 100 101 99 >rate.json
file 20 model/b higher 80 81 79 >low_rate.json
file 20 stages/a lower 2 20 10 30 1 >noisy.json
file 20 stages/a higher 10 >turned.json
echo '{"figures": [' >cut.json
echo '{"figures": [{"name": "x"}]}' >bad.json

run_ok 'the same speed passes' benchmark compare base.json same.json
is "$(head -n 1 "$stdout")" "$(printf 'name\tunit\tbase\tnew\tratio\tlow\thigh\tverdict')" '  with a header'
like "$(sed -n 2p "$stdout")" '^stages/a	s	10	10\.2	1\.0200	.*	same$' '  and a row'
run_refused 1 '1 of 1 figures is worse by more than 10 %: stages/a' '20 % slower fails' benchmark compare base.json slow.json
stdout_like '	1\.2000	.*	worse$' '  with a row in the table'
run_ok '  unless --max-slowdown allows it' benchmark compare --max-slowdown 0.25 base.json slow.json
said=$(trap '' XFSZ && ulimit -f 0 && benchmark compare -o cut.tsv base.json slow.json 2>&1)
like "$? $said" '^1 .*cut\.tsv: File too large' '  a table that cannot be written'
ok '  is not created' test ! -e cut.tsv
run_ok 'faster passes' benchmark compare base.json fast.json
stdout_like '	0\.8000	.*	better$' '  with the verdict better'
run_refused 1 'model/b' 'a lower rate is worse' benchmark compare rate.json low_rate.json
run_ok '  and a higher one better' benchmark compare low_rate.json rate.json
run_ok 'a difference within noise passes' benchmark compare base.json noisy.json
run_refused 3 'different machines: probe memory_gb_per_second is 20 in the first and 10 in the second' \
    'different machines cannot be compared' benchmark compare base.json other.json
is "$(cat "$stdout")" '' '  and print no table'
run_refused 1 'stages/a' '  unless --probe-tolerance allows it' benchmark compare --probe-tolerance 1.5 base.json other.json
run_refused 1 'no common figures' 'nothing to compare' benchmark compare base.json rate.json
run_refused 1 '"better" differs between the files' 'contradictory figures' benchmark compare base.json turned.json
run_refused 1 'cut.json: invalid JSON' 'a truncated file' benchmark compare base.json cut.json
run_refused 1 'bad.json: figure x: "better"' 'a figure without "better"' benchmark compare base.json bad.json
sed 's/"unit": "s"/"unit": "s\\tq\\nx"/' base.json >odd.json
run benchmark compare odd.json odd.json
is "$(sed -n '2,$p' "$stdout" | cut -f 1-3)" "$(printf 'stages/a\ts?q?x\t10')" 'control characters in a unit'
run_refused 1 'none.json' 'a missing file' benchmark compare base.json none.json
run_refused 2 '' 'only one file' benchmark compare base.json
run_refused 1 'stages/a' 'a table in a file' benchmark compare -o table.tsv base.json slow.json
like "$(cat table.tsv)" 'worse' '  is written even on failure'
run_refused 1 'use -f to replace it' '  is not overwritten' benchmark compare -o table.tsv base.json same.json
done_testing
