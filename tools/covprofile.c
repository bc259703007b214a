/* covprofile.c - predicted and measured signal around genes, in regions and over the genome.
 *
 * A section for each subcommand. Their configs are the same struct, of which each uses its part.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/text.h"
#include "common/cli/tool.h"
#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/job/profile/profile_jobs.h"
#include "common/signal/track_source.h"
#include "common/track/formats/bigwig.h"

struct config {
    struct cov_profile_request request;
    union {
        struct cov_gene_profile_options genes;
        struct cov_region_options region;
        struct cov_correlate_options correlate;
        struct cov_fingerprint_options fingerprint;
        struct cov_score_map_options heatmap;
        double step; /* of coverage */
    } o;
    int preset, method, mode, anchor;
};

/* Limit of --before, --after and others. */
enum { MOST_BASES = 1000000 };

#define FIELD(name) offsetof(struct config, name)
#define SOURCE FIELD(request.source)

/* Rows of all subcommands, and of those that read the genome. */
#define TRACK_OPTIONS                                                                              \
    COV_SOURCE_OPTIONS_WHOLE(SOURCE, "read",                                                       \
                             "the datasets to read, if an INPUT has several; each is a track", "")
#define GENOME_OPTIONS                                                                             \
    COV_SOURCE_REGION_OPTIONS(SOURCE, "read"), TRACK_OPTIONS, COV_FILL_GAPS_OPTION(SOURCE),        \
        COV_REPLICATES_OPTION(SOURCE)

#define GENES_OPTION(help, more)                                                                   \
    COV_OPT(STRING, "genes", 0, FIELD(request.features.path), "FILE", help,                        \
            .flags = COV_OPT_PATH_IN | (more))
#define FEATURE_OPTION(help)                                                                       \
    COV_OPT(STRING, "feature", 0, FIELD(request.features.type), "TYPE", help, .def = "gene")
#define SECOND_OPTION(name, help)                                                                  \
    COV_OPT(STRING, name, 0, FIELD(request.paths.second), "FILE", help, .flags = COV_OPT_PATH_OUT)
#define PLOT_OPTION(what)                                                                          \
    COV_OPT(STRING, "plot", 0, FIELD(request.paths.plot), "FILE",                                  \
            "draw " what " as a .png or .svg plot", .flags = COV_OPT_PATH_OUT)

/* What the tables of the subcommands share. */
#define SUBCOMMAND(subcommand)                                                                     \
    .name = #subcommand, .options = subcommand##_options, .config_bytes = sizeof(struct config),   \
    .min_operands = 1, .max_operands = -1, .prints_table = true, .output_optional = true,          \
    .output_help = "where the table goes (default: standard output)", .run = subcommand##_run

/* Completes the request, which borrows everything. */
static int complete(struct cov_profile_request *r, struct cov_common *common, int n_operands,
                    char **operands, struct cov_err *e)
{
    r->inputs = operands;
    r->n_inputs = (size_t)n_operands;
    r->paths.table = common->output;
    r->paths.printed = stdout;
    r->paths.second_kind = COV_OUTFILE_TABLE;
    r->paths.tmpdir = common->tmpdir;
    r->paths.force = common->force;
    r->n_threads = (unsigned)common->threads;
    r->progress = &common->progress;
    r->stats = &common->stats;
    r->source.values.unrounded = true;
    const int rc = cov_path_check_distinct(operands, (size_t)n_operands, e);
    return rc ? rc : cov_source_options_finish(&r->source, e);
}

/* ---------------------------------------------------------------- genes */

enum {
    GENES_FILE,
    GENES_FEATURE,
    GENES_BEFORE,
    GENES_AFTER,
    GENES_ANCHOR,
    GENES_BODY,
    GENES_BIN,
    GENES_MEDIAN,
    GENES_PRESET,
    GENES_TSSE
};

/* In the order of enum cov_anchor. */
static const char *const genes_anchors[] = {"tss", "tes", "centre", "scale", NULL};
static const char *const presets[] = {"none", "predmoter", NULL};

