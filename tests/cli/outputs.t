#!/bin/sh
# Outputs that something else touches: a second run to the same output, files that killed runs left, links that another
# user of the directory planted, and signals at any moment.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
# shellcheck source=tests/lib/signals.sh
. "$SRC/tests/lib/signals.sh"

make_ckpt bi-hybrid m.ckpt || exit 99
awk "$random"'BEGIN { seed(3); print ">a"; letters(90000, "ACGT"); print "" }' >g.fa
fasta2h5 -q -o g.h5 g.fa
covpredict -q -m m.ckpt -o p.h5 g.h5
cp g.h5 b.h5
{
    printf '@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:a\tLN:90000\n'
    awk 'BEGIN { for (i = 1; i < 80000; i++) printf "r%d\t0\ta\t%d\t60\t4M\t*\t0\t0\tACGT\tIIII\n", i, i }'
} >r.sam
sam_convert r.sam r.bam || exit 99
echo a >names
find . -type f | sort >../before

# ---- names that belong to other kinds of files
# Each line: the option, the accepted suffix if it is a known one, and a run that would write x.SUFFIX.
echo 'a	100	200	gene	0	+' >genes.bed
echo 'a	100	104' >one.bed
printf 'file\tpearson\na\t0.5\n' >scores.tsv
printf '##fileformat=VCFv4.3\n##contig=<ID=a>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\na\t9\t.\tN\tA\t.\t.\t.\n' >v.vcf
cat >../named <<'END'
output .h5 fasta2h5 -f -o x g.fa
stats - fasta2h5 -f -o o.h5 --stats x g.fa
output .h5 bam2h5 -f -p atacseq -o x g.h5 r.bam
output .h5 covpredict -f -m m.ckpt -o x g.h5
output .h5 covpredict -f -m m.ckpt --resume -o x g.h5
output - covpredict -f -m m.ckpt --evaluate -o x b.h5
stats - covpredict -f -m m.ckpt -o o.h5 --stats x g.h5
output .bw cov2bigwig -f --datasets atacseq -o x p.h5
output - cov2bigwig -f --measured p.h5 --datasets atacseq -o x p.h5
output - covpeaks call -f -c 1 --datasets atacseq -o x p.h5
output - covpeaks curve -f --measured p.h5 --datasets atacseq -o x p.h5
plot - covpeaks curve -f --measured p.h5 --datasets atacseq --plot x p.h5
output - covpeaks compare -f --genome g.h5 -o x genes.bed genes.bed
output - covpeaks stats -f -o x genes.bed
stats - covpeaks compare -f --genome g.h5 --stats x genes.bed genes.bed
stats - covpeaks stats -f --stats x genes.bed
output - covprofile genes -f --genes genes.bed --datasets atacseq -o x p.h5
matrix - covprofile genes -f --genes genes.bed --datasets atacseq --matrix x p.h5
plot - covprofile genes -f --genes genes.bed --datasets atacseq --plot x p.h5
output - covprofile table -f --genes genes.bed --datasets atacseq -o x p.h5
output - covprofile region -f -r a --datasets atacseq -o x p.h5
plot - covprofile region -f -r a --datasets atacseq --plot x p.h5
output - covprofile correlate -f -o x p.h5
plot - covprofile correlate -f --plot x p.h5
output - covprofile heatmap -f -o x scores.tsv
plot - covprofile heatmap -f --plot x scores.tsv
output - covprofile fingerprint -f --datasets atacseq -o x p.h5
plot - covprofile fingerprint -f --datasets atacseq --plot x p.h5
output - covprofile coverage -f --datasets atacseq -o x p.h5
curves - covprofile coverage -f --datasets atacseq --curves x p.h5
plot - covprofile coverage -f --datasets atacseq --plot x p.h5
output - coveffect ism -f -m m.ckpt -g g.fa --window 48 --dataset atacseq -R one.bed -o x
plot - coveffect ism -f -m m.ckpt -g g.fa --window 48 --dataset atacseq -R one.bed -o o --plot x
output - coveffect gradients -f -m m.ckpt -g g.fa --window 48 --dataset atacseq -R one.bed -o x
plot - coveffect gradients -f -m m.ckpt -g g.fa --window 48 --dataset atacseq -R one.bed -o o --plot x
output .vcf coveffect vcf -f -m m.ckpt -g g.fa -o x v.vcf
stats - h5chunk info -f --stats x g.h5
plot - h5chunk info -f --sequences --plot x g.h5
output .h5 h5chunk repack -f -o x g.h5
output .h5 h5chunk subset -f -r a:1-60000 -o x g.h5
output .h5 h5chunk merge -f -o x g.h5
output - h5chunk cat -f -o x g.h5
output .h5 h5chunk save -f -o x g.stream
output .h5 h5chunk blacklist -f --names names -o x g.h5
list - h5chunk blacklist -f --names names -o o.h5 --list x g.h5
output .h5 h5chunk drop -f --datasets atacseq -o x p.h5
output .h5 h5chunk rename -f --datasets atacseq=rnaseq -o x p.h5
output .fa benchmark synth -f --size 1k --contigs 1 -o x
output - benchmark compare -f -o x s.json s.json
END
h5chunk cat -o g.stream g.h5
find . -type f | sort >../before
while read -r option own line; do
    refusals='' wanted=''
    for suffix in .fa .fna.gz .FASTQ.gz .bam .cram .sam .bw .bigWig .h5 .hdf5 .ckpt .gff3.gz .gtf .vcf.gz; do
        case $own$suffix in .h5.h*5 | .bw.bw | .bw.bigWig | .fa.f*a* | .sam.sam | .vcf.vcf.gz) continue ;; esac
        echo precious >x$suffix
        # shellcheck disable=SC2086,SC2046 # a list of words
        run $(echo "$line" | sed "s/ x\>/ x$suffix/")
        refusals="$refusals $suffix:$status:$(grep -acx precious x$suffix)"
        wanted="$wanted $suffix:2:1"
        rm x$suffix
    done
    is "$refusals" "$wanted" "$line (--$option): other kinds of files are kept"
    is "$(find . -type f | sort | diff ../before -)" '' '  and nothing is written'
