/* curve.c - covpeaks curve: precision and recall over cutoffs.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdio.h>

#include "common/base/text.h"
#include "common/job/peaks/precision_recall.h"
#include "common/signal/source_options.h"
#include "tools/covpeaks/covpeaks.h"

struct config {
    struct cov_curve_options o;
    struct cov_strings windows;
};

enum {
    ROW_MEASURED,
    ROW_MEASURED_CUTOFF = ROW_MEASURED + COV_MEASURED_ROW_CUTOFF,
    ROW_MIN_LENGTH = ROW_MEASURED + COV_MEASURED_ROWS,
    ROW_MAX_GAP,
    ROW_WINDOWS,
    ROW_POINTS,
    ROW_PLOT,
    ROW_SOURCE
};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_MEASURED] =
        COV_MEASURED_OPTIONS(FIELD(o.measured), "what to compare with", COV_OPT_REQUIRED),
    [ROW_MIN_LENGTH] = COV_OPT(SIZE, "min-length", 'l', FIELD(o.measured.rules.min_length), "N",
                               "with --measured-cutoff: the shortest measured peak, in bases",
                               .def = COV_PEAKS_LENGTH, .min = 1, .max = 1e15),
    [ROW_MAX_GAP] = COV_OPT(SIZE, "max-gap", 'g', FIELD(o.measured.rules.max_gap), "N",
                            "with --measured-cutoff: the longest gap of lower values in a measured "
                            "peak",
                            .def = COV_PEAKS_GAP, .max = 1e15),
    [ROW_WINDOWS] = COV_OPT(LIST, "windows", 0, FIELD(windows), "LIST",
                            "smooth with centred moving means over these numbers of bases, a curve "
                            "each; 1 is no smoothing (default: 1)"),
    [ROW_POINTS] = COV_OPT(SIZE, "points", 0, FIELD(o.n_points), "N",
                           "write about N cutoffs per curve, if there are more", .def = "1000",
                           .min = 2, .max = 1000000),
    [ROW_PLOT] = COV_OPT(STRING, "plot", 0, FIELD(o.paths.plot), "FILE",
                         "draw the curves as a .png or .svg plot", .flags = COV_OPT_PATH_OUT),
    [ROW_SOURCE] = COV_SOURCE_OPTIONS_UNSMOOTHED(
        FIELD(o.source), "read", "the dataset to read, if INPUT has several", "read", ""),
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

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    struct config *c = config;
    struct cov_curve_options *o = &c->o;
    const struct cov_peak_rules rules = o->measured.rules;
    int64_t windows[COV_CURVE_MAX_WINDOWS];
    o->windows = windows;
    o->measured.may_be_empty = true;
    o->paths.table = common->output;
    o->paths.printed = stdout;
    o->paths.tmpdir = common->tmpdir;
    o->paths.force = common->force;
    if ((given[ROW_MIN_LENGTH] || given[ROW_MAX_GAP]) && !given[ROW_MEASURED_CUTOFF])
        return cov_fail(e, COV_EUSAGE, "--%s needs --measured-cutoff",
                        options[given[ROW_MIN_LENGTH] ? ROW_MIN_LENGTH : ROW_MAX_GAP].name);
    int rc = cov_measured_options_finish(&o->measured, given + ROW_MEASURED, &o->source, &rules, e);
    if (!rc)
        rc = get_windows(&c->windows, windows, &o->n_windows, e);
    if (!rc)
        rc = cov_source_options_finish(&o->source, e);
    return rc ? rc
              : cov_curve_run(operands[0], o, (unsigned)common->threads, &common->progress,
                              &common->stats, e);
}

const struct cov_tool covpeaks_curve = {
    .name = "curve",
    .summary = "precision and recall of single bases over cutoffs and smoothing windows",
    .synopsis = "[options] --measured FILE [-o OUT.tsv] INPUT|-",
    .examples =
        "  covpeaks curve --measured measured.narrowPeak --windows 1,51,151 -o curve.tsv pred.bw\n"
        "  covpeaks curve --measured m.bw --measured-cutoff 25 --plot curve.svg pred.bw\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = 1,
    .prints_table = true,
    .plot = &cov_curve_lines,
    .output_optional = true,
    .output_help = "where the table goes (default: standard output)",
    .run = run,
};
