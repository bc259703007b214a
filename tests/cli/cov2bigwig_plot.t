#!/bin/sh
# cov2bigwig --plot: the picture of a region, its contents, and failures of gnuplot.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
. "$SRC/tests/lib/cov2bigwig.sh"
need_program gnuplot
need_python h5py numpy pyBigWig

start_python "$SRC/tests/lib/track_check.py"
ask make pred p.h5 || exit 99
ask make pred one.h5 datasets=atacseq seed=3 || exit 99
printf 'chrom\t0\t100\t1\nchrom\t100\t150\t3.5\nchrom\t160\t200\t-2\nb&<b\t0\t4000000\t7\n' >x.bg
printf 'chrom 5000\nb&<b 5000000\n' >sizes

# plots NAME [ARG]...: draws x.png or x.svg without messages, except about bases that a comparison skips.
plots() {
    name=$1
    shift
    run cov2bigwig -f "$@"
    status_is 0 "$name"
    is "$(sed '/: missing values at [0-9]* % of the bases of /d' "$stderr")" '' '  without messages'
}
is_png() {
    is "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" 89504e470d0a1a0a "  $1 is a PNG"
}
is_xml() {
    ok "  $1 is XML" "$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
}

# ---------------------------------------------------------------- pictures

plots 'predictions' --plot x.png --plot-region chr1:11-3,000 p.h5
is_png x.png
plots 'a smoothed strand as SVG' --plot x.svg --plot-region chr1 --strand + --smooth gauss:5 p.h5
is_xml x.svg
like "$(cat x.svg)" '>chr1:1-4,000<' '  with the region'
like "$(cat x.svg)" '>atacseq<' '  and the data sets'
like "$(cat x.svg)" '>h3k4me3<' '  all of them'
echo chr10 >drop
plots 'a list that drops other regions' --plot x.svg --plot-region chr1 --blacklist-file drop p.h5
refuses 1 'region chr10:1-1: its contig is listed in drop' '  and here' --plot y.png --plot-region chr10:1-1 \
    --blacklist-file drop p.h5
plots 'bedGraph' --plot x.SVG --plot-region chrom:1-250 x.bg
like "$(cat x.SVG)" '>chrom:1-250<' '  of which only the intervals are known'
plots 'and with lengths' --plot x.svg --plot-region chrom:4901-6000 --chrom-sizes sizes x.bg
like "$(cat x.svg)" '>chrom:4,901-5,000<' '  cut where the sequence ends'
plots 'a region after all intervals' --plot x.svg --plot-region chrom:301-400 x.bg
like "$(cat x.svg)" '>chrom:301-400<' '  is a gap'
plots 'a name with XML characters' --plot x.svg --plot-region 'b&<b:1-5000000' --chrom-sizes sizes x.bg
is_xml x.svg
like "$(cat x.svg)" '>position on b&amp;&lt;b \(Mb\)<' '  in megabases'
run sh -c 'cat x.bg | cov2bigwig -f --plot x.svg --plot-region chrom --chrom-sizes sizes -'
status_is 0 'a sequence whose length is announced at its end'
like "$(cat x.svg)" '>5,000 bases; a point of a curve is the mean of 6 bases<' '  is drawn like a known one'
plots 'tracks and a picture at once' -o x.bw --plot x.png --plot-region chr1:1-1000 one.h5
ok '  the track is right' ask input one.h5 x.bw
plots 'and as bedGraph' -o x2.bg --plot x.png --plot-region chrom:1-200 x.bg
ok '  the track is that of the input' cmp x2.bg x.bg
# Next to the measured track.
ask make exp e.h5 || exit 99
plots 'a comparison' --plot x.svg --plot-region chr1:1-3000 --compare e.h5 -o table.tsv p.h5
is_xml x.svg
for what in predicted measured atacseq h3k4me3; do
    like "$(cat x.svg)" ">$what<" "  with $what"
done
like "$(head -n 1 table.tsv)" '^sample	dataset' '  and the table'
run cov2bigwig -f --compare x.bw --plot x.svg --plot-region chrom:1-200 x.bg
refused 1 'none of its contigs' 'nothing in common'
refuses 1 'region chr1:4001-4002: begins past' 'a region past both' --compare e.h5 \
    --plot y.png --plot-region chr1:4001-4002 -o y.tsv p.h5
