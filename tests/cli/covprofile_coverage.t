#!/bin/sh
# covprofile coverage and fingerprint, and --fill-gaps of all subcommands: tables against values counted base by base
# (tests/oracle/profile_check.py); inputs, pictures, statistics, refusals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covprofile.sh"

coverage() { run covprofile coverage -q -f "$@"; }
fingerprint() { run covprofile fingerprint -q -f "$@"; }

# ---------------------------------------------------------------- tables

for seed in 1 2; do
    ask random $seed || exit 99
    for step in 1 0.25 7; do
        coverage --step $step --chrom-sizes sizes --curves c.tsv -o t.tsv t.bg u.bg
        ok "made $seed: tables in steps of $step" ask coverage t.tsv c.tsv step=$step
    done
    sed 's/-//' u.bg >v.bg
    fingerprint --bins 100 --chrom-sizes sizes -o f.tsv t.bg v.bg
    ok "made $seed: metrics of fingerprints" ask fingerprints f.tsv bins=100 tracks=t.bg,v.bg
    fingerprint --bins 70 --chrom-sizes sizes --control v.bg -o f.tsv t.bg
    ok '  with a control' ask fingerprints f.tsv bins=70 tracks=v.bg,t.bg control=1
done
coverage --step 0.1 --chrom-sizes sizes --curves c.tsv -o t.tsv t.bg u.bg
ok 'steps that are no binary fractions' ask coverage t.tsv c.tsv step=0.1
for track in t u v; do
    cov2bigwig -q --chrom-sizes sizes -o $track.bw $track.bg || exit 99
done
coverage --step 0.1 --curves d.tsv -@ 1 -o v.tsv t.bw u.bw
ok 'of bigWig, with one thread' cmp v.tsv t.tsv
ok '  and the curves' cmp d.tsv c.tsv
printf 'chr1\t1000\t7000\n' >drop.bed
coverage --blacklist-file drop.bed --curves c.tsv -o t.tsv t.bw u.bw
ok '--blacklist-file' ask coverage t.tsv c.tsv drop=chr1:1000-7000
printf 'c\t0\t10\t4\nc\t15\t20\t1\n' >gap.bg
run covprofile coverage gap.bg
is "$(cat "$stdout")" "$(printf '%s\n' 'track	bases	mean	sd	min	q1	median	q3	max	zero	missing' \
    "gap	15	3	1.41421356	1	1	4	4	4	0	NA")" 'a track with a gap, of unknown length'

make_input pred p.h5 datasets=atacseq,h3k4me3
make_input exp e.h5
cov2bigwig -q --datasets h3k4me3 -o h.bw p.h5 || exit 99
coverage --curves c.tsv p.h5 h.bw
is "$(cut -f 1 "$stdout")" "$(printf '%s\n' track p_atacseq p_h3k4me3 h)" 'all datasets of a predictions file'
is "$(sed -n 3p "$stdout" | cut -f 2-)" "$(sed -n 4p "$stdout" | cut -f 2-)" '  one equals its bigWig'
is "$(awk '$1 == "p_h3k4me3"' c.tsv | cut -f 2-)" "$(awk '$1 == "h"' c.tsv | cut -f 2-)" '  also the curves'
run_ok 'measured coverage' coverage --experimental --datasets h3k4me3 e.h5
is "$(sed -n 2p "$stdout" | cut -f 6,7)" "$(covprofile coverage -q --datasets h3k4me3 e.h5 | sed -n 2p | cut -f 6,7)" '  is read without that option, too'

# ---------------------------------------------------------------- fingerprints

fingerprint --bins 70 --control v.bw -@ 1 -o g.tsv t.bw
ok 'fingerprint: of bigWig, with one thread' cmp g.tsv f.tsv
fingerprint --bins 70 --chrom-sizes sizes --control v.bw - <t.bg
is "$(sed -n 3p "$stdout" | cut -f 1)" stdin 'standard input, to standard output'
is "$(sed -n 3p "$stdout" | cut -f 2-)" "$(sed -n 3p f.tsv | cut -f 2-)" '  has the same metrics'

# Four bins: 0, 1, 2 and 5; the control has 2 in each.
printf 'c\t0\t10\t0\nc\t10\t20\t1\nc\t20\t30\t5\nc\t30\t40\t2\n' >four.bg
printf 'c\t0\t40\t2\n' >flat.bg
fingerprint --bins 10 --control flat.bg four.bg
is "$(cut -f 1-4,6-7 "$stdout")" "$(printf '%s\n' 'track	auc	x_intercept	elbow	enriched	difference' 'flat	0.625	0.25	1	NA	NA' \
    'four	0.375	0.5	0.75	0.75	0.375')" 'four bins, counted by hand'
fingerprint --bins 10 --control four.bg flat.bg
is "$(sed -n 3p "$stdout" | cut -f 6-)" '0	0	0' 'a track below its control'

fingerprint --bins 20 --control h.bw p.h5
is "$(cut -f 1 "$stdout")" "$(printf '%s\n' track h p_atacseq p_h3k4me3)" 'fingerprint: all datasets of a predictions file'
is "$(sed -n 4p "$stdout" | cut -f 2-7)" "$(sed -n 2p "$stdout" | cut -f 2-4)	0	0	0" '  one equals its bigWig'
fingerprint --bins 20 -r chr1:1-2000 --datasets atacseq -o r.tsv p.h5
printf 'chr1\t0\t2000\n' >r.bed
fingerprint --bins 20 -R r.bed --datasets atacseq p.h5
ok 'fingerprint: regions' cmp r.tsv "$stdout"

# ---------------------------------------------------------------- --fill-gaps

