"""codec_files.py - genome files compressed by the filters of HDF5 plugins.

codec_files.py available ID           exits with status 0 if a plugin of libhdf5 can decode and encode filter ID
codec_files.py write KIND FILE OUT    copies a genome file with its bases compressed by a plugin, or by libzstd
codec_files.py check KIND FILE A      checks that the declared filters are those of KIND, and the bases those of A

KIND is gzip, lz4, zstd, or blosc. SPDX-License-Identifier: MIT
"""
import ctypes
import ctypes.util
import sys

import h5py
import numpy as np

FILTERS = {'blosc': 32001, 'lz4': 32004, 'zstd': 32015}


def libzstd():
    lib = ctypes.CDLL(ctypes.util.find_library('zstd') or 'libzstd.so.1')
    lib.ZSTD_compress.restype = lib.ZSTD_decompress.restype = lib.ZSTD_compressBound.restype = ctypes.c_size_t
    lib.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    lib.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    lib.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return lib


def pack(chunk):
    lib = libzstd()
    out = ctypes.create_string_buffer(lib.ZSTD_compressBound(len(chunk)))
    n = lib.ZSTD_compress(out, len(out), chunk, len(chunk), 5)
    return out.raw[:n]


def unpack(packed, n_bytes):
    out = ctypes.create_string_buffer(n_bytes)
    assert libzstd().ZSTD_decompress(out, n_bytes, packed, len(packed)) == n_bytes
    return out.raw


def shuffle(rows):
    return rows.view(np.uint8).reshape(-1, rows.itemsize).T.tobytes()


def unshuffle(data, like):
    return np.frombuffer(data, np.uint8).reshape(like.itemsize, -1).T.tobytes()


def bases(path, kind):
    """Writes data/X with h5py or, for zstd, which has no plugin in Debian, chunk by chunk with libzstd."""
    x = h5py.File(path)['data/X']
    if kind != 'zstd':
        return x[:]
    out = np.zeros(x.shape, x.dtype)
    for i in range(len(x)):
        mask, packed = x.id.read_direct_chunk((i, 0, 0))
        assert mask == 0, mask
        out[i] = np.frombuffer(unshuffle(unpack(packed, out[i].nbytes), out), x.dtype).reshape(x.shape[1:])
    return out


def write(kind, source, out):
    with h5py.File(source) as f, h5py.File(out, 'w') as g:
        x = f['data/X'][:]
        data = g.create_group('data')
        for name in 'seqids', 'species', 'start_ends':
            f.copy('data/' + name, data)
        n_rows, length, _ = x.shape
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        # LZ4 blocks smaller than the chunk; Blosc with bit-shuffled LZ4 and byte-shuffled blosclz.
        if kind == 'lz4':
            dcpl.set_chunk((1, length, 4))
            dcpl.set_shuffle()
            dcpl.set_filter(32004, h5py.h5z.FLAG_MANDATORY, (3000,))
        elif kind == 'lz4-odd':  # decoded by libhdf5
            dcpl.set_chunk((1, length, 4))
            dcpl.set_filter(32004, h5py.h5z.FLAG_MANDATORY, (0,))
            dcpl.set_shuffle()
        elif kind.startswith('blosc'):
            values = {'blosc': (5, 2, 1), 'blosc-bytes': (9, 1, 0), 'blosc-zlib': (1, 0, 4), 'blosc-odd': (3, 1, 5)}
            dcpl.set_chunk((2, length, 1) if kind == 'blosc-bytes' else (1, length, 4))
            dcpl.set_filter(32001, h5py.h5z.FLAG_MANDATORY, (0, 0, 0, 0) + values[kind])
            if kind == 'blosc-odd':
                dcpl.set_shuffle()
        else:
            dcpl.set_chunk((1, length, 4))
            if kind == 'zstd':
                dcpl.set_shuffle()
            dcpl.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (5,))
            if kind == 'zstd-odd':
                dcpl.set_shuffle()
        dset = h5py.h5d.create(data.id, b'X', h5py.h5t.py_create(x.dtype), h5py.h5s.create_simple(x.shape), dcpl)
        if not kind.startswith('zstd'):
            dset.write(h5py.h5s.ALL, h5py.h5s.ALL, x)
            return
        for i in range(n_rows):
            # An odd order of filters: first compression, then a shuffle of elements of two bytes.
            chunk = pack(shuffle(x[i])) if kind == 'zstd' else odd(pack(x[i].tobytes()))
            dset.write_direct_chunk((i, 0, 0), chunk)


def odd(packed):
    """Shuffles elements of two bytes; an odd last byte stays."""
    n = len(packed) // 2 * 2
    return shuffle(np.frombuffer(packed[:n], 'u2')) + packed[n:]


def check(kind, path, reference):
    name = kind.split(':')[0]
    dcpl = h5py.File(path)['data/X'].id.get_create_plist()
    filters = [dcpl.get_filter(i) for i in range(dcpl.get_nfilters())]
    wanted = [32001] if name == 'blosc' else [2, FILTERS[name]]
    assert [f[0] for f in filters] == wanted, filters
    if ':' in kind:
        level = int(kind.split(':')[1])
        assert filters[-1][2][4 if name == 'blosc' else 0] == level, filters
    assert (bases(path, name) == h5py.File(reference)['data/X'][:]).all(), 'other values'


if sys.argv[1] == 'available':
    sys.exit(not h5py.h5z.filter_avail(int(sys.argv[2])))
elif sys.argv[1] == 'write':
    write(*sys.argv[2:])
else:
    check(*sys.argv[2:])
