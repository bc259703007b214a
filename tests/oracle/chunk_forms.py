#!/usr/bin/python3
"""Creates a file of chunks in unusual forms: bases in L = 25 and 60 chunks; types, layouts and texts of all kinds.

usage: chunk_forms.py FILE
SPDX-License-Identifier: MIT"""

import sys

import h5py
import numpy as np

L, LENGTHS = 25, (700, 26, 13)
ROWS = np.eye(4)[[0, 1, 2, 3]]


def make(path):
    rng = np.random.default_rng(7)
    ranges, names, x = [], [], []
    for k, n in enumerate(LENGTHS):
        beg = list(range(0, n, L))
        for minus in (False, True):
            for b in reversed(beg) if minus else beg:
                end = min(b + L, n)
                ranges.append((end, b) if minus else (b, end))
                names.append(f'chr{k}')
                chunk = np.zeros((L, 4))
                chunk[:end - b] = ROWS[rng.integers(0, 4, end - b)]
                x.append(chunk)
    N = len(names)
    counts = rng.integers(0, 50, (N, L, 3))
    with h5py.File(path, 'w') as f:
        f['data/seqids'] = np.array(names, 'S9')
        f.create_dataset('data/start_ends', data=np.array(ranges, '>i4'))
        f.create_dataset('data/X', data=np.array(x, '>f4'), chunks=(7, 10, 1), compression='gzip')
        f.create_dataset('data/blacklist', data=(np.arange(N) % 2).astype('>u2'))
        f.create_dataset('data/label', data=counts[:, :, 0].astype('i1'), chunks=(9, L), compression='gzip')
        space = h5py.h5t.C_S1.copy()
        space.set_size(6)
        space.set_strpad(h5py.h5t.STR_SPACEPAD)
        text = h5py.h5d.create(f['data'].id, b'text', space, h5py.h5s.create_simple((N,)))
        text.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b'%-6d' % i for i in range(N)], 'S6'), space)
        f.create_dataset('evaluation/a_coverage', data=counts.astype('>i8'), chunks=(2, 10, 2), compression='lzf',
                         shuffle=True, fillvalue=-1)
        f.create_dataset('evaluation/b_coverage', data=counts.astype('>f8') / 8, fletcher32=True, chunks=(1, L, 3))
        f.create_dataset('evaluation/c_coverage', data=counts[:, :, :1].astype('u8') << 55)
        f.create_dataset('evaluation/a_meta/bam_files', data=np.array([b'a.bam', b'b', b''], 'S512'))
        # It has as many elements as there are chunks, but the elements do not belong to chunks.
        f.create_dataset('prediction/datasets', data=np.array([b'd%d' % i for i in range(N)], 'S25'))
        f.create_dataset('extra/deep/table', data=np.arange(12).reshape(3, 4).astype('>f8'))
        f.create_dataset('extra/none', data=np.zeros((0, 3), 'i4'))
        f.attrs['input_path'] = 'gr\u00fc\u00df.fa'
        f.attrs['fixed'] = np.bytes_(b'fixed')
        f.attrs['number'] = 5
        f['evaluation/a_coverage'].attrs['unit'] = 'reads'
        f['extra/deep/table'].attrs['empty'] = ''


make(sys.argv[1])
