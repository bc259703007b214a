#!/bin/sh
# cov2bigwig - bedGraph and bigWig as input.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
need_python h5py numpy pyBigWig
start_python "$SRC/tests/oracle/track_check.py"

check() { # NAME FILE SOURCE [KEY=VALUE]...
    check_name=$1 source=$3
    track_dump "$2" >got.bg || exit 99
    shift 3
    check_track "$source" got.bg "$check_name" "$@"
}

"$PYTHON" "$SRC/tests/oracle/compare_check.py" make 1 0 1 >x.bg || exit 99
printf 'chr2 30011\nchr10 12345\nm 1\nshort 150\nchr1 8000\nempty 50\n' >sizes
gzip -k x.bg
{ printf 'track type=bedGraph\n#\n' && tr '\t' ' ' <x.bg; } >blanks.txt

# ---- from one format to another
run_ok 'bedGraph to bigWig' cov2bigwig -o x.bw --chrom-sizes sizes x.bg
stderr_is '' 'without a word'
check 'with its values' x.bw x.bg
bw_dump x.bw | LC_ALL=C sort >libbigwig.bg
track_dump x.bw | LC_ALL=C sort >ours.bg
ok 'as libBigWig reads them' cmp libbigwig.bg ours.bg
is "$(cut -f1 got.bg | uniq | tr '\n' ' ')" 'chr2 chr10 m short chr1 ' 'contigs keep the order of the file'
ok 'the header has all contigs of the sizes' "$PYTHON" -c '
import pyBigWig
assert pyBigWig.open("x.bw").chroms() == {"chr2": 30011, "chr10": 12345, "m": 1, "short": 150, "chr1": 8000, "empty": 50}'
run_ok 'bigWig to bedGraph' cov2bigwig -o y.bg x.bw
ok 'gives the merged bedGraph' cmp y.bg got.bg
run_ok 'bigWig to bigWig' cov2bigwig -o y.bw x.bw
ok 'gives the same file' cmp y.bw x.bw
run_ok 'bedGraph without sizes to bedGraph' cov2bigwig -o y.bg.gz x.bg
ok 'compressed, with an index' test -s y.bg.gz.tbi
check 'and its values' y.bg.gz x.bg
run cov2bigwig -f -@ 3 -o y.bw --chrom-sizes sizes x.bg
ok 'the same bigWig for any number of threads' cmp y.bw x.bw
for file in x.bg.gz blanks.txt; do
    run cov2bigwig -f -o y.bw --chrom-sizes sizes $file
    ok "and from $file" cmp y.bw x.bw
done
run_ok 'bedGraph from a pipe' sh -c 'cat x.bg.gz | cov2bigwig -f -o y.bw --chrom-sizes sizes -'
ok 'is the same as from the file' cmp y.bw x.bw
run sh -c 'cat x.bg | cov2bigwig -o - - >y.bg'
ok 'and to a pipe' cmp y.bg got.bg
awk '{ print $1, $2, 1, 60, 61 }' sizes >x.fa.fai
run cov2bigwig -f -o y.bw --chrom-sizes x.fa.fai x.bg
ok 'lengths from a FASTA index' cmp y.bw x.bw

# ---- options
while read -r options keys; do
    for file in x.bg x.bw; do
        # shellcheck disable=SC2046,SC2086 # lists of words
        run cov2bigwig -q -f -o o.bg $(echo "$options" | tr '|' ' ') $file
        # shellcheck disable=SC2046
        check "$file $options" o.bg x.bg $(echo "$keys" | tr '|' ' ')
    done
done <<'END'
--scale=2.5 scale=2.5
--scale=-1|--min-value=0 scale=-1|min_value=0
--skip-zero skip_zero=1
--min-value=0.5 min_value=0.5
--window-size=1 window=1
--window-size=7 window=7
--window-size=50|--scale=10 window=50|scale=10
--window-size=2500|--min-value=0.01 window=2500|min_value=0.01
--smooth=gauss:1.5 sd=1.5
--smooth=gauss:50|--scale=10 sd=50|scale=10
END
printf 'chr10\nnone\n' >ids
run cov2bigwig -f -o o.bw --blacklist-file ids x.bw
stderr_like 'warning: ids: 1 of 2 names are not in x.bw; the first is none' 'an unknown name in the blacklist'
check 'a contig is dropped' o.bw x.bg drop=chr10
echo 'chr10;100;2000' >list.csv
run cov2bigwig -f -o o.bw --blacklist-file list.csv x.bw
stderr_like "warning: list\\.csv: .*; the first is chr10;100;2000; separate columns by tabs or blanks instead of ';'\$" '  regions separated by semicolons'
run cov2bigwig -f -o o.bw -R list.csv x.bw
refused 1 "list\\.csv:1: expected contig, start and end; separate columns by tabs or blanks instead of ';'\$" '  as regions to write'
printf 'chr10\t100\t2000\n' >regions.bed
run cov2bigwig -f -o o.bg --blacklist-file regions.bed x.bg
check 'a region is dropped' o.bg x.bg bed=regions.bed
printf 'chr2 chrZ\nchr10 A\n' >names
for file in x.bg x.bw; do
    run cov2bigwig -f -o o.bg --rename names $file
    check "$file: contigs are renamed" o.bg x.bg rename=names
