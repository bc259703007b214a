#!/bin/sh
# The Snakemake workflow on synthetic samples: resumes after a kill, gives the tracks of the tools run by hand for any
# number of shards, and makes a report if MultiQC is installed.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

need_program snakemake setsid
HOME=$tap_dir
export HOME
workflow() { # TARGET...
    snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --nocolor --config shards=4 -- "$@" >"$stdout" 2>"$stderr"
    status=$?
}
finished() { # finished steps with their times
    find stats -name '*_mqc.json' -exec stat -c '%n %Y %i' {} + | sort
}

ok 'samples are made' "$SRC/workflows/demo/samples.sh" "$TESTLIB/../../demo/make_plant" . 60000

# Killed during prediction, with its child processes.
mkdir slow
printf '#!/bin/sh\n: >predicting\nexec sleep 60\n' >slow/covpredict
chmod +x slow/covpredict
PATH=$work/slow:$PATH setsid snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --config shards=4 -- \
    tracks metrics >killed.log 2>&1 &
group=$!
n=0
until [ -e predicting ] || [ $n -eq 600 ]; do
    sleep 0.1
    n=$((n + 1))
done
kill -s KILL -- "-$group"
wait "$group" 2>/dev/null
finished >before
ok 'it was killed after the first steps' test -s before
rm -r .snakemake/locks # as `snakemake --unlock` does
targets='tracks metrics'
command -v multiqc >/dev/null && targets=all
# shellcheck disable=SC2086 # a list of words
workflow $targets
status_is 0 'it resumes' || diag "$(tail -n 20 "$stderr")"
finished >after
is "$(grep -c -F -x -f before after)" "$(wc -l <before)" '  without repeating steps'

for sample in weed moss; do
    fasta=$(ls $sample.fa*)
    covpredict -q -m plant.ckpt --species $sample -o whole.h5 -f "$fasta"
    cov2bigwig -q -f --datasets atacseq -o whole.bw whole.h5
    ok "the track of $sample equals that of the tools run by hand, in one job" cmp whole.bw "tracks/$sample.plant.atacseq.bw"
done
like "$(sed -n '$p' metrics/compare/weed.plant.h3k4me3.tsv)" 'weed\.plant_h3k4me3	h3k4me3	total	87205	' 'the track is compared with the reads'
is "$(cat metrics/verify/weed.plant.txt metrics/verify/moss.plant.txt)" '' 'predictions are valid'
is "$(find stats -name 'weed.plant.*of4_mqc.json' | grep -c .)" 4 'each shard was a job'
is "$(find . -path './*/*.h5' ! -path './predictions/*')" '' 'temporary files were removed'
if [ "$targets" = all ]; then
    ok 'MultiQC reports all tools' test -s report/multiqc_report_data/multiqc_covtools_covpredict_table.txt
else
    tap_result 0 'a MultiQC report # SKIP no multiqc'
fi

# Measured data that no model predicts are an error.
printf 'sample\tfasta\tbams\tmodels\nweed\tweed.fa\tatacsec=weed_atacseq.sam\tplant\n' >config/samples.tsv
workflow tracks
status_is 1 'a data set that no model has'
stderr_like 'weed: none of its models has the data set atacsec' '  is named'

# Training a network, in another folder.
if "$PYTHON" -c 'import h5py, numpy' 2>/dev/null; then
    mkdir -p other/config other/data/train other/data/val && cd other || exit 99
    "$PYTHON" "$SRC/tests/lib/training_data.py" data/train/a.h5 1 && "$PYTHON" "$SRC/tests/lib/training_data.py" data/val/v.h5 2
    printf 'sample\tfasta\nx\tx.fa\n' >config/samples.tsv
    cat >train.yaml <<'EOF'
training:
  tiny: {data: data, options: "--filter-size 4 --hidden-size 4 -b 8 -e 2 --seed 1"}
models:
  tiny: {checkpoint: trained/tiny.ckpt, datasets: [atacseq, h3k4me3]}
EOF
    snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --nocolor --configfile train.yaml -- trained/tiny.ckpt >"$stdout" 2>"$stderr"
    status=$?
    status_is 0 'a network is trained' || diag "$(tail -n 20 "$stderr")"
    ok '  and covpredict can use it' covpredict -q -m trained/tiny.ckpt --evaluate data/val/v.h5
    cp trained/tiny.ckpt before.ckpt
    sed -i 's/--seed 1/--seed 2/' train.yaml
    snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --nocolor --configfile train.yaml -- trained/tiny.ckpt >"$stdout" 2>"$stderr"
    is "$(cmp -s trained/tiny.ckpt before.ckpt; echo $?)" 1 '  and again after its options change'
fi
done_testing
