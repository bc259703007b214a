#!/bin/sh
# covpredict --shard, --loading, length limits: parts equal those of a full run for any way of reading.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covpredict.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/h5_equal.py"

odd_lengths 7 >g.fa
fasta2h5 --subsequence-length 1008 -o g.h5 g.fa || exit 99
fasta2h5 --subsequence-length 1008 --layout packed -o packed.h5 g.fa || exit 99
make_ckpt hybrid m.ckpt || exit 99
covpredict -q -m m.ckpt -o whole.h5 g.h5 || exit 99

# ---------------------------------------------------------------- shards

# 21 pairs.
for shards in 1 2 8 21 23 3; do
    set --
    for i in $(seq "$shards"); do
        run covpredict -q --batch-size "$i" --shard "$i/$shards" -m m.ckpt -o "part$i.h5" g.h5
        [ "$status" -eq 0 ] || fail "shard $i of $shards"
        h5chunk verify "part$i.h5" || fail "  is sound"
        set -- "part$i.h5" "$@"
    done
    run_ok "$shards shards are merged" h5chunk merge -o merged.h5 "$@"
    same '  and equal the full run' whole.h5 merged.h5
    h5chunk info merged.h5 | grep -q shard && fail '  but is no shard'
    rm merged.h5
    [ "$shards" -eq 3 ] || rm "$@"
done

ok 'three shards hold the rows of their pairs' "$PYTHON" -c '
import h5py, numpy as np
whole = h5py.File("whole.h5")
rows = {}
for i, row in enumerate(zip(whole["data/seqids"][:], *whole["data/start_ends"][:].T)):
    rows[row] = i
n = []
for i in 1, 2, 3:
    f = h5py.File(f"part{i}.h5")
    assert f.attrs["partial"] == 1
    assert f["data/seq_names"][:].tolist() == [b"c%d" % s for s in range(1, 9)]
    assert f["data/seq_lengths"][:].tolist() == [4000, 1, 999, 1008, 1009, 2500, 37, 7777]
    here = [rows.pop(row) for row in zip(f["data/seqids"][:], *f["data/start_ends"][:].T)]
    assert here == sorted(here)
    assert np.array_equal(f["prediction/predictions"][:], whole["prediction/predictions"][:][here])
    n.append(len(here))
assert not rows and n == [14, 14, 14], n
'

# ---------------------------------------------------------------- a part is forgotten

