/* cov2bigwig.c - converts predictions, measured coverage or tracks to tracks for genome browsers.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/cli/stats_file.h"
#include "common/cli/tool.h"
#include "common/h5/h5.h"
#include "common/job/tracks/track_jobs.h"
#include "common/signal/track_source.h"
#include "common/track/formats/bigwig.h"

struct config {
    struct cov_compare_options compare;
    struct cov_strings bin_sizes, others[COV_OP_MEAN]; /* files for each operation */
    int64_t sizes[COV_COMPARE_MAX_BIN_SIZES];
    double scale, peak_cutoff, measured_cutoff;
    const char *hub;
};

/* In the order of enum cov_track_kind. */
static const char *const formats[] = {"bigwig", "bedgraph", "bedgraph.gz", NULL};

static const char *const normalizations[] = {"none", "cpm", NULL};

/* Options whose presence is checked. Those from ROW_MINUS to ROW_MEAN are in the order of enum
 * cov_operation. Those from ROW_NORMALIZE to ROW_REGIONS_FILE only apply to
 * tracks, those from ROW_PEAK_CUTOFF to ROW_PEAK_GAP only to --measured. */
enum {
    ROW_FORMAT,
    ROW_MIN_VALUE,
    ROW_PEAK_CUTOFF,
    ROW_MEASURED_CUTOFF,
    ROW_PEAK_LENGTH,
    ROW_PEAK_GAP,
    ROW_BIN_SIZE,
    ROW_NORMALIZE,
    ROW_MINUS,
    ROW_LOG2,
    ROW_MEAN,
    ROW_PSEUDOCOUNT,
    ROW_HUB,
    ROW_IGV,
    ROW_SOURCE,
    ROW_REGIONS_FILE = ROW_SOURCE + COV_SOURCE_ROW_REGIONS_FILE
};

#define FIELD(name) offsetof(struct config, name)
#define INPUT(name) FIELD(compare.input.name)

static const struct cov_opt options[] = {
    [ROW_FORMAT] =
        COV_OPT(ENUM, "format", 0, INPUT(kind), NULL,
                "format of the files in an output directory, or of standard output (there "
                "bedgraph by default); that of a single file follows from its suffix",
                .def = "bigwig", .choices = formats),
    [ROW_MIN_VALUE] = COV_OPT(FLOAT, "min-value", 0, INPUT(source.values.min_value), "V",
                              "drop bases with a smaller value"),
    [ROW_PEAK_CUTOFF] = COV_OPT(FLOAT, "peak-cutoff", 0, FIELD(peak_cutoff), "V",
                                "with --measured: also compare peaks, with values of at least V"),
    [ROW_MEASURED_CUTOFF] = COV_OPT(FLOAT, "measured-cutoff", 0, FIELD(measured_cutoff), "V",
                                    "with --peak-cutoff: the cutoff of measured peaks "
                                    "(default: V of --peak-cutoff)"),
    [ROW_PEAK_LENGTH] =
        COV_OPT(SIZE, "peak-min-length", 0, FIELD(compare.comparison.peaks.min_length), "N",
                "with --peak-cutoff: the shortest peak, in bases", .def = COV_PEAKS_LENGTH,
                .min = 1, .max = 1e15),
    [ROW_PEAK_GAP] = COV_OPT(SIZE, "peak-max-gap", 0, FIELD(compare.comparison.peaks.max_gap), "N",
                             "with --peak-cutoff: the longest gap of lower values in a peak",
                             .def = COV_PEAKS_GAP, .max = 1e15),
    [ROW_BIN_SIZE] =
        COV_OPT(LIST, "bin-size", 0, FIELD(bin_sizes), "N,...",
                "write means of bins of N bases; with --measured: compare means of bins "
                "of these sizes, up to 16 (default: 1,10,100,1000)"),
    [ROW_NORMALIZE] =
        COV_OPT(ENUM, "normalize", 0, INPUT(normalization), NULL,
                "scale values so that their sum is 1 million (cpm); INPUT must be a file",
                .def = "none", .choices = normalizations),
    [ROW_MINUS] = COV_OPT(LIST, "minus", 0, FIELD(others[0]), "FILE",
                          "subtract the tracks of FILE: predictions, a genome file with coverage, "
                          "a bigWig or a bedGraph, made with the same options as those of INPUT",
                          .flags = COV_OPT_PATH_IN),
    [ROW_LOG2] =
        COV_OPT(LIST, "log2", 0, FIELD(others[1]), "FILE",
                "write the log2 ratio of the tracks of INPUT and FILE", .flags = COV_OPT_PATH_IN),
    [ROW_MEAN] = COV_OPT(LIST, "mean", 0, FIELD(others[2]), "FILE,...",
                         "write the mean of the tracks of INPUT and all FILEs",
                         .flags = COV_OPT_PATH_IN | COV_OPT_UNIQUE),
    [ROW_PSEUDOCOUNT] =
        COV_OPT(FLOAT, "pseudocount", 0, INPUT(source.values.pseudocount), "V",
                "with --log2: add V to both values", .def = "1", .min = 1e-30, .max = 1e30),
    [ROW_HUB] = COV_OPT(STRING, "hub", 0, FIELD(hub), "DIR/",
                        "write the tracks to DIR/, and files that open it in genome browsers: "
                        "hub.txt (UCSC), config.json (JBrowse 2), index.html (igv.js)"),
    [ROW_IGV] =
        COV_OPT(STRING, "igv", 0, INPUT(igv), "URL",
                "with --hub: the address of igv.js, also relative to DIR/", .def = "igv.min.js"),
    [ROW_SOURCE] = COV_SOURCE_OPTIONS(INPUT(source), "convert",
                                      "datasets to convert, separated by commas (default: all)",
                                      "write", " (needed for bigWig)"),
    COV_OPT(STRING, "measured", 0, FIELD(compare.measured), "FILE",
            "instead of tracks, write a table of how well INPUT agrees with FILE: a bigWig, a "
            "bedGraph, or a genome file with measured coverage",
            .flags = COV_OPT_PATH_IN),
    COV_FILL_GAPS_OPTION(INPUT(source)),
    COV_OPT(FLOAT, "scale", 0, FIELD(scale), "V", "multiply values by V", .def = "1"),
    COV_OPT(FLAG, "skip-zero", 0, INPUT(source.values.skip_zero), NULL,
            "drop bases with the value 0"),
    COV_OPT(
        STRING, "basename", 0, INPUT(basename), "NAME",
        "prefix of the names in an output directory (default: the name of INPUT without directory "
        "and suffix)"),
    {.name = NULL},
};

