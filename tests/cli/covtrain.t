#!/bin/sh
# shellcheck disable=SC2086,SC2046,SC2012,SC2010 # lists of words; known file names
# covtrain: output, the same weights for any number of threads and after resuming, options, kills, full disks.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/signals.sh"
need_python h5py numpy

mkdir -p d/train d/val
for file in train/a train/b val/v; do
    "$PYTHON" "$SRC/tests/oracle/training_data.py" d/$file.h5 "$(printf '%d' "'${file#*/}")" || exit 99
done
net='--filter-size 8 --hidden-size 8 --learning-rate 0.01 -b 8'
train() { # ARG...: trains on the directory d
    run covtrain -i d $net --seed 1 "$@"
}
rows() { # FILE: number of epochs in it
    grep -c '^[0-9]' "$1"
}

run_ok 'three epochs, into a new directory' train -o one/two -@ 1 -e 3 --stats stats.json
is "$(ls one/two | sed 's/accuracy=.*/accuracy=/' | paste -sd ' ')" \
    "best.ckpt last.ckpt metrics.jsonl metrics.log $(for i in 0 1 2; do printf 'predmoter_v0.3.2_epoch=%d_avg_val_accuracy= ' $i; done)runs.jsonl" \
    '  checkpoints and metrics'
is "$(head -n 1 one/two/metrics.log)" 'epoch avg_val_loss avg_val_accuracy avg_train_loss avg_train_accuracy' \
    "  Predmoter's columns"
is "$(rows one/two/metrics.log)" 3 '  a row per epoch'
ok '  metrics.jsonl, statistics and checkpoints agree' "$PYTHON" - <<'EOF'
import glob, json
lines = [json.loads(x) for x in open("one/two/metrics.jsonl")]
steps = [x for x in lines if "step" in x]
epochs = [x for x in lines if "epoch" in x]
assert [x["step"] for x in steps] == list(range(1, 19)) and "step" not in epochs[0]
assert all(list(x) == ["step", "loss", "accuracy", "learning_rate"] and x["learning_rate"] == 0.01 for x in steps)
table = [line.split() for line in open("one/two/metrics.log")]
assert ["epoch"] + list(epochs[0])[1:] == table[0]
for e, row in zip(epochs, table[1:]):
    assert [float(x) for x in row] == [e[k] for k in table[0]], row
    mean = sum(x["loss"] for x in steps[6 * e["epoch"]:6 * e["epoch"] + 6]) / 6
    assert abs(mean - e["avg_train_loss"]) < 1e-6
    assert glob.glob("one/two/*epoch=%d_avg_val_accuracy=%.4f.ckpt" % (e["epoch"], e["avg_val_accuracy"]))
assert epochs[2]["avg_train_loss"] < epochs[0]["avg_train_loss"] - 0.1
stats = json.load(open("stats.json"))
assert stats["chunks"] == 144 and set(stats["stages"]) == {"load", "train", "wait", "validate", "save"}
EOF
stderr_like "^covtrain: best epoch: [0-2], avg_val_accuracy 0\.[0-9]{4}: one/two/best\.ckpt; to predict: covpredict -m one/two/best\.ckpt -o predictions\.h5 genome\.fa$" \
    '  the last line names the best one'
