#!/bin/sh
# training_table.sh - a table of networks that covtrain has trained, and a plot of their validation over epochs.
#
#   training_table.sh RUNS PLOT.svg >TABLE.tsv
#
# RUNS has a line per network: its name, its metrics.log and its options, separated by tabs. A row of the table has the
# metrics of the epoch with the best avg_val_accuracy, which is that of best.ckpt, and the options. Needs gnuplot.
# SPDX-License-Identifier: MIT
set -eu
LC_ALL=C
export LC_ALL

if [ $# -ne 2 ]; then
    echo 'usage: training_table.sh RUNS PLOT.svg >TABLE.tsv' >&2
    exit 2
fi
awk -F '\t' '
    BEGIN { print "network\tepochs\tbest_epoch\tavg_val_loss\tavg_val_accuracy\tavg_train_loss\tavg_train_accuracy\toptions" }
    {
        epochs = 0
        while ((status = (getline line <$2)) > 0) {
            n = split(line, cells, " ")
            if (cells[1] == "epoch" || n < 5)
                continue
            if (!epochs++ || cells[3] + 0 > best[3] + 0)
                split(line, best, " ")
        }
        if (status < 0 || !epochs) {
            print "training_table.sh: error: " $2 ": no metrics of an epoch" >"/dev/stderr"
            exit 1
        }
        close($2)
        print $1, epochs, best[1], best[2], best[3], best[4], best[5], $3
    }' OFS='\t' "$1"
{
    echo 'set terminal svg size 800,500 noenhanced; set key outside right; set grid; set style data linespoints'
    echo "set xlabel 'epoch'; set ylabel \"Pearson's r, validation\""
    awk -F '\t' '
        function quoted(text) {
            gsub(/\047/, "\047\047", text)
            return "\047" text "\047"
        }
        { printf "%s%s using 1:3 every ::1 title %s", (NR > 1 ? ", " : "plot "), quoted($2), quoted($1) }
        END { print "" }' "$1"
} | gnuplot >"$2"
