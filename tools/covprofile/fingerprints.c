/* fingerprints.c - covprofile fingerprint: how signal is spread over the genome.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/job/profile/fingerprint_tracks.h"
#include "tools/covprofile/covprofile.h"

struct config {
    struct covprofile_config base; /* first */
    struct cov_fingerprint_options o;
};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    COV_OPT(SIZE, "bin-size", 0, FIELD(o.bin), "N",
            "use the means of bins of the genome, each N bases wide", .def = "500", .min = 1,
            .max = 1e15),
    COV_OPT(STRING, "control", 0, FIELD(o.control), "INPUT",
            "a track without enrichment, such as the input of ChIP-seq, to compare the others with",
            .flags = COV_OPT_PATH_IN),
    COVPROFILE_SECOND_OPTION("curves", "write the curves as a table of 1001 points"),
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
    return rc ? rc : cov_fingerprint_run(&c->base.request, &c->o, e);
}

const struct cov_tool covprofile_fingerprint = {
    .name = "fingerprint",
    .summary = "how signal is spread over the genome, like deepTools' plotFingerprint",
    .synopsis = "[options] [--control INPUT] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile fingerprint --plot f.png rep1.bw rep2.bw predicted.bw\n"
        "  covprofile fingerprint --control input.bw --datasets h3k4me3 predictions.h5 chip.bw\n",
    COVPROFILE_TOOL,
};
