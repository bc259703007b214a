/* covpeaks.c - peaks of predicted and measured signal.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>

#include "common/base/text.h"
#include "common/cli/shared_options.h"
#include "common/cli/tool.h"
#include "common/file/path.h"
#include "common/h5/h5.h"
#include "common/job/peaks/peak_files.h"
#include "common/job/peaks/peak_jobs.h"
#include "common/signal/track_source.h"
#include "common/track/formats/bigwig.h"

/* ---------------------------------------------------------------- call */

struct call_config {
    struct cov_call_options call;
    double cutoff, weak_cutoff;
    int preset, signal;
    bool automatic;
};

enum {
    CALL_CUTOFF,
    CALL_MIN_LENGTH,
    CALL_MAX_GAP,
    CALL_PRESET,
    CALL_BROAD,
    CALL_WEAK_CUTOFF,
    CALL_LINK_GAP,
    CALL_SIGNAL,
    CALL_SUMMITS,
    CALL_AUTO,
    CALL_COUNT,
    CALL_SHARE,
    CALL_MEASURED,
    CALL_SOURCE = CALL_MEASURED + COV_MEASURED_ROWS
};

/* The settings of Predmoter's authors. */
static const struct preset {
    int64_t min_length, max_gap, link_gap; /* link_gap > 0: --broad */
} presets[] = {{0, 0, 0}, {100, 20, 0}, {200, 30, 500}};
static const char *const preset_names[] = {"none", "atac", "h3k4me3", NULL};
static const char *const signals[] = {"max", "mean", NULL};

#define CALL_FIELD(name) offsetof(struct call_config, name)
#define CALL(name) CALL_FIELD(call.name)

static const struct cov_opt call_options[] = {
    [CALL_CUTOFF] =
        COV_OPT(FLOAT, "cutoff", 'c', CALL_FIELD(cutoff), "V",
                "a peak begins and ends with values of at least V (this or --auto is needed)"),
    [CALL_MIN_LENGTH] =
        COV_OPT(SIZE, "min-length", 'l', CALL(rules.min_length), "N", "the shortest peak, in bases",
                .def = COV_PEAKS_LENGTH, .min = 1, .max = 1e15),
    [CALL_MAX_GAP] =
        COV_OPT(SIZE, "max-gap", 'g', CALL(rules.max_gap), "N",
                "the longest gap of lower values in a peak", .def = COV_PEAKS_GAP, .max = 1e15),
    [CALL_PRESET] =
        COV_OPT(ENUM, "preset", 0, CALL_FIELD(preset), NULL,
                "lengths and gaps of Predmoter's authors: atac is -l 100 -g 20, h3k4me3 "
                "is --broad -l 200 -g 30 -G 500; these options change them",
                .def = "none", .choices = preset_names),
    [CALL_BROAD] =
        COV_OPT(FLAG, "broad", 0, CALL(broad), NULL,
                "call broad peaks: regions at a weaker cutoff, on sequences that have a peak"),
    [CALL_WEAK_CUTOFF] = COV_OPT(FLOAT, "weak-cutoff", 'C', CALL_FIELD(weak_cutoff), "V",
                                 "with --broad: the cutoff of the regions"),
    [CALL_LINK_GAP] = COV_OPT(SIZE, "link-gap", 'G', CALL(weak.max_gap), "N",
                              "with --broad: the longest gap of values below --weak-cutoff",
                              .def = "800", .max = 1e15),
    [CALL_SIGNAL] =
        COV_OPT(ENUM, "signal", 0, CALL_FIELD(signal), NULL,
                "what signalValue is: the largest value of a peak, or the mean of its bases",
                .def = "max", .choices = signals),
    [CALL_SUMMITS] = COV_OPT(FLAG, "summits", 0, CALL(summits), NULL,
                             "write the summits of the peaks, one base each, as BED"),
    [CALL_AUTO] = COV_OPT(FLAG, "auto", 0, CALL_FIELD(automatic), NULL,
                          "find the cutoff by --count, --share or --measured; with --broad, find "
                          "the weak cutoff, and use twice its value as the cutoff unless -c is "
                          "given"),
    [CALL_COUNT] = COV_OPT(SIZE, "count", 0, CALL(automatic.count), "N",
                           "with --auto: the cutoff whose number of peaks is closest to N",
                           .min = 1, .max = 1e15),
    [CALL_SHARE] =
        COV_OPT(FLOAT, "share", 0, CALL(automatic.share), "F",
                "with --auto: the cutoff at which the fraction of the bases in peaks is closest to "
                "F, say 0.02",
                .min = 1e-12, .max = 1),
    [CALL_MEASURED] = COV_MEASURED_OPTIONS(
        CALL(automatic.measured), "with --auto: the cutoff with the largest F1 of bases in peaks"),
    [CALL_SOURCE] = COV_SOURCE_OPTIONS(CALL(source), "read",
                                       "the dataset to read, if INPUT has several", "read", ""),
    {.name = NULL},
};