static const struct cov_opt genes_options[] = {
    [GENES_FILE] = COV_OPT(LIST, "genes", 0, FIELD(o.genes.annotations), "FILE,...",
                           "the annotation, for each INPUT or one for all: GFF3, GTF or BED, "
                           "compressed or not",
                           .flags = COV_OPT_PATH_IN | COV_OPT_REQUIRED),
    [GENES_FEATURE] = FEATURE_OPTION("GFF3, GTF: the features to use, by their type in column 3"),
    [GENES_BEFORE] = COV_OPT(SIZE, "before", 'b', FIELD(o.genes.layout.before), "N",
                             "bases before the anchor", .def = "3000", .max = MOST_BASES),
    [GENES_AFTER] = COV_OPT(SIZE, "after", 'a', FIELD(o.genes.layout.after), "N",
                            "bases from the anchor on", .def = "3000", .max = MOST_BASES),
    [GENES_ANCHOR] = COV_OPT(ENUM, "anchor", 0, FIELD(o.genes.layout.anchor), NULL,
                             "the start, end or middle of a feature; or scale all features to the "
                             "same length, between -b and -a",
                             .def = "tss", .choices = genes_anchors),
    [GENES_BODY] = COV_OPT(SIZE, "body", 0, FIELD(o.genes.layout.body), "N",
                           "with --anchor scale: the length of the features", .def = "1000",
                           .min = 1, .max = MOST_BASES),
    [GENES_BIN] = COV_OPT(SIZE, "bin-size", 0, FIELD(o.genes.layout.bin), "N",
                          "a position of the profile is a bin of N bases", .def = "10", .min = 1,
                          .max = MOST_BASES),
    [GENES_MEDIAN] = COV_OPT(FLAG, "median", 0, FIELD(o.genes.median), NULL,
                             "the median over the features instead of the mean"),
    [GENES_PRESET] =
        COV_OPT(ENUM, "preset", 0, FIELD(preset), NULL,
                "predmoter: as its tss_computations.py, with the base at -a, --bin-size 1, "
                "and genes without a strand anchored at their end",
                .def = "none", .choices = presets),
    [GENES_TSSE] =
        COV_OPT(FLAG, "tsse", 0, FIELD(o.genes.tsse), NULL,
                "require ENCODE's TSS enrichment, which needs --anchor tss, --bin-size 10, and "
                "2000 bases or more on both sides; warn about tracks without it"),
    SECOND_OPTION("matrix", "write the bins of each feature for deepTools' plotHeatmap "
                            "and plotProfile (gzip)"),
    PLOT_OPTION("the curves, and maps of the features sorted by signal,"),
    GENOME_OPTIONS,
    {.name = NULL},
};

/* Applies the preset. */
static int apply_preset(struct config *c, const bool *given, struct cov_err *e)
{
    static const int fixed[] = {GENES_BIN, GENES_ANCHOR, GENES_FEATURE};
    if (c->preset == 0)
        return COV_OK;
    for (size_t i = 0; i < COV_COUNT(fixed); i++)
        if (given[fixed[i]])
            return cov_fail(e, COV_EUSAGE, "--%s and --preset predmoter cannot be used together",
                            genes_options[fixed[i]].name);
    c->o.genes.layout.bin = 1;
    c->o.genes.layout.after++;
    c->o.genes.layout.no_strand_is_minus = true;
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
    struct cov_profile_layout *l = &c->o.genes.layout;
    const bool is_scaled = l->anchor == COV_ANCHOR_SCALE;
    if (given[GENES_BODY] && !is_scaled)
        return cov_fail(e, COV_EUSAGE, "--body needs --anchor scale");
    if (!is_scaled)
        l->body = 0;
    if (l->before + l->after + l->body == 0)
        return cov_fail(e, COV_EUSAGE, "--before and --after are both 0");
    int rc = check_bin("before", l->before, l->bin, e);
    if (!rc)
        rc = check_bin("after", l->after, l->bin, e);
    return rc ? rc : check_bin("body", l->body, l->bin, e);
}

/* Checks that there are as many annotations as inputs, or one. */
static int check_annotations(const struct config *c, size_t n, struct cov_err *e)
{
    const size_t n_files = c->o.genes.annotations.n;
    if (n_files > 1 && n_files != n)
        return cov_fail(e, COV_EUSAGE, "--genes: %zu files for %zu input%s", n_files, n,
                        cov_text_s((int64_t)n));
    return n_files == 1 || !c->request.paths.second
               ? COV_OK
               : cov_fail(e, COV_EUSAGE, "--matrix needs one --genes for all inputs");
}

