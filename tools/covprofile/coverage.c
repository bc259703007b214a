/* coverage.c - covprofile coverage: how many bases have which coverage.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/job/profile/coverage_tracks.h"
#include "tools/covprofile/covprofile.h"

struct config {
    struct covprofile_config base; /* first */
    double step;
};

static const struct cov_opt options[] = {
    COV_OPT(FLOAT, "step", 0, offsetof(struct config, step), "V",
            "the curves count values in steps of V", .def = "1", .min = 1e-9, .max = 1e9),
    COVPROFILE_SECOND_OPTION(
        "curves", "write the fraction of the bases at each step, and from there on, as a table"),
    COVPROFILE_PLOT_OPTION("the curves"),
    COVPROFILE_OPTIONS,
    {.name = NULL},
};

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)given;
    struct config *c = config;
    int rc = covprofile_request(&c->base, common, n_operands, operands, e);
    return rc ? rc : cov_coverage_run(&c->base.request, c->step, e);
}

const struct cov_tool covprofile_coverage = {
    .name = "coverage",
    .summary = "mean, quartiles and distribution of coverage, like deepTools' plotCoverage",
    .synopsis = "[options] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile coverage --plot c.png rep1.bw rep2.bw predicted.bw\n"
        "  covprofile coverage --step 0.1 --curves c.tsv --blacklist-file organelles cpm.bw\n",
    COVPROFILE_TOOL,
};
