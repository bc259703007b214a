#!/bin/sh
# cov2bigwig - bedGraph and bigWig as input.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python numpy

cat >track.py <<'END'
"""track.py make SEED >x.bg; track.py check GOT.bg X.bg [KEY=VALUE]...: whether one is the other after the
options, base by base; track.py merged GOT.bg: whether neighbours of equal value are one interval."""
import random, sys
import numpy as np

LENGTHS = {"z": 3000, "a": 9000, "m": 1, "b": 700, "empty": 50}


def read(path, names={}):
    tracks = {}
    for line in open(path):
        name, beg, end, value = line.split()
        name = names.get(name, name)
        x = tracks.setdefault(name, np.full(10000, np.nan, np.float32))
        assert np.isnan(x[int(beg):int(end)]).all()
        x[int(beg):int(end)] = np.float32(float(value))
    return tracks


def gauss(x, sd):
    r = int(4 * sd + 0.5)
    w = np.exp(-0.5 * (np.arange(-r, r + 1) / sd) ** 2)
    return np.convolve(np.concatenate([np.zeros(r), x, np.zeros(r)]), w / w.sum(), mode="valid")


def smooth(x, how):
    out = np.full_like(x, np.nan)
    beg = 0
    while beg < len(x):
        end = beg + 1
        while end < len(x) and np.isnan(x[end]) == np.isnan(x[beg]):
            end += 1
        if not np.isnan(x[beg]):
            out[beg:end] = how(x[beg:end].astype(float))
        beg = end
    return out


