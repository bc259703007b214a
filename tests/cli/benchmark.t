#!/bin/sh
# benchmark: synthetic data, and the outputs of each measurement.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

# Synthetic genomes.
run_ok 'synth makes a genome and reads' benchmark synth --size 0.0013G --contigs 3 --repeats 0.25 --depth 0.5 -o one/
is "$(echo one/*)" 'one/genome.fa one/reads.sam' '  in a directory'
grep -v '>' one/genome.fa | tr -d '\n' >bases
is "$(wc -c <bases)" 1300000 '  of the requested size'
is "$(grep -c '^>chr[123]$' one/genome.fa)" 3 '  and number of contigs'
part() { # LETTERS: their share of all bases, in thousandths
    echo $(($(tr -cd "$1" <bases | wc -c) * 1000 / $(wc -c <bases)))
}
like "$(part CGcg)" '^3[567].$' '  with GC content'
like "$(part Nn)" '^([0-9]|1.)$' '  N content'
like "$(part acgt)" '^2[0-9].$' '  and the requested repeats'
is "$(tr -d 'ACGTNacgt' <bases)" '' '  without other letters'
run benchmark synth -@ 1 --size 1300k --contigs 3 --repeats 0.25 --depth 0.5 -o two/
ok 'one thread gives the same files' diff -r one two
run benchmark synth --seed 2 --size 1300k --contigs 3 --depth 0.5 -o two/
refused 1 'use -f to replace it' 'outputs are not overwritten'
run benchmark synth --rna --seed 2 --size 1000 --contigs 2 -o -
is "$(grep -v '>' "$stdout" | tr -d '\n' | tr -d 'ACGUNacgu')" '' 'RNA on standard output has U for T'
is "$(grep -v '>' "$stdout" | tr -d '\n' | wc -c)" 1000 '  and the requested size'
# High depth, so that reads are made in parts.
run_ok 'many reads' benchmark synth --size 3k --contigs 1 --depth 1300 -o deep/

# The tools accept the synthetic files; reads match the genome.
run_ok 'fasta2h5 reads the genome' fasta2h5 -q -o genome.h5 one/genome.fa
run_ok 'bam2h5 reads the reads' bam2h5 -q -p made genome.h5 one/reads.sam
for made in 'one 6[0-9]' 'deep 38[0-9]'; do
    dir=${made% *}
    awk 'FNR == NR { if (/^>/) name = substr($1, 2); else seq[name] = seq[name] toupper($1); next }
        /^@/ { next } { n++; if (substr(seq[$3], $4, 100) != $10) { print "read", n; exit }
        if ($3 == before && $4 < last) { print "not sorted", n; exit } before = $3; last = $4 }
        END { print n > "count" }' "$dir/genome.fa" "$dir/reads.sam" >wrong
    is "$(cat wrong)" '' "$dir/: reads match the genome and are sorted"
    like "$(cat count)" "^${made#* }[0-9]{2}$" '  with the requested depth'
    is "$(grep -v '^@' "$dir/reads.sam" | cut -f 1 | sort | uniq -d | wc -l)" 0 '  with unique names'
done
rm -r deep

# Small networks, very short runs.
make_ckpt bi-hybrid small.ckpt || exit 99
run benchmark model -m small.ckpt --length 1600,800 --batch-size 1,2 --precision exact,bf16 --repeats 3 --seconds 0.01 \
    --training 3 -@ 2 -o model/
status_is 0 'model measures the network'
stdout_like '^model/chunks_per_second/device=cpu,precision=exact,batch=2,threads=2,length=1600	chunks/s	higher	3	' \
    '  and prints a table'
if "$PYTHON" -c '' 2>/dev/null; then
    charts=$("$PYTHON" "$SRC/tests/oracle/benchmark_check.py" model model \
        model/chunks_per_second/device=cpu,precision=bf16,batch=1,threads=2,length=1600 \
        model/chunks_per_second/device=cpu,precision=exact,batch=1,threads=1,length=1600 \
        model/chunks_per_second/device=cpu,precision=exact,batch=1,threads=2,length=800 \
        model/max_relative_error/precision=bf16 model/limit_share/precision=exact \
        model/training_chunks_per_second/device=cpu,precision=fp32,batch=3,threads=2,length=1600 \
        model/training_chunks_per_second/device=cpu,precision=bf16,batch=3,threads=2,length=1600 2>&1)
    is "$charts" "$(find model -name '*.svg' | wc -l)" '  in well-formed files, with all charts in the page'
fi
# Random weights hide the errors of a precision; the demo's network shows them.
# shellcheck disable=SC2317 # ok calls it
model() { # PROGRAM DIRECTORY: measures random weights
    "$1" model --length 808 --batch-size 1 --precision exact,bf16 --repeats 1 --seconds 0.001 -@ 1 -q -o "$2/"
}
ok 'random weights are measured' model benchmark random
is "$(awk -F '\t' '$1 == "model/max_relative_error/precision=bf16" { print ($5 > 1e-4 && $5 < 0.1) }' random/benchmark.tsv)" 1 \
    '  and errors with a trained network'
