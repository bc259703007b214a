#!/bin/sh
# covtrain against PyTorch: an epoch more of checkpoints that Predmoter's trainer wrote, step by step.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_shared reference/models reference/predmoter_testdata
need_python torch h5py numpy

data=$SHARED/reference/predmoter_testdata
mkdir -p d/train d/val
ln -s "$data/val_data_2.h5" d/train && ln -s "$data/val_data_2.h5" d/val
resume() { # CKPT EPOCHS
    rm -rf o
    run covtrain -q -i d -o o -b 2 -e "$2" --no-shuffle --resume-training "$1"
    status_is 0 "${1#"$SHARED/"}"
    ok '  goes on as in PyTorch' "$PYTHON" "$SRC/tests/lib/torch_resume.py" "$1" d/train/val_data_2.h5 2 o/metrics.jsonl
}
resume "$SHARED/reference/models/cnn_plain/model.ckpt" 4
resume "$data/mini_model.ckpt" 6
done_testing
