#!/bin/sh
# bench_tools.sh - how fast the three tools are on a made-up genome, and how much memory they hold.
#
#   bench_tools.sh MAKE_DEMO FOLDER [BASES [MODEL.ckpt]]
#
# MAKE_DEMO is the program of workflows/demo/make_demo.c, whose network is used without MODEL.ckpt; the
# tools are found in PATH. Runs each tool on one thread and on all, and prints a table.
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 2 ] || [ $# -gt 4 ]; then
    echo 'usage: bench_tools.sh MAKE_DEMO FOLDER [BASES [MODEL.ckpt]]' >&2
    exit 2
fi
make_demo=$(realpath "$1")
folder=$2
bases=${3:-20000000}
model=${4:+$(realpath "$4")}
mkdir -p "$folder"
cd "$folder"
"$make_demo" . "$bases"
: "${model:=cpg.ckpt}"

value() { # FILE KEY
    awk -v key="\"$2\":" '$1 == key { sub(/,$/, "", $2); print $2 }' "$1"
}
row() { # TOOL THREADS
    awk -v tool="$1" -v threads="$2" -v wall="$(value stats.json wall_seconds)" \
        -v cpu="$(value stats.json cpu_seconds)" -v memory="$(value stats.json peak_rss_bytes)" \
        -v bases="$(value stats.json bases_per_second)" -v chunks="$(value stats.json chunks_per_second)" \
        'BEGIN { printf "%-11s %7d %8.2f %8.2f %8.2f %9s %8.0f\n", tool, threads, wall, cpu, bases / 1e6,
            chunks == "" ? "-" : sprintf("%.1f", chunks), memory / 1e6 }'
}
# Where the seconds of fasta2h5 went, those of encoding summed over the threads; writing to the file is
# part of HDF5's, and output is what it takes to be safe on the disk.
shares() {
    for stage in parse encode hdf5 verify output; do
        printf '%s %s\n' "$stage" "$(value stats.json "$stage")"
    done | awk '{ name[NR] = $1; seconds[NR] = $2; sum += $2 }
        END { for (i = 1; i <= NR; i++) printf "%s%s %.0f %%", i == 1 ? "            " : ", ", name[i], 100 * seconds[i] / sum
              print "" }'
}
all=$(nproc)
sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1
printf '%-11s %7s %8s %8s %8s %9s %8s\n' tool threads 'wall s' 'CPU s' 'Mbp/s' 'chunks/s' 'MB held'
for threads in 1 $([ "$all" -eq 1 ] || echo "$all"); do
    fasta2h5 -fq -@ "$threads" --stats stats.json -o genome.h5 genome.fa
    row fasta2h5 "$threads"
    shares
    covpredict -fq -@ "$threads" --stats stats.json -m "$model" -o predictions.h5 genome.h5
    row covpredict "$threads"
    mkdir -p tracks
    cov2bigwig -fq -@ "$threads" --stats stats.json -o tracks/ predictions.h5
    row cov2bigwig "$threads"
done
