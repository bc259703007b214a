#!/bin/sh
# Both workflows on synthetic samples. Snakemake resumes after a kill, gives the files of the tools run by hand in one job and in
# shards, predicts several genomes in a job, refuses wrong sheets, and trains networks. Nextflow, if it is installed, gives the same
# files, and both make the same report if MultiQC is installed. The variable NEXTFLOW may name the program.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

need_program snakemake setsid
[ -n "${NEXTFLOW:-}" ] || NEXTFLOW=$(command -v nextflow) || NEXTFLOW=$SHARED/tools/nextflow/nextflow
command -v java >/dev/null && command -v "$NEXTFLOW" >/dev/null && "$PYTHON" -c 'import h5py, numpy' || NEXTFLOW=
# Ignores the user's configuration.
HOME=$tap_dir NXF_HOME=$tap_dir/.nextflow NXF_TEMP=$tap_dir NXF_OFFLINE=true
export HOME NXF_HOME NXF_TEMP NXF_OFFLINE
smk() { # OPTION...: of the messages, Snakemake writes those of -n to standard output
    snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --nocolor "$@" >"$stderr" 2>&1
    status=$?
}
finished() { # finished steps with their times
    find stats -name '*_mqc.json' -exec stat -c '%n %Y %i' {} + | sort
}

ok 'samples are made' "$SRC/workflows/demo/samples.sh" "$TESTLIB/../../demo/make_plant" . 60000
# Another name for the reads of ATAC-seq, so that the assay decides, and not the name of the dataset.
cp weed.fa grass.fa
cp weed_atacseq.sam grass.sam
echo 'grass,grass.fa,h3k4me3,atacseq,grass.sam,plant,plant.ckpt,weed.gff3' >>samples.csv
# Variants, and regions to explain.
cp "$SRC/workflows/nextflow/assets/test/weed.bed" .
awk '/^>chr1 / { on = 1; next } /^>/ { on = 0 } on { text = text $0 } END {
    print "##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
    for (at = 2500; at <= 5000; at += 500)
        printf "chr1\t%d\tv%d\t%s\t%s\t.\t.\t.\n", at, at, toupper(substr(text, at, 1)), toupper(substr(text, at, 1)) == "G" ? "A" : "G"
}' weed.fa >weed.vcf
awk -v OFS=, 'NR == 1 { print $0, "variants,explain"; next } /^weed,/ { print $0, "weed.vcf,weed.bed"; next } { print }' samples.csv >more.csv
mv more.csv samples.csv
cat >run.yaml <<'END'
bases: {extra: --length 20}
fasta2h5: {extra: --subsequence-length 976}
shards: 4
precision: fp32
overlap: 200
window_size: 50
peaks: true
peak_cutoffs: atacseq=5,h3k4me3=6:2.5
measured_cutoffs: h3k4me3=7:3
END
targets='tracks metrics peaks effects' report=false
command -v multiqc >/dev/null && targets=all report=true

