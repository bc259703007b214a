#!/bin/sh
# cov2bigwig: regions, bins, normalization, and bigWig on standard output.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
need_python h5py numpy pyBigWig
start_python "$SRC/tests/oracle/track_check.py"

make_input pred p.h5
make_input pred one.h5 datasets=atacseq
make_input pred f.h5 datasets=atacseq value=float dtype=float32
make_input exp e.h5
make_input pred zero.h5 value=zero datasets=atacseq
ask subset one.h5 part.h5 drop=chr1:1000-2000,chr2:all || exit 99
h5chunk cat one.h5 >one.stream || exit 99
cov2bigwig -q -o one.bw one.h5 || exit 99
cov2bigwig -q -o one.bg one.h5 || exit 99
printf 'chr1\t100\t1500\nchr1\t1400\t1600\nMito\t0\t3\nchr2\t999\t1001\n' >keep.bed
keep=chr1:100:1600,Mito:0:3,chr2:999:1001

# ---------------------------------------------------------------- regions

for out in x.bw x.bg; do
    run_ok "-R: $out" cov2bigwig -q -f -R keep.bed -o $out one.h5
    check_track one.h5 $out '  has only the regions' keep=$keep
done
cp x.bg wanted.bg
run cov2bigwig -q -f -r chr1:101-1,500,Mito:-3 -r chr1:1401-1.6k -r chr2:1000-1001 -o x.bg one.h5
ok '-r is the same' cmp x.bg wanted.bg
for input in one.stream one.bw one.bg; do
    run sh -c "cov2bigwig -q -R keep.bed -o - $input | sort -k1,1 -k2,2n"
    ok "  from $input" cmp "$stdout" wanted.bg
done
run sh -c 'cov2bigwig -q -R keep.bed -o - - <one.stream | sort -k1,1 -k2,2n'
ok '  from standard input' cmp "$stdout" wanted.bg
run cov2bigwig -q -f -R keep.bed -o x.bw one.bw
check_track one.h5 x.bw 'a bigWig of a bigWig' keep=$keep
sed '$s/\t[0-9]*$/\t9999999/' keep.bed >past.bed
for input in one.bw one.h5; do
    run cov2bigwig -q -f -R past.bed -o x.bw $input
    stderr_like "^cov2bigwig: warning: past\\.bed: regions extend past the end of 1 sequence of ${input%.*}\\.${input#*.} \\([^ ]+\\); check that they are for this genome\$" \
        "regions past the end of a sequence of $input"
done
run cov2bigwig -q -f -r 'chr1:3901,{scaffold|7:x.1}:5-,é' -o x.bw one.h5
check_track one.h5 x.bw 'regions to the end, and a whole sequence' "keep=chr1:3900:4000,scaffold|7:x.1:4:2000,é:0:9999"
converts one.h5 x.bw 'the values are those of a full run' '-r chr1:101-1600 --window-size 101 --bin-size 70' keep=chr1:100:1600 window=101 bin_size=70
printf 'chr1\t50\t200\nchr1\t1500\t1550\n' >drop.bed
converts one.h5 x.bg 'with a blacklist' '-r chr1:101-1600 --blacklist-file drop.bed --skip-zero' keep=chr1:100:1600 bed=drop.bed skip_zero=1
printf 'chr1 new1\n' >names
converts one.h5 x.bg 'names are those of the input' '-r chr1:101-1600 --rename names' keep=chr1:100:1600 rename=names
run_ok 'of a partial file' cov2bigwig -q -f -R keep.bed -o x.bw part.h5
run cov2bigwig -f --threads 3 -r chr1 -o out3.bw one.h5
run cov2bigwig -f --threads 1 -r chr1 -o out1.bw one.h5
ok 'threads do not matter' cmp out3.bw out1.bw

for input in one.h5 one.stream one.bw one.bg; do
    refuses 1 "^cov2bigwig: error: $input: region chrX:5-: unknown contig chrX; the contigs are: .*chr1" "$input: an unknown contig" \
        -r chr1:5 -r chrX:5- -o y.bg $input
done
for input in one.h5 one.stream one.bw; do
    refuses 1 "^cov2bigwig: error: $input: region chr1:4001: begins past the end of the contig, which has 4000 bases" \
        "$input: past the end" -r chr1:4001 -o y.bg $input
done
refuses 2 'region chr1:9-8: ends before it begins' 'a reversed region' -r chr1:9-8 -o y.bg one.h5
printf 'none\t0\t5\n' >none.bed
refuses 1 '^cov2bigwig: error: one.h5: no sequence overlaps the regions' 'a BED file of other sequences' -R none.bed -o y.bg one.h5
stderr_like 'warning: none.bed: 1 of 1 names are not in one.h5; the first is none' '  is explained'
printf 'chr1\n' >ids
refuses 1 '^cov2bigwig: error: ids:1: expected contig, start and end$' 'a list of ids' -R ids -o y.bg one.h5
refuses 2 '^cov2bigwig: error: --regions is for tracks; --measured writes a table' 'not with --compare' -r chr1 --compare one.bw one.h5

# ---------------------------------------------------------------- bins

