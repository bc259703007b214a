# variants.awk - variants of the FASTA that compare.sh makes, as VCF: of chr4 and contig_1, every `step` bases.
#
#     awk -v step=60 -f variants.awk weed.fa
#
# A base changes, becomes longer or is deleted. The genotypes of two samples are phased.
# SPDX-License-Identifier: MIT
BEGIN { OFS = "\t"; other["A"] = "C"; other["C"] = "A"; other["G"] = "T"; other["T"] = "G" }
/^>/ { name = substr($1, 2); next }
name == "chr4" || name == "contig_1" { bases[name] = bases[name] toupper($0) }
END {
    print "##fileformat=VCFv4.2\n##FORMAT=<ID=GT,Number=1,Type=String,Description=\"Genotype\">"
    print "##contig=<ID=chr4>\n##contig=<ID=contig_1>"
    print "#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", "one", "two"
    for (c = 0; c < 2; c++)
        for (i = 600; i <= 3000; i += step) {
            name = c ? "contig_1" : "chr4"
            two = substr(bases[name], i, 2)
            if (two !~ /^[ACGT][ACGT]$/)
                continue
            base = substr(two, 1, 1)
            n++
            print name, i, "v" n, n % 5 ? base : two, n % 5 ? n % 7 ? other[base] : base "ACG" : base, ".", ".", ".", "GT", \
                n % 2 ? "0|1" : "1|1", n % 3 ? "0|0" : "1|0"
        }
}