# Killed in a shard after a random number of chunks, with its child processes.
mkdir slow
limit=$(($(date +%N | sed 's/^0*//') % 12 + 6)) # kB of the journal
cat >slow/covpredict <<END
#!/bin/sh
PATH=\${PATH#*:}
(trap '' XFSZ; ulimit -f $((2 * limit)); covpredict "\$@")
: >predicting
exec sleep 60
END
chmod +x slow/covpredict
# shellcheck disable=SC2086 # a list of words
PATH=$work/slow:$PATH setsid snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --configfile run.yaml -- $targets >killed.log 2>&1 &
group=$!
await test -e predicting
kill -s KILL -- "-$group"
wait "$group" 2>/dev/null
finished >before
ok 'it was killed after the first steps' test -s before
ok "  when $limit kB of the chunks of a shard were finished" test -s "$(find shards -name '*.resume' | head -n 1)"
rm -r .snakemake/locks # as `snakemake --unlock` does
# shellcheck disable=SC2086 # a list of words
smk --configfile run.yaml -- $targets
status_is 0 'it resumes' || diag "$(tail -n 20 "$stderr")"
finished >after
is "$(grep -c -F -x -f before after)" "$(wc -l <before)" '  without repeating steps'
is "$(find stats -name 'weed.plant.*of4_mqc.json' | grep -c .)" 4 'each shard was a job'
is "$(find . -path './measured/*.h5' -o -path './shards/*.h5')" '' 'temporary files were removed'
is "$(cd metrics && echo g* m*)" 'grass.correlation.tsv grass.genes.tsv grass.plant.h3k4me3.compare.tsv grass.plant.h3k4me3.curve.tsv grass.plant.h3k4me3.frip.tsv grass.plant.h3k4me3.peaks.tsv grass.plant.info.json moss.plant.info.json' 'there are metrics of all samples'
is "$(cd metrics && echo w*)" 'weed.correlation.tsv weed.genes.tsv weed.plant.atacseq.compare.tsv weed.plant.h3k4me3.compare.tsv weed.plant.h3k4me3.curve.tsv weed.plant.h3k4me3.frip.tsv weed.plant.h3k4me3.peaks.tsv weed.plant.info.json weed.region.tsv weed.region_mqc.png' '  tables, descriptions and a picture'
is "$(cd figures && echo *)" 'atacseq.genes.png atacseq.genes.tsv f1.png f1.tsv h3k4me3.curve.png h3k4me3.curve.tsv h3k4me3.genes.png h3k4me3.genes.tsv pearson.png pearson.tsv' '  and pictures of all of them'
is "$(cd peaks && echo *)" 'grass.h3k4me3.measured.gappedPeak grass.plant.atacseq.narrowPeak grass.plant.h3k4me3.gappedPeak moss.plant.atacseq.narrowPeak moss.plant.h3k4me3.gappedPeak weed.h3k4me3.measured.gappedPeak weed.plant.atacseq.narrowPeak weed.plant.h3k4me3.gappedPeak' \
    '  and peaks of the datasets that have a cutoff'

# The same by hand, in one job.
for sample in weed moss; do
    fasta=$(ls $sample.fa*)
    covpredict -q -m plant.ckpt --subsequence-length 976 --precision fp32 --overlap 200 --species $sample --stats $sample.json \
        -o $sample.plant.h5 "$fasta"
    cov2bigwig -q --window-size 50 -o hand/$sample.plant/ $sample.plant.h5
    ok "tracks of $sample are those of one job by hand" diff -r -x '.*' hand/$sample.plant tracks/$sample.plant
done
is "$(find tracks -name '*.bw' | grep -c .)" 6 '  there are 6'
ok 'merged shards have the statistics of the whole genome' "$PYTHON" -c '
import glob, json
whole, merged = (json.load(open(name)) for name in ("weed.json", "stats/h5chunk_merge/weed.plant_mqc.json"))
shards = [json.load(open(name)) for name in glob.glob("stats/covpredict/weed.*of4_mqc.json")]
for key in ("bases", "chunks"):
    assert merged["shards"][key] == merged["data"]["weed.plant"][key] == sum(s[key] for s in shards) == whole[key], key
assert any("all_runs" in json.load(open(name)) for name in glob.glob("stats/covpredict/*of4_mqc.json"))'

coveffect vcf -q -m plant.ckpt -g weed.fa --genes weed.gff3 -o hand.tsv weed.vcf
ok 'effects are those by hand' cmp hand.tsv effects/weed.plant.tsv
is "$(echo bases/* effects/*)" 'bases/weed.plant.atacseq bases/weed.plant.h3k4me3 effects/weed.plant.tsv' '  there is one table'
coveffect ism -q -m plant.ckpt -g weed.fa -R weed.bed --length 20 --dataset h3k4me3 -o hand/bases
ok 'contribution scores, too' diff -r -x '.*' hand/bases bases/weed.plant.h3k4me3

# The assay decides whether reads are shifted.
export SOURCE_DATE_EPOCH=315532800
mkdir signals
cp predictions/weed.plant.h5 signals/
while read -r sample dataset preset reads shift; do
    fasta2h5 -q -f --subsequence-length 976 -o genome.h5 "$sample.fa"
    ok "the genome file of $sample is the same in each run" cmp genome.h5 "genomes/$sample.h5"
    # shellcheck disable=SC2086 # a list of words
    bam2h5 -q -p "$dataset" $shift genome.h5 "$reads"
    [ "$sample" != weed ] || cp genome.h5 signals/"weed.$dataset.h5"
    cov2bigwig -q --datasets "$dataset" --measured genome.h5 "predictions/$sample.plant.h5" >hand.tsv
    ok "reads are counted as by hand: $sample $dataset $shift" cmp hand.tsv "metrics/$sample.plant.$dataset.compare.tsv"
    [ "$dataset" = h3k4me3 ] || continue
    covpeaks call -q --experimental --datasets h3k4me3 --window-size 50 -c 7 --broad -C 3 --preset "$preset" -o hand.gappedPeak -f genome.h5
    ok '  peaks, too' cmp hand.gappedPeak "peaks/$sample.h3k4me3.measured.gappedPeak"
    covpeaks compare -q --genome genome.h5 "peaks/$sample.plant.h3k4me3.gappedPeak" hand.gappedPeak >hand.tsv
    ok '  and their comparison' cmp hand.tsv "metrics/$sample.plant.h3k4me3.peaks.tsv"
    covpeaks curve -q --windows 1,51,151 --datasets h3k4me3 --measured hand.gappedPeak "predictions/$sample.plant.h5" >hand.tsv
    ok '  and their curve' cmp hand.tsv "metrics/$sample.plant.h3k4me3.curve.tsv"
    covpeaks stats -q --signal genome.h5 --genome genome.h5 "peaks/$sample.plant.h3k4me3.gappedPeak" \
        "peaks/$sample.h3k4me3.measured.gappedPeak" >hand.tsv
    ok '  and FRiP' cmp hand.tsv "metrics/$sample.plant.h3k4me3.frip.tsv"
done <<'END'
weed atacseq - weed_atacseq.sam --shift
weed h3k4me3 h3k4me3 weed_h3k4me3.sam
grass h3k4me3 atac grass.sam --shift
END
covpeaks curve -q --datasets h3k4me3 --measured peaks/grass.h3k4me3.measured.gappedPeak,peaks/weed.h3k4me3.measured.gappedPeak \
    predictions/grass.plant.h5 predictions/weed.plant.h5 >hand.tsv
ok 'curves of several samples are those by hand' cmp hand.tsv figures/h3k4me3.curve.tsv
covprofile genes -q --datasets atacseq --genes weed.gff3,weed.gff3 predictions/grass.plant.h5 predictions/weed.plant.h5 >hand.tsv
ok '  profiles around genes, too' cmp hand.tsv figures/atacseq.genes.tsv
for score in 'pearson.tsv compare 6' 'f1.tsv peaks 2'; do # of the row total
    # shellcheck disable=SC2086 # a list of words
    set -- $score
    {
        [ "$2" = peaks ] || echo "weed.plant_atacseq $(awk -v column="$3" '$3 == "total" { print $column }' metrics/weed.plant.atacseq.compare.tsv)"
        for sample in grass weed; do
            [ "$2" = peaks ] && name=plant || name=plant_h3k4me3 # of a single dataset, or of several
            echo "$sample.$name $(awk -v column="$3" '/total\t/ { printf "%.9g", $column }' "metrics/$sample.plant.h3k4me3.$2.tsv")"
        done
    } | sort >hand.txt
    awk -F '\t' 'NR == 1 { split($0, name); next } { for (i = 2; i <= NF; i++) if ($i != "NA") print $1 "." name[i] " " $i }' \
        "figures/$1" | sort >by_cell.txt
    ok "the heatmap has the scores of all runs: $1" cmp hand.txt by_cell.txt
done
unset SOURCE_DATE_EPOCH
for table in 'genes --genes weed.gff3' 'region -r chr1:1-20000' 'correlation --bin-size 1k'; do
    subcommand=${table%% *}
    [ "$subcommand" != correlation ] || subcommand=correlate
    # shellcheck disable=SC2086 # a list of words
    covprofile $subcommand -q ${table#* } signals/weed.plant.h5 signals/weed.atacseq.h5 signals/weed.h3k4me3.h5 >hand.tsv
    ok "weed.${table%% *}.tsv is that of the tools run by hand" cmp hand.tsv "metrics/weed.${table%% *}.tsv"
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

# Nextflow gives the same files in one job per genome.
if [ -n "$NEXTFLOW" ]; then
    cat >next.config <<'END'
process {
    withName: FASTA2H5        { ext.args = '--subsequence-length 976' }
    withName: PREDICT_GENOME  { ext.args = '--subsequence-length 976 --precision fp32 --overlap 200' }
    withName: COVEFFECT_BASES { ext.args = '--length 20' }
}
END
    ok 'Nextflow runs' "$NEXTFLOW" run "$SRC/workflows/nextflow/main.nf" -c next.config -ansi-log false --input samples.csv --outdir next \
        --window_size 50 --report $report --peaks --peak_cutoffs atacseq=5,h3k4me3=6:2.5 --measured_cutoffs h3k4me3=7:3
    for directory in effects bases tracks metrics figures predictions peaks; do
        is "$(cd next/$directory && find . -type f | sort)" "$(cd $directory && find . -type f ! -name '.*' | sort | tee ../names)" \
            "both write the same names of $directory"
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
else
    tap_result 0 'Nextflow gives the same files # SKIP no Nextflow'
fi

if [ $report = true ]; then
    # The rows and columns of all tables but that of genome files, which only shards need. Of the versions, one has the name of the
    # workflow system.
    contents() { # DIRECTORY
        (cd "$1/report/multiqc_report_data" && for table in multiqc_covtools_[!f]*.txt multiqc_general_stats.txt multiqc_software_versions.txt; do
            printf '%s: ' "$table" && head -n 1 "$table" && cut -f 1 "$table"
        done) | sed 's/snakemake$/nextflow/'
    }
    contents . >snakemake.report
    [ -z "$NEXTFLOW" ] || is "$(contents next)" "$(cat snakemake.report)" 'both reports have the same rows and columns'
    for table in covpeaks_call covpeaks_curve covpeaks_stats covprofile_genes covprofile_region covprofile_correlate h5chunk_info; do
        like "$(cat snakemake.report)" "^multiqc_covtools_${table}_table\.txt: " "  with those of $table"
    done
    for directory in . ${NEXTFLOW:+next}; do # multiqc.t tests the figures
        data=$directory/report/multiqc_report_data
        is "$(cut -f 1 "$data"/multiqc_general_stats.txt | tr '\n' ' ')" 'Sample grass.plant moss.plant weed.plant ' "a row for each sample: $directory"
        for column in covpredict-bases compare-h3k4me3_pearson_without_outliers covpeaks_compare-h3k4me3_f1 covpeaks_compare-h3k4me3_overlapping; do
            like "$(head -n 1 "$data"/multiqc_general_stats.txt)" "$column" "  with $column"
        done
        is "$(cut -f 1 "$data"/multiqc_covtools_curve_linegraph.txt | sort | tr '\n' ' ')" "$(for sample in grass weed; do
            printf '%s\n' "$sample.plant.h3k4me3.window 1" "$sample.plant.h3k4me3.window 151" "$sample.plant.h3k4me3.window 51" "h3k4me3.$sample.plant"
        done | sort | tr '\n' ' ')" '  curves'
        like "$(sort "$data"/multiqc_software_versions.txt | cut -f 1 | tr '\n' ' ')" 'bam2h5 cov2bigwig .*covpredict .*fasta2h5 .*h5chunk' '  and versions'
    done
else
    tap_result 0 'reports of the same contents # SKIP no multiqc'
fi

# Reads or a further model repeat no prediction. Paths are relative to the sheet, unless they are absolute or URLs; tracks are not
# shifted, but reads next to them are.
mkdir other
: >other/a.bigWig
sed -E 's/^moss,moss.fa.gz,,,,/moss,moss.fa.gz,atacseq,,https:\/\/example.org\/c.bam;a.bigWig;grass.sam,/; s/(weed[._]|moss\.|grass\.|plant\.ckpt)/..\/\1/g' samples.csv >other/sheet.csv
cat >>other/sheet.csv <<EOT
weed,../weed.fa,,,,other,../plant.ckpt
moss,../moss.fa.gz,h3k4me3,,$work/grass.sam,plant,../plant.ckpt
grass,../grass.fa,atacseq,,a.bigWig,plant,../plant.ckpt
EOT
smk --configfile run.yaml --config samples=other/sheet.csv -n -p -- metrics
is "$(grep -o 'wildcards: sample=.*, part=.*' "$stderr" | sort)" "$(for i in 1 2 3 4; do
    echo "wildcards: sample=weed, model=other, part=$i, parts=4"
done)" 'a longer sheet adds predictions, and repeats none'
is "$(grep -o 'bam2h5 -f.*2>' "$stderr" | sed 's/.*_mqc.json//; s/  */ /g' | sort | grep -E '/moss|/grass.atacseq')" \
    " --shift -o measured/moss.atacseq.h5 -- genomes/moss.h5 other/a.bigWig grass.sam https://example.org/c.bam 2>
 -o measured/grass.atacseq.h5 -- genomes/grass.h5 other/a.bigWig 2>
 -o measured/moss.h3k4me3.h5 -- genomes/moss.h5 $work/grass.sam 2>" '  and adds reads of any kind and path'

