#!/bin/sh
# What outputs record about how they were made: predictions, shards, coverage, tracks, checkpoints.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/covpredict.sh"
need_python h5py

odd_lengths 5 >g.fa
fasta2h5 --subsequence-length 1008 -o g.h5 g.fa || exit 99
make_ckpt cnn m.ckpt || exit 99
make_ckpt cnn other.ckpt 2 || exit 99
sha=$(sha256sum <m.ckpt | cut -d ' ' -f 1)

# ---------------------------------------------------------------- predictions

run covpredict -@ 2 --batch-size 3 --stats s.json --overlap 8 -m m.ckpt -o p.h5 g.h5
run h5chunk info p.h5
command='covpredict --model m\.ckpt --subsequence-length 1008 --precision exact --overlap 8 --dtype int32'
for line in 'tool: covpredict' "command: $command" 'precision: exact' 'device: cpu' "model_sha256: $sha"; do
    stdout_like "^  attribute  $line\$" "predictions: $line"
done
stdout_like '^  prediction/model_name: m\.ckpt$' '  and the model'
stdout_like '^  prediction/predictions overlap: 8$' '  attributes of datasets'
ok '--stats' "$PYTHON" - "$sha" <<'END'
import json, sys
import h5py
s, f = json.load(open("s.json")), h5py.File("p.h5")
assert s["model"] == "m.ckpt" and s["model_sha256"] == sys.argv[1] == f.attrs["model_sha256"], s
assert s["precision"] in ("fp32", "bf16x3") and f.attrs["precision"] == "exact" and s["device"] and "m.ckpt" in s["inputs"]
assert "-@ 2 --batch-size 3" in s["command"]
END
cp m.ckpt "it's.ckpt"
run covpredict --float --full -m "it's.ckpt" -o f.h5 g.h5
run h5chunk info --json f.h5
ok 'the command is quoted for a shell' "$PYTHON" - "$stdout" <<'END'
import json, shlex, sys
a = json.load(open(sys.argv[1]))["files"][0]["attributes"]
words = "covpredict --model it's.ckpt --subsequence-length 1008 --precision exact --overlap 0 --float --full"
assert shlex.split(a["command"]) == shlex.split(words.replace("'", "\\'")), a
END
covpredict -q --overlap 8 -m m.ckpt -o - g.h5 | h5chunk save -q -o saved.h5 -
run h5chunk info saved.h5
stdout_like "^  attribute  model_sha256: $sha\$" 'through a stream'
run h5chunk repack --dtype int64 -o repacked.h5 p.h5
run h5chunk info repacked.h5
stdout_like "^  attribute  command: $command\$" 'repacked'
run covpredict --evaluate -m m.ckpt --stats - -o e.tsv g.h5
status_is 1 '--evaluate without coverage'
rm f.h5 saved.h5 repacked.h5 s.json "it's.ckpt"

# ---------------------------------------------------------------- shards

for i in 1 2; do
    covpredict -q --overlap 8 --shard $i/2 -m m.ckpt -o "p$i.h5" g.h5 || exit 99
done
run h5chunk merge -o m.h5 p1.h5 p2.h5
run h5chunk info m.h5
stdout_like "^  attribute  command: $command\$" 'merged shards'
stdout_like "^  attribute  device: cpu\$" '  of one device'
covpredict -q --cpu scalar --precision bf16 --overlap 8 --shard 2/2 -f -m m.ckpt -o p2.h5 g.h5 || exit 99
run h5chunk merge -f -o m.h5 p1.h5 p2.h5
refused 1 "^h5chunk: error: p1\.h5 and p2\.h5 are not parts of one file: predicted by .$command. and .covpredict .*--precision bf16 .*\$" \
    'shards of two precisions'