/* Applies the preset where an option was not given. */
static void apply_preset(struct call_config *c, const bool *given)
{
    const struct preset *p = &presets[c->preset];
    if (p->min_length == 0)
        return;
    if (!given[CALL_MIN_LENGTH])
        c->call.rules.min_length = p->min_length;
    if (!given[CALL_MAX_GAP])
        c->call.rules.max_gap = p->max_gap;
    if (!given[CALL_LINK_GAP] && p->link_gap > 0)
        c->call.weak.max_gap = p->link_gap;
    c->call.broad = c->call.broad || p->link_gap > 0;
}

/* COV_EUSAGE for options that contradict each other, or that lack another one. */
static int check_call(const struct call_config *c, const bool *given, struct cov_err *e)
{
    const int n = given[CALL_COUNT] + given[CALL_SHARE] + given[CALL_MEASURED];
    for (int row = CALL_COUNT; row <= CALL_MEASURED; row++)
        if (given[row] && !c->automatic)
            return cov_fail(e, COV_EUSAGE, "--%s needs --auto", call_options[row].name);
    if (!c->call.broad && (given[CALL_WEAK_CUTOFF] || given[CALL_LINK_GAP]))
        return cov_fail(
            e, COV_EUSAGE, "--%s needs --broad",
            call_options[given[CALL_WEAK_CUTOFF] ? CALL_WEAK_CUTOFF : CALL_LINK_GAP].name);
    if (!c->automatic && !given[CALL_CUTOFF])
        return cov_fail(e, COV_EUSAGE, "-c/--cutoff is missing; --auto would find one");
    if (!c->automatic && c->call.broad && !given[CALL_WEAK_CUTOFF])
        return cov_fail(e, COV_EUSAGE, "%s needs -C/--weak-cutoff; --auto would find one",
                        given[CALL_BROAD] ? "--broad" : "--preset h3k4me3 is --broad, which");
    if (!c->automatic)
        return COV_OK;
    if (!c->call.broad && given[CALL_CUTOFF])
        return cov_fail(e, COV_EUSAGE, "--cutoff and --auto cannot be used together");
    if (given[CALL_WEAK_CUTOFF])
        return cov_fail(e, COV_EUSAGE,
                        "--weak-cutoff and --auto cannot be used together: with --broad, --auto "
                        "finds the weak cutoff");
    return n == 1 ? COV_OK
                  : cov_fail(e, COV_EUSAGE, "--auto needs %s of --count, --share and --measured",
                             n == 0 ? "one" : "only one");
}

static int call_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                    char **operands, struct cov_err *e)
{
    (void)n_operands;
    struct call_config *c = config;
    struct cov_call_options *call = &c->call;
    apply_preset(c, given);
    call->has_cutoff = given[CALL_CUTOFF];
    call->weak.min_length = call->rules.min_length;
    call->mean = c->signal == 1;
    call->output = common->output;
    call->force = common->force;
    call->tmpdir = common->tmpdir;
    call->automatic.by = !c->automatic       ? COV_AUTO_NONE
                         : given[CALL_COUNT] ? COV_AUTO_COUNT
                         : given[CALL_SHARE] ? COV_AUTO_SHARE
                                             : COV_AUTO_MEASURED;
    int rc = check_call(c, given, e);
    if (!rc)
        rc =
            cov_measured_options_finish(&call->automatic.measured, given + CALL_MEASURED,
                                        &call->source, call->broad ? &call->weak : &call->rules, e);
    if (!rc)
        rc = cov_peaks_cutoff(c->cutoff, call_options[CALL_CUTOFF].name, &call->rules.cutoff, e);
    if (!rc)
        rc = cov_peaks_cutoff(c->weak_cutoff, call_options[CALL_WEAK_CUTOFF].name,
                              &call->weak.cutoff, e);
    if (!rc)
        rc = cov_source_options_finish(&call->source, e);
    cov_source_options_detect(&call->source, operands[0]);
    return rc ? rc
              : cov_call_peaks(operands[0], call, (unsigned)common->threads, &common->progress,
                               &common->stats, e);
}