# One job per genome; options of the configuration, names that look like options or commands, and an assay that the name of the
# dataset does not tell.
mkdir dash && cd dash || exit 99
odd="-we 'ed\`touch X\`&.fa"
cp ../weed.fa "./$odd"
cp ../weed_atacseq.sam -- --version
cp ../plant.ckpt -- -plant.ckpt
cat >sheet.tsv <<EOT
# a comment

sample	fasta	checkpoint	model	bams	assay	dataset
d.1	$odd	-plant.ckpt	p	--version	other	atacseq
d.1	$odd	-plant.ckpt	p_2		
EOT
echo 'fasta2h5: {extra: --compression lz4 --min-length 100}' >lz4.yaml
smk --configfile lz4.yaml --config samples=sheet.tsv window_size=50 precision=fp32 overlap=4000 -- tracks metrics
status_is 0 'files whose names look like options or commands are files' || diag "$(tail -n 20 "$stderr")"
is "$(find tracks -name '*.bw' | sort)" "tracks/d.1.p/d.1.p_atacseq_avg_strand_ws=50.bw
tracks/d.1.p/d.1.p_h3k4me3_avg_strand_ws=50.bw
tracks/d.1.p_2/d.1.p_2_atacseq_avg_strand_ws=50.bw
tracks/d.1.p_2/d.1.p_2_h3k4me3_avg_strand_ws=50.bw" '  tracks are smoothed'
covpredict -q -m -plant.ckpt --min-length 100 --species d.1 --precision fp32 --overlap 4000 -o d.1.p.h5 -- "$odd"
fasta2h5 -q --min-length 100 -o hand.h5 -- "$odd"
bam2h5 -q -p atacseq hand.h5 -- --version
cov2bigwig -q --measured hand.h5 --datasets atacseq -o hand.tsv d.1.p.h5
ok '  the overlap is used, and the assay decides, not the name of the dataset' cmp hand.tsv metrics/d.1.p.atacseq.compare.tsv
cov2bigwig -q --window-size 50 -o hand/ d.1.p.h5
ok '  the same tracks as by hand' diff -r -x '.*' hand tracks/d.1.p
printf 'd.1\t%s\t-plant.ckpt\tp_2\t--version\tother\tatacseq\n' "$odd" >>sheet.tsv
smk --configfile lz4.yaml --config samples=sheet.tsv window_size=50 precision=fp32 overlap=4000 -n -- tracks metrics
is "$(grep -o 'rule [a-z0-9_]*:' "$stderr" | sort -u | tr -d '\n')" 'rule bam2h5:rule cov2bigwig_compare:rule covprofile_correlate:rule covprofile_heatmap:rule metrics:' \
    '  nothing is repeated, but a first dataset of a model is compared'
