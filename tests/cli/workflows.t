#!/bin/sh
# Both workflows give the same tracks, peaks, tables and predictions for the same sheet, and shift only the reads of ATAC-seq.
# If MultiQC is installed, their reports have the same contents.
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
# Another name for the reads of ATAC-seq, so that the assay decides, and not the name of the dataset.
cp weed.fa grass.fa
cp weed_atacseq.sam grass.sam
echo 'grass,grass.fa,h3k4me3,atacseq,grass.sam,plant,plant.ckpt' >>samples.csv
# Variants, and regions to explain.
cp "$SRC/workflows/nextflow/assets/test/weed.bed" .
awk '/^>chr1 / { on = 1; next } /^>/ { on = 0 } on { text = text $0 } END {
    print "##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
    for (at = 2500; at <= 5000; at += 500)
        printf "chr1\t%d\tv%d\t%s\t%s\t.\t.\t.\n", at, at, toupper(substr(text, at, 1)), toupper(substr(text, at, 1)) == "G" ? "A" : "G"
}' weed.fa >weed.vcf
awk -v OFS=, 'NR == 1 { print $0, "variants,explain"; next } /^weed,/ { print $0, "weed.vcf,weed.bed"; next } { print }' samples.csv >more.csv
mv more.csv samples.csv
printf 'bases: {extra: --length 20}\n' >bases.yaml
printf "process { withName: COVEFFECT_BASES { ext.args = '--length 20' } }\n" >bases.config
targets='tracks metrics peaks effects' report=false
command -v multiqc >/dev/null && targets=all report=true
# shellcheck disable=SC2086 # a list of words
ok 'Snakemake runs' snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --nocolor --configfile bases.yaml --config shards=2 precision=fp32 \
    overlap=4000 window_size=50 peaks=true peak_cutoffs=atacseq=5,h3k4me3=6:2.5 measured_cutoffs=h3k4me3=7:3 -- $targets
ok 'Nextflow runs' "$NEXTFLOW" run "$SRC/workflows/nextflow/main.nf" -c bases.config -ansi-log false --input samples.csv --outdir next \
    --precision fp32 --overlap 4000 --window_size 50 --report $report --peaks --peak_cutoffs atacseq=5,h3k4me3=6:2.5 \
    --measured_cutoffs h3k4me3=7:3

# Networks, each without a species, and their table.
if command -v gnuplot >/dev/null; then
    "$SRC/workflows/demo/species.sh" "$TESTLIB/../../demo/make_plant" species 60000 || exit 99
    options='--filter-size 4 -b 8 -e 2 --seed 1 --balance species'
    printf 'samples: none.csv\ntraining: {plants: {data: species, options: "%s", leave_out: [moss, weed, fern]}}\n' "$options" >loo.yaml
    ok 'Snakemake trains' snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --nocolor --configfile loo.yaml -- trainings
    ok 'Nextflow trains' "$NEXTFLOW" run "$SRC/workflows/nextflow/train.nf" -ansi-log false --data species --name plants \
        --leave_out moss,weed,fern --options "$options" --outdir next
    is "$(ls trained)" "$(ls next/trained)" 'both write the same names of networks'
    for name in plants.tsv plants.moss.ckpt plants.weed.ckpt plants.fern.ckpt; do
        ok "  equal: $name" cmp trained/$name next/trained/$name
    done
fi

is "$(echo bases/* effects/*)" 'bases/weed.plant.atacseq bases/weed.plant.h3k4me3 effects/weed.plant.tsv' 'variants and regions are scored'
coveffect vcf -q -m plant.ckpt -g weed.fa -o hand.tsv weed.vcf
ok '  as by hand' cmp hand.tsv effects/weed.plant.tsv
coveffect ism -q -m plant.ckpt -g weed.fa -R weed.bed --length 20 --dataset h3k4me3 -o hand
ok '  in all files' diff -r hand bases/weed.plant.h3k4me3
rm -rf hand hand.tsv
for directory in effects bases tracks metrics predictions peaks; do
    (cd $directory && find . -type f ! -name '.*' | sort) >names
    is "$(cd next/$directory && find . -type f | sort)" "$(cat names)" "both write the same names of $directory"
    while read -r name; do
        case $name in
        */scores.h5) set -- cmp ;;
        *.h5) set -- "$PYTHON" "$SRC/tests/oracle/h5_equal.py" ;;
        *.info.json) continue ;; # with the path of the predictions
        *) set -- cmp ;;
        esac
        ok "  equal: $name" "$@" "$directory/$name" "next/$directory/$name"
    done <names
done
is "$(find tracks -name '*.bw' | grep -c .) $(find metrics -name '*.compare.tsv' | grep -c .)" '6 3' 'there are 6 tracks and 3 tables'
is "$(cat names)" './grass.h3k4me3.measured.gappedPeak
./grass.plant.atacseq.narrowPeak
./grass.plant.h3k4me3.gappedPeak
./moss.plant.atacseq.narrowPeak
./moss.plant.h3k4me3.gappedPeak
./weed.h3k4me3.measured.gappedPeak
./weed.plant.atacseq.narrowPeak
./weed.plant.h3k4me3.gappedPeak' 'there are peaks of all datasets that have a cutoff'
is "$(cd metrics && echo ./*.peaks.tsv)" './grass.plant.h3k4me3.peaks.tsv ./weed.plant.h3k4me3.peaks.tsv' \
    '  and its comparison with the measured peaks'