static const struct cov_tool call_tool = {
    .name = "call",
    .summary = "call peaks at a cutoff, like MACS3's bdgpeakcall and bdgbroadcall",
    .synopsis = "[options] -c CUTOFF|--auto -o OUT INPUT|-",
    .examples =
        "  covpeaks call -c 25 --preset atac --datasets atacseq -o atac.narrowPeak pred.h5\n"
        "  covpeaks call -c 35 -C 15 --preset h3k4me3 -o h3k4me3.gappedPeak h3k4me3.bw\n"
        "  covpeaks call --auto --measured measured.bed -o atac.narrowPeak atac.bw\n"
        "  covpeaks call --auto --share 0.02 --preset h3k4me3 -o h3k4me3.gappedPeak h3k4me3.bw\n"
        "  covpeaks call -c 25 -o - atac.bedGraph.gz | sort -k7,7gr | head\n",
    .options = call_options,
    .config_bytes = sizeof(struct call_config),
    .min_operands = 1,
    .max_operands = 1,
    .output_help = "where the peaks go: .narrowPeak or .bed, with --broad .gappedPeak, .broadPeak "
                   "or .bed, each also with .gz; or - for standard output",
    .run = call_run,
};

/* ---------------------------------------------------------------- curve */

struct curve_config {
    struct cov_curve_options o;
    struct cov_strings windows;
};

enum {
    CURVE_MEASURED,
    CURVE_MEASURED_CUTOFF = CURVE_MEASURED + COV_MEASURED_ROW_CUTOFF,
    CURVE_MIN_LENGTH = CURVE_MEASURED + COV_MEASURED_ROWS,
    CURVE_MAX_GAP,
    CURVE_WINDOWS,
    CURVE_LABELS,
    CURVE_PLOT,
    CURVE_SOURCE
};

#define CURVE_FIELD(name) offsetof(struct curve_config, name)

static const struct cov_opt curve_options[] = {
    [CURVE_MEASURED] =
        COV_OPT(LIST, "measured", 0, CURVE_FIELD(o.measured_paths), "FILE,...",
                "what to compare with: a file for each INPUT, or one for all" COV_MEASURED_KINDS,
                .flags = COV_OPT_PATH_IN | COV_OPT_REQUIRED),
    COV_MEASURED_TRACK_OPTIONS(CURVE_FIELD(o.measured)),
    [CURVE_MIN_LENGTH] =
        COV_OPT(SIZE, "min-length", 'l', CURVE_FIELD(o.measured.rules.min_length), "N",
                "with --measured-cutoff: the shortest measured peak, in bases",
                .def = COV_PEAKS_LENGTH, .min = 1, .max = 1e15),
    [CURVE_MAX_GAP] =
        COV_OPT(SIZE, "max-gap", 'g', CURVE_FIELD(o.measured.rules.max_gap), "N",
                "with --measured-cutoff: the longest gap of lower values in a measured "
                "peak",
                .def = COV_PEAKS_GAP, .max = 1e15),
    [CURVE_WINDOWS] =
        COV_OPT(LIST, "windows", 0, CURVE_FIELD(windows), "LIST",
                "smooth with centred moving means over these numbers of bases, a curve "
                "each; 1 is no smoothing (default: 1)"),
    [CURVE_LABELS] =
        COV_OPT(LIST, "labels", 0, CURVE_FIELD(o.labels), "NAME,...",
                "labels of the INPUTs, in their order (default: the names of the files)",
                .flags = COV_OPT_UNIQUE),
    [CURVE_PLOT] = COV_OPT(STRING, "plot", 0, CURVE_FIELD(o.paths.plot), "FILE",
                           "draw the curves as a .png or .svg plot", .flags = COV_OPT_PATH_OUT),
    [CURVE_SOURCE] = COV_SOURCE_OPTIONS_UNSMOOTHED(
        CURVE_FIELD(o.source), "read", "the dataset to read, if INPUT has several", "read", ""),
    {.name = NULL},
};

/* Parses --windows; all must differ. */
static int get_windows(const struct cov_strings *list, int64_t *windows, size_t *n,
                       struct cov_err *e)
{
    windows[0] = 1;
    *n = list->n ? list->n : 1;
    if (*n > COV_CURVE_MAX_WINDOWS)
        return cov_fail(e, COV_EUSAGE, "--windows: too many (%zu); the limit is %d", *n,
                        COV_CURVE_MAX_WINDOWS);
    return cov_parse_sizes(list->items, list->n, "--windows", COV_SMOOTH_MAX_WINDOW, windows, e);
}

