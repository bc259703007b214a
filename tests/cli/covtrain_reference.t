#!/bin/sh
# covtrain compared with the losses and accuracies of Predmoter's own first steps, from the same weights.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

mkdir -p data/train data/val
ln -s "$SRC/tests/data/coverage.h5" data/train
ln -s "$SRC/tests/data/coverage.h5" data/val
for model in cnn hybrid; do
    run covtrain -q -i data -o $model -b 3 -e 3 --no-shuffle --datasets atacseq --init-from "$SRC/tests/data/${model}_init.ckpt"
    status_is 0 "three epochs of $model"
    ok "  losses and accuracies of all steps are Predmoter's" "$PYTHON" - $model "$SRC/tests/data/cases.json" <<'END'
import json, sys
name, cases = sys.argv[1:]
expected = json.load(open(cases))["train_loss_accuracy_per_step"][name]
steps = [s for s in map(json.loads, open(name + "/metrics.jsonl")) if "step" in s]
assert len(steps) == len(expected) == 9, len(steps)
for i, (s, (loss, accuracy)) in enumerate(zip(steps, expected)):
    bound = 1e-5 if i == 0 else 1e-4 if i < 5 else 5e-4
    assert abs(s["loss"] / loss - 1) < bound and abs(s["accuracy"] - accuracy) < 1e-4, (i, s, loss, accuracy)
END
done
done_testing
