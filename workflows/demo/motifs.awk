# motifs.awk - the motifs that make_plant.c plants, for the scripts that are run after it: awk -f motifs.awk -f variants.awk
# SPDX-License-Identifier: MIT
BEGIN {
    FS = OFS = "\t"
    split("TATA TATAWAWR CCAAT GCCAATSR GC RGGGCGGRRY G GGCCACGTGGMR W TTGACY TGA TGACGTCA TCP GTGGGNCC", words, " ")
    for (i = 1; i in words; i += 2)
        consensus["motif_" words[i]] = words[i + 1]
}

# Reads the motif on the current line of features.bed: marks its bases in in_motif and, if it has no mismatch, sets
# places[0..n) to the bases that it needs. Returns n. Places are 1-based.
function read_motif(places,    i, n) {
    n = 0
    for (i = 0; i < $3 - $2; i++) {
        in_motif[$2 + 1 + i] = 1
        if ($5 == 100 && substr(consensus[$4], i + 1, 1) ~ /[ACGT]/)
            places[n++] = $6 == "+" ? $2 + 1 + i : $3 - i
    }
    return n
}
