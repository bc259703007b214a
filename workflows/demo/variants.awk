# variants.awk - single-base variants of a chromosome of the synthetic plant, as VCF: in planted motifs and elsewhere.
#
#     awk -v chromosome=chr5 -f motifs.awk -f variants.awk features.bed genome.fa
#
# IDs begin with what a variant is for:
#   motif       one in each motif of a promoter or enhancer that has no mismatch; the bases that the motif needs take turns
#   nearby      every 30th base of the promoters and enhancers that is in no motif
#   background  every 1000th base of the chromosome that is in no motif
# A becomes C, C becomes A, G becomes T, and T becomes G.
# SPDX-License-Identifier: MIT
BEGIN {
    other["A"] = "C"
    other["C"] = "A"
    other["G"] = "T"
    other["T"] = "G"
}
FILENAME ~ /bed$/ {
    if ($1 != chromosome)
        next
    if ($4 in consensus) {
        n = read_motif(needed)
        if (n > 0)
            what[needed[n_motifs++ % n]] = $4
    } else if ($4 == "promoter" || $4 == "enhancer") {
        for (i = $2 + 1; i <= $3; i++)
            in_site[i] = 1
    }
    next
}
/^>/ {
    here = substr($1, 2, length(chromosome) + 1) ~ "^" chromosome "( |$)"
    next
}
here { bases = bases toupper($0) }
END {
    print "##fileformat=VCFv4.2"
    print "#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO"
    for (i = 1; i <= length(bases); i++) {
        id = i in what ? what[i] : i in in_motif ? "" : i in in_site && ++k % 30 == 0 ? "nearby" : i % 1000 == 0 ? "background" : ""
        base = substr(bases, i, 1)
        if (id && base in other)
            print chromosome, i, id "_" i, base, other[base], ".", ".", "."
    }
}
