#!/bin/sh
# cov2bigwig: every option and output, bad inputs, failing outputs, signals.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/signals.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
need_python h5py numpy pyBigWig

start_python "$SRC/tests/oracle/track_check.py"

make_input pred p.h5
make_input exp e.h5 seed=2
make_input pred one.h5 datasets=atacseq seed=3

listing() { # DIRECTORY
    find "$1" -mindepth 1 -printf '%f\n' | sort | tr '\n' ' '
}

# ---------------------------------------------------------------- outputs

mkdir out
run_ok 'a directory' cov2bigwig -o out/ p.h5
stderr_is '' '  without a word'
stdout_is '' '  and nothing on standard output'
is "$(listing out)" 'p_atacseq_avg_strand.bw p_h3k4me3_avg_strand.bw ' '  has one bigWig per dataset'
for dataset in atacseq h3k4me3; do
    check_track p.h5 out/p_${dataset}_avg_strand.bw "  $dataset is right" dataset=$dataset
done
run_ok 'an existing directory needs no slash' cov2bigwig -f -o out p.h5
for suffix in bw bigWig BW bedGraph bg bdg bedGraph.gz bg.gz bdg.gz; do
    run_ok "x.$suffix" cov2bigwig --datasets h3k4me3 -o x.$suffix p.h5
    case $suffix in
    BW) mv x.BW x.bw ;;
    esac
    check_track p.h5 "x.$(echo "$suffix" | sed s/BW/bw/)" '  is right' dataset=h3k4me3
done
is "$(find . -maxdepth 1 -name 'x*' | sort | tr '\n' ' ')" \
    './x.bdg ./x.bdg.gz ./x.bdg.gz.tbi ./x.bedGraph ./x.bedGraph.gz ./x.bedGraph.gz.tbi ./x.bg ./x.bg.gz ./x.bg.gz.tbi ./x.bigWig ./x.bw ' \
    'compressed bedGraph comes with an index'
ok 'compressed and plain bedGraph are equal' sh -c 'gzip -dc x.bg.gz | cmp - x.bg'
if command -v tabix >/dev/null; then
    is "$(tabix x.bg.gz chr2:5-900)" "$(awk -F '\t' '$1 == "chr2" && $2 < 900 && $3 > 4' x.bg)" \
        'tabix finds a region'
    is "$(tabix -l x.bg.gz | tr '\n' ' ')" "$(cut -f 1 x.bg | uniq | tr '\n' ' ')" '  and lists the contigs'
fi
run cov2bigwig --datasets h3k4me3 -o - p.h5
cp "$stdout" std.bg
ok 'standard output' cmp std.bg x.bg
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'cov2bigwig --datasets h3k4me3 -o - p.h5 | cat >std.bg'
ok 'a pipe' cmp std.bg x.bg
ln -s nowhere link.bw
run_ok 'a link to nothing' cov2bigwig -f -o link.bw one.h5
check_track one.h5 link.bw '  is replaced'
rm -r out x.* std.bg link.bw

for threads in 1 2 5; do
    mkdir "t$threads"
    run cov2bigwig -@ $threads -o "t$threads/" p.h5
    run cov2bigwig -@ $threads --format bedgraph.gz -o "t$threads/" p.h5
done
ok 'the same bytes with 2 threads' diff -r t1 t2
ok 'the same bytes with 5 threads' diff -r t1 t5
rm -r t1 t2 t5

# ---------------------------------------------------------------- file names

mkdir out
run_ok 'a base name, a strand, a window' cov2bigwig --format bedgraph --basename 'a b' --strand - --window-size 7 -o out/ one.h5
printf 'Mito\n' >ids
run cov2bigwig --format bedgraph.gz --strand=+ --blacklist-file ids --window_size=12 -o out/ one.h5
status_is 0 'a blacklist and an option with an underscore'
run_ok 'a Gaussian' cov2bigwig --format bedgraph --smooth gauss:2.50 -o out/ one.h5
is "$(listing out)" \
    'a b_atacseq_-_strand_ws=7.bg one_atacseq_+_strand_bl_ws=12.bg.gz one_atacseq_+_strand_bl_ws=12.bg.gz.tbi one_atacseq_avg_strand_smooth=2.5.bg ' \
    'names are like those of Predmoter'
check_track one.h5 'out/a b_atacseq_-_strand_ws=7.bg' '  - strand' strand=- window=7
check_track one.h5 'out/one_atacseq_+_strand_bl_ws=12.bg.gz' '  + strand' strand=+ window=12 drop=Mito
rm -r out

# ---------------------------------------------------------------- conversion

for window in 1 2 3 10 150 999 1000 1001 2500 100000; do
    converts one.h5 w.bw "a window of $window" "--window-size $window" window=$window
