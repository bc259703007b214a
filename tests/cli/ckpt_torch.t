#!/bin/sh
# Checkpoints compared with PyTorch: torch.load reads ours, and we read files of torch.save.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python torch

# Checkpoints of covtools.
for kind in cnn hybrid bi-hybrid; do
    make_ckpt "$kind" "$kind.ckpt"
done
make_ckpt hybrid again.ckpt
ok 'the same seed gives the same bytes' cmp hybrid.ckpt again.ckpt
make_ckpt hybrid other.ckpt 2
is "$(cmp -s hybrid.ckpt other.ckpt; echo $?)" 1 'a different seed gives different bytes'
ok "Python's zipfile accepts it" "$PYTHON" -m zipfile -t hybrid.ckpt
ok 'storages are aligned to 64 bytes' "$PYTHON" - hybrid.ckpt <<'EOF'
import struct, sys, zipfile
f = open(sys.argv[1], "rb")
for i in zipfile.ZipFile(f).infolist():
    f.seek(i.header_offset + 26)
    assert (i.header_offset + 30 + sum(struct.unpack("<HH", f.read(4)))) % 64 == 0, i.filename
EOF
ok 'the items of a Lightning checkpoint' "$PYTHON" - cnn.ckpt hybrid.ckpt bi-hybrid.ckpt <<'EOF'
import sys, torch
for file in sys.argv[1:]:
    # PyTorch 1.13 cannot read floats with weights_only.
    kwargs = {} if torch.__version__.startswith("1.") else {"weights_only": True}
    c = torch.load(file, **kwargs)
    assert list(c) == ["epoch", "global_step", "pytorch-lightning_version", "state_dict", "loops",
                       "callbacks", "optimizer_states", "lr_schedulers", "hparams_name",
                       "hyper_parameters"]
    assert type(c["state_dict"]).__name__ == "OrderedDict" and c["hparams_name"] == "kwargs"
    assert c["loops"] == c["callbacks"] == {} and c["optimizer_states"] == c["lr_schedulers"] == []
EOF

# Written by torch.save: types, strides, shared storages, parameters, protocols.
ok 'torch.save writes files' "$PYTHON" - <<'EOF'
import argparse, collections, pathlib
import numpy as np
import torch
torch.manual_seed(1)

def save(name, state, hparams=None, **kwargs):
    callbacks = {"numpy": np.random.RandomState(1).get_state(), "value": np.float64(2.5),
                 "array": np.arange(5.0), "python": (3, tuple(range(700)), None),
                 "path": pathlib.PosixPath("/a/b"), "set": {1, 2}, "complex": 1j, "big": 1 << 100,
                 "bytes": b"\0\1\xff", "bytearray": bytearray(b"x"), "dtype": torch.float32,
                 "namespace": argparse.Namespace(a=1), "size": torch.Size([1, 2]),
                 "default": collections.defaultdict(list), "device": torch.device("cpu")}
    torch.save({"epoch": 3, "global_step": 70000, "pytorch-lightning_version": "2.1.0",
                "state_dict": state, "callbacks": callbacks,
                "optimizer_states": [{"state": {0: {"step": torch.tensor(9.0)}}}],
                "hyper_parameters": hparams or {"step": 2}}, name, **kwargs)

x = torch.randn(6, 8)
types = collections.OrderedDict(
    (str(t), x.to(t)) for t in (torch.float32, torch.float64, torch.float16, torch.bfloat16))
for t in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool):
    types[str(t)] = (100 * x).to(t)
for name, t, infinity in ("all_halves", torch.float16, 0x7c00), ("all_bfloats", torch.bfloat16, 0x7f80):
    finite = [i for i in range(-32768, 32768) if i & infinity != infinity]
    types[name] = torch.tensor(finite, dtype=torch.int16).view(t)
save("types.ckpt", types, {"none": None, "bool": True, "int": -(1 << 40), "big": 1 << 100, "float": 0.1,
     "string": "h3k4me3", "tuple": ("a", "b"), "empty": [], "numbers": [1, 2], "dict": {},
     "unicode": "\u00e9\u4e2d"})
y = torch.randn(3, 4, 5, 6)
save("strides.ckpt", {
    "transposed": x.t(), "row": x[2], "column": x[:, 3], "step": x[1::2, ::3],
    "permuted": y.permute(3, 1, 0, 2), "half": x.half().t(), "double": x.double()[2:, 1:7:2],
    "expanded": x[:, :1].expand(6, 3), "scalar": x[5, 7], "empty": x[:0], "flat": y.flatten(),
    "parameter": torch.nn.Parameter(x.t()), "ints": (100 * x).long().t()[1:3], "same": x,
    "channels": y.to(memory_format=torch.channels_last), "diagonal": x.diagonal(),
    "one": torch.ones(1, 1, 1)})
