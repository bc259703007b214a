"""genome_check.py - compares a genome file with its expected contents, with h5py.

genome_check.py fasta FASTA FILE LENGTH SPECIES   compares it with its own encoding of FASTA
genome_check.py file REFERENCE FILE               compares with another genome file
genome_check.py list                              does fasta for each line of standard input, tab separated
genome_check.py serve                             does fasta or file for each request of tests/lib/tap.sh

SPDX-License-Identifier: MIT
"""
import gzip
import re
import sys

import h5py
import numpy as np

import serve

BASES = {'A': 'A', 'C': 'C', 'G': 'G', 'T': 'T', 'U': 'T', 'R': 'AG', 'Y': 'CT', 'S': 'CG', 'W': 'AT',
         'K': 'GT', 'M': 'AC', 'B': 'CGT', 'D': 'AGT', 'H': 'ACT', 'V': 'ACG', 'N': 'ACGT'}
COMPLEMENT = str.maketrans('ACGT', 'TGCA')
SHARE = {1: 1, 2: 0.5, 3: 0.33, 4: 0.25}


def rows_of(complement):
    """Maps each letter to the row of its base, or of the complement."""
    rows = np.zeros((256, 4), np.float16)
    for letter, bases in BASES.items():
        bases = bases.translate(COMPLEMENT) if complement else bases
        rows[ord(letter)] = [SHARE[len(bases)] if b in bases else 0 for b in 'CATG']
    return rows


def read_fasta(path):
    data = open(path, 'rb').read()
    if data[:2] == b'\x1f\x8b':
        data = gzip.decompress(data)
    sequences = []
    for line in data.decode('latin-1').split('\n'):
        line = line.rstrip()
        if line.startswith('>'):
            sequences.append((line[1:].split()[0], []))
        elif line:
            sequences[-1][1].append(line.upper())
    return {name: ''.join(lines) for name, lines in sequences}


def encode(path, length, species):
    rows, rows_minus = rows_of(False), rows_of(True)
    x, seqids, start_ends = [], [], []
    for name, text in read_fasta(path).items():
        letters = np.frombuffer(text.encode('latin-1'), np.uint8)
        pieces = [(i, min(i + length, len(text))) for i in range(0, len(text), length)]
        for beg, end in pieces:
            x.append(rows[letters[beg:end]])
            start_ends.append((beg, end))
        for beg, end in reversed(pieces):
            x.append(rows_minus[letters[beg:end][::-1]])
            start_ends.append((end, beg))
        seqids += [name.encode('latin-1')] * 2 * len(pieces)
    full = np.zeros((len(x), length, 4), np.float16)
    for i, chunk in enumerate(x):
        full[i, :len(chunk)] = chunk
    return {'data/X': full, 'data/seqids': np.array(seqids),
            'data/species': np.array([species.encode()] * len(x)),
            'data/start_ends': np.array(start_ends, np.int64)}


def read_file(path):
    with h5py.File(path, 'r') as f:
        return {'data/' + name: f['data'][name][:] for name in f['data']}


def compare(expected, path):
    """Lists the differences between the file at `path` and the expected contents."""
    failures = []

    def check(same, what):
        if not same:
            failures.append(what)

    got = read_file(path)
    check(set(got) == set(expected), 'datasets: %s' % sorted(got))
    for name, values in expected.items():
        if name not in got:
            continue
        check(got[name].shape == values.shape, '%s: shape %s, not %s' % (name, got[name].shape, values.shape))
        check(np.array_equal(got[name], values), '%s: values' % name)
    length = expected['data/X'].shape[1]
    widest = max(len(s) for s in expected['data/seqids'])
    widest_species = max(len(s) for s in expected['data/species'])
    with h5py.File(path, 'r') as f:
        x = f['data/X']
        check(x.dtype == np.float16, 'type of X')
        check(x.maxshape == (None, length, 4), 'maximum shape of X')
        check(x.chunks == (1, length, 4), 'chunks of X')
        check(f['data/seqids'].dtype == np.dtype('S%d' % max(50, widest)), 'type of seqids')
        check(f['data/species'].dtype == np.dtype('S%d' % max(25, widest_species)), 'type of species')
        check(f['data/start_ends'].dtype == np.int64, 'type of start_ends')
        for name in ('seqids', 'species'):
            check(f['data'][name].maxshape == (None,), 'maximum shape of ' + name)
        check(f['data/start_ends'].maxshape == (None, 2), 'maximum shape of start_ends')
        check(set(f) == {'data'}, 'groups')
        stamp = str(f.attrs.get('timestamp', ''))
        check(re.fullmatch(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?', stamp), 'timestamp: %s' % stamp)
        check(isinstance(f.attrs.get('input_path'), str), 'input_path')
    return '%s: %s' % (path, '; '.join(failures)) if failures else ''


def compare_fasta(fasta, path, length, species):
    return compare(encode(fasta, int(length), species), path)


def main(action, *args):
    if action == 'fasta':
        return compare_fasta(*args)
    if action == 'list':
        return '\n'.join(filter(None, (compare_fasta(*line.rstrip('\n').split('\t')) for line in sys.stdin)))
    return compare(read_file(args[0]), args[1])


if __name__ == '__main__':
    serve.run(main)
