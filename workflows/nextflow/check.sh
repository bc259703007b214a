#!/bin/sh
# check.sh - runs the pipeline: on its test profile; with wrong parameters and sheets; on synthetic samples, killed and
# resumed, in 4 shards and in one job, and as a stub on a cluster. Runs the modules alone, with odd names.
# `make check-nextflow` starts it with nextflow and the tools in PATH.
#
#   check.sh MAKE_PLANT DIRECTORY
#
# MAKE_PLANT is the program of make_plant.c.
# SPDX-License-Identifier: MIT
set -eu

if [ $# -ne 2 ]; then
    echo 'usage: check.sh MAKE_PLANT DIRECTORY' >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
make_plant=$(cd "$(dirname "$1")" && pwd)/${1##*/}
rm -rf "$2"
mkdir -p "$2/slow" "$2/cluster" "$2/empty" "$2/sheets" "$2/data/rep2"
cd "$2"
# Ignores earlier runs and the user's configuration.
HOME=$PWD NXF_HOME=$PWD/.nextflow-home NXF_TEMP=$PWD
export HOME NXF_HOME NXF_TEMP
report=false
command -v multiqc >/dev/null && report=true

fail() {
    echo "check.sh: error: $*" >&2
    exit 1
}
run() { # LOG SCRIPT OPTION...
    log=$1 script=$2
    shift 2
    nextflow -log "$log" run "$here/$script" -ansi-log false "$@"
}
pipeline() { # LOG OPTION...: on the samples of the demo
    log=$1
    shift
    run "$log" main.nf --input testdata/samples.csv --report $report "$@"
}
refused() { # TEXT COMMAND...: the command fails and says this
    text=$1
    shift
    ! "$@" >refused.txt 2>&1 || fail "accepted: $*"
    grep -q -F -e "$text" refused.txt || fail "$* does not say '$text': $(cat refused.txt)"
}
same() { # FILE: equals standard input
    diff - "$1" || fail "$1 differs"
}
tasks() { # LOG PATTERN: counts lines
    grep -c "$2" "$1" || true
}

echo '== test profile, in an empty directory, on one CPU if possible'
one_cpu=
! taskset -c 0 true 2>/dev/null || one_cpu='taskset -c 0'
(cd empty && $one_cpu nextflow run "$here/main.nf" -profile test -ansi-log false) >empty.txt || fail "$(cat empty.txt)"
(cd empty/results && find . -type f | LC_ALL=C sort) >empty.files
same empty.files <<'EOF'
./bases/weed.tiny.atacseq/attr.npz
./bases/weed.tiny.atacseq/ohe.npz
./bases/weed.tiny.atacseq/regions.bed
./bases/weed.tiny.atacseq/scores.bw
./bases/weed.tiny.atacseq/scores.h5
./bases/weed.tiny.h3k4me3/attr.npz
./bases/weed.tiny.h3k4me3/ohe.npz
./bases/weed.tiny.h3k4me3/regions.bed
./bases/weed.tiny.h3k4me3/scores.bw
./bases/weed.tiny.h3k4me3/scores.h5
./effects/weed.tiny.tsv
./metrics/moss.tiny.info.json
./metrics/weed.correlation.tsv
./metrics/weed.genes.tsv
./metrics/weed.region.tsv
./metrics/weed.region_mqc.png
./metrics/weed.tiny.atacseq.compare.tsv
./metrics/weed.tiny.h3k4me3.compare.tsv
./metrics/weed.tiny.info.json
./pipeline_info/dag.mmd
./pipeline_info/params.json
./pipeline_info/report.html
./pipeline_info/timeline.html
./pipeline_info/trace.txt
./predictions/moss.tiny.h5
./predictions/weed.tiny.h5
./stats/compare/weed.tiny.atacseq.correlation_mqc.json
./stats/compare/weed.tiny.atacseq_mqc.json
./stats/compare/weed.tiny.h3k4me3.correlation_mqc.json
./stats/compare/weed.tiny.h3k4me3_mqc.json
./tracks/moss.tiny/moss.tiny_atacseq_avg_strand.bw
./tracks/moss.tiny/moss.tiny_h3k4me3_avg_strand.bw
./tracks/weed.tiny/weed.tiny_atacseq_avg_strand.bw
./tracks/weed.tiny/weed.tiny_h3k4me3_avg_strand.bw
EOF
cat empty/work/*/*/.command.sh >empty.commands
grep -q '^bam2h5 .* -p atacseq .* --shift ' empty.commands || fail 'reads of ATAC-seq were not shifted'
grep '^bam2h5 .* -p h3k4me3 ' empty.commands | grep -q -v -e --shift || fail 'reads of ChIP-seq were shifted'

echo '== help, parameters, sheets, profiles'
run help.log main.nf --help --outdir help >help.txt
grep -q -e '^  --window_size N  *smooth' help.txt || fail "$(cat help.txt)"
[ ! -e help ] || fail '--help wrote files'
refused '--shard: unknown parameter; did you mean --shards?' run refused.log main.nf -profile test --shard 4
refused '--peak_cutoffs: a=5:5: the second cutoff must be less than the first' \
    run refused.log main.nf -profile test --peaks --peak_cutoffs a=5:5
refused '--peak_cutoffs has no effect unless --peaks is true' run refused.log main.nf -profile test --peak_cutoffs a=5
refused '--measured_cutoffs: repeated dataset a' run refused.log main.nf -profile test --peaks --measured_cutoffs a=5,a=6
refused 'unknown dataset dnase has a cutoff for peaks; no model predicts it' \
    run refused_peaks.log main.nf -profile test --outdir refused --peaks --peak_cutoffs dnase=5
refused '--genomes_per_job needs --shards 1' run refused.log main.nf -profile test --shards 2 --genomes_per_job 2
refused '--precision bf17: expected one of exact, ' run refused.log main.nf -profile test --precision bf17
refused '--shards: unknown parameter' run refused.log train.nf --data empty --shards 4
refused '--leave_out a b: use names of species, separated by commas' run refused.log train.nf --data empty --leave_out 'a b'
# shellcheck disable=SC2016 # a value, not a command
refused 'use options of covtrain, without quotes' run refused.log train.nf --data empty --options '$(touch X)'
refused '--data empty: no empty/train/*.h5' run refused.log train.nf --data empty
printf '\357\273\277%s\r\n' 'a	--clip 1 ' 'b' >sweep.tsv
refused 'sweep.tsv:2: write a name (letters, digits, _ and -), a tab, and options of covtrain' \
    run refused.log train.nf --data empty --tune sweep.tsv
cat >maps.txt <<'EOF'
{"shards": 2, "precision": "bf16", "overlap": 100, "window_size": 10, "report": true}
{"precission": "bf16"}
{"shards": 0}
{"shards": "four"}
{"overlap": 1.5}
{"window_size": 1000001}
{"precision": true}
{"report": "no"}
{"outdir": 7}
{"input": "nix.csv"}
{"input": null}
{"frobnicate": 1}
{"windowSize": 1}
{"peaks": true, "peak_cutoffs": "atacseq=2.5,h3k4me3=35:15"}
{"peaks": "atacseq"}
{"peak_cutoffs": "atacseq"}
{"measured_cutoffs": "a=1:b"}
EOF
n=10
sheet() { # LINE...: writes the next sheet
    n=$((n + 1))
    printf '%s\n' "$@" | sed "s|@|$here/assets/test/|g" >"sheets/$n.csv"
}
columns='sample,fasta,dataset,assay,bams,model,checkpoint'
weed='weed,@weed.fa.gz,atacseq,,@weed_atacseq.sam.gz,tiny,@tiny.ckpt'
sheet "$columns" '# a comment' '' "$weed" 'weed,@weed.fa.gz,"h3k4me3",,@weed_h3k4me3.sam.gz,tiny,@tiny.ckpt'
sheet "$columns" '' 'weed,@weed.fa.gz,h3k27ac,,@weed_h3k4me3.sam.gz,tiny,@tiny.ckpt'
sheet "$columns" 'weed,@weed.fa.gz,atacseq,atac,@weed_atacseq.sam.gz,tiny,@tiny.ckpt'
sheet "$columns" 'we ed,@weed.fa.gz,,,,tiny,@tiny.ckpt'
sheet "$columns" 'weed,nix.fa,,,,tiny,@tiny.ckpt'
sheet "$columns" 'weed,@weed.fa.gz,atacseq,,@weed_atacseq.sam.gz;nix.bam,tiny,@tiny.ckpt'
sheet "$columns" 'weed,@weed.fa.gz,atacseq,,,tiny,@tiny.ckpt'
sheet "$columns" 'weed,@weed.fa.gz,,,,tiny,'
sheet "$columns" ',@weed.fa.gz,,,,tiny,@tiny.ckpt'
sheet "$columns" "$weed,more"
sheet 'sample,fasta,dataset,asay,bams,model,checkpoint' "$weed"
sheet 'sample,fasta,model' 'weed,@weed.fa.gz,tiny'
sheet "$columns,model" "$weed"
sheet "$columns" "$weed" 'moss,@moss.fa.gz,,,,tiny,@moss.fa.gz'
sheet "$columns" "$weed" 'weed,@moss.fa.gz,,,,tiny,@tiny.ckpt'
sheet "$columns" "$weed" 'weed,@weed.fa.gz,atacseq,other,@weed_atacseq.sam.gz,tiny,@tiny.ckpt'
sheet "$columns" "$weed" 'weed,@weed.fa.gz,atacseq,,@weed_h3k4me3.sam.gz,tiny,@tiny.ckpt'
sheet "$columns"
sheet "$columns,genes" "$weed,@weed.gff3" "$weed," 'weed,@weed.fa.gz,,,,tiny,@tiny.ckpt,@moss.fa.gz'
sheet "$columns,genes" "$weed,nix.gff3"
sheet "$columns,region" "$weed,a;b"
sheet "$columns" '"we' 'ed",@weed.fa.gz,,,,tiny,@tiny.ckpt'
# shellcheck disable=SC2016 # not a variable of this script
sheet "$columns" 'weed,$HOME/weed.fa,,,,tiny,@tiny.ckpt'
sheet "$columns" 'weed,@weed.fa.gz,,,,tiny,"a,b.ckpt"'
sheet "$columns" 'weed,@weed.fa.gz,measured,other,@weed_atacseq.sam.gz;a[1].bam,tiny,@tiny.ckpt'
sheet "$columns" 'weed,@weed.fa.gz,dnase,other,@weed_atacseq.sam.gz;a[1].bam,tiny,@tiny.ckpt'
# As a spreadsheet writes it: with a byte order mark and CR LF.
printf '\357\273\277%s\r\n' "$columns" "$weed" | sed "s|@|$here/assets/test/|g" >sheets/spreadsheet.csv
tr , '\t' <sheets/11.csv >sheets/tabs.tsv
sed 's/,/ , /; s/$/ \t\n,,,,,,\n \t/' sheets/11.csv | head -c -1 >sheets/blanks.csv
run inputs.log tests/inputs.nf -lib "$here/lib" --sheets sheets --maps maps.txt \
    --defaults empty/results/pipeline_info/params.json --out inputs.txt >inputs.out || fail "$(cat inputs.out)"
sed "s|$here/assets/test/||g; s|covtools: error: ||" inputs.txt >inputs.said
# Three defaults differ because the test profile sets these parameters.
same inputs.said <<'EOF'
{"shards": 2, "precision": "bf16", "overlap": 100, "window_size": 10, "report": true} accepted
{"precission": "bf16"} --precission: unknown parameter; did you mean --precision?
{"shards": 0} --shards 0: expected at least 1
{"shards": "four"} --shards four: expected an integer
{"overlap": 1.5} --overlap 1.5: expected an integer
{"window_size": 1000001} --window_size 1000001: expected at most 1000000
{"precision": true} --precision needs a value
{"report": "no"} --report no: expected true or false
{"outdir": 7} --outdir 7: expected text, not a number
{"input": "nix.csv"} --input nix.csv: no such file
{"input": null} missing --input
{"frobnicate": 1} --frobnicate: unknown parameter; known: --input, --outdir, --report, --shards, --genomes_per_job, --precision, --overlap, --window_size, --peaks, --peak_cutoffs, --measured_cutoffs, --bases, --help, --version
{"windowSize": 1} --windowSize: unknown parameter; did you mean --window_size?
{"peaks": true, "peak_cutoffs": "atacseq=2.5,h3k4me3=35:15"} accepted
{"peaks": "atacseq"} --peaks atacseq: expected true or false
{"peak_cutoffs": "atacseq"} --peak_cutoffs atacseq: use DATASET=CUTOFF or DATASET=CUTOFF:WEAK, separated by commas
{"measured_cutoffs": "a=1:b"} --measured_cutoffs a=1:b: use DATASET=CUTOFF or DATASET=CUTOFF:WEAK, separated by commas
input has another default
report has another default
bases has another default
11.csv accepted
12.csv sheets/12.csv:3: sample weed: missing assay; expected atacseq, chipseq or other
13.csv sheets/13.csv:2: sample weed: assay atac: expected one of atacseq, chipseq, other
14.csv sheets/14.csv:2: sample we ed: sample we ed: use letters, digits and . _ + - (the first a letter or digit)
15.csv sheets/15.csv:2: sample weed: fasta nix.fa: no such file
16.csv sheets/16.csv:2: sample weed: bams nix.bam: no such file
17.csv sheets/17.csv:2: sample weed: missing bams
18.csv sheets/18.csv:2: sample weed: missing checkpoint
19.csv sheets/19.csv:2: missing sample
20.csv sheets/20.csv:2: 8 cells, but 7 columns
21.csv sheets/21.csv:1: asay: unknown column; did you mean assay?
22.csv sheets/22.csv:1: missing column checkpoint
23.csv sheets/23.csv:1: repeated column model
24.csv sheets/24.csv:3: sample moss: checkpoint moss.fa.gz, but line 2 has tiny.ckpt for model tiny
25.csv sheets/25.csv:3: sample weed: fasta moss.fa.gz, but line 2 has weed.fa.gz for sample weed
26.csv sheets/26.csv:3: sample weed: assay other, but line 2 has atacseq for sample weed, dataset atacseq
27.csv sheets/27.csv:3: sample weed: bams weed_h3k4me3.sam.gz, but line 2 has weed_atacseq.sam.gz for sample weed, dataset atacseq; write replicates in one row, separated by ;
28.csv sheets/28.csv: no samples
29.csv sheets/29.csv:4: sample weed: genes moss.fa.gz, but line 2 has weed.gff3 for sample weed
30.csv sheets/30.csv:2: sample weed: genes nix.gff3: no such file
31.csv sheets/31.csv:2: sample weed: region a;b: use letters, digits and . _ + - :
32.csv sheets/32.csv:2: unbalanced quotes
33.csv sheets/33.csv:2: sample weed: fasta $HOME/weed.fa: write a path without $ * ? [ ] { }
34.csv sheets/34.csv:2: sample weed: checkpoint a,b.ckpt: write a path without , $ * ? [ ] { }
35.csv sheets/35.csv:2: sample weed: dataset measured: use letters, digits and _ -, but not measured, which is part of names of files
36.csv sheets/36.csv:2: sample weed: bams a[1].bam: write a path without $ * ? [ ] { }
blanks.csv accepted
spreadsheet.csv accepted
tabs.tsv accepted
EOF
# A dataset that the checkpoint does not predict, and a checkpoint that is none, end the run before it encodes a genome.
sheet "$columns" "$weed" 'weed,@weed.fa.gz,H3K4me3,chipseq,@weed_h3k4me3.sam.gz,tiny,@tiny.ckpt'
refused "sheets/$n.csv:3: sample weed: unknown dataset H3K4me3; tiny.ckpt predicts atacseq, h3k4me3; did you mean h3k4me3?" \
    run refused.log main.nf --input "sheets/$n.csv" --outdir refused
sheet "$columns" "$weed" 'moss,@moss.fa.gz,,,,moss,@moss.fa.gz'
refused 'h5chunk: error: ./moss.fa.gz: ' run refused_too.log main.nf --input "sheets/$n.csv" --outdir refused
! grep 'Submitted process' refused.log refused_too.log refused_peaks.log | grep -v CHECKPOINT_INFO || fail 'a job ran before the check'
nextflow -log config.log config -show-profiles "$here" >profiles.txt
for profile in apptainer conda docker pbs singularity slurm; do
    grep -q "^   $profile {" profiles.txt || fail "no profile $profile"
done

echo '== modules alone'
cp "$here/assets/test/weed.fa.gz" data/-weed.fa.gz
cp "$here/assets/test/weed_atacseq.sam.gz" data/-weed.sam.gz
cp "$here/assets/test/weed_h3k4me3.sam.gz" data/rep2/-weed.sam.gz
cp "$here/assets/test/tiny.ckpt" data/-tiny.ckpt
fasta2h5 -q --subsequence-length 2400 -o data/-weed.h5 data/-weed.fa.gz
bam2h5 -q -p atacseq --shift data/-weed.h5 data/-weed.sam.gz
covpredict -q -m data/-tiny.ckpt -o data/-predictions.h5 data/-weed.h5
printf 'chr1\t10\t500\n' >data/-weed.bed
cp "$here/assets/test/weed.vcf" data/-weed.vcf
cov2bigwig -q --datasets atacseq --measured data/-weed.h5 -o data/-weed.tiny.atacseq.compare.tsv data/-predictions.h5
covpredict -q -m data/-tiny.ckpt --shard 1/1 --stats data/-part.json -o data/-part.h5 data/-weed.h5
echo "process { withName: COVTRAIN { ext.args = '-q --epochs 1 --filter-size 4 --hidden-size 4 --datasets atacseq' } }" >train.config
run modules.log tests/modules.nf -c train.config --data "$PWD/data" --id weed >modules.txt || fail "$(cat modules.txt)"
run stubs.log tests/modules.nf -stub --data "$PWD/data" --id weed >stubs.txt || fail "$(cat stubs.txt)"
# shellcheck disable=SC2016 # a name, not a command
refused 'invalid name '"'"'a$(touch X)'"'" run refused.log tests/modules.nf --data "$PWD/data" --id 'a$(touch X)'
[ -z "$(find . -name X)" ] || fail 'a name became a command'
# shellcheck disable=SC2016 # Groovy's expressions, not the shell's
# What commands contain: numbers, options, files (which Nextflow quotes) and checked names; \$ begins a variable of the shell.
for module in "$here"/modules/local/*/main.nf "$here"/modules/local/*/*/main.nf; do
    awk '/"""/ { inside = !inside } inside' "$module" | sed 's/\\\$//g' | grep -o '\${[^}]*}' |
        grep -v -x -E '\$\{(task.cpus|args2?|runs|ids|annotation|region|prefix|part|ckpt|from|shift|broad|preset|measured|kind|check_name\([a-z.]+\))\}' | sort -u |
        sed 's/[${}]//g' | while read -r name; do
        sed '/^    output:/q' "$module" | grep -q "path(${name}[,)]" || echo "$module: $name"
    done
done >unchecked.txt
same unchecked.txt </dev/null

"$here/../demo/samples.sh" "$make_plant" testdata 60000

echo '== killed during prediction'
# shellcheck disable=SC2016 # expanded by the script that it writes
printf '#!/bin/sh\nPATH=${PATH#*:}\n[ "$1" = --version ] && exec covpredict --version\n
timeout -s KILL 0.%d covpredict "$@"\n: >"%s/predicting"\nexec sleep 60\n' "$(($(date +%N | sed 's/^0*//') % 90 + 10))" "$PWD" >slow/covpredict
chmod +x slow/covpredict
PATH=$PWD/slow:$PATH setsid nextflow -log killed.log run "$here/main.nf" -ansi-log false \
    --input testdata/samples.csv --shards 4 --outdir four --report $report >killed.txt 2>&1 &
group=$!
n=0
until [ -e predicting ] || [ $n -eq 6000 ] || ! kill -0 "$group" 2>/dev/null; do
    sleep 0.1
    n=$((n + 1))
done
[ -e predicting ] || fail "$(cat killed.txt)"
sleep 5 # Nextflow records finished tasks in the background
kill -s KILL -- "-$group"
wait "$group" 2>/dev/null || true

echo '== resumed, in 4 shards'
pipeline resumed.log -resume --shards 4 --outdir four
[ "$(tasks resumed.log 'Cached process > COVTOOLS:FASTA2H5')" -ge 1 ] || fail 'no task was resumed'

echo '== resumed when complete'
pipeline again.log -resume --shards 4 --outdir four
[ "$(tasks again.log 'Submitted process')" -eq 0 ] || fail 'a task was repeated'

echo '== in one job'
pipeline one.log --outdir one
[ ! -e one/peaks ] || fail 'peaks without --peaks'
for sample in weed moss; do
    for dataset in atacseq h3k4me3; do
        cmp "one/tracks/$sample.plant/$sample.plant_${dataset}_avg_strand.bw" \
            "four/tracks/$sample.plant/$sample.plant_${dataset}_avg_strand.bw"
    done
done
for dataset in atacseq h3k4me3; do
    grep -q '	total	87205	' one/metrics/weed.plant.$dataset.compare.tsv || fail "wrong comparison of $dataset"
done
# A row for each sample, with its bases and correlations, and the same for any number of shards.
for directory in one four; do
    [ $report = true ] || continue
    [ -s $directory/report/multiqc_report.html ] || fail 'no report'
    awk -F '\t' 'NR == 1 { for (i = 2; i <= NF; i++) wanted[i] = $i ~ /-bases$|-chunks$|_pearson_[0-9]+$|outliers$/ }
        { printf "%s", $1; for (i = 2; i <= NF; i++) if (wanted[i]) printf "\t%s", $i; print "" }' \
        $directory/report/multiqc_report_data/multiqc_general_stats.txt >$directory.general
    [ "$(cut -f 1 $directory.general | tr '\n' ' ')" = 'Sample moss.plant weed.plant ' ] || fail "$(cat $directory.general)"
    for column in h3k4me3_pearson_1000 h3k4me3_pearson_without_outliers h3k4me3_outliers; do
        grep -q "$column" $directory.general || fail "no $column: $(cat $directory.general)"
    done
    grep -q '^weed.plant.atacseq	0' $directory/report/multiqc_report_data/multiqc_covtools_correlation_bargraph.txt ||
        fail 'no graph of correlations'
    grep -q '^covpredict' $directory/report/multiqc_report_data/multiqc_software_versions.txt || fail 'no versions'
done
[ $report = false ] || cmp one.general four.general

echo '== stub, on a cluster that gives jobs more CPUs than this machine may have'
# shellcheck disable=SC2016 # expanded by the script that it writes
printf '#!/bin/sh\ngrep "^#SBATCH" "$1" >>"%s/jobs.txt"\n(bash "$1" >/dev/null 2>&1 &)\necho "Submitted batch job $$"\n' \
    "$PWD" >cluster/sbatch
printf '#!/bin/sh\n' >cluster/squeue
chmod +x cluster/sbatch cluster/squeue
echo 'executor.pollInterval = "1 sec"' >poll.config
PATH=$PWD/cluster:$PATH pipeline stub.log -stub -profile slurm -c poll.config --outdir stub --peaks
grep -q '^#SBATCH -c 8' jobs.txt || fail "$(cat jobs.txt)"
[ "$(tasks stub.log 'Submitted process > COVTOOLS:PREDICT_GENOME')" -eq 2 ] || fail 'a sample was predicted twice'
for dataset in atacseq h3k4me3; do
    [ -e "stub/metrics/weed.plant.$dataset.compare.tsv" ] || fail "no comparison of $dataset"
    [ -e "stub/metrics/weed.plant.$dataset.peaks.tsv" ] || fail "no peaks of $dataset"
    [ -e "stub/metrics/weed.plant.$dataset.frip.tsv" ] || fail "no FRiP of $dataset"
    [ -e "stub/metrics/weed.plant.$dataset.curve.tsv" ] || fail "no curve of $dataset"
done
for table in genes region correlation; do
    [ "$(cd stub/metrics && echo ./*".$table.tsv")" = "./weed.$table.tsv" ] || fail "wrong tables: $table"
done
PATH=$PWD/cluster:$PATH pipeline stubs_in_turn.log -stub -profile slurm -c poll.config --outdir stub_in_turn --genomes_per_job 5
[ "$(tasks stubs_in_turn.log 'Submitted process > COVTOOLS:PREDICT_GENOME')" -eq 1 ] || fail 'two genomes were not one job'
(cd stub_in_turn && find tracks metrics predictions -type f | sort) >in_turn.files
(cd stub && find tracks metrics predictions -type f ! -name '*.peaks.tsv' ! -name '*.curve.tsv' | sort) | same in_turn.files
echo 'check.sh: passed'
