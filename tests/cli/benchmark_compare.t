#!/bin/sh
# benchmark compare: ratios of two files, different machines, paired commands.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

# file MEMORY NAME BETTER VALUE...: a benchmark.json with one figure
file() {
    memory=$1 name=$2 better=$3
    shift 3
    printf '{"machine": {"probes": {"memory_gb_per_second": %s, "disk_read_mb_per_second": 100}}, "figures": [
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
sed 's/"disk_read_mb_per_second": 100/"disk_read_mb_per_second": 300/' base.json >disk.json
echo '{"figures": [' >cut.json
echo '{"figures": [{"name": "x"}]}' >bad.json

run benchmark compare base.json same.json
status_is 0 'the same speed passes'
is "$(head -n 1 "$stdout")" "$(printf 'name\tunit\tbase\tnew\tratio\tlow\thigh\tverdict')" '  with a header'
like "$(sed -n 2p "$stdout")" '^stages/a	s	10	10\.2	1\.0200	.*	same$' '  and a row'
run benchmark compare base.json slow.json
refused 1 '1 of 1 figures is worse by more than 10 %: stages/a' '20 % slower fails'
stdout_like '	1\.2000	.*	worse$' '  with a row in the table'
run benchmark compare --max-slowdown 0.25 base.json slow.json
status_is 0 '  unless --max-slowdown allows it'
said=$(trap '' XFSZ && ulimit -f 0 && benchmark compare -o cut.tsv base.json slow.json 2>&1)
like "$? $said" '^1 .*cut\.tsv: File too large' '  a table that cannot be written'
ok '  is not created' test ! -e cut.tsv
run benchmark compare base.json fast.json
status_is 0 'faster passes'
stdout_like '	0\.8000	.*	better$' '  with the verdict better'
run benchmark compare rate.json low_rate.json
refused 1 'model/b' 'a lower rate is worse'
run benchmark compare low_rate.json rate.json
status_is 0 '  and a higher one better'
run benchmark compare base.json noisy.json
status_is 0 'a difference within noise passes'
run benchmark compare base.json other.json
refused 3 'different machines: probe memory_gb_per_second is 20 in the first and 10 in the second' \
    'different machines cannot be compared'
is "$(cat "$stdout")" '' '  and print no table'
run benchmark compare --probe-tolerance 1.5 base.json other.json
refused 1 'stages/a' '  unless --probe-tolerance allows it'
run benchmark compare base.json disk.json
status_is 0 'disk probes have a larger tolerance'
run benchmark compare base.json rate.json
refused 1 'no common figures' 'nothing to compare'
run benchmark compare base.json turned.json
refused 1 '"better" differs between the files' 'contradictory figures'
run benchmark compare base.json cut.json
refused 1 'cut.json: invalid JSON' 'a truncated file'
run benchmark compare base.json bad.json
refused 1 'bad.json: figure x: "better"' 'a figure without "better"'
sed 's/"unit": "s"/"unit": "s\\tq\\nx"/' base.json >odd.json
run benchmark compare odd.json odd.json
is "$(sed -n '2,$p' "$stdout" | cut -f 1-3)" "$(printf 'stages/a\ts?q?x\t10')" 'control characters in a unit'
run benchmark compare base.json none.json
refused 1 'none.json' 'a missing file'
run benchmark compare base.json
refused 2 '' 'only one file'
run benchmark compare --repeats 5 base.json same.json
refused 2 '--repeats needs --paired' 'options for commands'
run benchmark compare --paired --probe-tolerance 1 true true
refused 2 '--probe-tolerance cannot be used with --paired' '  and for files'
run benchmark compare -o table.tsv base.json slow.json
refused 1 'stages/a' 'a table in a file'
like "$(cat table.tsv)" 'worse' '  is written even on failure'
run benchmark compare -o table.tsv base.json same.json
refused 1 'use -f to replace it' '  is not overwritten'
run benchmark compare -fq -o ./ base.json same.json
status_is 0 'a table in a folder'
like "$(cat compare.tsv)" 'same' '  is called compare.tsv'
run benchmark compare -q -o new/er/ base.json same.json
status_is 0 '  a new folder'
like "$(cat new/er/compare.tsv)" 'same' '  is created'
run benchmark compare --paired true
refused 2 "an input is missing \\(usage: benchmark compare \\[options\\] BASE\\.json NEW\\.json or benchmark compare --paired \\[options\\] 'COMMAND A' 'COMMAND B'\\)" \
    'a usage error shows both forms'
run benchmark compare --paired --repeats 4 true true
refused 2 '5' 'too few repeats'
run benchmark compare --help
stdout_like 'at least 5' '  the help states the minimum'

# Commands append to a file, which shows their order.
run benchmark compare --paired --repeats 5 'echo A >>order; sleep 0.02' 'echo B >>order; sleep 0.3'
refused 1 'takes ([2-9]|1[0-5])(\.[0-9]*)? times as long' 'a slower command fails' # 15 times, less on a busy machine
is "$(tr -d '\n' <order | cut -c 1-14)" ABABBAABBAABBA 'commands run once each, then in blocks A B B A'
run benchmark compare --paired --repeats 5 'sleep 0.3' 'sleep 0.02'
status_is 0 'a faster command passes'
run benchmark compare --paired --repeats 5 true 'echo lost; echo why >&2; exit 4'
refused 1 'failed with status 4: why' 'a failing command'
run benchmark compare --paired --repeats 5 true 'kill -9 $$'
refused 1 'killed by signal 9' 'a killed command'
done_testing
