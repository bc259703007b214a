/* correlate.c - covprofile correlate: how similar tracks are.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/job/profile/correlate_tracks.h"
#include "tools/covprofile/covprofile.h"

struct config {
    struct cov_source_flags source;
    const char *genes, *feature, *plot;
    int64_t bin;
    int method;
};

enum { ROW_BINS, ROW_GENES, ROW_FEATURE, ROW_METHOD, ROW_PLOT, ROW_SOURCE };

static const char *const methods[] = {"pearson", "spearman", NULL};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_BINS] = COV_OPT(SIZE, "bins", 0, FIELD(bin), "N", "correlate the means of N bases",
                         .def = "10000", .min = 1, .max = 1e15),
    [ROW_GENES] = COV_OPT(STRING, "genes", 0, FIELD(genes), "FILE",
                          "correlate the means of features instead: GFF3, GTF or BED",
                          .flags = COV_OPT_PATH_IN),
    [ROW_FEATURE] = COV_OPT(STRING, "feature", 0, FIELD(feature), "TYPE",
                            "with --genes, GFF3 or GTF: the features to use, by their type in "
                            "column 3",
                            .def = "gene"),
    [ROW_METHOD] =
        COV_OPT(ENUM, "method", 0, FIELD(method), NULL, "correlate values, or their ranks",
                .def = "pearson", .choices = methods),
    [ROW_PLOT] =
        COV_OPT(STRING, "plot", 0, FIELD(plot), "FILE",
                "draw a clustered map as a .png or .svg picture", .flags = COV_OPT_PATH_OUT),
    [ROW_SOURCE] = COV_SOURCE_OPTIONS(FIELD(source), "read",
                                      "the data sets to read, if an INPUT has several; each is a "
                                      "column",
                                      "read", ""),
    COV_FILL_GAPS_OPTION(FIELD(source)),
    {.name = NULL},
};

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    const struct config *c = config;
    const struct cov_correlate_options o = {
        .bin = c->bin,
        .genes = c->genes,
        .feature = c->feature,
        .needs_types = given[ROW_FEATURE],
        .spearman = c->method == 1,
    };
    struct cov_profile_request request;
    if (given[ROW_BINS] && c->genes)
        return cov_fail(e, COV_EUSAGE, "--bins and --genes cannot be used together");
    if (given[ROW_FEATURE] && !c->genes)
        return cov_fail(e, COV_EUSAGE, "--feature needs --genes");
    int rc = covprofile_request(&c->source, common, n_operands, operands, &request, e);
    request.paths.plot = c->plot;
    return rc ? rc : cov_correlate_run(&request, &o, e);
}

const struct cov_tool covprofile_correlate = {
    .name = "correlate",
    .summary = "correlations of tracks, over bins of the genome or over genes",
    .synopsis = "[options] [--genes FILE] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile correlate --datasets atacseq predictions.h5 genome.h5 rep1.bw rep2.bw\n"
        "  covprofile correlate --genes genes.gff3 --method spearman --plot r.png *.bw\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = -1,
    .prints_table = true,
    .output_optional = true,
    .output_help = "where the table goes (default: standard output)",
    .plot = &cov_correlate_cells,
    .run = run,
};