run_ok '  covpredict reads the checkpoint' covpredict -m one/two/last.ckpt --evaluate d/val/v.h5
ok '  and computes the metrics of the validation' "$PYTHON" - "$stdout" <<'EOF'
import sys
row = open(sys.argv[1]).read().splitlines()[3].split("\t")
last = open("one/two/metrics.log").read().split("\n")[-2].split()
assert row[1] == "total" and abs(float(row[2]) - float(last[1])) < 1e-6 and abs(float(row[3]) - float(last[2])) < 1e-6
EOF
best=$(tail -n +2 one/two/metrics.log | LC_ALL=C sort -k 3,3g | tail -n 1 | cut -d ' ' -f 1)
ok '  best.ckpt is the checkpoint of the best epoch' cmp one/two/best.ckpt one/two/*epoch=${best}_*
for how in '-@ 2' '--loading ram' '--loading ram-packed -@ 3' '--ram-efficient False'; do
    train -q -o x -f -e 3 $how
    ok "  the same bytes with $how" cmp x/last.ckpt one/two/last.ckpt
done
train -q -o other --seed 2 -e 1
run covtrain -q -i d $net --seed 2 -e 1 -o other -f
is "$(cmp -s other/last.ckpt one/two/predmoter*epoch=0*; echo $?)" 1 'a different seed gives different weights'

# ---------------------------------------------------------------- resuming

train -q -o r -e 2
cp -r r r2
run_ok 'two epochs and a resumed third one' covtrain -i d -b 8 -o r --resume-training r/last.ckpt -e 3
stderr_like 'to validate with; 18 steps$' '  counts all steps'
stderr_like 'epoch 2: training loss' '  continues to count epochs'
unlike "$(cat "$stderr")" 'must be given again' '  without a warning: epochs have as many steps as before'
ok '  the same bytes as three' cmp r/last.ckpt one/two/last.ckpt
ok '  the same best epoch' cmp r/best.ckpt one/two/best.ckpt
ok '  the same metrics' cmp r/metrics.log one/two/metrics.log
ok '  and steps' cmp r/metrics.jsonl one/two/metrics.jsonl
run covtrain -q -i d -b 8 -o r2 --resume-training r2/predmoter*epoch=0*.ckpt -e 3
ok 'resumed from an earlier checkpoint, keeping its metrics' cmp r2/metrics.jsonl one/two/metrics.jsonl
ok '  and the best epoch' cmp r2/best.ckpt one/two/best.ckpt
cp -r r r3
run covtrain -q -i d -o r3 --resume-training r3/last.ckpt -e 4
stderr_like 'r3/last\.ckpt: the last epoch had 6 steps, but an epoch now has 1: --batch-size \(-b\)' 'resuming without -b is a warning'
cp -r r3 r4
run covtrain -i d -o r4 --resume-training r4/last.ckpt -e 5 --learning-rate 0.5 --weight-decay 0.25 --seed 99
is "$(grep ' instead of ' "$stderr")" 'covtrain: learning rate 0.5 instead of 0.01 of r4/last.ckpt
covtrain: weight decay 0.25 instead of 0 of r4/last.ckpt
covtrain: seed 99 instead of 1 of r4/last.ckpt' 'options that change a resumed training are reported'
run covtrain -i d -o r4 --resume-training r4/last.ckpt -e 6 --learning-rate 0.5 --seed 99
is "$(grep -c ' instead of ' "$stderr")" 0 '  but not those that give the same values'
rm -r r4
run covtrain -q -i d -o r3 --resume-training r3/last.ckpt -e 5
stderr_is '' '  which is not repeated when it is resumed again'
run covtrain -i d -o r3 --resume-training r3/last.ckpt -e 7
stderr_like 'to validate with; 22 steps$' '  18 steps, and then one per epoch'
run_ok 'a training that is already complete' covtrain -i d -b 8 -o r --resume-training r/last.ckpt -e 3
stderr_like 'nothing to do: r/last\.ckpt already has 3 epochs' '  is reported'
run_ok 'steps that are already complete' covtrain -i d -b 8 -o r --resume-training r/last.ckpt -e 9 --max-steps 18
stderr_like 'nothing to do: r/last\.ckpt already has 18 steps' '  are reported'
train -o r -e 3
refused 1 'r/last\.ckpt: exists: the directory contains a training; use --resume-training r/last\.ckpt to continue it' \
    'a directory that contains a training'
# A training run that replaces another: old checkpoints are removed once there is a new one; other files stay.
cp -r one/two anew && cp anew/last.ckpt anew/mine.ckpt && cp anew/predmoter*epoch=1* anew/predmoter_v0.3.2.ckpt
run covtrain -i e -o anew -f
is "$(ls anew | grep -c 'epoch=')" 3 'a replacing training that cannot start leaves the old one'
run covtrain -i d --filter-size 8 --hidden-size 8 -b 8 -o anew -f --seed 1 --learning-rate 1000
refused 1 'the training has diverged; .*; no epoch was completed; nothing is saved' '  and so does one that fails in its first epoch'
ok '  including its metrics' cmp anew/metrics.log one/two/metrics.log
ok '  of all steps' cmp anew/metrics.jsonl one/two/metrics.jsonl
is "$(find anew -name '.*')" '' '  and leaves no temporary files'
run covtrain -i d $net -o anew -f -e 1 --seed 3
is "$(ls anew | sed 's/accuracy=.*/accuracy=/' | paste -sd ' ')" \
    'best.ckpt last.ckpt metrics.jsonl metrics.log mine.ckpt predmoter_v0.3.2.ckpt predmoter_v0.3.2_epoch=0_avg_val_accuracy= runs.jsonl' \
    '  otherwise old checkpoints are removed'
stderr_like 'anew: 3 checkpoints of the replaced training are removed' '  which is reported'
cp one/two/predmoter* anew
run covtrain -q -f -i d -b 8 -e 1 -o anew --seed 3 --init-from $(ls anew/predmoter*epoch=2*)
is "$(ls anew | grep -c 'epoch=')" 2 '  except the one that it started from'
mkdir bare && cp one/two/predmoter* bare
run covtrain -q -i d $net -o bare -f -e 1 --seed 3
is "$(ls bare | grep -c 'epoch=')" 4 'without an old training nothing is removed'
cp one/two/predmoter*epoch=0* elsewhere.ckpt
run covtrain -q -i d -b 8 -o r --resume-training elsewhere.ckpt -e 3
refused 1 'r/last\.ckpt: exists: the directory contains a different training run from that of elsewhere\.ckpt' "  also when another training run is resumed"
run covtrain -q -i d -b 8 -o r -f --resume-training elsewhere.ckpt -e 3
ok '  which -f allows' cmp r/last.ckpt one/two/last.ckpt
# Checkpoints of versions that had --target-scale, which is refused, and --beta1, which is kept.
"$PYTHON" -c 'import struct, zipfile
beta = [b"G" + struct.pack(">d", b) for b in (0.9, 0.75)]
for name, old, new in ("scaled", b"X\4\0\0\0tool", b"X\14\0\0\0target_scale"), ("beta", *beta):
    with zipfile.ZipFile("elsewhere.ckpt") as a, zipfile.ZipFile(name + ".ckpt", "w") as b:
        for i in a.namelist():
            b.writestr(i, a.read(i).replace(old, new))' || exit 99
run covtrain -q -i d -b 8 -o scaled --resume-training scaled.ckpt -e 3
refused 1 'scaled\.ckpt: an earlier version trained it with --target-scale, .*; resume it with that version, or use --init-from' \
    'scaled targets cannot be resumed'
run_ok '  but --init-from starts with their weights' covtrain -q -i d -b 8 -o scaled --init-from scaled.ckpt -e 1
run covtrain -q -i d -b 8 -o beta --resume-training beta.ckpt -e 3
is "$("$PYTHON" -c 'import struct
print(open("beta/last.ckpt", "rb").read().count(b"G" + struct.pack(">d", 0.75)))')" 1 "Adam's decay rates are kept"
is "$(tail -n 1 beta/metrics.log | grep -cxF "$(tail -n 1 r/metrics.log)")" 0 '  and change the weights'
all='-e 3 --random-offset --pair-strands --average-weights 0.9 --schedule cosine --warmup-steps 3 --clip 1
     --accumulate 2 --loss-weights 1,0.5 --max-steps 7 --lstm-layers 2 --dropout 0.2 --weight-decay 1'
