#!/bin/sh
# Runs the example of covh5(5) that reads genome files in PyTorch, with a stand-in where PyTorch is not installed.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

printf '>a x\nACGTRYKMSWBDHVNacgtacgtaAGGC\n>b\nNNNNNNNNNN\n' | fasta2h5 -q --subsequence-length 10 --species x -o genome.h5 - || exit 99
printf 'a\t0\t4\t7\na\t4\t25\t2\nb\t3\t4\t30\n' >one.bedGraph
printf 'a\t2\t5\t1\n' >two.bedGraph
bam2h5 -q -p atacseq genome.h5 one.bedGraph two.bedGraph || exit 99
h5chunk repack -q --layout packed -o packed.h5 genome.h5
echo b >names
h5chunk blacklist -q --names names -o listed.h5 genome.h5
"$PYTHON" -c 'import importlib.util as u; exit(u.find_spec("torch") is None)' || {
    mkdir torch
    cat >torch/__init__.py <<'END'
from types import SimpleNamespace

import numpy as np


class DataLoader:
    def __init__(self, dataset, batch_size, shuffle, num_workers):
        self.dataset, self.batch_size = dataset, batch_size

    def __iter__(self):
        items = [self.dataset[i] for i in range(len(self.dataset))]
        for i in range(0, len(items), self.batch_size):
            yield [np.stack(x) for x in zip(*items[i:i + self.batch_size])]


from_numpy = np.asarray
utils = SimpleNamespace(data=SimpleNamespace(Dataset=object, DataLoader=DataLoader))
END
}
sed -n '/^\.EX/,/^\.EE/p' "$SRC/man/covh5.5" | sed '/^\.E[XE]/d; s/\\-/-/g' >example.py
cat >check.py <<'END'
from example import Chunks, loader, np, h5py

with h5py.File("genome.h5") as f:
    X, Y, n = f["data/X"][:], f["evaluation/atacseq_coverage"][:], f["data/X"].shape[0]
want = np.where(Y[:, :, 0] < 0, np.nan, Y.mean(axis=2))
assert n == 8 and np.isnan(want).sum() == 4 and np.nansum(want) == 2 * (28 + 42 + 30 + 3) / 2, want
for path, rows in ("genome.h5", range(8)), ("packed.h5", range(8)), ("listed.h5", range(6)):
    chunks = Chunks(path, "atacseq")
    assert len(chunks) == len(rows), path
    for i, row in enumerate(rows):
        x, y = map(np.asarray, chunks[i])
        assert x.dtype == y.dtype == np.float32 and (x == X[row]).all(), (path, row, x, X[row])
        assert np.array_equal(y, want[row], equal_nan=True), (path, row, y, want[row])
batches = [[np.asarray(v) for v in batch] for batch in loader]
assert [v.shape for v in batches[0]] == [(8, 10, 4), (8, 10)] and len(batches) == 1, batches
key = lambda x, y: (x.tobytes(), y.tobytes())
assert sorted(map(key, *batches[0])) == sorted(map(key, X.astype("f4"), want.astype("f4")))
END
ok 'the example reads every layout' "$PYTHON" check.py
done_testing
