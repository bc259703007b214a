/* correlate.c - covprofile correlate: how similar tracks are.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/job/profile/correlate_tracks.h"
#include "tools/covprofile/covprofile.h"

struct config {
    struct covprofile_config base; /* first */
    struct cov_correlate_options o;
    int method, anchor;
};

enum { ROW_BINS, ROW_FEATURE, ROW_ANCHOR, ROW_BEFORE, ROW_AFTER };

static const char *const methods[] = {"pearson", "spearman", NULL};
static const char *const anchors[] = {"whole", "tss", "tes", "centre", NULL};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_BINS] = COV_OPT(SIZE, "bin-size", 0, FIELD(o.bin), "N",
                         "correlate the means of bins of the genome, each N bases wide",
                         .def = "10000", .min = 1, .max = 1e15),
    [ROW_FEATURE] = COVPROFILE_FEATURE_OPTION(
        "with --genes, GFF3 or GTF: the features to use, by their type in column 3"),
    [ROW_ANCHOR] = COV_OPT(ENUM, "anchor", 0, FIELD(anchor), NULL,
                           "with --genes: correlate the means of whole features, or of windows "
                           "around their start, end or middle",
                           .def = "whole", .choices = anchors),
    [ROW_BEFORE] = COV_OPT(SIZE, "before", 'b', FIELD(o.layout.before), "N",
                           "with --genes: bases before the anchor, or before the whole feature "
                           "(default: 3000, or 0 with whole)",
                           .max = COVPROFILE_MOST_BASES),
    [ROW_AFTER] = COV_OPT(SIZE, "after", 'a', FIELD(o.layout.after), "N",
                          "with --genes: bases from the anchor on, or after the whole feature "
                          "(default: 3000, or 0 with whole)",
                          .max = COVPROFILE_MOST_BASES),
    COVPROFILE_GENES_OPTION("correlate the means of features, or of windows around them: GFF3, GTF "
                            "or BED",
                            0),
    COV_OPT(ENUM, "method", 0, FIELD(method), NULL, "correlate values, or their ranks",
            .def = "pearson", .choices = methods),
    COVPROFILE_PLOT_OPTION("a clustered map"),
    COVPROFILE_OPTIONS,
    {.name = NULL},
};

static int check_options(const struct config *c, const bool *given, struct cov_err *e)
{
    static const int need_genes[] = {ROW_FEATURE, ROW_ANCHOR, ROW_BEFORE, ROW_AFTER};
    const bool has_genes = c->base.genes.path;
    if (given[ROW_BINS] && has_genes)
        return cov_fail(e, COV_EUSAGE, "--bin-size and --genes cannot be used together");
    for (size_t i = 0; !has_genes && i < COV_COUNT(need_genes); i++)
        if (given[need_genes[i]])
            return cov_fail(e, COV_EUSAGE, "--%s needs --genes", options[need_genes[i]].name);
    return COV_OK;
}

/* Completes the layout: each window is a single bin. */
static int finish_layout(const struct config *c, const bool *given, struct cov_profile_layout *l,
                         struct cov_err *e)
{
    static const enum cov_anchor kinds[] = {COV_ANCHOR_SCALE, COV_ANCHOR_TSS, COV_ANCHOR_TES,
                                            COV_ANCHOR_CENTRE};
    const bool is_whole = c->anchor == 0;
    const int64_t usual = is_whole ? 0 : 3000;
    l->anchor = kinds[c->anchor];
    if (!given[ROW_BEFORE])
        l->before = usual;
    if (!given[ROW_AFTER])
        l->after = usual;
    if (!is_whole && l->before + l->after == 0)
        return cov_fail(e, COV_EUSAGE, "--before and --after are both 0");
    return COV_OK;
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    struct config *c = config;
    c->base.genes.needs_types = given[ROW_FEATURE];
    c->o.features = c->base.genes;
    c->o.spearman = c->method == 1;
    int rc = check_options(c, given, e);
    if (!rc)
        rc = finish_layout(c, given, &c->o.layout, e);
    if (!rc)
        rc = covprofile_request(&c->base, common, n_operands, operands, e);
    return rc ? rc : cov_correlate_run(&c->base.request, &c->o, e);
}

const struct cov_tool covprofile_correlate = {
    .name = "correlate",
    .summary = "correlations of tracks, over bins of the genome or around genes",
    .synopsis = "[options] [--genes FILE] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile correlate --replicates --datasets atacseq predictions.h5 genome.h5\n"
        "  covprofile correlate --genes genes.gff3 --anchor tss -b 1k -a 1k --method spearman "
        "--plot r.png *.bw\n",
    .plot = &cov_correlate_cells,
    COVPROFILE_TOOL,
};
