#!/bin/sh
# From FASTA to bigWig with fasta2h5, covpredict and cov2bigwig.
# SPDX-License-Identifier: MIT
. "$SRC/tests/lib/tap.sh"
need_python h5py numpy pyBigWig

check() { # PREDICTIONS DIRECTORY NAME
    ok "$3" "$PYTHON" "$SRC/tests/oracle/predict_check.py" tracks "$1" "$2"
}

# Names not in byte order; lengths at, below and above multiples of a chunk; N and soft masking.
awk "$random"'BEGIN {
    seed(11)
    split("chr2 chr10 chr1 Mt scaffold_7|x chrB a", name, " ")
    split("30000 21600 7200 7199 7201 1 15", length_of, " ")
    for (s = 1; s <= 7; s++) {
        printf ">%s of a small genome\n", name[s]
        for (i = 1; i <= length_of[s]; i++)
            printf "%s%s", int(i / 500) % 7 == 3 ? "N" : letter(int(i / 300) % 2 ? "ACGT" : "acgt"),
                (i % 70 == 0 || i == length_of[s]) ? "\n" : ""
    }
}' >g.fa
make_ckpt bi-hybrid two.ckpt && make_ckpt cnn one.ckpt || exit 99

run_ok 'fasta2h5 from standard input' fasta2h5 --subsequence-length 7200 -o g.h5 - <g.fa
run_ok 'covpredict' covpredict -m two.ckpt -o p.h5 g.h5
mkdir tracks
run_ok 'cov2bigwig' cov2bigwig -o tracks/ p.h5
for dataset in atacseq h3k4me3; do
    mv tracks/p_${dataset}_avg_strand.bw tracks/$dataset.bw
done
check p.h5 tracks '  the bigWigs have the predictions, mean of both strands'

run covpredict --subsequence-length 7200 --species stdin -m two.ckpt -o direct.h5 g.fa
ok 'without a genome file, the same predictions' cmp direct.h5 p.h5
gzip g.fa
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'cat g.fa.gz | covpredict --subsequence-length 3600 -m one.ckpt -o q.h5 - && cov2bigwig -o tracks/atacseq.bw -f q.h5'
status_is 0 'gzip from a pipe, one dataset, one file'
check q.h5 tracks '  the bigWig has the predictions'
for strand in + -; do
    run_ok "bedGraph of the $strand strand" cov2bigwig --strand=$strand --datasets h3k4me3 -o - p.h5
    is "$(awk '{n += $3 - $2} $2 != last[$1] + 0 {bad = 1} {last[$1] = $3} END {print n, bad + 0}' "$stdout")" '73216 0' \
        '  covers every base once'
done
leaves g.fa.gz g.h5 p.h5 direct.h5 q.h5 one.ckpt two.ckpt tracks 'nothing else is left'
done_testing
