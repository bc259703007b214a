/* cov2bigwig.c - converts predictions, measured coverage or tracks to tracks for genome browsers.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <unistd.h>

#include "common/base/number.h"
#include "common/cli/stats_file.h"
#include "common/cli/tool.h"
#include "common/job/libraries.h"
#include "common/job/source/source_options.h"
#include "common/job/tracks/compare.h"
#include "common/job/tracks/compare_results.h"
#include "common/job/tracks/convert.h"
#include "common/track/formats/bigwig_verify.h"
#include "common/track/measures/peaks.h"

struct config {
    struct cov_source_flags source;
    const char *basename, *plot, *plot_region;
    int format;
    double min_value, scale;
    int normalize;
    int64_t bin_size, genome_size;
    bool skip_zero;
    const char *compare;
    struct cov_strings bin_sizes;
    double peak_threshold;
    int64_t peak_length, peak_gap;
};

/* In the order of enum cov_track_kind. */
static const char *const formats[] = {"bigwig", "bedgraph", "bedgraph.gz", NULL};

static const char *const normalizations[] = {"none", "cpm", "rpgc", NULL};

/* Options whose presence is checked. Those from ROW_BIN_SIZE to ROW_REGIONS_FILE only apply to
 * tracks, those from ROW_BIN_SIZES to ROW_PEAK_GAP only to --compare. */
enum {
    ROW_FORMAT,
    ROW_MIN_VALUE,
    ROW_BIN_SIZES,
    ROW_PEAK_THRESHOLD,
    ROW_PEAK_LENGTH,
    ROW_PEAK_GAP,
    ROW_BIN_SIZE,
    ROW_NORMALIZE,
    ROW_GENOME_SIZE,
    ROW_SOURCE,
    ROW_REGIONS_FILE = ROW_SOURCE + COV_SOURCE_ROW_REGIONS_FILE
};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_FORMAT] = COV_OPT(ENUM, "format", 0, FIELD(format), NULL,
                           "format of the files in an output folder, or of standard output (there "
                           "bedgraph by default); that of a single file follows from its suffix",
                           .def = "bigwig", .choices = formats),
    [ROW_MIN_VALUE] =
        COV_OPT(FLOAT, "min-value", 0, FIELD(min_value), "V", "drop bases with a smaller value"),
    [ROW_BIN_SIZES] = COV_OPT(LIST, "bin-sizes", 0, FIELD(bin_sizes), "LIST",
                              "with --compare: bin sizes, up to 16 (default: 1,10,100,1000)"),
    [ROW_PEAK_THRESHOLD] = COV_OPT(FLOAT, "peak-threshold", 0, FIELD(peak_threshold), "V",
                                   "with --compare: also compare peaks, with values of at least "
                                   "V"),
    [ROW_PEAK_LENGTH] = COV_OPT(SIZE, "peak-length", 0, FIELD(peak_length), "N",
                                "with --peak-threshold: the shortest peak, in bases",
                                .def = COV_PEAKS_LENGTH, .min = 1, .max = 1e15),
    [ROW_PEAK_GAP] = COV_OPT(SIZE, "peak-gap", 0, FIELD(peak_gap), "N",
                             "with --peak-threshold: the longest gap of lower values in a peak",
                             .def = COV_PEAKS_GAP, .max = 1e15),
    [ROW_BIN_SIZE] = COV_OPT(SIZE, "bin-size", 0, FIELD(bin_size), "N",
                             "write means of bins of N bases", .min = 1, .max = 1000000000),
    [ROW_NORMALIZE] =
        COV_OPT(ENUM, "normalize", 0, FIELD(normalize), NULL,
                "scale values so that their sum is 1 million (cpm) or their mean over "
                "--effective-genome-size is 1 (rpgc); INPUT must be a file",
                .def = "none", .choices = normalizations),
    [ROW_GENOME_SIZE] =
        COV_OPT(SIZE, "effective-genome-size", 0, FIELD(genome_size), "N",
                "with --normalize rpgc: bases that reads can map to", .min = 1, .max = 1e12),
    [ROW_SOURCE] = COV_SOURCE_OPTIONS(FIELD(source), "convert",
                                      "data sets to convert, separated by commas (default: all)",
                                      "write", " (needed for bigWig)"),
    COV_OPT(STRING, "compare", 0, FIELD(compare), "MEASURED",
            "instead of tracks, write a table of how well INPUT agrees with MEASURED: a bigWig, a "
            "bedGraph, or a genome file with measured coverage",
            .flags = COV_OPT_PATH_IN),
    COV_OPT(FLOAT, "scale", 0, FIELD(scale), "V", "multiply values by V", .def = "1"),
    COV_OPT(FLAG, "skip-zero", 0, FIELD(skip_zero), NULL, "drop bases with the value 0"),
    COV_OPT(STRING, "basename", 0, FIELD(basename), "NAME",
            "prefix of the names in an output folder (default: the name of INPUT without folder "
            "and suffix)"),
    COV_OPT(STRING, "plot", 0, FIELD(plot), "FILE",
            "draw --plot-region as a .png or .svg picture; -o is optional then",
            .flags = COV_OPT_PATH_OUT),
    COV_OPT(STRING, "plot-region", 0, FIELD(plot_region), "REGION",
            "region to draw: NAME, NAME:FIRST-LAST, NAME:FIRST- or NAME:-LAST, 1-based"),
    {.name = NULL},
};

