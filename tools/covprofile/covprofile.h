/* covprofile.h - the subcommands of covprofile, and what they share.
 * SPDX-License-Identifier: MIT */
#ifndef COVPROFILE_COVPROFILE_H
#define COVPROFILE_COVPROFILE_H

#include <stddef.h>

#include "common/cli/tool.h"
#include "common/job/profile/profile_inputs.h"
#include "common/signal/source_options.h"

/* genes.c, region.c, correlate.c, fingerprints.c, coverage.c */
extern const struct cov_tool covprofile_genes, covprofile_region, covprofile_correlate,
    covprofile_fingerprint, covprofile_coverage;

/* Limit of --before, --after and others. */
enum { COVPROFILE_MOST_BASES = 1000000 };

/* The first member of each subcommand's config. */
struct covprofile_config {
    struct cov_profile_request request;
    struct cov_profile_features genes;
};

#define COVPROFILE_FIELD(name) offsetof(struct covprofile_config, name)
#define COVPROFILE_SOURCE COVPROFILE_FIELD(request.source)

/* Rows of all subcommands, the first without those of regions. */
#define COVPROFILE_WHOLE_OPTIONS                                                                   \
    COV_SOURCE_OPTIONS_WHOLE(COVPROFILE_SOURCE, "read",                                            \
                             "the datasets to read, if an INPUT has several; each is a track",     \
                             ""),                                                                  \
        COV_FILL_GAPS_OPTION(COVPROFILE_SOURCE), COV_REPLICATES_OPTION(COVPROFILE_SOURCE)
#define COVPROFILE_OPTIONS                                                                         \
    COV_SOURCE_REGION_OPTIONS(COVPROFILE_SOURCE, "read"), COVPROFILE_WHOLE_OPTIONS

#define COVPROFILE_GENES_OPTION(help, more)                                                        \
    COV_OPT(STRING, "genes", 0, COVPROFILE_FIELD(genes.path), "FILE", help,                        \
            .flags = COV_OPT_PATH_IN | (more))
#define COVPROFILE_FEATURE_OPTION(help)                                                            \
    COV_OPT(STRING, "feature", 0, COVPROFILE_FIELD(genes.type), "TYPE", help, .def = "gene")
#define COVPROFILE_SECOND_OPTION(name, help)                                                       \
    COV_OPT(STRING, name, 0, COVPROFILE_FIELD(request.paths.second), "FILE", help,                 \
            .flags = COV_OPT_PATH_OUT)
#define COVPROFILE_PLOT_OPTION(what)                                                               \
    COV_OPT(STRING, "plot", 0, COVPROFILE_FIELD(request.paths.plot), "FILE",                       \
            "draw " what " as a .png or .svg plot", .flags = COV_OPT_PATH_OUT)

/* What the subcommands' tables share. */
#define COVPROFILE_TOOL                                                                            \
    .options = options, .config_bytes = sizeof(struct config), .min_operands = 1,                  \
    .max_operands = -1, .prints_table = true, .output_optional = true,                             \
    .output_help = "where the table goes (default: standard output)", .run = run

/* Completes config->request, which borrows everything. */
int covprofile_request(struct covprofile_config *config, struct cov_common *common, int n_operands,
                       char **operands, struct cov_err *e) COV_MUST_USE;

#endif
