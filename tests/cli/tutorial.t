#!/bin/sh
# Runs the commands of the tutorial in covtools(7).
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

need_program gnuplot
ok 'samples are made' "$SRC/workflows/demo/samples.sh" "$TESTLIB/../../demo/make_plant" . 60000
sed -n '/^\.SH TUTORIAL/,/^\.SH ENVIRONMENT/p' "$SRC/man/covtools.7" | sed -n '/^\.EX/,/^\.EE/p' |
    sed '/^\.E[XE]/d; s/\\-/-/g' >commands
is "$(grep -c . commands)" 13 'the tutorial has 13 commands'
while read -r command; do
    ok "$command" sh -e -c "$command"
done <commands
if "$PYTHON" -c 'import h5py, numpy' 2>/dev/null; then
    ok 'the merged parts equal the whole' "$PYTHON" "$SRC/tests/oracle/h5_equal.py" weed_predictions.h5 weed_merged.h5
else
    pass 'the merged parts equal the whole # SKIP no h5py'
fi
is "$(head -c 8 weed.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a 'the plot is a PNG'

# The same figures in a MultiQC report.
cov2bigwig -q -f --datasets atacseq --measured weed.h5 --peak-cutoff 5 -o weed.tsv --stats cress_mqc.json weed_predictions.h5
bam2h5 -q -f -p unshifted -o again.h5 weed.h5 weed_atacseq.sam --stats reads_mqc.json
cat >report.py <<'END'
import csv, json
total = list(csv.DictReader(open("weed.tsv"), delimiter="\t"))[-1]
mqc = json.load(open("cress_mqc.json"))
row = mqc["data"]["cress"]
for name in ("pearson_1", "spearman_1000", "precision", "recall", "f1"):
    assert abs(row["atacseq_" + name] - float(total[name])) < 1e-6, name
    assert mqc["headers"]["atacseq_" + name]["format"] == "{:,.3f}", name
assert mqc["id"].startswith("covtools_cov2bigwig_compare_atacseq_") and mqc["plot_type"] == "generalstats", mqc["id"]
assert mqc["comparison"]["tracks"], "--stats also has the comparison"
reads = sum(not line.startswith("@") for line in open("weed_atacseq.sam"))
mqc = json.load(open("reads_mqc.json"))
row = mqc["data"]["reads"]
assert row["reads"] == row["counted"] == reads, row
assert abs(row["mean_coverage"] - 50 * reads / row["bases"]) < 1e-3, row
END
ok 'the report has the figures of the table and of the reads' "$PYTHON" report.py

done_testing
