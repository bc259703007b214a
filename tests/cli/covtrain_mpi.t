#!/bin/sh
# covtrain in several MPI processes: the same losses as in one process, and data distributed over their memory.
# shellcheck disable=SC2086,SC2046 # lists of words
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
need_program mpirun
[ -e "$BIN/../lib/covtools/covtools-mpi.so" ] || skip_all 'built without MPI'
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

mkdir -p d/train d/val
for file in train/a val/v; do
    "$PYTHON" "$SRC/tests/oracle/training_data.py" d/$file.h5 "$(printf '%d' "'${file#*/}")" || exit 99
done
net='--filter-size 8 --hidden-size 8 --lstm-layers 2 --dropout 0.2 -b 7 -e 2 --accumulate 2 --average-weights 0.9 --weight-decay 0.5 --seed 1 -@ 1'
ranks() { # N ARG...: N processes train on the directory $in
    n=$1
    shift
    run timeout 1200 mpirun -n "$n" --oversubscribe covtrain -i "$in" $net "$@"
}
in=d
run_ok 'one process' covtrain -i d $net -o one
for n in 2 3; do
    run_ok "$n processes" ranks "$n" -o "$n" --stats "$n.json"
    is "$(grep -c 'epoch 0: training loss' "$stderr")" 1 '  one of which logs'
    ok '  have the same losses' "$PYTHON" -c '
import json, sys
a, b = ([json.loads(x) for x in open(f + "/metrics.jsonl")] for f in ("one", sys.argv[1]))
assert len(a) == len(b) and all(abs(x[k] - y[k]) <= 1e-5 * abs(x[k]) for x, y in zip(a, b) for k in x if "loss" in k)
assert json.load(open(sys.argv[1] + ".json"))["chunks"] == 48' "$n"
    ok '  and a checkpoint' dump_ckpt "$n/last.ckpt"
done
ranks 2 -o again --seed 1
ok 'the same bytes again' cmp again/last.ckpt 2/last.ckpt
run_ok 'stopped by --max-hours' ranks 2 -o part --max-hours 0.000001
stderr_like '^covtrain: stopped after .* h; step 1 is saved; resume' '  after a step'
ranks 2 -q -o part --resume-training part/last.ckpt
ok '  resumed: the same bytes' cmp part/last.ckpt 2/last.ckpt
run covtrain -q -i d $net -o ice.one --freeze lstm
ranks 2 -q -o ice --freeze lstm
ok 'frozen layers: the same losses' "$PYTHON" -c '
import json
a, b, c = ([json.loads(x)["loss"] for x in open(f + "/metrics.jsonl") if "step" in x] for f in ("ice.one", "ice", "one"))
assert all(abs(x - y) <= 1e-5 * abs(x) for x, y in zip(a, b)) and abs(a[-1] - c[-1]) > 1e-4'
run_refused 1 '^covtrain: error: again/last\.ckpt: exists' 'a directory that contains a training' ranks 2 -o again
# If all fail the same way, the first process reports it.
in=nowhere
ranks 3 -o bad
is "$status $(grep 'covtrain: error' "$stderr" | cut -d';' -f1)" '1 covtrain: error: nowhere: No such file or directory' \
    'a missing directory is reported once'
in=d
ranks 3 -o bad --dropout 2
is "$status $(grep -c 'covtrain: error' "$stderr")" '2 1' '  and so is an invalid option'

begin=$(date +%s)
OMPI_COMM_WORLD_RANK=1 run covtrain -i d $net -o bad --dropout 2
refused 2 '--dropout' 'another process waits for the report of the first'
elapsed=$(($(date +%s) - begin))
is "$((elapsed >= 4 && elapsed < 10))" 1 "  but not for long: $elapsed s"

# Processes that would train on something else.
differs() { # NAME EXPECTED ARG... of the second process
    name=$1 expected=$2
    shift 2
    run timeout 60 mpirun --oversubscribe -n 1 covtrain -q $net -o bad -i d : -n 1 covtrain -q $net -o bad "$@"
    is "$status $(grep 'covtrain: error' "$stderr")" "1 covtrain: error: $expected not the same in rank 1 on host $(uname -n); all processes need the same files, options and version" \
        "$name in the second process"
    ok '  nothing is written' test ! -e bad
}
cp -r d other
"$PYTHON" "$SRC/tests/oracle/training_data.py" other/train/a.h5 98
differs 'other coverage' d/train/a.h5: -i other
cp d/train/a.h5 whole.h5
truncate -s 4M d/train/a.h5 # HDF5 does not read the end
cp d/train/a.h5 other/train
printf x | dd of=other/train/a.h5 bs=1 seek=3100000 conv=notrunc 2>/dev/null
differs 'one other byte' d/train/a.h5: -i other
mv whole.h5 d/train/a.h5
cp d/train/a.h5 other/train && cp d/val/v.h5 other/val/w.h5
differs 'a further file' 'further files:' -i other
mv other/val/w.h5 other/val/v.h5 && mv other/train/a.h5 other/train/b.h5
differs 'another name' d/train/a.h5: -i other
differs 'another option' options: -i d --clip 2
differs 'another precision' options: -i d --precision bf16
rm -rf other/train
begin=$(date +%s)
run timeout 60 mpirun --oversubscribe -n 1 covtrain -q $net -o bad -i d : -n 1 covtrain -q $net -o bad -i other
is "$(grep 'covtrain: error' "$stderr" | cut -d ';' -f 1)" "covtrain: error: rank 1 on host $(uname -n): other: no directory train/" \
    'files that only the second process lacks: only that process reports it'