for size in 1 7 50 1k 100k; do
    for out in x.bw x.bg; do
        converts one.h5 $out "--bin-size $size: $out" "--bin-size $size" bin_size="$(echo $size | sed 's/k/000/')"
    done
done
cov2bigwig -q -f --bin-size 50 -o wanted.bg one.h5 || exit 99
for input in one.stream one.bw one.bg; do
    run sh -c "cov2bigwig -q --bin-size 50 -o - $input | sort -k1,1 -k2,2n"
    ok "  from $input" cmp "$stdout" wanted.bg
done
converts f.h5 x.bg 'bins come after the scale and before the filters' '--bin-size 50 --min-value 2 --scale 3' bin_size=50 min_value=2 scale=3
converts e.h5 x.bw 'measured coverage' '--experimental --datasets h3k4me3 --bin-size 50' bin_size=50 experimental=1 dataset=h3k4me3
printf 'c\t3\t5\t1\nc\t8\t9\t4\nc\t10\t20\t2\nc\t45\t61\t7\n' >gaps.bg
run cov2bigwig -q --bin-size 10 -o - gaps.bg
stdout_is "$(printf 'c\t3\t9\t2\nc\t10\t20\t2\nc\t45\t61\t7')" 'gaps: bins from their first to their last value'

# ---------------------------------------------------------------- normalization

sum() { # TRACK: the sum of all values
    awk -F '\t' '{ s += ($3 - $2) * $4 } END { printf "%.0f\n", s }' "$1"
}
for input in one.h5 f.h5 one.bw one.bg; do
    case $input in f.h5) source=f.h5 ;; *) source=one.h5 ;; esac
    run cov2bigwig -q -f --normalize cpm -o x.bg $input
    check_track $source x.bg "cpm: $input" normalize=1e6
    is "$(sum x.bg)" 1000000 '  sums to a million'
    run cov2bigwig -q -f --normalize cpm --scale 0.012 -o x.bg $input
    is "$(sum x.bg)" 12000 '  or, with a scale, to the size of the genome'
done
converts one.h5 x.bg 'with all other steps' '--normalize cpm --scale 2 --bin-size 25 --window-size 9 --min-value 0.5 -r chr1' normalize=1e6 scale=2 bin_size=25 window=9 min_value=0.5 keep=chr1:0:9999
printf 'B\na\n' >ids
converts one.h5 x.bg 'dropped sequences do not count' '--normalize cpm --blacklist-file ids' normalize=1e6 drop=B,a
converts one.h5 x.bg 'nor do dropped regions' '--normalize cpm --blacklist-file drop.bed' normalize=1e6 bed=drop.bed
run cov2bigwig -q --normalize cpm -o out/ p.h5
for dataset in atacseq h3k4me3; do
    check_track p.h5 out/p_${dataset}_avg_strand.bw "each dataset by its own sum: $dataset" normalize=1e6 dataset=$dataset
done
for n in 1 3; do
    run cov2bigwig -q -f -@ $n --normalize cpm --bin-size 20 -o t$n.bw f.h5
done
ok 'threads do not matter' cmp t1.bw t3.bw
refuses 2 'standard input is not a file that can be read again' 'a stream' --normalize cpm -o y.bg - <one.stream
echo none >none.ids
run cov2bigwig -q -f --normalize cpm --blacklist-file none.ids -o x.bg part.h5
is "$(grep -c 'none\.ids: 1 of 1 names are not in part' "$stderr") $(grep -c 'partial file' "$stderr")" '1 1' 'one warning of each kind'
touch old.bg
refuses 1 '^cov2bigwig: error: old\.bg: already exists' 'an existing output, before the input is read' --normalize cpm -o old.bg zero.h5
refuses 1 'region nowhere: unknown contig nowhere' '  and an unknown region' --normalize cpm -r nowhere -o y.bg zero.h5
refuses 1 'zero.h5: atacseq: the sum of the values is 0; cannot normalize' 'no coverage' --normalize cpm -o y.bg zero.h5

# ---------------------------------------------------------------- bigWig on standard output

run cov2bigwig -q --format bigwig -o - one.h5
ok 'bigWig on standard output' cmp "$stdout" one.bw
run sh -c 'cov2bigwig -q --format bigwig -o - one.h5 | cat >x.bw'
ok '  in a pipe' cmp x.bw one.bw
mkdir tmp
run cov2bigwig -q --tmpdir tmp --format bigwig -o - - <one.stream
cp "$stdout" x.bw
check_track one.h5 x.bw '  from a stream, with --tmpdir' arrival=1
is "$(find tmp -type f)" '' '  and leaves nothing'
run cov2bigwig -q --format bedgraph.gz -o - one.h5
ok 'compressed bedGraph on standard output' sh -c "gzip -dc $stdout | cmp - one.bg"
if [ -w /dev/full ]; then
    cov2bigwig -q --format bigwig -o - one.h5 >/dev/full 2>"$stderr"
    is $? 1 'a full disk is an error'
    stderr_like 'standard output: No space left' '  and named'
fi
refuses 2 "format is for an output directory or '-'; y.bw is a file" '--format with a file' --format bigwig -o y.bw one.h5
done_testing
