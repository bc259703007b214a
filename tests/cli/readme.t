#!/bin/sh
# Runs every command of README.md and then of covtools-cookbook(7), in order, in a directory that has only what they say the reader
# has: the repository, a genome, a model, reads, variants, regions and an annotation; then the tutorial of covtools(7), with the
# samples that README.md makes. Programs that install, build or need other machines are replaced by checks of their arguments.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

need_program gnuplot gzip
need_python h5py numpy
for name in Makefile mk README.md workflows containers man; do
    ln -s "$SRC/$name" . || exit 99
done
ln -s "$BIN" bin
"$TESTLIB/../../demo/make_plant" . 60000 || exit 99
gzip -cn genome.fa >genome.fa.gz
sed '$d' atacseq.sam >rep2.sam # not the same reads
sam_convert atacseq.sam rep1.bam && sam_convert rep2.sam rep2.bam && sam_convert h3k4me3.sam chip.bam &&
    cp "$SRC/workflows/demo/plant.ckpt" model.ckpt && cp model.ckpt Combined_02_predmoter_v0.3.2.ckpt || exit 99
awk -F'\t' -v OFS='\t' '$4 == "gene" { print $1, "made", $4, $2 + 1, $3, ".", $6, ".", "ID=gene" NR }' features.bed >genes.gff3
{
    printf '##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
    awk '/^>/ { name = substr($1, 2); next } { printf "%s\t1\t.\t%s\tN\t.\t.\t.\n", name, substr($1, 1, 1); exit }' genome.fa
} | gzip >variants.vcf.gz
awk -F'\t' -v OFS='\t' '$4 == "gene" { print $1, $2 + 100, $2 + 600; exit }' features.bed >peaks.bed
rm genome.fa features.bed ./*.sam

stubs=$tap_dir/stubs
mkdir "$stubs"
stub() { # NAME: a program made of standard input
    { echo '#!/bin/sh' && cat; } >"$stubs/$1"
    chmod +x "$stubs/$1"
}
stub sudo <<'END'
exec "$@"
END
stub make <<'END'
for word; do
    case $word in
    *=*) continue ;;
    samples) workflows/demo/samples.sh "$TESTLIB/../../demo/make_plant" build/samples 60000 || exit 1 ;;
    esac
    grep -q "^$word:.*##" Makefile mk/*.mk || { echo "make: no target $word" >&2; exit 2; }
done
END
stub docker <<'END'
[ "$1 $2 $4 $6" = 'build -f -t .' ] && [ -f "$3" ]
END
command -v multiqc >/dev/null || stub multiqc <<'END'
[ "$1" = --fullnames ] && [ -s "$2/cress.covpredict_mqc.json" ] && [ -s "$2/cress.covpeaks_mqc.json" ]
END
stub modisco <<'END'
[ "$1 $2 $4 $6 $8 ${10}" = 'motifs -s -a -n -w -o' ] && [ -s "$3" ] && [ -s "$5" ]
END
stub apptainer <<'END'
[ "$1" = build ] && [ -f "$3" ]
END

# The commands, one per line: blocks of code without comments, and lines that continue joined. They run in this shell, because
# some change its state. To save minutes, few epochs are trained, a small network is measured, and few bases are changed.
top=$PWD
{
    awk '/^```/ { inside = !inside; next } inside { sub(/ +# .*/, ""); print }' README.md
    # shellcheck disable=SC2016 # for the shell that reads it
    printf 'cd "$top" && rm -r predictions.h5 genome.h5 tracks data model\n'
    sed -n '/^\.EX/,/^\.EE/ { /^\.E[XE]/d; s/\\-/-/g; s/\\e$/\\/; p; }' man/covtools-cookbook.7
} | sed ':more; /[|\\]$/ { N; s/\\\{0,1\}\n */ /; b more; }' |
    sed 's/ -e 20$/ -e 1/; s/ -e 40$/ -e 2/; s/ -e 5$/ -e 1/; s/ --length 500 / --length 10 /; s/^benchmark report .*/& -m model.ckpt --fasta genome.fa.gz/' >commands
ok 'README and cookbook have commands' test "$(grep -c . commands)" -gt 40
HOME=$tap_dir NXF_TEMP=$tap_dir # for what the workflows keep there
export HOME NXF_TEMP
while IFS= read -r command <&3; do
    PATH=$stubs:$PATH
    case $command in
    snakemake* | nextflow*)
        command -v "${command%% *}" >/dev/null || { pass "$command # SKIP no ${command%% *}"; continue; }
        ;;
    'covpredict --device cuda'*)
        run sh -c "$command"
        [ "$status" -eq 0 ] || stderr_like 'covpredict: error: .*(CUDA|GPU|plugin)' "$command # needs a GPU"
        continue
        ;;
    esac
    ok "$command" eval "$command"
done 3<commands
cd "$top" || exit 99
ok 'tracks have the name that the README says' test -s tracks/predictions_atacseq_avg_strand.bw
ok 'merged parts equal one run' "$PYTHON" "$SRC/tests/oracle/h5_equal.py" predictions.h5 merged.h5
ok 'so does a run that can be resumed' "$PYTHON" "$SRC/tests/oracle/h5_equal.py" predictions.h5 resumed.h5

cd build/samples || exit 99
sed -n '/^\.SH TUTORIAL/,/^\.SH ENVIRONMENT/ { /^\.EX/,/^\.EE/ { /^\.E[XE]/d; s/\\-/-/g; p; }; }' "$SRC/man/covtools.7" >commands
is "$(grep -c . commands)" 13 'the tutorial has 13 commands'
while read -r command <&3; do
    ok "$command" sh -e -c "$command"
done 3<commands
ok 'its merged parts equal the whole' "$PYTHON" "$SRC/tests/oracle/h5_equal.py" weed_predictions.h5 weed_merged.h5
is "$(head -c 8 weed.png | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a '  the plot is a PNG'
cov2bigwig -q -f --datasets atacseq --measured weed.h5 --peak-cutoff 5 -o weed.tsv --stats cress_mqc.json weed_predictions.h5
ok 'MultiQC gets the figures of its comparison' "$PYTHON" -c '
import csv, json
total, mqc = list(csv.DictReader(open("weed.tsv"), delimiter="\t"))[-1], json.load(open("cress_mqc.json"))
for name in ("spearman_1000", "precision", "recall", "f1"):
    assert abs(mqc["data"]["cress"]["atacseq_" + name] - float(total[name])) < 1e-6, name
    assert mqc["headers"]["atacseq_" + name]["format"] == "{:,.3f}", name'
done_testing