printf 'chrom\t0\t100\t1\nb&<b\t0\t9\t1\n' >short.bg
printf 'chrom\t0\t100\t1\n' >lacks.bg
printf 'chrom\t0\t50\t1\nb&<b\t0\t9\t1\n' >far.bg
plots 'a measured track that ends before the region' --plot x.svg --plot-region chrom:120-180 \
    --compare short.bg -o table.tsv x.bg
like "$(cat x.svg)" '>chrom:120-180<' '  which is drawn'
is "$(tail -n 1 table.tsv | cut -f 3,4)" 'total	109' '  and the table is there'
cov2bigwig -f -o far.bw --chrom-sizes sizes far.bg || exit 99
plots 'lengths that only the measured track has' --plot x.svg --plot-region chrom:120-9000 \
    --compare far.bw -o table.tsv x.bg
like "$(cat x.svg)" '>chrom:120-5,000<' '  are those of the picture'
refuses 1 'far.bw: region chrom:5001-5002: begins past .* 5000 bases$' '  beyond which there is nothing' \
    --plot y.png --plot-region chrom:5001-5002 --compare far.bw -o y.tsv x.bg
run cov2bigwig -f --plot x.svg --plot-region 'b&<b:1-90' --compare lacks.bg -o table.tsv x.bg
status_is 0 'a sequence that was not measured'
is_xml x.svg
like "$(cat x.svg)" '>measured<' '  has an empty curve'
ask make exp few.h5 names=chr1,chr10 || exit 99
run cov2bigwig -f --plot x.svg --plot-region chr2 --compare few.h5 -o table.tsv p.h5
status_is 0 'nor in a genome file'
ask make exp other.h5 seed=7 || exit 99
plots 'two measured tracks' --plot x.svg --plot-region chr1 --experimental --compare e.h5 -o table.tsv other.h5
unlike "$(cat x.svg)" '>predicted<' '  is not called predicted'
plots 'one base' --plot x.png --plot-region chrom:150-150 x.bg
plots 'only a gap' --plot x.png --plot-region chrom:151-160 x.bg

# ---------------------------------------------------------------- the script for gnuplot

mkdir fake
fake() { # a gnuplot of these commands
    printf '#!/bin/sh\n%s\n' "$1" >fake/gnuplot
    chmod +x fake/gnuplot
}
with_fake() {
    PATH=$work/fake:$PATH run "$@"
}
fake "tee script | $(command -v gnuplot) \"\$@\""
with_fake cov2bigwig -f --plot x.png --plot-region chrom:1-200 x.bg
status_is 0 'the script'
sed -n '/^\$d0/,/^EOD/p' script >got
printf '%s\n' "\$d0 << EOD" '0 0' '200 0' '' '0 1' '100 1' '100 3.5' '150 3.5' '' '160 -2' '200 -2' EOD >wanted
ok '  has the values as steps, and a gap' diff got wanted
with_fake cov2bigwig -f --plot x.png --plot-region chrom:1-3000 --skip-zero x.bg
like "$(cat script)" 'the mean of 4 bases' 'a wide region is drawn as means'
printf "a'\$(id)\"\\\\n_\\342\\t0\t50\t1\n" >odd.bg
odd=$(cut -f1 odd.bg)
run cov2bigwig -f --plot x.svg --plot-region "$odd" odd.bg
status_is 0 'a name with quotes and invalid UTF-8'
is_xml x.svg
rm script got wanted odd.bg

# ---------------------------------------------------------------- wrong usage

