#!/bin/sh
# The command lines of all tools: exit status 1 or 2, aliases of options, and hints for users of
# samtools, bedtools, deepTools, MACS3 and Predmoter.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"

data=$SRC/tests/data
mkdir empty full && cd full || exit 99
cp "$data/genome.fa" g.fa && cp "$data/genome.h5" g.h5 && cp "$data/coverage.h5" c.h5 && cp "$data/plant.ckpt" m.ckpt || exit 99
cp "$data/plant_predictions.h5" p.h5 && cp "$data/atacseq.bam" r.bam && cp "$data/tracks/x_atacseq_avg_strand.bw" t.bw || exit 99
cp "$data/tracks/x_h3k4me3_avg_strand.bw" u.bw && mkdir -p d/train d/val && cp c.h5 d/train && cp c.h5 d/val || exit 99
printf 'chrA\t100\t600\n' >r.bed
printf 'chrA\t100\t600\nchrA\t2000\t2700\n' >two.bed
printf 'chrA\t100\t600\tp\t5\t.\t4.5\t3\t2\t50\n' >r.narrowPeak
printf '##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nchrA\t1\t.\tT\tA\t.\t.\t.\n' >v.vcf
mkfifo fifo || exit 99

# ---------------------------------------------------------------- exit status

# 2: the command line alone is wrong, so the status is the same where all files are missing; but regions are parsed with the
# names of sequences. 1: a file has to be seen. Each line: the status, the command, the message.
while IFS='|' read -r call message; do
    wanted=${call%% *} call=${call#* }
    for where in full empty; do
        case $wanted$where$call in 1empty* | 2empty*chrA:*) continue ;; esac
        cd "$work/$where" || exit 99
        # shellcheck disable=SC2086 # a list of words
        run_refused "$wanted" ": error: $message" "$wanted, $where: $call" $call </dev/null
    done
