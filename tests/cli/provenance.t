#!/bin/sh
# What outputs record about how they were made: predictions, shards, coverage.
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
command='covpredict --model m\.ckpt --subsequence-length 1008 --precision fp32 --overlap 8 --dtype int32'
for line in 'tool: covpredict' "command: $command" 'precision: fp32' 'device: cpu' "model_sha256: $sha"; do
    stdout_like "^  attribute  $line\$" "predictions: $line"
done
stdout_like '^  prediction/model_name: m\.ckpt$' '  and the model'
stdout_like '^  prediction/predictions overlap: 8$' '  attributes of data sets'
ok '--stats' "$PYTHON" - "$sha" <<'END'
import json, sys
import h5py
s, f = json.load(open("s.json")), h5py.File("p.h5")
assert s["model"] == "m.ckpt" and s["model_sha256"] == sys.argv[1] == f.attrs["model_sha256"], s
assert s["precision"] == f.attrs["precision"] and s["device"] and "m.ckpt" in s["inputs"]
assert "-@ 2 --batch-size 3" in s["command"]
END
cp m.ckpt "it's.ckpt"
run covpredict --float --full -m "it's.ckpt" -o f.h5 g.h5
run h5chunk info --json f.h5
ok 'the command is quoted for a shell' "$PYTHON" - "$stdout" <<'END'
import json, shlex, sys
a = json.load(open(sys.argv[1]))["files"][0]["attributes"]
words = "covpredict --model it's.ckpt --subsequence-length 1008 --precision fp32 --overlap 0 --float --full"
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
covpredict -q --overlap 8 --shard 2/2 -f -m m.ckpt -o p2.h5 g.h5 || exit 99
"$PYTHON" -c 'import h5py; h5py.File("p2.h5", "r+").attrs["device"] = "cuda"'
h5chunk merge -q -f -o m.h5 p1.h5 p2.h5 || exit 99
run h5chunk info m.h5
stdout_like "^  attribute  command: $command\$" 'shards of two devices are merged'
is "$(grep -c 'device' "$stdout")" 0 '  without naming a device'
rm p1.h5 p2.h5 m.h5

# ---------------------------------------------------------------- coverage

printf 'c1\t0\t5\t3\n' >t.bg
printf 'c1\t0\t5\t4\n' >u.bg
bam2h5 -q -p atacseq -o m.h5 g.h5 t.bg u.bg || exit 99
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
done_testing
