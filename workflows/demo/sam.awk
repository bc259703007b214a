# sam.awk - reads as an aligner might have placed them, where their coverage is to be that of a bedGraph.
#
#   awk -v length_of_read=100 -f poisson.awk -f sam.awk coverage.bedGraph coverage.bedGraph
#
# The file is read twice: for the lengths of the sequences, and for the reads. About each base as many reads
# lie as a Poisson distribution gives, whose mean is the coverage over their length; those that would hang
# over an end are left out. Prints SAM, by coordinate; strands alternate.
# SPDX-License-Identifier: MIT

BEGIN {
    seed = 20240229
    OFS = "\t"
    print "@HD", "VN:1.6", "SO:coordinate"
}

NR == FNR {
    if (!($1 in length_of))
        name[n_names++] = $1
    length_of[$1] = $3
    next
}

FNR == 1 {
    for (i = 0; i < n_names; i++)
        print "@SQ", "SN:" name[i], "LN:" length_of[name[i]]
}

{
    for (at = $2; at < $3; at++)
        for (n = poisson($4 / length_of_read); n > 0; n--) {
            beg = at - int(length_of_read / 2)
            if (beg >= 0 && beg + length_of_read <= length_of[$1])
                print "r" ++reads, reads % 2 ? 0 : 16, $1, beg + 1, 60, length_of_read "M", "*", 0, 0, "*", "*"
        }
}