done <../named
rm genes.bed one.bed g.stream
find . -type f | sort >../before

# The list has every output; covtrain, h5chunk split and the other subcommands of benchmark choose the names of files.
for tool in fasta2h5 bam2h5 covpredict cov2bigwig covpeaks covprofile coveffect h5chunk benchmark; do
    case $tool in covp[er]* | coveffect | h5chunk | benchmark) subcommands=$($tool --help-machine | awk -F '\t' 'NF == 2 { print $1 }') ;; *) subcommands= ;; esac
    for subcommand in ${subcommands:-''}; do
        # shellcheck disable=SC2086 # nothing if there are no subcommands
        $tool ${subcommand#\'\'} --help-machine | awk -F '\t' -v tool="$tool ${subcommand#\'\'}" '$7 == "out" && $1 != "stats" { print $1, tool }'
    done
done | sed 's/ *$//' | grep -vE ' (h5chunk split|benchmark (stages|pipeline|loader|encode|model|report))$' | sort >../outputs
while read -r option own tool subcommand line; do
    case $tool in covpeaks | covprofile | coveffect | h5chunk | benchmark) ;; *) subcommand= ;; esac
    echo "$option $tool $subcommand"
done <../named | sed 's/ $//' | grep -v '^stats' | sort -u >../listed
is "$(diff ../listed ../outputs)" '' 'all outputs of all tools'

# ---- another run, and the file of a killed run
while read -r out hidden line; do
    : >../waits
    "$TESTLIB/toy_tool" -f -a wait -o "$out" names 2>../waits &
    await grep -q waiting ../waits
    # shellcheck disable=SC2086 # a list of words
    run_refused 1 "^[a-z0-9]*: error: $out: another run is writing it\$" "$line: another run writes $out" $line
    is "$(find . -type f | sort | diff ../before - | grep -c '^[<>]')" 1 '  and its temporary file stays'
    kill -s KILL $!
    wait $! 2>/dev/null
    like "$(find . -name '.*.tmp*')" "^\./$hidden\$" '  also when that run is killed'
    # shellcheck disable=SC2086 # a list of words
    run_ok '  but the next run writes the output' $line
    is "$(find . -name '.*.tmp*')" '' '  and removes the temporary file'
    find . -type f | sort | diff ../before - | sed -n 's/^> //p' | xargs -r rm
