#!/bin/sh
# The Snakemake workflow on synthetic samples: resumes after a kill, gives the tracks and tables of the tools run by hand
# for any number of shards, refuses wrong sheets, and makes a report if MultiQC is installed.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

need_program snakemake setsid
HOME=$tap_dir
export HOME
smk() { # OPTION...: of the messages, Snakemake writes those of -n to standard output
    snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --nocolor "$@" >"$stderr" 2>&1
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
await test -e predicting
kill -s KILL -- "-$group"
wait "$group" 2>/dev/null
finished >before
ok 'it was killed after the first steps' test -s before
rm -r .snakemake/locks # as `snakemake --unlock` does
targets='tracks metrics'
command -v multiqc >/dev/null && targets=all
# shellcheck disable=SC2086 # a list of words
smk --config shards=4 -- $targets
status_is 0 'it resumes' || diag "$(tail -n 20 "$stderr")"
finished >after
is "$(grep -c -F -x -f before after)" "$(wc -l <before)" '  without repeating steps'

for sample in weed moss; do
    fasta=$(ls $sample.fa*)
    covpredict -q -m plant.ckpt --species $sample -o $sample.plant.h5 "$fasta"
    cov2bigwig -q --format bigwig -o hand/ $sample.plant.h5
    for dataset in atacseq h3k4me3; do
        name=$sample.plant_${dataset}_avg_strand.bw
        ok "$name equals that of the tools run by hand, in one job" cmp "hand/$name" "tracks/$sample.plant/$name"
    done
done
is "$(find tracks -name '*.bw' | grep -c .)" 4 'there are no other tracks'

# The assay decides whether reads are shifted.
fasta2h5 -q -o weed.h5 weed.fa
bam2h5 -q -p atacseq --shift -o shifted.atacseq.h5 weed.h5 weed_atacseq.sam
bam2h5 -q -p atacseq -o unshifted.atacseq.h5 weed.h5 weed_atacseq.sam
bam2h5 -q -p h3k4me3 --shift -o shifted.h3k4me3.h5 weed.h5 weed_h3k4me3.sam
bam2h5 -q -p h3k4me3 -o unshifted.h3k4me3.h5 weed.h5 weed_h3k4me3.sam
for table in shifted.atacseq unshifted.atacseq shifted.h3k4me3 unshifted.h3k4me3; do
    cov2bigwig -q --measured $table.h5 --datasets ${table#*.} -o $table.tsv weed.plant.h5
done
ok 'reads of ATAC-seq are shifted' cmp shifted.atacseq.tsv metrics/weed.plant.atacseq.compare.tsv
ok '  which changes the table' test "$(cksum <shifted.atacseq.tsv)" != "$(cksum <unshifted.atacseq.tsv)"
ok 'reads of ChIP-seq are not' cmp unshifted.h3k4me3.tsv metrics/weed.plant.h3k4me3.compare.tsv
ok '  which would change the table' test "$(cksum <shifted.h3k4me3.tsv)" != "$(cksum <unshifted.h3k4me3.tsv)"
# The predictions and the measured coverage of a sample with an annotation, under the names of the workflow.
cp weed.plant.h5 hand/
cp shifted.atacseq.h5 hand/weed.atacseq.h5 && cp unshifted.h3k4me3.h5 hand/weed.h3k4me3.h5
for table in 'genes --genes weed.gff3' 'region -r chr1:1-20000' 'correlation --bin-size 1k'; do
    subcommand=${table%% *}
    [ "$subcommand" != correlation ] || subcommand=correlate
    # shellcheck disable=SC2086 # a list of words
    covprofile $subcommand -q ${table#* } hand/weed.plant.h5 hand/weed.atacseq.h5 hand/weed.h3k4me3.h5 >hand.tsv
    ok "weed.${table%% *}.tsv is that of the tools run by hand" cmp hand.tsv "metrics/weed.${table%% *}.tsv"
done

is "$(cd metrics && echo ./*)" './moss.plant.info.json ./weed.correlation.tsv ./weed.genes.tsv ./weed.plant.atacseq.compare.tsv ./weed.plant.h3k4me3.compare.tsv ./weed.plant.info.json ./weed.region.tsv ./weed.region_mqc.png' \
    'metrics are tables, descriptions and a picture'
is "$(find stats -name 'weed.plant.*of4_mqc.json' | grep -c .)" 4 'each shard was a job'
is "$(find . -path './measured/*.h5' -o -path './shards/*.h5')" '' 'temporary files were removed'
# Reads or a further model repeat no prediction.
cp samples.csv ../samples.csv
sed -i 's/^moss,moss.fa.gz,,,,/moss,moss.fa.gz,atacseq,atacseq,weed_atacseq.sam,/' samples.csv
echo 'weed,weed.fa,,,,other,plant.ckpt' >>samples.csv
smk --config shards=4 -n -- tracks metrics
is "$(cat "$tap_dir"/std* | grep -o 'wildcards: sample=.*, part=.*' | sort)" "$(for i in 1 2 3 4; do
    echo "wildcards: sample=weed, model=other, part=$i, parts=4"
done)" 'a longer sheet adds predictions, and repeats none'
like "$(cat "$tap_dir"/std*)" '^rule bam2h5:' '  and adds reads'
mv ../samples.csv samples.csv

if [ "$targets" = all ]; then
    cat >report.py <<'END'
import csv, json

def table(name):
    with open(f"report/multiqc_report_data/multiqc_{name}.txt") as file:
        return {row["Sample"]: row for row in csv.DictReader(file, delimiter="\t")}

general = table("general_stats")
assert sorted(general) == ["moss.plant", "weed.plant"], list(general)
shards = [json.load(open(f"stats/covpredict/weed.plant.{i}of4_mqc.json")) for i in (1, 2, 3, 4)]
for key in ("bases", "chunks", "wall_seconds"):
    value = float(general["weed.plant"]["custom_content_covpredict-" + key])
    assert abs(value - sum(s[key] for s in shards)) < 1e-6 * value, (key, value)
for dataset in ("atacseq", "h3k4me3"):
    r = float(general["weed.plant"][f"custom_content_cov2bigwig_compare-{dataset}_pearson_1"])
    bars = table("covtools_correlation_bargraph")["weed.plant." + dataset]
    assert float(bars["1 bp"]) == r > 0
    compare = json.load(open(f"stats/compare/weed.plant.{dataset}_mqc.json"))
    outliers = compare["comparison"]["tracks"][0]["outliers"]
    column = f"custom_content_cov2bigwig_compare-{dataset}_"
    assert abs(float(general["weed.plant"][column + "pearson_without_outliers"]) - outliers["pearson_without"]) < 1e-6
    assert float(general["weed.plant"][column + "outliers"]) == len(outliers["regions"])
for tool, rows in {"fasta2h5": 2, "bam2h5": 2, "cov2bigwig": 2, "h5chunk_info": 2, "h5chunk_verify": 2}.items():
    assert len(table(f"covtools_{tool}_table")) == rows, tool
lines = [line.rstrip("\n").split("\t") for line in open("report/multiqc_report_data/multiqc_covtools_profile_linegraph.txt")]
assert sorted(line[0] for line in lines) == ["weed.atacseq", "weed.h3k4me3", "weed.plant_atacseq", "weed.plant_h3k4me3"], lines
assert len(lines[0]) == 601, len(lines[0])
versions = {line.split("\t")[0] for line in open("report/multiqc_report_data/multiqc_software_versions.txt")}
assert {"fasta2h5", "bam2h5", "covpredict", "h5chunk", "cov2bigwig", "snakemake"} <= versions, versions
END
    ok 'MultiQC reports all samples, tools and versions' "$PYTHON" report.py
else
    tap_result 0 'a MultiQC report # SKIP no multiqc'
fi

# A shard that was killed after a random number of chunks.
mkdir shards_killed && cd shards_killed || exit 99
cp ../weed.fa ../plant.ckpt .
printf 'sample,fasta,model,checkpoint\nweed,weed.fa,plant,plant.ckpt\n' >samples.csv
printf 'fasta2h5: {extra: --subsequence-length 976}\n' >short.yaml
limit=$(($(date +%N | sed 's/^0*//') % 30 + 8)) # kB of the journal
cat >../slow/covpredict <<END
#!/bin/sh
PATH=\${PATH#*:}
(trap '' XFSZ; ulimit -f $((2 * limit)); covpredict "\$@")
: >predicting
exec sleep 60
END
merged='predictions/weed.plant.h5 stats/h5chunk_merge/weed.plant_mqc.json'
# shellcheck disable=SC2086 # a list of words
PATH=$work/slow:$PATH setsid snakemake -s "$SRC/workflows/snakemake/Snakefile" -c2 --nocolor --configfile short.yaml --config shards=2 -- \
    $merged >killed.log 2>&1 &
group=$!
await test -e predicting
kill -s KILL -- "-$group"
wait "$group" 2>/dev/null
rm -rf .snakemake/locks
ok "a shard was killed when $limit kB of its chunks were finished" test -s "$(find shards -name '*.resume' | head -n 1)"
# shellcheck disable=SC2086 # a list of words
smk --configfile short.yaml --config shards=2 -- $merged
status_is 0 '  it resumes' || diag "$(cat logs/h5chunk_merge/*; tail -n 20 "$stderr")"
fasta2h5 -q --subsequence-length 976 --species weed -o hand.h5 weed.fa
covpredict -q -m plant.ckpt --stats hand.json -o hand.plant.h5 hand.h5
ok '  with statistics of the whole genome' "$PYTHON" -c '
import glob, json
whole, merged = (json.load(open(name)) for name in ("hand.json", "stats/h5chunk_merge/weed.plant_mqc.json"))
shards = [json.load(open(name)) for name in glob.glob("stats/covpredict/*of2_mqc.json")]
assert sum("all_runs" in s for s in shards) >= 1, shards
for key in ("bases", "chunks"):
    assert merged["shards"][key] == merged["data"]["weed.plant"][key] == sum(s[key] for s in shards) == whole[key], key'
cd .. || exit 99

# Options of the configuration, names that look like options or commands, and an assay that the name of the dataset does not tell.
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
smk --config samples=sheet.tsv window_size=50 precision=fp32 overlap=4000 -- tracks metrics
status_is 0 'files whose names look like options or commands are files' || diag "$(tail -n 20 "$stderr")"
is "$(find tracks -name '*.bw' | sort)" "tracks/d.1.p/d.1.p_atacseq_avg_strand_ws=50.bw
tracks/d.1.p/d.1.p_h3k4me3_avg_strand_ws=50.bw
tracks/d.1.p_2/d.1.p_2_atacseq_avg_strand_ws=50.bw
tracks/d.1.p_2/d.1.p_2_h3k4me3_avg_strand_ws=50.bw" '  tracks are smoothed'
covpredict -q -m -plant.ckpt --species d.1 --precision fp32 --overlap 4000 -o d.1.p.h5 -- "$odd"
cov2bigwig -q --measured ../unshifted.atacseq.h5 --datasets atacseq -o hand.tsv d.1.p.h5
ok '  the overlap is used, and the assay decides, not the name of the dataset' cmp hand.tsv metrics/d.1.p.atacseq.compare.tsv
smk --config samples=sheet.tsv window_size=50 precision=fp32 overlap=4000 -- tracks metrics
stderr_like 'Nothing to be done' '  nothing is repeated'
printf 'd.1\t%s\t-plant.ckpt\tp_2\t--version\tother\tatacseq\n' "$odd" >>sheet.tsv
smk --config samples=sheet.tsv window_size=50 precision=fp32 overlap=4000 -n -- tracks metrics
is "$(cat "$tap_dir"/std* | grep -o 'rule [a-z0-9_]*:' | sort -u | tr -d '\n')" 'rule bam2h5:rule cov2bigwig_compare:rule covprofile_correlate:rule metrics:' \
    '  but a first dataset of a model is compared'
cd ..

# Paths are relative to the sheet, unless they are absolute or URLs; tracks are not shifted, but reads next to them are.
mkdir -p other
cp weed.fa plant.ckpt other
: >other/a.bigWig
: >other/b.bam
cat >other/sheet.csv <<EOT
sample,fasta,dataset,assay,bams,model,checkpoint
weed,weed.fa,atacseq,atacseq,a.bigWig,plant,plant.ckpt
weed,weed.fa,dnase,atacseq,https://example.org/c.bam;a.bigWig;b.bam,plant,plant.ckpt
weed,weed.fa,h3k4me3,,$work/other/b.bam,plant,plant.ckpt
EOT
smk -n -p -F --config samples=other/sheet.csv -- metrics
commands=$(grep -o 'bam2h5 -f.*2>' "$stderr" | sed 's/.*_mqc.json//; s/  */ /g' | sort)
is "$commands" " --shift -o measured/weed.dnase.h5 -- genomes/weed.h5 other/a.bigWig other/b.bam https://example.org/c.bam 2>
 -o measured/weed.atacseq.h5 -- genomes/weed.h5 other/a.bigWig 2>
 -o measured/weed.h3k4me3.h5 -- genomes/weed.h5 $work/other/b.bam 2>" 'paths are relative to the sheet; tracks are not shifted'

# Sheets of spreadsheets and editors are read like the plain one.
printf '%s\n' 'sample,fasta,dataset,assay,bams,model,checkpoint' '# x' 'weed,weed.fa,,,,plant,plant.ckpt' 'moss,weed.fa,,,,plant,plant.ckpt' >plain.csv
sed 's/$/\r/' plain.csv >crlf.csv
{ printf '\357\273\277' && cat plain.csv; } >mark.csv
head -c -1 plain.csv >last.csv
sed 's/$/ \t/; s/,/ , /' plain.csv >blanks.csv
sed 's/$/\n,,,,,,\n \t/' plain.csv >lines.csv
tr , '\t' <plain.csv >tabs.tsv
for sheet in plain.csv crlf.csv mark.csv last.csv blanks.csv lines.csv tabs.tsv; do
    smk -n -p -F --config samples=$sheet -- genomes/weed.h5 genomes/moss.h5
    is "$status $(grep -o 'fasta2h5 -f.*2>' "$stderr" | sort | tr -d '\n')" "0 $(grep -o 'fasta2h5 -f.*2>' "$stderr" | sort >$sheet.jobs; tr -d '\n' <plain.csv.jobs)" \
        "the sheet $sheet"
done
is "$(grep -c . plain.csv.jobs)" 2 '  each of two samples'

# Wrong sheets and configurations: one message, without a traceback or the configuration.
complains() { # REGEX NAME OPTION...
    regex=$1 name=$2
    shift 2
    smk -n "$@"
    # Snakemake 9 announces the workflow's profile, without a newline before.
    sed '/^Config file/d; s/Using workflow specific profile.*//; /^$/d' "$stderr" >message
    like "$status $(tr '\n' '|' <message)" "^1 WorkflowError:\\|$regex\\|\$" "$name"
}
refuses() { # REGEX NAME ROW...: after the usual columns
    regex=$1 name=$2
    shift 2
    printf '%b\n' 'sample,fasta,dataset,assay,bams,model,checkpoint' "$@" >bad.csv
    complains "$regex" "$name" --config samples=bad.csv
}
refuses "bad\\.csv:3: invalid sample 'weed.n'; .*" 'a name that ends in a newline' '"weed\n",weed.fa,,,,plant,plant.ckpt'
refuses "bad\\.csv:2: invalid sample '-weed'; .*" 'a name that begins with -' '-weed,weed.fa,,,,plant,plant.ckpt'
refuses "bad\\.csv:2: weed: invalid model 'a.b'; .*" 'a model with a dot' 'weed,weed.fa,,,,a.b,plant.ckpt'
refuses "bad\\.csv:3: weed: invalid assay 'rnaseq'; use atacseq, chipseq or other" 'an unknown assay' '# x' \
    'weed,weed.fa,atacseq,rnaseq,a.bam,plant,plant.ckpt'
refuses 'bad\.csv:2: weed: missing assay; .*' 'a dataset whose name does not tell the assay' 'weed,weed.fa,dnase,,a.bam,plant,plant.ckpt'
refuses 'bad\.csv:2: weed: missing bams; .*' 'a dataset without files' 'weed,weed.fa,atacseq,,,plant,plant.ckpt'
refuses 'bad\.csv:2: weed: missing checkpoint; .*' 'a short row' 'weed,weed.fa,,,,plant'
# shellcheck disable=SC2016 # a name, not a variable
for path in '{w}.fa' '$HOME.fa' 'a*.fa' 'a?.fa' 'a[1].fa'; do
    refuses 'bad\.csv:2: weed: invalid fasta .*, without \$ \* \? \[ \] \{ \}' "the path $path" "weed,$path,,,,plant,plant.ckpt"
done
refuses "bad\.csv:2: weed: invalid checkpoint .a;b,c\.ckpt.; .* and comma" 'a comma in the path of a checkpoint' 'weed,weed.fa,,,,plant,"a;b,c.ckpt"'
refuses "bad\.csv:2: weed: invalid dataset 'measured'; .*, but not measured, .*" 'a dataset called measured' 'weed,weed.fa,measured,other,weed_atacseq.sam,plant,plant.ckpt'
refuses 'bad\.csv:3: weed: bams none\.bam: no such file' 'a missing file' 'moss,weed.fa,,,,plant,plant.ckpt' 'weed,weed.fa,dnase,other,weed_atacseq.sam;none.bam,plant,plant.ckpt'
refuses 'bad\.csv:2: 8 cells in 7 columns' 'a long row' 'weed,weed.fa,,,,plant,plant.ckpt,x'
refuses 'bad\.csv:3: weed: the checkpoint of plant is b\.ckpt, but a\.ckpt in an earlier row' 'two checkpoints of a model' \
    'moss,moss.fa,,,,plant,a.ckpt' 'weed,weed.fa,,,,plant,b.ckpt'
refuses 'bad\.csv:3: weed: the fasta of weed is b\.fa, but a\.fa in an earlier row' 'two genomes of a sample' \
    'weed,a.fa,,,,plant,a.ckpt' 'weed,b.fa,,,,other,b.ckpt'
refuses 'bad\.csv:3: weed: the assay of atacseq is other, but atacseq in an earlier row' 'two assays of a dataset' \
    'weed,a.fa,atacseq,,a.bam,plant,a.ckpt' 'weed,a.fa,atacseq,other,a.bam,b,b.ckpt'
refuses 'bad\.csv:3: weed: the list of bams of atacseq is b\.bam, but a\.bam;b\.bam in an earlier row; write replicates in one row, .*' \
    'two lists of files' \
    'weed,a.fa,atacseq,,a.bam;b.bam,plant,a.ckpt' 'weed,a.fa,atacseq,,b.bam,b,b.ckpt'
refuses 'bad\.csv: no samples' 'an empty sheet'
printf '%s\n' 'sample,fasta,model,checkpoint,region' 'weed,a.fa,plant,a.ckpt,chr1;x' >bad.csv
complains "bad\\.csv:2: weed: invalid region 'chr1;x'; use letters, digits and \\. _ \\+ - :" 'a wrong region' --config samples=bad.csv
printf '%s\n' 'sample,fasta,dataset,assay,bams,model,checkpoint,genes' 'weed,a.fa,,,,plant,a.ckpt,a.gff3' 'weed,a.fa,,,,b,b.ckpt,' \
    'weed,a.fa,,,,c,c.ckpt,b.gff3' >bad.csv
complains 'bad\.csv:4: weed: the annotation of weed is b\.gff3, but a\.gff3 in an earlier row' 'two annotations of a sample' --config samples=bad.csv
printf '%s\n' 'sample,fasta,model,checkpoint,variants,explain' 'weed,a.fa,plant,a.ckpt,a.vcf,a.bed' 'weed,a.fa,b,b.ckpt,b.vcf,' >bad.csv
complains 'bad\.csv:3: weed: the file of variants of weed is b\.vcf, but a\.vcf in an earlier row' 'two files of variants of a sample' --config samples=bad.csv
printf '%s\n' 'sample,fasta,model,checkpoint,explain' 'weed,a.fa,plant,a.ckpt,a.bed' 'weed,a.fa,b,b.ckpt,b.bed' >bad.csv
complains 'bad\.csv:3: weed: the file of regions to explain of weed is b\.bed, but a\.bed in an earlier row' '  and of regions to explain' --config samples=bad.csv
complains "configuration: bases: method: 'deeplift' is not one of .*" 'an unknown way to explain bases' --config samples=bad.csv 'bases={"method": "deeplift"}'
echo 'sample,fasta,bam,model,checkpoint' >bad.csv
complains "bad\\.csv: unknown column 'bam'; the columns are sample,.*" 'an unknown column' --config samples=bad.csv
echo 'sample,fasta,model' >bad.csv
complains 'bad\.csv: missing column checkpoint' 'a missing column' --config samples=bad.csv
complains 'none\.csv: No such file or directory' 'a missing sheet' --config samples=none.csv
complains "configuration: .*'shard' was unexpected.*" 'an unknown key of the configuration' --config shard=4
complains "configuration: precision: 'fp8' is not one of .*" 'a wrong value' --config precision=fp8
complains "configuration: peak_cutoffs: 'atacseq' does not match .*" 'a dataset without a cutoff' --config peak_cutoffs=atacseq
complains 'configuration: peak_cutoffs has no effect unless peaks is true' 'cutoffs without peaks' --config peak_cutoffs=a=5
complains 'configuration: measured_cutoffs has no effect unless peaks is true' '  nor of measured peaks' \
    --config peaks=false measured_cutoffs=a=5
complains 'configuration: measured_cutoffs: repeated dataset a' 'two cutoffs of a dataset' \
    --config peaks=true measured_cutoffs=a=1,a=2
complains 'configuration: peak_cutoffs: a=5:5: the second cutoff must be less than the first' 'a weaker cutoff that is not' \
    --config peaks=true peak_cutoffs=a=5:5
printf '%s\n' 'training: {"x\n": {data: d, options: ""}}' >name.yaml
complains "configuration: training: 'x.n' does not match .*" 'a name of a training that ends in a newline' --configfile name.yaml

# A dataset that the model does not predict, and a checkpoint that is none.
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
sed -i 's/ATAC-seq/atacseq/' samples.csv
smk -- checkpoints/plant.checked
status_is 0 '  a better sheet is accepted'
sed -i 's/atacseq,/ATAC-seq,/' samples.csv
complains 'samples\.csv:2: weed: unknown dataset ATAC-seq; .*' '  a worse one is not, from now on before any job' -- metrics
sed -i 's/ATAC-seq,/atacseq,/' samples.csv
sed -i 's/plant,.*/genome,..\/weed.h5/' samples.csv
smk -- metrics
stderr_like '^\.\./weed\.h5: not a model of Predmoter or covtrain$' 'a file that is not a checkpoint'
printf '%s\n' sample,fasta,model,checkpoint weed,../weed.fa,plant,../plant.ckpt >samples.csv
smk -n -- peaks
is "$status" 1 'the target peaks without the configuration'
stderr_like 'the target peaks needs the configuration peaks: true' '  the message'
smk --config peaks=true peak_cutoffs=dnase=5 -- peaks
is "$status" 1 'a cutoff of a dataset that no model predicts'
stderr_like 'configuration: unknown dataset dnase has a cutoff for peaks; no model predicts it' '  the message'
ok '  before a genome is encoded' test ! -e genomes
sed -i 's/weed\.fa/samples.csv/' samples.csv
smk -- genomes/weed.h5
is "$status" 1 'a step that fails'
stderr_like '^ *fasta2h5: error: \.\./samples\.csv: not a FASTA file' '  its message is printed'
cd ..

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
    for line in 'small' 'a b	--clip 1' 'small	--clip 1\nsmall	--clip 2'; do
        printf '%b\n' "$line" >sweep.tsv
        complains 'sweep\.tsv:[12]: (write a name .*, a tab, and options of covtrain|repeated name small)' "a line '$line'" --configfile loo.yaml -- trainings
    done
    cd ..
fi

# Training a network, in another directory, with a sheet elsewhere.
if "$PYTHON" -c 'import h5py, numpy' 2>/dev/null; then
    mkdir -p trains/data/train trains/data/val && cd trains || exit 99
    "$PYTHON" "$SRC/tests/oracle/training_data.py" data/train/a.h5 1 && "$PYTHON" "$SRC/tests/oracle/training_data.py" data/val/v.h5 2
    printf '%s\n' sample,fasta,model,checkpoint x,x.fa,tiny,trained/tiny.ckpt >../trains.csv
    printf '>x\nACGT\n' >../x.fa
    cat >train.yaml <<'EOT'
samples: ../trains.csv
training:
  tiny: {data: data, options: "--filter-size 4 --hidden-size 4 -b 8 -e 2 --seed 1"}
EOT
    smk --configfile train.yaml -- trained/tiny.ckpt
    status_is 0 'a network is trained' || diag "$(tail -n 20 "$stderr")"
    ok '  and covpredict can use it' covpredict -q -m trained/tiny.ckpt --evaluate data/val/v.h5
    cp trained/tiny.ckpt before.ckpt
    sed -i 's/--seed 1/--seed 2/' train.yaml
    smk --configfile train.yaml -- trained/tiny.ckpt
    is "$(cmp -s trained/tiny.ckpt before.ckpt; echo $?)" 1 '  and again after its options change'
    rm ../x.fa
    complains '\.\./trains\.csv:2: x: fasta x\.fa: no such file' '  a missing genome' --configfile train.yaml -- trained/tiny.ckpt
fi
done_testing
