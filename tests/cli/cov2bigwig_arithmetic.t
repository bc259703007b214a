#!/bin/sh
# cov2bigwig --minus, --log2 and --mean: every kind of input and option, gaps, contigs and lengths, compared with NumPy.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
need_python h5py numpy pyBigWig
start_python "$SRC/tests/oracle/track_check.py"

make_input pred p.h5
make_input pred q.h5 seed=2
make_input pred f.h5 seed=3 value=float dtype=float32
make_input pred g.h5 seed=8 value=float dtype=float32
make_input exp e.h5 seed=4
for name in p q f; do
    cov2bigwig -q --datasets atacseq -o $name.bw $name.h5 || exit 99
    cov2bigwig -q --datasets atacseq -o $name.bg $name.h5 || exit 99
done
awk '$1 != "Mito" && NR % 3' q.bg >gaps.bg
printf 'chr1\t4000\nchr10\t1\nchr2\t1000\nMito\t1001\nscaffold|7:x.1\t2000\nB\t7\na\t37\né\t150\n' >sizes
cov2bigwig -q --chrom-sizes sizes -o gaps.bw gaps.bg || exit 99

# Each line: the operation, INPUT, other files, options, and what the oracle gets of them.
while read -r op input others options keys; do
    [ "$options" = - ] && options=''
    # shellcheck disable=SC2046 # lists of words
    for out in x.bw x.bg; do
        rm -f $out
        run cov2bigwig -q -f --datasets atacseq "--$op" "$others" $(echo "$options" | tr '|' ' ') -o $out "$input"
        check_track "$input" $out "--$op $input $others $options: $out" "op=$op" "others=$others" $(echo "$keys" | tr '|' ' ')
    done
done <<'END'
minus p.h5 q.h5 -
log2 p.h5 q.h5 -
mean p.h5 q.h5 -
mean p.h5 q.h5,f.h5,e.h5,p.bw -
minus p.h5 e.h5 -
minus e.h5 p.h5 -
minus f.h5 p.bw -
minus p.bw f.h5 -
log2 p.h5 gaps.bw -
mean f.h5 q.bg,gaps.bg -
log2 p.h5 q.h5 --pseudocount=0.01 pseudocount=0.01
minus p.h5 q.h5 --strand=- strand=-
log2 f.h5 g.h5 --window-size=50 window=50
minus f.h5 g.h5 --smooth=gauss:3 sd=3
log2 p.h5 f.h5 --bin-size=50 bin_size=50
mean p.h5 gaps.bw --bin-size=7 bin_size=7
minus p.h5 q.h5 --scale=0.3 scale=0.3
minus p.h5 q.h5 --normalize=cpm normalize=1e6
log2 p.h5 q.bw --normalize=cpm|--scale=3 normalize=1e6|scale=3
minus p.h5 q.h5 --skip-zero skip_zero=1
minus p.h5 q.h5 --min-value=-1 min_value=-1
END

run cov2bigwig -f --normalize cpm --bin-size 50 --window-size 5 -r chr1 --minus p.h5 -o x.bg p.bw
refused 1 'choose one with --datasets$' 'several datasets and a track'
ln -s p.h5 link.h5
cp p.bw copy.bw
run_ok 'a track minus itself' cov2bigwig -f --normalize cpm --bin-size 50 --window-size 5 --scale 3 -r chr1 --minus copy.bw -o x.bg p.bw
is "$(cat x.bg)" 'chr1	0	4000	0' '  is exactly 0'
run_ok '  has no base with --skip-zero' cov2bigwig -f --skip-zero --minus copy.bw -o x.bg p.bw
is "$(cat x.bg)" '' '    in the result'

printf 'chr1\t5\t90\nchr2\t0\t10\n' >drop.bed
printf 'chr1 one\n' >names
cov2bigwig -q -f --rename names --blacklist-file drop.bed -r chr1:51-2000,Mito --minus q.bw -o x.bg p.bw
check_track p.bw x.bg 'regions, a blacklist and names' op=minus others=q.bw keep=chr1:50:2000,Mito:0:1001 bed=drop.bed rename=names