cd ..

# Several genomes in a job of a cluster, of which one fails.
mkdir turn && cd turn || exit 99
{ echo sample,fasta,model,checkpoint; printf '%s,../%s,plant,../plant.ckpt\n' weed weed.fa bad run.yaml moss moss.fa.gz; } >samples.csv
printf 'fasta2h5: {extra: --subsequence-length 976}\ngenomes_per_job: 2\nprecision: fp32\noverlap: 200\nwindow_size: 50\n' >turn.yaml
# shellcheck disable=SC2016 # for the script
echo 'echo "${1##*/}" >>submitted; sh "$1" >>cluster.log 2>&1' >submit
if snakemake --help | grep -q -e --cluster-sync; then
    export CI=true # shorter waits
    in_turn() {
        : >submitted
        smk -j2 --configfile turn.yaml --keep-going --cluster-sync 'sh submit' -- tracks
    }
    in_turn
    is "$status $(grep -c '^snakejob\.genomes[01]\.' submitted)" '1 2' 'two genomes are one job; a genome that fails is a failure'
    stderr_like '^covpredict: error: \.\./run\.yaml: not a FASTA file' '  its message is printed'
    for sample in weed moss; do
        ok "  its neighbours are predicted: $sample" diff -r -x '.*' ../hand/$sample.plant tracks/$sample.plant
    done
    finished >before
    sed -i 's/run\.yaml/moss.fa.gz/' samples.csv
    in_turn
    is "$status $(grep -c genomes submitted) $(finished | grep -c -F -x -f before)" "0 1 $(wc -l <before)" '  and not again when it is repeated'
    is "$(ls; ls tracks)" "$(printf '%s\n' before benchmarks checkpoints cluster.log logs metrics predictions samples.csv stats submit submitted tracks turn.yaml \
        bad.plant moss.plant weed.plant)" '  no other files remain'