/* Checks that the layout allows a TSS enrichment. */
static int check_tsse(const struct config *c, struct cov_err *e)
{
    const struct cov_profile_layout *l = &c->o.genes.layout;
    if (c->preset != 0)
        return cov_fail(e, COV_EUSAGE, "--tsse and --preset predmoter cannot be used together");
    if (l->anchor != COV_ANCHOR_TSS)
        return cov_fail(e, COV_EUSAGE, "--tsse needs --anchor tss");
    if (l->bin != COV_TSSE_BIN)
        return cov_fail(e, COV_EUSAGE, "--tsse needs --bin-size %d", COV_TSSE_BIN);
    if (l->before < COV_TSSE_SIDE || l->after < COV_TSSE_SIDE)
        return cov_fail(e, COV_EUSAGE, "--tsse needs --%s %d or more",
                        l->before < COV_TSSE_SIDE ? "before" : "after", COV_TSSE_SIDE);
    return COV_OK;
}

static int genes_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    struct config *c = config;
    c->request.features.needs_types = given[GENES_FEATURE];
    int rc = apply_preset(c, given, e);
    if (!rc)
        rc = check_layout(c, given, e);
    if (!rc)
        rc = check_annotations(c, (size_t)n_operands, e);
    if (!rc && c->o.genes.tsse)
        rc = check_tsse(c, e);
    if (!rc)
        rc = complete(&c->request, common, n_operands, operands, e);
    if (rc)
        return rc;
    c->request.paths.second_kind = COV_OUTFILE_MATRIX;
    return cov_gene_profile_run(&c->request, &c->o.genes, e);
}

static const struct cov_tool genes = {
    .summary = "mean or median signal around the TSS of genes, as curves and a heatmap",
    .synopsis = "[options] --genes FILE,... [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile genes --genes genes.gff3 --plot genes.png -o genes.tsv predictions.h5\n"
        "  covprofile genes --genes genes.gtf --anchor scale --matrix genes.mat.gz atac.bw "
        "h3k4me3.bw\n"
        "  covprofile genes --genes peaks.bed --anchor centre -b 500 -a 500 predictions.h5 "
        "genome.h5\n"
        "  covprofile genes --genes moss.gff3,weed.gff3 --plot species.png moss.bw weed.bw\n",
    .plot = &cov_gene_profile_lines,
    SUBCOMMAND(genes),
};

/* ---------------------------------------------------------------- table */

enum { TABLE_FEATURE };

static const struct cov_opt table_options[] = {
    [TABLE_FEATURE] = FEATURE_OPTION("GFF3, GTF: the features to use, by their type in column 3"),
    GENES_OPTION("the features, a row each: GFF3, GTF, BED or narrowPeak, compressed or not",
                 COV_OPT_REQUIRED),
    GENOME_OPTIONS,
    {.name = NULL},
};

static int table_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    struct config *c = config;
    c->request.features.needs_types = given[TABLE_FEATURE];
    int rc = complete(&c->request, common, n_operands, operands, e);
    return rc ? rc : cov_feature_table_run(&c->request, e);
}

static const struct cov_tool table = {
    .summary = "mean, minimum, maximum and sum of tracks in each gene or peak",
    .synopsis = "[options] --genes FILE [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile table --genes genes.gff3 -o genes.tsv predictions.h5 atac.bw\n"
        "  covprofile table --genes peaks.narrowPeak --fill-gaps -o peaks.tsv rep1.bw rep2.bw\n",
    SUBCOMMAND(table),
};

/* ---------------------------------------------------------------- region */

enum { REGION_FEATURE };

static const struct cov_opt region_options[] = {
    [REGION_FEATURE] = FEATURE_OPTION(
        "with --genes, GFF3 or GTF: the features to draw, by their type in column 3"),
    COV_OPT(STRING, "region", 'r', FIELD(o.region.region), "REGION",
            "the region: NAME, NAME:FIRST-LAST, NAME:FIRST- or NAME:-LAST, 1-based",
            .flags = COV_OPT_REQUIRED),
    GENES_OPTION("draw these genes below the tracks: GFF3 or GTF, with exons as boxes, or BED", 0),
    COV_OPT(LIST, "peaks", 0, FIELD(o.region.peaks), "BED,...",
            "draw the peaks of these files, too", .flags = COV_OPT_PATH_IN),
    COV_OPT(LIST, "labels", 0, FIELD(o.region.labels), "NAME,...",
            "labels of all tracks, in their order (default: the names of the files)"),
    COV_OPT(FLAG, "own-scales", 0, FIELD(o.region.own_scales), NULL,
            "draw each track on a scale of its own, not all on the same"),
    PLOT_OPTION("the region"),
    TRACK_OPTIONS,
    COV_REPLICATES_OPTION(SOURCE),
    {.name = NULL},
};

