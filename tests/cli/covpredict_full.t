#!/bin/sh
# covpredict on input with much padding, N and repeats, compared with --full, in any batch, and --stats.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

awk "$random"'BEGIN {
    seed(6)
    n = split("1 30 4000 1000 500 1008 1009 9000 2016 60 60", length_of, " ")
    for (s = 1; s <= n; s++) {
        record("c" s, length_of[s])
        letters(s % 3 == 0 ? 1500 : 0, "N")
        letters(s % 4 == 0 ? 2000 : 0, "ACGTN")
        print ""
    }
    record("all_n", 9 * 1008 + 20, "N")
    print ">palindrome" # both strands are the same
    for (i = 0; i < 600; i++)
        printf "AT"
    print ""
}' | fold -w 60 >g.fa

# stats NAME EXPRESSION: of s, the statistics, and full, the number of positions of all chunks.
stats() {
    ok "$1" "$PYTHON" -c '
import json, sys
s = json.load(open("s.json"))
full = s["chunks"] * 1008
assert s["positions_computed"] + s["positions_at_rest"] + 1008 * s["chunks_repeated"] == full, s
assert eval(sys.argv[1]), s
' "$2"
    rm -f s.json
}

for kind in cnn hybrid bi-hybrid counting; do
    make_ckpt $kind m.ckpt || exit 99
    run covpredict -q -@ 1 --full --float --stats s.json --subsequence-length 1008 -m m.ckpt -o full.h5 g.fa
    status_is 0 "--full with a $kind model"
    stats '  computes everything' \
        's["positions_computed"] == full and s["positions_at_rest"] == 0 and s["chunks_repeated"] == 0'
    run_ok '  without --full' covpredict -q -@ 1 --float --stats s.json --subsequence-length 1008 -m m.ckpt -o x.h5 g.fa
    stats '  computes less' \
        's["positions_computed"] < 0.8 * full and s["positions_at_rest"] > 0 and s["chunks_repeated"] > 17'
    ok '  the values are the same within 1e-5, padding exactly' "$PYTHON" -c '
import h5py, numpy as np
a, b = (h5py.File(f)["prediction/predictions"][:].astype("f8") for f in ("x.h5", "full.h5"))
assert np.array_equal(a == -1, b == -1) and np.all(np.abs(a - b) <= 1e-5 * np.abs(b)), np.max(np.abs(a - b) / b)
'
    for batch in 1 2 5 16 40; do
        run covpredict -q -@ 2 --batch-size $batch --float --subsequence-length 1008 -m m.ckpt -o y.h5 g.fa
        ok "  in batches of $batch on 2 threads, the same bytes" cmp x.h5 y.h5
        rm y.h5
    done
    fasta2h5 -q --subsequence-length 1008 -o - g.fa >g.stream
    run covpredict -q --float --stats s.json -m m.ckpt -o y.h5 g.stream
    stats '  also computes less from a stream' 's["positions_computed"] < 0.8 * full'
    ok '  with the same values' "$PYTHON" -c '
import h5py, numpy as np
def rows(f):
    f = h5py.File(f)
    return {(n, *se): p for n, se, p in zip(f["data/seqids"][:], f["data/start_ends"][:].tolist(), f["prediction/predictions"][:])}
a, b = rows("x.h5"), rows("y.h5")
assert a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
'
    run covpredict -q --full --float -m m.ckpt -o z.h5 g.stream
    ok '  and with --full the values of --full' "$PYTHON" -c '
import h5py, numpy as np
a, b = (np.sort(h5py.File(f)["prediction/predictions"][:].ravel()) for f in ("z.h5", "full.h5"))
assert np.array_equal(a, b)
'
    rm x.h5 y.h5 z.h5 full.h5
done
leaves g.fa g.stream m.ckpt 'no other files are left'
done_testing
