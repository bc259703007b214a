/* cov2bigwig.c - converts predictions, measured coverage or tracks to tracks for genome browsers.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>
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
    int64_t genome_size;
    bool skip_zero;
    const char *measured;
    struct cov_strings bin_sizes;
    double peak_cutoff, measured_cutoff;
    int64_t peak_length, peak_gap;
};

/* In the order of enum cov_track_kind. */
static const char *const formats[] = {"bigwig", "bedgraph", "bedgraph.gz", NULL};

static const char *const normalizations[] = {"none", "cpm", "rpgc", NULL};

/* Options whose presence is checked. Those from ROW_NORMALIZE to ROW_REGIONS_FILE only apply to
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
    ROW_GENOME_SIZE,
    ROW_SOURCE,
    ROW_REGIONS_FILE = ROW_SOURCE + COV_SOURCE_ROW_REGIONS_FILE
};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_FORMAT] =
        COV_OPT(ENUM, "format", 0, FIELD(format), NULL,
                "format of the files in an output directory, or of standard output (there "
                "bedgraph by default); that of a single file follows from its suffix",
                .def = "bigwig", .choices = formats),
    [ROW_MIN_VALUE] =
        COV_OPT(FLOAT, "min-value", 0, FIELD(min_value), "V", "drop bases with a smaller value"),
    [ROW_PEAK_CUTOFF] = COV_OPT(FLOAT, "peak-cutoff", 0, FIELD(peak_cutoff), "V",
                                "with --measured: also compare peaks, with values of at least V"),
    [ROW_MEASURED_CUTOFF] = COV_OPT(FLOAT, "measured-cutoff", 0, FIELD(measured_cutoff), "V",
                                    "with --peak-cutoff: the cutoff of measured peaks "
                                    "(default: V of --peak-cutoff)"),
    [ROW_PEAK_LENGTH] = COV_OPT(SIZE, "peak-min-length", 0, FIELD(peak_length), "N",
                                "with --peak-cutoff: the shortest peak, in bases",
                                .def = COV_PEAKS_LENGTH, .min = 1, .max = 1e15),
    [ROW_PEAK_GAP] = COV_OPT(SIZE, "peak-max-gap", 0, FIELD(peak_gap), "N",
                             "with --peak-cutoff: the longest gap of lower values in a peak",
                             .def = COV_PEAKS_GAP, .max = 1e15),
    [ROW_BIN_SIZE] =
        COV_OPT(LIST, "bin-size", 0, FIELD(bin_sizes), "N,...",
                "write means of bins of N bases; with --measured: compare means of bins "
                "of these sizes, up to 16 (default: 1,10,100,1000)"),
    [ROW_NORMALIZE] =
        COV_OPT(ENUM, "normalize", 0, FIELD(normalize), NULL,
                "scale values so that their sum is 1 million (cpm) or their mean over "
                "--effective-genome-size is 1 (rpgc); INPUT must be a file",
                .def = "none", .choices = normalizations),
    [ROW_GENOME_SIZE] =
        COV_OPT(SIZE, "effective-genome-size", 0, FIELD(genome_size), "N",
                "with --normalize rpgc: bases that reads can map to", .min = 1, .max = 1e12),
    [ROW_SOURCE] = COV_SOURCE_OPTIONS(FIELD(source), "convert",
                                      "datasets to convert, separated by commas (default: all)",
                                      "write", " (needed for bigWig)"),
    COV_OPT(STRING, "measured", 0, FIELD(measured), "FILE",
            "instead of tracks, write a table of how well INPUT agrees with FILE: a bigWig, a "
            "bedGraph, or a genome file with measured coverage",
            .flags = COV_OPT_PATH_IN),
    COV_OPT(FLOAT, "scale", 0, FIELD(scale), "V", "multiply values by V", .def = "1"),
    COV_OPT(FLAG, "skip-zero", 0, FIELD(skip_zero), NULL, "drop bases with the value 0"),
    COV_OPT(
        STRING, "basename", 0, FIELD(basename), "NAME",
        "prefix of the names in an output directory (default: the name of INPUT without directory "
        "and suffix)"),
    COV_OPT(STRING, "plot", 0, FIELD(plot), "FILE",
            "draw --plot-region as a .png or .svg plot; -o is optional then",
            .flags = COV_OPT_PATH_OUT),
    COV_OPT(STRING, "plot-region", 0, FIELD(plot_region), "REGION",
            "region to draw: NAME, NAME:FIRST-LAST, NAME:FIRST- or NAME:-LAST, 1-based"),
    {.name = NULL},
};

/* Parses --bin-size: the bins of a track, if any, or those to compare, which have a default. */
static int get_bin_sizes(const struct config *c, int64_t *sizes, size_t *n, struct cov_err *e)
{
    static const int64_t usual[] = {1, 10, 100, 1000};
    const struct cov_strings *list = &c->bin_sizes;
    const size_t most = c->measured ? COV_COMPARE_MAX_BIN_SIZES : 1;
    if (list->n > most)
        return cov_fail(e, COV_EUSAGE, "--bin-size: %zu sizes%s; the limit is %zu", list->n,
                        c->measured ? "" : " for a track", most);
    *n = list->n;
    if (list->n > 0 || !c->measured)
        return cov_parse_sizes(list->items, list->n, "--bin-size", 1000000000, sizes, e);
    *n = COV_COUNT(usual);
    memcpy(sizes, usual, sizeof usual);
    return COV_OK;
}

