/* genes.c - covprofile genes: tracks around the features of an annotation.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stddef.h>

#include "common/job/profile/gene_profile.h"
#include "tools/covprofile/covprofile.h"

struct config {
    struct covprofile_config base; /* first */
    struct cov_gene_profile_options o;
    int preset;
    bool mean;
};

enum {
    ROW_GENES,
    ROW_FEATURE,
    ROW_BEFORE,
    ROW_AFTER,
    ROW_ANCHOR,
    ROW_BODY,
    ROW_BIN,
    ROW_MEAN,
    ROW_MEDIAN,
    ROW_PRESET
};

/* In the order of enum cov_anchor. */
static const char *const anchors[] = {"tss", "tes", "centre", "scale", NULL};
static const char *const presets[] = {"none", "predmoter", NULL};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_GENES] = COVPROFILE_GENES_OPTION("the annotation: GFF3, GTF or BED, compressed or not",
                                          COV_OPT_REQUIRED),
    [ROW_FEATURE] =
        COVPROFILE_FEATURE_OPTION("GFF3, GTF: the features to use, by their type in column 3"),
    [ROW_BEFORE] = COV_OPT(SIZE, "before", 'b', FIELD(o.layout.before), "N",
                           "bases before the anchor", .def = "3000", .max = COVPROFILE_MOST_BASES),
    [ROW_AFTER] = COV_OPT(SIZE, "after", 'a', FIELD(o.layout.after), "N",
                          "bases from the anchor on", .def = "3000", .max = COVPROFILE_MOST_BASES),
    [ROW_ANCHOR] = COV_OPT(ENUM, "anchor", 0, FIELD(o.layout.anchor), NULL,
                           "the start, end or middle of a feature; or scale all features to the "
                           "same length, between -b and -a",
                           .def = "tss", .choices = anchors),
    [ROW_BODY] = COV_OPT(SIZE, "body", 0, FIELD(o.layout.body), "N",
                         "with --anchor scale: the length of the features", .def = "1000", .min = 1,
                         .max = COVPROFILE_MOST_BASES),
    [ROW_BIN] = COV_OPT(SIZE, "bin-size", 0, FIELD(o.layout.bin), "N",
                        "a position of the profile is a bin of N bases", .def = "10", .min = 1,
                        .max = COVPROFILE_MOST_BASES),
    [ROW_MEAN] =
        COV_OPT(FLAG, "mean", 0, FIELD(mean), NULL, "the mean over the features (the default)"),
    [ROW_MEDIAN] =
        COV_OPT(FLAG, "median", 0, FIELD(o.median), NULL, "the median over the features instead"),
    [ROW_PRESET] =
        COV_OPT(ENUM, "preset", 0, FIELD(preset), NULL,
                "predmoter: as its tss_computations.py, with the base at -a, --bin-size 1, "
                "and genes without a strand anchored at their end",
                .def = "none", .choices = presets),
    COVPROFILE_SECOND_OPTION("matrix", "write the bins of each feature for deepTools' plotHeatmap "
                                       "and plotProfile (gzip)"),
    COVPROFILE_PLOT_OPTION("the curves, and maps of the features sorted by signal,"),
    COVPROFILE_OPTIONS,
    {.name = NULL},
};

/* Applies the preset. */
static int apply_preset(struct config *c, const bool *given, struct cov_err *e)
{
    static const int fixed[] = {ROW_BIN, ROW_ANCHOR, ROW_FEATURE};
    if (c->preset == 0)
        return COV_OK;
    for (size_t i = 0; i < COV_COUNT(fixed); i++)
        if (given[fixed[i]])
            return cov_fail(e, COV_EUSAGE, "--%s and --preset predmoter cannot be used together",
                            options[fixed[i]].name);
    c->o.layout.bin = 1;
    c->o.layout.after++;
    c->o.layout.no_strand_is_minus = true;
    return COV_OK;
}

static int check_bin(const char *name, int64_t n, int64_t bin, struct cov_err *e)
{
    return n % bin == 0 ? COV_OK
                        : cov_fail(e, COV_EUSAGE,
                                   "--%s %" PRId64 " must be a multiple of --bin-size %" PRId64,
                                   name, n, bin);
}

static int check_layout(struct config *c, const bool *given, struct cov_err *e)
{
    struct cov_profile_layout *l = &c->o.layout;
    const bool is_scaled = l->anchor == COV_ANCHOR_SCALE;
    if (given[ROW_BODY] && !is_scaled)
        return cov_fail(e, COV_EUSAGE, "--body needs --anchor scale");
    if (!is_scaled)
        l->body = 0;
    if (c->mean && c->o.median)
        return cov_fail(e, COV_EUSAGE, "--mean and --median cannot be used together");
    if (l->before + l->after + l->body == 0)
        return cov_fail(e, COV_EUSAGE, "--before and --after are both 0");
    int rc = check_bin("before", l->before, l->bin, e);
    if (!rc)
        rc = check_bin("after", l->after, l->bin, e);
    return rc ? rc : check_bin("body", l->body, l->bin, e);
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    struct config *c = config;
    c->base.genes.needs_types = given[ROW_FEATURE];
    c->o.features = c->base.genes;
    int rc = apply_preset(c, given, e);
    if (!rc)
        rc = check_layout(c, given, e);
    if (!rc)
        rc = covprofile_request(&c->base, common, n_operands, operands, e);
    if (rc)
        return rc;
    c->base.request.paths.second_kind = COV_OUTFILE_MATRIX;
    return cov_gene_profile_run(&c->base.request, &c->o, e);
}

const struct cov_tool covprofile_genes = {
    .name = "genes",
    .summary = "mean or median signal around the TSS of genes, as curves and a heatmap",
    .synopsis = "[options] --genes FILE [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile genes --genes genes.gff3 --plot genes.png -o genes.tsv predictions.h5\n"
        "  covprofile genes --genes genes.gtf --anchor scale --matrix genes.mat.gz atac.bw "
        "h3k4me3.bw\n"
        "  covprofile genes --genes peaks.bed --anchor centre -b 500 -a 500 predictions.h5 "
        "genome.h5\n",
    .plot = &cov_gene_profile_lines,
    COVPROFILE_TOOL,
};