module = torch.nn.Sequential(torch.nn.Conv1d(4, 8, 9), torch.nn.BatchNorm1d(8),
                             torch.nn.LSTM(8, 5, bidirectional=True))
save("module.ckpt", module.state_dict())
for protocol in (2, 3, 4, 5):
    save("protocol%d.ckpt" % protocol, module.state_dict(), pickle_protocol=protocol)
save("old.ckpt", module.state_dict(), _use_new_zipfile_serialization=False)
torch.save(module.state_dict(), "state.ckpt")

class Evil:
    def __reduce__(self):
        import os
        return os.system, ("touch executed",)
save("evil.ckpt", {"x": x}, {"step": Evil()})
save("nan.ckpt", {"x": x, "bad": torch.tensor([1.0, float("nan")])})
EOF
run_refused 1 'old\.ckpt: not a PyTorch checkpoint' 'the format before PyTorch 1.6 is refused' dump_ckpt old.ckpt
run dump_ckpt state.ckpt
refused 1 'state\.ckpt: not a PyTorch Lightning checkpoint: state_dict is missing' 'a state dict alone is refused'
run dump_ckpt evil.ckpt
refused 1 'evil\.ckpt: pickle imports posix\.system, which is not allowed; nothing was executed' 'os.system is refused'
ok '  and not executed' test ! -e executed
run_refused 1 'nan\.ckpt: tensor bad: element 1 is NaN' 'a weight that is NaN is refused' dump_ckpt nan.ckpt

# torch.load and dump_ckpt read the same items (except sums) and values from our files, those of torch.save and the
# reference checkpoints.
set -- cnn hybrid bi-hybrid types strides module protocol2 protocol3 protocol4 protocol5
for name; do
    shift
    set -- "$@" "$name.ckpt"
done
for file in "$SHARED"/reference/models/*/*.ckpt "$SHARED"/reference/predmoter_testdata/*.ckpt; do
    [ -e "$file" ] && set -- "$@" "$file"
done
ok 'torch.load reads all files' "$PYTHON" - "$@" <<'EOF'
import sys, torch

def hparam(name, value):
    if isinstance(value, (list, tuple)) and all(isinstance(x, str) for x in value):
        return "hparam", name, "strings", ",".join(value)
    if value is None:
        return "hparam", name, "none", ""
    if type(value) is float:
        return "hparam", name, "float", "%.17g" % value
    if type(value) is str:
        return "hparam", name, "string", value
    if type(value) in (bool, int) and -(1 << 63) <= value < 1 << 63:
        return "hparam", name, type(value).__name__, str(value)
    return "hparam", name, "other", type(value).__name__

for i, file in enumerate(sys.argv[1:], 1):
    c = torch.load(file, map_location="cpu", weights_only=False)
    with open("%d.txt" % i, "w", encoding="utf-8") as text, open("%d.raw" % i, "wb") as raw:
        rows = [(key, str(c[key])) for key in ("epoch", "global_step")]
        rows.append(("version", c["pytorch-lightning_version"]))
        rows += [hparam(*item) for item in c["hyper_parameters"].items()]
        for name, t in c["state_dict"].items():
            rows.append(("tensor", name, str(t.dtype)[6:], ",".join(map(str, t.shape))))
            wide = t.detach().to(torch.float32 if t.is_floating_point() else torch.int64)
            raw.write(wide.contiguous().numpy().tobytes())
        text.writelines("\t".join(row) + "\n" for row in rows)
EOF
i=0
for file; do
    i=$((i + 1))
    name=${file#"$SHARED/reference/"}
    run_ok "$name: read" dump_ckpt "$file" our.raw
    sed 's/^\(tensor.*\)\t[^\t]*$/\1/' "$stdout" >our.txt
    ok "$name: the same items" diff "$i.txt" our.txt
    ok "$name: the same values" cmp "$i.raw" our.raw
done

# What torch.compile and DistributedDataParallel put before the names of tensors changes no prediction.
awk "$random"'BEGIN { seed(3); print ">c"; letters(1000, "ACGT"); print "" }' >x.fa
for prefix in '' _orig_mod. module._orig_mod.; do
    "$PYTHON" - "$prefix" <<'EOF' || exit 99
import sys, torch
kwargs = {} if torch.__version__.startswith("1.") else {"weights_only": False}
c = torch.load("cnn.ckpt", **kwargs)
c["state_dict"] = {sys.argv[1] + name: tensor for name, tensor in c["state_dict"].items()}
torch.save(c, "wrapped.ckpt")
EOF
    run_ok "a checkpoint with the prefix '$prefix'" covpredict -q -f --float -m wrapped.ckpt -o wrapped.h5 x.fa
    cov2bigwig -q -f --datasets atacseq -o "with$prefix.bg" wrapped.h5
    ok '  gives the same predictions' cmp with.bg "with$prefix.bg"
done
done_testing