run_ok 'all options together' train -q -o whole $all --tensorboard logs/of/events
is "$(grep -c step whole/metrics.jsonl)" 7 '  makes the requested number of steps'
ok '  whose learning rates rise, then fall as a cosine' "$PYTHON" -c '
import json, math
rates = [json.loads(x)["learning_rate"] for x in open("whole/metrics.jsonl") if "step" in x]
for k, rate in enumerate(rates):
    wanted = 0.01 * (k + 1) / 3 if k < 3 else 0.005 * (1 + math.cos(math.pi * (k - 3) / 4))
    assert abs(rate - wanted) < 1e-9, (k, rate, wanted)'
train -q -o again $all -@ 1
ok '  gives the same bytes again' cmp whole/last.ckpt again/last.ckpt
rm -r again
train -q -o again $all --recompute
ok '  and with --recompute' cmp whole/last.ckpt again/last.ckpt
run covtrain -q -i d -b 8 -o again ${all%--lstm*} --resume-training again/predmoter*epoch=0*.ckpt
ok '  also when resumed without it' cmp whole/last.ckpt again/last.ckpt
rm -r again
train -q -o again $(echo "$all" | sed 's/max-steps 7/max-steps 5/') --tensorboard logs/resumed
run covtrain -q -i d -b 8 -o again $(echo "$all" | sed 's/--lstm.*//') --tensorboard logs/resumed --resume-training again/predmoter*epoch=0*.ckpt
ok '  and after resuming' cmp whole/last.ckpt again/last.ckpt
run covtrain -i d -b 8 -o again -e 4 --resume-training again/last.ckpt
stderr_like 'again/last\.ckpt: averaged weights are discarded without' '  without the average: a warning'
run covpredict -m whole/last.ckpt --evaluate d/val/v.h5
is "$(sed -n '4s/.*total	[^	]*	\([^	]\{6\}\).*/\1/p' "$stdout")" "$(tail -n 1 whole/metrics.log | cut -d ' ' -f 3 | cut -c 1-6)" \
    '  the checkpoint has the averaged weights'

# ---------------------------------------------------------------- checkpoints within an epoch

# stepwise RUNS FIRST-OPTIONS OPTIONS: trains in the directory s, a step or the end of an epoch per run.
stepwise() {
    rm -rf s
    train -o s $2 --max-hours 1e-6
    for _ in $(seq 2 "$1"); do
        [ "$status" -eq 0 ] && run covtrain -i d -b 8 -o s --resume-training s/last.ckpt $3 --max-hours 1e-6
    done
}
train -q -o every -e 3 --save-every 4
ok '--save-every changes no bytes' cmp every/last.ckpt one/two/last.ckpt
run_ok '--max-hours ends after a step' train -o every -e 3 --max-hours 0.000001 -f
stderr_like '^covtrain: stopped after [0-9.e-]+ h; step 1 is saved; resume with --resume-training every/last\.ckpt$' \
    '  reports how to resume'
is "$(ls every | paste -sd ' ') $(grep -c . every/metrics.jsonl)" 'last.ckpt metrics.jsonl metrics.log runs.jsonl 1' \
    '  with one checkpoint, which replaces all of another training run'
run h5chunk info every/last.ckpt
stdout_like 'training +epoch 0 \(not complete\), 1 steps' '  of an epoch that is not complete'
run_ok '  which covpredict reads' covpredict -m every/last.ckpt --evaluate d/val/v.h5
train -o every -e 3
refused 1 'every/last\.ckpt: exists: .*--resume-training every/last\.ckpt to continue it' '  and which is not overwritten'
for option in '-b 9' '-b 8 --seed 2' '-b 8 --pair-strands' '-b 8 --pair-strands=apart'; do
    run covtrain -i d -o every --resume-training every/last.ckpt -e 3 $option
    refused 1 '--resume-training every/last\.ckpt: saved within epoch 0, which had other batches: use the same data' "  resumed with $option"
done
run_ok '  resumed' covtrain -i d -b 8 -o every --resume-training every/last.ckpt -e 3 --max-hours 100
unlike "$(cat "$stderr")" 'stopped' '  without a stop'
ok '  the same bytes as at once' cmp every/last.ckpt one/two/last.ckpt
run_ok 'three epochs of six steps in twenty runs' stepwise 20 '-e 3' '-e 3'
stderr_like 'stopped after .* h; step 18 is saved' '  of which the last has yet to validate'
run covtrain -i d -b 8 -o s --resume-training s/last.ckpt -e 3
for file in last.ckpt best.ckpt metrics.log metrics.jsonl; do
    ok "  the same $file" cmp s/$file one/two/$file
done
# Statistics of a training in several runs, of which one was killed, are those of a training in one.
train -q -o once -e 3 --save-every 2 --stats once.json
train -q -o parts -e 3 --max-hours 1e-6 --stats parts.json
ok 'statistics of a first run: no others' "$PYTHON" -c 'import json
s = json.load(open("parts.json"))
assert s["chunks"] == 8 and "all_runs" not in s and "chunks_resumed" not in s, s'
cp -r parts first.part
saved_again() {
    # shellcheck disable=SC2317 # await calls it
    [ "$(grep -c . parts/runs.jsonl)" -gt 1 ]
}
for _ in 1 2 3 4 5; do # until the run does not end before the kill
    rm -r parts && cp -r first.part parts
    covtrain -q -i d -b 8 -o parts --resume-training parts/last.ckpt -e 3 --save-every 2 >killed.log 2>&1 &
    await saved_again
    kill -9 $! 2>>wait.log
    wait $! 2>>wait.log
    [ $? -eq 137 ] && break
