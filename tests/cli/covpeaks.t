#!/bin/sh
# covpeaks call: peaks, summits and broad peaks against peaks found base by base (tests/oracle/peaks_check.py); formats, inputs,
# options, statistics, refusals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covpeaks.sh"

# ---------------------------------------------------------------- peaks

: >all_peaks
: >all_broad
for seed in 1 2 3 4 5 6; do
    check track $seed >t.bg || exit 99
    for rules in '2.5 200 30' '1 100 20' '7.25 1 0' '5 50 100' '0.5 300 50'; do
        # shellcheck disable=SC2086 # three words
        set -- $rules
        run covpeaks call -q -c "$1" -l "$2" -g "$3" -o - t.bg
        check narrow "$1" "$2" "$3" t.bg >wanted
        is "$(columns 1-3,10)" "$(cut -f 1-4 wanted)" "track $seed: -c $1 -l $2 -g $3"
        is "$(columns 7)" "$(cut -f 5 wanted)" '  signalValue is the largest value'
        check gapped "$1" 0.25 "$2" "$3" 150 t.bg >broad
        run covpeaks call -q --broad -c "$1" -C 0.25 -l "$2" -g "$3" -G 150 -o - t.bg
        is "$(columns 1-3,10-12)" "$(cat broad)" '  broad'
        cat wanted >>all_peaks
        cat broad >>all_broad
    done
done
# shellcheck disable=SC2317 # ok calls it
several() { [ "$(wc -l <all_peaks)" -gt 500 ] && cut -f 4 all_broad | grep -q '[5-9]'; }
ok 'they have peaks, and broad ones with several blocks' several

# ---------------------------------------------------------------- formats

check track 7 >t.bg
check narrow 2.5 200 30 t.bg >wanted
n=$(wc -l <wanted)
run_ok 'narrowPeak' covpeaks call -c 2.5 -o t.narrowPeak t.bg
stderr_like "^covpeaks: $n peaks with [0-9]+ bases\$" '  reports the number'
is "$(awk -F'\t' '{ print NF, $6, $8, $9 }' t.narrowPeak | sort -u)" '10 . -1 -1' '  columns without values'
is "$(cut -f 4 t.narrowPeak)" "$(awk '{ print "t_peak_" NR }' wanted)" '  names'
is "$(cut -f 5 t.narrowPeak)" "$(awk -F'\t' '{ print int(10 * $5) }' wanted)" '  scores'
run covpeaks call -q -c 2.5 --signal mean -o - t.bg
is "$(columns 7)" "$(cut -f 6 wanted)" '  --signal mean'
run covpeaks call -q -c 2.5 -o t.bed.gz t.bg
is "$(gzip -dc t.bed.gz)" "$(cut -f 1-6 t.narrowPeak)" 'compressed BED'
run covpeaks call -q -c 2.5 --summits -o t.bed t.bg
is "$(cat t.bed)" "$(awk -F'\t' -v OFS='\t' '{ s = $2 + $10; print $1, s, s + 1, $4, $5, $6 }' t.narrowPeak)" 'summits'
run covpeaks call -q -c 2.5 --summits -o - t.bg
ok '  also to standard output' cmp "$stdout" t.bed
for suffix in gappedPeak broadPeak.gz bed; do
    run_ok "broad: $suffix" covpeaks call -q -f --broad -c 5 -C 1 -o "b.$suffix" t.bg
done
is "$(awk -F'\t' '{ print NF, $9, $14, $15 }' b.gappedPeak | sort -u)" '15 0 -1 -1' '  gappedPeak has 15 columns'
is "$(gzip -dc b.broadPeak.gz | cut -f 1-7)" "$(cut -f 1-6,13 b.gappedPeak)" '  broadPeak has the same regions'
# shellcheck disable=SC2016 # for awk
ok '  blocks begin and end with the peak' awk -F'\t' '{ n = split($11, size, ","); split($12, at, ",")
    if (n != $10 || at[1] != 0 || at[n] + size[n] != $3 - $2) exit 1 }' b.gappedPeak