/* Parses --bin-size: the bins of a track, if any, or those to compare, which have a default. */
static int get_bin_sizes(struct config *c, struct cov_err *e)
{
    static const int64_t usual[] = {1, 10, 100, 1000};
    const struct cov_strings *list = &c->bin_sizes;
    const size_t most = c->compare.measured ? COV_COMPARE_MAX_BIN_SIZES : 1;
    if (list->n > most)
        return cov_fail(e, COV_EUSAGE, "--bin-size: %zu sizes%s; the limit is %zu", list->n,
                        c->compare.measured ? "" : " for a track", most);
    c->compare.comparison.bin_sizes = c->sizes;
    c->compare.comparison.n_bin_sizes = list->n;
    if (list->n > 0 || !c->compare.measured)
        return cov_parse_sizes(list->items, list->n, "--bin-size", 1000000000, c->sizes, e);
    c->compare.comparison.n_bin_sizes = COV_COUNT(usual);
    memcpy(c->sizes, usual, sizeof usual);
    return COV_OK;
}

static int get_operation(struct config *c, const bool *given, struct cov_err *e)
{
    struct cov_convert_options *o = &c->compare.input;
    enum cov_operation *operation = &o->source.values.operation;
    for (int i = 0; i < COV_OP_MEAN; i++) {
        const char *name = options[ROW_MINUS + i].name;
        if (!given[ROW_MINUS + i])
            continue;
        if (*operation)
            return cov_fail(e, COV_EUSAGE, "--%s and --%s cannot be used together",
                            options[ROW_MINUS + *operation - 1].name, name);
        *operation = (enum cov_operation)(i + 1);
        o->others = c->others[i];
        if (o->others.n > 1 && *operation != COV_OP_MEAN)
            return cov_fail(e, COV_EUSAGE, "--%s takes one file", name);
    }
    return given[ROW_PSEUDOCOUNT] && *operation != COV_OP_LOG2
               ? cov_fail(e, COV_EUSAGE, "--pseudocount needs --log2")
               : COV_OK;
}