done
run covtrain -q -i d -b 8 -o parts --resume-training parts/last.ckpt -e 3 --save-every 2 -f --stats parts.json
status_is 0 'resumed after a kill'
cat >stats.py <<'E'
import json, sys
times = {"command", "wall_seconds", "cpu_seconds", "peak_rss_bytes", "stages", "bases_per_second", "chunks_per_second"}
resumed = {"inputs", "model", "model_sha256", "bases_resumed", "chunks_resumed", "all_runs"}
one, parts = (json.load(open(x), parse_float=lambda x: float("%.8g" % float(x))) for x in sys.argv[1:3])
assert {k: v for k, v in one.items() if k not in times | resumed} == {k: v for k, v in parts.items() if k not in times | resumed}, (one, parts)
assert 0 < parts["chunks_resumed"] <= parts["chunks"] and 0 < parts["bases_resumed"] <= parts["bases"], parts
a = parts["all_runs"]
assert a["n"] in map(int, sys.argv[3:]) and a["wall_seconds"] > parts["wall_seconds"] and a["cpu_seconds"] > parts["cpu_seconds"], parts
new = parts["chunks"] - parts["chunks_resumed"]
assert abs(parts.get("chunks_per_second", 0) * parts["wall_seconds"] - new) < 1, parts
E
ok '  statistics of the whole training' "$PYTHON" stats.py once.json parts.json 2 3
run covtrain -i d -b 8 -o parts --resume-training parts/last.ckpt -e 3 -f --stats parts.json
stderr_like 'nothing to do' '  and with nothing left to do'
ok '    the same statistics' "$PYTHON" stats.py once.json parts.json 3 4
for name in once parts; do
    run covtrain -q -i d -b 8 -o $name --resume-training $name/last.ckpt -e 3 --stats ${name}_mqc.json
done
ok '    the same losses, correlations, epochs and steps' "$PYTHON" -c 'import json
once, parts = (list(json.load(open(x + "_mqc.json"))["data"].values())[0] for x in ("once", "parts"))
keys = ["avg_val_loss", "avg_val_accuracy", "avg_train_loss", "avg_train_accuracy", "epochs", "steps"]
assert [once[k] for k in keys] == [parts[k] for k in keys] and once["epochs"] == 3 and once["steps"] == 18, (once, parts)'
rm parts/runs.jsonl
run covtrain -q -i d -b 8 -o parts --resume-training parts/last.ckpt -e 4 -f --stats parts.json
ok '  no totals if those of earlier runs are unknown' "$PYTHON" -c 'import json
s = json.load(open("parts.json"))
assert "all_runs" not in s and "chunks_resumed" not in s and s["chunks"] == 48, s'

stepwise 8 "$all" "${all%--lstm*}"
stderr_like 'stopped after .* h; step 7 is saved' 'all options together, in eight runs'
run covtrain -q -i d -b 8 -o s --resume-training s/last.ckpt ${all%--lstm*}
for file in last.ckpt best.ckpt metrics.log metrics.jsonl; do
    ok "  the same $file" cmp s/$file whole/$file
done
# On a busy machine, a run may be held up for longer than that.
for _ in 1 2 3 4 5; do
    train -o hours -f -e 1000000 --patience 1000000 --save-top-k 0 --max-hours 0.0005
    grep -q 'stopped after 0\.000' "$stderr" && break
done
status_is 0 'a limit of 1.8 s'
stderr_like 'stopped after 0\.000[0-9]+ h; (step|epoch) [0-9]+ is saved; resume' '  is kept'
for option in '--save-every 0' '--save-every -1' '--max-hours 0' '--max-hours nan' '--max-hours -2'; do
    run_refused 2 "error: ${option% *}: .*(out of range|is not a|expected|too)" "$option" train -o bad $option
done

for option in --random-offset --pair-strands --pair-strands=apart '--average-weights 0.5' '--schedule cosine' '--warmup-steps 5' '--clip 0.01' \
    '--accumulate 3' '--loss-weights 1,3' '--weight-decay 0.1' --no-shuffle '--dropout 0.5 --lstm-layers 2' '--bnorm false' '--blacklist'; do
    [ "$option" = --blacklist ] && "$PYTHON" -c 'import h5py, sys
h5py.File("d/train/a.h5", "r+")["data/blacklist"] = [0] * 5 + [1] * 19'
    run_ok "$option" train -q -o y -f -e 1 $option
    [ "$option" != --blacklist ] ||
        is "$(sed 's/; --blacklist .*$//' "$stderr")" 'covtrain: warning: d/train/b.h5: no data/blacklist
covtrain: warning: d/val/v.h5: no data/blacklist' '  a warning for each file without one'
    is "$(cmp -s y/last.ckpt one/two/predmoter*epoch=0*; echo $?)" 1 '  changes something'