/* Checks that there are as many labels and measured files as inputs, or one of these for all. */
static int check_counts(const struct cov_curve_options *o, size_t n, struct cov_err *e)
{
    const size_t n_measured = o->measured_paths.n, n_labels = o->labels.n;
    if (n_measured > 1 && n_measured != n)
        return cov_fail(e, COV_EUSAGE, "--measured: %zu files for %zu input%s", n_measured, n,
                        cov_text_s((int64_t)n));
    if (n_labels > 0 && n_labels != n)
        return cov_fail(e, COV_EUSAGE, "--labels: %zu label%s for %zu input%s", n_labels,
                        cov_text_s((int64_t)n_labels), n, cov_text_s((int64_t)n));
    return COV_OK;
}

static int curve_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    const size_t n = (size_t)n_operands;
    struct curve_config *c = config;
    struct cov_curve_options *o = &c->o;
    const struct cov_peak_rules rules = o->measured.rules;
    int64_t windows[COV_CURVE_MAX_WINDOWS];
    o->windows = windows;
    o->measured.may_be_empty = true;
    o->paths.table = common->output;
    o->paths.printed = stdout;
    o->paths.tmpdir = common->tmpdir;
    o->paths.force = common->force;
    if ((given[CURVE_MIN_LENGTH] || given[CURVE_MAX_GAP]) && !given[CURVE_MEASURED_CUTOFF])
        return cov_fail(
            e, COV_EUSAGE, "--%s needs --measured-cutoff",
            curve_options[given[CURVE_MIN_LENGTH] ? CURVE_MIN_LENGTH : CURVE_MAX_GAP].name);
    int rc = check_counts(o, n, e);
    if (!rc)
        rc = cov_path_check_distinct(operands, n, e);
    o->measured.path = o->measured_paths.items[0];
    if (!rc)
        rc = cov_measured_options_finish(&o->measured, given + CURVE_MEASURED, &o->source, &rules,
                                         e);
    if (!rc)
        rc = get_windows(&c->windows, windows, &o->n_windows, e);
    if (!rc)
        rc = cov_source_options_finish(&o->source, e);
    return rc ? rc
              : cov_curve_run(operands, n, o, (unsigned)common->threads, &common->progress,
                              &common->stats, e);
}

static const struct cov_tool curve_tool = {
    .name = "curve",
    .summary = "precision and recall of single bases over cutoffs and smoothing windows",
    .synopsis = "[options] --measured FILE,... [-o OUT.tsv] INPUT...",
    .examples =
        "  covpeaks curve --measured measured.narrowPeak --windows 1,51,151 -o curve.tsv pred.bw\n"
        "  covpeaks curve --measured m.bw --measured-cutoff 25 --plot curve.svg pred.bw\n"
        "  covpeaks curve --measured moss.bed,weed.bed --plot species.png moss.bw weed.bw\n",
    .options = curve_options,
    .config_bytes = sizeof(struct curve_config),
    .min_operands = 1,
    .max_operands = -1,
    .prints_table = true,
    .plot = &cov_curve_lines,
    .output_optional = true,
    .output_help = "where the table goes (default: standard output)",
    .run = curve_run,
};

/* ---------------------------------------------------------------- compare and stats */

#define FILES_FIELD(name) offsetof(struct cov_peak_files_options, name)
#define FILES_OPTIONS                                                                              \
    COV_OPT(STRING, "genome", 0, FILES_FIELD(genome), "FILE",                                      \
            "a genome file or predictions file, for the names and lengths of sequences",           \
            .flags = COV_OPT_PATH_IN),                                                             \
        COV_OPT(STRING, "chrom-sizes", 0, FILES_FIELD(sizes), "FILE",                              \
                "two columns: name and length of each sequence; or the FASTA file's index (.fai)", \
                .flags = COV_OPT_PATH_IN),                                                         \
        COV_BLACKLIST_FILE_OPTION(FILES_FIELD(blacklist), "do not count")

static const char TABLE_HELP[] = "where the table goes (default: standard output)";

static void set_paths(struct cov_peak_files_options *o, const struct cov_common *common)
{
    o->paths = (struct cov_table_paths){
        .table = common->output, .printed = stdout, .force = common->force};
}

/* ---------------------------------------------------------------- compare */

static const struct cov_opt compare_options[] = {
    FILES_OPTIONS,
    COV_OPT(STRING, "dataset", 0, FILES_FIELD(dataset), "NAME",
            "name of the dataset, for the columns of a MultiQC report"),
    {.name = NULL},
};