done
converts one.h5 w.bg 'a window of 1k' '--window-size 1k' window=1000
for sd in 0.1 1 2.5 50 400; do
    converts one.h5 w.bw "a Gaussian of $sd" "--smooth gauss:$sd" sd=$sd
    mv w.bw last.bw
done
run cov2bigwig --smooth gauss:400 -@ 3 -o w.bw one.h5
ok '  the same for any number of threads' cmp w.bw last.bw
rm w.bw last.bw
for strand in avg + -; do
    converts p.h5 s.bw "strand $strand" "--datasets atacseq --strand $strand" strand=$strand
done
for dataset in atacseq h3k4me3; do
    converts e.h5 e.bw "measured coverage of $dataset" "--experimental --datasets $dataset" experimental=1 dataset=$dataset
done
converts e.h5 e.bg 'measured coverage, smoothed' '--experimental --datasets h3k4me3 --window-size 20' experimental=1 dataset=h3k4me3 window=20
converts one.h5 s.bw 'a scale' '--scale 0.25' scale=0.25
converts one.h5 s.bg 'a negative scale' '--scale=-3' scale=-3
unlike "$(cat s.bg)" '	-0$' '  without a negative zero'
converts one.h5 s.bg 'a scale of zero' '--scale 0' scale=0
converts one.h5 s.bg 'zeros dropped' '--skip-zero' skip_zero=1
converts one.h5 s.bw 'zeros dropped from bigWig' '--skip-zero' skip_zero=1
converts one.h5 s.bw 'small values dropped' '--min-value 2' min_value=2
converts one.h5 s.bg 'small values dropped after the other steps' '--min-value 2.5 --scale 2 --window-size 4' min_value=2.5 scale=2 window=4
converts one.h5 s.bw 'no part of a bigWig is left but its contigs' '--min-value 1e9' min_value=1e9
run_ok 'no part of a compressed bedGraph is left' cov2bigwig --min-value 1e9 -f -o s.bg.gz one.h5

printf '# two of them\nchr1\n\nscaffold|7:x.1 # and why\nabsent\n' >ids
run_ok 'a list of ids' cov2bigwig --blacklist-file ids -f -o s.bw one.h5
stderr_like '^cov2bigwig: warning: ids: 1 of 3 names are not in one.h5; the first is absent$' '  counts unknown ones'
check_track one.h5 s.bw '  drops them' 'drop=chr1,scaffold|7:x.1'
printf 'chr1\t10\t20\nchr1\t15\t30\tx\nchr1\t0\t1\nchr2\t0\t999999\nB\t3\t4\n' >regions.bed
converts one.h5 s.bw 'a BED file leaves gaps' '--blacklist-file regions.bed' bed=regions.bed
converts one.h5 s.bg '  in bedGraph too' '--blacklist-file regions.bed --skip-zero' bed=regions.bed skip_zero=1
printf 'chr1 Z\nMito\tM\nabsent x\n' >names
run cov2bigwig --rename names -f -o s.bw one.h5
stderr_like '^cov2bigwig: warning: names: 1 of 3 names are not in one.h5$' 'other names: unknown ones are counted'
check_track one.h5 s.bw '  are used, and sorted' rename=names

for value in zero constant large; do
    make_input pred v.h5 datasets=d value=$value
    converts v.h5 v.bw "a track of $value values" '' dataset=d
done
make_input pred f.h5 datasets=d value=float dtype=float32
converts f.h5 f.bg 'float predictions are not rounded' '' dataset=d
converts f.h5 f.bg '  nor when they are scaled' --scale=3 dataset=d scale=3
converts f.h5 f.bg '  nor by a window' --window-size=9 dataset=d window=9
converts f.h5 f.bg '  nor by a Gaussian' --smooth=gauss:9 dataset=d sd=9
for dtype in int16 int32 uint8; do
    make_input pred d.h5 datasets=d dtype=$dtype
    converts d.h5 d.bw "$dtype predictions" '' dataset=d
done
make_input pred d.h5 datasets=d order=shuffled
converts d.h5 d.bw 'rows in any order' '' dataset=d
make_input pred d.h5 datasets=d length=7 max_length=5000
converts d.h5 d.bw 'many small chunks' '' dataset=d
make_input pred d.h5 datasets='a,b c,d,e,f'
mkdir out
run cov2bigwig --datasets 'f,b c' -o out/ d.h5
check_track d.h5 'out/d_b c_avg_strand.bw' 'some datasets of five' dataset='b c'
check_track d.h5 out/d_f_avg_strand.bw '  each with its own values' dataset=f
is "$(listing out | wc -w)" 3 '  and no more'
rm -r out v.* f.h5 f.bg d.* e.bw e.bg w.bg s.* names ids regions.bed

# ---------------------------------------------------------------- wrong usage