static int region_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                      char **operands, struct cov_err *e)
{
    struct config *c = config;
    const bool has_genes = c->request.features.path;
    if (given[REGION_FEATURE] && !has_genes)
        return cov_fail(e, COV_EUSAGE, "--feature needs --genes");
    if ((has_genes || c->o.region.peaks.n > 0 || c->o.region.own_scales) && !c->request.paths.plot)
        return cov_fail(e, COV_EUSAGE, "--%s needs --plot",
                        has_genes                 ? "genes"
                        : c->o.region.peaks.n > 0 ? "peaks"
                                                  : "own-scales");
    c->request.features.needs_types = given[REGION_FEATURE];
    int rc = complete(&c->request, common, n_operands, operands, e);
    return rc ? rc : cov_region_run(&c->request, &c->o.region, e);
}

static const struct cov_tool region = {
    .summary = "tracks of a region, with genes and peaks: a plot, and the means of bins",
    .synopsis = "[options] -r REGION [--genes FILE] [--plot FILE] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile region -r chr1:1-50k --genes genes.gff3 --plot region.png -o region.tsv "
        "predictions.h5 genome.h5\n"
        "  covprofile region -r chr2:1M-1.1M --labels old,new,measured --peaks peaks.narrowPeak "
        "--plot r.svg old.bw new.bw atac.bw\n",
    SUBCOMMAND(region),
};

/* ---------------------------------------------------------------- correlate */

enum {
    CORRELATE_BINS,
    CORRELATE_FEATURE,
    CORRELATE_MODE,
    CORRELATE_ANCHOR,
    CORRELATE_BEFORE,
    CORRELATE_AFTER
};

static const char *const modes[] = {"windows", "bases", NULL};
static const char *const methods[] = {"pearson", "spearman", NULL};
static const char *const correlate_anchors[] = {"whole", "tss", "tes", "centre", NULL};

static const struct cov_opt correlate_options[] = {
    [CORRELATE_BINS] = COV_OPT(SIZE, "bin-size", 0, FIELD(o.correlate.bin), "N",
                               "correlate the means of bins of the genome, each N bases wide",
                               .def = "10000", .min = 1, .max = 1e15),
    [CORRELATE_FEATURE] =
        FEATURE_OPTION("with --genes, GFF3 or GTF: the features to use, by their type in column 3"),
    [CORRELATE_MODE] = COV_OPT(ENUM, "mode", 0, FIELD(mode), NULL,
                               "with --genes: correlate the means of windows; or the bases of each "
                               "window, and print the mean of r, as Predmoter's "
                               "tss_computations.py",
                               .def = "windows", .choices = modes),
    [CORRELATE_ANCHOR] =
        COV_OPT(ENUM, "anchor", 0, FIELD(anchor), NULL,
                "with --genes: whole features, or windows around their start, end or middle "
                "(default: whole, or tss with --mode bases)",
                .choices = correlate_anchors),
    [CORRELATE_BEFORE] =
        COV_OPT(SIZE, "before", 'b', FIELD(o.correlate.layout.before), "N",
                "with --genes: bases before the anchor, or before the whole feature "
                "(default: 3000, or 0 with whole)",
                .max = MOST_BASES),
    [CORRELATE_AFTER] =
        COV_OPT(SIZE, "after", 'a', FIELD(o.correlate.layout.after), "N",
                "with --genes: bases from the anchor on, or after the whole feature "
                "(default: 3000, or 0 with whole)",
                .max = MOST_BASES),
    GENES_OPTION("correlate the means of features, or of windows around them: GFF3, GTF "
                 "or BED",
                 0),
    COV_OPT(ENUM, "method", 0, FIELD(method), NULL, "correlate values, or their ranks",
            .def = "pearson", .choices = methods),
    PLOT_OPTION("a clustered map"),
    GENOME_OPTIONS,
    {.name = NULL},
};

