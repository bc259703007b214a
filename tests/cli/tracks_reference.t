#!/bin/sh
# Tracks of other programs, read by our readers and by libBigWig.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

for file in "$SRC"/tests/data/tracks/*.bw "$SHARED"/data/coverage/*/*.bw "$SHARED"/data/coverage/*/*.bigWig \
    "$SHARED"/reference/convert/*.bw; do
    [ -e "$file" ] || continue
    bw_dump "$file" >wanted.bg
    run_ok "${file##*/} is read" track_dump "$file"
    ok 'with the intervals that libBigWig reads' cmp "$stdout" wanted.bg
    stderr_is '' 'and without a warning'
done

# Text: the same, except for the format of values.
for file in "$SRC"/tests/data/tracks/*.bg.gz "$SHARED"/data/coverage/bigtools/*.bedGraph "$SHARED"/data/coverage/pyGenomeTracks/*.b*gz \
    "$SHARED"/reference/convert/*.bg.gz; do
    [ -e "$file" ] || continue
    gzip -cdf "$file" | "$PYTHON" -c '
import struct, sys
for line in sys.stdin:
    if line.startswith(("track", "#")):
        continue
    c, b, e, v = line.split()
    print(c, b, e, "%.9g" % struct.unpack("f", struct.pack("f", float(v)))[0], sep="\t")
' >wanted.bg
    run_ok "${file##*/} is read" track_dump "$file"
    ok 'with its intervals' cmp "$stdout" wanted.bg
done
done_testing
