#!/bin/sh
# Both workflows give the same tracks, tables and predictions for the same sheet, and shift only the reads of ATAC-seq.
# The variable NEXTFLOW may name the program.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

[ -n "${NEXTFLOW:-}" ] || NEXTFLOW=$(command -v nextflow) || NEXTFLOW=$SHARED/tools/nextflow/nextflow
need_program snakemake "$NEXTFLOW" java
need_python h5py numpy
# Ignores the user's configuration.
HOME=$tap_dir NXF_HOME=$tap_dir/.nextflow NXF_TEMP=$tap_dir NXF_OFFLINE=true
export HOME NXF_HOME NXF_TEMP NXF_OFFLINE

ok 'samples are made' "$SRC/workflows/demo/samples.sh" "$TESTLIB/../../demo/make_plant" . 60000
# Another name for the reads of ATAC-seq, so that the assay decides, and not the name of the data set.
cp weed.fa grass.fa
cp weed_atacseq.sam grass.sam
echo 'grass,grass.fa,h3k4me3,atacseq,grass.sam,plant,plant.ckpt' >>samples.csv
ok 'Snakemake runs' snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --nocolor \
    --config shards=2 precision=fp32 overlap=4000 window_size=50 -- tracks metrics
ok 'Nextflow runs' "$NEXTFLOW" run "$SRC/workflows/nextflow/main.nf" -ansi-log false --input samples.csv --outdir next \
    --precision fp32 --overlap 4000 --window_size 50 --report false

for folder in tracks metrics predictions; do
    (cd $folder && find . -type f ! -name '.*' | sort) >names
    is "$(cd next/$folder && find . -type f | sort)" "$(cat names)" "both write the same names of $folder"
    while read -r name; do
        case $name in
        *.h5) set -- "$PYTHON" "$SRC/tests/lib/h5_equal.py" ;;
        *.info.json) continue ;; # with the path of the predictions
        *) set -- cmp ;;
        esac
        ok "  equal: $name" "$@" "$folder/$name" "next/$folder/$name"
    done <names
done
is "$(find tracks -name '*.bw' | grep -c .) $(find metrics -name '*.tsv' | grep -c .)" '6 3' 'there are 6 tracks and 3 tables'

compared() { # SAMPLE DATASET READS [--shift]: prints the table of the tools run by hand
    sample=$1 dataset=$2 reads=$3
    shift 3
    fasta2h5 -q -f -o genome.h5 "$sample.fa"
    bam2h5 -q -p "$dataset" "$@" genome.h5 "$reads"
    cov2bigwig -q --datasets "$dataset" --compare genome.h5 "predictions/$sample.plant.h5"
}
for how in 'weed atacseq weed_atacseq.sam --shift' 'weed h3k4me3 weed_h3k4me3.sam' 'grass h3k4me3 grass.sam --shift'; do
    # shellcheck disable=SC2086 # a list of words
    set -- $how
    compared "$@" >hand.tsv
    is "$(cksum <hand.tsv)" "$(cksum <"next/metrics/$1.plant.$2.compare.tsv")" "reads are counted as by hand: $how"
done
done_testing
