#!/bin/sh
# Compressions other than deflate, exchanged with Debian's HDF5 plugins and with libzstd.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/h5_forms.py"

codec_files() {
    "$PYTHON" "$SRC/tests/oracle/codec_files.py" "$@"
}
# Random bases, a repeat, runs of N, a chunk of ambiguity codes.
awk "$random"'BEGIN {
    seed(4)
    for (s = 1; s <= 3; s++) {
        text = ""
        for (i = 0; i < 20000; i++)
            text = text letter("ACGT")
        gsub("ACGT", "NNNNNN", text)
        printf ">s%d\n%s%s\n", s, text, substr(text, 300, 4000)
    }
    print ">other\nRYKMSWBDHVACGTRYKM"
}' >g.fa
run_ok 'a genome file without compression' fasta2h5 --subsequence-length 5000 --compression none -o none.h5 g.fa

lz4=$(codec_files available 32004 2>/dev/null && echo yes)
blosc=$(codec_files available 32001 2>/dev/null && echo yes)
has_plugin() { # KIND: Debian has no plugin for Zstandard; the test uses libzstd instead
    case $1 in
    lz4*) [ "$lz4" ] ;;
    blosc*) [ "$blosc" ] ;;
    esac
}
same_genome() { # A B NAME
    ok "$3" ask genome "$1" "$2"
}
for compression in lz4 zstd zstd:19 blosc blosc:9; do
    run_ok "--compression $compression" fasta2h5 --subsequence-length 5000 --compression $compression -o $compression.h5 g.fa
    run fasta2h5 --subsequence-length 5000 --compression $compression -@ 1 -o again.h5 -f g.fa
    ok '  the same file from one thread, except for the time' "$PYTHON" - $compression.h5 again.h5 <<'END'
import sys, h5py
a, b = (h5py.File(p)['data/X'].id for p in sys.argv[1:])
assert all(a.read_direct_chunk((i, 0, 0)) == b.read_direct_chunk((i, 0, 0)) for i in range(a.shape[0]))
END
    run_ok '  read back' h5_copy genome none $compression.h5 back.h5
    same_genome none.h5 back.h5 '  with the same values'
    if has_plugin $compression; then
        ok '  and by h5py with a plugin' codec_files check $compression $compression.h5 none.h5
    else
        pass '  and by h5py with a plugin # SKIP no plugin'
    fi
done

# The "odd" kinds order filters so that libhdf5 decodes them, with our filter functions.
for kind in lz4 lz4-odd blosc blosc-bytes blosc-zlib blosc-odd zstd zstd-odd; do
    if has_plugin $kind; then
        ok "a genome file by h5py and a plugin: $kind" codec_files write $kind none.h5 theirs.h5
        HDF5_PLUGIN_PATH=/nonexistent run h5_copy genome none theirs.h5 back.h5
        status_is 0 '  read without the plugin'
        same_genome none.h5 back.h5 '  with the same values'
    else
        pass "a genome file by h5py and a plugin: $kind # SKIP no plugin"
    fi
done

# Unknown filters are not loaded from the directories of HDF5_PLUGIN_PATH. libhdf5 would try every library there.
mkdir plugins
cp "$BIN"/../lib/libcov.so.? plugins/libplanted.so
cp none.h5 unknown.h5
"$PYTHON" - <<'END' || exit 99
import h5py
with h5py.File("unknown.h5", "r+") as f:
    bases = f["data/X"][:]
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk((1,) + bases.shape[1:])
    dcpl.set_filter(307, h5py.h5z.FLAG_OPTIONAL)
    del f["data/X"]
    h5py.h5d.create(f["data"].id, b"X", h5py.h5t.NATIVE_INT8, h5py.h5s.create_simple(bases.shape), dcpl)
    f["data/X"][:] = bases
END
LD_DEBUG=files HDF5_PLUGIN_PATH=$PWD/plugins run h5chunk verify unknown.h5
unlike "$(cat "$stdout" "$stderr")" libplanted 'no filter plugin is loaded'
like "$(cat "$stdout" "$stderr")" 'data/X: unknown HDF5 filter 307 .*; repack the file with gzip$' '  and an unknown filter is an error'

# With a checksum, damage in a chunk is an error that names the chunk.
cp zstd.h5 flipped.h5 && "$PYTHON" "$SRC/tests/oracle/h5_flip.py" flipped.h5 data/X 2 || exit 99
run_refused 1 'flipped\.h5: data/X: row [0-9]* .*: zstd: ' 'a damaged chunk' h5_copy genome none flipped.h5 back.h5
done_testing