done
run cov2bigwig -q -f -o o.bw --rename names --chrom-sizes sizes x.bg
check 'sizes use the names of the input' o.bw x.bg rename=names

# ---- directories
mkdir dir
run cov2bigwig -q -o dir/ --blacklist-file ids --window-size 7 x.bw
run cov2bigwig -q -o dir/ --format bedgraph --basename y x.bg
is "$(ls dir)" "$(printf 'x_bl_ws=7.bw\ny.bg')" 'names in a directory'
run cov2bigwig -q -o dir/ --format bedgraph --basename y x.bg
refused 1 'dir/y.bg: already exists; use -f to replace it' 'a file is not replaced unasked'

# ---- usage
printf '2 1 a\n' >two
refuses 1 'x.bg: unknown contig lengths, which bigWig needs; use --chrom-sizes FILE' 'no lengths' -o out.bw x.bg
refuses 1 '--chrom-sizes: x.bw is a bigWig, which has the lengths' 'duplicate lengths' -o out.bg --chrom-sizes sizes x.bw
refuses 1 '--datasets: x.bw is a track' 'a dataset' -o out.bg --datasets x x.bw
refuses 2 'error: --chrom-sizes: must not be standard input$' 'sizes from standard input' -o out.bw --chrom-sizes - x.bg

# ---- gaps that are written as NaN, as by pyBigWig
printf 'chr1\t0\t10\t1\nchr1\t10\t20\tnan\nchr1\t20\t30\t3\nm\t0\t1\tNaN\n' >nan.bg
run cov2bigwig -q --chrom-sizes sizes -o nan.bw nan.bg
stderr_is 'cov2bigwig: warning: nan.bg: 2 intervals with the value NaN are gaps' 'NaN in bedGraph is a gap, with a count'
is "$(cov2bigwig -q -o - nan.bw)" "$(grep -iv nan nan.bg)" '  and other values stay'

# ---- bad input
printf 'track type=wiggle_0\nfixedStep chrom=a start=1 step=1\n1\n' >fixed.wig
printf 'variableStep chrom=a\n1 2\n' >variable.wig
printf 'chrom\tstart\tend\tvalue\na\t0\t1\t1\n' >header.bg
printf '# x\na\t-5\t10\t1\n' >negative.bg
printf 'a,0,1,1\n' >commas.bg
for case in 'fixed.wig: wiggle text; convert it with wigToBigWig' 'variable.wig: wiggle text; convert it with wigToBigWig' \
    "header.bg:1: not a bedGraph line; if this is a header, begin it with '#'" 'negative.bg:2: not a bedGraph line; the start is negative' \
    "commas.bg:1: not a bedGraph line; separate columns by tabs or blanks instead of ','"; do
    refuses 1 "^cov2bigwig: error: $case\$" "${case%%:*}" -o out.bg "${case%%:*}"
    gzip -c "${case%%:*}" >text.gz
    refuses 1 "error: text.gz:${case#*:}\$" '  compressed' -o out.bg text.gz
    run_refused 1 "error: standard input:${case#*:}\$" '  from standard input' cov2bigwig -o out.bg - <"${case%%:*}"
done
refuses 1 'x.bg:1: contig chr2 is not in two' 'a contig without a length' -o out.bw --chrom-sizes two x.bg
sed 's/12345/12000/' sizes >short
refuses 1 'x.bg:[0-9]+: interval ends at 12[0-9]+, but chr10 has 12000 bases in short' 'a length that is too short' \
    -o out.bw --chrom-sizes short x.bg
printf 'chr2\n' >none
refuses 1 'none:1: expected a name and a length above 0' 'sizes without a size' -o out.bw --chrom-sizes none x.bg
printf 'chr2;3000\n' >none
refuses 1 "none:1: expected a name and a length above 0; separate columns by tabs or blanks instead of ';'\$" '  separated by semicolons' \
    -o out.bw --chrom-sizes none x.bg
printf 'chr2,b\n' >none
refuses 1 "none:1: expected two columns; separate columns by tabs or blanks instead of ','\$" 'names separated by a comma' \
    -o out.bw --rename none x.bg
printf 'chr2 chr1\n' >twins
refuses 1 'duplicate contig chr1' 'two contigs with the same name' -o out.bw --rename twins x.bw
cut -d ' ' -f 1 sizes >all
refuses 1 'x.bw: no contig left: all are listed in all' 'no contig left' -o out.bw --blacklist-file all x.bw
printf 'a 0 1 1\na 0 1\n' >bad.bg
refuses 1 'bad.bg:2: missing value' 'an invalid line' -o out.bg bad.bg
head -c 700 x.bw >cut.bw
refuses 1 'cut.bw: damaged or truncated' 'a truncated bigWig' -o out.bg cut.bw
run sh -c 'cat x.bw | cov2bigwig -o out.bg -'
refused 1 'standard input: a bigWig must be a regular file, not a pipe' 'a bigWig from a pipe'
done_testing
