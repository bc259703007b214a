#!/bin/sh
# benchmark report: all figures in one page, and recommendations that follow from them.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python json

make_ckpt bi-hybrid small.ckpt || exit 99
benchmark synth --size 100k --contigs 2 -o small.fa || exit 99
run_ok 'report measures everything' benchmark report --quick -m small.ckpt --fasta small.fa -@ 2 -o report/
is "$(cut -f 1 "$stdout" | tr '\n' ' ')" 'setting batch threads precision time of a genome device layout where more hardware helps ' \
    '  and prints recommendations'
like "$(cut -f 3 "$stdout" | tr '\n' ' ')" \
    '^how covpredict --batch-size [0-9]* covpredict -@ [12] covpredict --precision exact  covpredict --device cpu fasta2h5 --layout ' \
    '  with the options to set them'
charts=$("$PYTHON" "$SRC/tests/oracle/benchmark_check.py" report model,loader,encode,stages,pipeline \
    model/chunks_per_second/device=cpu,precision=exact,batch=1,threads=2,length=10688 loader/epoch_seconds/strategy=original,io=unlimited \
    encode/bases_per_second/form=codes,length=500 stages/seconds_per_mbp/stage=covpredict pipeline/wall_seconds/stage=all 2>&1)
is "$charts" "$(find report -name '*.svg' | wc -l)" 'well-formed files, with all charts in the page'
is "$(find . -name 'synthetic*' -o -name 'random*' -o -name '*.h5' -o -name '.*' ! -name . | wc -l)" 0 'no temporary files are left'
ok 'given inputs are kept' test -s small.fa -a -s small.ckpt
cat >advice.py <<'END'
import json, re
b = json.load(open("report/benchmark.json"))
advice = {a["setting"].split()[0]: a for a in b["recommendations"]}
assert {"batch", "threads", "precision", "time", "device", "layout", "where"} <= set(advice), list(advice)
assert all(a["value"] and a["reason"] for a in advice.values())
speed = {f["name"]: f["median"] for f in b["figures"] if f["name"].startswith("model/chunks_per_second/")}
exact = {n: v for n, v in speed.items() if "precision=exact" in n and "threads=2" in n}
chosen = [v for n, v in exact.items() if f"batch={advice['batch']['value']}," in n]
assert chosen and chosen[0] >= 0.9 * max(exact.values()), (chosen, exact)
every = {n: v for n, v in speed.items() if "precision=exact" in n}
if "too busy" in advice["threads"]["reason"]:
    assert advice["threads"]["value"] == "2"
else:
    chosen = [v for n, v in every.items() if f"threads={advice['threads']['value']}," in n]
    assert chosen and max(chosen) >= 0.9 * max(every.values()), (chosen, every)
loading = {f["name"]: f["median"] for f in b["figures"] if f["name"].startswith("loader/epoch_seconds/") and f["name"].endswith("unlimited")}
best = min(loading, key=loading.get)
assert ("packed" in advice["layout"]["value"]) == (not ("original" in best or "blosc" in best)), (best, advice["layout"])
hours = 2e9 / (max(exact.values()) * 10688) / 3600
assert all("chunk" not in advice[a]["reason"] for a in ("batch", "threads", "precision", "time", "device")), advice
number, unit = re.match(r"([0-9.]+) ([kMG]?)bp/s, ", advice["device"]["reason"]).groups()
speeds = [v * 10688 / 2 for v in every.values()]
scale = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[unit]
last_digit = 10.0 ** -len(number.partition(".")[2])
assert any(abs(float(number) - v / scale) < 0.51 * last_digit for v in speeds), (advice["device"], speeds)
number, unit = re.search(r"about ([0-9.]+) (min|h) with exact", advice["time"]["reason"]).groups()
assert 0.9 < float(number) / (60 if unit == "min" else 1) / hours < 1.2, (advice["time"], hours)
low, high = (float(x) for x in re.search(r"with exact \(repeats: ([0-9.]+) to ([0-9.]+)\)", advice["time"]["reason"]).groups())
assert low <= float(number) <= high, advice["time"]
assert ("the machine was busy" in advice["time"]["reason"]) == ("too busy" in advice["threads"]["reason"]), advice
training = {f["name"].split("batch=")[1].split(",")[0] for f in b["figures"] if "/training_chunks" in f["name"]}
assert len(training) > 1, training
page = open("report/report.html").read()
assert all(a["value"] in page for a in advice.values())
END
ok 'recommendations follow from the figures' "$PYTHON" advice.py
done_testing
