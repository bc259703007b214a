/* region.c - covprofile region: tracks, genes and peaks of one region.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/job/profile/region_tracks.h"
#include "tools/covprofile/covprofile.h"

struct config {
    struct cov_source_flags source;
    const char *region, *genes, *feature, *plot;
    struct cov_strings names, peaks;
    bool own_scales;
};

enum { ROW_FEATURE };

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_FEATURE] = COV_OPT(STRING, "feature", 0, FIELD(feature), "TYPE",
                            "with --genes, GFF3 or GTF: the features to draw, by their type in "
                            "column 3",
                            .def = "gene"),
    COV_OPT(STRING, "region", 'r', FIELD(region), "REGION",
            "the region: NAME, NAME:FIRST-LAST, NAME:FIRST- or NAME:-LAST, 1-based",
            .flags = COV_OPT_REQUIRED),
    COV_OPT(STRING, "genes", 0, FIELD(genes), "FILE",
            "draw these genes below the tracks: GFF3 or GTF, with exons as boxes, or BED",
            .flags = COV_OPT_PATH_IN),
    COV_OPT(LIST, "peaks", 0, FIELD(peaks), "BED,...", "draw the peaks of these files, too",
            .flags = COV_OPT_PATH_IN),
    COV_OPT(LIST, "names", 0, FIELD(names), "NAME,...",
            "names of all tracks, in their order; without it, those of the files"),
    COV_OPT(FLAG, "own-scales", 0, FIELD(own_scales), NULL,
            "draw each track on a scale of its own, not all on the same"),
    COV_OPT(STRING, "plot", 0, FIELD(plot), "FILE", "draw the region as a .png or .svg picture",
            .flags = COV_OPT_PATH_OUT),
    COV_SOURCE_OPTIONS_WHOLE(FIELD(source), "read",
                             "the data sets to read, if an INPUT has several; each is a track", ""),
    COV_FILL_GAPS_OPTION(FIELD(source)),
    {.name = NULL},
};

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    const struct config *c = config;
    const struct cov_region_options o = {
        .region = c->region,
        .names = c->names,
        .genes = c->genes,
        .feature = c->feature,
        .needs_types = given[ROW_FEATURE],
        .peaks = c->peaks,
        .own_scales = c->own_scales,
    };
    struct cov_profile_request request;
    if (given[ROW_FEATURE] && !c->genes)
        return cov_fail(e, COV_EUSAGE, "--feature needs --genes");
    if ((c->genes || c->peaks.n > 0 || c->own_scales) && !c->plot)
        return cov_fail(e, COV_EUSAGE, "--%s needs --plot",
                        c->genes         ? "genes"
                        : c->peaks.n > 0 ? "peaks"
                                         : "own-scales");
    int rc = covprofile_request(&c->source, common, n_operands, operands, &request, e);
    request.paths.plot = c->plot;
    return rc ? rc : cov_region_run(&request, &o, e);
}

const struct cov_tool covprofile_region = {
    .name = "region",
    .summary = "tracks of a region, with genes and peaks: a picture, and the means of bins",
    .synopsis = "[options] -r REGION [--genes FILE] [--plot FILE] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile region -r chr1:1-50k --genes genes.gff3 --plot region.png -o region.tsv "
        "predictions.h5 genome.h5\n"
        "  covprofile region -r chr2:1M-1.1M --names old,new,measured --peaks peaks.narrowPeak "
        "--plot r.svg old.bw new.bw atac.bw\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = -1,
    .prints_table = true,
    .output_optional = true,
    .output_help = "where the table goes (default: standard output)",
    .run = run,
};