/* Parses --bin-sizes, or uses the defaults; all must differ. */
static int get_bin_sizes(const struct cov_strings *list, int64_t *sizes, size_t *n,
                         struct cov_err *e)
{
    static const int64_t usual[] = {1, 10, 100, 1000};
    *n = list->n ? list->n : COV_COUNT(usual);
    if (*n > COV_COMPARE_MAX_BIN_SIZES)
        return cov_fail(e, COV_EUSAGE, "--bin-sizes: too many (%zu); the limit is %d", *n,
                        COV_COMPARE_MAX_BIN_SIZES);
    for (size_t i = 0; i < *n; i++) {
        int rc = COV_OK;
        sizes[i] = list->n ? 0 : usual[i];
        if (list->n)
            rc = cov_parse_size(list->items[i], "--bin-sizes", 1, 1000000000, &sizes[i], e);
        for (size_t k = 0; !rc && k < i; k++)
            if (sizes[k] == sizes[i])
                rc = cov_fail(e, COV_EUSAGE, "--bin-sizes: duplicate %s", list->items[i]);
        if (rc)
            return rc;
    }
    return COV_OK;
}

static int run_compare(struct cov_common *common, const struct config *c, const bool *given,
                       const struct cov_convert_options *convert, const char *input,
                       struct cov_err *e)
{
    int64_t sizes[COV_COMPARE_MAX_BIN_SIZES];
    struct cov_compare_options compare = {
        .input = *convert,
        .printed = stdout,
        .is_short = !common->output && isatty(STDOUT_FILENO),
        .measured = c->compare,
        .bin_sizes = sizes,
        .has_peaks = given[ROW_PEAK_THRESHOLD],
        .peaks = {.min_length = c->peak_length, .max_gap = c->peak_gap},
    };
    common->stats.plot = &cov_compare_plot;
    int rc = cov_common_check_table(common, e);
    if (!rc)
        rc = cov_peaks_cutoff(c->peak_threshold, options[ROW_PEAK_THRESHOLD].name,
                              &compare.peaks.cutoff, e);
    if (!rc)
        rc = get_bin_sizes(&c->bin_sizes, sizes, &compare.n_bin_sizes, e);
    if (!rc && common->stats_path)
        rc = cov_stats_check(&common->stats, common->stats_path, common->force, e);
    return rc ? rc
              : cov_compare_run(input, &compare, (unsigned)common->threads, &common->progress,
                                &common->stats, e);
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    const struct config *c = config;
    struct cov_convert_options convert = {
        .normalization = (enum cov_normalization)c->normalize,
        .genome_size = c->genome_size,
        .output = common->output,
        .force = common->force,
        .tmpdir = common->tmpdir,
        .basename = c->basename,
        .has_kind = given[ROW_FORMAT],
        .kind = (enum cov_track_kind)c->format,
        .plot_path = c->plot,
        .plot_region = c->plot_region,
    };
    int rc = cov_source_options_fill(&c->source, &convert.source, e);
    if (rc)
        return rc;
    convert.source.values.scale = c->scale;
    convert.source.values.bin = c->bin_size;
    convert.source.values.skip_zero = c->skip_zero;
    convert.source.values.has_min = given[ROW_MIN_VALUE];
    convert.source.values.min_value = c->min_value;
    for (int row = ROW_BIN_SIZE; c->compare && row <= ROW_REGIONS_FILE; row++)
        if (given[row])
            return cov_fail(e, COV_EUSAGE, "--%s is for tracks; --compare writes a table",
                            options[row].name);
    if (c->compare && (given[ROW_PEAK_LENGTH] || given[ROW_PEAK_GAP]) && !given[ROW_PEAK_THRESHOLD])
        return cov_fail(e, COV_EUSAGE, "--%s needs --peak-threshold",
                        options[given[ROW_PEAK_LENGTH] ? ROW_PEAK_LENGTH : ROW_PEAK_GAP].name);
    if (c->compare)
        return run_compare(common, c, given, &convert, operands[0], e);
    for (int row = ROW_BIN_SIZES; row <= ROW_PEAK_GAP; row++)
        if (given[row])
            return cov_fail(e, COV_EUSAGE, "--%s needs --compare", options[row].name);
    return cov_convert_run(operands[0], &convert, (unsigned)common->threads, &common->progress,
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
        .examples = "  cov2bigwig -o tracks/ genome_predictions.h5\n"
                    "  cov2bigwig --datasets atacseq --window-size 150 -o atac.bw pred.h5\n"
                    "  cov2bigwig --datasets atacseq -o - pred.h5 | gzip > atac.bg.gz\n"
                    "  cov2bigwig -r chr1:1M-2M --bin-size 50 -o part.bw pred.h5\n"
                    "  covpredict -m model.ckpt -o - genome.fa | cov2bigwig -o atac.bw -\n"
                    "  cov2bigwig --experimental --format bedgraph.gz -o tracks/ genome.h5\n"
                    "  cov2bigwig --plot x.png --plot-region chr1:1,000,001-1,050,000 pred.h5\n"
                    "  cov2bigwig --chrom-sizes genome.fa.fai -o x.bw x.bedGraph.gz\n"
                    "  cov2bigwig --compare genome.h5 --peak-threshold 25 pred.h5\n",
        .options = options,
        .config_bytes = sizeof(struct config),
        .min_operands = 1,
        .max_operands = 1,
        .output_optional = true,
        .output_help = "where to write the result (optional with --plot; --compare prints its "
                       "table by default)",
        .run = run,
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
