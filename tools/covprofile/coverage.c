/* coverage.c - covprofile coverage: how many bases have which coverage.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/job/profile/coverage_tracks.h"
#include "tools/covprofile/covprofile.h"

struct config {
    struct cov_source_flags source;
    const char *curves, *plot;
    double step;
};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    COV_OPT(FLOAT, "step", 0, FIELD(step), "V", "the curves count values in steps of V", .def = "1",
            .min = 1e-9, .max = 1e9),
    COV_OPT(STRING, "curves", 0, FIELD(curves), "FILE",
            "write the share of the bases at each step, and from there on, as a table",
            .flags = COV_OPT_PATH_OUT),
    COV_OPT(STRING, "plot", 0, FIELD(plot), "FILE", "draw the curves as a .png or .svg picture",
            .flags = COV_OPT_PATH_OUT),
    COV_SOURCE_OPTIONS(FIELD(source), "read",
                       "the data sets to read, if an INPUT has several; each is a row", "read", ""),
    COV_FILL_GAPS_OPTION(FIELD(source)),
    {.name = NULL},
};

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)given;
    const struct config *c = config;
    struct cov_profile_request request;
    int rc = covprofile_request(&c->source, common, n_operands, operands, &request, e);
    request.paths.second = c->curves;
    request.paths.second_kind = COV_OUTFILE_TABLE;
    request.paths.plot = c->plot;
    return rc ? rc : cov_coverage_run(&request, c->step, e);
}

const struct cov_tool covprofile_coverage = {
    .name = "coverage",
    .summary = "mean, quartiles and distribution of coverage, like deepTools' plotCoverage",
    .synopsis = "[options] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile coverage --plot c.png rep1.bw rep2.bw predicted.bw\n"
        "  covprofile coverage --step 0.1 --curves c.tsv --blacklist-file organelles cpm.bw\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = -1,
    .prints_table = true,
    .output_optional = true,
    .output_help = "where the table goes (default: standard output)",
    .run = run,
};