done <<'END'
o.h5 .o.covtools.tmp.h5 fasta2h5 -q -o o.h5 g.fa
o.st .o.covtools.tmp.st h5chunk cat -q -o o.st g.h5
o.h5 .o.covtools.tmp.h5 h5chunk repack -q --compression none -o o.h5 g.h5
o.h5 .o.covtools.tmp.h5 h5chunk subset -q -r a:1-60000 -o o.h5 g.h5
o.2.h5 .o.2.covtools.tmp.h5 h5chunk split -q --shards 2 -o o g.h5
o.h5 .o.covtools.tmp.h5 h5chunk merge -q -o o.h5 g.h5
b.h5 .b.covtools.tmp.h5 h5chunk blacklist -q --names names b.h5
o.h5 .o.covtools.tmp.h5 covpredict -q -m m.ckpt -o o.h5 g.h5
o.h5 .o.covtools.tmp.h5 covpredict -q -m m.ckpt --resume -o o.h5 g.h5
o.bw .o.covtools.tmp.bw cov2bigwig -q --datasets atacseq -o o.bw p.h5
o.bg .o.covtools.tmp.bg cov2bigwig -q --datasets atacseq -o o.bg p.h5
o.narrowPeak .o.covtools.tmp.narrowPeak covpeaks call -q -c 1 --datasets atacseq -o o.narrowPeak p.h5
o.tsv .o.covtools.tmp.tsv coveffect vcf -q -m m.ckpt -g g.fa -o o.tsv v.vcf
o.bcf .o.covtools.tmp.bcf coveffect vcf -q -m m.ckpt -g g.fa -o o.bcf v.vcf
o.bg.gz .o.covtools.tmp.bg.gz cov2bigwig -q --datasets atacseq -o o.bg.gz p.h5
o.bg.gz.tbi .o.bg.gz.covtools.tmp.tbi cov2bigwig -q --datasets atacseq -o o.bg.gz p.h5
o.h5 .o.covtools.tmp.h5 bam2h5 -q -p x -o o.h5 g.h5 r.bam
b.h5 .b.covtools.tmp.h5 bam2h5 -q -p x b.h5 r.bam
END

# A run with --resume holds its output, too.
benchmark synth -q --size 200k -o ../long.fa
covpredict -q --cpu scalar -m "$SRC/workflows/demo/plant.ckpt" --resume -o o.h5 ../long.fa &
await test -e .o.covtools.tmp.h5
kill -s STOP $!
run covpredict -f -m "$SRC/workflows/demo/plant.ckpt" -o o.h5 ../long.fa
refused 1 '^covpredict: error: o\.h5: another run is writing it$' 'a run without --resume fails while one with it runs'
kill -s KILL $!
wait $! 2>/dev/null
rm o.h5.resume .o.covtools.tmp.h5

# Runs that start at about the same moment: the output is whole.
for _ in 1 2 3; do
    for i in 1 2 3; do
        fasta2h5 -q -f -o o.h5 g.fa 2>../run$i &
    done
    wait
    h5chunk verify o.h5 2>&1
    cat ../run1 ../run2 ../run3
    rm o.h5
done >../together
is "$(grep -v -x 'fasta2h5: error: o\.h5: another run is writing it' ../together)" '' \
    'runs at once: one writes, the others are refused or replace its output'

# ---- links
echo untouched >victim
ln -s victim o.h5.resume
run covpredict -q -m m.ckpt --resume -o o.h5 g.h5
refused 1 '^covpredict: error: o\.h5\.resume: is a symbolic link, not a journal; remove it$' 'a link in place of a journal'
rm o.h5.resume
ln -s victim .o.covtools.tmp.h5
run fasta2h5 -q -o o.h5 g.fa
refused 1 '^fasta2h5: error: o\.h5: temporary file \./\.o\.covtools\.tmp\.h5 of another run: ' 'a link in place of a temporary file'
rm .o.covtools.tmp.h5
cov2bigwig -q --datasets atacseq -o o.bg.gz p.h5
rm o.bg.gz.tbi
ln -s victim o.bg.gz.tbi
run_refused 1 'already exists' 'a link in place of an index' cov2bigwig -q --datasets atacseq -o o.bg.gz p.h5
run_ok '  is replaced by the index with -f' cov2bigwig -q -f --datasets atacseq -o o.bg.gz p.h5
[ ! -L o.bg.gz.tbi ] || fail '  the link remains'
for name in metrics.log metrics.jsonl runs.jsonl last.ckpt; do
    mkdir -p t
    ln -s ../victim t/$name
