# auroc.awk - how well the effects of a table of coveffect vcf tell variants in motifs (variants.awk) from others.
#
#     tail -n +2 effects.tsv | sort -t "$(printf '\t')" -k 11,11g | awk -v others=background -f auroc.awk
#
# Prints the area under the ROC curve of abs_logfc: the probability that a variant in a motif has the larger effect than one
# of the others. The table has one dataset and width.
# SPDX-License-Identifier: MIT
BEGIN { FS = "\t" }
$11 == "NA" { next }
$3 ~ /^motif_/ {
    n_motifs++
    smaller += n_others
}
index($3, others "_") == 1 { n_others++ }
END { printf "%.3f %d %d\n", n_motifs * n_others ? smaller / n_motifs / n_others : 0, n_motifs, n_others }
