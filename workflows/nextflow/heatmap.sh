#!/bin/sh
# heatmap.sh - a heatmap of a score of all runs: a row for each sample, a column for each model and dataset.
#
#   heatmap.sh COLUMN OUT STATS TABLE...
#
# A TABLE is SAMPLE.MODEL.DATASET.compare.tsv of cov2bigwig --measured, or SAMPLE.MODEL.DATASET.peaks.tsv of covpeaks compare; the
# score is COLUMN in its row `total`. Writes OUT.tsv and OUT.png, and STATS. Needs covprofile and gnuplot.
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -lt 4 ]; then
    echo 'usage: heatmap.sh COLUMN OUT STATS TABLE...' >&2
    exit 2
fi
column=$1 out=$2 stats=$3
shift 3
scores=$(mktemp -d)
trap 'rm -rf "$scores"' EXIT
trap 'exit 130' INT TERM HUP
for table; do
    run=${table##*/}
    run=${run%.*.tsv}
    dataset=${run##*.} run=${run%.*}
    model=$scores/${run##*.}.tsv
    [ -e "$model" ] || printf 'file\tdataset\t%s\n' "$column" >"$model"
    awk -F '\t' -v OFS='\t' -v column="$column" -v sample="${run%.*}" -v dataset="$dataset" '
        NR == 1 { for (i = 1; i <= NF; i++) { at[$i] = i } }
        $at["contig"] == "total" { print sample, dataset, $at[column] }' "$table" >>"$model"
done
covprofile heatmap -q -f --value "$column" --stats "$stats" --plot "$out.png" -o "$out.tsv" "$scores"/*.tsv
