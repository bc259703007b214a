"""h5_forms.py - creates files in the forms of other programs, and compares the copies that our reader made.

h5_forms.py make DIRECTORY        writes DIRECTORY/*.h5: the same genome and coverage in many forms
h5_forms.py refused DIRECTORY     writes invalid files; prints "FILE<tab>expected error"
h5_forms.py genome A B         checks that B's data/* equal A's, in the types and layout of Helixer
h5_forms.py measured A B       checks that B's predictions are the mean of A's coverage, in Predmoter's layout
h5_forms.py predicted A B      checks that B's predictions equal those of A
                               A and B: files, or directories with files of the same names
h5_forms.py serve              serves requests of tests/lib/tap.sh for the last three

SPDX-License-Identifier: MIT
"""
import os
import sys

import h5py
import numpy as np

import serve

L = 32
SHARE = {1: 1, 2: 0.5, 3: 0.33, 4: 0.25}


def table():
    """Returns names and start_ends of two sequences on both strands."""
    names, ranges = [], []
    for name, length in ((b'chr1', 100), (b'scaffold_2', 20)):
        pieces = [(i, min(i + L, length)) for i in range(0, length, L)]
        ranges += pieces + [(end, beg) for beg, end in reversed(pieces)]
        names += [name] * 2 * len(pieces)
    return names, np.array(ranges)


NAMES, RANGES = table()
N = len(NAMES)
LENGTHS = np.abs(RANGES[:, 1] - RANGES[:, 0])


def bases():
    rng = np.random.default_rng(1)
    x = np.zeros((N, L, 4))
    for i in range(N):
        for t in range(LENGTHS[i]):
            columns = rng.permutation(4)[:rng.choice([1, 1, 1, 1, 2, 3, 4])]
            x[i, t, columns] = SHARE[len(columns)]
    return x


def coverage(columns):
    values = np.random.default_rng(2).integers(0, 100, (N, L, columns))
    for i, n in enumerate(LENGTHS):
        values[i, n:] = -1
    return values


X, COVERAGE = bases(), coverage(3)


def low_level(group, name, data, dtype, change):
    """Creates a dataset; change(list) modifies its creation property list."""
    data = np.asarray(data, dtype)
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    change(plist)
    space = h5py.h5s.create_simple(data.shape)
    h5type = h5py.h5t.py_create(data.dtype, logical=True)
    h5py.h5d.create(group.id, name.encode(), h5type, space, plist).write(h5py.h5s.ALL, h5py.h5s.ALL, data)


def string_type(n, padding):
    h5type = h5py.h5t.C_S1.copy()
    h5type.set_size(n)
    h5type.set_strpad(padding)
    return h5type


def write_strings(group, name, texts, h5type, pad):
    n = h5type.get_size()
    data = np.frombuffer(b''.join(t.ljust(n, pad)[:n] for t in texts), np.dtype('V%d' % n))
    dset = h5py.h5d.create(group.id, name.encode(), h5type, h5py.h5s.create_simple((len(texts),)))
    dset.write(h5py.h5s.ALL, h5py.h5s.ALL, data, h5type)


def write(path, x=None, cov=None, seqids='S50', ranges='i8', species=True, put_x=None, put_cov=None,
          x_type='f2', cov_type='i8', table_options=None, **file_options):
    with h5py.File(path, 'w', **file_options) as f:
        data, evaluation = f.create_group('data'), f.create_group('evaluation')
        if put_x:
            put_x(data)
        else:
            data.create_dataset('X', data=X.astype(x_type), **(x or {}))
        if put_cov:
            put_cov(evaluation)
        else:
            evaluation.create_dataset('some_coverage', data=COVERAGE.astype(cov_type), **(cov or {}))
        options = table_options or {}
        if callable(seqids):
            seqids(data)
        else:
            data.create_dataset('seqids', data=np.array(NAMES, seqids), **options)
        if species:
            data.create_dataset('species', data=np.array([b'Zea mays'] * N, 'S25'), **options)
        data.create_dataset('start_ends', data=RANGES.astype(ranges), **options)


def with_holes(group):
    """Rows from 3 on are missing: their coverage is 7, the fill value."""
    dset = group.create_dataset('some_coverage', (N, L, 3), 'i4', chunks=(1, L, 1), fillvalue=7,
                                maxshape=(None, L, None), compression='gzip')
    dset[:3] = COVERAGE[:3]