done
bam2h5 -q -p atacseq --shift b.h5 r.bam
h5chunk split -q --by chunk --val-fraction 0.5 --seed 1 -o d/ b.h5
run_ok 'links in place of the files of a training' covtrain -q -f -i d -o t -e 1 --cnn-layers 1 --filter-size 2 --datasets atacseq
is "$(find t -type l)" '' '  are replaced'
is "$(cat victim)" untouched 'no link is followed'
find . -type f | sort | diff ../before - | sed -n 's/^> //p' | xargs -r rm
rm -r d t/
cp g.h5 b.h5

# ---- outputs without -o: messages after a signal
mkfifo pipe
for line in 'fasta2h5 -o - pipe|the output is incomplete' 'bam2h5 -p x b.h5 pipe|nothing was written'; do
    # shellcheck disable=SC2086 # a list of words
    start ${line%|*} >/dev/null
    exec 7>pipe
    case $line in bam2h5*) await found . -name '.b.*tmp*' ;; esac
    ends_by TERM:143 "${line%|*}"
    is "$(tail -n 1 "$stderr")" "${line%% *}: stopped by SIGTERM; ${line#*|}" '  reports what became of the output'
    exec 7>&-
done
rm pipe

# ---- signals while htslib's threads run
bgzip -c g.fa >g.fa.gz
awk 'BEGIN { for (i = 0; i < 400000; i++) print "a\t" i "\t" i + 1 "\t" i % 7 }' >many.bg
echo 'a	400000' >sizes
find . -type f | sort >../before
for line in 'bam2h5 -q -@ 2 -p x -o o.h5 g.h5 r.bam' 'fasta2h5 -q -@ 2 -o o.h5 g.fa.gz' \
    'cov2bigwig -q -@ 2 --chrom-sizes sizes -o o.bg.gz many.bg'; do
    for kill in $(seq "${COV_KILLS:-10}"); do
        # shellcheck disable=SC2086 # a list of words
        start $line
        sleep "$(printf '0.%04d' $((kill * 1000 / ${COV_KILLS:-10})))" # up to 0.1 s
        kill -s TERM "$pid" 2>/dev/null
        wait "$pid"
        rm -f o.* # it may have finished
        find . -type f | sort | diff ../before -
    done >../left
    is "$(cat ../left)" '' "$line: SIGTERM at any moment leaves nothing"
done

# ---- a table replaces no file of another kind, by its name or by what is in it
printf 'chr1\t0\t10\n' >peaks.bed
for name in table.bed table.json table.bed.gz; do
    echo old >$name
    run covpeaks stats -f -o $name peaks.bed
    refused 2 "^covpeaks: error: $name: the output is a table, but \\.(bed|json|gz) is another kind; use \\.tsv\$" "a table called $name"
    is "$(cat $name)" old '  keeps the old one'
done
printf '>a\nACGT\n' >genome
cp peaks.bed regions
cp genome before
run fasta2h5 -q -f -o genome g.fa
refused 1 '^fasta2h5: error: genome: is a FASTA file, which an HDF5 file does not replace; choose another name$' 'a genome file does not replace a FASTA without suffix'
for name in genome regions; do
    run covpeaks stats -f -o $name peaks.bed
    refused 1 "^covpeaks: error: $name: is a (FASTA|BED) file, which a table does not replace; choose another name\$" "a table does not replace $name"
done
ok '  which stays' cmp genome before
covpeaks stats -o stats peaks.bed && run covpeaks stats -f -o stats peaks.bed
status_is 0 'a table replaces a table'

done_testing