mkdir alone
cp "$BIN/benchmark" alone/
LD_LIBRARY_PATH=$BIN/../lib
export LD_LIBRARY_PATH
ok '  which is optional' model alone/benchmark random_alone
unset LD_LIBRARY_PATH
is "$(grep -c relative_error random_alone/benchmark.tsv)" 0 '  without it, no errors are reported'
if command -v gnuplot >/dev/null; then
    is "$(cd model && echo *.png)" 'model_batch.png model_length.png model_threads.png model_training.png' '  with all charts'
    is "$(head -c 8 model/model_batch.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a '  as PNG'
fi
run benchmark model -m small.ckpt --length 800 --batch-size 1 --repeats 1 --seconds 0.01 -@ 1 -o model/
refused 1 'benchmark.json: already exists; use -f to replace it' 'results are not overwritten'

head -c 300000 one/genome.fa >part.fa

# The user's files, named like the run's temporary files.
mkdir -p mine/pipeline0.bigwig
for file in random.ckpt synthetic.fa synthetic_1.fa stages0.h5 pipeline0.h5 loader_packed.h5 pipeline0.bigwig/x.bw; do
    echo mine >"mine/$file"
done
cp -r mine before
# ended FILE COMMAND...: runs it, and sends SIGTERM when it has made the temporary FILE
ended() {
    file=$1
    shift
    "$@" >/dev/null 2>&1 &
    await found mine tmp -path "*/.benchmark.*/$file"
    kill -TERM $!
    wait $!
}
mkdir tmp
ended stages0.predictions.h5 benchmark stages -m small.ckpt --sizes 400k,800k --repeats 50 -@ 2 -o mine/
is $? 143 'a killed run'
ok '  removes its files, and only those' diff -r before mine
ended loader_original.h5 benchmark loader --size 1M --tmpdir tmp -@ 2 -o mine/
is "$? $(find tmp -mindepth 1)" '143 ' '  also in --tmpdir'
ok '  instead of the output directory' diff -r before mine
ended pipeline0.predictions.h5 benchmark report --quick -m small.ckpt --fasta part.fa -@ 2 -o mine/
is $? 143 '  even when some of its files are finished'
ok '  which it removes' diff -r before mine
benchmark synth --size 1G -@ 1 -o new/deep/ >/dev/null 2>&1 &
await test -d new/deep
ok 'synth creates the output directory' test -d new/deep
kill -TERM $!
wait $!
is $? 143 '  when it is killed'
ok '  it removes the directory' test ! -e new
for file in benchmark.tsv pipeline_stages.png pipeline_flame.svg model_training.svg; do
    mkdir taken && echo mine >"taken/$file"
    run benchmark report -m small.ckpt -o taken/
    refused 1 "taken/$file: already exists; use -f to replace it" 'an existing output is reported before measuring'
    is "$(find taken -type f) $(cat "taken/$file")" "taken/$file mine" '  and is kept'
    rm -r taken
done
run benchmark pipeline --size 30k -m small.ckpt --repeats 1 --tmpdir tmp -@ 2 -o mine/
is "$(find tmp -mindepth 1; find mine -name '.*' ! -name .; diff -r before mine | grep -v '^Only in mine: ')" '' \
    'a finished run keeps existing files'

# filled DIRECTORY SUBCOMMAND NAME...
filled() {
    "$PYTHON" -c '' 2>/dev/null || return 0
    charts=$("$PYTHON" "$SRC/tests/oracle/benchmark_check.py" "$@" 2>&1)
    is "$charts" "$(find "$1" -name '*.svg' | wc -l)" '  in well-formed files, with all charts in the page'
    is "$(find "$1" -name 'synthetic*' -o -name 'random*' -o -name '*.h5' -o -name '.*' ! -name . | wc -l)" 0 '  and no temporary files are left'
}
run_ok 'encode measures encoding' benchmark encode --length 100,301 --repeats 2 --seconds 0.001 -@ 1 -o encode/
filled encode encode encode/bases_per_second/form=packed,length=301 encode/bases_per_second/form=deflate,length=100 \
    encode/padded_bases_per_second/padding=grouped,length=301 encode/padding_share/padding=max_length,length=100
run benchmark loader --size 60000 --subsequence-length 1000 --repeats 2 --seconds 0.001 --batch-list 3,4 -@ 2 \
    -o loader/
status_is 0 'loader measures loading'
filled loader loader loader/epoch_seconds/strategy=original,io=unlimited loader/epoch_seconds/strategy=+blosc,io=1000MB/s \
    loader/ratio_to_original/strategy=+ring-buffer,io=unlimited loader/device_use/strategy=+device-decode,io=1000MB/s \
    loader/bytes_per_base/strategy=+packed loader/chunks_per_second/strategy=+ring-buffer,threads=1,batch=4 \
    loader/chunks_per_second/strategy=+ring-buffer,threads=2,batch=3