refuses 1 '2 datasets .* do not fit in one file' 'two datasets and standard output' -o - p.h5
refuses 2 '--format is for an output directory' 'a format for a file' --format bigwig -o x.bw one.h5
refuses 2 '--basename is for an output directory' 'a base name for a file' --basename x -o x.bw one.h5
refuses 2 "--basename \.\./x: must not contain '/'" 'a base name in another directory' --basename ../x -o . one.h5
refuses 2 '-o/--output is missing' 'no output' one.h5
refuses 1 'standard input: .*chunk stream' 'standard input that is not a stream' -o x.bw -
refuses 2 "--smooth: 'mean:3' is not gauss:SD" 'an unknown smoothing' --smooth mean:3 -o x.bw one.h5
refuses 2 '--smooth: the standard deviation must be above 0' 'a width of 0' --smooth gauss:0 -o x.bw one.h5
refuses 2 '--smooth: 10001 is out of range' 'a window that is too wide' --smooth gauss:10001 -o x.bw one.h5
refuses 1 '--chrom-sizes is for bedGraph' 'lengths for an input that already has them' --chrom-sizes p.h5 -o x.bw one.h5

# ---------------------------------------------------------------- bad inputs

refuses 1 'absent\.h5: No such file or directory' 'a missing file' -o x.bw absent.h5
size=$(stat -c %s one.h5)
for part in 1 3 7 9; do
    head -c $((size * part / 10)) one.h5 >cut.h5
    refuses 1 'cut\.h5: ' "a file cut at $part tenths" -o x.bw cut.h5
done
for key in prediction/predictions prediction/datasets data/seqids data/start_ends; do
    ask cut one.h5 bad.h5 what=$key || exit 99
    refuses 1 'bad\.h5: ' "no $key" -o x.bw bad.h5
done
ask cut one.h5 bad.h5 what=hole || exit 99
refuses 1 'bad\.h5: sequence chr1, \+ strand: ' 'a gap in a strand' -o x.bw bad.h5
ask cut one.h5 bad.h5 what=uneven || exit 99
refuses 1 'bad\.h5: ' 'a strand that ends too early' -o x.bw bad.h5
ask cut one.h5 bad.h5 what=negative || exit 99
refuses 1 'bad\.h5: .*chr1' 'a negative value' -o x.bg bad.h5
make_input pred f.h5 datasets=atacseq dtype=float32
ask cut f.h5 bad.h5 what=nan || exit 99
refuses 1 'bad\.h5: .*chr1' 'a value that is not a number' -o x.bg.gz bad.h5
make_input pred bad.h5 datasets=../x
mkdir out
refuses 1 "dataset '\.\./x': not usable as part of a file name" 'a dataset that leads elsewhere' -o out/ bad.h5
run_ok '  but works under another name' cov2bigwig -o x.bw bad.h5
rm -r x.bw out
make_input pred bad.h5 datasets=d names='a b,c'
refuses 1 "the name of contig 'a b' has white space" 'a name with a blank, in bedGraph' -o x.bg bad.h5
converts bad.h5 x.bw '  but not in bigWig' '' dataset=d
rm x.bw
printf 'chr1 chr2\n' >names
refuses 1 'names: chr[12] and chr[12] are both renamed to chr2' 'two sequences with the same name' --rename names -o x.bw one.h5
"$PYTHON" - <<'END'
import h5py
with h5py.File("one.h5") as a, h5py.File("twice.h5", "w") as b:
    for key in a:
        a.copy(key, b)
    s = b["data/species"][:]
    s[b["data/seqids"][:] == b"chr10"] = b"two"
    b["data/species"][:] = s
    n = b["data/seqids"][:]
    n[n == b"chr10"] = b"chr1"
    b["data/seqids"][:] = n
END
refuses 1 'twice\.h5: sequence chr1 is in two species, (one and two|two and one)' 'a name in two species' -o x.bw twice.h5
printf 'chr1\t5\n' >list
refuses 1 'list:1: expected an id alone, or contig, start and end' 'a bad blacklist' --blacklist-file list -o x.bw one.h5
refuses 1 'absent: No such file' 'a missing blacklist' --blacklist-file absent -o x.bw one.h5
"$PYTHON" -c 'import h5py; print("\n".join({x.decode() for x in h5py.File("one.h5")["data/seqids"][:]}))' >list
refuses 1 'one\.h5: no contig left' 'a blacklist of everything' --blacklist-file list -o x.bw one.h5
refuses 1 'is not a finite number' 'values that overflow' --scale 1e300 -o x.bw one.h5
rm bad.h5 cut.h5 f.h5 twice.h5 names list

# ---------------------------------------------------------------- failing outputs

for file in x.bw x.bg x.bg.gz; do
    echo mine >$file
    refuses 1 "^cov2bigwig: error: $file: already exists; use -f to replace it$" "$file is there" -o $file one.h5
    is "$(cat $file)" mine '  and stays as it is'
    run cov2bigwig -f -o $file one.h5
    check_track one.h5 $file '  with -f it is replaced'