else
    tap_result 0 'several genomes in a job # SKIP no snakemake --cluster-sync'
fi
if [ -n "$NEXTFLOW" ]; then
    sed -i 's/^bad,[^,]*/bad,..\/run.yaml/' samples.csv
    sed 's/GENOME /GENOMES? /; s/PREDICT_GENOMES?/"&"/' ../next.config >next.config
    in_turn() {
        "$NEXTFLOW" run "$SRC/workflows/nextflow/main.nf" -c next.config -ansi-log false --input samples.csv --outdir next \
            --window_size 50 --report false --genomes_per_job 2 >"$stderr" 2>&1
        status=$?
    }
    in_turn
    is "$status $(grep -c 'process > COVTOOLS:PREDICT_GENOMES' "$stderr") $(grep -c 'process > COVTOOLS:PREDICT_GENOME ' "$stderr")" '1 2 1' \
        'Nextflow: a genome that fails runs again alone'
    for sample in weed moss; do
        ok "  its neighbours are predicted: $sample" diff -r ../hand/$sample.plant next/tracks/$sample.plant
    done
    ok '  the same predictions' "$PYTHON" "$SRC/tests/oracle/h5_equal.py" ../weed.plant.h5 next/predictions/weed.plant.h5
fi
cd ..

# Sheets and configurations, read by rules/common.smk without starting Snakemake.
cat >cases.py <<'END'
import os, re, sys, types
import yaml