is "$(cd metrics && echo ./*.curve.tsv)" './grass.plant.h3k4me3.curve.tsv ./weed.plant.h3k4me3.curve.tsv' \
    '  and curves of all cutoffs'
for table in correlation genes region; do
    is "$(cd metrics && echo ./*.$table.tsv)" "$([ $table != correlation ] && echo ./weed.$table.tsv || echo ./grass.correlation.tsv ./weed.correlation.tsv)" \
        "  there are tables: $table"
done
is "$(head -n 1 metrics/weed.genes.tsv)" 'position	weed.plant_atacseq	weed.plant_h3k4me3	weed.atacseq	weed.h3k4me3' \
    '  of predictions and measured coverage'

compared() { # SAMPLE DATASET READS [--shift]: prints the table of the tools run by hand
    sample=$1 dataset=$2 reads=$3
    shift 3
    fasta2h5 -q -f -o genome.h5 "$sample.fa"
    bam2h5 -q -p "$dataset" "$@" genome.h5 "$reads"
    cov2bigwig -q --datasets "$dataset" --measured genome.h5 "predictions/$sample.plant.h5"
}
for how in 'weed atacseq weed_atacseq.sam --shift' 'weed h3k4me3 weed_h3k4me3.sam' 'grass h3k4me3 grass.sam --shift'; do
    # shellcheck disable=SC2086 # a list of words
    set -- $how
    compared "$@" >hand.tsv
    is "$(cksum <hand.tsv)" "$(cksum <"next/metrics/$1.plant.$2.compare.tsv")" "reads are counted as by hand: $how"
    [ "$2" = h3k4me3 ] || continue
    preset=h3k4me3
    [ $# -eq 3 ] || preset=atac
    covpeaks call -q --experimental --datasets h3k4me3 --window-size 50 -c 7 --broad -C 3 --preset $preset -o hand.gappedPeak -f genome.h5
    ok '  peaks, too' cmp hand.gappedPeak "peaks/$1.h3k4me3.measured.gappedPeak"
    covpeaks compare -q --genome genome.h5 "peaks/$1.plant.h3k4me3.gappedPeak" hand.gappedPeak >hand.tsv
    ok '  and their comparison' cmp hand.tsv "metrics/$1.plant.h3k4me3.peaks.tsv"
    covpeaks curve -q --windows 1,51,151 --datasets h3k4me3 --measured hand.gappedPeak "predictions/$1.plant.h5" >hand.tsv
    ok '  and their curve' cmp hand.tsv "metrics/$1.plant.h3k4me3.curve.tsv"
done
# The assay of the sheet selects the lengths of predicted peaks; without one, the name of the dataset.
while read -r sample dataset kind options; do
    # shellcheck disable=SC2086 # a list of words
    covpeaks call -q -f --datasets $dataset --window-size 50 $options -o "hand.$kind" "predictions/$sample.plant.h5"
    ok "predicted peaks are those by hand: $sample $options" cmp "hand.$kind" "peaks/$sample.plant.$dataset.$kind"
done <<'END'
grass h3k4me3 gappedPeak --broad -c 6 -C 2.5 --preset atac
weed h3k4me3 gappedPeak -c 6 -C 2.5 --preset h3k4me3
moss h3k4me3 gappedPeak -c 6 -C 2.5 --preset h3k4me3
moss atacseq narrowPeak -c 5 --preset atac
END

if [ $report = true ]; then
    # The rows and columns of all tables. Of the versions, one has the name of the workflow system.
    contents() { # DIRECTORY
        (cd "$1/report/multiqc_report_data" && for table in multiqc_covtools_*.txt multiqc_general_stats.txt multiqc_software_versions.txt; do
            printf '%s: ' "$table" && head -n 1 "$table" && cut -f 1 "$table"
        done) | sed 's/snakemake$/nextflow/'
    }
    contents . >snakemake.report
    is "$(contents next)" "$(cat snakemake.report)" 'both reports have the same rows and columns'
    for table in covpeaks_call covpeaks_curve covprofile_genes covprofile_region covprofile_correlate h5chunk_info; do
        like "$(cat snakemake.report)" "^multiqc_covtools_${table}_table\.txt: " "  with those of $table"
    done
    cat >f1.py <<'END'
import csv

for directory in ".", "next":
    with open(f"{directory}/report/multiqc_report_data/multiqc_general_stats.txt") as file:
        rows = {row["Sample"]: row for row in csv.DictReader(file, delimiter="\t")}
    assert sorted(rows) == ["grass.plant", "moss.plant", "weed.plant"], list(rows)
    for sample in "grass", "weed":
        with open(f"metrics/{sample}.plant.h3k4me3.peaks.tsv") as file:
            total = list(csv.DictReader(file, delimiter="\t"))[-1]
        assert float(total["f1"]) > 0, total
        for name in "f1", "precision", "recall", "peaks", "peaks_measured", "overlapping", "overlapping_measured":
            shown = rows[f"{sample}.plant"][f"custom_content_covpeaks_compare-h3k4me3_{name}"]
            assert abs(float(shown) - float(total[name])) < 1e-6, (directory, sample, name, shown, total)
    with open(f"{directory}/report/multiqc_report_data/multiqc_covtools_curve_linegraph.txt") as file:
        curves = sorted(line.split("\t")[0] for line in file)
    assert curves == [f"{s}.plant.h3k4me3.window {n}" for s in ("grass", "weed") for n in (1, 151, 51)], curves
END
    ok '  and figures of the compared peaks in the row of the sample' "$PYTHON" f1.py
else
    tap_result 0 'reports of the same contents # SKIP no multiqc'
fi
done_testing