mkdir out
run cov2bigwig -q -f --log2 q.bw --normalize cpm --scale 1e-4 -o x.bg p.bw
stderr_like 'warning: q\.bw: after --normalize, the mean is 0\.[0-9]+; --log2 adds 1, which hides .*, or --scale 0\.[0-9]+$' \
    'a pseudo-count much greater than the values'
scale=$(sed 's/.* //' "$stderr")
for options in "--scale $scale" '--scale 1e-4 --pseudocount 0.01'; do
    # shellcheck disable=SC2086 # words
    run_ok "  but not with $options" cov2bigwig -q -f --log2 q.bw --normalize cpm $options -o x.bg p.bw
    stderr_is '' '    which causes no warning'
done
run_ok 'a directory' cov2bigwig --log2 q.h5 -@ 3 -o out/ p.h5
is "$(find out -type f | sort | tr '\n' ' ')" 'out/p_atacseq_avg_strand_log2.bw out/p_h3k4me3_avg_strand_log2.bw ' '  has a track for each dataset'
for dataset in atacseq h3k4me3; do
    check_track p.h5 out/p_${dataset}_avg_strand_log2.bw "  $dataset" op=log2 others=q.h5 dataset=$dataset
done
run cov2bigwig -q --window-size 3 --format bedgraph --mean q.bw -o out/ p.bw
check_track p.bw out/p_ws=3_mean.bg 'a directory of a track' op=mean others=q.bw window=3
make_input pred three.h5 datasets=h3k4me3,x,atacseq seed=5
make_input pred two.h5 datasets=y,h3k4me3 seed=6
run cov2bigwig -f --mean three.h5,two.h5 -o x.bw p.h5
stderr_is 'cov2bigwig: warning: two.h5: skipping datasets of p.h5 that it does not have: atacseq' 'datasets that only some have'
check_track p.h5 x.bw '  are skipped' op=mean others=three.h5,two.h5 dataset=h3k4me3
refuses 1 '^cov2bigwig: error: two\.h5: unknown dataset '\''atacseq'\''; it has: y, h3k4me3$' '  unless they are named' --datasets atacseq --minus two.h5 -o y.bw p.h5

# ---- streams
cov2bigwig -q -f --datasets atacseq --minus q.bw -o wanted.bg p.h5
h5chunk cat p.h5 >p.stream || exit 99
run sh -c 'cov2bigwig --datasets atacseq --minus q.bw -o - - <p.stream | sort -k1,1 -k2,2n'
ok 'a stream' cmp "$stdout" wanted.bg
h5chunk cat q.h5 >q.stream || exit 99
run sh -c 'cov2bigwig --datasets atacseq --minus q.stream -o - p.h5'
ok '  as the other file' cmp "$stdout" wanted.bg
run sh -c 'cat p.bg | cov2bigwig --minus q.bg -o - - | sort -k1,1 -k2,2n'
ok 'bedGraph from a pipe' cmp "$stdout" wanted.bg
for threads in 1 3; do
    cov2bigwig -@ $threads --datasets atacseq --mean q.h5 -o t$threads.bw p.h5
done
ok 'the same bytes for any number of threads' cmp t1.bw t3.bw

# ---- gaps, contigs, lengths
run cov2bigwig -f --minus gaps.bw -o x.bg p.bw
stderr_like '^cov2bigwig: warning: p\.bw: no values in --minus at [0-9]* % of its bases, which become gaps; --fill-gaps counts them as 0$' 'gaps'
check_track p.bw x.bg '  are gaps in the result' op=minus others=gaps.bw
run_ok '--fill-gaps' cov2bigwig -f --minus gaps.bw --fill-gaps -o x.bw p.bw
stderr_is '' '  without a warning'
awk -v OFS='\t' 'NR == FNR { n[$1] = $2; next } FNR == 1 || $1 != last { if (last && at < n[last]) print last, at, n[last], 0; at = 0; last = $1 }
    $2 > at { print $1, at, $2, 0 } { print; at = $3 } END { if (at < n[last]) print last, at, n[last], 0; print "Mito", 0, n["Mito"], 0 }' \
    sizes gaps.bg >filled.bg