rules = sys.argv[1] + "/workflows/snakemake/rules/"
code = re.sub(r"^wildcard_constraints:\n(    .*\n)+", "", open(rules + "common.smk").read() + open(rules + "peaks.smk").read(), flags=re.M)
defaults = yaml.safe_load(open(rules + "../config/defaults.yaml"))

def read(**config):
    names = {"config": {**defaults, **config}, "workflow": types.SimpleNamespace(source_path=lambda path: rules + path)}
    exec(code, names)
    return names

columns = "sample,fasta,dataset,assay,bams,model,checkpoint,genes,region,variants,explain"
good = dict(sample="weed", fasta="weed.fa", model="plant", checkpoint="plant.ckpt")

def row(**cells):
    return ",".join({**good, **cells}.get(column, "") for column in columns.split(","))

def refuses(regex, *rows, columns=columns, call=None, **config):
    """The configuration, with the rows as its sheet, is refused with a message that matches. `call` is called afterwards."""
    if rows:
        config["samples"] = "bad.csv"
        with open("bad.csv", "w") as sheet:
            sheet.write("".join(line + "\n" for line in (columns, *rows)))
    try:
        names = read(**config)
        if call:
            names[call](None)
        message = "accepted"
    except Exception as e:
        message = f"{type(e).__name__}: {e}"
    if not re.fullmatch("WorkflowError: " + regex, message):
        print(f"{rows} {config}: {message}")

# Sheets of spreadsheets and editors are read like the plain one.
plain = "sample,fasta,dataset,assay,bams,model,checkpoint\n# x\nweed,weed.fa,,,,plant,plant.ckpt\nmoss,weed.fa,,,,plant,plant.ckpt\n"
for name, text in {
    "plain.csv": plain, "crlf.csv": plain.replace("\n", "\r\n"), "mark.csv": "\ufeff" + plain, "last.csv": plain[:-1],
    "blanks.csv": plain.replace(",", " , ").replace("\n", " \t\n"), "lines.csv": plain.replace("\n", "\n,,,,,,\n \t\n"),
    "tabs.tsv": plain.replace(",", "\t"),
}.items():
    with open(name, "w", newline="") as sheet:
        sheet.write(text)
    names = read(samples=name)
    if names["FASTA"] != {"weed": "weed.fa", "moss": "weed.fa"} or list(names["RUNS"]) != [("weed", "plant"), ("moss", "plant")]:
        print(name, names["FASTA"], names["RUNS"])

refuses(r"bad\.csv:3: invalid sample 'weed\\n'; .*", row(sample='"weed\n"'))
refuses(r"bad\.csv:2: invalid sample '-weed'; .*", row(sample="-weed"))
reads = dict(dataset="atacseq", assay="atacseq", bams="weed_atacseq.sam")
for fault, cells in {
    r"invalid model 'a\.b'; .*": dict(model="a.b"),
    r"invalid assay 'rnaseq'; use atacseq, chipseq or other": {**reads, "assay": "rnaseq"},
    r"missing assay; .*": {**reads, "dataset": "dnase", "assay": ""},
    r"missing bams; .*": dict(dataset="atacseq"),
    r"missing checkpoint; .*": dict(checkpoint=""),
    r"invalid checkpoint .a;b,c\.ckpt.; .* and comma": dict(checkpoint='"a;b,c.ckpt"'),
    r"invalid dataset 'measured'; .*, but not measured, .*": {**reads, "dataset": "measured", "assay": "other"},
    r"bams none\.bam: no such file": {**reads, "bams": "weed_atacseq.sam;none.bam"},
    r"invalid region 'chr1;x'; use letters, digits and \. _ \+ - :": dict(region="chr1;x"),
}.items():
    refuses(r"bad\.csv:4: weed: " + fault, "# x", row(sample="moss"), row(**cells))
for path in "{w}.fa", "$HOME.fa", "a*.fa", "a?.fa", "a[1].fa":
    refuses(r"bad\.csv:2: weed: invalid fasta .*, without \$ \* \? \[ \] \{ \}", row(fasta=path))
