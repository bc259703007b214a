#!/bin/sh
# covpredict -r, -R and --overlap: regions have the values of a full run, windows match their definition.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy
start_python "$SRC/tests/oracle/overlap_check.py"

make_ckpt bi-hybrid m.ckpt || exit 99
ok 'makes a genome, and its windows as sequences' ask genome g.fa 300
fasta2h5 --subsequence-length 1008 -o g.h5 g.fa || exit 99
covpredict -q --float --subsequence-length 1008 -m m.ckpt -o windows.h5 g.fa.windows || exit 99
covpredict -q --float -m m.ckpt -o plain.h5 g.h5 || exit 99

# ---------------------------------------------------------------- overlap

run_ok '--overlap' covpredict -q --float --overlap 300 --batch-size 3 -@ 2 -m m.ckpt -o o.h5 g.h5
ok '  has the values of the windows' ask overlap o.h5 windows.h5 300
run covpredict -q --float --overlap 300 -@ 1 --subsequence-length 1008 -m m.ckpt -o x.h5 g.fa
ok '  the same bytes from FASTA' cmp x.h5 o.h5
run covpredict -q -f --float --overlap 300 --loading ram-packed -m m.ckpt -o x.h5 g.h5
ok '  the same bytes from memory' cmp x.h5 o.h5
for i in 1 2 3; do
    covpredict -q --float --overlap 300 --shard $i/3 --loading ram -m m.ckpt -o part$i.h5 g.h5 || fail "shard $i"
done
run h5chunk merge -q -f -o x.h5 part3.h5 part1.h5 part2.h5
ok '  shards give the same values' ask equal x.h5 o.h5
rm part?.h5
run sh -c 'covpredict -q --float --overlap 300 -m m.ckpt -o - g.h5 | h5chunk save -q -f -o x.h5 -'
ok '  a stream gives the same values' ask equal x.h5 o.h5
run covpredict -q -f --float --overlap 0 -m m.ckpt -o x.h5 g.h5
ok '--overlap 0 changes nothing' cmp x.h5 plain.h5
rm x.h5
h5chunk split --shards 5 -o part g.h5 || exit 99
fasta2h5 -q --subsequence-length 1008 -o - g.fa >g.stream || exit 99
: >none.bed
while IFS='|' read -r code args regex; do
    # shellcheck disable=SC2086 # a list of words
    run_refused "$code" "^covpredict: error: $regex" "refused: $args" covpredict -m m.ckpt -o x.h5 $args
done <<'END'
1|--overlap 1008 g.h5|--overlap: 1008 must be less than the length of a chunk, 1008$
1|--overlap 30k g.fa|--overlap: 30000 must be less than the length of a chunk, 21384$
2|--overlap -1 g.h5|--overlap: 
1|--overlap 10 part.2.h5|part\.2\.h5: --overlap needs complete sequences, but chunks of c[0-9] are missing
1|--overlap 10 g.stream|g\.stream is a chunk stream, which cannot be predicted with overlap$
1|-r c1 g.stream|g\.stream is a chunk stream, which cannot be limited to regions$
1|-r c9 g.h5|g\.h5: region c9: unknown contig c9; the contigs are: c1, c2, c3, c4, c5, \.\.\.$
1|-r c9:1-2 g.fa|g\.fa: region c9:1-2: unknown contig c9; the contigs are: c1, c2, c3, c4, c5, \.\.\.$
1|-r c1:5000-5001 g.h5|g\.h5: region c1:5000-5001: begins past the end of the contig, which has 4000 bases$
1|-r c9:5- g.h5|g\.h5: region c9:5-: unknown contig c9; the contigs are: c1, c2, c3, c4, c5, \.\.\.$
1|-r c1:5k g.h5|g\.h5: region c1:5k: begins past the end of the contig, which has 4000 bases$
1|-R none.bed g.h5|g\.h5: no sequence overlaps the regions$
1|-R absent.bed g.h5|absent\.bed: No such file
END
rm part.?.h5 g.stream none.bed

# ---------------------------------------------------------------- regions

