#!/bin/sh
# covprofile fingerprint: metrics against those of bins computed base by base (tests/oracle/profile_check.py); inputs, pictures,
# statistics, refusals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covprofile.sh"

fingerprint() { run covprofile fingerprint -q -f "$@"; }

# ---------------------------------------------------------------- metrics

for seed in 1 2; do
    check make $seed || exit 99
    sed 's/-//' u.bg >v.bg
    fingerprint --bins 100 --chrom-sizes sizes -o f.tsv t.bg v.bg
    ok "made $seed: metrics" check fingerprints f.tsv bins=100 tracks=t.bg,v.bg
    fingerprint --bins 70 --chrom-sizes sizes --control v.bg -o f.tsv t.bg
    ok '  with a control' check fingerprints f.tsv bins=70 tracks=v.bg,t.bg control=1
done
for track in t v; do
    cov2bigwig -q --chrom-sizes sizes -o $track.bw $track.bg || exit 99
done
fingerprint --bins 70 --control v.bw -@ 1 -o g.tsv t.bw
ok 'of bigWig, with one thread' cmp g.tsv f.tsv
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

make_input pred p.h5 datasets=atacseq,h3k4me3
cov2bigwig -q --datasets h3k4me3 -o h.bw p.h5 || exit 99
fingerprint --bins 20 --control h.bw p.h5
is "$(cut -f 1 "$stdout")" "$(printf '%s\n' track h p_atacseq p_h3k4me3)" 'all datasets of a predictions file'
is "$(sed -n 4p "$stdout" | cut -f 2-7)" "$(sed -n 2p "$stdout" | cut -f 2-4)	0	0	0" '  one equals its bigWig'
fingerprint --bins 20 -r chr1:1-2000 --datasets atacseq -o r.tsv p.h5
printf 'chr1\t0\t2000\n' >r.bed
fingerprint --bins 20 -R r.bed --datasets atacseq p.h5
ok 'regions' cmp r.tsv "$stdout"

# ---------------------------------------------------------------- pictures and statistics

if command -v gnuplot >/dev/null; then
    for file in f.png f.svg; do
        fingerprint --bins 100 --plot $file -o f.tsv t.bw v.bw
        status_is 0 "a picture: $file"
        ok '  was written' test -s $file
    done
    like "$(cat f.svg)" 'Fingerprint of bins of 100 bases' '  has the width of the bins'
fi
run covprofile fingerprint -f --bins 70 --control v.bw --stats s.covprofile_mqc.json -o f.tsv t.bw
status_is 0 '--stats'
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

refuses 1 'u\.bg: [^ :]+:[0-9]*1: the mean of 10 bases is -[0-9.]+; a fingerprint has no values below 0$' 'negative values' fingerprint --bins 10 --chrom-sizes sizes -o x.tsv u.bg
printf 'c\t0\t400\t0\n' >zero.bg
refuses 1 'zero\.bg: all bins of zero are 0$' 'no signal' fingerprint --bins 10 -o x.tsv zero.bg
refuses 1 'flat: 1 bin has a value in the track; a curve needs two$' 'a single bin' fingerprint -o x.tsv flat.bg
refuses 1 'p\.h5: 2 datasets \(atacseq, h3k4me3\); choose one with --datasets$' 'a control with two tracks' fingerprint --control p.h5 -o x.tsv h.bw
refuses 1 'four\.bg: none of its sequences \(c\) is in t\.bw ' 'a control of another genome' fingerprint --control t.bw -o x.tsv four.bg
refuses 1 'missing\.bw: No such file' 'a missing control' fingerprint --control missing.bw -o x.tsv t.bw
done_testing