for what, column, first, second, hint in [
    ("checkpoint of plant", "checkpoint", "a.ckpt", "b.ckpt", ""), ("fasta of weed", "fasta", "a.fa", "b.fa", ""),
    ("assay of atacseq", "assay", "atacseq", "other", ""), ("annotation of weed", "genes", "a.gff3", "b.gff3", ""),
    ("list of bams of atacseq", "bams", "a.bam;b.bam", "b.bam", "; write replicates in one row, .*"),
    ("file of variants of weed", "variants", "a.vcf", "b.vcf", ""), ("file of regions to explain of weed", "explain", "a.bed", "b.bed", ""),
]:
    refuses(rf"bad\.csv:4: weed: the {what} is {re.escape(second)}, but {re.escape(first)} in an earlier row{hint}",
            row(**{**reads, column: first}), row(sample="moss", model="x"), row(**{**reads, column: second}))
refuses(r"bad\.csv:2: 12 cells in 11 columns", row() + ",x")
refuses(r"bad\.csv: no samples", "")
refuses(r"bad\.csv: unknown column 'bam'; the columns are sample,.*", row(), columns="sample,fasta,bam,model,checkpoint")
refuses(r"bad\.csv: missing column checkpoint", row(), columns="sample,fasta,model")
refuses(r"none\.csv: No such file or directory", samples="none.csv")
refuses(r"configuration: bases: method: 'deeplift' is not one of .*", bases={"method": "deeplift", "extra": ""})
refuses(r"configuration: .*'shard' was unexpected.*", shard=4)
refuses(r"configuration: genomes_per_job needs shards: 1", row(), shards=2, genomes_per_job=2)
refuses(r"configuration: precision: 'fp8' is not one of .*", precision="fp8")
refuses(r"configuration: peak_cutoffs: 'atacseq' does not match .*", peak_cutoffs="atacseq")
refuses(r"configuration: peak_cutoffs has no effect unless peaks is true", peak_cutoffs="a=5")
refuses(r"configuration: measured_cutoffs has no effect unless peaks is true", peaks="false", measured_cutoffs="a=5")
refuses(r"configuration: measured_cutoffs: repeated dataset a", peaks="true", measured_cutoffs="a=1,a=2")
refuses(r"configuration: peak_cutoffs: a=5:5: the second cutoff must be less than the first", peaks="true", peak_cutoffs="a=5:5")
refuses(r"configuration: training: 'x\\n' does not match .*", training={"x\n": {"data": "d", "options": ""}})
refuses(r"the target peaks needs the configuration peaks: true", row(), call="wanted_peaks")
for line, message in {
    "small": "write a name .*, a tab, and options of covtrain", "a b\t--clip 1": "write a name .*, a tab, and options of covtrain",
    "small\t--clip 1\nsmall\t--clip 2": "repeated name small",
}.items():
    open("sweep.tsv", "w").write(line)
    refuses(r"sweep\.tsv:[12]: " + message, training={"sweep": {"data": "d", "options": "", "tune": "sweep.tsv"}})
# The descriptions of checkpoints that an earlier run has made are checked before any job.
os.chdir("wrong")
reads.update(fasta="../weed.fa", bams="../weed_atacseq.sam", checkpoint="../plant.ckpt")
refuses(r"bad\.csv:2: weed: unknown dataset ATAC-seq; .*; did you mean atacseq\?", row(**{**reads, "dataset": "ATAC-seq"}))
refuses(r"\.\./genome\.h5: not a model of Predmoter or covtrain", row(**{**reads, "model": "genome", "checkpoint": "../genome.h5"}))
read(samples="good.csv")
END

# A dataset that the model does not predict.
mkdir wrong && cd wrong || exit 99
printf '%s\n' 'sample,fasta,dataset,assay,bams,model,checkpoint' \
    'weed,../weed.fa,ATAC-seq,atacseq,../weed_atacseq.sam,plant,../plant.ckpt' >samples.csv
smk -- metrics
status_is 1 'a dataset that the model does not predict'
stderr_like '^samples\.csv:2: weed: unknown dataset ATAC-seq; \.\./plant\.ckpt predicts atacseq, h3k4me3; did you mean atacseq\?$' \
    '  is named, with those of the model'
