#!/bin/sh
# Files of chunks in unusual forms, rewritten in every layout, codec and shape, and read by h5py.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

start_python "$SRC/tests/oracle/h5_equal.py"

stored() { # NAME LAYOUT [OPTION]...: odd.h5 stored with these options holds the same values
    name=$1 layout=$2
    shift 2
    run_ok "$name: written" h5chunk repack -q -f --layout "$layout" "$@" -o out.h5 odd.h5
    ok '  h5py reads the same data' ask odd.h5 out.h5
}

# A file of h5py: big-endian, space-padded texts, contiguous, shared chunks, checksums.
"$PYTHON" "$SRC/tests/oracle/chunk_forms.py" odd.h5 || exit 99
run h5chunk repack -o out.h5 odd.h5
stderr_like 'warning: odd\.h5: attribute number is not a string; skipped$' 'a skipped attribute is reported'
for compression in none gzip fast libdeflate:9 lzf; do
    stored "$compression" onehot --compression "$compression"
    stored "$compression, packed" packed --compression "$compression"
done
stored 'seven rows a chunk' onehot --chunk-rows 7
stored 'seven rows a chunk, packed' packed --chunk-rows 7 --compression lzf
stored 'all rows in a chunk' packed --chunk-rows 1000

# Back from the packed form.
mv out.h5 ours.h5
run h5chunk repack -q --layout onehot -o out2.h5 ours.h5
ok 'h5py reads the same data back from the packed form' ask odd.h5 out2.h5
done_testing