mv m.ckpt kept.ckpt
mv other.ckpt m.ckpt
covpredict -q --overlap 8 --shard 2/2 -f -m m.ckpt -o p2.h5 g.h5 || exit 99
run h5chunk merge -f -o m.h5 p1.h5 p2.h5
refused 1 '^h5chunk: error: p1\.h5 and p2\.h5 are not parts of one file: predicted with different models' 'shards of two models of one name'
mv kept.ckpt m.ckpt
mkdir -p 'another directory' && cp m.ckpt 'another directory/name.ckpt'
covpredict -q --overlap 8 --shard 2/2 -f -m 'another directory/name.ckpt' -o p2.h5 g.h5 || exit 99
run_ok '  shards of one model with two names are merged' h5chunk merge -f -o m.h5 p1.h5 p2.h5
covpredict -q --overlap 4 --shard 2/2 -f -m 'another directory/name.ckpt' -o p2.h5 g.h5 || exit 99
run_refused 1 'p1\.h5 and p2\.h5 are not parts of one file' '  but not with other options' h5chunk merge -f -o m.h5 p1.h5 p2.h5
covpredict -q --overlap 8 --shard 2/2 -f -m m.ckpt -o p2.h5 g.h5 || exit 99
"$PYTHON" -c 'import h5py; h5py.File("p2.h5", "r+").attrs["device"] = "cuda"'
h5chunk merge -q -f -o m.h5 p1.h5 p2.h5 || exit 99
run h5chunk info m.h5
stdout_like "^  attribute  command: $command\$" 'shards of two devices are merged'
is "$(grep -c 'device' "$stdout")" 0 '  without naming a device'
mkdir stale
awk 'NR == 2 { $0 = (/^A/ ? "C" : "A") substr($0, 2) } { print }' g.fa >stale/g.fa
shard_of() { # FASTA
    covpredict -q --subsequence-length 1008 --overlap 8 --shard 2/2 -f -m m.ckpt -o p2.h5 "$1" || exit 99
    run h5chunk merge -f -o m.h5 p1.h5 p2.h5
}
shard_of stale/g.fa
refused 1 '^h5chunk: error: p1\.h5 and p2\.h5 are not parts of one file: predicted from different bases \(genome_fingerprint\)$' \
    'shards of two genomes with the same names and lengths'
run_ok '  of one genome as FASTA and as a genome file are merged' shard_of g.fa
run h5chunk info m.h5
is "$(grep -c genome_fingerprint "$stdout")" 0 '  which is not named'
rm -r stale
rm p1.h5 p2.h5 m.h5

# ---------------------------------------------------------------- coverage

printf 'c1\t0\t5\t3\n' >t.bg
printf 'c1\t0\t5\t4\n' >u.bg
bam2h5 -q -p atacseq -o m.h5 g.h5 t.bg u.bg 2>"$stderr" || exit 99
run h5chunk info m.h5
for track in t u; do
    stdout_like "^  evaluation/atacseq_coverage settings: count=track strand=both file=$track\.bg\$" "settings of $track.bg"
done
run h5chunk info --json m.h5
ok '  also in JSON' "$PYTHON" - "$stdout" <<'END'
import json, sys
sets = {d["name"]: d["attributes"] for d in json.load(open(sys.argv[1]))["files"][0]["data_sets"]}
assert sets["evaluation/atacseq_coverage"]["settings"].split("\n") == [
    f"count=track strand=both file={t}.bg" for t in "tu"], sets
assert sets["data/seqids"] == {}
END

# ---------------------------------------------------------------- tracks

run cov2bigwig --stats s.json --measured m.h5 p.h5
ok '--stats of cov2bigwig describes its inputs' "$PYTHON" - "$sha" <<'END'
import json, sys
sources = {s["path"]: s["attributes"] for s in json.load(open("s.json"))["sources"]}
assert sorted(sources) == ["m.h5", "p.h5"], sources
p = sources["p.h5"]
assert p["model_sha256"] == sys.argv[1] and p["precision"] == "exact" and "--overlap 8" in p["command"], p
assert p["prediction/predictions overlap"] == "8"
assert sources["m.h5"]["evaluation/atacseq_coverage settings"].startswith("count=track"), sources
END
covpredict -q --overlap 8 -m m.ckpt -o - g.h5 | cov2bigwig -q --stats s.json -f -o x.bw -
ok '  also those of a stream' "$PYTHON" - "$sha" <<'END'
import json, sys
(s,) = json.load(open("s.json"))["sources"]
assert s["attributes"]["model_sha256"] == sys.argv[1], s
END
cov2bigwig -q --stats s.json -f -o y.bw x.bw
is "$(grep -c sources s.json)" 0 '  a bigWig says nothing'
rm x.bw y.bw