printf 'a\t0\t300\t2\nb\t0\t300\t9\nb\t500\t800\t2\nc\t0\t300\t2\n' >weak.bg
run covpeaks call -q --broad -c 5 -C 1 -G 50 -o - weak.bg
is "$(columns 1-3 | tr '\t\n' '  ')" 'b 0 300 b 500 800 ' 'broad: none on sequences without narrow peaks, as MACS3'
printf 'c\t0\t300\t1234.5\n' >high.bg
run covpeaks call -q -c 2 -o - high.bg
is "$(columns 5,7)" '1000	1234.5' 'the score is at most 1000'

# ---------------------------------------------------------------- options

run covpeaks call -q -c 5 --preset atac -o - t.bg
cp "$stdout" atac
run covpeaks call -q -c 5 -l 100 -g 20 -o - t.bg
ok '--preset atac' cmp "$stdout" atac
run covpeaks call -q -c 5 -C 1 --preset h3k4me3 -g 40 -o - t.bg
cp "$stdout" h3k4me3
run covpeaks call -q --broad -c 5 -C 1 -l 200 -g 40 -G 500 -o - t.bg
ok '--preset h3k4me3, changed' cmp "$stdout" h3k4me3
printf 'chr10\nchr2\n' >drop
run covpeaks call -q -c 2.5 --blacklist-file drop -o - t.bg
is "$(columns 1-3)" "$(grep '^chr1	' wanted | cut -f 1-3)" '--blacklist-file'
run covpeaks call -q -c 2.5 --window-size 51 -o - t.bg
cp "$stdout" smoothed
cov2bigwig -q --window-size 51 -o s.bg t.bg || exit 99
run covpeaks call -q -c 2.5 -o - s.bg
is "$(columns 1-3)" "$(cut -f 1-3 smoothed)" '--window-size'

# ---------------------------------------------------------------- inputs

make_predictions
cov2bigwig -q --datasets h3k4me3 -o p.bg p.h5 || exit 99
run covpeaks call -q -c 2 -l 5 -g 3 -o - p.bg
columns 1-3,5-10 >wanted
ok 'a predictions file has peaks' test -s wanted
for input in p.bw '--datasets h3k4me3 p.h5' '-@ 1 --datasets h3k4me3 p.h5'; do
    # shellcheck disable=SC2086 # words
    run covpeaks call -q -c 2 -l 5 -g 3 -o - $input
    is "$(columns 1-3,5-10)" "$(cat wanted)" "  from $input"
done
is "$(columns 4 | head -n 1)" h3k4me3_peak_1 '  named after the dataset'
run sh -c 'h5chunk cat p.h5 | covpeaks call -q -c 2 -l 5 -g 3 --datasets h3k4me3 -o - - | LC_ALL=C sort -k1,1 -k2,2n | cut -f 1-3'
is "$(cat "$stdout")" "$(LC_ALL=C sort -k1,1 -k2,2n wanted | cut -f 1-3)" '  from a stream'
make_input exp e.h5
run_ok 'measured coverage' covpeaks call -q -c 2 -l 5 --experimental --datasets atacseq -o - e.h5
ok '  has peaks' test -s "$stdout"
columns 1-3,5-10 >wanted
run covpeaks call -q -c 2 -l 5 --datasets atacseq -o - e.h5
is "$(columns 1-3,5-10)" "$(cat wanted)" '  also without --experimental'

run_ok 'no peaks' covpeaks call -c 99 -o none.narrowPeak t.bg
stderr_is 'covpeaks: warning: t.bg: no peaks at 99: the largest value is 13' '  is a warning'
ok '  and an empty file' test -f none.narrowPeak -a ! -s none.narrowPeak
run covpeaks call -q -c 0 -o - t.bg
stderr_is 'covpeaks: warning: t.bg: 100 % of the bases are in peaks: the cutoff is too low to separate them' 'too many peaks'
run covpeaks call -c 2.5 -l 1M -o - t.bg
stderr_is 'covpeaks: warning: t.bg: no peaks at 2.5: all are shorter than 1000000 bases (--min-length)' 'peaks that are too short'
printf '%s\t100000\n' chr1 chr10 chr2 empty >sizes
run covpeaks call -c 2.5 -r chr1:90000-95000 --chrom-sizes sizes -o - t.bg
stderr_is 'covpeaks: warning: t.bg: no peaks at 2.5: no base has a value' 'a region without values'