run h5chunk info part2.h5
stdout_like '^  attribute  shard: 2/3$' 'a shard knows which one it is'
run_ok '--allow-holes without a part' h5chunk merge --allow-holes -o merged.h5 part3.h5 part1.h5
lacks=$("$PYTHON" -c '
import h5py, numpy as np
n = np.abs(np.diff(h5py.File("part2.h5")["data/start_ends"][:])).sum() // 2
print(n, "of 17331 bases", f"({100 * n / 17331:.3g} %)")')
stderr_like "^h5chunk: warning: part 2 of 3 is missing: the result lacks $(echo "$lacks" | sed 's/[().]/\\&/g')\$" '  warns how much is missing'
ok '  the result is no shard' "$PYTHON" -c '
import h5py
a = h5py.File("merged.h5").attrs
assert a["partial"] == 1 and "shard" not in a, dict(a)
'
rm merged.h5
covpredict -q --shard 1/1 -m m.ckpt -o merged.h5 g.h5
ok 'one shard of one is the full run' cmp merged.h5 whole.h5
rm merged.h5
covpredict -q --shard 2/3 -m m.ckpt -o - g.h5 | h5chunk save -q -o saved.h5 -
run h5chunk info saved.h5
stdout_like '^  attribute  shard: 2/3$' 'a shard as a stream, too'
rm saved.h5

rm part?.h5
run_ok 'an empty shard' covpredict -q --shard 22/23 -m m.ckpt -o empty.h5 g.h5
ok '  has no rows, but all names' "$PYTHON" -c '
import h5py
f = h5py.File("empty.h5")
assert f["prediction/predictions"].shape == (0, 1008, 1) and f.attrs["partial"] == 1
assert len(f["data/seq_names"]) == 8 and len(f["data/seqids"]) == 0
'
for input in g.fa packed.h5; do
    run covpredict -q --subsequence-length 1008 --shard 2/3 -m m.ckpt -o a.h5 $input
    [ $input = g.fa ] || run covpredict -q --shard 2/3 -m m.ckpt -o a.h5 $input
    covpredict -q --shard 2/3 -m m.ckpt -o b.h5 g.h5
    ok "a shard of $input equals that of the genome file" cmp a.h5 b.h5
    rm a.h5 b.h5
done
run sh -c 'covpredict -q --subsequence-length 1008 --species g --shard 2/3 -m m.ckpt -o a.h5 - <g.fa'
covpredict -q --shard 2/3 -m m.ckpt -o b.h5 g.h5
ok '  also from a FASTA on standard input' cmp a.h5 b.h5
for i in 1 2; do
    covpredict -q --shard $i/2 -m m.ckpt -o c$i.h5 a.h5 2>/dev/null && fail 'predictions are no genome'
    h5chunk split --shards 2 -o half g.h5 2>/dev/null || exit 99
    covpredict -q -m m.ckpt -o c$i.h5 half.$i.h5 || exit 99
    rm half.*
done
h5chunk merge -o c.h5 c1.h5 c2.h5 || exit 99
same 'predictions of the parts of a genome file' whole.h5 c.h5
run_refused 1 'error: part 1 of 2 is missing: ' '  know which part they are' h5chunk merge -f -o c.h5 c2.h5
h5chunk split --shards 2 -o half g.h5
covpredict -q -m m.ckpt -r "$(sed -n 's/^>\([^ ]*\).*/\1/p' g.fa | tail -n 1)" -o c1.h5 -f half.2.h5 || exit 99
run h5chunk info c1.h5 c2.h5
is "$(grep -c '^  attribute  shard: 2/2$' "$stdout")" 1 '  unless they lack some of its rows'
rm half.*
rm [abc].h5 c?.h5 empty.h5

run covpredict -q --shard 1/3 --stats s.json -m m.ckpt -o a.h5 g.h5
ok '--stats describes the shard' "$PYTHON" -c '
import h5py, json, numpy as np
s, f = json.load(open("s.json")), h5py.File("a.h5")
span = np.abs(np.diff(f["data/start_ends"][:]))
assert s["chunks"] == len(span) and s["bases"] == span.sum() / 2, s
assert s["positions_computed"] + s["positions_at_rest"] == len(span) * 1008, s
'
rm a.h5 s.json

# ---------------------------------------------------------------- loading into memory

for input in g.h5 packed.h5 g.fa; do
    set --
    [ $input = g.fa ] && set -- --subsequence-length 1008
    for loading in disk ram ram-packed; do
        for threads in 1 3; do
            run covpredict -@ $threads --stats s.json --loading $loading "$@" -m m.ckpt -o x.h5 $input
            ok "$input, --loading $loading, $threads threads" cmp whole.h5 x.h5
            is "$(grep -c '"load"' s.json)" "$([ $loading = disk ] && echo 0 || echo 1)" '  --stats has the time of loading'
            rm x.h5 s.json
        done
    done
done
# Rows in a different order, and some strands missing.
"$PYTHON" - <<'END'
import h5py, numpy as np
with h5py.File("g.h5") as f, h5py.File("mixed.h5", "w") as g:
    rows = np.random.default_rng(3).permutation(42)[:35]
    for name in "X", "seqids", "species", "start_ends":
        g["data/" + name] = f["data/" + name][:][rows]
END
for loading in disk ram ram-packed; do
    run covpredict -q --loading $loading -m m.ckpt -o x.h5 mixed.h5
    ok "any rows in any order, --loading $loading" "$PYTHON" -c '
import h5py, numpy as np
f, g = h5py.File("x.h5"), h5py.File("whole.h5")
assert np.array_equal(f["data/start_ends"][:], h5py.File("mixed.h5")["data/start_ends"][:])
rows = np.random.default_rng(3).permutation(42)[:35]
for name in "data/seqids", "data/start_ends", "prediction/predictions":
    assert np.array_equal(f[name][:], g[name][:][rows]), name
'
    rm x.h5
done
rm mixed.h5

# ---------------------------------------------------------------- length limits

run_ok 'length limits on a genome file' covpredict --min-length 1k --max-length 4000 -m m.ckpt -o a.h5 g.h5
stderr_like '^covpredict: warning: g\.h5: 4 of 8 sequences left out by length: 3 too short, 1 too long$' '  a warning counts'
ok '  the result is partial' "$PYTHON" -c '
import h5py
f = h5py.File("a.h5")
assert f.attrs["partial"] == 1 and len(f["data/seq_names"]) == 8
assert sorted({*f["data/seqids"][:]}) == [b"c1", b"c4", b"c5", b"c6"]
'
h5chunk verify a.h5 || fail '  and sound'
run covpredict --subsequence-length 1008 --min-length 1k --max-length 4000 -m m.ckpt -o b.h5 g.fa
stderr_like '^covpredict: warning: g\.fa: 4 of 8 sequences left out by length: 3 too short, 1 too long$' 'and on a FASTA'
ok '  gives a smaller genome' "$PYTHON" -c '
import h5py, numpy as np
f, g = h5py.File("a.h5"), h5py.File("b.h5")
assert "partial" not in g.attrs and "seq_names" not in g["data"]
for name in "data/seqids", "data/start_ends", "prediction/predictions":
    assert np.array_equal(f[name][:], g[name][:])
'
run covpredict --min-length 1 --max-length 7777 -m m.ckpt -o c.h5 g.h5
ok 'limits that exclude no sequence change nothing' cmp c.h5 whole.h5
run covpredict --min-length 8k -m m.ckpt -o d.h5 g.h5
refused 1 '^covpredict: error: g\.h5: no sequence has a length within the limits$' 'limits that exclude every sequence'
rm a.h5 b.h5 c.h5
leaves g.fa g.h5 packed.h5 m.ckpt whole.h5 'no other files are left'
done_testing
