#!/bin/sh
# cov2bigwig on the chunk stream and on partial files.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
need_python h5py numpy pyBigWig

start_python "$SRC/tests/oracle/track_check.py"
make_subset() { # FILE OUT LIST
    ask subset "$1" "$2" "drop=$3" || exit 99
}
# from FILE [ARG]...: cov2bigwig on the stream of FILE.
from() {
    h5chunk cat -q "$1" >stream || exit 99
    shift
    # shellcheck disable=SC2016 # for the inner shell
    run sh -c 'cat stream | cov2bigwig "$@" -' sh "$@"
}

# Unsorted contigs of one base, one chunk and several chunks.
make_input pred p.h5
make_input pred one.h5 datasets=atacseq seed=3
make_input pred float.h5 datasets=atacseq seed=5 dtype=float32 value=float
make_input exp e.h5 seed=2
# It has no bases.
"$PYTHON" -c 'import h5py; f = h5py.File("e.h5", "r+"); del f["data/X"]'

# ---------------------------------------------------------------- the same tracks as from the file

for options in 'one' 'p --strand=+' 'p --strand=-' 'float --window-size 2500 --scale=-2' 'one --skip-zero --min-value 2'; do
    # shellcheck disable=SC2086 # options are words
    {
        set -- $options
        file=$1.h5
        shift
        run_ok "bedGraph from a stream of $options" from "$file" --datasets atacseq "$@" -f -o s.bg
        run cov2bigwig --datasets atacseq "$@" -f -o f.bg "$file"
    }
    is "$(LC_ALL=C sort s.bg)" "$(LC_ALL=C sort f.bg)" '  has the lines of the file'
done
from one.h5 -o -
is "$(cut -f 1 "$stdout" | uniq | tr '\n' ' ')" 'chr1 chr10 chr2 Mito scaffold|7:x.1 B a é ' 'contigs come out as they come in'
from one.h5 --window-size 150 -o s.bw
stderr_is '' 'bigWig from a stream, without a word'
check_track one.h5 s.bw '  is right' arrival=1 window=150
for suffix in bg bg.gz; do
    from float.h5 --window-size 20 -f -o s.$suffix
    check_track float.h5 s.$suffix "s.$suffix is right" arrival=1 window=20
done
ok 'it has a tabix index' test -s s.bg.gz.tbi
is "$(echo s.bg.gz*)" 's.bg.gz s.bg.gz.tbi' '  and no others'
if command -v tabix >/dev/null; then
    is "$(tabix s.bg.gz chr2:5-900)" "$(awk -F '\t' '$1 == "chr2" && $2 < 900 && $3 > 4' s.bg)" '  which finds a region'
fi
run_refused 1 's\.bg\.gz: already exists' 'an existing output' from one.h5 -o s.bg.gz
rm s.bg.gz
run_refused 1 's\.bg\.gz\.tbi: already exists; use -f' 'an existing index' from one.h5 -o s.bg.gz
mv s.bg.gz.tbi s.bg.gz.csi
run_refused 1 's\.bg\.gz\.csi: already exists; use -f' 'an index of the other kind' from one.h5 -o s.bg.gz
from one.h5 -f -o s.bg.gz
is "$(echo s.bg.gz*)" 's.bg.gz s.bg.gz.tbi' '  is replaced with -f'
rm s.bw s.bg s.bg.gz s.bg.gz.tbi f.bg

mkdir out
run_ok 'several datasets to a directory' from p.h5 -o out/
is "$(find out -type f | sort | tr '\n' ' ')" 'out/stdin_atacseq_avg_strand.bw out/stdin_h3k4me3_avg_strand.bw ' '  are named after standard input'
for dataset in atacseq h3k4me3; do
    check_track p.h5 out/stdin_${dataset}_avg_strand.bw "  $dataset is right" arrival=1 dataset=$dataset
done
run_ok 'measured coverage' from e.h5 --experimental --basename e -o out/
for dataset in atacseq h3k4me3; do
    check_track e.h5 out/e_${dataset}_avg_strand.bw "  $dataset is right" arrival=1 experimental=1 dataset=$dataset
done
rm -r out
for threads in 1 2 5; do
    mkdir "t$threads"
    from p.h5 -@ $threads -o "t$threads/"
    from p.h5 -@ $threads --format bedgraph.gz -o "t$threads/"
done
ok 'the same bytes with 2 threads' diff -r t1 t2
ok 'the same bytes with 5 threads' diff -r t1 t5
rm -r t1 t2 t5
h5chunk cat -q one.h5 >one.stream
run_ok 'a stream stored in a file' cov2bigwig -o s.bw one.stream
check_track one.h5 s.bw '  is right' arrival=1
rm s.bw

# ---------------------------------------------------------------- names