/* Sets the cutoffs of predicted and measured peaks. */
static int get_cutoffs(const struct config *c, const bool *given, struct cov_compare_options *out,
                       struct cov_err *e)
{
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

static int run_compare(struct cov_common *common, const struct config *c, const bool *given,
                       struct cov_compare_options *compare, const char *input, struct cov_err *e)
{
    for (int row = ROW_NORMALIZE; row <= ROW_REGIONS_FILE; row++)
        if (given[row])
            return cov_fail(e, COV_EUSAGE, "--%s is for tracks; --measured writes a table",
                            options[row].name);
    common->stats.plot = &cov_compare_plot;
    int rc = cov_common_check_table(common, e);
    if (!rc)
        rc = get_cutoffs(c, given, compare, e);
    if (!rc && common->stats_path)
        rc = cov_stats_check(&common->stats, common->stats_path, common->force, e);
    return rc ? rc
              : cov_compare_run(input, compare, (unsigned)common->threads, &common->progress,
                                &common->stats, e);
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    const struct config *c = config;
    int64_t sizes[COV_COMPARE_MAX_BIN_SIZES];
    struct cov_compare_options compare = {
        .printed = stdout,
        .is_short = !common->output && isatty(STDOUT_FILENO),
        .measured = c->measured,
        .bin_sizes = sizes,
        .peaks = {.min_length = c->peak_length, .max_gap = c->peak_gap},
    };
    compare.input = (struct cov_convert_options){
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
    struct cov_source_options *source = &compare.input.source;
    int rc = cov_source_options_fill(&c->source, source, e);
    if (!rc)
        rc = get_bin_sizes(c, sizes, &compare.n_bin_sizes, e);
    if (rc)
        return rc;
    source->values.scale = c->scale;
    source->values.bin = !c->measured && compare.n_bin_sizes > 0 ? sizes[0] : 0;
    source->values.skip_zero = c->skip_zero;
    source->values.has_min = given[ROW_MIN_VALUE];
    source->values.min_value = c->min_value;
    if (c->measured)
        return run_compare(common, c, given, &compare, operands[0], e);
    for (int row = ROW_PEAK_CUTOFF; row <= ROW_PEAK_GAP; row++)
        if (given[row])
            return cov_fail(e, COV_EUSAGE, "--%s needs --measured", options[row].name);
    return cov_convert_run(operands[0], &compare.input, (unsigned)common->threads,
                           &common->progress, &common->stats, e);
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
            "  cov2bigwig --plot x.png --plot-region chr1:1,000,001-1,050,000 pred.h5\n"
            "  cov2bigwig --chrom-sizes genome.fa.fai -o x.bw x.bedGraph.gz\n"
            "  cov2bigwig --measured genome.h5 --peak-cutoff 25 --measured-cutoff 10 pred.h5\n",
        .options = options,
        .config_bytes = sizeof(struct config),
        .min_operands = 1,
        .max_operands = 1,
        .output_optional = true,
        .output_help = "where to write the result (optional with --plot; --measured prints its "
                       "table by default)",
        .run = run,
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
