/* region.c - covprofile region: tracks, genes and peaks of one region.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/job/profile/region_tracks.h"
#include "tools/covprofile/covprofile.h"

struct config {
    struct covprofile_config base; /* first */
    struct cov_region_options o;
};

enum { ROW_FEATURE };

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_FEATURE] = COVPROFILE_FEATURE_OPTION(
        "with --genes, GFF3 or GTF: the features to draw, by their type in column 3"),
    COV_OPT(STRING, "region", 'r', FIELD(o.region), "REGION",
            "the region: NAME, NAME:FIRST-LAST, NAME:FIRST- or NAME:-LAST, 1-based",
            .flags = COV_OPT_REQUIRED),
    COVPROFILE_GENES_OPTION(
        "draw these genes below the tracks: GFF3 or GTF, with exons as boxes, or BED", 0),
    COV_OPT(LIST, "peaks", 0, FIELD(o.peaks), "BED,...", "draw the peaks of these files, too",
            .flags = COV_OPT_PATH_IN),
    COV_OPT(LIST, "labels", 0, FIELD(o.labels), "NAME,...",
            "labels of all tracks, in their order (default: the names of the files)"),
    COV_OPT(FLAG, "own-scales", 0, FIELD(o.own_scales), NULL,
            "draw each track on a scale of its own, not all on the same"),
    COVPROFILE_PLOT_OPTION("the region"),
    COVPROFILE_WHOLE_OPTIONS,
    {.name = NULL},
};

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    struct config *c = config;
    const bool has_genes = c->base.genes.path;
    if (given[ROW_FEATURE] && !has_genes)
        return cov_fail(e, COV_EUSAGE, "--feature needs --genes");
    if ((has_genes || c->o.peaks.n > 0 || c->o.own_scales) && !c->base.request.paths.plot)
        return cov_fail(e, COV_EUSAGE, "--%s needs --plot",
                        has_genes          ? "genes"
                        : c->o.peaks.n > 0 ? "peaks"
                                           : "own-scales");
    c->base.genes.needs_types = given[ROW_FEATURE];
    c->o.genes = c->base.genes;
    int rc = covprofile_request(&c->base, common, n_operands, operands, e);
    return rc ? rc : cov_region_run(&c->base.request, &c->o, e);
}

const struct cov_tool covprofile_region = {
    .name = "region",
    .summary = "tracks of a region, with genes and peaks: a plot, and the means of bins",
    .synopsis = "[options] -r REGION [--genes FILE] [--plot FILE] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile region -r chr1:1-50k --genes genes.gff3 --plot region.png -o region.tsv "
        "predictions.h5 genome.h5\n"
        "  covprofile region -r chr2:1M-1.1M --labels old,new,measured --peaks peaks.narrowPeak "
        "--plot r.svg old.bw new.bw atac.bw\n",
    COVPROFILE_TOOL,
};
