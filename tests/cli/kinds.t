#!/bin/sh
# Every tool that gets a file of the wrong kind names the kind of the file.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

make_ckpt bi-hybrid x.ckpt || exit 99
awk "$random"'BEGIN { seed(3); print ">a"; letters(6000, "ACGT"); print "" }' >x.fa
printf '@HD\tVN:1.6\n@SQ\tSN:a\tLN:6000\nr\t0\ta\t100\t60\t4M\t*\t0\t0\tACGT\tIIII\n' >x.sam
sam_convert x.sam x.bam
sam_convert x.sam x.cram
fasta2h5 -q -o x.h5 x.fa
covpredict -q -m x.ckpt -o p.h5 x.h5
cov2bigwig -q --datasets atacseq -o x.bw p.h5
h5chunk cat -q -o x.st x.h5
gzip -c x.fa >x.fa.gz
echo 'some text' | gzip >x.txt.gz
for f in x.h5 x.ckpt x.bw; do gzip -k $f; done
echo 'some text' >x.txt
printf '\n<!doctype HTML>\n<html><body>404</body></html>\n' >x.html
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n' >x.lfs
printf 'a\t100\t200\n' >x.bed
printf 'a\t100\t200\tp\t5\t.\t4.5\t3\t2\t50\n' >x.narrowPeak
printf '# made by x\na\tx\tgene\t1\t100\t.\t+\t.\tID=g\n' >x.gff
printf '##fileformat=VCFv4.2\n#CHROM\tPOS\n' >x.vcf
printf '@r\nACGT\n+\nIIII\n' >x.fq && gzip -k x.fq
tar -cf x.tar x.fa && gzip -k x.tar
mkdir -p d/train d/val

name() {
    case $1 in
    x.fa | x.fa.gz) echo 'a FASTA file' ;;
    x.sam) echo 'a SAM file' ;;
    x.bam) echo 'a BAM file' ;;
    x.cram) echo 'a CRAM file' ;;
    *.h5) echo 'an HDF5 file' ;;
    x.bw) echo 'a bigWig file' ;;
    x.fq | x.fq.gz) echo 'a FASTQ file' ;;
    x.bed) echo 'a BED file' ;;
    x.narrowPeak) echo 'a narrowPeak file' ;;
    x.gff) echo 'a GFF or GTF file' ;;
    x.vcf) echo 'a VCF file' ;;
    x.tar) echo 'a tar archive' ;;
    x.tar.gz) echo 'a tar archive compressed by gzip' ;;
    x.html) echo 'an HTML page' ;;
    x.lfs) echo 'a Git LFS pointer: git lfs pull fetches the file' ;;
    x.st) echo 'a chunk stream' ;;
    x.ckpt) echo 'a PyTorch checkpoint' ;;
    x.txt.gz) echo 'a file compressed by gzip' ;;
    x.h5.gz) echo 'an HDF5 file compressed by gzip' ;;
    x.ckpt.gz) echo 'a PyTorch checkpoint compressed by gzip' ;;
    x.bw.gz) echo 'a bigWig file compressed by gzip' ;;
    esac
}