done <<'END'
2 fasta2h5 -o o.h5 --min-length x g.fa|--min-length: 'x' is not an integer
2 fasta2h5 -o o.h5 --min-length 5 --max-length 4 g.fa|--min-length 5 is greater than --max-length 4$
2 fasta2h5 -o o.h5 --compression nope g.fa|"nope" is not a compression
2 fasta2h5 -o o.fa g.fa|o\.fa: the output is an HDF5 file, but \.fa is another kind; use \.h5$
2 fasta2h5 -o o/ g.fa|o/: the output is an HDF5 file, but a name that ends in '/' is a directory$
2 fasta2h5 g.fa|-o/--output is missing$
2 fasta2h5 -o o.h5|an input is missing
1 fasta2h5 -o o.h5 missing.fa|missing\.fa: No such file or directory$
1 fasta2h5 -o o.h5 m.ckpt|m\.ckpt: wrong kind of file: a PyTorch checkpoint$
1 fasta2h5 -o g.h5 g.fa|g\.h5: already exists; use -f to replace it$
1 fasta2h5 -o missing/o.h5 g.fa|missing/o\.h5: directory missing does not exist$
2 bam2h5 -p a --append --replace g.h5 r.bam|--append and --replace cannot be used together$
2 bam2h5 -p a --exclude-flags NOPE g.h5 r.bam|--exclude-flags: 'NOPE' is not a flag
2 bam2h5 -p a/b g.h5 r.bam|--prefix a/b: must not contain '/', commas or white space$
2 bam2h5 -p a -o - g.h5 r.bam|-o -: the genome file cannot be written to standard output$
2 bam2h5 -p a g.h5 r.bam r.bam|r\.bam: given twice$
1 bam2h5 -p atacseq c.h5 r.bam|c\.h5: already has coverage of atacseq \(1 column\); use --append or --replace$
1 bam2h5 -p a --shift g.h5 t.bw|--shift applies to reads, but t\.bw is a track$
1 bam2h5 -p a g.h5 g.fa|g\.fa: neither reads \(BAM, CRAM, SAM, BED\) nor a track \(bigWig, bedGraph\), but a FASTA file$
2 bam2h5 -p a --min-fragment 9 --max-fragment 8 g.h5 r.bam|--min-fragment 9 is greater than --max-fragment 8$
2 covtrain -i d -o o --dropout 2|--dropout: 2 is out of range \(0 to 0\.999999\)$
2 covtrain -i d -o o --resume-training m.ckpt --init-from m.ckpt|--resume-training and --init-from contradict each other$
2 covtrain -i d -o o --datasets a,a|--datasets: duplicate a$
2 covtrain -i d -o o --datasets a --loss-weights 1,2|--loss-weights: 2 weights for 1 datasets$
2 covtrain -i d -o o --cpu scalar|--cpu: scalar only predicts
2 covtrain -i d -o o --device nope|--device: unknown device 'nope'; use auto, cpu, cuda or cuda:0,1,\.\.\.$
2 covtrain -i d -o -|-o: the output is a directory, not standard output$
1 covtrain -i d -o o --datasets nope|d/train: no file has the dataset nope
1 covtrain -i d -o o --loss-weights 1,2|--loss-weights: 2 weights for 1 datasets$
1 covtrain -i d -o o --init-from m.ckpt --filter-size 17|--filter-size 17 contradicts m\.ckpt
1 covtrain -i d -o o --datasets atacseq,h3k4me3 --init-from m.ckpt --freeze nope|--freeze: the network has no layer nope
1 covtrain -i d/train -o o|d/train: no directory train/
2 covpredict -m m.ckpt -o o.h5 --overlap x g.h5|--overlap: 'x' is not an integer
2 covpredict -m m.ckpt -o o.h5 --cpu nope g.h5|--cpu: 'nope' is not a level of the CPU
2 covpredict -m m.ckpt -o o.h5 --shard 3/2 g.h5|--shard: 3 is out of range \(1 to 2\)$
2 covpredict -m m.ckpt -o o.h5 -r chrA:5-2 g.h5|g\.h5: region chrA:5-2: ends before it begins$
2 covpredict -m m.ckpt -o o.h5 --ensemble sd g.h5|--ensemble sd: needs at least two checkpoints$
2 covpredict -m m.ckpt -o o.bw g.h5|o\.bw: the output is an HDF5 file, but \.bw is another kind; use \.h5$
2 covpredict -m m.ckpt -o - --resume g.h5|--resume: output to standard output cannot be resumed$
2 covpredict -m m.ckpt --evaluate -|--evaluate: needs a genome file with measured coverage, not standard input$
1 covpredict -m m.ckpt -o o.h5 --overlap 21384 g.h5|--overlap: 21384 must be less than the length of a chunk, 21384$
1 covpredict -m m.ckpt -o o.h5 --subsequence-length 21385 g.fa|subsequence length 21385 is not a multiple of 8 \(step 2 to the power of cnn_layers 3\)
1 covpredict -m m.ckpt -o o.h5 --species x g.h5|--species is for FASTA input, but g\.h5 is a genome file$
1 covpredict -m m.ckpt -o o.h5 -r nope g.h5|g\.h5: region nope: unknown contig nope
1 covpredict -m m.ckpt -o o.h5 -r chrA:50000- g.h5|g\.h5: region chrA:50000-: begins past the end of the contig, which has 43468 bases$
1 covpredict -m m.ckpt,m.ckpt -o o.h5 g.h5|--model: m\.ckpt and m\.ckpt are the same checkpoint$
1 covpredict -m m.ckpt --evaluate g.fa|g\.fa: not an HDF5 file, but a FASTA file$
1 covpredict -m g.h5 -o o.h5 g.h5|g\.h5: not a PyTorch checkpoint: not a zip archive, but an HDF5 file$
2 cov2bigwig -o o.bw --window-size 5 --smooth gauss:3 p.h5|--smooth and --window-size cannot be used together$
2 cov2bigwig -o o.bw --datasets a,a p.h5|--datasets: duplicate a$
2 cov2bigwig -o o.bw --bin-size 1,2 p.h5|--bin-size: 2 sizes for a track; the limit is 1$
2 cov2bigwig -o o.txt p.h5|o\.txt: unknown suffix
2 cov2bigwig -o o.bw --peak-cutoff 3 p.h5|--peak-cutoff needs --measured$
2 cov2bigwig --measured c.h5 --measured-cutoff 3 p.h5|--measured-cutoff needs --peak-cutoff$
2 cov2bigwig --measured c.h5 --bin-size 1,1 p.h5|--bin-size: duplicate 1$
2 cov2bigwig --measured c.h5 --normalize cpm p.h5|--normalize is for tracks; --measured writes a table$
2 cov2bigwig --measured c.h5 -o o.bed p.h5|o\.bed: the output is a table, but \.bed is another kind; use \.tsv$
2 cov2bigwig --normalize cpm -o o.bw -|--normalize reads the input twice
2 cov2bigwig -o o.bw --minus t.bw --mean u.bw t.bw|--minus and --mean cannot be used together$
2 cov2bigwig -o o.bw --log2 t.bw,u.bw t.bw|--log2 takes one file$
2 cov2bigwig -o o.bw --minus u.bw --pseudocount 2 t.bw|--pseudocount needs --log2$
2 cov2bigwig -o o.bw --log2 u.bw --pseudocount 0 t.bw|--pseudocount: 0 is out of range
2 cov2bigwig -o o.bw --mean u.bw,u.bw t.bw|--mean: duplicate u\.bw$
2 cov2bigwig --measured c.h5 --mean u.bw p.h5|--mean is for tracks; --measured writes a table$
1 cov2bigwig -o o.bw --minus ./t.bw t.bw|\./t\.bw: the same file as t\.bw$
1 cov2bigwig -o o.bw --fill-gaps p.h5|--fill-gaps is for bigWig and bedGraph; p\.h5 is neither$
1 cov2bigwig -o o.bw --datasets x --minus u.bw t.bw|--datasets is for predictions and genome files; there is none$
1 cov2bigwig -o o.bw --minus t.bw p.h5|p\.h5: has 2 datasets \(atacseq, h3k4me3\), but t\.bw is a single track; choose one with --datasets$
1 cov2bigwig -o o.bw p.h5|o\.bw: 2 datasets \(atacseq, h3k4me3\) do not fit in one file
1 cov2bigwig -o o.bw --datasets nope p.h5|p\.h5: unknown dataset 'nope'
1 cov2bigwig -o o.bw g.h5|g\.h5: a genome file, not a predictions file$
1 cov2bigwig -o o.bw --strand + t.bw|--strand: t\.bw is a track, which has no strands$
1 cov2bigwig -o o.bw --datasets atacseq -r nope p.h5|p\.h5: region nope: unknown contig nope
1 cov2bigwig -o o.bw --datasets atacseq -r chrA:50000- p.h5|p\.h5: region chrA:50000-: begins past the end of the contig, which has 43468 bases$
1 cov2bigwig -o o.bw --experimental t.bw|--experimental is for genome files; t\.bw is a track$
1 cov2bigwig --measured t.bw p.h5|p\.h5: has 2 datasets
2 covpeaks call -o o.bed p.h5|-c/--cutoff is missing; --auto would find one$
2 covpeaks call -c 5 -o o.txt p.h5|o\.txt: unknown suffix
2 covpeaks call --auto -o o.bed p.h5|--auto needs one of --count, --share and --measured$
2 covpeaks compare r.bed r.bed|needs --genome or --chrom-sizes$
2 covpeaks compare --genome g.h5 --chrom-sizes g.fa.fai r.bed r.bed|--genome and --chrom-sizes cannot be used together$
2 covpeaks curve --measured r.bed --windows 1,1 p.h5|--windows: duplicate 1$
2 covpeaks curve --measured r.bed --windows 1,5 -|standard input: several --windows need a file$
2 covpeaks stats -o o.json r.bed|o\.json: the output is a table, but \.json is another kind; use \.tsv$
1 covpeaks call -c 5 -o o.bed p.h5|p\.h5: 2 datasets \(atacseq, h3k4me3\); choose one with --datasets$
1 covpeaks call -c 5 --datasets nope -o o.bed p.h5|p\.h5: unknown dataset 'nope'
1 covpeaks call --auto --measured c.h5 --measured-cutoff 3 --datasets h3k4me3 -o o.bed p.h5|c\.h5: unknown dataset 'h3k4me3'
1 covpeaks compare --genome g.h5 t.bw r.bed|t\.bw: a track, not peaks; call its peaks with covpeaks call$
1 covpeaks curve --measured r.bed --windows 1,5 fifo|fifo: several --windows need a file$
1 covpeaks curve --measured t.bw u.bw|t\.bw: a track needs --measured-cutoff$
2 covprofile genes --genes r.bed --bin-size 7 t.bw|--before 3000 must be a multiple of --bin-size 7$
2 covprofile genes --genes r.bed -b 0 -a 0 t.bw|--before and --after are both 0$
2 covprofile genes --genes r.bed --plot o.pdf t.bw|--plot o\.pdf: the name must end in \.png or \.svg$
2 covprofile region -r chrA:9-2 t.bw|region chrA:9-2: ends before it begins$
2 covprofile region -r chrA --own-scales t.bw|--own-scales needs --plot$
2 covprofile correlate --bin-size 5 --genes r.bed t.bw u.bw|--bin-size and --genes cannot be used together$
2 covprofile correlate -b 5 t.bw u.bw|--before needs --genes$
2 covprofile correlate t.bw t.bw|t\.bw: given twice$
1 covprofile genes --genes r.bed --feature gene t.bw|--feature: r\.bed is a BED file, which has no types of features$
1 covprofile genes --genes r.bed --strand + t.bw|--strand is for predictions and genome files; there is none$
1 covprofile region -r nope t.bw|t\.bw: region nope: unknown contig nope
1 covprofile region -r chrA --labels a,b,c t.bw|--labels: 3 labels for 1 track: t$
1 covprofile correlate t.bw|t\.bw: a single track; correlations need two$
1 covprofile correlate t.bw ./t.bw|\./t\.bw: the same file as t\.bw$
1 covprofile correlate --replicates t.bw u.bw|--replicates is for genome files; there is none$
1 covprofile fingerprint --fill-gaps p.h5|--fill-gaps is for bigWig and bedGraph; there is none$
1 covprofile coverage --datasets nope p.h5|p\.h5: unknown dataset 'nope'
2 coveffect vcf -m m.ckpt -g g.fa --width 30k -o o.tsv v.vcf|--width: 30k is out of range \(1 to 21384\)$
2 coveffect vcf -m m.ckpt -g g.fa --width 5,5 -o o.tsv v.vcf|--width: duplicate 5$
2 coveffect vcf -m m.ckpt -g g.fa --datasets a,a -o o.tsv v.vcf|--datasets: duplicate a$
2 coveffect vcf -m m.ckpt -g g.fa --step 20k -o o.tsv v.vcf|--step: more than half of --window$
2 coveffect vcf -m m.ckpt -g g.fa --samples a -o o.tsv v.vcf|--samples: needs --haplotypes$
2 coveffect vcf -m m.ckpt -g g.fa -o o.bed v.vcf|o\.bed: the output is a table, but \.bed is another kind; use \.tsv$
2 coveffect ism -m m.ckpt -g g.fa -o o/|regions are missing; use -r or -R$
2 coveffect ism -m m.ckpt -g g.fa --width 30k -R r.bed -o o/|--width must not be larger than --window$
2 coveffect ism -m m.ckpt -g g.fa -R r.bed -o o.tsv|o\.tsv: the output is a directory, but \.tsv is a file
2 coveffect gradients -m m.ckpt -g g.fa --cpu scalar -R r.bed -o o/|--cpu: scalar only predicts
2 coveffect gradients -m m.ckpt -g g.fa --cpu foo -R r.bed -o o/|--cpu: 'foo' is not a level of the CPU
2 coveffect gradients -m m.ckpt -g g.fa --shuffles 3 -R r.bed -o o/|--shuffles needs --integrated$
1 coveffect vcf -m m.ckpt -g g.fa --datasets nope -o o.tsv v.vcf|--datasets: m\.ckpt does not have 'nope'
1 coveffect vcf -m m.ckpt -g g.fa --window 8001 -o o.tsv v.vcf|--window: subsequence length 8001 is not a multiple of 8 \(step 2 to the power of cnn_layers 3\)
1 coveffect ism -m m.ckpt -g g.fa -R r.bed -o o/|--dataset is needed, since m\.ckpt has several datasets
1 coveffect ism -m m.ckpt -g g.fa --dataset nope -R r.bed -o o/|--dataset: m\.ckpt does not have 'nope'
1 coveffect ism -m m.ckpt -g g.fa --dataset atacseq --window 8000 -R two.bed -o o/|two\.bed:2: has 700 bases, but the first region has 500; use --length$
1 coveffect gradients -m m.ckpt -g g.fa --dataset atacseq --window 8000 -r chrA:50000- -o o/|g\.fa: region chrA:50000-: begins past the end of the contig, which has 43468 bases$
2 h5chunk info --plot o.png g.h5 c.h5|--plot needs --sequences$
2 h5chunk subset -o o.h5 g.h5|needs one of -r, -R, --names, --exclude-names, --drop-n or --min-length$
2 h5chunk subset -o o.h5 -r chrA:5-2 g.h5|g\.h5: region chrA:5-2: ends before it begins$
2 h5chunk split --val-fraction 0.5 -o o/ g.h5|--val-fraction needs --seed$
2 h5chunk split --shards 2 -o o/ g.h5|o/: is a directory; --shards needs a prefix of file names$
2 h5chunk repack --compression zstd:99 -o o.h5 g.h5|"zstd:99" is not a compression
2 h5chunk blacklist g.h5|needs --report or --names$
2 h5chunk rename --datasets a -o o.h5 p.h5|--datasets a: expected OLD=NEW$
2 h5chunk merge -o o.h5 g.h5 g.h5|g\.h5: given twice$
1 h5chunk info g.fa|g\.fa: not an HDF5 file, but a FASTA file$
1 h5chunk subset -o o.h5 -r nope g.h5|g\.h5: region nope: unknown contig nope
1 h5chunk subset -o o.h5 --drop-n p.h5|--drop-n: p\.h5 has no bases$
1 h5chunk split --shards 9 -o o g.h5|g\.h5: 4 pairs of chunks are too few for 9 shards$
1 h5chunk repack --dtype int64 -o o.h5 g.h5|--dtype: g\.h5 has neither coverage nor predictions$
1 h5chunk repack --layout packed -o o.h5 p.h5|--layout: p\.h5 has no bases$
1 h5chunk merge -o o.h5 g.h5 p.h5|g\.h5 and p\.h5 are not parts of one file: only one has bases$
1 h5chunk merge -o o.h5 g.h5 ./g.h5|\./g\.h5: the same file as g\.h5$
1 h5chunk merge -o o.h5 --stats o.json --shard-stats c.h5 g.h5|c\.h5: not a JSON file, but an HDF5 file$
2 benchmark synth -o - --depth 1|--depth needs a file or directory as output$
2 benchmark synth -o o.fa --size 3 --contigs 9|3 bases are too few for 9 contigs$
2 benchmark compare --max-slowdown x a.json b.json|--max-slowdown: 'x' is not a number
1 benchmark compare g.fa g.fa|g\.fa: not a JSON file, but a FASTA file$
1 benchmark stages g.fa|g\.fa: not a JSON file, but a FASTA file$
END
cd "$work" || exit 99
is "$(find full empty -newer full/v.vcf -type f)" '' 'none of these writes anything'

