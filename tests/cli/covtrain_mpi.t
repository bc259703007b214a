#!/bin/sh
# covtrain in several processes of MPI: the same losses as in one.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
need_program mpirun
[ -e "$BIN/../lib/covtools/covtools-mpi.so" ] || skip_all 'built without MPI'
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

mkdir -p d/train d/val
for file in train/a val/v; do
    "$PYTHON" "$SRC/tests/lib/training_data.py" d/$file.h5 "$(printf '%d' "'${file#*/}")" || exit 99
done
net='--filter-size 8 --hidden-size 8 --lstm-layers 2 --dropout 0.2 -b 7 -e 2 --accumulate 2 --average-weights 0.9 --seed 1 -@ 1'
# shellcheck disable=SC2086 # lists of words, all through
ranks() { # N ARG...
    n=$1
    shift
    run timeout 60 mpirun -n "$n" --oversubscribe covtrain -i d $net "$@"
}
# shellcheck disable=SC2086
run covtrain -i d $net -o one
status_is 0 'one process'
for n in 2 3; do
    ranks "$n" -o "$n" --stats "$n.json"
    status_is 0 "$n processes"
    is "$(grep -c 'epoch 0: training loss' "$stderr")" 1 '  one of which tells'
    ok '  have the same losses' "$PYTHON" -c '
import json, sys
a, b = ([json.loads(x) for x in open(f + "/metrics.jsonl")] for f in ("one", sys.argv[1]))
assert len(a) == len(b) and all(abs(x[k] - y[k]) <= 1e-5 * abs(x[k]) for x, y in zip(a, b) for k in x if "loss" in k)
assert json.load(open(sys.argv[1] + ".json"))["chunks"] == 48' "$n"
    ok '  and a checkpoint' dump_ckpt "$n/last.ckpt"
done
ranks 2 -o again --seed 1
ok 'the same bytes again' cmp again/last.ckpt 2/last.ckpt
ranks 2 -o again
is "$status" 1 'a training that is there already'
like "$(cat "$stderr")" 'covtrain: error: again/last\.ckpt: exists' '  is said to be'

mkdir -p bare/bin bare/lib
cp "$BIN/covtrain" bare/bin && cp "$BIN"/../lib/libcov.so.? bare/lib
# shellcheck disable=SC2086
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 run bare/bin/covtrain -i d $net -o x
refused 1 'mpirun started several processes, but this build has no MPI: .*covtools-mpi\.so' 'without the plugin'
done_testing
