#!/bin/sh
# Other programs read our tracks: the bigWig reader of JBrowse, and igv.js in a browser.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
need_shared tools
need_program node

"$PYTHON" "$SRC/tests/oracle/track_check.py" make pred p.h5 datasets=atacseq names=chr2,chr1 length=20000 max_length=90000
"$PYTHON" - >g.fa <<'END'
print(">chr1\nA\n>chr2\n" + "ACGTACGTAC" * 9000)
END
printf 'chr1\t1\t6\t1\t2\nchr2\t90000\t14\t90000\t90001\n' >g.fa.fai
run cov2bigwig -o t.bw p.h5
run cov2bigwig -o t.bg p.h5
run cov2bigwig -o t.bg.gz p.h5
run cov2bigwig --window-size 150 -o w.bw p.h5
run cov2bigwig --window-size 150 -o w.bg p.h5
# Announced contigs, whose tree of names needs more room than reserved.
"$PYTHON" "$SRC/tests/oracle/track_check.py" make pred many.h5 datasets=atacseq length=100 max_length=200 \
    names="chr2,chr1,$(seq 999 -1 100 | sed 's/^/a_scaffold_with_a_long_name_/' | tr '\n' ',')last"
run sh -c 'h5chunk cat -q p.h5 | cov2bigwig --window-size 150 -o s.bw -'
run sh -c 'h5chunk cat -q many.h5 | cov2bigwig -o m.bw -'
run cov2bigwig -o m.bg many.h5
cp w.bg s.bg

# Prints the lines "start end value" of standard input that overlap REGION.
within() { # REGION
    awk -v range="${1#*:}" 'BEGIN { split(range, r, "-") } $1 < r[2] && $2 >= r[1]'
}
lines() { # TRACK.bg REGION
    awk -F '\t' -v contig="${2%:*}" '$1 == contig { print $2, $3, $4 }' "$1" | within "$2"
}
extremes() { # TRACK.bg REGION: "features N min A max B"
    lines "$1" "$2" | awk 'NR == 1 { lo = hi = $3 } { if ($3 < lo) lo = $3; if ($3 > hi) hi = $3 }
        END { printf "features %d min %s max %s\n", NR, lo, hi }'
}

for track in t w s; do
    for region in chr2:1-90000 chr2:40000-40050 chr2:90000-90000 chr1:1-1; do
        node "$SHARED/tools/bbi-js/read.mjs" $track.bw $region >got
        is "$(tail -n +2 got | within $region | cksum)" "$(lines $track.bg $region | cksum)" "bbi-js reads $region of $track.bw"
    done
    ok '  and its header' "$PYTHON" -c '
import json, sys
h = json.loads(open("got").readline())
values = [float(line.split()[3]) for line in open(sys.argv[1])]
s = h["summary"]
assert h["contigs"] == 2 and h["zoomLevels"] > 0, h
assert (s["scoreMin"], s["scoreMax"], s["basesCovered"]) == (min(values), max(values), 90001), h
' $track.bg
done

SHARED="$SHARED" node "$SRC/tests/lib/bbi_zoom.mjs" chr2 t.bw t.bg w.bw w.bg s.bw s.bg >got
is "$(grep -c ': [1-9][0-9]* levels, [1-9][0-9]* windows$' got)" 3 'bbi-js reads each window of each zoom level'

for region in chr2:1-200 last:1-200 a_scaffold_with_a_long_name_100:1-200 a_scaffold_with_a_long_name_500:1-200 \
    a_scaffold_with_a_long_name_999:1-200; do
    node "$SHARED/tools/bbi-js/read.mjs" m.bw $region >got
    is "$(tail -n +2 got | within $region | cksum)" "$(lines m.bg $region | cksum)" "bbi-js reads $region of many contigs"
done

if command -v chromium >/dev/null; then
    for region in chr2:1-90000 chr2:40000-40100; do
        "$PYTHON" "$SHARED/tools/igv/show.py" g.fa $region shot.png t.bw w.bw s.bw t.bg.gz >got
        is "$?" 0 "igv.js shows $region"
        is "$(cat got)" "TRACK t.bw $(extremes t.bg $region)
TRACK w.bw $(extremes w.bg $region)
TRACK s.bw $(extremes w.bg $region)
TRACK t.bg.gz $(extremes t.bg $region)" '  with every interval'
    done
else
    pass 'igv.js # SKIP no program chromium'
fi
done_testing
