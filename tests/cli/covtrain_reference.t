#!/bin/sh
# covtrain compared with the losses and accuracies of Predmoter's own first steps, from the same weights: of small networks at every
# CPU level, of the shared ones at the highest.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

cat >case.py <<'END'
"""case.py NAME [METRICS]: prints the initial weights, the chunks, the batch, the datasets and the steps of a recorded training in
tests/data, or of shared/NAME; or compares the steps of METRICS."""
import json, os, sys
name, metrics = sys.argv[1], sys.argv[2:]
if name.startswith("shared/"):
    root = os.environ["SHARED"] + "/reference/"
    case = json.load(open(root + "models/%s/case.json" % name[7:]))
    init, data = root + "models/%s/init.ckpt" % name[7:], root + "predmoter_testdata/" + case["train_file"]
    batch, steps = case["batch_size"], case["train_loss_accuracy_per_step"]
    datasets = case["hyper_parameters"]["datasets"]
else:
    root = os.environ["SRC"] + "/tests/data/"
    case = json.load(open(root + "cases.json"))
    init, data, batch, datasets = root + name + "_init.ckpt", root + "coverage.h5", case["batch_of_training"], ["atacseq"]
    steps = case["train_loss_accuracy_per_step"][name]
if not metrics:
    print(init, data, batch, ",".join(datasets), len(steps))
    sys.exit()
found = [s for s in map(json.loads, open(metrics[0])) if "step" in s]
assert len(steps) == len(found) > 1, len(found)
for i, (s, (loss, accuracy)) in enumerate(zip(found, steps)):
    bound = 1e-5 if i == 0 else 1e-4 if i < 5 else 5e-4
    assert abs(s["loss"] / loss - 1) < bound and abs(s["accuracy"] - accuracy) <= 1e-4, (i, s, loss, accuracy)
END
mkdir -p data/train data/val
set -- cnn hybrid
[ ! -r "$SHARED/reference/models" ] || set -- "$@" shared/cnn_plain shared/hybrid shared/bihybrid_step3 shared/bihybrid_even_kernel
levels=$(covtrain --version | sed -n 's/^--cpu: //p' | sed 's/scalar//')
for model; do
    "$PYTHON" case.py "$model" >case.txt || exit 99
    read -r init chunks batch datasets steps <case.txt
    ln -sf "$chunks" data/train/x.h5 && ln -sf "$chunks" data/val/x.h5
    for level in $(case $model in shared/*) echo "${levels##* }" ;; *) echo "$levels" ;; esac); do
        run covtrain -q -f -i data -o out -b "$batch" -e 99 --max-steps "$steps" --no-shuffle --datasets "$datasets" --init-from "$init" \
            --cpu "$level"
        status_is 0 "$steps steps of $model, --cpu $level"
        ok "  losses and accuracies are Predmoter's" "$PYTHON" case.py "$model" out/metrics.jsonl
    done
done
done_testing
