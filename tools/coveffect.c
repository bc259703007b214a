/* coveffect.c - what changes in the DNA do to the predicted signal.
 *
 * The subcommands are in tools/coveffect/.
 * SPDX-License-Identifier: MIT */
#include "tools/coveffect/coveffect.h"

#include <stddef.h>
#include <stdio.h>

#include "common/h5/libraries.h"
#include "common/input/device_options.h"

static const struct cov_tool *const subcommands[] = {&coveffect_vcf, &coveffect_ism,
                                                     &coveffect_gradients, NULL};

static void print_versions(FILE *f)
{
    cov_libraries_print(f);
    cov_device_print(f);
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "coveffect",
        .summary = "score variants (VCF) and bases (ISM) by what they do to the predicted signal",
        .subcommands = subcommands,
        .examples =
            "  coveffect vcf -m model.ckpt -g genome.fa.gz -o effects.tsv variants.vcf.gz\n"
            "  coveffect ism -m model.ckpt -g genome.fa.gz -R peaks.bed --length 500 --dataset "
            "atacseq -o ism/\n",
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