printf 'c1\t999\t1300\nc8\t5000\t5001\nc8\t5001\t6100\nc2\t0\t1\n' >r.bed
run_ok '-R' covpredict -q --float -R r.bed -m m.ckpt -o r.h5 g.h5
ok '  has the values of a full run, and -1 outside' ask regions r.h5 plain.h5 r.bed
ok '  passes h5chunk verify' h5chunk verify r.h5
run covpredict -q -f --float -r c1:1,000-1,300,c8:5001-6100 -r c2 -m m.ckpt -o x.h5 g.h5
ok '-r gives the same bytes' cmp x.h5 r.h5
run covpredict -q -f --float -r c8:5,001-6.1k,c1:1k-1,300 -r c2:-1 -m m.ckpt -o x.h5 g.h5
ok '-r with units, and without a first position' ask regions x.h5 plain.h5 r.bed
printf 'c1\t3899\t4000\nc3\t0\t10\n' >ends.bed
run covpredict -q -f --float -R ends.bed -m m.ckpt -o x.h5 g.h5
unlike "$(cat "$stderr")" 'ends after' 'regions that end with their sequence'
printf 'c1\t3899\t4001\nc3\t0\t10\n' >past.bed
run covpredict -q -f --float -R past.bed -m m.ckpt -o x.h5 g.h5
stderr_like 'past\.bed:1: the region extends past the end of its contig \(1 such line\); check that it is for this genome$' '  or after it'
for last in c1:3900 c1:3900- '{c1}:3.9k-'; do
    run covpredict -q -f --float -r "$last" -r c3:-10 -m m.ckpt -o x.h5 g.h5
    ok "-r $last" ask regions x.h5 plain.h5 ends.bed
done
printf 'chr1\t0\t10\n' >x.bed
run covpredict -m m.ckpt -f -o x.h5 -R x.bed g.h5
status_is 1 'a BED file of other names'
stderr_like 'x\.bed: 1 name matches no contig: chr1; the contigs are: c1, c2, c3, c4, c5, \.\.\.$' '  names those of the genome'
run covpredict -q -f --float -R r.bed --overlap 300 -m m.ckpt -o x.h5 g.h5
ok 'with --overlap, the values of a full run with --overlap' ask regions x.h5 o.h5 r.bed
for i in 1 2; do
    covpredict -q --float -R r.bed --shard $i/2 -m m.ckpt -o part$i.h5 g.h5 || fail "shard $i"
done
run h5chunk merge -q -f --allow-holes -o x.h5 part2.h5 part1.h5
ok 'shards give the same values' ask equal x.h5 r.h5
rm part?.h5
h5chunk subset -q -r c1 -o part1.h5 plain.h5 || exit 99
covpredict -q --float -r c8:5001-6100 -m m.ckpt -o part2.h5 g.h5 || fail 'c8'
covpredict -q --float -r c1:7-9 -m m.ckpt -o part3.h5 g.h5 || fail 'c1'
run h5chunk merge -q -f --allow-holes -o y.h5 part1.h5 part2.h5
ok 'merged with complete chunks' h5chunk verify y.h5
run h5chunk merge -q -f --allow-holes -o y.h5 part2.h5 part3.h5
run covpredict --resume --float -r c1:7-9 -m m.ckpt -o y.h5 g.h5
stderr_like '^covpredict: error: y\.h5: already exists, and it has different regions' '  merged regions match neither of them'
covpredict -q -f --float -r c8:5001-6100 --overlap 300 -m m.ckpt -o part2.h5 g.h5 || fail 'c8 with overlap'
run h5chunk merge -q -f --allow-holes -o y.h5 part1.h5 part2.h5
stderr_like 'prediction/predictions was predicted with different --overlap$' 'files with and without --overlap are not merged'
rm part?.h5 y.h5

# Tracks have gaps where nothing was predicted, from any form of predictions.
run cov2bigwig -q --datasets atacseq -o r.bg r.h5
cov2bigwig -q --datasets atacseq -o plain.bg plain.h5 || exit 99
ok 'a track of regions' ask track r.bg plain.bg r.bed
run cov2bigwig -q --datasets atacseq -o x.bg x.h5
ok '  of merged shards' cmp x.bg r.bg
run sh -c 'covpredict -q --float -R r.bed -m m.ckpt -o - g.h5 | cov2bigwig -q -f --datasets atacseq -o x.bg -'
ok '  of a stream' cmp x.bg r.bg
run h5chunk repack -q --compression lz4 -f -o x.h5 r.h5
run cov2bigwig -q -f --datasets atacseq -o x.bg x.h5
ok '  of a repacked file' cmp x.bg r.bg
# Without the mark, -1 is not a valid value.
ok 'a file without the mark' ask unmark x.h5
run cov2bigwig -q -f --datasets atacseq -o x.bg x.h5
status_is 1 '  is damaged'
stderr_like 'x\.h5: atacseq: row [0-9]+ .*: -1 is not a valid coverage' '  which is reported'
run h5chunk verify x.h5
status_is 1 '  also by h5chunk verify'
done_testing
