/* covprofile.c - predicted and measured signal around genes.
 *
 * The subcommands are in tools/covprofile/.
 * SPDX-License-Identifier: MIT */
#include "tools/covprofile/covprofile.h"

#include <stddef.h>
#include <stdio.h>

#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/track/formats/bigwig_verify.h"

static const struct cov_tool *const subcommands[] = {&covprofile_genes,     &covprofile_region,
                                                     &covprofile_correlate, &covprofile_fingerprint,
                                                     &covprofile_coverage,  NULL};

int covprofile_request(struct covprofile_config *config, struct cov_common *common, int n_operands,
                       char **operands, struct cov_err *e)
{
    struct cov_profile_request *r = &config->request;
    r->inputs = operands;
    r->n_inputs = (size_t)n_operands;
    r->paths.table = common->output;
    r->paths.printed = stdout;
    r->paths.second_kind = COV_OUTFILE_TABLE;
    r->paths.tmpdir = common->tmpdir;
    r->paths.force = common->force;
    r->n_threads = (unsigned)common->threads;
    r->progress = &common->progress;
    r->stats = &common->stats;
    r->source.values.unrounded = true;
    const int rc = cov_path_check_distinct(operands, (size_t)n_operands, e);
    return rc ? rc : cov_source_options_finish(&r->source, e);
}

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