run benchmark loader --fasta part.fa --io-limit 9M --repeats 2 --seconds 0.001 --batch-list 4 -@ 1 -o limited/
status_is 0 'loader with a given genome and an I/O limit'
# 0.3 Mbp packed are 0.3 MB for both strands, so it takes at least 33 ms.
slow=$(awk -F '\t' '$1 == "loader/epoch_seconds/strategy=+ring-buffer,io=9MB/s" { print ($6 > 0.03 && $6 < 1) }' limited/benchmark.tsv)
is "$slow" 1 '  takes the time that the limit implies'
ok '  and keeps the genome' test -s part.fa
run_ok 'stages measures the tools' benchmark stages -m small.ckpt --sizes 20k,40k --repeats 2 -@ 2 -o stages/
filled stages stages stages/wall_seconds/stage=fasta2h5,bases=20000 stages/cpu_seconds/stage=covpredict,bases=40000 \
    stages/peak_rss_bytes/stage=bigwig,bases=40000 stages/seconds_per_mbp/stage=bedgraph stages/fit_r2/stage=covpredict
run_ok 'pipeline measures the pipeline' benchmark pipeline -m small.ckpt --size 30k --shards 3 --repeats 1 -@ 2 -o pipeline/
filled pipeline pipeline pipeline/wall_seconds/stage=covpredict pipeline/wall_seconds/stage=all \
    pipeline/peak_rss_bytes/stage=merge

# The shards of a prediction.
for i in 1 2; do
    run covpredict -q -m small.ckpt --subsequence-length 400 --shard $i/2 --stats shard$i.json -o shard$i.h5 one/genome.fa
    status_is 0 "shard $i"
done
run_ok 'stages of earlier runs' benchmark stages -o shards/ shard1.json shard2.json
stderr_like '^benchmark: 2 runs, .* s on average; slowest: run=shard[12],region=chr' '  the slowest run is named'
filled shards stages
number() { # KEY FILE
    sed -n "s/^  *\"$1\": \([0-9.e+-]*\),*$/\1/p" "$2" | head -n 1
}
is "$(awk -F '\t' -v wall="$(number wall_seconds shard2.json)" -v bases="$(number bases shard2.json)" '
    $1 ~ "^stages/seconds_per_mbp/run=shard2,region=chr2.* to chr3:" { off = $5 - 1e6 * wall / bases; print (off < 1e-3 * $5 && -off < 1e-3 * $5) }' \
    shards/benchmark.tsv)" 1 '  seconds per million bases of its region'
is "$(cut -f 1 shards/benchmark.tsv | grep -c '^stages/\(fetch\|compute\|store\)_seconds/run=')" 6 '  and seconds of its stages'
if command -v gnuplot >/dev/null; then
    ok '  with a chart of both times' grep -q 'seconds per million bases' shards/stages_runs.svg
fi

# Inputs are checked before measuring.
printf '>a\nACGT\n>\nACGT\n' >late.fa
: >empty.fa
mkfifo pipe.fa
while IFS='|' read -r code args regex; do
    # shellcheck disable=SC2086 # a list of words
    run_refused "$code" "$regex" "$args" benchmark $args
done <<'END'
1|synth -q --size 1M -o /dev/full|^benchmark: error: /dev/full: No space left on device$
2|model -m small.ckpt --precision fp64 -o x/|'fp64' is not exact
2|model -m small.ckpt --precision balanced --training 2 -o x/|--training: needs fp32 or bf16
2|model -m small.ckpt --device gpu -o x/|unknown device 'gpu'
1|model -m small.ckpt --length 801 -o x/|801
2|model -m small.ckpt -o -|not standard output
1|model -m none.ckpt -o x/|none.ckpt
1|model -m small.ckpt -o small.ckpt/y/|small.ckpt/y
2|loader --io-limit 1000MB -o x/|--io-limit: '1000MB'
1|stages -o x/ shard1.json model/benchmark.json|^benchmark: error: model/benchmark\.json: not written by --stats of a run on a genome$
2|stages --repeats 2 shard1.json|--repeats cannot be used with STATS\.json$
1|pipeline --fasta empty.fa -o x/|error: empty\.fa: no sequence
1|pipeline --fasta pipe.fa -o x/|error: pipe\.fa: not a regular file
2|pipeline --fasta - -o x/|error: --fasta: must not be standard input$
1|loader --fasta missing.fa -o x/|error: missing\.fa: No such file
1|pipeline --fasta missing.fa -o x/|error: missing\.fa: No such file
1|report --fasta missing.fa -o x/|error: missing\.fa: No such file
END
for command in report pipeline stages; do
    run_refused 1 'error: missing\.ckpt: No such file' "$command: a missing checkpoint" benchmark $command -m missing.ckpt -o x/
    run_refused 1 'error: late\.fa: ' '  a file that is not a checkpoint' benchmark $command -m late.fa -o x/
done
ok '  create no directory' test ! -e x
run benchmark pipeline -m small.ckpt --fasta late.fa -@ 2 -o failed/
refused 1 'fasta2h5 failed with status 1: fasta2h5: error: late\.fa:3: ' 'the error names a failed stage'
ok '  and the directory is removed' test ! -e failed
run benchmark encode --length 100 --repeats 1 --seconds 0.001 -@ 1 -q -o deep/y/
ok 'parent directories are created' test -s deep/y/benchmark.json
done_testing