def forms():
    h = h5py.h5d
    yield 'helixer', dict(x=dict(chunks=(1, L, 4), maxshape=(None, L, 4), compression='gzip', shuffle=True),
                          cov=dict(chunks=(1, L, 1), maxshape=(None, L, None), compression='lzf', shuffle=True))
    yield 'contiguous', {}
    yield 'compact', dict(
        put_x=lambda g: low_level(g, 'X', X, 'f2', lambda p: p.set_layout(h.COMPACT)),
        put_cov=lambda g: low_level(g, 'some_coverage', COVERAGE, 'i2', lambda p: p.set_layout(h.COMPACT)))
    for x_type in '<f2', '>f2', '<f4', '>f4', '<f8', '>f8':
        for chunk in (1, L, 4), (3, 10, 1), (10, L, 4), (N, 7, 2):
            yield 'x_%s%s_%d_%d_%d' % ('be' if x_type[0] == '>' else 'le', x_type[1:], *chunk), dict(
                x_type=x_type, x=dict(chunks=chunk, compression='gzip', shuffle=True))
    for cov_type in ('i1', 'u1', '<i2', '>i2', '<u2', '>u2', '<i4', '>i4', '<u4', '>u4', '<i8', '>i8', '<u8',
                     '>u8', '<f2', '>f2', '<f4', '>f4', '<f8', '>f8'):
        order = 'be' if cov_type[0] == '>' else 'le'
        yield 'cov_%s_%s' % (order, cov_type.strip('<>')), dict(
            cov_type=cov_type, cov=dict(chunks=(1, L, 1), compression='gzip', shuffle=True))
        yield 'plain_%s_%s' % (order, cov_type.strip('<>')), dict(cov_type=cov_type)
    filters = dict(gzip9=dict(compression='gzip', compression_opts=9), lzf=dict(compression='lzf'),
                   lzf_shuffle=dict(compression='lzf', shuffle=True), shuffle=dict(shuffle=True),
                   none={}, fletcher=dict(fletcher32=True),
                   all=dict(compression='gzip', shuffle=True, fletcher32=True),
                   all_lzf=dict(compression='lzf', shuffle=True, fletcher32=True),
                   scaleoffset=dict(scaleoffset=0), szip=dict(compression='szip', compression_opts=('nn', 16)))
    for name, options in filters.items():
        if name == 'szip' and not h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
            continue
        for chunk in (1, L, 1), (2, L, 3), (9, 20, 2):
            x = {k: v for k, v in options.items() if k != 'scaleoffset'}
            yield 'filter_%s_%d_%d_%d' % (name, *chunk), dict(
                x=dict(chunks=(chunk[0], chunk[1], 4), **x), cov_type='i4', cov=dict(chunks=chunk, **options))

    def odd_order(p):
        p.set_chunk((1, L, 3))
        p.set_fletcher32()
        p.set_deflate(4)
        p.set_shuffle()

    yield 'filter_order', dict(put_cov=lambda g: low_level(g, 'some_coverage', COVERAGE, 'i4', odd_order))
    # All other kinds of chunk indices: fixed array, extensible array, B-tree 2, a single chunk, implicit.
    for name, options in dict(fixed=dict(chunks=(1, L, 1), compression='gzip'),
                              extensible=dict(chunks=(1, L, 1), maxshape=(None, L, 3), compression='gzip'),
                              btree2=dict(chunks=(1, L, 1), maxshape=(None, None, 3), compression='gzip'),
                              single=dict(chunks=(N, L, 3), compression='gzip'), bare=dict(chunks=(N, L, 3)),
                              ).items():
        yield 'latest_' + name, dict(libver='latest', cov=options, x=dict(chunks=(1, L, 4), shuffle=True,
                                                                          compression='gzip'))

    def early(p):
        p.set_chunk((1, L, 1))
        p.set_alloc_time(h.ALLOC_TIME_EARLY)

    yield 'latest_implicit', dict(libver='latest', put_cov=lambda g: low_level(g, 'some_coverage', COVERAGE, 'i4',
                                                                              early))
    yield 'userblock', dict(userblock_size=1024)
    for ranges in '<i4', '>i4', '<u4', '>i8', '<u8', '<i2', '>u2':
        yield 'ranges_%s%s' % ('be' if ranges[0] == '>' else 'le', ranges[1:]), dict(ranges=ranges)
    yield 'names_short', dict(seqids='S10')
    yield 'names_long', dict(seqids='S300')
    yield 'names_spaces', dict(seqids=lambda g: write_strings(
        g, 'seqids', NAMES, string_type(20, h5py.h5t.STR_SPACEPAD), b' '))
    yield 'names_terminated', dict(seqids=lambda g: write_strings(
        g, 'seqids', [n + b'\0junk' for n in NAMES], string_type(20, h5py.h5t.STR_NULLTERM), b'\0'))
    yield 'table_chunked', dict(table_options=dict(compression='lzf', shuffle=True, fletcher32=True))
    yield 'no_species', dict(species=False)
    yield 'holes', dict(put_cov=with_holes)


