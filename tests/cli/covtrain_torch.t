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

# Checkpoints that say what cannot be.
cat >damage.py <<'EOF'
import copy, sys
import torch
whole = torch.load(sys.argv[1], map_location="cpu")
saving = next(k for k in whole["callbacks"] if k.startswith("ModelCheckpoint"))

def damaged(name, change):
    c = copy.deepcopy(whole)
    change(c, c["optimizer_states"][0])
    torch.save(c, name)

damaged("epoch.ckpt", lambda c, adam: c.update(epoch=2 ** 63 - 1))
damaged("steps.ckpt", lambda c, adam: c.update(global_step=2 ** 63 - 1))
damaged("moments.ckpt", lambda c, adam: adam["state"][0].update(step=torch.tensor(-5.)))
damaged("betas.ckpt", lambda c, adam: adam["param_groups"][0].update(betas=(1., 0.999)))
damaged("saved.ckpt", lambda c, adam: c["callbacks"][saving].update(
    best_k_models={"x/": torch.tensor(-1.), "last.ckpt": torch.tensor(-2.), "metrics.log": torch.tensor(-3.)}))
EOF
"$PYTHON" damage.py o/last.ckpt || exit 99
for name in epoch steps moments betas; do
    run covtrain -q -i d -o bad -b 2 -e 9 --resume-training $name.ckpt
    refused 1 "$name\\.ckpt: .*(are no counts|has -5 steps|not Adam)" "impossible $name"
done
mv saved.ckpt o/last.ckpt
run covtrain -q -i d -o o -b 2 -e 7 --resume-training o/last.ckpt --save-top-k 1
status_is 0 'names that are none of checkpoints of epochs'
ok '  are not removed' test -s o/last.ckpt -a -s o/metrics.log
done_testing
