#!/bin/sh
# h5chunk drop and rename: the other datasets keep their values; errors leave the file as it was.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy

bam=$SRC/tests/data/atacseq.bam
cp "$SRC/tests/data/genome.h5" g.h5 && chmod u+w g.h5 &&
    bam2h5 -q -p atacseq g.h5 "$bam" && bam2h5 -q -p h3k4me3 --min-mapq 20 g.h5 "$bam" &&
    bam2h5 -q -p atacseq --append --count cut g.h5 "$bam" || exit 99
cp "$SRC/tests/data/plant_predictions.h5" p.h5 && chmod u+w p.h5 || exit 99

# same OLD NEW [OLD=NEW | -NAME]...: NEW has the datasets of OLD, but these are renamed or removed.
# shellcheck disable=SC2317 # called by ok
same() {
    "$PYTHON" - "$@" <<'END'
import sys
import h5py
import numpy as np
old, new = (h5py.File(f, "r") for f in sys.argv[1:3])
gone = [a[1:] for a in sys.argv[3:] if a[0] == "-"]
renamed = dict(a.split("=") for a in sys.argv[3:] if a[0] != "-")

def sets(f):
    found = {}
    f.visititems(lambda name, x: found.update({name: x}) if isinstance(x, h5py.Dataset) else None)
    return found

wanted = {}
for name, x in sets(old).items():
    for d in gone + list(renamed):
        for part in ("_coverage", "_spliced_coverage", "_meta/bam_files"):
            if name == f"evaluation/{d}{part}":
                name = f"evaluation/{renamed[d]}{part}" if d in renamed else None
                break
        if name is None or name not in sets(old):
            break
    if name:
        wanted[name] = x
names = [d.decode() for d in old["prediction/datasets"][:]] if "prediction" in old else []
columns = [i for i, d in enumerate(names) if d not in gone]
got = sets(new)
assert set(got) == set(wanted), set(got) ^ set(wanted)
for name, x in wanted.items():
    a, b = x[()], got[name][()]
    if name == "prediction/datasets":
        a = np.array([renamed.get(names[i], names[i]).encode() for i in columns])
    if name == "prediction/predictions":
        a = a[:, :, columns]
    assert a.dtype.kind == b.dtype.kind and a.shape == b.shape and (a == b).all(), name
    texts = lambda x: {k: v for k, v in x.attrs.items() if isinstance(v, str)}
    assert texts(x) == texts(got[name]), name
END
}
edits() { # NAME INPUT ARG... -- OLD=NEW...: changes a copy in place, and writes the same file with -o
    name=$1 input=$2
    shift 2
    command=
    while [ "$1" != -- ]; do
        command="$command $1"
        shift
    done
    shift
    cp "$input" x.h5
    # shellcheck disable=SC2086 # a list of words
    run_ok "$name" h5chunk $command x.h5
    ok '  changes nothing else' same "$input" x.h5 "$@"
    ok '  passes h5chunk verify' h5chunk verify x.h5
    # shellcheck disable=SC2086 # a list of words
    run h5chunk $command -f -o o.h5 "$input"
    ok '  with -o, the same' same "$input" o.h5 "$@"
}
edits 'a dataset of coverage is removed' g.h5 drop --datasets h3k4me3 -- -h3k4me3
[ "$(wc -c <x.h5)" -lt "$(wc -c <g.h5)" ]
is $? 0 '  and its space is free'
edits 'all are removed' g.h5 drop --datasets atacseq,h3k4me3 -- -atacseq -h3k4me3
edits 'one is renamed' g.h5 rename --datasets atacseq=dnase -- atacseq=dnase
run_ok '  and can be appended to' bam2h5 -q -p dnase --append --strand own x.h5 "$bam"
edits 'both are renamed' g.h5 rename --datasets atacseq=a,h3k4me3=b -- atacseq=a h3k4me3=b
edits 'a dataset of predictions is removed' p.h5 drop --datasets h3k4me3 -- -h3k4me3
run cov2bigwig -q -o x.bg x.h5
cov2bigwig -q --datasets atacseq -o p.bg p.h5
ok '  and the other has the same track' cmp x.bg p.bg
edits 'the first one, too' p.h5 drop --datasets atacseq -- -atacseq
edits 'one is renamed' p.h5 rename --datasets h3k4me3=a_name_of_more_than_25_letters -- h3k4me3=a_name_of_more_than_25_letters
for n in 1 3; do
    h5chunk drop -q -@ $n --datasets atacseq -o t$n.h5 p.h5 || fail "$n threads"
done
ok 'threads do not matter' cmp t1.h5 t3.h5
rm -f x.h5 o.h5 x.bg p.bg t?.h5

while IFS='|' read -r code args regex; do
    cp g.h5 was_g && cp p.h5 was_p
    # shellcheck disable=SC2086 # a list of words
    run_refused "$code" "^h5chunk: error: $regex" "refused: $args" h5chunk $args
    cmp -s g.h5 was_g && cmp -s p.h5 was_p
    is $? 0 '  and the file is as it was'
done <<'END'
1|drop --datasets none p.h5|p\.h5: unknown dataset 'none'; it has: atacseq, h3k4me3$
1|drop --datasets atacseq_spliced g.h5|g\.h5: unknown dataset 'atacseq_spliced'; it has: atacseq, h3k4me3$
1|drop --datasets atacseq,h3k4me3 p.h5|p\.h5: no dataset would be left$
2|drop --datasets atacseq,atacseq p.h5|--datasets: duplicate 'atacseq'$
2|drop g.h5|--datasets is missing$
2|drop --datasets atacseq -o g.h5 g.h5|g\.h5: is both an input and an output$
1|drop --datasets atacseq -o p.h5 g.h5|p\.h5: already exists; use -f to replace it$
2|drop --datasets atacseq -|HDF5 cannot be read from standard input$
2|rename --datasets =x g.h5|--datasets =x: expected OLD=NEW$
2|rename --datasets atacseq= g.h5|--datasets atacseq=: expected OLD=NEW$
1|rename --datasets atacseq=h3k4me3 p.h5|p\.h5: already has a dataset 'h3k4me3'$
2|rename --datasets atacseq=x,h3k4me3=x p.h5|--datasets: duplicate 'x'$
1|rename --datasets none=x g.h5|g\.h5: unknown dataset 'none'; it has: 
1|rename --datasets atacseq_spliced=x g.h5|g\.h5: unknown dataset 'atacseq_spliced'; it has: 
2|rename --datasets atacseq=a/b g.h5|--datasets a/b: must not contain
1|drop --datasets atacseq absent.h5|absent\.h5: No such file
END
rm was_g was_p
leaves g.h5 p.h5 'nothing else is left'
done_testing
