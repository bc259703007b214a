#!/bin/sh
# covpredict compared with Predmoter's predictions from the same checkpoints; test_reference_models compares more of them.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

check() { # NAME ACTION ARG...
    name=$1
    shift
    ok "$name" "$PYTHON" "$SRC/tests/oracle/predict_check.py" "$@"
}

data=$SRC/tests/data
run_ok 'a network that is not rounded' covpredict --float -m "$data/bihybrid.ckpt" -o bihybrid.h5 "$data/genome.h5"
check "  is close to Predmoter's floats, padding is exactly -1" close bihybrid.h5 "$data/predictions.h5" bihybrid
run_ok 'a trained network' covpredict -m "$data/plant.ckpt" -o integers.h5 "$data/genome.h5"
check "  gives Predmoter's integers; two may differ by one" nearly integers.h5 "$data/plant_predictions.h5"
run covpredict -@ 1 --batch-size 3 -m "$data/plant.ckpt" --species Made_plant -o plant_fasta.h5 "$data/genome.fa"
status_is 0 '  from the FASTA, on one thread'
check '    the same values' same plant_fasta.h5 integers.h5

rest_needs_shared reference/models reference/convert reference/predmoter_testdata reference/fasta2h5
reference=$SHARED/reference
genome=$reference/fasta2h5/pred_data.21384.h5
run_ok 'the model of the test data' covpredict -m "$reference/predmoter_testdata/mini_model.ckpt" -o mini.h5 "$genome"
check "  gives Predmoter's integers; two may differ by one" nearly mini.h5 "$reference/convert/pred_data_1_predictions.h5"
run covpredict -@ 1 --batch-size 5 -m "$reference/predmoter_testdata/mini_model.ckpt" -o fasta.h5 \
    --species "$("$PYTHON" -c 'import h5py, sys; print(h5py.File(sys.argv[1])["data/species"][0].decode())' "$genome")" \
    "$reference/fasta2h5/pred_data.fa"
status_is 0 '  from the FASTA'
ok '    the same bytes' cmp fasta.h5 mini.h5

run covpredict --float -m "$reference/models/yeast_trained/model.ckpt" -o yeast.h5 "$reference/models/yeast_trained/yeast.fa.gz"
status_is 0 'a trained model and the FASTA of yeast, gzip'
check "  is close to Predmoter's floats, padding is exactly -1" close yeast.h5 "$reference/models/yeast_trained/expected_yeast.h5"
done_testing
