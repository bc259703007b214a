#!/bin/sh
# covpredict --evaluate compared with the test metrics of Predmoter.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_shared reference/models reference/predmoter_testdata
need_python h5py numpy

reference=$SHARED/reference
data=$reference/predmoter_testdata
check="$SRC/tests/oracle/evaluate_check.py"

run covpredict -m "$data/mini_model.ckpt" --evaluate "$data"/train_data_[1245].h5 "$data"/val_data_*.h5
status_is 0 'the model of the test data'
cp "$stdout" mini.tsv
ok "  has Predmoter's loss and accuracy" "$PYTHON" "$check" predmoter mini.tsv "$data/mini_model_metrics.json"
for model in bihybrid_even_kernel bihybrid_step3 cnn_plain hybrid; do
    files=$("$PYTHON" -c '
import json, sys
print(" ".join(json.load(open(sys.argv[1]))["test_metrics_one_batch"]))' "$reference/models/$model/case.json")
    set --
    for file in $files; do
        set -- "$@" "$data/$file"
    done
    run_ok "$model" covpredict -m "$reference/models/$model/model.ckpt" --evaluate -o $model.tsv "$@"
    ok "  has Predmoter's loss and accuracy" "$PYTHON" "$check" predmoter $model.tsv \
        "$reference/models/$model/case.json" test_metrics_one_batch
done
done_testing
