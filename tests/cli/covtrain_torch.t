#!/bin/sh
# covtrain compared with PyTorch: another epoch from checkpoints of Predmoter, step by step.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_shared reference/models reference/predmoter_testdata
need_python torch h5py numpy

export OMP_NUM_THREADS=1 # threads only slow down such small networks
cat >checks.py <<'EOF'
import copy
import os
import sys
import h5py
import numpy as np
import torch
sys.path.insert(0, os.environ["SRC"] + "/tests/oracle")
import serve
import training_data
from torch_resume import load, main as resume


def shorten(whole, path, length=396):
    """Writes eight shorter chunks with reads, since PyTorch's LSTM is slow."""
    with h5py.File(whole) as f, h5py.File(path, "w") as out:
        def cut(name):
            a = f[name][:]
            return a.reshape(-1, length, a.shape[2])
        sets = {name: cut(name) for name in ["data/X"] + ["evaluation/" + k for k in f["evaluation"] if k.endswith("_coverage")]}
        bases = (sets["data/X"].sum(axis=2) > 0).all(axis=1) & (sets["data/X"][:, :, 0].max(axis=1) == 1)
        rows = np.flatnonzero(bases)[:8]
        for name, a in sets.items():
            out.create_dataset(name, data=a[rows], chunks=(1, length, a.shape[2]))
        out["data/seqids"] = np.array([b"s%d" % i for i in range(len(rows))], "S50")
        out["data/species"] = np.array([b"sp"] * len(rows), "S25")
        out["data/start_ends"] = np.array([(0, length)] * len(rows), "i8")


def species(name, *size):
    training_data.main(f"sp/{name}.h5", *size)
    with h5py.File(f"sp/{name}.h5", "r+") as f:
        f["data/species"][:] = name.encode()
        if name == "moss":
            f["evaluation/atacseq_coverage"][:] *= 3


def has_adamw(ckpt, beta1, beta2):
    group = load(ckpt)["optimizer_states"][0]["param_groups"][0]
    assert (group["weight_decay"], group["betas"], group["decoupled_weight_decay"]) == (2, (float(beta1), float(beta2)), True), group


def set_betas(ckpt):
    c = load(ckpt)
    c["optimizer_states"][0]["param_groups"][0]["betas"] = (0.8, 0.99)
    torch.save(c, ckpt)


def is_within_epoch(ckpt):
    c = load(ckpt)
    loop = c["loops"]["fit_loop"]
    assert c["epoch"] == 1 and c["global_step"] == 4 and loop["epoch_progress"]["current"]["completed"] == 1
    batches = loop["epoch_loop.batch_progress"]
    assert not batches["is_last_batch"] and batches["current"]["completed"] == 1 and batches["total"]["completed"] == 4, batches


def damage(ckpt):
    """Writes checkpoints with impossible contents."""
    whole = load(ckpt)
    saving = next(k for k in whole["callbacks"] if k.startswith("ModelCheckpoint"))

    def damaged(name, change):
        c = copy.deepcopy(whole)
        change(c, c["optimizer_states"][0])
        torch.save(c, name)

    damaged("epoch.ckpt", lambda c, adam: c.update(epoch=2 ** 63 - 1))
    damaged("steps.ckpt", lambda c, adam: c.update(global_step=2 ** 63 - 1))
    damaged("moments.ckpt", lambda c, adam: adam["state"][0].update(step=torch.tensor(-5.)))
    damaged("betas.ckpt", lambda c, adam: adam["param_groups"][0].update(betas=(1., 0.999)))
    damaged("coupled.ckpt", lambda c, adam: adam["param_groups"][0].update(weight_decay=0.1, decoupled_weight_decay=False))
    damaged("saved.ckpt", lambda c, adam: c["callbacks"][saving].update(
        best_k_models={"x/": torch.tensor(-1.), "last.ckpt": torch.tensor(-2.), "metrics.log": torch.tensor(-3.)}))