def check(got, source, *options):
    o = dict(x.split("=", 1) for x in options)
    names = dict(x.split(":") for x in o.get("rename", "").split(",") if x)
    wanted = read(source)
    got = read(got)
    for name in o.get("drop", "").split(","):
        wanted.pop(name, None)
    for name, x in wanted.items():
        if "window" in o:
            w = int(o["window"])
            x = smooth(x, lambda y: np.convolve(y, np.ones(w) / w)[(w - 1) // 2:][:len(y)])
        if "sd" in o:
            x = smooth(x, lambda y: gauss(y, float(o["sd"])))
        x = (x * float(o.get("scale", 1))).astype(np.float32)
        if "zero" in o:
            x[x == 0] = np.nan
        if "min" in o:
            x[x < float(o["min"])] = np.nan
        if "region" in o and o["region"].split(":")[0] == name:
            beg, end = o["region"].split(":")[1].split("-")
            x[int(beg):int(end)] = np.nan
        y = got.pop(names.get(name, name), np.full(10000, np.nan))
        e = 1e-6 if "window" in o or "sd" in o else 0
        assert np.allclose(x, y, rtol=e, atol=e, equal_nan=True), name
    assert not got, got.keys()


def make(seed):
    r = random.Random(int(seed))
    for name in ("z", "a", "m", "b"):
        at = 0 if name == "m" else r.randrange(5)
        while at < LENGTHS[name]:
            end = min(at + 1 + r.randrange(r.choice((3, 60, 2000))), LENGTHS[name])
            print(name, at, end, r.choice((0, 1, 2, 5, 0.1, -3.25, 1e-7)), sep="\t")
            at = end + r.choice((0, 0, 0, 3, 500))


def merged(path):
    last = None
    for line in open(path):
        name, beg, end, value = line.split()
        assert last != (name, beg, value), line
        last = (name, end, value)


{"make": make, "check": check, "merged": merged}[sys.argv[1]](*sys.argv[2:])
END
track() {
    "$PYTHON" track.py "$@"
}
check() { # NAME FILE SOURCE [KEY=VALUE]...
    check_name=$1
    track_dump "$2" >got.bg || exit 99
    shift 2
    ok "$check_name" track check got.bg "$@"
}
refuses() { # STATUS REGEX NAME [ARG]...
    wanted=$1 regex=$2 name=$3
    shift 3
    rm -f out.*
    run cov2bigwig "$@"
    refused "$wanted" "$regex" "$name"
    ok '  and leaves no file' test ! -e out.bw -a ! -e out.bg
}

track make 1 >x.bg
printf 'z 3000\na 9000\nm 1\nb 700\nempty 50\n' >sizes
gzip -k x.bg
{ printf 'track type=bedGraph\n#\n' && tr '\t' ' ' <x.bg; } >blanks.txt

# ---- from one format to another
run cov2bigwig -o x.bw --chrom-sizes sizes x.bg
status_is 0 'bedGraph to bigWig'
stderr_is '' 'without a word'
check 'with its values' x.bw x.bg
bw_dump x.bw | LC_ALL=C sort >libbigwig.bg
track_dump x.bw | LC_ALL=C sort >ours.bg
ok 'as libBigWig reads them' cmp libbigwig.bg ours.bg
ok 'equal neighbours are joined' track merged got.bg
is "$(cut -f1 got.bg | uniq | tr '\n' ' ')" 'z a m b ' 'contigs keep the order of the file'
if "$PYTHON" -c 'import pyBigWig' 2>/dev/null; then
    ok 'the header has all contigs of the sizes' "$PYTHON" -c '
import pyBigWig
assert pyBigWig.open("x.bw").chroms() == {"z": 3000, "a": 9000, "m": 1, "b": 700, "empty": 50}'
fi
run cov2bigwig -o y.bg x.bw
status_is 0 'bigWig to bedGraph'
ok 'gives the merged bedGraph' cmp y.bg got.bg
run cov2bigwig -o y.bw x.bw
status_is 0 'bigWig to bigWig'
ok 'gives the same file' cmp y.bw x.bw
run cov2bigwig -o y.bg.gz x.bg
status_is 0 'bedGraph without sizes to bedGraph'
ok 'compressed, with an index' test -s y.bg.gz.tbi
check 'and its values' y.bg.gz x.bg
run cov2bigwig -f -@ 3 -o y.bw --chrom-sizes sizes x.bg
ok 'the same bigWig for any number of threads' cmp y.bw x.bw
for file in x.bg.gz blanks.txt; do
    run cov2bigwig -f -o y.bw --chrom-sizes sizes $file
    ok "and from $file" cmp y.bw x.bw
done
run sh -c 'cat x.bg.gz | cov2bigwig -f -o y.bw --chrom-sizes sizes -'
status_is 0 'bedGraph from a pipe'
ok 'is the same as from the file' cmp y.bw x.bw
run sh -c 'cat x.bg | cov2bigwig -o - - >y.bg'
ok 'and to a pipe' cmp y.bg got.bg
printf 'z 3000 1 60 61\na 9000 1 60 61\nm 1 1 60 61\nb 700 1 60 61\nempty\t50\t1\t60\t61\n' >x.fa.fai
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
--scale=-1|--min-value=0 scale=-1|min=0
--skip-zero zero=1
--min-value=0.5 min=0.5
--window-size=1 window=1
--window-size=7 window=7
--window-size=50|--scale=10 window=50|scale=10
--window-size=2500|--min-value=0.01 window=2500|min=0.01
--smooth=gauss:1.5 sd=1.5
--smooth=gauss:50|--scale=10 sd=50|scale=10
END
printf 'a\nnone\n' >ids
run cov2bigwig -f -o o.bw --blacklist-file ids x.bw
stderr_like 'warning: ids: 1 of 2 names are not in x.bw; the first is none' 'an unknown name in the blacklist'
check 'a contig is dropped' o.bw x.bg drop=a
echo 'a;100;2000' >list.csv
run cov2bigwig -f -o o.bw --blacklist-file list.csv x.bw
stderr_like "warning: list\\.csv: .*; the first is a;100;2000; separate columns by tabs or blanks instead of ';'\$" '  regions separated by semicolons'
run cov2bigwig -f -o o.bw -R list.csv x.bw
refused 1 "list\\.csv:1: expected contig, start and end; separate columns by tabs or blanks instead of ';'\$" '  as regions to write'
printf 'a\t100\t2000\n' >regions.bed
run cov2bigwig -f -o o.bg --blacklist-file regions.bed x.bg
check 'a region is dropped' o.bg x.bg region=a:100-2000
printf 'z chrZ\na A\n' >names
for file in x.bg x.bw; do
    run cov2bigwig -f -o o.bg --rename names $file
    check "$file: contigs are renamed" o.bg x.bg rename=z:chrZ,a:A
done
run cov2bigwig -q -f -o o.bw --rename names --chrom-sizes sizes x.bg
check 'sizes use the names of the input' o.bw x.bg rename=z:chrZ,a:A

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
refuses 1 '--strand: x.bw is a track' 'a strand' -o out.bg --strand + x.bw
refuses 1 '--datasets: x.bw is a track' 'a dataset' -o out.bg --datasets x x.bw
refuses 1 '--experimental is for genome files; x.bw is a track' 'measured coverage' -o out.bg --experimental x.bw
refuses 2 'error: --chrom-sizes: must not be standard input$' 'sizes from standard input' -o out.bw --chrom-sizes - x.bg

# ---- gaps that are written as NaN, as by pyBigWig
printf 'a\t0\t10\t1\na\t10\t20\tnan\na\t20\t30\t3\nz\t0\t5\tNaN\n' >nan.bg
run cov2bigwig -q --chrom-sizes sizes -o nan.bw nan.bg
stderr_is 'cov2bigwig: warning: nan.bg: 2 intervals with the value NaN are gaps' 'NaN in bedGraph is a gap, with a count'
is "$(cov2bigwig -q -o - nan.bw)" "$(grep -iv nan nan.bg)" '  and other values stay'
printf '\357\273\277a\t0\t10\t1\r\na\t10\t20\t2\t \r' >marked.bg
is "$(cov2bigwig -q -o - marked.bg; cov2bigwig -q -o - - <marked.bg)" "$(printf 'a\t0\t10\t1\na\t10\t20\t2\na\t0\t10\t1\na\t10\t20\t2')" \
    'a byte order mark, CRLF, blanks at the end and no last newline do not matter'

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
    run cov2bigwig -o out.bg - <"${case%%:*}"
    refused 1 "error: standard input:${case#*:}\$" '  from standard input'
done
refuses 1 'x.bg:1: contig z is not in two' 'a contig without a length' -o out.bw --chrom-sizes two x.bg
printf 'z 2999\na 9000\nm 1\nb 700\n' >short
refuses 1 'x.bg:[0-9]+: interval ends at 3000, but z has 2999 bases in short' 'a length that is too short' \
    -o out.bw --chrom-sizes short x.bg
printf 'z\n' >none
refuses 1 'none:1: expected a name and a length above 0' 'sizes without a size' -o out.bw --chrom-sizes none x.bg
printf 'z;3000\n' >none
refuses 1 "none:1: expected a name and a length above 0; separate columns by tabs or blanks instead of ';'\$" '  separated by semicolons' \
    -o out.bw --chrom-sizes none x.bg
printf 'z,b\n' >none
refuses 1 "none:1: expected two columns; separate columns by tabs or blanks instead of ','\$" 'names separated by a comma' \
    -o out.bw --rename none x.bg
printf 'z a\n' >twins
refuses 1 'duplicate contig a' 'two contigs with the same name' -o out.bw --rename twins x.bw
printf 'z\na\nm\nb\nempty\n' >all
refuses 1 'x.bw: no contig left: all are listed in all' 'no contig left' -o out.bw --blacklist-file all x.bw
printf 'a 0 1 1\na 0 1\n' >bad.bg
refuses 1 'bad.bg:2: missing value' 'an invalid line' -o out.bg bad.bg
head -c 700 x.bw >cut.bw
refuses 1 'cut.bw: damaged or truncated' 'a truncated bigWig' -o out.bg cut.bw
run sh -c 'cat x.bw | cov2bigwig -o out.bg -'
refused 1 'standard input: a bigWig must be a regular file, not a pipe' 'a bigWig from a pipe'
done_testing
