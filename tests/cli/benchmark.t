#!/bin/sh
# benchmark synth and model: what is made up, and the files of a measurement.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

# Made-up genomes.
run benchmark synth --size 0.0013G --contigs 3 --gc 0.42 --n-content 0.02 --repeats 0.25 --depth 0.5 -o one/
status_is 0 'a genome and reads are made up'
is "$(echo one/*)" 'one/genome.fa one/reads.sam' '  in a folder'
grep -v '>' one/genome.fa | tr -d '\n' >bases
is "$(wc -c <bases)" 1300000 '  of the size that was told'
is "$(grep -c '^>chr[123]$' one/genome.fa)" 3 '  in contigs'
part() { # LETTERS: in thousandths of all
    echo $(($(tr -cd "$1" <bases | wc -c) * 1000 / $(wc -c <bases)))
}
like "$(part CGcg)" '^4[01].$' '  with the G and C'
like "$(part Nn)" '^[12].$' '  the N'
like "$(part acgt)" '^2[0-9].$' '  and the repeats that were told'
is "$(tr -d 'ACGTNacgt' <bases)" '' '  and nothing else'
run benchmark synth -@ 1 --size 1300k --contigs 3 --gc 0.42 --n-content 0.02 --repeats 0.25 --depth 0.5 -o two/
ok 'the same on one thread' diff -r one two
run benchmark synth --seed 2 --size 1300k --contigs 3 --depth 0.5 -o two/
refused 1 'use -f to replace it' 'what is there stays'
run benchmark synth --rna --seed 2 --size 1000 --contigs 2 -o -
is "$(grep -v '>' "$stdout" | tr -d '\n' | tr -d 'ACGUNacgu')" '' 'RNA has U for T, on standard output'
is "$(grep -v '>' "$stdout" | tr -d '\n' | wc -c)" 1000 '  and its size'
run benchmark synth --size 5 --contigs 6 -o -
refused 2 'too few for 6 contigs' 'more contigs than bases'
run benchmark synth --reads x.sam -o y.fa
refused 2 'none without --depth' 'reads of depth 0'
run benchmark synth --n-content 0.9 --repeats 0.9 -o y.fa
refused 2 'leave nothing else' 'more than all'

# What was made up is what the tools take: each read says the bases of its place.
run fasta2h5 -q -o genome.h5 one/genome.fa
status_is 0 'fasta2h5 takes the genome'
run bam2h5 -q -p made genome.h5 one/reads.sam
status_is 0 'bam2h5 takes the reads'
awk 'FNR == NR { if (/^>/) name = substr($1, 2); else seq[name] = seq[name] toupper($1); next }
    /^@/ { next } { n++; if (substr(seq[$3], $4, 100) != $10) { print "read", n; exit }
    if ($3 == before && $4 < last) { print "not sorted", n; exit } before = $3; last = $4 }
    END { print n > "count" }' one/genome.fa one/reads.sam >wrong
is "$(cat wrong)" '' '  which are sorted, and lie in the genome'
like "$(cat count)" '^6[0-9]{3}$' '  as many as the depth is'

# Small networks, for a moment each. Figures of the machine are of no use under valgrind and sanitizers, but are there.
make_ckpt bi-hybrid small.ckpt || exit 99
# shape FILE PREFIX NAME...: the JSON has the form that it must have, all names begin with PREFIX/, and those are there
cat >shape.py <<'END'
import json, math, sys, xml.etree.ElementTree
folder, prefix, *names = sys.argv[1:]
b = json.load(open(folder + "/benchmark.json"))
assert isinstance(b["machine"], dict) and b["machine"]["cpu"], b["machine"]
assert b["machine"]["probes"]["fp32_gflops"] > 0 and b["machine"]["probes"]["memory_gb_per_second"] > 0
for f in b["figures"]:
    assert f["name"].startswith(tuple(p + "/" for p in prefix.split(","))), f
    assert f["better"] in ("higher", "lower") and isinstance(f["unit"], str), f
    assert f["n"] == len(f["values"]) > 0 and all(map(math.isfinite, f["values"])), f
    v = sorted(f["values"])
    assert f["low"] == v[0] and f["high"] == v[-1] and f["low"] <= f["median"] <= f["high"], f
    assert abs(f["median"] - (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2) <= 1e-12 * abs(f["median"]), f
found = {f["name"]: f for f in b["figures"]}
assert len(found) == len(b["figures"])
for name in names:
    assert name in found, (name, list(found))
table = [line.rstrip("\n").split("\t") for line in open(folder + "/benchmark.tsv")]
assert table[0] == ["name", "unit", "better", "n", "median", "low", "high"], table[0]
assert [row[0] for row in table[1:]] == [f["name"] for f in b["figures"]]
mqc = json.load(open(folder + "/benchmark_mqc.json"))
assert mqc["id"].startswith("covtools_benchmark") and len(mqc["data"]) == len(found) + 1, mqc
page = xml.etree.ElementTree.parse(folder + "/report.html").getroot()
svgs = page.findall(".//{http://www.w3.org/2000/svg}svg")
ids = [x.get("id") for x in page.iter() if x.get("id")]
assert len(ids) == len(set(ids)), "ids stand twice"
text = open(folder + "/report.html").read()
assert "src=" not in text and 'href="http' not in text
print(len(svgs))
END
run benchmark model -m small.ckpt --length 1600,800 --batch-size 1,2 --precision exact,bf16 --repeats 3 --seconds 0.01 \
    --layers -@ 2 -o model/
status_is 0 'the network is measured'
stdout_like '^model/chunks_per_second/device=cpu,precision=exact,batch=2,threads=2,length=1600	chunks/s	higher	3	' \
    '  and a table is printed'
if "$PYTHON" -c '' 2>/dev/null; then
    charts=$("$PYTHON" shape.py model model \
        model/chunks_per_second/device=cpu,precision=bf16,batch=1,threads=2,length=1600 \
        model/chunks_per_second/device=cpu,precision=exact,batch=1,threads=1,length=1600 \
        model/chunks_per_second/device=cpu,precision=exact,batch=1,threads=2,length=800 \
        model/max_relative_error/precision=bf16 model/limit_share/precision=exact \
        model/layer_ms/01_conv_4_4,form=direct 2>&1)
    is "$charts" "$(find model -name '*.svg' | wc -l)" '  in the right form, every chart a part of the page'
fi
if command -v gnuplot >/dev/null; then
    is "$(cd model && echo *.png)" 'model_batch.png model_layers.png model_length.png model_threads.png' '  the charts'
    is "$(head -c 8 model/model_batch.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a '  as PNG'
fi
run benchmark model -m small.ckpt --length 800 --batch-size 1 --repeats 1 --seconds 0.01 -@ 1 -o model/
refused 1 'benchmark.json exists; use -f to replace it' 'results are not replaced'
run benchmark model -m small.ckpt --precision fp64 -o x/
refused 2 "'fp64' is none of" 'a precision that there is not'
run benchmark model -m small.ckpt --device gpu -o x/
refused 2 "'gpu' is none of" 'a device that there is not'
run benchmark model -m small.ckpt --length 801 -o x/
refused 1 '801' 'a length that the network cannot take'
run benchmark model -m small.ckpt -o -
refused 2 'not standard output' 'standard output is no folder'
run benchmark model -m none.ckpt -o y/
refused 1 'none.ckpt' 'a checkpoint that is not there'
ok '  and no folder is made then' test ! -e y
run benchmark model -m small.ckpt -o no/y/
refused 1 'no/y' 'a folder that cannot be made'
done_testing