done
train -o bad --pair-strands apart
refused 2 "--pair-strands apart: a value needs '=', as in --pair-strands=apart" 'a value after a space'
train -o bad --pair-strands=apart --accumulate 2
refused 1 '--pair-strands=apart: 24 chunks with both strands are too few for steps of 16; use a smaller --batch-size \(-b\)$' 'too few steps to keep strands apart'
train -o few -e 1
stderr_like 'an epoch has 6 steps, of up to 8 chunks: a smaller --batch-size \(-b\) gives more steps' 'few steps per epoch: a hint'
train -o many -e 1 --accumulate 1 -f
run covtrain -i d --filter-size 8 --hidden-size 8 -b 4 -e 1 --seed 1 -o many -f
unlike "$(cat "$stderr")" 'an epoch has' '  but not for many'
train -q -o long -e 1000000000000000 --max-steps 2 --schedule cosine
is "$(grep -c step long/metrics.jsonl)" 2 'countless epochs, but few steps'
train -q -o top -e 4 --save-top-k 2 --ckpt-quantity avg_train_loss
is "$(ls top | grep -c epoch=)" 2 '--save-top-k 2 keeps two'
ok '  and the best one as best.ckpt' cmp top/best.ckpt top/*epoch=3*
train -q -o top0 -e 4 --save-top-k 0 --ckpt-quantity avg_train_loss
is "$(ls top0/*.ckpt | paste -sd ' ')" 'top0/best.ckpt top0/last.ckpt' '  0 keeps the best and the last'
ok '  the best is the same' sh -c 'dump_ckpt top0/best.ckpt | grep ^tensor >a; dump_ckpt top/best.ckpt | grep ^tensor >b; cmp a b && grep -q . a'
ok '  the best ones' sh -c 'ls top/*epoch=3_avg_train_loss* top/*epoch=2_avg_train_loss*'
run covtrain -i d -o early -b 8 --hidden-size 8 --filter-size 8 --seed 1 -e 9 --learning-rate 1e-12 --stop-quantity avg_val_accuracy --patience 2
status_is 0 'early stopping'
stderr_like 'avg_val_accuracy has not improved on .* for 2 epochs: training stops' '  is reported'
ok '  before the last epoch' test "$(rows early/metrics.log)" -lt 9
# Their bytes: tests/unit/test_train_log.c.
for file in logs/of/events/events.out.tfevents.* logs/resumed/events.out.tfevents.*; do
    grep -ao learning_rate "$file" | wc -l
done | sort -n | paste -sd ' ' >events
is "$(cat events)" '3 5 7' 'events for TensorBoard: those of all steps, in a file per run'

# ---------------------------------------------------------------- starting from a checkpoint

run covtrain -q -i d -b 8 -e 1 --seed 3 -o tuned --init-from one/two/last.ckpt --hidden-size 8 --datasets atacseq,h3k4me3
status_is 0 '--init-from'
ok '  starts better than from random weights' "$PYTHON" -c '
import json
a, b = (json.loads(open(x + "/metrics.jsonl").readline())["loss"] for x in ("tuned", "one/two"))
assert a < b - 0.05, (a, b)'
for option in '--hidden-size 9' '--model-type hybrid' '--bnorm False' '--dropout 0.1' '--datasets atacseq' '--cnn_layers 2'; do
    run covtrain -i d -o bad --init-from one/two/last.ckpt $option
    refused 1 "${option%% *}.* contradicts one/two/last\.ckpt|--cnn-layers 2 contradicts" "--init-from and $option"
    run covtrain -i d -o bad --resume-training one/two/last.ckpt $option
    refused 1 "${option%% *}.* contradicts one/two/last\.ckpt|--cnn-layers 2 contradicts" "  and --resume-training"
done

# ---------------------------------------------------------------- frozen layers

# changed A B: the layers whose parameters differ in two checkpoints, and "statistics" if those of all norms do.
changed() {
    dump_ckpt "$1" a.raw >a.txt && dump_ckpt "$2" b.raw >b.txt && "$PYTHON" - <<'EOF'
from math import prod
a, b = (open(x + ".raw", "rb").read() for x in "ab")
at, layers, statistics = 0, {}, []
for line in open("a.txt"):
    if line.startswith("tensor"):
        _, name, kind, shape, _ = line.rstrip("\n").split("\t")
        end = at + prod(map(int, filter(None, shape.split(",")))) * int(kind[-2:]) // 8
        differs, at = a[at:end] != b[at:end], end
        if "running" in name:
            statistics.append(differs)
        elif "num_batches" not in name:
            layer = name.rpartition(".")[0]
            layers[layer] = layers.get(layer, False) or differs
assert at == len(a) == len(b)
print(*sorted(x for x in layers if layers[x]), *["statistics"] * all(statistics))
EOF
}
up='up_layer_list.0 up_layer_list.1'
while IFS='|' read -r layers left; do
    run covtrain -i d -b 8 -e 1 --seed 3 -o ice -f --init-from one/two/last.ckpt --freeze "$layers" --average-weights 0.5
    status_is 0 "--freeze $layers"
    stderr_like 'parameters, [0-9]+ of them frozen$' '  is reported'
    is "$(changed one/two/last.ckpt ice/last.ckpt)" "$left statistics" '  changes only the other layers'
done <<END
conv|lstm_layer_list.0 out
lstm|down_layer_list.0 down_layer_list.1 out $up
linear|down_layer_list.0 down_layer_list.1 lstm_layer_list.0 $up
conv,lstm|out
down_layer_list.0,out|down_layer_list.1 lstm_layer_list.0 $up
down_layer_list.0,down_layer_list.1|lstm_layer_list.0 out $up
END
train -q -o ice -f -e 3 --freeze conv
train -q -o ice2 -e 1 --freeze down_layer_list.0,down_layer_list.1,up_layer_list.0,up_layer_list.1
cp ice2/last.ckpt ice.ckpt
run covtrain -i d -b 8 -o ice2 --resume-training ice2/last.ckpt -e 3
ok 'a resumed training keeps them: the same bytes' cmp ice2/last.ckpt ice/last.ckpt
run_ok '  also if they are named' covtrain -i d -b 8 -o ice3 --resume-training ice.ckpt -e 3 --freeze conv
run covtrain -i d -b 8 -o bad --resume-training ice.ckpt -e 3 --freeze lstm
refused 1 '--freeze lstm contradicts ice\.ckpt, where the frozen layers are: conv; use --init-from' '  others: an error'
run covtrain -i d -b 8 -o bad --resume-training one/two/last.ckpt -e 4 --freeze lstm
refused 1 '--freeze lstm contradicts one/two/last\.ckpt, where the frozen layers are: none; use' '  also after a training without'
run covtrain -q -i d -b 8 -e 1 --seed 3 -o ice3 -f --init-from ice.ckpt
is "$(changed ice.ckpt ice3/last.ckpt)" "down_layer_list.0 down_layer_list.1 lstm_layer_list.0 out $up statistics" \
    '  --init-from freezes none by itself'
run h5chunk info ice/last.ckpt
stdout_like 'covtrain --seed 1 .* --freeze conv' '  h5chunk info shows them'

run_refused 1 'd: is a directory, not a file' 'a directory instead of a checkpoint' covtrain -i d -o bad --init-from d
while IFS='|' read -r code options regex; do
    # shellcheck disable=SC2086 # a list of words
    run_refused "$code" "$regex" "$options" train -o bad $options
done <<'END'
1|--freeze conv,dense|--freeze: the network has no layer dense; it has conv,lstm,linear,down_layer_list\.0,down_layer_list\.1,lstm_layer_list\.0,up_layer_list\.0,up_layer_list\.1,out$
1|--freeze lstm --model-type cnn|--freeze: the network has no layer lstm; it has conv,linear,down
1|--freeze linear,lstm,conv|--freeze: all layers are frozen: nothing to train
2|--ram-efficient true --loading ram|contradict each other
2|--bnorm maybe|neither true nor false
2|--weight-decay -0.1|error: --weight-decay: .*out of range
2|--weight-decay nan|error: --weight-decay: .*(out of range|is not a number)
2|--kernel-size 8 --step 1|step is 1 with the even kernel_size 8
1|--cnn-layers 6|d/train/a\.h5: subsequence length .* is not a multiple of 64
1|--cnn-layers 12|d/train/a\.h5: subsequence length .* is not a multiple of 4096
1|-e 1 --tensorboard d/train/a.h5|d/train/a\.h5: is not a directory$
1|-e 1 --tensorboard d/train/a.h5/below|d/train/a\.h5/below: is not a directory$
END
COVTOOLS_PLUGINS=$work train -o bad/deep --device cuda
status_is 1 'no plugin for GPUs'
ok 'none of these leaves a directory' test ! -e bad

# ---------------------------------------------------------------- the data

run_refused 1 'nowhere: No such file or directory$' 'a missing directory' covtrain -i nowhere -o bad
printf '>a\nACGT\n' >a.fa
run_refused 1 'a\.fa: not a directory, but a FASTA file$' 'a FASTA file in place of the directory' covtrain -i a.fa -o bad
mkdir -p e/train e/val
run_refused 1 'e/train: no \*\.h5 file' 'no files' covtrain -i e/ -o bad
cp d/train/a.h5 e/train && cp d/val/v.h5 e/val
run covtrain -i e// $net -e 1 -o bad --datasets moaseq
refused 1 'error: e/train: no file has the dataset moaseq; they have: atacseq, h3k4me3$' 'a dataset that no file has'
run covtrain -i e $net -e 1 -o bad --datasets atacseq,moaseq
refused 1 'e/train: no file has the dataset moaseq; they have: atacseq, h3k4me3$' '  also among others'
# has FILE NAME...: a file whose only datasets are these
has() {
    "$PYTHON" - "$@" <<'END'
import shutil, sys
import h5py
shutil.copyfile("d/val/v.h5" if "/val/" in sys.argv[1] else "d/train/a.h5", sys.argv[1])
with h5py.File(sys.argv[1], "r+") as f:
    sets = {name: f["evaluation/%s_coverage" % name][:] for name in ("atacseq", "h3k4me3")}
    del f["evaluation"]
    for name in sys.argv[2:]:
        f["evaluation/%s_coverage" % name] = sets.get(name, sets["atacseq"])
END
}
mkdir -p c/train c/val
cp d/train/?.h5 c/train && cp d/val/v.h5 c/val && cp d/train/b.h5 c/val/x.h5 && ln -s ../train/a.h5 c/val/y.h5
run_ok 'a validation file that is also a training file' covtrain -q -i c $net -e 1 -o copies
is "$(grep warning "$stderr")" "covtrain: warning: c/val/x.h5: the same chunks as c/train/b.h5: validation on training data does not show how the network does on other sequences
covtrain: warning: c/val/y.h5: the same chunks as c/train/a.h5: validation on training data does not show how the network does on other sequences" \
    '  causes a warning, and others do not'
rm c/val/*
"$PYTHON" - <<'END'
import shutil
import h5py
shutil.copyfile("d/val/v.h5", "c/val/v.h5")
with h5py.File("c/train/b.h5") as f, h5py.File("c/val/v.h5", "r+") as g:
    g["data/X"][0] = f["data/X"][3]
    g["data/X"][1] = f["data/X"][2][::-1, ::-1]  # the reverse complement
END
for loading in disk ram ram-packed; do
    run covtrain -q -f -i c $net -e 1 --loading $loading -o copies
    is "$(grep warning "$stderr")" "covtrain: warning: c/val/v.h5: 2 of 24 chunks (8.33 %) have the bases of training data, which validation should not see; h5chunk split keeps them apart" \
        "chunks for validation whose bases are in training data, --loading $loading"
done
mkdir -p p/train p/val
has p/train/1.h5 h3k4me3 && has p/train/2.h5 atacseq && has p/val/v.h5 h3k4me3 atacseq
run covtrain -i p $net -e 1 --seed 1 -o union
stderr_like '^covtrain: datasets: atacseq,h3k4me3, as in the files$' 'without --datasets, those of all files, by name'
has p/val/v.h5 h3k4me3
run covtrain -i p $net -e 1 --seed 1 -o marks
stderr_like '^covtrain: datasets: h3k4me3, as in the files$' '  but only those that can be validated'
stderr_like 'warning: p/val: no file has the dataset atacseq; it is not trained$' '  the others are a warning'
like "$(dump_ckpt marks/last.ckpt)" 'out\.bias	[^	]*	1	' '  the network predicts nothing else'
run covtrain -i p $net -e 1 -o bad --datasets h3k4me3,atacseq
refused 1 'p/val: no file has the dataset atacseq; they have: h3k4me3$' '  if named, an error'
run covtrain -i p $net -e 1 -o bad --init-from one/two/last.ckpt
refused 1 'p/val: no file has the dataset atacseq of one/two/last\.ckpt; --datasets atacseq,h3k4me3 trains without it, but its predictions change, too$' \
    'a dataset of --init-from that no file has'
has p/val/v.h5 atacseq && has p/train/1.h5 atacseq
run covtrain -i p $net -e 4 -o bad --resume-training one/two/last.ckpt
refused 1 'p/train: no file has the dataset h3k4me3 of one/two/last\.ckpt; --datasets atacseq,h3k4me3 trains without it, but its predictions change, too$' \
    '  or of --resume-training'
run covtrain -q -i p $net -e 1 --seed 1 -o mine --init-from one/two/last.ckpt --datasets atacseq,h3k4me3
status_is 0 '  is allowed if it is named'
stderr_is 'covtrain: warning: p/train: no file has the dataset h3k4me3; its predictions change without being trained
covtrain: warning: p/val: no file has the dataset h3k4me3; it is not validated' '  with warnings'
run covtrain -i p $net -e 1 -o bad --init-from one/two/last.ckpt --datasets atacseq
refused 1 '--datasets contradicts one/two/last\.ckpt, where they are atacseq,h3k4me3; name all of them, also those that no file has$' \
    '  together with the others of the checkpoint'
has p/val/v.h5 moaseq
run_refused 1 'p/train has: atacseq; p/val has: moaseq; no dataset is in both$' 'no common dataset' covtrain -i p $net -e 1 -o bad
run covtrain -i p $net -e 1 -o bad --init-from one/two/last.ckpt --datasets atacseq,h3k4me3
refused 1 'p/val: no file has any of the datasets; they have: moaseq$' '  or none of a checkpoint'
has p/train/1.h5 moaseq && has p/train/2.h5 moaseq
run covtrain -i p $net -e 1 -o bad --init-from one/two/last.ckpt
refused 1 'p/train: no file has any of the datasets; they have: moaseq$' 'files with other datasets than the checkpoint'
# Coverage in regions of the list has no effect: a spike there changes nothing.
mkdir -p spike/train spike/val
"$PYTHON" - <<'END'
import h5py, shutil
for part in "train/a", "train/b", "val/v":
    shutil.copy("d/%s.h5" % part, "spike/%s.h5" % part)
    with h5py.File("spike/%s.h5" % part, "r+") as f:
        for name in "atacseq", "h3k4me3":
            y = f["evaluation/%s_coverage" % name]
            for i, (seq, (a, b)) in enumerate(zip(f["data/seqids"][:], f["data/start_ends"][:])):
                row = y[i]
                for k in range(abs(b - a)):
                    at = a + k if a < b else a - 1 - k
                    if (seq == b"s0" and 300 <= at < 1000) or (seq == b"s1" and at < 100):
                        row[k] = 9999
                y[i] = row
END
printf 's0\t300\t600\nbrowser x\ns1\t0\t100\ns0\t600\t1000\n' >mask.bed
for how in '' '--loading ram-packed --random-offset --pair-strands' '--precision bf16'; do
    run_ok "--blacklist-file $how" covtrain -q -i d $net --seed 1 -e 2 -o plain -f --blacklist-file mask.bed $how
    run covtrain -q -i spike $net --seed 1 -e 2 -o masked -f --blacklist-file mask.bed $how
    ok '  coverage in its regions does not matter' cmp plain/last.ckpt masked/last.ckpt
    ok '  in any metric' cmp plain/metrics.log masked/metrics.log
done
run covtrain -q -i spike $net --seed 1 -e 2 -o masked -f
is "$(cmp -s plain/last.ckpt masked/last.ckpt; echo $?)" 1 '  without the list, it does'
printf 's1\nabsent\n' >ids
run covtrain -i d $net --seed 1 -e 1 -o masked -f --blacklist-file ids
stderr_like 'warning: ids: 1 of 2 names are not in d; the first is absent$' '  names that are in no file are reported'
stderr_like '24 chunks to train on in 2 files, 12 to validate with' '  sequences are left out'
echo s0 >>ids
run covtrain -i d $net --seed 1 -e 1 -o bad --blacklist-file ids
refused 1 'd/train: nothing to train on: all chunks are gaps or on the blacklist$' '  all of them: an error'
head -c 20000 d/train/b.h5 >e/train/b.h5
run_refused 1 'e/train/b\.h5' 'a damaged file' covtrain -i e $net -o bad
ok '  leaves no checkpoint' test ! -e bad/last.ckpt
"$PYTHON" "$SRC/tests/oracle/training_data.py" e/train/b.h5 1 4 120 || exit 99
run covtrain -i e $net -o bad
refused 1 'b\.h5: chunks of 120 positions, but those of e/train/a\.h5 have 240' 'chunks of two lengths'

# ---------------------------------------------------------------- diverging training

div='--filter-size 8 --hidden-size 8 --seed 1 -@ 1'
for precision in fp32 bf16; do
    run covtrain -q -i d $div -b 8 -o div.$precision --precision $precision --learning-rate 1000 --tensorboard div.$precision/log
    refused 1 'step 2 \(epoch 0, learning rate 1000\): the loss .* not finite: the training has diverged; .*--clip 1 .*nothing is saved' \
        "a loss that is not finite, $precision"
    ok '  leaves no checkpoint' test ! -e div.$precision/last.ckpt
    is "$(grep -c step div.$precision/metrics.jsonl)" 1 '  but the metrics of earlier steps'
    ok '  also as events' test "$(grep -ac 'learning_rate' div.$precision/log/events*)" -eq 1
    # The rate grows until the second moments of Adam overflow, in a step or in the validation after it. Rounding decides when.
    run covtrain -q -i d $div -b 48 -e 20 -o late.$precision/ --precision $precision --learning-rate 1000 --warmup-steps 1000
    epoch=$(sed -n 's/.* step [0-9]* (epoch \([1-9]\), .*/\1/p' "$stderr")
    refused 1 "step $((epoch + 1)) \(epoch ${epoch:-?}, learning rate $((epoch + 1))\): .* diverged; .*; late\.$precision/last\.ckpt is from epoch $((epoch - 1)); --resume" \
        '  after some epochs'
    grep -q ': row ' "$stderr" && steps=$((epoch + 1)) || steps=$epoch
    is "$(rows late.$precision/metrics.log) $(grep -c step late.$precision/metrics.jsonl)" "$epoch $steps" '  whose metrics are kept'
    ok '  as are their checkpoints' cmp late.$precision/last.ckpt late.$precision/predmoter*epoch=$((epoch - 1))_*