refuses 2 '--plot needs --plot-region' 'no region' --plot y.png p.h5
refuses 2 '--plot-region needs --plot' 'a region without a picture' --plot-region chr1 -o y.bw one.h5
refuses 2 '-o/--output is missing' 'neither' one.h5
refuses 2 'y.pdf: the name must end in .png or .svg' 'an unknown suffix' --plot y.pdf --plot-region chr1 p.h5
refuses 1 '^cov2bigwig: error: p.h5: region none:1-5: unknown contig none; the contigs are: ' 'an unknown sequence' --plot y.png --plot-region none:1-5 p.h5
mkdir out
refuses 1 '^cov2bigwig: error: p.h5: region none:1-5: unknown contig none; the contigs are: ' 'also with tracks' --plot y.png --plot-region none:1-5 -o out/ p.h5
refuses 1 '^cov2bigwig: error: x.bg: region none: unknown contig none; the contigs are: ' 'and in a track' --plot y.png --plot-region none -o y.bg x.bg
refuses 1 'p.h5: region chr1:1-x: unknown contig chr1:1-x \(expected NAME' 'a malformed range' --plot y.png --plot-region chr1:1-x p.h5
refuses 2 'region chr1:5-4: ends before it begins' 'a reversed range' --plot y.png --plot-region chr1:5-4 p.h5
refuses 2 'region chr1:0-4: positions start at 1' 'a range from 0' --plot y.png --plot-region chr1:0-4 p.h5
refuses 1 'p.h5: region chr1:4001-4002: begins past the end of the contig, which has 4000 bases$' 'past the end' \
    --plot y.png --plot-region chr1:4001-4002 p.h5
refuses 1 'x.bg: region .* begins past the end of the contig, which has 5000 bases$' 'past the end of a track' \
    --plot y.png --plot-region chrom:5001-5002 --chrom-sizes sizes x.bg
refuses 1 'x.bg: region chrom:5001: begins past the end' 'past the last interval, without an end' \
    --plot y.png --plot-region chrom:5001 x.bg
ask make pred many.h5 names=chr1 max_length=50 length=50 "datasets=$(seq -s , 101)" || exit 99
refuses 1 'y.png: too many data sets .101.; the limit is 100$' 'too many data sets' \
    --plot y.png --plot-region chr1 many.h5
refuses 1 'too many data sets .101.' '  reported before the work' --plot y.png --plot-region chr1 -o out/ many.h5
refuses 2 '--basename is for an output folder' 'a base name without a folder' --basename z --plot y.png --plot-region chr1 p.h5
refuses 1 'x.png: already exists; use -f' 'an existing picture' --plot x.png --plot-region chr1 p.h5
refuses 1 'none.*does not exist' 'a missing folder' --plot none/x.png --plot-region chr1 p.h5
refuses 1 'x.bw: already exists; use -f' 'an existing track' -o x.bw --plot y.png --plot-region chr1 one.h5
refuses 2 'y.png' 'one file for both' -o y.png --plot y.png --plot-region chr1 one.h5
printf 'chrom\t0\t100\t1\nchrom\t50\t150\t3.5\n' >bad.bg
refuses 1 'bad.bg:2: ' 'a bad input' --plot y.png --plot-region chrom bad.bg

# ---------------------------------------------------------------- failures of gnuplot

fails() { # SCRIPT REGEX NAME
    fake "$1"
    rm -f y.png y.bw
    with_fake cov2bigwig -o y.bw --plot y.png --plot-region chr1:1-100 one.h5
    refused 1 "$2" "$3"
    is "$(find . -name 'y*' -o -name '.y*')" '' '  and leaves nothing'
}
fails 'echo "nonsense" >&2; echo "  line 3: unknown or ambiguous terminal name" >&2; exit 1' \
    'gnuplot failed: line 3: unknown or ambiguous terminal name$' 'gnuplot fails'
fails 'kill -9 $$' 'gnuplot: killed by signal 9 \(Killed\)$' 'gnuplot is killed'
fails 'exit 0' 'y.png: incomplete picture from .*gnuplot$' 'gnuplot draws nothing'
fails "$(command -v gnuplot) \"\$@\" | head -c 3000" 'incomplete picture from .*gnuplot$' 'gnuplot stops in the middle'
echo '#!/nonexistent' >fake/gnuplot
with_fake cov2bigwig --plot y.png --plot-region chr1:1-100 one.h5
refused 1 'gnuplot: cannot be run$' 'a gnuplot that cannot be run'
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'PATH=/nonexistent exec "$BIN/cov2bigwig" --plot y.png --plot-region chr1:1-100 one.h5'
refused 1 'gnuplot not found; .* package gnuplot-nox$' 'no gnuplot'
ok '  and no picture' test ! -e y.png
done_testing