/* Sets the cutoffs of predicted and measured peaks. */
static int get_cutoffs(struct config *c, const bool *given, struct cov_err *e)
{
    struct cov_comparison_options *out = &c->compare.comparison;
    out->has_peaks = given[ROW_PEAK_CUTOFF];
    for (int row = ROW_MEASURED_CUTOFF; !out->has_peaks && row <= ROW_PEAK_GAP; row++)
        if (given[row])
            return cov_fail(e, COV_EUSAGE, "--%s needs --peak-cutoff", options[row].name);
    int rc = cov_peaks_cutoff(c->peak_cutoff, options[ROW_PEAK_CUTOFF].name, &out->peaks.cutoff, e);
    out->measured_cutoff = out->peaks.cutoff;
    return rc || !given[ROW_MEASURED_CUTOFF]
               ? rc
               : cov_peaks_cutoff(c->measured_cutoff, options[ROW_MEASURED_CUTOFF].name,
                                  &out->measured_cutoff, e);
}

static int run_compare(struct cov_common *common, struct config *c, const bool *given,
                       const char *input, struct cov_err *e)
{
    for (int row = ROW_NORMALIZE; row <= ROW_REGIONS_FILE; row++)
        if (given[row])
            return cov_fail(e, COV_EUSAGE, "--%s is for tracks; --measured writes a table",
                            options[row].name);
    common->stats.plot = &cov_compare_plot;
    int rc = cov_common_check_table(common, e);
    if (!rc)
        rc = get_cutoffs(c, given, e);
    if (!rc && common->stats_path)
        rc = cov_stats_check(&common->stats, common->stats_path, common->force, e);
    return rc ? rc
              : cov_compare_run(input, &c->compare, (unsigned)common->threads, &common->progress,
                                &common->stats, e);
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    struct config *c = config;
    struct cov_compare_options *o = &c->compare;
    struct cov_value_rules *values = &o->input.source.values;
    int rc = cov_source_options_finish(&o->input.source, e);
    if (!rc)
        rc = get_bin_sizes(c, e);
    if (!rc)
        rc = get_operation(c, given, e);
    if (rc)
        return rc;
    values->scale = c->scale;
    values->bin = o->measured ? 0 : c->sizes[0];
    values->has_min = given[ROW_MIN_VALUE];
    o->printed = stdout;
    o->is_short = !common->output && isatty(STDOUT_FILENO);
    if (given[ROW_IGV] && !c->hub)
        return cov_fail(e, COV_EUSAGE, "--igv needs --hub");
    if (common->output && c->hub)
        return cov_fail(e, COV_EUSAGE, "--hub and -o cannot be used together");
    o->input.is_hub = c->hub != NULL;
    o->input.output = c->hub ? c->hub : common->output;
    o->input.force = common->force;
    o->input.tmpdir = common->tmpdir;
    o->input.has_kind = given[ROW_FORMAT];
    if (o->measured)
        return run_compare(common, c, given, operands[0], e);
    for (int row = ROW_PEAK_CUTOFF; row <= ROW_PEAK_GAP; row++)
        if (given[row])
            return cov_fail(e, COV_EUSAGE, "--%s needs --measured", options[row].name);
    return cov_convert_run(operands[0], &o->input, (unsigned)common->threads, &common->progress,
                           &common->stats, e);
}

static void print_versions(FILE *f)
{
    cov_libraries_print(f);
    (void)fprintf(f, "libBigWig %s\n", cov_bigwig_version());
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "cov2bigwig",
        .summary = "convert predictions, measured coverage or tracks to bigWig or bedGraph",
        .synopsis = "[options] [-o OUT] INPUT|-",
        .examples =
            "  cov2bigwig -o tracks/ genome_predictions.h5\n"
            "  cov2bigwig --datasets atacseq --window-size 150 -o atac.bw pred.h5\n"
            "  cov2bigwig --datasets atacseq -o - pred.h5 | gzip > atac.bg.gz\n"
            "  cov2bigwig -r chr1:1M-2M --bin-size 50 -o part.bw pred.h5\n"
            "  covpredict -m model.ckpt -o - genome.fa | cov2bigwig -o atac.bw -\n"
            "  cov2bigwig --experimental --format bedgraph.gz -o tracks/ genome.h5\n"
            "  cov2bigwig --chrom-sizes genome.fa.fai -o x.bw x.bedGraph.gz\n"
            "  cov2bigwig --measured genome.h5 --peak-cutoff 25 --measured-cutoff 10 pred.h5\n",
        .options = options,
        .config_bytes = sizeof(struct config),
        .min_operands = 1,
        .max_operands = 1,
        .output_optional = true,
        .output_help = "where to write the result (--measured prints its table by default)",
        .run = run,
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
