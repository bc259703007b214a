#!/bin/sh
# covpredict compared with Predmoter's predictions from the same checkpoints, and --evaluate with its test metrics;
# test_reference_models compares more predictions.
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

data=$reference/predmoter_testdata
check="$SRC/tests/oracle/evaluate_check.py"
run covpredict -m "$data/mini_model.ckpt" --evaluate -o mini.tsv "$data"/train_data_[1245].h5 "$data"/val_data_*.h5
ok "--evaluate: Predmoter's loss and accuracy" "$PYTHON" "$check" predmoter mini.tsv "$data/mini_model_metrics.json"
for model in bihybrid_even_kernel bihybrid_step3 cnn_plain hybrid; do
    case=$reference/models/$model/case.json
    files=$("$PYTHON" -c 'import json, sys
print(*(sys.argv[2] + "/" + name for name in json.load(open(sys.argv[1]))["test_metrics_one_batch"]))' "$case" "$data")
    # shellcheck disable=SC2086 # names
    run covpredict -m "$reference/models/$model/model.ckpt" --evaluate -o $model.tsv $files
    ok "  also of $model" "$PYTHON" "$check" predmoter $model.tsv "$case" test_metrics_one_batch
done
done_testing