done
run covtrain -q -i d $div -b 48 -o div.val --learning-rate 30
refused 1 "step 1 \(epoch 0, .*: d/val/v\.h5: row 0: the network's value is not finite: the training has diverged" 'in validation'
ok '  leaves no checkpoint' test ! -e div.val/last.ckpt
run_ok 'a training without a checkpoint is overwritten' covtrain -i d $div -b 48 -o div.fp32 -e 2
is "$(rows div.fp32/metrics.log) $(grep -c step div.fp32/metrics.jsonl)" '2 2' '  including its metrics'
rm div.fp32/last.ckpt
run covtrain -i d $div -b 48 -o div.fp32 -e 1
refused 1 'div\.fp32/metrics\.log: exists: the directory contains a training; use -f to replace it$' '  but not one with epochs after the first'
run covtrain -q -i d -b 8 -o div.val -e 2 --resume-training one/two/predmoter*epoch=0*
status_is 0 'a checkpoint from another directory can also be resumed there'
is "$(rows div.val/metrics.log) $(grep -c step div.val/metrics.jsonl)" '1 6' '  without the old metrics'
train -q -o stays -e 1
cp stays/last.ckpt stays.ckpt
run covtrain -q -i d -b 8 -o stays --resume-training stays/last.ckpt --learning-rate 1000 --clip 2
refused 1 'a lower --learning-rate or --clip, .*; stays/last\.ckpt is unchanged' 'after a resume'
ok '  which is true' cmp stays/last.ckpt stays.ckpt
is "$(rows stays/metrics.log) $(grep -c step stays/metrics.jsonl)" '1 7' '  and its metrics are kept'
run covtrain -q -i d -b 8 -o stays --resume-training stays/last.ckpt --learning-rate 0.01 -e 3
ok '  resuming with a lower rate gives the usual result' cmp stays/last.ckpt one/two/last.ckpt