done
rm x.bg.gz
refuses 1 'x\.bg\.gz\.tbi: already exists; use -f' 'the index is there' -o x.bg.gz one.h5
mv x.bg.gz.tbi x.bg.gz.csi
refuses 1 'x\.bg\.gz\.csi: already exists; use -f' 'another index is there' -o x.bg.gz one.h5
run cov2bigwig -f -o x.bg.gz one.h5
is "$(echo x.bg.gz*)" 'x.bg.gz x.bg.gz.tbi' '  and is replaced with -f'
rm x.bw x.bg x.bg.gz x.bg.gz.tbi
mkdir out
echo mine >out/p_h3k4me3_avg_strand.bw
refuses 1 'out/p_h3k4me3_avg_strand\.bw: already exists' 'one of two outputs is there' -o out/ p.h5
is "$(ls -A out)" p_h3k4me3_avg_strand.bw '  and the other is not created'
rm -r out
run_ok 'a missing directory is created' cov2bigwig --basename x -o absent/two/ p.h5
is "$(listing absent/two)" 'x_atacseq_avg_strand.bw x_h3k4me3_avg_strand.bw ' '  and has the right regions'
rm -r absent
head -c 1000 one.h5 >bad.h5
run cov2bigwig -o absent/ bad.h5
status_is 1 '  but not if the input cannot be read'
ok '  which drops all' test ! -e absent
rm bad.h5
refuses 1 'absent.*does not exist' 'a file in a missing directory' -o absent/x.bw one.h5
mkdir locked && chmod 555 locked
run_refused 1 'locked.*Permission denied$' 'a directory that is read-only' run_unprivileged cov2bigwig -o locked/ one.h5
is "$(ls -A locked)" '' '  and stays empty'
chmod 755 locked && rmdir locked
refuses 2 'one\.h5' 'the input as output' -f -o one.h5 one.h5
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'exec cov2bigwig -o - one.h5 >/dev/full'
refused 1 'standard output: No space left on device$' 'standard output to a full device'
ln -s /dev/full full.bg && ln -s /dev/full full.bw
refuses 1 'full\.bg: .*No space left on device$' 'bedGraph to a full device' -f -o full.bg one.h5
refuses 1 'full\.bw: not a regular file' 'bigWig to a device' -f -o full.bw one.h5
rm full.bg full.bw
mkdir out
make_input pred large.h5 length=20000 max_length=200000 names=a datasets=x,y
for blocks in 1 40 200; do
    for format in bigwig bedgraph bedgraph.gz; do
        run sh -c "ulimit -f $blocks; exec cov2bigwig --format $format -o out/ large.h5"
        refused 1 'error: out/large_[xy]_avg_strand\.b[gw.z]*: .*(File too large|could not be written)$' \
            "files of at most $blocks blocks, $format"
        is "$(ls -A out)" '' '  and nothing is left'
    done
done
rm -r out
leaves p.h5 e.h5 one.h5 large.h5 'none of these left a file'

# ---------------------------------------------------------------- signals and closed pipes

make_input pred long.h5 names=big datasets=d length=200000 max_length=8000000 value=large dtype=int32 compression=none
for signal in INT:130 TERM:143; do
    for file in x.bw x.bg.gz new/deep/; do
        start cov2bigwig -o $file long.h5
        await found . -name '.*.tmp.*' -size +8k
        like "$(find . -name '.*.tmp.*')" tmp "a temporary file is there while $file is written"
        ends_by "$signal" 'while writing'
        is "$(tail -n 1 "$stderr")" "cov2bigwig: stopped by SIG${signal%:*}; nothing was written" '  with a last line, after progress if it takes long'
        leaves p.h5 e.h5 one.h5 large.h5 long.h5 '  and leaves no file'
    done
done
# shellcheck disable=SC2016 # for the inner shell
run sh -c '{ cov2bigwig -o - long.h5; echo $? >code; } | head -n 2 >/dev/null'
is "$(cat code)" 141 'it ends when the reader of standard output closes'
stderr_is '' '  quietly'
rm code

# ---------------------------------------------------------------- statistics

run cov2bigwig -@ 2 --stats s.json -o x.bw one.h5
ok '--stats' "$PYTHON" -c '
import json
s = json.load(open("s.json"))
assert s["tool"] == "cov2bigwig" and s["threads"] == 2 and s["inputs"] == ["one.h5"], s
assert s["bases"] == 4000 + 1 + 1000 + 1001 + 2000 + 7 + 37 + 150 and s["chunks"] == 2 * 13, s
assert {"read", "decode", "tracks", "finish"} <= set(s["stages"]), s
'
done_testing
