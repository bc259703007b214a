#!/bin/sh
# Reads genome and predictions files in the forms of other programs, and writes files in the forms they read.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/h5_forms.py"

# copy_all KIND COMPRESSION FROM TO: copies all files of a directory; prints name and error of each failure.
copy_all() {
    for file in "$3"/*.h5; do
        run h5_copy "$1" "$2" "$file" "$4/${file##*/}"
        [ "$status" -eq 0 ] || echo "${file##*/}: $status $(cat "$stderr")"
    done
}
same() { # KIND A B NAME
    ok "$4" ask "$1" "$2" "$3"
}

mkdir forms genome signal refused
ok 'h5_forms.py make' "$PYTHON" "$SRC/tests/oracle/h5_forms.py" make forms
is "$(copy_all genome gzip forms genome)" '' 'all are read as genomes'
same genome forms genome '  with the same values'
is "$(copy_all measured gzip/float32 forms signal)" '' 'all are read as measured coverage'
same measured forms signal '  with the same values'

"$PYTHON" "$SRC/tests/oracle/h5_forms.py" refused refused >list || fail 'h5_forms.py refused'
while read -r file text; do
    run_refused 1 ": $file: $text" "$file is refused" h5_copy genome gzip "$file" genome.h5
done <list

# Round trip of every compression and type.
mkdir p q
for compression in none gzip libdeflate:9 lzf; do
    run_ok "a genome file compressed by $compression is written" h5_copy genome $compression forms/contiguous.h5 genome.h5
    same genome forms/contiguous.h5 genome.h5 '  and read by h5py'
    for type in int16 int32 int64 float32; do
        run h5_copy measured $compression/$type forms/cov_le_i1.h5 p/$compression.$type.h5
        status_is 0 "predictions as $type, compressed by $compression, are written"
        run_ok '  and read' h5_copy predicted $compression/$type p/$compression.$type.h5 q/$compression.$type.h5
    done
done
same predicted p q 'all values came back'
ok 'types and filters are as requested' "$PYTHON" - q/*.h5 <<'END'
import os, sys, h5py
for path in sys.argv[1:]:
    compression, dtype = os.path.basename(path).split('.')[:2]
    p = h5py.File(path)['prediction/predictions']
    wanted = {'none': None, 'lzf': 'lzf'}.get(compression, 'gzip')
    if p.dtype != dtype or p.compression != wanted:
        sys.exit('%s: %s %s' % (path, p.dtype, p.compression))
END
done_testing