# ---------------------------------------------------------------- checkpoints

run_ok 'a checkpoint and a predictions file' h5chunk info m.ckpt p.h5
stdout_like '^m\.ckpt: checkpoint of a network$' '  the kind'
stdout_like "^  SHA-256         $sha\$" '  SHA-256'
stdout_like '^  parameters      2921 in 10 tensors$' '  the parameters'
stdout_like '^  training        epoch 4, 35 steps, without the state of an optimiser$' '  the training'
stdout_like '^  made by         PyTorch Lightning 2\.0\.2, such as Predmoter$' '  the program'
stdout_like '^  hyperparameter  datasets: atacseq$' '  the datasets'
mkdir -p d/train d/val
cp m.h5 d/train/a.h5
cp m.h5 d/train/b.h5
cp m.h5 d/val/c.h5
train() { # DIRECTORY OPTION...
    directory=$1
    shift
    covtrain -q -i d -o "$directory" --model-type cnn --cnn-layers 1 --filter-size 4 -b 4 --seed 5 "$@" 2>/dev/null ||
        fail "covtrain $*"
}
train one -@ 1 -e 2 --loss-weights 0.5
run h5chunk info one/last.ckpt
for line in 'tool: covtrain' 'version: [0-9].*' 'command: covtrain --seed 5 --batch-size 4 --loss-weights 0\.5' 'precision: fp32' \
    'device: cpu' 'train: a\.h5, b\.h5' 'val: c\.h5'; do
    stdout_like "^  made by         $line\$" "trained: $line"
done
stdout_like '^  training        epoch 1, [0-9]+ steps, with the state of the optimiser$' '  the training'
train two -@ 2 -e 1 --loss-weights 0.5
train two -@ 2 -e 2 --loss-weights 0.5 --resume-training two/last.ckpt --stats two.json
run h5chunk info --json one/last.ckpt two/last.ckpt
ok '  the same after resuming; JSON' "$PYTHON" - "$stdout" "$sha" <<'END'
import json, sys
one, two = json.load(open(sys.argv[1]))["files"]
assert one["made_by"] == two["made_by"] and one["made_by"]["train"] == "a.h5, b.h5"
assert one["kind"] == "checkpoint" and one["optimiser"] is True and one["epoch"] == 1
assert one["parameters"] == 2 * (4 * 4 * 9 + 4 + 2 * 4) + 4 + 1, one["parameters"]
assert one["hyperparameters"]["cnn_layers"] == 1 and one["hyperparameters"]["datasets"] == ["atacseq"]
s = json.load(open("two.json"))
assert s["model"] == "two/last.ckpt" and len(s["model_sha256"]) == 64 and s["precision"] == "fp32"
END
run covpredict --evaluate --stats e.json -m one/last.ckpt m.h5
like "$(cat e.json)" "\"model_sha256\": \"$(sha256sum <one/last.ckpt | cut -d ' ' -f 1)\"" '--stats of --evaluate'
if "$PYTHON" -c 'import torch' 2>/dev/null; then
    ok '  PyTorch reads it' "$PYTHON" -c '
import torch
c = torch.load("one/last.ckpt")
assert c["covtools"]["train"] == "a.h5, b.h5" and c["hyper_parameters"]["cnn_layers"] == 1'
fi
head -c 5000 one/last.ckpt >cut.ckpt
run_refused 1 '^h5chunk: error: cut\.ckpt: ' 'a truncated checkpoint' h5chunk info cut.ckpt
printf 'x' >x.txt
"$PYTHON" -c 'import zipfile; zipfile.ZipFile("x.zip", "w").write("x.txt")'
run_refused 1 '^h5chunk: error: x\.zip: ' 'another zip archive' h5chunk info x.zip
done_testing
