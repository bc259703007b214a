#!/bin/sh
# Reads files of Helixer and Predmoter, and damaged files.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

# all_copied KIND TYPE FILE...: copies the files and compares the values.
all_copied() {
    kind=$1
    type=$2
    shift 2
    rm -rf from to
    mkdir from to
    for file; do
        ln -s "$file" from
        run h5_copy "$kind" "gzip/$type" "$file" "to/${file##*/}"
        status_is 0 "$(basename "$file") is copied: $kind"
    done
    ok '  with the same values' "$PYTHON" "$SRC/tests/oracle/h5_forms.py" "$kind" from to
    rm -r from to
}

data=$SRC/tests/data
all_copied genome int32 "$data"/genome.h5 "$data"/coverage.h5
all_copied measured float32 "$data"/coverage.h5
all_copied predicted int32 "$data"/plant_predictions.h5

rest_needs_shared reference/fasta2h5 reference/bam2h5 reference/predmoter_testdata reference/convert data/damaged
ref=$SHARED/reference
all_copied genome int32 "$ref"/fasta2h5/*.h5 "$ref"/predmoter_testdata/*.h5 "$ref"/bam2h5/*.h5
all_copied measured float32 "$ref"/predmoter_testdata/*.h5 "$ref"/bam2h5/*.h5
all_copied predicted int32 "$ref/convert/pred_data_1_predictions.h5"
all_copied predicted int64 "$ref/convert/pred_data_1_predictions.h5"

# None of these is a genome file or a predictions file; several crash or hang libhdf5 1.10.8.
for file in "$SHARED"/data/damaged/hdf5/*.h5 "$SHARED"/data/damaged/cve_hdf5/cvefiles/*; do
    for kind in genome predicted measured; do
        run timeout 600 h5_copy $kind gzip "$file" copy.h5
        refused 1 ": $file: " "$(basename "$file") is refused: $kind"
    done
done
leaves 'no output remains'
done_testing