static int check_options(const struct config *c, const bool *given, struct cov_err *e)
{
    static const int need_genes[] = {CORRELATE_FEATURE, CORRELATE_MODE, CORRELATE_ANCHOR,
                                     CORRELATE_BEFORE, CORRELATE_AFTER};
    const bool has_genes = c->request.features.path;
    if (given[CORRELATE_BINS] && has_genes)
        return cov_fail(e, COV_EUSAGE, "--bin-size and --genes cannot be used together");
    for (size_t i = 0; !has_genes && i < COV_COUNT(need_genes); i++)
        if (given[need_genes[i]])
            return cov_fail(e, COV_EUSAGE, "--%s needs --genes",
                            correlate_options[need_genes[i]].name);
    if (c->o.correlate.by_base && c->o.correlate.spearman)
        return cov_fail(e, COV_EUSAGE, "--mode bases needs --method pearson");
    if (c->o.correlate.by_base && given[CORRELATE_ANCHOR] && c->anchor == 0)
        return cov_fail(e, COV_EUSAGE,
                        "--mode bases needs windows of one length, not --anchor whole");
    return COV_OK;
}

/* Completes the layout: each window is a single bin, or has bins of a base. */
static int finish_layout(const struct config *c, const bool *given, struct cov_profile_layout *l,
                         struct cov_err *e)
{
    static const enum cov_anchor kinds[] = {COV_ANCHOR_SCALE, COV_ANCHOR_TSS, COV_ANCHOR_TES,
                                            COV_ANCHOR_CENTRE};
    const bool by_base = c->o.correlate.by_base, is_whole = c->anchor == 0 && !by_base;
    const int64_t usual = is_whole ? 0 : 3000;
    l->anchor = by_base && c->anchor == 0 ? COV_ANCHOR_TSS : kinds[c->anchor];
    if (!given[CORRELATE_BEFORE])
        l->before = usual;
    if (!given[CORRELATE_AFTER])
        l->after = usual;
    if (!is_whole && l->before + l->after == 0)
        return cov_fail(e, COV_EUSAGE, "--before and --after are both 0");
    if (by_base) {
        l->bin = 1;
        l->after++; /* the last base counts, too */
        l->no_strand_is_minus = true;
    }
    return COV_OK;
}

static int correlate_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                         char **operands, struct cov_err *e)
{
    struct config *c = config;
    c->request.features.needs_types = given[CORRELATE_FEATURE];
    c->o.correlate.spearman = c->method == 1;
    c->o.correlate.by_base = c->mode == 1;
    int rc = check_options(c, given, e);
    if (!rc)
        rc = finish_layout(c, given, &c->o.correlate.layout, e);
    if (!rc)
        rc = complete(&c->request, common, n_operands, operands, e);
    return rc ? rc : cov_correlate_run(&c->request, &c->o.correlate, e);
}

static const struct cov_tool correlate = {
    .summary = "correlations of tracks, over bins of the genome or around genes",
    .synopsis = "[options] [--genes FILE] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile correlate --replicates --datasets atacseq predictions.h5 genome.h5\n"
        "  covprofile correlate --genes genes.gff3 --anchor tss -b 1k -a 1k --method spearman "
        "--plot r.png *.bw\n",
    .plot = &cov_correlate_cells,
    SUBCOMMAND(correlate),
};

/* ---------------------------------------------------------------- heatmap */

static const struct cov_opt heatmap_options[] = {
    COV_OPT(STRING, "value", 0, FIELD(o.heatmap.value), "COLUMN", "the column with the values",
            .def = "pearson"),
    COV_OPT(LIST, "datasets", 0, FIELD(o.heatmap.datasets), "LIST",
            "the datasets to draw (default: all but total)", .flags = COV_OPT_UNIQUE),
    COV_OPT(LIST, "labels", 0, FIELD(o.heatmap.labels), "NAME,...",
            "labels of the TABLEs, in their order (default: the names of the files)",
            .flags = COV_OPT_UNIQUE),
    PLOT_OPTION("the map"),
    {.name = NULL},
};

static int heatmap_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                       char **operands, struct cov_err *e)
{
    (void)given;
    struct config *c = config;
    const size_t n_labels = c->o.heatmap.labels.n, n = (size_t)n_operands;
    if (n_labels > 0 && n_labels != n)
        return cov_fail(e, COV_EUSAGE, "--labels: %zu label%s for %zu table%s", n_labels,
                        cov_text_s((int64_t)n_labels), n, cov_text_s((int64_t)n));
    int rc = complete(&c->request, common, n_operands, operands, e);
    return rc ? rc : cov_score_map_run(&c->request, &c->o.heatmap, e);
}