# ---------------------------------------------------------------- names of options

# Each line: the call with an option that is wrong; then what is said about it. The option before it may be an alias.
while IFS='|' read -r call hint; do
    # shellcheck disable=SC2086 # a list of words
    run_refused 2 ": error: $hint\$" "hint: $call" $call
done <<'END'
cov2bigwig -b x.bam|unknown option '-b'; inputs are given without an option
cov2bigwig -bs 50|unknown option '-bs'; did you mean --bin-size\?
cov2bigwig --numberOfProcessors 4|unknown option '--numberOfProcessors'; did you mean --threads\?
covprofile correlate -p 4|unknown option '-p'; did you mean --threads\?
cov2bigwig --outFileName x.bw|unknown option '--outFileName'; did you mean --output\?
cov2bigwig --outFileFormat=bigwig|unknown option '--outFileFormat'; did you mean --format\?
cov2bigwig -of bigwig|unknown option '-of'; did you mean --format\?
cov2bigwig --region chr1|unknown option '--region'; did you mean --regions\?
cov2bigwig --smoothLength 60|unknown option '--smoothLength'; did you mean --window-size\?
cov2bigwig --skipZeros|unknown option '--skipZeros'; did you mean --skip-zero\?
cov2bigwig --operation ratio|unknown option '--operation'; use --minus, --log2 or --mean
cov2bigwig --bigwig2 x.bw|unknown option '--bigwig2'; use --minus, --log2 or --mean
cov2bigwig --cutoff 5|unknown option '--cutoff'; did you mean --peak-cutoff\?
covprofile genes -S x.bw|unknown option '-S'; inputs are given without an option
covprofile genes --beforeRegionStartLength 3000|unknown option '--beforeRegionStartLength'; did you mean --before\?
covprofile genes --regionsFileName x.bed|unknown option '--regionsFileName'; did you mean --genes\?
covprofile region --samplesLabel a|unknown option '--samplesLabel'; did you mean --labels\?
covprofile correlate --corMethod pearson|unknown option '--corMethod'; did you mean --method\?
bam2h5 -q 30|-q is --quiet here and takes no value; did you mean --min-mapq 30\?
bam2h5 -q30|-q is --quiet here and takes no value; did you mean --min-mapq 30\?
bam2h5 -fq 30|-q is --quiet here and takes no value; did you mean --min-mapq 30\?
bam2h5 -f 2|-f is --force here and takes no value; did you mean --require-flags 2\?
bam2h5 -f 0x2|-f is --force here and takes no value; did you mean --require-flags 0x2\?
bam2h5 -F 4|unknown option '-F'; did you mean --exclude-flags\?
bam2h5 -F4|unknown option '-F' in '-F4'; did you mean --exclude-flags\?
bam2h5 --minMappingQuality 30|unknown option '--minMappingQuality'; did you mean --min-mapq\?
cov2bigwig -F 4|unknown option '-F'
bam2h5 -T g.fa|unknown option '-T'; did you mean --genome\?
bam2h5 -b x.bam|unknown option '-b'; inputs are given without an option
covtrain --filepath x|unknown option '--filepath'; did you mean --input-dir\?
coveffect ism -i x.fa|unknown option '-i'; the inputs are --genome and --regions-file
covprofile genes -bins 5|unknown option '-bins'; did you mean --bin-size\?
bam2h5 --extendReads 200|unknown option '--extendReads'; use --count fragment
bam2h5 --Offset 1|unknown option '--Offset'; use --count cut
bam2h5 --ignoreDuplicates|unknown option '--ignoreDuplicates'; use --exclude-flags UNMAP,SECONDARY,QCFAIL,DUP
covpeaks call --nomodel|unknown option '--nomodel'; no model of fragments is made, so leave it out
covpeaks call --no-trackline|unknown option '--no-trackline'; no track line is written, so leave it out
covpeaks call -i x.bg|unknown option '-i'; inputs are given without an option
covpeaks call --ofile x.bed|unknown option '--ofile'; did you mean --output\?
covpeaks call --cutoff-link 2|unknown option '--cutoff-link'; did you mean --weak-cutoff\?
covpeaks call --cutoff-analysis|unknown option '--cutoff-analysis'; use --auto, or covpeaks curve
covpeaks call --qvalue 0.05|unknown option '--qvalue'; values are not tested; use --cutoff or --auto
covpeaks compare -g sizes|unknown option '-g'; did you mean --chrom-sizes\?
covpredict --filepath g.h5|unknown option '--filepath'; inputs are given without an option
covpredict --num-devices 2|unknown option '--num-devices'; name the GPUs, as in --device cuda:0,1
covpredict --num_workers 2|unknown option '--num_workers'; did you mean --threads\?
covtrain --mode train|unknown option '--mode'; covtrain trains, covpredict predicts, covpredict --evaluate tests
covtrain --output-dir o|unknown option '--output-dir'; did you mean --output\?
covtrain -lr 0.1|unknown option '-lr'; did you mean --learning-rate\?
h5chunk info -b x|unknown option '-b'; inputs are given without an option
fasta2h5 -t 4|unknown option '-t'; did you mean --threads\?
cov2bigwig --bin-sizes 5 --no-such|unknown option '--no-such'
cov2bigwig --measured c.h5 --bin-size 5,10 --binSize x p.h5|--bin-size: 'x' is not an integer.*
cov2bigwig --peak-threshold x|--peak-cutoff: 'x' is not a number
cov2bigwig --peak_length x|--peak-min-length: 'x' is not an integer.*
cov2bigwig --peak-gap x|--peak-max-gap: 'x' is not an integer.*
cov2bigwig --compare c.h5 --measured d.h5|--measured is given twice: as 'c\.h5' and as 'd\.h5'
cov2bigwig --dataset a --datasets a|--datasets: duplicate a
covprofile genes --bin x|--bin-size: 'x' is not an integer.*
covprofile correlate --bins x|--bin-size: 'x' is not an integer.*
covprofile fingerprint --binSize x|--bin-size: 'x' is not an integer.*
covprofile region --names a --labels a --no-such|unknown option '--no-such'
covpeaks curve --window-size 5 --windows 5 --no-such|unknown option '--no-such'
covprofile correlate --bl_file a --blacklist-file b|--blacklist-file is given twice: as 'a' and as 'b'
covprofile correlate --gff-file x|unknown option '--gff-file'; did you mean --genes\?
covprofile genes --upstream-region 3|unknown option '--upstream-region'; did you mean --before\?
covprofile genes --downstream-region 3|unknown option '--downstream-region'; did you mean --after\?
coveffect ism --target a --dataset b|--dataset is given twice: as 'a' and as 'b'
coveffect gradients --datasets a --dataset b|--dataset is given twice: as 'a' and as 'b'
bam2h5 --reference a --genome b|--genome is given twice: as 'a' and as 'b'
covtrain --dataset a --no-such|unknown option '--no-such'
END
unlike "$(cov2bigwig --help)$(covprofile genes --help)$(coveffect ism --help)" '--(bins?|bin-sizes|peak-threshold|compare|target) ' \
    '--help does not list aliases'
is "$(covtrain --help | sed -n 's/^\([A-Z].*\):$/\1/p' | tr '\n' ',')" \
    'Data,Where to start,Network,Training,Checkpoints and logs,Computing,Common options,Examples,' 'covtrain --help has groups'
for page in "$SRC"/man/*.1; do
    unlike "$(sed -n '/^.SH EXIT STATUS/,/^.SH [^E]/p' "$page")" '[12] on ' "${page##*/}: the rule is in covtools(7) only"
done
done_testing