# ---------------------------------------------------------------- kills, full disks

has_epochs() { # DIR: the training in this directory has saved two epochs
    # shellcheck disable=SC2317 # await calls it
    [ "$(rows "$1/metrics.log")" -ge 2 ]
}
covtrain -i d $net -o sig/ -e 100000 --patience 100000 --save-top-k 1 2>sig.txt &
await has_epochs sig
run_refused 1 'sig: another run is using this directory' 'two runs in one directory' train -o sig -f
kill $!
wait $!
is $? 143 'ended by SIGTERM'
like "$(tail -n 1 sig.txt)" '^covtrain: stopped by SIGTERM; epoch [0-9]+ is saved; resume with --resume-training sig/last\.ckpt$' \
    '  reports how to resume'
saved=$(sed -n 's/.*; epoch \([0-9]*\) is saved.*/\1/p' sig.txt)
is "$(cut -d ' ' -f 1 sig/metrics.log | grep -cx "$saved")" 1 '  from an epoch in the metrics, which are written first'
ok '  and in the last checkpoint' test "$(dump_ckpt sig/last.ckpt | sed -n 's/^epoch	//p')" -ge "$saved"
is "$(find sig -name '.*' ! -name sig)" '' '  and leaves no temporary files'
for signal in INT:130 HUP:129 QUIT:131; do
    rm -r sig
    start covtrain -i d $net -o sig/ -e 100000 --patience 100000 --save-top-k 0
    await has_epochs sig
    ends_by $signal 'while training'
    like "$(tail -n 1 "$stderr")" "^covtrain: stopped by SIG${signal%:*}; epoch [0-9]+ is saved; resume with --resume-training sig/last\.ckpt$" \
        '  reports the same'
    ok '  and leaves the best epoch' dump_ckpt sig/best.ckpt