is "$(ls)" 'checkpoints
logs
samples.csv' '  before a genome is encoded'
sed 's/ATAC-seq/atacseq/' samples.csv >good.csv
h5chunk info --json ../genome.h5 >checkpoints/genome.info.json
sed -i 's/,ATAC-seq.*,plant,/,,,,plant,/' samples.csv
smk --config peaks=true peak_cutoffs=dnase=5 -- peaks
is "$status" 1 'a cutoff of a dataset that no model predicts'
stderr_like 'configuration: unknown dataset dnase has a cutoff for peaks; no model predicts it' '  the message'
ok '  before a genome is encoded' test ! -e genomes
sed -i 's/weed\.fa/samples.csv/' samples.csv
smk -- genomes/weed.h5
is "$status" 1 'a step that fails'
stderr_like '^ *fasta2h5: error: \.\./samples\.csv: not a FASTA file' '  its message is printed'
cd ..
interpreter=$(sed -n '1s/^#!//p' "$(command -v snakemake)")
is "$("$interpreter" cases.py "$SRC" 2>&1)" '' 'wrong sheets and configurations are refused, those of spreadsheets are not'
smk -n --config samples=none.csv
# Snakemake 9 announces the profile of the workflow, without a newline before.
is "$status $(sed '/^Config file/d; s/Using workflow specific profile.*//; /^$/d' "$stderr" | tr '\n' '|')" \
    '1 WorkflowError:|none.csv: No such file or directory|' '  with one message, without a traceback or the configuration'

# One network per species that is left out, or per line of a file, without a sheet.
if command -v gnuplot >/dev/null; then
    mkdir loo && cd loo || exit 99
    ok 'three species are made' "$SRC/workflows/demo/species.sh" "$TESTLIB/../../demo/make_plant" species 60000
    { printf '\357\273\277' && printf '%s \r\n' "small	--hidden-size 2" '# further options' 'fast	--learning-rate 0.01'; } >sweep.tsv
    cat >loo.yaml <<'EOT'
training:
  plants: {data: species, options: "--filter-size 4 -b 8 -e 2 --seed 1 --balance species", leave_out: [moss, weed, fern]}
  sweep: {data: species, options: "--filter-size 4 -b 8 -e 1 --seed 1", leave_out: [moss], tune: sweep.tsv}
EOT
    smk --configfile loo.yaml -- trainings
    status_is 0 'each species is left out by a network' || diag "$(tail -n 20 "$stderr")"
    is "$(ls trained)" "$(printf '%s\n' plants.fern.ckpt plants.moss.ckpt plants.svg plants.tsv plants.weed.ckpt sweep.moss.fast.ckpt \
        sweep.moss.small.ckpt sweep.svg sweep.tsv)" '  with a table and a plot'
    covtrain -q -i species -o hand --filter-size 4 -b 8 -e 2 --seed 1 --balance species --leave-out weed
    ok '  the same bytes as by hand' cmp hand/best.ckpt trained/plants.weed.ckpt
    best=$(sed 1d hand/metrics.log | sort -k 3,3gr | head -n 1 | tr ' ' '\t')
    is "$(grep '^plants\.weed	' trained/plants.tsv)" \
        "plants.weed	2	$best	--filter-size 4 -b 8 -e 2 --seed 1 --balance species --leave-out weed" '  its row has the best epoch'
    is "$(cut -f 1 trained/plants.tsv | paste -sd ' ') $(cut -f 1 trained/sweep.tsv | paste -sd ' ')" \
        'network plants.moss plants.weed plants.fern network sweep.moss.small sweep.moss.fast' '  the tables have all networks'
    is "$(grep -c '<title>gnuplot_plot_' trained/plants.svg) $(grep -o 'plants\.[a-z]*' trained/plants.svg | sort -u | paste -sd ' ')" \
        '3 plants.fern plants.moss plants.weed' '  the plot, too'

    # Now with a sheet in another directory, whose checkpoint is to be trained again, and with other options.
    printf '%s\n' sample,fasta,model,checkpoint x,x.fa,tiny,trained/sweep.moss.small.ckpt >../trains.csv
    printf '>x\nACGT\n' >../x.fa
    cp trained/sweep.moss.small.ckpt before.ckpt
    sed -i 's/-e 1 --seed 1/-e 1 --seed 2/' loo.yaml
    smk --configfile loo.yaml --config samples=../trains.csv -- tracks
    status_is 0 'a sheet uses a network that is trained' || diag "$(tail -n 20 "$stderr")"
    is "$(cmp -s trained/sweep.moss.small.ckpt before.ckpt; echo $?)" 1 '  again after its options change'
    ok '  and predicts with it' test -s predictions/x.tiny.h5
    cd ..
    if [ -n "$NEXTFLOW" ]; then
        ok 'Nextflow trains' "$NEXTFLOW" run "$SRC/workflows/nextflow/train.nf" -ansi-log false --data loo/species --name plants \
            --leave_out moss,weed,fern --options '--filter-size 4 -b 8 -e 2 --seed 1 --balance species' --outdir next
        is "$(ls next/trained)" "$(cd loo/trained && ls plants*)" '  both write the same names of networks'
        for name in plants.tsv plants.moss.ckpt plants.weed.ckpt plants.fern.ckpt; do
            ok "  equal: $name" cmp loo/trained/$name next/trained/$name
        done
    fi
fi
done_testing
