#!/bin/sh
# The state of training in Predmoter's checkpoints is the same after reading and writing it, as read by PyTorch.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_shared reference/models reference/predmoter_testdata
need_python torch

mini=$SHARED/reference/predmoter_testdata/mini_model.ckpt
run_ok "a checkpoint that Predmoter's trainer wrote" recode_ckpt "$mini" mini.ckpt
run_ok 'a checkpoint without loops or callbacks' recode_ckpt "$SHARED/reference/models/hybrid/model.ckpt" hybrid.ckpt
run_ok 'a checkpoint before the first step' recode_ckpt "$SHARED/reference/models/hybrid/init.ckpt" init.ckpt
run recode_ckpt mini.ckpt again.ckpt
ok 'rewriting our own checkpoint gives the same bytes' cmp again.ckpt mini.ckpt

cat >compare.py <<'EOF'
import sys
import torch

def load(path):
    # PyTorch 1.13 cannot read floats with weights_only.
    ours = not path.startswith("/") and not torch.__version__.startswith("1.")
    return torch.load(path, map_location="cpu", weights_only=ours)

def compare(a, b, where):
    if isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b), where
    elif isinstance(a, dict):
        assert list(a) == list(b), (where, list(a), list(b))
        for k in a:
            compare(a[k], b[k], f"{where}[{k!r}]")
    elif isinstance(a, (list, tuple)):
        assert type(a) is type(b) and len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b)):
            compare(x, y, f"{where}[{i}]")
    else:
        assert type(a) is type(b) and a == b, (where, a, b)

theirs, ours = load(sys.argv[1]), load(sys.argv[2])
if "SeedCallback" in theirs["callbacks"]:
    del theirs["callbacks"]["SeedCallback"]["rng_states"]
    states = ours["callbacks"]["SeedCallback"].pop("rng_states")
    import random
    import numpy as np
    torch.manual_seed(5), np.random.seed(5), random.seed(5)
    drawn = torch.rand(4), np.random.rand(4), random.random()
    torch.set_rng_state(states["torch"]), np.random.set_state(states["numpy"])
    version, state, gauss = states["random"]
    random.setstate((version, tuple(state), gauss))
    again = torch.rand(4), np.random.rand(4), random.random()
    assert torch.equal(drawn[0], again[0]) and (drawn[1] == again[1]).all() and drawn[2] == again[2]
else:
    ours["loops"] = {}
for group in theirs["optimizer_states"][0]["param_groups"]:
    group["fused"] = None  # False and None both mean no
compare(theirs, ours, "")
EOF
ok 'torch.load finds the same state' "$PYTHON" compare.py "$mini" mini.ckpt
for name in hybrid init; do
    file=model
    [ $name = init ] && file=init
    ok "  and in $name.ckpt" "$PYTHON" compare.py "$SHARED/reference/models/hybrid/$file.ckpt" $name.ckpt
done
done_testing
