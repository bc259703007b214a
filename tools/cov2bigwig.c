/* cov2bigwig.c - predictions, measured coverage or tracks to tracks for genome browsers.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/base/bgz.h"
#include "common/base/path.h"
#include "common/base/tool.h"
#include "common/job/convert.h"
#include "common/track/bigwig_verify.h"
#include "common/track/smoother.h"

struct config {
    const char *basename, *smooth, *plot, *plot_region, *blacklist, *rename, *sizes;
    struct cov_strings datasets;
    int format, strand;
    int64_t window;
    double min_value, scale;
    bool experimental, skip_zero;
};

/* In the order of enum cov_track_kind and of enum cov_strand. */
static const char *const formats[] = {"bigwig", "bedgraph", "bedgraph.gz", NULL};
static const char *const strands[] = {"avg", "+", "-", NULL};

/* Rows that are asked whether they were given. */
enum { ROW_FORMAT, ROW_MIN_VALUE };

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_FORMAT] = {.name = "format",
                    .type = COV_OPT_ENUM,
                    .field = FIELD(format),
                    .def = "bigwig",
                    .choices = formats,
                    .help = "format of the files in an output folder; of a single file its suffix "
                            "tells"},
    [ROW_MIN_VALUE] = {.name = "min-value",
                       .type = COV_OPT_FLOAT,
                       .field = FIELD(min_value),
                       .metavar = "V",
                       .help = "leave out bases with a smaller value"},
    {.name = "experimental",
     .type = COV_OPT_FLAG,
     .field = FIELD(experimental),
     .help = "INPUT is a genome file: convert its measured coverage, the mean of its BAM files"},
    {.name = "datasets",
     .type = COV_OPT_LIST,
     .field = FIELD(datasets),
     .metavar = "LIST",
     .help = "data sets to convert, separated by commas; without it, all"},
    {.name = "strand",
     .type = COV_OPT_ENUM,
     .field = FIELD(strand),
     .def = "avg",
     .choices = strands,
     .help = "the mean of both strands, or one of them"},
    {.name = "window-size",
     .type = COV_OPT_SIZE,
     .field = FIELD(window),
     .metavar = "N",
     .min = 1,
     .max = COV_SMOOTH_MAX_WINDOW,
     .help = "smooth with a centred moving mean over N bases"},
    {.name = "smooth",
     .type = COV_OPT_STRING,
     .field = FIELD(smooth),
     .metavar = "gauss:SD",
     .help = "smooth with a Gaussian whose standard deviation is SD bases"},
    {.name = "scale",
     .type = COV_OPT_FLOAT,
     .field = FIELD(scale),
     .metavar = "V",
     .def = "1",
     .help = "multiply values by V"},
    {.name = "skip-zero",
     .type = COV_OPT_FLAG,
     .field = FIELD(skip_zero),
     .help = "leave out bases with the value 0"},
    {.name = "blacklist-file",
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_IN,
     .field = FIELD(blacklist),
     .metavar = "FILE",
     .help = "leave out sequences (one id a line) or regions (BED)"},
    {.name = "rename",
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_IN,
     .field = FIELD(rename),
     .metavar = "FILE",
     .help = "two columns: name of a sequence in INPUT, name to use instead"},
    {.name = "chrom-sizes",
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_IN,
     .field = FIELD(sizes),
     .metavar = "FILE",
     .help =
         "two columns: name and length of each sequence of a bedGraph, which a bigWig needs; or "
         "the index (.fai) of the FASTA file"},
    {.name = "basename",
     .type = COV_OPT_STRING,
     .field = FIELD(basename),
     .metavar = "NAME",
     .help = "what names in an output folder begin with; without it, the name of INPUT without "
             "folder and suffix"},
    {.name = "plot",
     .type = COV_OPT_STRING,
     .flags = COV_OPT_PATH_OUT,
     .field = FIELD(plot),
     .metavar = "FILE",
     .help = "draw a picture, .png or .svg, of --plot-region; -o may be left out then"},
    {.name = "plot-region",
     .type = COV_OPT_STRING,
     .field = FIELD(plot_region),
     .metavar = "REGION",
     .help = "the region that is drawn: NAME:FIRST-LAST, from 1 on, or NAME"},
    {.name = NULL},
};

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    const struct config *c = config;
    const char *const lists[] = {c->blacklist, c->rename, c->sizes};
    struct cov_convert_options convert = {
        .measured = c->experimental,
        .output = common->output,
        .force = common->force,
        .tmpdir = common->tmpdir,
        .basename = c->basename,
        .has_kind = given[ROW_FORMAT],
        .kind = (enum cov_track_kind)c->format,
        .datasets = c->datasets.items,
        .n_datasets = c->datasets.n,
        .strand = (enum cov_strand)c->strand,
        .smoothing = {.window = c->window},
        .blacklist_path = c->blacklist,
        .rename_path = c->rename,
        .sizes_path = c->sizes,
        .has_min = given[ROW_MIN_VALUE],
        .min_value = c->min_value,
        .skip_zero = c->skip_zero,
        .scale = c->scale,
        .plot_path = c->plot,
        .plot_region = c->plot_region,
    };
    if (c->smooth && c->window > 0)
        return cov_fail(e, COV_EUSAGE, "--smooth and --window-size: one of them is wanted");
    if (c->smooth && cov_smoothing_parse(c->smooth, "--smooth", &convert.smoothing, e))
        return COV_EUSAGE;
    for (size_t i = 0; i < COV_COUNT(lists); i++) {
        if (!lists[i])
            continue;
        if (cov_path_is_std(lists[i]))
            return cov_fail(e, COV_EUSAGE, "lists are not read from standard input");
        if (cov_stats_add_input(&common->stats, lists[i], e))
            return COV_ENOMEM;
    }
    return cov_convert_run(operands[0], &convert, (unsigned)common->threads, &common->progress,
                           &common->stats, e);
}

static void print_versions(FILE *f)
{
    (void)fprintf(f, "libBigWig %s\nhtslib %s\n", cov_bigwig_version(), cov_bgz_version());
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "cov2bigwig",
        .summary = "convert predictions, measured coverage or tracks to bigWig or bedGraph",
        .synopsis = "[options] -o OUT INPUT|-",
        .examples = "  cov2bigwig -o tracks/ genome_predictions.h5\n"
                    "  cov2bigwig --datasets atacseq --window-size 150 -o atac.bw pred.h5\n"
                    "  cov2bigwig --datasets atacseq -o - pred.h5 | gzip > atac.bg.gz\n"
                    "  covpredict -m model.ckpt -o - genome.fa | cov2bigwig -o atac.bw -\n"
                    "  cov2bigwig --experimental --format bedgraph.gz -o tracks/ genome.h5\n"
                    "  cov2bigwig --plot x.png --plot-region chr1:1,000,001-1,050,000 pred.h5\n"
                    "  cov2bigwig --chrom-sizes genome.fa.fai -o x.bw x.bedGraph.gz\n",
        .options = options,
        .config_bytes = sizeof(struct config),
        .min_operands = 1,
        .max_operands = 1,
        .output_optional = true,
        .output_help = "where the result goes; with --plot it may be left out",
        .run = run,
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