check_track p.bw x.bw '  counts them as 0' op=minus others=filled.bg
run_ok '  of a bedGraph' cov2bigwig -f --fill-gaps --chrom-sizes sizes -o x.bg gaps.bg
check_track filled.bg x.bg '    that is converted' arrival=1
grep -v '^chr1	' q.bg >fewer.bg
printf 'new\t0\t9\t1\n' >>fewer.bg
run cov2bigwig -f --minus fewer.bg -o x.bw p.bw
stderr_like '^cov2bigwig: warning: p\.bw: skipping 1 of 8 contigs that are not in fewer\.bg: chr1$' 'a contig that the other track lacks'
stderr_like '^cov2bigwig: warning: fewer\.bg: skipping 1 of 8 contigs that are not in p\.bw: new$' '  and one that only it has'
check_track p.bw x.bw '  is empty in the result' op=minus others=fewer.bg
printf 'new\t0\t9\t1\n' >new.bg
refuses 1 '^cov2bigwig: error: p\.bw: none of its contigs \(.*\) is in new\.bg \(new\); --rename maps names$' 'no contig in common' \
    --minus new.bg -o y.bg p.bw
printf 'chr2\t0\t5\t1\n' >a.bg
printf 'chr2\t5\t9\t1\n' >b.bg
run cov2bigwig -f --mean b.bg -o x.bg a.bg
stderr_like '^cov2bigwig: warning: a\.bg: no values in --mean at 100 % of its bases, which become gaps; --fill-gaps' 'no base in common'
is "$(cat x.bg)" '' '  gives an empty track'
printf 'chr2\t0\t1001\t1\n' >long.bg
refuses 1 '^cov2bigwig: error: long\.bg: contig chr2 reaches base 1001, but has only 1000 bases in p\.bw$' 'a contig that is too long' \
    --minus long.bg -o y.bg p.bw
refuses 1 '^cov2bigwig: error: long\.bg: contig chr2 reaches base 1001, but has only 1000 bases in p\.bw$' '  in INPUT' \
    --minus p.bw -o y.bg long.bg
make_input pred other.h5 length=999
refuses 1 '^cov2bigwig: error: p\.h5: contig [^ ]* has [0-9]* bases, but [0-9]* in other\.h5$' 'different lengths' \
    --datasets atacseq --minus other.h5 -o y.bw p.h5
printf 'chr2\t0\t5\t-3\n' >minus.bg
refuses 1 '^cov2bigwig: error: y\.bg: chr2:1: no logarithm of \(1 \+ 1\) / \(-3 \+ 1\)$' 'a ratio without a logarithm' --log2 minus.bg -o y.bg a.bg
run_ok '  which a pseudo-count gives it' cov2bigwig -f --log2 minus.bg --pseudocount 5 -o x.bg a.bg
is "$(cat x.bg)" 'chr2	0	5	1.58496249' '  log2(6 / 2)'
run sh -c "ulimit -f 1; exec cov2bigwig -f --datasets atacseq --minus q.h5 --tmpdir . -o y.bw p.h5"
refused 1 'cov2bigwig: error: .*(File too large|could not be written)$' 'a disk that is full'
run cov2bigwig -f --stats s.json --datasets atacseq --minus q.h5 -o x.bw p.h5
ok '--stats' "$PYTHON" -c '
import json
s = json.load(open("s.json"))
assert s["inputs"] == ["p.h5", "q.h5"] and "minus" in s["stages"] and s["chunks"] == 2 * 13, s
assert s["bases"] == 4000 + 1 + 1000 + 1001 + 2000 + 7 + 37 + 150, s
'
done_testing
