#!/bin/sh
# fasta2h5 compared with files that Helixer made from the same FASTA.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/genome_check.py"

same() { # REFERENCE FILE NAME
    ok "$3" ask file "$1" "$2"
}

run_ok 'a run of N, IUPAC letters, lower case' fasta2h5 --species Made_plant -o plant.h5 "$SRC/tests/data/genome.fa"
same "$SRC/tests/data/genome.h5" plant.h5 '  equals the file by Helixer'

rest_needs_shared reference/fasta2h5 data/fasta
ref=$SHARED/reference/fasta2h5

for compression in gzip fast libdeflate libdeflate:1 lzf none; do
    [ $compression = lzf ] && ! "$PYTHON" -c 'import h5py; assert h5py.h5z.filter_avail(32000)' && continue
    run fasta2h5 --species Species_artificialis_9 --compression $compression -o p.$compression.h5 "$ref/pred_data.fa"
    status_is 0 "pred_data.fa, compression $compression"
    stderr_is '' '  without any message'
    same "$ref/pred_data.21384.h5" p.$compression.h5 '  equals the file by Helixer'
done
for threads in 1 2 5; do
    run fasta2h5 --species Genus_species --subsequence-length 1k -@ $threads -o m.$threads.h5 "$ref/mixed.fa"
    status_is 0 "mixed.fa on $threads threads"
    same "$ref/mixed.1000.h5" m.$threads.h5 '  equals the file by Helixer'
done
# A real genome with many contigs and IUPAC codes, compared base by base.
fasta=$SHARED/data/fasta/sacCer3.renamed.fa.gz
run_ok 'a bgzip file of 12 Mbp' fasta2h5 --stats stats.json -o y.h5 "$fasta"
ok '  equals the result of Python' ask fasta "$fasta" y.h5 21384 sacCer3.renamed
ok '  and the statistics are correct' "$PYTHON" -c '
import json, sys
s = json.load(open("stats.json"))
lengths = [int(line.split("\t")[1]) for line in open(sys.argv[1])]
assert s["tool"] == "fasta2h5" and s["bases"] == sum(lengths), s
assert s["chunks"] == sum(2 * -(-n // 21384) for n in lengths), s
assert s["bases_per_second"] > 0 and {"parse", "encode", "hdf5", "output"} <= set(s["stages"]), s' "$fasta.fai"
done_testing
