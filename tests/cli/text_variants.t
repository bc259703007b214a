#!/bin/sh
# Text of any kind gives the same output with other line ends, a byte order mark, blanks, and no last newline.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

start_python "$SRC/tests/oracle/h5_equal.py"
make_ckpt bi-hybrid m.ckpt || exit 99
awk "$random"'BEGIN {
    seed(5)
    for (s = 1; s <= 3; s++) { printf ">c%d\tsequence %d\n", s, s; for (i = 0; i < 20; i++) { letters(60, "ACGT"); print "" } }
}' >genome.fa
fasta2h5 -q -o g.h5 genome.fa || exit 99
fasta2h5 -q --subsequence-length 240 -o short.h5 genome.fa || exit 99
printf 'c1\t0\t600\t1\nc1\t600\t700\t8.5\nc2\t50\t400\t2\nc3\t0\t1200\t3\n' >track.bedGraph
printf 'c1\t1200\t9\t60\t61\nc2\t1200\nc3\t1200\n' >sizes
cov2bigwig -q --chrom-sizes sizes -o t.bw track.bedGraph || exit 99
base=$(sed -n 5p genome.fa | cut -c1)
other=$(echo "$base" | tr ACGT CGTA)

# ---------------------------------------------------------------- one file of each kind

cp track.bedGraph x.bedGraph
cp genome.fa x.fa
cp sizes x.sizes
printf 'track name="x y"\n# c1\t1\t2\nc1\t10\t60\nc1\t600\t650\nc2\t100\t300\nother\t1\t2\n' >x.bed
printf 'c1\t10\t60\tg1\t7\t-\nc1\t600\t650\tg2\t.\t+\nc2\t100\t300\tg3\t0\t-\n' >genes.bed
printf 'c1\t10\t60\t-\nc1\t600\t650\t+\nc2\t100\t300\t-\n' >strand4.bed
printf 'c1\t10\t60\tg1\t-\nc1\t600\t650\tg2\t+\nc2\t100\t300\tg3\t-\n' >strand5.bed
printf 'c1\t10\t60\tp1\t40\t.\t4.5\t3\t2\t20\nc1\t600\t650\tp2\t20\t.\t2.5\t-1\t-1\t30\nc2\t100\t300\tp3\t9\t.\t1\t2\t3\t4\n' >x.narrowPeak
printf 'c1\n# c2\nc3\n' >x.names
printf 'c1\tone\n# x\nc2\ttwo\n' >x.rename
printf '##gff-version 3\nc1\ts\tgene\t11\t60\t.\t-\t.\tID=g%%201;Name=a b\nc1\ts\tmRNA\t11\t60\t.\t-\t.\tID=t1;Parent=g%%201\nc1\ts\texon\t11\t20\t.\t-\t.\tParent=t1\nc1\ts\tgene\t601\t650\t.\t+\t.\tID=g2\n##FASTA\n>c1\nACGT\n' >x.gff3
printf '#!x\nc1\ts\tgene\t11\t60\t.\t-\t.\tgene_id "g1"; gene_name "a b";\nc1\ts\ttranscript\t11\t60\t.\t-\t.\tgene_id "g1"; transcript_id "t1";\nc1\ts\texon\t11\t20\t.\t-\t.\tgene_id "g1"; transcript_id "t1"\nc1\ts\tgene\t601\t650\t.\t+\t.\tg2\n' >x.gtf
printf '##fileformat=VCFv4.2\n##contig=<ID=c1,length=1200>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="">\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tone\nc1\t181\t.\t%s\t%s\t.\tPASS\t.\tGT\t0|1\n' "$base" "$other" >x.vcf
printf 'track type=wiggle_0\nfixedStep chrom=c1 start=1 step=1\n1\n2\n' >x.wig
printf '{"refseqAccession":"c1","role":"assembled-molecule"}\n{"refseqAccession":"c2","role":"unplaced-scaffold"}\n{"refseqAccession":"c3","chrName":"Un"}\n' >x.jsonl
printf '{"machine": {}, "figures": [{"name":\t"a/b", "unit": "s", "better": "lower", "n": 2,\n "values":\t[1,\n 2]}]}\n' >x.json

# edit VARIANT FILE: prints the file as other programs and editors write it.
edit() {
    case $1 in
    plain) cat "$2" ;;
    crlf) sed 's/$/\r/' "$2" ;;
    mark) printf '\357\273\277' && cat "$2" ;;
    last) head -c -1 "$2" ;;
    blanks) sed 's/$/  /' "$2" ;;
    tabs) sed 's/$/\t/' "$2" ;;
    lines) sed 's/$/\n \t/' "$2" ;;
    mixed) sed 's/\t/ \t /; s/\t/ /2' "$2" ;;
    all) { printf '\357\273\277' && sed 's/$/ \t\r/' "$2"; } | head -c -1 ;;
    old) tr '\n' '\r' <"$2" ;;
    gzip) edit all "$2" | gzip ;;
    esac
}