# FILES|COMMAND, where F is the file|the message before its kind
while IFS='|' read -r files line words; do
    for f in $files; do
        rm -f d/train/* d/val/*
        cp "$f" d/train/a.h5
        cp "$f" d/val/a.h5
        # shellcheck disable=SC2046 # words of a command
        run $(echo "$line" | sed "s/\\bF\\b/$f/")
        refused 1 "^[a-z0-9]*: error: [a-zA-Z/.0-9]*: $words$(name "$f")( in|\$|:|,|;)" "$(echo "$line" | sed "s/\\bF\\b/$f/")"
    done
done <<'END'
x.bam x.cram x.sam x.h5 p.h5 x.bw x.st x.html x.lfs x.fq x.fq.gz x.bed x.gff x.vcf x.tar|fasta2h5 -q -o o.h5 F|not a FASTA file, but 
x.ckpt|fasta2h5 -q -o o.h5 F|wrong kind of file: 
x.fa x.fa.gz x.bam x.cram x.sam x.ckpt x.bw x.st x.txt.gz x.h5.gz|bam2h5 -q -p x -o o.h5 F x.bam|not a genome file \(the first argument\), but 
x.fa x.fa.gz x.h5 p.h5 x.st x.txt.gz x.fq.gz x.narrowPeak x.gff x.vcf x.tar.gz|bam2h5 -q -p x -o o.h5 x.h5 F|neither reads \(BAM, CRAM, SAM, BED\) nor a track \(bigWig, bedGraph\), but 
x.ckpt|bam2h5 -q -p x -o o.h5 x.h5 F|wrong kind of file: 
x.bam x.cram x.sam x.bw x.lfs|covpredict -q -m x.ckpt -o o.h5 F|not a FASTA file, but 
x.ckpt|covpredict -q -m x.ckpt -o o.h5 F|wrong kind of file: 
x.fa x.fa.gz x.bam x.h5 p.h5 x.bw x.st x.txt.gz x.ckpt.gz x.html x.lfs x.tar.gz x.bed|covpredict -q -m F -o o.h5 x.fa|not a PyTorch checkpoint: not a zip archive, but 
x.fa x.bam x.cram x.sam x.fq x.fq.gz x.bed x.narrowPeak|cov2bigwig -q -o o.bw F|not predictions or a track, but 
x.txt.gz x.gff x.vcf x.tar x.tar.gz|cov2bigwig -q -o o.bw F|not an HDF5 file, but 
x.fa x.bam x.fq x.narrowPeak|covpeaks call -q -c 1 -o o.bed F|not predictions or a track, but 
x.ckpt|cov2bigwig -q -o o.bw F|wrong kind of file: 
x.fa x.fa.gz x.bam x.ckpt x.bw x.txt.gz x.h5.gz x.ckpt.gz x.bw.gz|h5chunk repack -q -o o.h5 F|not an HDF5 file, but 
x.fa x.bam x.bw x.txt.gz x.html x.lfs|h5chunk info F|not an HDF5 file, but 
x.fa x.bam x.ckpt x.bw x.txt.gz|covtrain -q -i d -o m|not an HDF5 file, but 
x.h5 x.bam|benchmark model -q --model F|not a PyTorch checkpoint: not a zip archive, but 
END

run_refused 1 '^h5chunk: error: x\.txt: not an HDF5 file$' 'an unknown kind is not named' h5chunk repack -q -o o.h5 x.txt
run fasta2h5 -q -o o.h5 x.txt
refused 1 "^fasta2h5: error: x\\.txt: not a FASTA file: the first line does not start with '>'\$" '  nor by fasta2h5'

# A checkpoint in an archive
cp x.ckpt model.ckpt && echo 'read me' >README
"$PYTHON" - <<'END'
import zipfile
for name, how in ("stored.zip", zipfile.ZIP_STORED), ("packed.zip", zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(name, "w", how) as z:
        z.write("README")
        z.write("model.ckpt", "models/model.ckpt")
with zipfile.ZipFile("no.zip", "w") as z:
    z.write("README", "model.ckpt.txt")
END
for f in stored.zip packed.zip; do
    run covpredict -q -m $f -o o.h5 x.fa
    refused 1 "^covpredict: error: $f: a zip archive that holds models/model\.ckpt: unzip it first\$" "a checkpoint in $f"
done
run covpredict -q -m no.zip -o o.h5 x.fa
refused 1 'no\.zip: not a PyTorch checkpoint: it has no data\.pkl$' '  but not in another archive'

# HDF5 that is not a regular file
run_refused 1 'standard input: an HDF5 file cannot be read from a pipe: name the file, or convert it by .h5chunk cat.$' \
    'HDF5 on standard input' covpredict -q -m x.ckpt -o o.h5 - <x.h5
run_refused 1 'x\.h5\.gz: not a FASTA file, but an HDF5 file$' '  and compressed HDF5' covpredict -q -m x.ckpt -o o.h5 x.h5.gz

# Both are HDF5.
run_refused 1 'p\.h5: a predictions file' 'predictions where a genome file is needed' covpredict -q -m x.ckpt -o o.h5 p.h5
"$PYTHON" -c 'import h5py; h5py.File("other.h5", "w")["matrix/data"] = [1, 2, 3]'
for d in d/train d/val; do
    rm -f $d/*
    cp other.h5 $d/a.h5
done
while IFS='|' read -r set line; do
    # shellcheck disable=SC2086 # words of a command
    run $line
    refused 1 ": [a-z/]*(other|a)\.h5: neither a genome file nor a predictions file, but another HDF5 file: no dataset $set\$" \
        "another HDF5 file: $line"
done <<'END'
data/X|covpredict -q -m x.ckpt -o o.h5 other.h5
data/X|bam2h5 -q -p x other.h5 x.bam
data/X|h5chunk info other.h5
data/X|covtrain -q -i d -o m
prediction/predictions|cov2bigwig -q -o o.bw other.h5
data/X|cov2bigwig -q --experimental -o o.bw other.h5
END
done_testing
