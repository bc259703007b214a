#!/bin/sh
# bam2h5_reference - compared with the values that Helixer computed from two BAM files.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

data=$SRC/tests/data
run_ok 'Tn5 cuts by strand' bam2h5 -q -p atacseq --strand own --shift -o plant.h5 "$data/genome.h5" "$data/atacseq.bam"
ok "  both datasets equal Helixer's" "$PYTHON" "$SRC/tests/oracle/coverage_check.py" same plant.h5 "$data/coverage.h5" atacseq

rest_needs_shared reference/bam2h5 reference/fasta2h5/pred_data.21384.h5
bams="$SHARED/reference/bam2h5/rep1.bam $SHARED/reference/bam2h5/rep2.bam"
genome=$SHARED/reference/fasta2h5/pred_data.21384.h5
for case in unstranded shift; do
    [ $case = shift ] && shift_option=--shift || shift_option=
    # shellcheck disable=SC2086 # lists of words
    run_ok "$case" bam2h5 -q -p atacseq --strand own $shift_option -o $case.h5 "$genome" $bams
    ok "$case: both datasets equal Helixer's" \
        "$PYTHON" "$SRC/tests/oracle/coverage_check.py" same $case.h5 "$SHARED/reference/bam2h5/$case.h5" atacseq
done
# shellcheck disable=SC2086
run bam2h5 -q -p atacseq -o both.h5 "$genome" $bams
ok '--strand both is the sum of both strands on either' "$PYTHON" -c '
import h5py, numpy as np
own, both = h5py.File("unstranded.h5"), h5py.File("both.h5")
places = own["data/start_ends"][:]
ids = own["data/seqids"][:]
partner = {(i, s, e): k for k, (i, (s, e)) in enumerate(zip(ids, places))}
for name in "coverage", "spliced_coverage":
    x, y = own[f"evaluation/atacseq_{name}"][:], both[f"evaluation/atacseq_{name}"][:]
    for k, (i, (s, e)) in enumerate(zip(ids, places)):
        n = abs(e - s)
        other = x[partner[i, e, s], :n][::-1]
        assert np.array_equal(y[k, :n], x[k, :n] + other)
'
run_ok 'cov2bigwig reads it' cov2bigwig -q --experimental --datasets atacseq -o own.bw unstranded.h5
done_testing