static int compare_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                       char **operands, struct cov_err *e)
{
    (void)given, (void)n_operands;
    struct cov_peak_files_options *o = config;
    set_paths(o, common);
    int rc = o->dataset ? cov_dataset_check_name(o->dataset, "--dataset", e) : COV_OK;
    return rc ? rc : cov_compare_peaks(operands[0], operands[1], o, &common->stats, e);
}

static const struct cov_tool compare_tool = {
    .name = "compare",
    .summary = "precision, recall and F1 of predicted peaks, base by base",
    .synopsis = "[options] --genome FILE|--chrom-sizes FILE [-o OUT.tsv] PREDICTED MEASURED",
    .examples =
        "  covpeaks compare --genome genome.h5 predicted.narrowPeak measured.narrowPeak\n"
        "  covpeaks compare --chrom-sizes genome.fa.fai --blacklist-file organelles p.bed m.bed\n",
    .options = compare_options,
    .config_bytes = sizeof(struct cov_peak_files_options),
    .min_operands = 2,
    .max_operands = 2,
    .prints_table = true,
    .output_optional = true,
    .output_help = TABLE_HELP,
    .lacks = COV_LACKS_THREADS | COV_LACKS_PROGRESS | COV_LACKS_TMPDIR,
    .run = compare_run,
};

/* ---------------------------------------------------------------- stats */

enum { STATS_SIGNAL, STATS_EXPERIMENTAL, STATS_DATASETS, STATS_STRAND, STATS_RENAME, STATS_FILES };

static const struct cov_opt stats_options[] = {
    [STATS_SIGNAL] = COV_OPT(STRING, "signal", 0, FILES_FIELD(signal), "INPUT",
                             "also find the fraction of this signal in peaks (FRiP): predictions "
                             "or coverage, bigWig, bedGraph",
                             .flags = COV_OPT_PATH_IN),
    [STATS_EXPERIMENTAL] = COV_SOURCE_DATA_OPTIONS(FILES_FIELD(source), "read",
                                                   "the dataset to read, if INPUT has several"),
    [STATS_RENAME] = COV_RENAME_OPTION(FILES_FIELD(source.rename_path)),
    [STATS_FILES] = FILES_OPTIONS,
    {.name = NULL},
};

static int stats_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                     char **operands, struct cov_err *e)
{
    struct cov_peak_files_options *o = config;
    set_paths(o, common);
    for (int row = STATS_EXPERIMENTAL; row < STATS_FILES; row++)
        if (given[row] && !o->signal)
            return cov_fail(e, COV_EUSAGE, "--%s needs --signal", stats_options[row].name);
    o->source.values.unrounded = true;
    o->n_threads = (unsigned)common->threads;
    o->progress = &common->progress;
    int rc = cov_source_options_finish(&o->source, e);
    if (o->signal)
        cov_source_options_detect(&o->source, o->signal);
    return rc ? rc : cov_peak_stats(operands, (size_t)n_operands, o, &common->stats, e);
}

static const struct cov_tool stats_tool = {
    .name = "stats",
    .summary = "number, lengths and bases of peaks, and the fraction of a signal in them",
    .synopsis = "[options] [-o OUT.tsv] FILE...",
    .examples = "  covpeaks stats *.narrowPeak\n"
                "  covpeaks stats --chrom-sizes genome.fa.fai --signal atac.bw peaks.bed\n",
    .options = stats_options,
    .config_bytes = sizeof(struct cov_peak_files_options),
    .min_operands = 1,
    .max_operands = -1,
    .prints_table = true,
    .output_optional = true,
    .output_help = TABLE_HELP,
    .lacks = COV_LACKS_TMPDIR,
    .run = stats_run,
};

/* ---------------------------------------------------------------- covpeaks */

static const struct cov_tool *const subcommands[] = {&call_tool, &curve_tool, &compare_tool,
                                                     &stats_tool, NULL};

static void print_versions(FILE *f)
{
    cov_libraries_print(f);
    (void)fprintf(f, "libBigWig %s\n", cov_bigwig_version());
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "covpeaks",
        .summary = "call and compare peaks of predicted and measured signal",
        .subcommands = subcommands,
        .examples = "  covpeaks call -c 25 --datasets atacseq -o atac.narrowPeak predictions.h5\n"
                    "  covpeaks compare --genome genome.h5 atac.narrowPeak measured.narrowPeak\n",
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