# The same tracks with and without zeros; gaps are also two sequences and the end of chr1.
mkdir gaps filled
for track in t u; do
    sed '/^chr2/d; /^unused/d; /	30000	/d; s/-//' $track.bg >gaps/$track.bg
    ask fill gaps/$track.bg filled/$track.bg || exit 99
    cov2bigwig -q --chrom-sizes sizes -o gaps/$track.bw gaps/$track.bg || exit 99
done
while read -r options; do
    # shellcheck disable=SC2086 # words
    run covprofile $options -q -f --chrom-sizes sizes -o want.tsv filled/t.bg filled/u.bg
    for suffix in bg bw; do
        # shellcheck disable=SC2086 # words
        run covprofile $options -q -f --fill-gaps --chrom-sizes sizes -o got.tsv gaps/t.bg gaps/u.$suffix
        ok "--fill-gaps, .$suffix: $options" cmp got.tsv want.tsv
        is "$(cat "$stderr")" '' '  without a warning'
    done
done <<'END'
coverage --curves c.tsv
coverage --window-size 51
coverage --blacklist-file drop.bed
coverage -r chr1:1-2000,chr2
fingerprint --bins 70
genes --genes f.bed
END
run_ok 'with predictions, which need none' coverage --fill-gaps --datasets h3k4me3 -o t.tsv p.h5 t.bw

# ---------------------------------------------------------------- pictures and statistics

if command -v gnuplot >/dev/null; then
    for file in c.png c.svg; do
        run_ok "a picture: $file" coverage --plot $file -o t.tsv t.bw u.bw
        ok '  was written' test -s $file
    done
    is "$(grep -c 'Bases by coverage\|Bases with at least this coverage' c.svg)" 2 '  with two charts'
    printf 'c\t0\t10\t7\n' >one.bg
    run_ok '  of a single value' coverage --plot c.svg one.bg
    is "$(grep -c '>one<' c.svg)" 2 '  has the name of a single track'
    for file in f.png f.svg; do
        run_ok "a fingerprint: $file" fingerprint --bins 100 --plot $file -o f.tsv t.bw v.bw
        ok '  was written' test -s $file
    done
    like "$(cat f.svg)" 'Fingerprint of bins of 100 bases' '  has the width of the bins'
fi
run_ok '--stats' covprofile coverage -f --stats s.covprofile_mqc.json -o t.tsv t.bw u.bw
stderr_like '^covprofile: t: mean [0-9.]+, median [0-9.]+, [0-9.]+ % of the bases are 0$' '  also on standard error'
stderr_like '^covprofile: warning: u\.bw: missing values at [23][0-9] % of its bases, which do not count; --fill-gaps counts them as 0$' '  warns about gaps'
ok '  has the figures' "$PYTHON" -c '
import json
s = json.load(open("s.covprofile_mqc.json"))
table = [line.rstrip("\n").split("\t") for line in open("t.tsv")]
assert [x["track"] for x in s["coverage"]] == ["t", "u"], s
for got, row in zip(s["coverage"], table[1:]):
    for name, value in zip(table[0][1:], row[1:]):
        assert abs(got[name] - float(value)) < 1e-6, (name, got, value)
assert s["data"]["s.u"]["median"] == s["coverage"][1]["median"], s["data"]'

run_ok 'fingerprint --stats' covprofile fingerprint -f --bins 70 --control v.bw --stats s.covprofile_mqc.json -o f.tsv t.bw
stderr_like '^covprofile: t: AUC 0\.[0-9]+, X-intercept 0\.[0-9]+, elbow 0\.[0-9]+$' '  also on standard error'
ok '  has the metrics' "$PYTHON" -c '
import json
s = json.load(open("s.covprofile_mqc.json"))
table = [line.rstrip("\n").split("\t") for line in open("f.tsv")]
assert [x["track"] for x in s["fingerprints"]] == ["v", "t"] and s["bins"] > 100, s
for got, row in zip(s["fingerprints"], table[1:]):
    for name, value in zip(table[0][1:], row[1:]):
        assert (got[name] is None) if value == "NA" else abs(got[name] - float(value)) < 1e-8, (name, got, value)
assert s["data"]["s.t"]["js_distance"] == s["fingerprints"][1]["js_distance"], s["data"]'

# ---------------------------------------------------------------- refusals

printf 'unused\t0\t100\n' >unused.bed
refuses 1 't\.bw: no base has a value$' 'a region without values' coverage -r unused:1-10 --blacklist-file unused.bed -o x.tsv t.bw
refuses 1 '--fill-gaps: t\.bg has no lengths; give --chrom-sizes$' '  without lengths' coverage --fill-gaps t.bg
refuses 2 '--step: ' 'a step of 0' coverage --step 0 t.bw
refuses 2 '--stats and the table cannot both go to standard output$' '--stats to standard output' coverage --stats - t.bw
refuses 1 'u\.bg: [^ :]+:[0-9]*1: the mean of 10 bases is -[0-9.]+; a fingerprint has no values below 0$' 'negative values' fingerprint --bins 10 --chrom-sizes sizes -o x.tsv u.bg
printf 'c\t0\t400\t0\n' >zero.bg
refuses 1 'zero\.bg: all bins of zero are 0$' 'no signal' fingerprint --bins 10 -o x.tsv zero.bg
refuses 1 'flat: 1 bin has a value in the track; a curve needs two$' 'a single bin' fingerprint -o x.tsv flat.bg
refuses 1 'p\.h5: 2 datasets \(atacseq, h3k4me3\); choose one with --datasets$' 'a control with two tracks' fingerprint --control p.h5 -o x.tsv h.bw
refuses 1 'four\.bg: none of its sequences \(c\) is in t\.bw ' 'a control of another genome' fingerprint --control t.bw -o x.tsv four.bg
done_testing
