/* covprofile.c - predicted and measured signal around genes.
 *
 * The subcommands are in tools/covprofile/.
 * SPDX-License-Identifier: MIT */
#include "tools/covprofile/covprofile.h"

#include <stddef.h>
#include <stdio.h>

#include "common/h5/libraries.h"
#include "common/track/formats/bigwig_verify.h"

static const struct cov_tool *const subcommands[] = {&covprofile_genes,     &covprofile_region,
                                                     &covprofile_correlate, &covprofile_fingerprint,
                                                     &covprofile_coverage,  NULL};

static void print_versions(FILE *f)
{
    cov_libraries_print(f);
    (void)fprintf(f, "libBigWig %s\n", cov_bigwig_version());
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "covprofile",
        .summary = "signal around genes and in regions; correlations and distributions of tracks",
        .subcommands = subcommands,
        .examples =
            "  covprofile genes --genes genes.gff3 --plot genes.png -o genes.tsv "
            "predictions.h5\n"
            "  covprofile region -r chr1:1-50k --genes genes.gff3 --plot region.png predictions.h5 "
            "genome.h5\n"
            "  covprofile correlate --bin-size 1k rep1.bw rep2.bw predicted.bw\n"
            "  covprofile fingerprint --control input.bw --plot f.png chip.bw\n",
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
