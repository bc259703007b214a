/* covpeaks.c - peaks of predicted and measured signal.
 *
 * The subcommands are in tools/covpeaks/.
 * SPDX-License-Identifier: MIT */
#include "tools/covpeaks/covpeaks.h"

#include <stddef.h>
#include <stdio.h>

#include "common/h5/h5.h"
#include "common/track/formats/bigwig_verify.h"

static const struct cov_tool *const subcommands[] = {&covpeaks_call, &covpeaks_curve,
                                                     &covpeaks_compare, &covpeaks_stats, NULL};

static void print_versions(FILE *f)
{
    cov_libraries_print(f);
    (void)fprintf(f, "libBigWig %s\n", cov_bigwig_version());
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "covpeaks",
        .summary = "call and compare peaks of predicted and measured signal",
        .subcommands = subcommands,
        .examples = "  covpeaks call -c 25 --datasets atacseq -o atac.narrowPeak predictions.h5\n"
                    "  covpeaks compare --genome genome.h5 atac.narrowPeak measured.narrowPeak\n",
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