done
ok "${COV_KILLS:-3} kills" "$PYTHON" "$SRC/tests/fuzz/train_kills.py" "${COV_KILLS:-3}" one/two killed -- \
    -i d $net --seed 1 -e 3

ok '  and with checkpoints within epochs, and --recompute' "$PYTHON" "$SRC/tests/fuzz/train_kills.py" "${COV_KILLS:-3}" one/two killed -- \
    -i d $net --seed 1 -e 3 --save-every 1 --recompute

train -q -o full -e 1
cp full/last.ckpt one.ckpt
run sh -c 'ulimit -f 60; exec "$@"' sh covtrain -q -i d -b 8 -o full --resume-training full/last.ckpt -e 3
refused 1 'full/.*: File too large' 'a checkpoint that cannot be written'
ok '  leaves the previous one' cmp full/last.ckpt one.ckpt
is "$(find full -name '.*' ! -name full; find full -name '*epoch=1*')" '' '  and leaves no temporary files'
run covtrain -q -i d -b 8 -o full --resume-training full/last.ckpt -e 3
ok '  from which training resumes' cmp full/last.ckpt one/two/last.ckpt
mkdir room
if [ "$(id -u)" -eq 0 ] && unshare -m mount -t tmpfs -o size=1m tmpfs room 2>/dev/null; then
    # shellcheck disable=SC2016 # for the inner shell
    run unshare -m sh -c 'mount -t tmpfs -o size=400k tmpfs room && covtrain "$@"; s=$?; dump_ckpt room/o/last.ckpt; ls -A room/o; exit $s' - \
        -q -i d $net --seed 1 -e 50 -o room/o
    refused 1 'No space left on device' 'a full disk'
    stdout_like '^tensor	out\.bias' '  the last checkpoint is complete'
    unlike "$(cat "$stdout")" '^\.' '  no temporary file is left'
fi
done_testing