run_ok '--stats' covpeaks call -q -c 2.5 --stats s_mqc.json -o x.bed t.bg
ok '  has the number of peaks' "$PYTHON" -c '
import json, sys
row = json.load(open("s_mqc.json"))["data"]["s"]
lines = [line.split("\t") for line in open("x.bed")]
assert row["peaks"] == len(lines) and row["cutoff"] == 2.5, row
assert row["peak_bases"] == sum(int(x[2]) - int(x[1]) for x in lines), row'

# One peak, 0-360, with 300 of the 310 bases that have a value.
printf 'c\t%s\n' '0	100	30' '130	230	30' '260	360	30' '380	390	1' >islands.bg
run covpeaks call -q -f -c 30 --stats s_mqc.json -o x.bed islands.bg
stderr_is 'covpeaks: warning: islands.bg: 97 % of the bases are in peaks: the cutoff is too low to separate them' 'gaps without values are no part of the share'
is "$(cut -f 2,3 x.bed)" '0	360' '  but of the peak'
run covpeaks call -q -f --broad -c 30 -C 1 --stats s.json -o x.bed islands.bg
ok '  in statistics' "$PYTHON" -c '
import json
row, broad = json.load(open("s_mqc.json"))["data"]["s"], json.load(open("s.json"))["peaks"]
assert row["peak_bases"] == 360 and abs(row["peak_share"] - 100 * 300 / 310) < 1e-6, row
assert broad["n"] == 1 and broad["bases"] == 390 and broad["share"] == 1, broad'
run covpeaks call -f --auto --share 1 -o x.bed islands.bg
stderr_like '^covpeaks: cutoff 1: 100 % of the bases are in peaks, closest to 100 %$' '  nor is a cutoff chosen for them'

# ---------------------------------------------------------------- refusals

refuses 2 'y\.gappedPeak: this format needs --broad; use \.narrowPeak or \.bed$' 'gappedPeak without --broad' call -c 1 -o y.gappedPeak t.bg
refuses 2 'y\.narrowPeak: with --broad, use \.gappedPeak, \.broadPeak or \.bed$' 'narrowPeak with it' call --broad -c 2 -C 1 -o y.narrowPeak t.bg
refuses 2 'y\.narrowPeak: --summits needs \.bed; column 10 of narrowPeak already has the summits$' 'summits elsewhere' call -c 1 --summits -o y.narrowPeak t.bg
refuses 2 '--broad needs -C/--weak-cutoff; --auto would find one$' 'no weak cutoff' call --broad -c 2 -o y.bed t.bg
refuses 2 '--preset h3k4me3 is --broad, which needs -C/--weak-cutoff; --auto would find one$' '  nor with a preset' call --preset h3k4me3 -c 2 -o y.bed t.bg
refuses 2 '--weak-cutoff needs --broad$' 'a weak cutoff alone' call -c 2 -C 1 -o y.bed t.bg
refuses 2 '--weak-cutoff 2 must be less than --cutoff 2$' 'equal cutoffs' call --broad -c 2 -C 2 -o y.bed t.bg
refuses 2 '--link-gap 30 must be greater than --max-gap 30$' 'equal gaps' call --broad -c 2 -C 1 -G 30 -o y.bed t.bg
refuses 2 '--summits and --broad' 'broad summits' call --broad --summits -c 2 -C 1 -o y.bed t.bg
refuses 2 '--cutoff: 1e\+39 is out of range$' 'a cutoff that no value reaches' call -c 1e39 -o y.bed t.bg
refuses 2 '--weak-cutoff: -1e\+39 is out of range$' 'a weak cutoff that all values reach' call --broad -c 1 -C -1e39 -o y.bed t.bg
refuses 1 't\.narrowPeak: already exists; use -f to replace it$' 'an existing output' call -c 2 -o t.narrowPeak t.bg
refuses 1 'missing\.bw: No such file' 'a missing input' call -c 2 -o y.bed missing.bw
printf 'c\t5\t9\t1\nc\t3\t4\t1\n' >unsorted.bg
refuses 1 'unsorted\.bg:2: ' 'an unsorted bedGraph' call -c 1 -o y.bed unsorted.bg
done_testing
