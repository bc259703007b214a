"""h5_flip.py FILE DATASET N - inverts bits in the middle of the N-th stored chunk of a dataset.
SPDX-License-Identifier: MIT"""
import sys

import h5py

path, name, n = sys.argv[1:]
with h5py.File(path) as f:
    chunk = f[name].id.get_chunk_info(int(n))
with open(path, "r+b") as f:
    f.seek(chunk.byte_offset + chunk.size // 2)
    part = f.read(min(40, chunk.size // 2))
    f.seek(-len(part), 1)
    f.write(bytes(b ^ 0x55 for b in part))
