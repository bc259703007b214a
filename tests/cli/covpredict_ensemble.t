#!/bin/sh
# covpredict with several checkpoints: means and standard deviations of what each predicts.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

awk "$random"'BEGIN { seed(7); for (s = 1; s <= 30; s++) record("c" s, 30 * s, "ACGTACGTACGTACGTN") }' >g.fa
fasta2h5 --subsequence-length 96 -o g.h5 g.fa || exit 99
make_ckpt bi-hybrid a.ckpt 1 && make_ckpt bi-hybrid b.ckpt 2 && make_ckpt bi-hybrid c.ckpt 3 && make_ckpt cnn other.ckpt || exit 99
for m in a b c; do
    covpredict -q --float -m $m.ckpt -o $m.h5 g.h5 || exit 99
done
cat >check.py <<'END'
import sys
import h5py
import numpy as np
def load(name):
    with h5py.File(name) as f:
        return f["prediction/predictions"][()], [x.decode() for x in f["prediction/datasets"][()]]
each, datasets = zip(*(load(f"{m}.h5") for m in "abc"))
each = np.stack(each).astype(np.float64)
padding = each[0] == -1
assert padding.any() and not padding.all()
mean, sd = each.mean(0), each.std(0, ddof=1)
sd[padding] = -1
got, names = load(sys.argv[1])
with_sd = sys.argv[2] == "sd"
assert names == datasets[0] + [f"{n}_sd" for n in datasets[0]] * with_sd, names
want = np.concatenate([mean, sd], -1) if with_sd else mean
if got.dtype.kind == "i":
    want = np.rint(want.astype(np.float32))
assert got.shape == want.shape
assert np.allclose(got, want, rtol=1e-5, atol=1e-6), np.abs(got - want).max()
assert (got[..., :mean.shape[-1]][padding] == -1).all()
END

run_ok 'mean of three checkpoints' covpredict --float -m a.ckpt,b.ckpt,c.ckpt --stats s.json -o mean.h5 g.h5
stderr_like 'a\.ckpt,b\.ckpt,c\.ckpt: mean of 3 networks: ' '  named in the message'
ok '  equals the mean of their predictions' "$PYTHON" check.py mean.h5 mean
h5chunk info mean.h5 >info.txt
ok '  keeps the fingerprint of each' grep -q "model_sha256: $(for m in a b c; do sha256sum <$m.ckpt; done | cut -d ' ' -f 1 | paste -sd ,)$" info.txt
like "$(cat s.json)" '"model": "a\.ckpt,b\.ckpt,c\.ckpt"' '  and --stats their names'
run_ok '--ensemble sd, and -m given twice' covpredict -q --float --ensemble sd -m a.ckpt -m b.ckpt,c.ckpt -o sd.h5 g.h5
ok '  adds standard deviations' "$PYTHON" check.py sd.h5 sd
run covpredict -q --ensemble sd -m a.ckpt,b.ckpt,c.ckpt -o rounded.h5 g.h5
ok 'rounds means, not the members' "$PYTHON" check.py rounded.h5 sd

sd() { # OUT OPTION...
    out=$1
    shift
    run covpredict -q -f --float --ensemble sd -m a.ckpt,b.ckpt,c.ckpt -o "$out" "$@"
}
# shellcheck disable=SC2317 # ok calls it
values_equal() { # FILE
    "$PYTHON" - "$1" <<'END'
import sys
import h5py
a, b = (h5py.File(name)["prediction/predictions"][()] for name in ("sd.h5", sys.argv[1]))
assert a.dtype == b.dtype and (a == b).all()
END
}
sd threads.h5 -@ 3 --batch-size 2 g.h5
ok 'the same bytes with any threads and batch' cmp threads.h5 sd.h5
sd full.h5 --full g.h5
ok '--full gives the same values, except for rounding' "$PYTHON" check.py full.h5 sd
sd 1.h5 --shard 1/2 g.h5
sd 2.h5 --shard 2/2 g.h5
h5chunk merge -q -o merged.h5 1.h5 2.h5
ok 'shards join to the same values' values_equal merged.h5
covpredict -q --float --ensemble sd -m a.ckpt,b.ckpt,c.ckpt -o - g.h5 | h5chunk save -q -o saved.h5 -
ok 'a stream has the same values' values_equal saved.h5
for m in a b c; do
    covpredict -q -f --float --overlap 16 -m $m.ckpt -o $m.h5 g.h5 || exit 99
done
sd overlap.h5 --overlap 16 g.h5
ok '--overlap predicts the same windows with each checkpoint' "$PYTHON" check.py overlap.h5 sd

sh -c 'ulimit -f 24; exec covpredict -q --float --ensemble sd -m a.ckpt,b.ckpt,c.ckpt -@ 1 --batch-size 2 --resume -o resumed.h5 g.h5' 2>/dev/null
ok 'a run that a full disk stopped leaves a journal' test -s resumed.h5.resume
run covpredict -q --float --ensemble sd -m a.ckpt,b.ckpt --resume -o resumed.h5 g.h5
refused 1 '^covpredict: error: resumed\.h5\.resume: ' '  that another ensemble does not continue'
run covpredict -q --float --ensemble sd -m a.ckpt,b.ckpt,c.ckpt --resume -o resumed.h5 g.h5
ok '  and the same one does' cmp resumed.h5 sd.h5

run cov2bigwig -q -o tracks/ sd.h5
is "$(cd tracks && find . -name '*_sd_*' | wc -l)" "$(cd tracks && find . -name '*.bw' ! -name '*_sd_*' | wc -l)" \
    'cov2bigwig writes a track of each standard deviation'

run covpredict -m a.ckpt,other.ckpt -o x.h5 g.h5
refused 1 '^covpredict: error: other\.ckpt: its datasets are .*, but those of a\.ckpt are .*; an ensemble needs the same' 'other datasets'
run covpredict -m a.ckpt,nowhere.ckpt -o x.h5 g.h5
refused 1 '^covpredict: error: nowhere\.ckpt: No such file' 'a missing checkpoint'
run_refused 2 '^covpredict: error: ' 'an empty name' covpredict -m a.ckpt,,b.ckpt -o x.h5 g.h5
run covpredict --ensemble sd -m a.ckpt,b.ckpt --evaluate g.h5
refused 2 '^covpredict: error: --ensemble cannot be used with --evaluate$' '--ensemble with --evaluate'
ok 'nothing was written' test ! -e x.h5
done_testing
