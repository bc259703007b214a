/* fingerprints.c - covprofile fingerprint: how signal is spread over the genome.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/job/profile/fingerprint_tracks.h"
#include "tools/covprofile/covprofile.h"

struct config {
    struct cov_source_flags source;
    const char *control, *curves, *plot;
    int64_t bin;
};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    COV_OPT(SIZE, "bins", 0, FIELD(bin), "N", "use the means of N bases", .def = "500", .min = 1,
            .max = 1e15),
    COV_OPT(STRING, "control", 0, FIELD(control), "INPUT",
            "a track without enrichment, such as the input of ChIP-seq, to compare the others with",
            .flags = COV_OPT_PATH_IN),
    COV_OPT(STRING, "curves", 0, FIELD(curves), "FILE",
            "write the curves as a table of 1001 points", .flags = COV_OPT_PATH_OUT),
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
    const struct cov_fingerprint_options o = {.bin = c->bin, .control = c->control};
    struct cov_profile_request request;
    int rc = covprofile_request(&c->source, common, n_operands, operands, &request, e);
    request.paths.second = c->curves;
    request.paths.second_kind = COV_OUTFILE_TABLE;
    request.paths.plot = c->plot;
    return rc ? rc : cov_fingerprint_run(&request, &o, e);
}

const struct cov_tool covprofile_fingerprint = {
    .name = "fingerprint",
    .summary = "how signal is spread over the genome, like deepTools' plotFingerprint",
    .synopsis = "[options] [--control INPUT] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile fingerprint --plot f.png rep1.bw rep2.bw predicted.bw\n"
        "  covprofile fingerprint --control input.bw --datasets h3k4me3 predictions.h5 chip.bw\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = -1,
    .prints_table = true,
    .output_optional = true,
    .output_help = "where the table goes (default: standard output)",
    .run = run,
};
