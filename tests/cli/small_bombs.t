#!/bin/sh
# Small files that claim to be large: an error or a result within seconds and 700 MB.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py

# The limit of CPU time: 30 times that of a loop, so that a slow machine gets more.
seconds=$("$PYTHON" -c 'import time
begin, n = time.process_time(), 0
for i in range(5000000):
    n ^= i
print(1 + int(30 * (time.process_time() - begin)))') || exit 99

# frugal COMMAND...: runs it with limits. Address space, of which a part is never touched, stands for memory. A
# sanitizer needs too much of it, and so do the stacks and arenas of many threads, hence -@ 2 and one arena.
limit=700000
export MALLOC_ARENA_MAX=1
frugal() {
    if [ "${SAN:-}" ]; then
        run "$@"
    else
        run sh -c 'ulimit -v "$1" && ulimit -t "$2" || exit 99; shift 2; exec "$@"' sh "$limit" "$seconds" "$@"
    fi
}

cat >make.py <<'E'
import gzip
import h5py
import numpy


def rows_of(name, n, L, names=b"chr1"):
    """An HDF5 file of n rows: + and - strands of sequences of length L."""
    f = h5py.File(name, "w")
    f["data/seqids"] = numpy.array([names] * n, "S5")
    f["data/species"] = numpy.array([b"sp"] * n, "S5")
    f["data/start_ends"] = numpy.array([(0, L), (L, 0)] * (n // 2))
    return f


# Chunks that are not stored are fill values.
most = 2**27 - 1
with rows_of("genome.h5", 2, most) as f:
    f.create_dataset("data/X", (2, most, 4), "f2", chunks=(1, most, 4), compression="gzip")
with rows_of("contiguous.h5", 2, most) as f:
    f.create_dataset("data/X", (2, most, 4), "f2")
with rows_of("predictions.h5", 2, most) as f:
    f.create_dataset("prediction/predictions", (2, most, 2), "i4", chunks=(1, most, 1), compression="gzip")
    f["prediction/datasets"] = numpy.array([b"atacseq", b"h3k4me3"])
    f["prediction/model_name"] = numpy.array([b"m"])
with rows_of("sets.h5", 2, 2**16) as f:
    f.create_dataset("data/X", (2, 2**16, 4), "f2", chunks=(1, 2**16, 4), compression="gzip")
    for k in range(300):
        f.create_dataset(f"evaluation/set_{k}", (2, 2**16, 100), "i8", chunks=(1, 2**16, 1), compression="gzip")
with rows_of("chunk.h5", 2, 1000) as f:
    x = f.create_dataset("data/X", (2, 1000, 4), "f2", chunks=(1, 2**25, 4), maxshape=(None, None, 4), compression="gzip")
    x[...] = 0.25
# Millions of rows that differ by nothing.
n = 2**22
with h5py.File("rows.h5", "w") as f:
    def fill(name, shape, dtype, value):
        set = f.create_dataset(name, shape, dtype, chunks=(n // 4,) + shape[1:], compression="gzip", shuffle=True)
        for i in range(0, n, n // 4):
            set[i:i + n // 4] = numpy.full((n // 4,) + shape[1:], value, dtype)
    fill("data/X", (n, 1, 4), "f2", [0, 0, 0, 1])
    fill("data/seqids", (n,), "S1", b"c")
    fill("data/start_ends", (n, 2), "i8", [0, 1])
# One line, over and over.
for name, line, times in (("regions.bed.gz", b"c1\t1\t2\n", 1 << 23), ("names.gz", b"c1\n", 1 << 23),
                          ("peaks.bed.gz", b"c1\t1\t2\nc2\t0\t3\nc1\t0\t9\n", 1 << 21)):
    with open(name, "wb") as f:
        f.write(gzip.compress(line * (1 << 16)) * (times >> 16))
for name, line in (("genes.bed.gz", b"c1\t1\t2\n"), ("genes.gff3.gz", b"c1\t.\tgene\t1\t2\t.\t+\t.\tID=%s\n" % (b"x" * 200)),
                   ("long.gff3.gz", b"c1\t.\tgene\t1\t2\t.\t+\t.\tID=%s\n" % (b"x" * 1000000))):
    with open(name, "wb") as f:
        f.write(gzip.compress(line * ((1 << 20) // len(line))) * 32)
with gzip.open("unknown.gz", "wb", 6) as f:
    for i in range(60000):
        f.write(b"%d" % i + b"x" * 2500 + b"\n")
# Peaks on sequences with long names.
with gzip.open("long_names.bed.gz", "wb", 6) as f:
    for i in range(30000):
        f.write(b"%d" % i + b"x" * 5000 + b"\t0\t5\n")
E
"$PYTHON" make.py || exit 99
for file in *.h5 *.gz; do
    [ "$(wc -c <"$file")" -lt 1000000 ] || fail "$file has over 1 MB"
done
printf '>c1\nACGTACGTAC\n>c2\nACGT\n' >g.fa
fasta2h5 -q --subsequence-length 5 -o g.h5 g.fa || exit 99

for file in genome contiguous predictions sets chunk rows; do
    case $file in
    chunk) text='data/X: the chunks are much larger than the dataset' ;;
    rows) text='4194304 chunks and sequences in a file of [0-9]+ bytes' ;;
    *) text='[a-z]+/[a-zA-Z_0-9]+: most of the dataset is missing from the file' ;;
    esac
    for command in info 'verify -@ 2' 'repack -@ 2 -o x.h5' 'cat -@ 2 -o x'; do
        # shellcheck disable=SC2086 # a list of words
        run_refused 1 "^h5chunk: error: $file\\.h5: $text\$" "$file.h5: ${command%% *}" frugal h5chunk $command $file.h5
    done
done

# A stream, and a genome file, of long chunks that hold a few bases.
text='chunks of 67108864 positions are nearly empty: the longest sequence has [0-9]+ bases$'
so_far='chunks of 67108864 positions are nearly empty: the longest sequence so far has [0-9]+ bases; a stream of such chunks must start with the longest$'
fasta2h5 -q --subsequence-length 12 -o - g.fa | "$PYTHON" -c '
import gzip, struct, sys
stream = bytearray(gzip.open(sys.stdin.buffer).read())
assert struct.unpack_from("<Q", stream, 24)[0] == 12
struct.pack_into("<Q", stream, 24, 1 << 26)
sys.stdout.buffer.write(stream)' | bgzip >long.stream || exit 99
for command in info 'save -@ 2 -o x.h5'; do
    # shellcheck disable=SC2086 # a list of words
    run_refused 1 "^h5chunk: error: long\\.stream: $so_far" "a stream: $command" frugal h5chunk $command long.stream
done
frugal fasta2h5 -@ 2 --subsequence-length 67108864 -o - g.fa
refused 1 "^fasta2h5: error: .*$so_far" '  is not written'
awk 'BEGIN { print ">short\nACGT\n>long"; while (n++ < 12000) printf "%0100d\n", 0 }' | tr 0 A >late.fa
fasta2h5 -q --subsequence-length 16777216 -o - late.fa >late.stream
is $? 0 'a stream whose long sequence is not the first'
run_ok '  can be read' frugal h5chunk info late.stream
head -n 2 late.fa | fasta2h5 -q --subsequence-length 16777216 -o - - >"$stdout" 2>"$stderr"
like "$(cat "$stderr")" 'chunks of 16777216 positions are nearly empty: the longest sequence has 4 bases$' '  but there must be one'
run_refused 1 "^fasta2h5: error: .*$text" '  nor is such a file' fasta2h5 --subsequence-length 67108864 -o x.h5 g.fa

# Lists of names and regions.
limit=110000
for list in '--regions-file regions.bed.gz' '--names names.gz' '--exclude-names names.gz' '--names unknown.gz'; do
    rm -f x.h5
    # shellcheck disable=SC2086 # a list of words
    frugal h5chunk subset -@ 2 $list -o x.h5 g.h5
    if [ "$list" = '--names unknown.gz' ]; then
        stderr_like 'warning: --names unknown\.gz: at least [0-9]+ names match no contig' "$list"
    else
        status_is 0 "$list"
    fi
done
printf 'c1\t0\t10\t1\n' >g.bedgraph
printf 'c1\t10\n' >g.sizes
run_ok 'a blacklist' frugal cov2bigwig -@ 2 --blacklist-file regions.bed.gz --chrom-sizes g.sizes -o x.bw g.bedgraph

# Annotations.
for file in genes.bed genes.gff3; do
    frugal covprofile genes -q -@ 2 --genes $file.gz --chrom-sizes g.sizes g.bedgraph
    refused 1 "^covprofile: error: $file\\.gz:[0-9]+: over [0-9]+ features in a file of at most as many bytes\$" "one line over and over: $file"
done
frugal covprofile genes -q -@ 2 -f --genes long.gff3.gz --chrom-sizes g.sizes -o genes.tsv g.bedgraph
status_is 0 'long names'

# Files of peaks.
printf 'c1\t10\nc2\t4\n' >genome.sizes
for file in regions peaks; do
    run_ok "$file of peaks: compare" frugal covpeaks compare --chrom-sizes genome.sizes $file.bed.gz $file.bed.gz
    run_ok '  stats' frugal covpeaks stats $file.bed.gz
done
is "$(tail -n 1 "$stdout")" 'peaks.bed.gz	6291456	4.333333333333333	3	12	NA' '  counts all'
printf 'c1\t2\t3\n' >one.bed
frugal covpeaks compare --chrom-sizes genome.sizes long_names.bed.gz one.bed
refused 1 'long_names\.bed\.gz: none of the sequences with peaks \(0x+.*\) is in genome\.sizes \(c1, c2\)$' 'peaks on sequences with long names: compare'
frugal covpeaks stats long_names.bed.gz
refused 1 'long_names\.bed\.gz:1: the name of the sequence is longer than 255 bytes$' '  stats'

# Lines of a VCF: a record, and one of the header.
limit=170000
make_ckpt bi-hybrid m.ckpt || exit 99
{
    printf '##fileformat=VCFv4.3\n'
    head -c 9000000 /dev/zero | tr '\0' '#'
} | gzip -1 >header.vcf.gz
{
    printf '##fileformat=VCFv4.3\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
    head -c 9000000 /dev/zero | tr '\0' 'A'
} | gzip -1 >record.vcf.gz
for file in header:2 record:3; do
    frugal coveffect vcf -q -@ 2 --cpu base -m m.ckpt -g g.fa --window 48 -o x.tsv ${file%:*}.vcf.gz
    refused 1 "^coveffect: error: ${file%:*}\.vcf\.gz:${file#*:}: line of more than 8 MiB\$" "a long line of a VCF: ${file%:*}"
done

# Alleles of 7 MB, of which the table has a row for each dataset; 200,000 samples, whose haplotypes are equal; samples that htslib gives
# the memory of the widest one; lines of a header that it compares with each other; a record of a BCF.
cat >variants.py <<'E'
import gzip
import struct
import bgzf
head = b'##fileformat=VCFv4.3\n##contig=<ID=c1>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="">\n'
columns = b"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"
def write(name, *parts):
    with gzip.open(name, "wb", 6) as f:
        for part in parts:
            f.write(part)
write("allele.vcf.gz", head, columns, b"\nc1\t5\t.\tA\t", b"ACGT" * 1750000, b"\t.\t.\t.\n")
n = 200000
samples = columns + b"\tFORMAT\t" + b"\t".join(b"s%d" % i for i in range(n)) + b"\n"
record = b"c1\t%d\t.\tA\tC\t.\t.\t.\tGT\t"
write("samples.vcf.gz", head, samples, *(record % (20 + k) + b"\t".join((b"0|1", b"1|0")[k % 2:k % 2 + 1] * n) + b"\n" for k in range(60)))
write("wide.vcf.gz", head, samples, record % 20 + b"0|1" * 99 + b"\t0|1" * (n - 1) + b"\n")
write("lines.vcf.gz", head, *(b"##a=%d\n" % i for i in range(100000)), columns, b"\n")
text = b"##fileformat=VCFv4.3\n##contig=<ID=c1>\n" + columns + b"\n\0"
with open("record.bcf", "wb") as f:
    f.write(bgzf.block(b"BCF\2\2" + struct.pack("<I", len(text)) + text + struct.pack("<2I", 300000000, 0)))
    f.write(bgzf.block(bytes(60000)) * 5000 + bgzf.block(b""))
E
PYTHONPATH=$SRC/tests/oracle "$PYTHON" variants.py || exit 99
{ printf '>c1\n'; awk 'BEGIN { while (n++ < 20) printf "AAAAAAAAAA"; print "" }'; } >a.fa
for file in allele.vcf.gz samples.vcf.gz wide.vcf.gz lines.vcf.gz record.bcf; do
    [ "$(wc -c <$file)" -lt 1000000 ] || fail "$file has over 1 MB"
    haplotypes=--haplotypes
    [ $file != allele.vcf.gz ] || haplotypes=
    # shellcheck disable=SC2086 # nothing or a word
    frugal coveffect vcf -q -f -@ 2 --cpu base $haplotypes -m m.ckpt -g a.fa --window 48 -o x.tsv $file
    case $file in
    wide*) refused 1 '^coveffect: error: wide\.vcf\.gz:5: 297 bytes per sample, times 200000 samples, are too much$' 'a wide column of many samples' ;;
    lines*) refused 1 '^coveffect: error: lines\.vcf\.gz: more than 20000 lines other than contig, INFO, FORMAT and FILTER in the header$' 'a header of many lines' ;;
    record*) refused 1 '^coveffect: error: record\.bcf: record 1: more than 8 MiB$' 'a long record of a BCF' ;;
    *) status_is 0 "variants: ${file%%.*}" ;;
    esac
done

# Haplotypes that differ: work and memory do not grow with the square of variants, alleles, samples or overlaps.
cat >haplotypes.py <<'E'
import gzip
head = b'##fileformat=VCFv4.3\n##contig=<ID=c1>\n##FORMAT=<ID=GT,Number=1,Type=String,Description="">\n'
columns = b"#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"
def write(name, n, *parts, names=b"s%d", more=b""):
    with gzip.open(name + ".vcf.gz", "wb", 6) as f:
        f.write(head + more + columns + b"\t".join(names % i for i in range(n)) + b"\n")
        for part in parts:
            f.write(part)
def record(pos, calls, alt=b"C", ref=b"A", format=b"GT"):
    return b"c1\t%d\t.\t%s\t%s\t.\t.\t.\t%s\t%s\n" % (pos, ref, alt, format, calls)
n = 200000
blocks = [b"\t".join((b"0|1", b"1|0")[i >> 17 - k & 1] for i in range(n)) for k in range(18)]
write("blocks", n, *(record(20 + 2 * k, blocks[k]) for k in range(18)))
n = 20000
write("alleles", n, *[record(20, b"\t".join(b"0|%d" % (i + 1) for i in range(n)), b",".join([b"C"] * n))] * 2)
write("same", 1, *[record(20, b"0|1") * 1000] * 100)
write("none", 1, *[record(20, b"0|0") * 1000] * 300)
write("deleted", 1, record(20, b"0|1") * 2000, record(22, b"0|1", b"A", b"A" * 90000),
      *(record(1000 + k // 2, b"0|1") for k in range(100000)))
write("long", 1, *[record(20, b"0|1", b"ACGT" * 1250000)] * 20)
write("ploidy", 200000, record(20, b"|".join([b"1"] * 40) + b"\t0|1" * 199999), record(22, b"0|1" + b"\t0|1" * 199999))
write("name", 1, *[record(20 + k, b"0|1") for k in range(100)], names=b"s" * 7000000 + b"%d")
write("fields", 1000, record(20, b"\t".join(b"0|1" + b":" * (i + 1) + b"x" * 16000 if i < 250 else b"0|1" for i in range(1000)),
                             format=b"GT:" + b":".join(b"F%d" % i for i in range(250))),
      more=b"".join(b'##FORMAT=<ID=F%d,Number=1,Type=String,Description="">\n' % i for i in range(250)))
E
"$PYTHON" haplotypes.py || exit 99
{ printf '>c1\n'; awk 'BEGIN { while (n++ < 1000) printf "%0100d\n", 0 }' | tr 0 A; } >a.fa
limit=240000
overlaps='too many overlapping changes \(the limit is 4194304, plus 64 per row\); remove duplicate and overlapping records'
alleles='the alleles of the records in a window need more than 16 MiB; remove duplicate records, or use a smaller --window'
for file in blocks alleles same none deleted long ploidy name fields; do
    [ "$(wc -c <$file.vcf.gz)" -lt 1000000 ] || fail "$file.vcf.gz has over 1 MB"
    frugal coveffect vcf -q -f -@ 2 --cpu base --haplotypes -m m.ckpt -g a.fa --window 48 -o x.tsv $file.vcf.gz
    case $file in
    alleles) status_is 0 "haplotypes: $file" && continue ;;
    blocks | ploidy) text=':[0-9]+: the genotypes of the records in a window need more than 64 MiB; use fewer --samples or a smaller --window' ;;
    same | deleted) text=": record [0-9]+: $overlaps" ;;
    none | long) text=":[0-9]+: $alleles" ;;
    name) text=': the name of sample 1 is longer than 255 bytes' ;;
    fields) text=':255: 4000253 bytes per sample, times 1000 samples, are too much' ;;
    esac
    stderr_like "^coveffect: error: $file\\.vcf\\.gz$text\$" "haplotypes: $file"
done
# Long alleles that no window has.
run_ok 'long alleles' frugal coveffect vcf -q -f -@ 2 --cpu base -m m.ckpt -g a.fa --window 48 -o x.tsv long.vcf.gz
limit=300000

# Annotations: long IDs and parents, and long names of as many features as there may be.
"$PYTHON" - <<'E' || exit 99
import gzip
with gzip.open("ids.gff3.gz", "wb", 6) as f:
    for i in range(1500):
        f.write(b"c1\t.\tgene\t1\t9\t.\t+\t.\tID=%d%s\n" % (i, b"x" * 200000))
with gzip.open("texts.gff3.gz", "wb", 9) as f:
    f.write(b"c1\t.\tgene\t1\t9\t%s\t+\t.\tID=%s\n" % (b"5" * 255, b"x" * 255) * 330000)
with gzip.open("texts.gff3.gz", "ab", 0) as f:
    f.write((b"#" * 1000 + b"\n") * 100)
E
for file in ids texts; do
    frugal covprofile region -q -@ 2 -f -r c1 -o x.tsv --plot x.svg --genes $file.gff3.gz --chrom-sizes g.sizes g.bedgraph
    status_is 0 "an annotation of long $file"
done
done_testing
