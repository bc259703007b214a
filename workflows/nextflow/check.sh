#!/bin/sh
# check.sh - runs the pipeline on synthetic samples: killed and resumed, in 4 shards and in one job, and as a stub.
# `make check-nextflow` starts it with nextflow and the tools in PATH.
#
#   check.sh MAKE_DEMO FOLDER
#
# SPDX-License-Identifier: MIT
set -eu

if [ $# -ne 2 ]; then
    echo 'usage: check.sh MAKE_DEMO FOLDER' >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
make_plant=$(cd "$(dirname "$1")" && pwd)/${1##*/}
rm -rf "$2"
mkdir -p "$2/slow"
cd "$2"
# Ignores earlier runs and the user's configuration.
HOME=$PWD NXF_HOME=$PWD/.nextflow-home
export HOME NXF_HOME
report=false
command -v multiqc >/dev/null && report=true

fail() {
    echo "check.sh: error: $*" >&2
    exit 1
}
pipeline() { # LOG OPTION...
    log=$1
    shift
    nextflow -log "$log" run "$here/main.nf" -profile test -ansi-log false --report $report "$@"
}
tasks() { # LOG PATTERN: counts lines
    grep -c "$2" "$1" || true
}

"$here/../demo/samples.sh" "$make_plant" testdata 60000

echo '== killed during prediction'
# shellcheck disable=SC2016 # expanded by the script that it writes
printf '#!/bin/sh\n[ "$1" = --version ] && { echo covpredict 0; exit; }\n: >"%s/predicting"\nexec sleep 60\n' \
    "$PWD" >slow/covpredict
chmod +x slow/covpredict
PATH=$PWD/slow:$PATH setsid nextflow -log killed.log run "$here/main.nf" -profile test -ansi-log false \
    --shards 4 --outdir four --report $report >killed.txt 2>&1 &
group=$!
n=0
until [ -e predicting ] || [ $n -eq 1200 ] || ! kill -0 "$group" 2>/dev/null; do
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
for sample in weed moss; do
    for dataset in atacseq h3k4me3; do
        cmp "one/tracks/$sample.plant_${dataset}_avg_strand.bw" "four/tracks/$sample.plant_${dataset}_avg_strand.bw"
    done
done
for dataset in atacseq h3k4me3; do
    grep -q '	total	87205	' one/metrics/weed.plant.$dataset.compare.tsv || fail "wrong comparison of $dataset"
done
[ $report = false ] || [ -s one/report/multiqc_report.html ] || fail 'no report'

echo '== stub'
pipeline stub.log -stub --outdir stub
[ "$(tasks stub.log 'Submitted process > COVTOOLS:COVPREDICT')" -eq 2 ] || fail 'a sample was predicted twice'
for dataset in atacseq h3k4me3; do
    [ -e "stub/metrics/weed.plant.$dataset.compare.tsv" ] || fail "no comparison of $dataset"
done
echo 'check.sh: passed'