serve.run(lambda name, *args: globals()[name](*args))
EOF
start_python checks.py
data=$SHARED/reference/predmoter_testdata
mkdir -p d/train d/val
ln -s "$data/val_data_2.h5" d/train && ln -s "$data/val_data_2.h5" d/val
mkdir -p s/train s/val
ask shorten "$data/val_data_2.h5" s/train/short.h5 || exit 99
ln -s ../train/short.h5 s/val
resume() { # CKPT EPOCHS [DIRECTORY]
    rm -rf o
    in=${3:-d}
    run_ok "${1#"$SHARED/"}" covtrain -q -i "$in" -o o -b 2 -e "$2" --no-shuffle --resume-training "$1"
    ok '  continues as in PyTorch' ask resume "$1" "$in"/train/*.h5 2 o/metrics.jsonl
}
resume "$SHARED/reference/models/cnn_plain/model.ckpt" 4
resume "$data/mini_model.ckpt" 6 s
is "$(grep -c step o/metrics.jsonl)" 4 '  in four steps'

# With dropout, and a different order in each epoch.
run covtrain -q -i s -o first -b 3 -e 1 --seed 5 --cnn-layers 1 --filter-size 16 --hidden-size 16 --lstm-layers 3 --dropout 0.3
status_is 0 'three LSTM layers with dropout'
run_ok '  resumed' covtrain -q -i s -o next -b 3 -e 3 --resume-training first/last.ckpt
ok '  as in PyTorch with the same orders and dropout' ask resume first/last.ckpt s/train/short.h5 3 next/metrics.jsonl 5
is "$(grep -c step next/metrics.jsonl)" 6 '  in two epochs of three steps'

# With weight decay, and with betas that only PyTorch sets, which a resumed training keeps.
run covtrain -q -i s -o decay -b 3 -e 1 --seed 6 --filter-size 16 --hidden-size 16 --learning-rate 0.003 --weight-decay 2
status_is 0 'weight decay'
ok '  is written as that of AdamW' ask has_adamw decay/last.ckpt 0.9 0.999
ask set_betas decay/last.ckpt || exit 99
run_ok '  resumed' covtrain -q -i s -o decays -b 3 -e 3 --resume-training decay/last.ckpt
ok "  as PyTorch's AdamW" ask resume decay/last.ckpt s/train/short.h5 3 decays/metrics.jsonl 6
is "$(grep -c step decays/metrics.jsonl)" 6 '  in two epochs of three steps'
ok '  whose numbers the checkpoints have' ask has_adamw decays/last.ckpt 0.8 0.99

# Frozen layers, which have no state of the optimiser; their norms follow the data.
for layers in conv down_layer_list.0,lstm,up_layer_list.0; do
    rm -rf ice
    run covtrain -q -i s -o ice -b 3 -e 1 --init-from first/last.ckpt --seed 7 --learning-rate 0.01 --freeze $layers
    status_is 0 "--freeze $layers"
    run covtrain -q -i s -o ice -b 3 -e 3 --resume-training ice/predmoter*epoch=0_*
    sed 1,4d ice/metrics.jsonl >ice/metrics.last
    ok '  as in PyTorch' ask resume ice/predmoter*epoch=0_* s/train/short.h5 3 ice/metrics.last 7 ice/last.ckpt
done

# Everything at once: a species is left out, the others are balanced, a layer is frozen, activations are computed again, and the training stops within an epoch.
mkdir -p sp
for species in 'fern 21 6' 'moss 22 10' 'weed 23 4'; do
    # shellcheck disable=SC2086 # name, seed and pairs of chunks
    ask species $species || exit 99
done
common='-b 4 --leave-out weed --balance species --recompute --lstm-layers 2 --dropout 0.3 --save-every 5'
all() { # OPTION...
    # shellcheck disable=SC2086 # a list of words
    run covtrain -q -i sp -o all $common "$@"
}
all -e 1 --seed 8 --filter-size 8 --hidden-size 16 --weight-decay 0.5 \
    --freeze down_layer_list.0
status_is 0 'all options'
cp all/last.ckpt all.ckpt
lines=$(wc -l <all/metrics.jsonl)
all -e 3 --resume-training all/last.ckpt --max-hours 0.000001
run_ok '  resumed within an epoch' all -e 3 --resume-training all/last.ckpt
sed "1,${lines}d" all/metrics.jsonl >all.jsonl
is "$(grep -c step all.jsonl)" 16 '  in two epochs of eight steps'
ok '  as in PyTorch' ask resume all.ckpt sp/fern.h5,sp/moss.h5 4 all.jsonl 8 - balance recompute
like "$(ask resume all.ckpt sp/fern.h5,sp/moss.h5 4 all.jsonl 8 - recompute 2>&1)" '^step [0-9]+: ' '  not in another order'

# Within an epoch.
run covtrain -q -i s -o within -b 3 -e 3 --resume-training first/last.ckpt --max-hours 0.000001
ok 'a checkpoint within an epoch, in the terms of Lightning' ask is_within_epoch within/last.ckpt

ask damage o/last.ckpt || exit 99
for name in epoch steps moments betas coupled; do
    run covtrain -q -i d -o bad -b 2 -e 9 --resume-training $name.ckpt
    refused 1 "$name\\.ckpt: .*(implausible counts|has -5 steps|not Adam|weight_decay is that of Adam, not of AdamW)" "impossible $name"
done
mv saved.ckpt o/last.ckpt
run covtrain -q -i d -o o -b 2 -e 7 --resume-training o/last.ckpt --save-top-k 1
status_is 0 'listed names that are not checkpoints of epochs'
ok '  are not removed' test -s o/last.ckpt -a -s o/metrics.log
done_testing
