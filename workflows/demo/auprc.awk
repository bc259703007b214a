# auprc.awk - how well scores of bases tell those that planted motifs need from those in no motif.
#
#     cov2bigwig --format bedgraph -o - scores.bw | sort -t "$(printf '\t')" -k 4,4gr |
#         awk -v chromosome=chr5 -f motifs.awk -f auprc.awk features.bed -
#
# Counts the bases that motifs without a mismatch need (letters of the consensus that are A, C, G or T) against those in no
# motif; others do not count. Prints the area under the precision-recall curve (the mean precision at the needed bases, from
# the highest score down), the number of needed bases, and that of others.
# SPDX-License-Identifier: MIT
FILENAME ~ /bed$/ {
    if ($1 == chromosome && $4 in consensus)
        for (n = read_motif(needed); n > 0; n--)
            is_needed[needed[n - 1]] = 1
    next
}
$1 == chromosome {
    for (i = $2 + 1; i <= $3; i++)
        if (i in is_needed)
            sum += ++n_needed / (n_needed + n_others)
        else if (!(i in in_motif))
            n_others++
}
END { printf "%.3f %d %d\n", n_needed ? sum / n_needed : 0, n_needed, n_others }