ok '  before the time for which the first would be awaited' test $(($(date +%s) - begin)) -lt 10

# ---------------------------------------------------------------- distributed data

all='--random-offset --pair-strands --blacklist'
mkdir -p e/train
cp d/train/a.h5 e/train && cp -r d/val e && "$PYTHON" "$SRC/tests/oracle/training_data.py" e/train/b.h5 98
"$PYTHON" -c 'import h5py
with h5py.File("e/train/a.h5", "r+") as f:
    f["data/blacklist"] = [0] * 5 + [1] * 19
    f["data/X"][17] = 0.25'
for n in 2 3; do
    for how in '' "$all"; do
        [ -z "$how" ] || in=e
        ranks "$n" -q -f $how -o packed --loading ram-packed
        run_ok "--loading ranks, $n processes${how:+ $how}" ranks "$n" -f $how -o spread --loading ranks
        ok '  the same bytes as ram-packed' cmp spread/last.ckpt packed/last.ckpt
        ok '  and steps' cmp spread/metrics.jsonl packed/metrics.jsonl
    done
    in=d
done
in=e
for osc in pt2pt rdma; do # messages, as between machines
    OMPI_MCA_osc=$osc ranks 3 -q -f $all -o spread --loading ranks
    ok "the same with MPI's windows by $osc" cmp spread/last.ckpt packed/last.ckpt
done
mkdir -p few/train && cp -r d/val few && "$PYTHON" "$SRC/tests/oracle/training_data.py" few/train/a.h5 97 2
in=few
run_ok 'more processes than chunks of a file' ranks 5 -q -f -o spread --loading ranks --max-steps 1
in=e
run covtrain -q -f -i d $net -o packed --loading ram-packed
run_ok 'without mpirun' covtrain -f -i d $net -o spread --loading ranks
stderr_like 'without mpirun, --loading ranks is the same as ram-packed' '  which is reported'
ok '  it is ram-packed' cmp spread/last.ckpt packed/last.ckpt

# Memory of a process, compared with one that reads from disk: 50 MB more if it holds all data.
mkdir -p m/train m/val
run benchmark synth -q --size 16M --depth 1 -o m/
run fasta2h5 -q --subsequence-length 21384 -o m/train/g.h5 m/genome.fa
run_ok 'a larger genome' bam2h5 -q -p atacseq m/train/g.h5 m/reads.sam
"$PYTHON" "$SRC/tests/oracle/training_data.py" m/val/v.h5 1 2 21384
for how in disk ram-packed ranks; do
    OMPI_MCA_osc=rdma run timeout 1200 mpirun -n 2 --oversubscribe covtrain -q -i m --datasets atacseq --model-type cnn \
        --filter-size 2 --kernel-size 3 -b 2 -e 1 --max-steps 1 -@ 1 --seed 1 -o m/$how --loading $how --stats m/$how.json
    status_is 0 "  is trained on, --loading $how"
done
ok '  a process holds half of the data' "$PYTHON" -c '
import json
disk, packed, ranks = (json.load(open("m/%s.json" % x))["peak_rss_bytes"] for x in ("disk", "ram-packed", "ranks"))
print(disk, packed, ranks)
assert packed - disk > 40e6 and 0.3 < (ranks - disk) / (packed - disk) < 0.75'
ok '  with the same result' cmp m/ranks/last.ckpt m/ram-packed/last.ckpt

# ---------------------------------------------------------------- failing processes

"$PYTHON" "$SRC/tests/oracle/h5_flip.py" e/train/b.h5 data/X 23 || exit 99 # in the last process's share
ranks 3 -f -o bad --loading ranks
is "$status" 1 'damage in the data of one process'
is "$(grep -c 'covtrain: error: rank 2 on host .*: e/train/b\.h5: .*data/X' "$stderr")" 1 '  is reported once, and ends all processes'
ok '  without a checkpoint' test ! -e bad/last.ckpt
mpirun -n 2 --oversubscribe covtrain -q -i d $(echo "$net" | sed 's/-e 2//') -o killed -e 1000000 --patience 1000000 \
    --save-top-k 1 --loading ranks >out.txt 2>&1 &
launcher=$!
await test -e killed/last.ckpt
children=$(cat "/proc/$launcher/task/$launcher/children")
kill -9 "${children%% *}"
wait $launcher
is "$(test $? -ne 0; echo $?)" 0 'a killed process ends the run'
like "$(cat out.txt)" 'signal 9' '  which mpirun reports'
for child in $children; do
    await test ! -e "/proc/$child"
    ok '  no process is left' test ! -e "/proc/$child"
done
ok '  the checkpoint is complete' dump_ckpt killed/last.ckpt

mkdir -p bare/bin bare/lib
cp "$BIN/covtrain" bare/bin && cp "$BIN"/../lib/libcov.so.? bare/lib
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 run bare/bin/covtrain -i d $net -o x
refused 1 'mpirun started several processes, but this build has no MPI: .*covtools-mpi\.so' 'without the plugin'
mkdir bare/lib/covtools
cp "$BIN"/../lib/covtools/covtools-mpi.so bare/lib/covtools
chmod o+w bare/lib/covtools
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 run bare/bin/covtrain -i d $net -o x
refused 1 'mpirun started .*covtools-mpi\.so: not loaded, because others may write to .*/bare/lib/covtools$' 'a plugin that others may write'
done_testing