def make(directory):
    for name, options in forms():
        write(os.path.join(directory, name + '.h5'), **options)
    # A group elsewhere, reached through links.
    path = os.path.join(directory, 'links.h5')
    write(path)
    with h5py.File(path, 'r+') as f:
        f.move('data', 'elsewhere')
        f['data'] = h5py.SoftLink('/elsewhere')


def refused(directory):
    def one(name, text, **options):
        path = os.path.join(directory, name + '.h5')
        write(path, **options)
        print(path, text, sep='\t')

    one('x_int', 'data/X: the elements are not floats', x_type='i1')
    one('x_complex', 'data/X: elements are neither', x_type='c8')
    one('x_rank', 'data/X: 2 dimensions instead of 3',
        put_x=lambda g: g.create_dataset('X', data=X.reshape(N, L * 4).astype('f2')))
    one('x_columns', r'data/X: 3 columns instead of 4', put_x=lambda g: g.create_dataset('X', data=X[:, :, :3]))
    one('x_group', 'data/X: not a dataset', put_x=lambda g: g.create_group('X'))
    one('x_dangling', 'no dataset data/X', put_x=lambda g: g.__setitem__('X', h5py.SoftLink('/nowhere')))
    one('x_scalar', 'data/X: 0 dimensions instead of 3', put_x=lambda g: g.create_dataset('X', data=1.0))
    one('x_null', 'data/X: ', put_x=lambda g: g.create_dataset('X', data=h5py.Empty('f2')))
    one('x_none', 'no chunks', put_x=lambda g: g.create_dataset('X', (0, L, 4), 'f2'))
    one('x_huge_row', 'data/X: rows or chunks of more than 1 GiB',
        put_x=lambda g: g.create_dataset('X', (N, 1 << 40, 4), 'f2', chunks=(1, 1024, 4)))
    one('x_huge_chunk', 'data/X: rows or chunks of more than 1 GiB',
        put_x=lambda g: g.create_dataset('X', (N, L, 4), 'f2', chunks=(1 << 23, 32, 4), maxshape=(None,) * 3))
    one('x_many_rows', 'data/X: most of the dataset is missing from the file',
        put_x=lambda g: g.create_dataset('X', (1 << 60, L, 4), 'f2', chunks=(1, L, 4)))
    one('names_variable', 'data/seqids: variable-length strings',
        seqids=lambda g: g.create_dataset('seqids', data=[n.decode() for n in NAMES], dtype=h5py.string_dtype()))
    one('names_missing', 'no dataset data/seqids', seqids=lambda g: None)
    one('names_numbers', 'data/seqids: the elements are not texts',
        seqids=lambda g: g.create_dataset('seqids', data=np.arange(N)))
    one('names_rank', 'data/seqids: 2 dimensions instead of 1',
        seqids=lambda g: g.create_dataset('seqids', data=np.array(NAMES, 'S20').reshape(N, 1)))
    one('names_empty', 'data: row 0', seqids=lambda g: g.create_dataset('seqids', (N,), 'S50'))
    one('names_huge', 'data/seqids: strings of more than', seqids=lambda g: g.create_dataset(
        'seqids', (N,), 'S70000', chunks=(1,)))
    one('ranges_float', 'data/start_ends: the elements are not integers', ranges='f8')
    one('no_filter', r'data/X: unknown HDF5 filter 32123 \(\)', put_x=lambda g: low_level(
        g, 'X', X, 'f2', lambda p: (p.set_chunk((1, L, 4)), p.set_filter(32123, h5py.h5z.FLAG_OPTIONAL, ()))))