# same DIR: the directory has the same files as plain/; HDF5 files may have other time stamps.
same() {
    diff -r -x '*.h5' plain "$1" || return
    [ "$(cd plain && find . -name '*.h5' | sort)" = "$(cd "$1" && find . -name '*.h5' | sort)" ] || return
    for h5 in $(cd plain && find . -name '*.h5'); do
        ask "plain/$h5" "$1/$h5" || return
    done
}

# FILE|VARIANTS|COMMAND, where F is the file: text, or any, which also has blanks instead of tabs. Lines must not end as on
# old Macs, except in JSON.
while IFS='|' read -r file variants line; do
    case $variants in
    any) variants='crlf mark last blanks tabs lines all gzip mixed' ;;
    text) variants='crlf mark last blanks tabs lines all gzip' ;;
    esac
    wrong=
    for variant in plain $variants old; do
        # A directory of its own, so that messages and outputs have the same names.
        rm -rf "$variant"
        mkdir "$variant" && edit "$variant" "$file" >"$variant/$file" && cd "$variant" || exit 99
        # shellcheck disable=SC2046 # words of a command
        run $(echo "$line" | sed "s/\\bF\\b/$file/g")
        case $variant$file$status in
        plainx.wig1 | plain*0 | oldx.json0) ;;
        old*1) grep -Eq "$file:1: .*lines must not end in a carriage return alone" "$stderr" || wrong="$wrong $variant" ;;
        plain* | old*) wrong="$wrong $variant" ;;
        esac
        { echo "status $status" && cat "$stdout" "$stderr"; } >printed
        rm "$file"
        cd ..
        [ "$variant" = old ] || same "$variant" >difference 2>&1 || {
            wrong="$wrong $variant"
            diag "$variant: $(head -n 10 difference)"
        }
    done
    is "$wrong" '' "$file: ${line%% -*}"
done <<'END'
x.fa|text|fasta2h5 -q -o - F
x.fa|text|covpredict -q -m ../m.ckpt -o - F
x.fa|text|h5chunk info --sequences F
x.bed|any|h5chunk subset -q -R F -o o.h5 ../short.h5
x.bed|any|cov2bigwig -q -R F -o - ../t.bw
x.bed|any|cov2bigwig -q --blacklist-file F -o - ../t.bw
x.bed|any|covpeaks stats F
x.bed|any|covpeaks compare --chrom-sizes ../sizes F ../genes.bed
x.bed|any|covpeaks curve -q --measured F ../t.bw
x.bed|any|covprofile region -q -r c1 --peaks F --plot o.svg ../t.bw
x.narrowPeak|any|covpeaks stats F
x.narrowPeak|any|covpeaks compare --chrom-sizes ../sizes ../genes.bed F
genes.bed|any|covprofile genes --genes F -b 9 -a 9 --bin-size 1 --matrix - ../t.bw
strand4.bed|any|covprofile genes --genes F -b 9 -a 9 --bin-size 1 --matrix - ../t.bw
strand5.bed|any|covprofile genes --genes F -b 9 -a 9 --bin-size 1 --matrix - ../t.bw
x.gff3|text|covprofile genes --genes F -b 9 -a 9 --bin-size 1 --matrix - ../t.bw
x.gff3|text|covprofile region -q -r c1 --genes F --plot o.svg ../t.bw
x.gtf|text|covprofile genes --genes F -b 9 -a 9 --bin-size 1 --matrix - ../t.bw
x.gtf|text|covprofile region -q -r c1 --genes F --plot o.svg ../t.bw
x.names|any|h5chunk subset -q --names F -o o.h5 ../short.h5
x.names|any|h5chunk subset -q --exclude-names F -o o.h5 ../short.h5
x.names|any|h5chunk split -q --val-names F -o o/ ../short.h5
x.names|any|h5chunk blacklist -q --names F --list list -o o.h5 ../short.h5
x.names|any|cov2bigwig -q --blacklist-file F -o - ../t.bw
x.rename|any|fasta2h5 -q --rename F -o - ../genome.fa
x.rename|any|cov2bigwig --rename F -o - ../t.bw
x.jsonl|text|h5chunk blacklist -q --report F --list list -o o.h5 ../short.h5
x.vcf|text|coveffect vcf -q -m ../m.ckpt -g ../genome.fa --window 504 --width 301 --haplotypes -o - F
x.bedGraph|any|cov2bigwig -q --chrom-sizes ../sizes -o - F
x.bedGraph|any|bam2h5 -p x -o o.h5 ../g.h5 F
x.bed|any|bam2h5 -p x -o o.h5 ../g.h5 F
genes.bed|any|bam2h5 -p x --strand own -o o.h5 ../g.h5 F
x.bedGraph|any|covpeaks call -c 1 -l 1 -o - F
x.sizes|any|cov2bigwig -q --chrom-sizes F -o o.bw ../track.bedGraph
x.sizes|any|covpeaks stats --chrom-sizes F ../genes.bed
x.wig|any|cov2bigwig --chrom-sizes ../sizes -o - F
x.wig|any|bam2h5 -p x -o o.h5 ../g.h5 F
x.json|crlf mark last blanks tabs lines all mixed|benchmark compare F F
END
done_testing