printf 'chr1 first\nMito MT\nabsent x\n' >names
printf '# these\nchr2\nabsent\n' >ids
run_ok 'names and a blacklist' from one.h5 --rename names --blacklist-file ids -o s.bw
check_track one.h5 s.bw '  are those of the stream' arrival=1 rename=names drop=chr2
stderr_like '^cov2bigwig: warning: ids: 1 of 2 names are not in standard input; the first is absent$' '  unknown ones are counted'
stderr_like '^cov2bigwig: warning: names: 1 of 3 names are not in standard input$' '  in both'
printf 'chr1\t10\t20\nchr1\t15\t30\tx\nchr2\t0\t999999\n' >regions.bed
from one.h5 --blacklist-file regions.bed -f -o s.bw
check_track one.h5 s.bw 'regions are dropped' arrival=1 bed=regions.bed
rm s.bw
find . | sort >"$tap_dir/before"
printf 'chr10 chr1\n' >names
from one.h5 --rename names -o s.bw
refused 1 'names: chr10 is renamed to chr1, which is the name of an earlier sequence' 'two sequences with the same name'
printf 'chr1\nchr10\nchr2\nMito\nscaffold|7:x.1\nB\na\n\303\251\n' >ids
from one.h5 --blacklist-file ids -o s.bw
refused 1 'standard input: no contig left: all are listed in ids' 'a blacklist of everything'
run_refused 1 "unknown dataset 'x'; it has: atacseq" 'an unknown dataset' from one.h5 --datasets x -o s.bw
run_refused 1 '2 datasets' 'two datasets for one file' from p.h5 -o s.bw
from e.h5 -o s.bw
refused 1 'standard input: a genome with measured coverage, not predictions: ' 'a genome without --experimental'
from one.h5 --experimental -o s.bw
refused 1 'standard input: predictions, not measured coverage: ' 'predictions with --experimental'
make_input pred blank.h5 datasets=d names='a b,c'
run_refused 1 "the name of contig 'a b' has white space" 'a name with a blank' from blank.h5 -o s.bg
run_refused 1 'is not a finite number' 'values that overflow' from one.h5 --scale 1e300 -o s.bw
ask cut one.h5 bad.h5 what=negative || exit 99
from bad.h5 -o s.bg
refused 1 'standard input: atacseq: chr1:.*index 5: -1 is not a valid coverage' 'a negative value'

# ---------------------------------------------------------------- truncated streams

h5chunk cat -q p.h5 >stream
size=$(stat -c %s stream)
for part in 0 1 17 18 100 $((size / 5)) $((size / 2)) $((size * 4 / 5)) $((size - 29)) $((size - 1)); do
    head -c "$part" stream >part.cov
    run_refused 1 'standard input: .*' "a stream cut to $part of $size bytes" sh -c 'mkdir out; cat part.cov | cov2bigwig -o out/ -'
    is "$(ls -A out)" '' '  leaves nothing'
    rmdir out
done
head -c $((size - 28)) stream >part.cov
refuses 1 'part.cov: .*' 'a stream without its last block, from a file' --datasets atacseq -o s.bw part.cov
head -c $((size - 60)) stream >part.cov
refuses 1 'part.cov: .*' 'a stream without its end' --datasets atacseq -o s.bg.gz part.cov
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'head -c 300 stream | cov2bigwig --datasets atacseq -o - -'
refused 1 'standard input: .*' 'a truncated stream, to standard output'
refuses 1 'empty' 'an empty file' -o s.bw /dev/null

# ---------------------------------------------------------------- partial files

# Gaps at the start, in the middle and at the end of a sequence; a missing sequence.
make_subset one.h5 part.h5 chr1:1000-2000,chr2:0-1000,scaffold\|7:x.1:1000-2000,B:all
for options in '' 'strand=-' 'window=1500'; do
    flag=$(echo "$options" | sed 's/^\(.\)/--\1/; s/window/window-size/')
    for track in x.bw x.bg; do
        # shellcheck disable=SC2086 # an empty option must expand to no word
        converts part.h5 $track "a partial file as $track, with gaps for missing chunks $options" "$flag" $options
    done
    # shellcheck disable=SC2086 # an empty option must expand to no word
    {
        from part.h5 $flag -f -o s.bw
        check_track part.h5 s.bw '  from a stream too' arrival=1 $options
    }
done
is "$("$PYTHON" -c 'import pyBigWig; print(sorted(pyBigWig.open("x.bw").chroms().items()))')" \
    "$("$PYTHON" -c 'import pyBigWig; print(sorted(pyBigWig.open("s.bw").chroms().items()))')" 'sizes are those of the whole sequences'
rm x.bw s.bw x.bg
make_subset one.h5 strands.h5 chr1:1000-2000:-,chr10:all
for strand in + -; do
    converts strands.h5 x.bw "a chunk without - strand, $strand" "--strand $strand" strand=$strand
    from strands.h5 --strand $strand -f -o s.bw
    check_track strands.h5 s.bw '  from a stream too' arrival=1 strand=$strand
done
rm x.bw s.bw
refuses 1 'strands\.h5: chr1:1001-2000: only the \+ strand is present' 'the mean with a missing strand' -o x.bw strands.h5
from strands.h5 -o s.bw
refused 1 'standard input: chr1:1001-2000: only the \+ strand is present, but the mean needs both; use --strand \+' '  from a stream'
make_subset one.h5 none.h5 "$(for n in chr1 chr10 chr2 Mito scaffold\|7:x.1 B a é; do printf '%s:all,' "$n"; done)"
converts none.h5 x.bw 'a partial file without rows has sequences without values' ''
rm x.bw

leaves p.h5 one.h5 float.h5 e.h5 blank.h5 bad.h5 one.stream stream part.cov names ids regions.bed part.h5 strands.h5 none.h5 \
    'none of these left a file'
done_testing