def fail(text):
    sys.exit('h5_forms.py: ' + text)


def same_table(a, b, species_bytes):
    n = len(a['data/seqids'])
    for name, dtype in ('seqids', 'S50'), ('species', 'S%d' % species_bytes), ('start_ends', 'i8'):
        got = b['data/' + name]
        if name == 'species' and name not in a['data']:
            expected = np.array([b''] * n)
        else:
            expected = np.array([t.rstrip(b' ') for t in a['data/' + name][:]]) if name != 'start_ends' \
                else a['data/' + name][:]
        if not np.array_equal(got[:], expected):
            fail('data/%s differs' % name)
        if got.dtype != np.dtype(dtype) or got.maxshape[0] is not None or got.chunks[0] != min(n, 4096):
            fail('layout of data/%s: %s %s %s' % (name, got.dtype, got.maxshape, got.chunks))


def genome(a, b):
    same_table(a, b, 25)
    x, got = a['data/X'][:].astype('f2'), b['data/X']
    if not np.array_equal(x, got[:]):
        fail('data/X differs')
    length = x.shape[1]
    if (got.dtype, got.maxshape, got.chunks) != (np.dtype('<f2'), (None, length, 4), (1, length, 4)):
        fail('layout of data/X: %s %s %s' % (got.dtype, got.maxshape, got.chunks))
    if got.compression == 'gzip' and (not got.shuffle or got.compression_opts != 4):
        fail('filters of data/X')
    for name in 'timestamp', 'input_path', 'covtools_version':
        if not isinstance(b.attrs[name], str):
            fail('attribute ' + name)


def predictions(a, b, names, values):
    same_table(a, b, 50)
    got = b['prediction/predictions']
    ends = np.abs(np.diff(a['data/start_ends'][:].astype('i8'), axis=1))[:, 0]
    for i, end in enumerate(ends):
        values[i, end:] = -1
    if not np.array_equal(got[:], values.astype(got.dtype)):
        fail('predictions differ')
    n, length, columns = values.shape
    if (got.shape, got.maxshape, got.chunks) != ((n, length, columns), (None, length, None), (1, length, 1)):
        fail('layout of predictions: %s %s %s' % (got.shape, got.maxshape, got.chunks))
    if got.fillvalue != -1 or (got.compression == 'gzip' and got.compression_opts != 9):
        fail('fill value or filters of predictions')
    if got.compression == 'gzip' and got.dtype.kind == 'i' and got.shuffle:
        fail('predictions are shuffled')
    if list(b['prediction/datasets'][:]) != names or b['prediction/datasets'].dtype != np.dtype('S25'):
        fail('prediction/datasets')
    model = b['prediction/model_name']
    if model.shape != (1,) or model.dtype != np.dtype('S256') or model[0] != b'model.ckpt':
        fail('prediction/model_name')


def measured(a, b):
    names = sorted(k for k in a['evaluation'] if k.endswith('_coverage') and not k.endswith('_spliced_coverage'))
    values = [a['evaluation/' + k][:].astype('f8').mean(axis=2).astype('f4') for k in names]
    predictions(a, b, [k[:-len('_coverage')].encode() for k in names], np.stack(values, axis=2))


def predicted(a, b):
    predictions(a, b, list(a['prediction/datasets'][:]), a['prediction/predictions'][:])


def compare(kind, a, b):
    if not os.path.isdir(a):
        return kind(h5py.File(a, 'r'), h5py.File(b, 'r'))
    bad = []
    for name in sorted(os.listdir(a)):
        try:
            compare(kind, os.path.join(a, name), os.path.join(b, name))
        except (SystemExit, OSError) as problem:
            bad.append('%s: %s' % (name, problem))
    if bad or not os.listdir(a):
        sys.exit('\n'.join(bad) or 'nothing to compare')


def main(command, *args):
    if command in ('make', 'refused'):
        {'make': make, 'refused': refused}[command](*args)
    else:
        compare({'genome': genome, 'measured': measured, 'predicted': predicted}[command], *args)


if __name__ == '__main__':
    serve.run(main)
