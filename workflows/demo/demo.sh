#!/bin/sh
# demo.sh - from a FASTA to a track and its picture, with a network whose answer is known.
#
#   demo.sh MAKE_DEMO FOLDER [BASES]
#
# MAKE_DEMO is the program of make_demo.c; the tools are found in PATH. All files go to FOLDER; those of
# an earlier run are replaced.
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo 'usage: demo.sh MAKE_DEMO FOLDER [BASES]' >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
make_demo=$(cd "$(dirname "$1")" && pwd)/${1##*/}
folder=$2
bases=${3:-2000000}
chunk=21384 # as in make_demo.c
flank=100
for program in fasta2h5 covpredict cov2bigwig gnuplot; do
    if ! command -v "$program" >/dev/null; then
        echo "demo.sh: error: no program $program (is all built, and were its packages installed by \`make deps\`?)" >&2
        exit 1
    fi
done
mkdir -p "$folder/tracks" "$folder/plot"
cd "$folder"

say() {
    printf '\n%s\n' "$*"
}
show() { # a command, and runs it
    printf '  $ %s\n' "$*"
    "$@"
}

say 'A made-up plant genome, and a network that counts CpG:'
"$make_demo" . "$bases"
wc -c genome.fa cpg.ckpt | awk '$2 != "total" { printf "  %-12s %9d bytes\n", $2, $1 }'

say 'The three tools:'
show fasta2h5 -f --stats fasta2h5.json -o genome.h5 genome.fa
show covpredict -f --stats covpredict.json -m cpg.ckpt -o predictions.h5 genome.h5
show cov2bigwig -f --stats cov2bigwig.json --basename demo -o tracks/ predictions.h5
show cov2bigwig -f -o tracks/demo.bedGraph predictions.h5

say 'What the track must be, counted in the FASTA by awk:'
count() {
    awk -v flank="$flank" -v L="$chunk" -v what="$1" -f "$here/cpg.awk" genome.fa
}
count coverage >plot/expected.bedGraph
total=$(awk '/^[^>]/ { n += length($0) } END { print n }' genome.fa)
if cmp plot/expected.bedGraph tracks/demo.bedGraph; then
    echo "  the track is 2^(n/4) for n CpG within $flank bases, at each of $total bases"
else
    echo 'demo.sh: error: the track is not what was counted' >&2
    exit 1
fi

say 'What sequencing might have measured there, made up by awk, and the picture of both:'
awk -v length_of_read=100 -f "$here/poisson.awk" -f "$here/reads.awk" plot/expected.bedGraph >plot/measured.bedGraph
# The region that is drawn, in the first chromosome: its middle where that is short.
length=$(awk '$1 == "chr1" { n = $3 } END { print n }' tracks/demo.bedGraph)
beg=150000
end=190000
if [ "$length" -lt "$end" ]; then
    beg=$((length > 40000 ? (length - 40000) / 2 : 0))
    end=$((length > 40000 ? beg + 40000 : length))
fi
show cov2bigwig -f --compare plot/measured.bedGraph --bin-sizes 1,100 -o plot/comparison.tsv \
    --plot track.png --plot-region "chr1:$((beg + 1))-$end" predictions.h5
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    $column["contig"] == "total" {
        printf "  Pearson'"'"'s r of predicted and measured: %.2f base by base, %.2f in bins of 100\n",
            $column["pearson_1"], $column["pearson_100"] }' plot/comparison.tsv

# KEY FILE: a number of the --stats file, which has a key a line.
number() {
    sed -n "s/^ *\"$1\": *\([0-9.eE+-]*\),*\$/\1/p" "$2" | head -n 1
}
say 'What it took:'
for tool in fasta2h5 covpredict cov2bigwig; do
    printf '%s %s %s %s\n' "$tool" "$(number wall_seconds $tool.json)" \
        "$(number peak_rss_bytes $tool.json)" "$(number threads $tool.json)"
done | awk -v total="$total" '{ printf "  %-10s %6.2f s on %d threads, %7.2f Mbp/s, %4.0f MB of memory\n",
    $1, $2, $4, total / $2 / 1e6, $3 / 1e6 }'

say 'To look at:'
echo "  picture  $folder/track.png"
echo "  track    $folder/tracks/demo_cpg_avg_strand.bw (with $folder/genome.fa in a genome browser)"
echo "  text     $folder/tracks/demo.bedGraph"