static const struct cov_tool heatmap = {
    .summary = "scores of models, such as Pearson's r, for several species, as a heatmap",
    .synopsis = "[options] [-o OUT.tsv] TABLE...",
    .examples = "  covprofile heatmap --plot r.png -o r.tsv old.evaluation.tsv new.evaluation.tsv\n"
                "  covprofile heatmap --value loss --datasets atacseq --labels old,new old.tsv "
                "new.tsv\n",
    .plot = &cov_score_map_cells,
    .lacks = COV_LACKS_THREADS | COV_LACKS_PROGRESS,
    SUBCOMMAND(heatmap),
};

/* ---------------------------------------------------------------- fingerprint */

static const struct cov_opt fingerprint_options[] = {
    COV_OPT(SIZE, "bin-size", 0, FIELD(o.fingerprint.bin), "N",
            "use the means of bins of the genome, each N bases wide", .def = "500", .min = 1,
            .max = 1e15),
    COV_OPT(STRING, "control", 0, FIELD(o.fingerprint.control), "INPUT",
            "a track without enrichment, such as the input of ChIP-seq, to compare the others with",
            .flags = COV_OPT_PATH_IN),
    PLOT_OPTION("the curves"),
    GENOME_OPTIONS,
    {.name = NULL},
};

static int fingerprint_run(struct cov_common *common, void *config, const bool *given,
                           int n_operands, char **operands, struct cov_err *e)
{
    (void)given;
    struct config *c = config;
    int rc = complete(&c->request, common, n_operands, operands, e);
    return rc ? rc : cov_fingerprint_run(&c->request, &c->o.fingerprint, e);
}

static const struct cov_tool fingerprint = {
    .summary = "how signal is spread over the genome, like deepTools' plotFingerprint",
    .synopsis = "[options] [--control INPUT] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile fingerprint --plot f.png rep1.bw rep2.bw predicted.bw\n"
        "  covprofile fingerprint --control input.bw --datasets h3k4me3 predictions.h5 chip.bw\n",
    SUBCOMMAND(fingerprint),
};

/* ---------------------------------------------------------------- coverage */

static const struct cov_opt coverage_options[] = {
    COV_OPT(FLOAT, "step", 0, FIELD(o.step), "V", "the curves count values in steps of V",
            .def = "1", .min = 1e-9, .max = 1e9),
    SECOND_OPTION("curves",
                  "write the fraction of the bases at each step, and from there on, as a table"),
    PLOT_OPTION("the curves"),
    GENOME_OPTIONS,
    {.name = NULL},
};

static int coverage_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                        char **operands, struct cov_err *e)
{
    (void)given;
    struct config *c = config;
    int rc = complete(&c->request, common, n_operands, operands, e);
    return rc ? rc : cov_coverage_run(&c->request, c->o.step, e);
}

static const struct cov_tool coverage = {
    .summary = "mean, quartiles and distribution of coverage, like deepTools' plotCoverage",
    .synopsis = "[options] [-o OUT.tsv] INPUT...",
    .examples =
        "  covprofile coverage --plot c.png rep1.bw rep2.bw predicted.bw\n"
        "  covprofile coverage --step 0.1 --curves c.tsv --blacklist-file organelles cpm.bw\n",
    SUBCOMMAND(coverage),
};

/* ---------------------------------------------------------------- the program */

static void print_versions(FILE *f)
{
    cov_libraries_print(f);
    (void)fprintf(f, "libBigWig %s\n", cov_bigwig_version());
}

int main(int argc, char **argv)
{
    static const struct cov_tool *const subcommands[] = {
        &genes, &table, &region, &correlate, &heatmap, &fingerprint, &coverage, NULL};
    static const struct cov_tool tool = {
        .name = "covprofile",
        .summary = "signal around genes and in regions; correlations and distributions of tracks",
        .subcommands = subcommands,
        .examples =
            "  covprofile genes --genes genes.gff3 --plot genes.png -o genes.tsv "
            "predictions.h5\n"
            "  covprofile region -r chr1:1-50k --genes genes.gff3 --plot region.png predictions.h5 "
            "genome.h5\n"
            "  covprofile correlate --bin-size 1k rep1.bw rep2.bw predicted.bw\n"
            "  covprofile fingerprint --control input.bw --plot f.png chip.bw\n",
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
