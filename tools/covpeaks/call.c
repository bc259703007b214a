/* call.c - covpeaks call: peaks at a cutoff.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "common/job/peaks/call_peaks.h"
#include "common/job/source/source_options.h"
#include "tools/covpeaks/covpeaks.h"

struct config {
    struct cov_source_flags source;
    double cutoff, weak_cutoff;
    int64_t min_length, max_gap, link_gap;
    int preset, signal;
    bool broad, summits;
};

enum {
    ROW_CUTOFF,
    ROW_MIN_LENGTH,
    ROW_MAX_GAP,
    ROW_PRESET,
    ROW_BROAD,
    ROW_WEAK_CUTOFF,
    ROW_LINK_GAP,
    ROW_SIGNAL,
    ROW_SUMMITS,
    ROW_SOURCE
};

/* The settings of Predmoter's authors. */
static const struct preset {
    int64_t min_length, max_gap, link_gap; /* link_gap > 0: --broad */
} presets[] = {{0, 0, 0}, {100, 20, 0}, {200, 30, 500}};
static const char *const preset_names[] = {"none", "atac", "h3k4me3", NULL};
static const char *const signals[] = {"max", "mean", NULL};

#define FIELD(name) offsetof(struct config, name)

static const struct cov_opt options[] = {
    [ROW_CUTOFF] =
        COV_OPT(FLOAT, "cutoff", 'c', FIELD(cutoff), "V",
                "a peak begins and ends with values of at least V", .flags = COV_OPT_REQUIRED),
    [ROW_MIN_LENGTH] =
        COV_OPT(SIZE, "min-length", 'l', FIELD(min_length), "N", "the shortest peak, in bases",
                .def = COV_PEAKS_LENGTH, .min = 1, .max = 1e15),
    [ROW_MAX_GAP] =
        COV_OPT(SIZE, "max-gap", 'g', FIELD(max_gap), "N",
                "the longest gap of lower values in a peak", .def = COV_PEAKS_GAP, .max = 1e15),
    [ROW_PRESET] = COV_OPT(ENUM, "preset", 0, FIELD(preset), NULL,
                           "lengths and gaps of Predmoter's authors: atac is -l 100 -g 20, h3k4me3 "
                           "is --broad -l 200 -g 30 -G 500; these options change them",
                           .def = "none", .choices = preset_names),
    [ROW_BROAD] =
        COV_OPT(FLAG, "broad", 0, FIELD(broad), NULL,
                "call broad peaks: regions at a weaker cutoff, of sequences that have a peak"),
    [ROW_WEAK_CUTOFF] = COV_OPT(FLOAT, "weak-cutoff", 'C', FIELD(weak_cutoff), "V",
                                "with --broad: the cutoff of the regions"),
    [ROW_LINK_GAP] = COV_OPT(SIZE, "link-gap", 'G', FIELD(link_gap), "N",
                             "with --broad: the longest gap of values below --weak-cutoff",
                             .def = "800", .max = 1e15),
    [ROW_SIGNAL] =
        COV_OPT(ENUM, "signal", 0, FIELD(signal), NULL,
                "what signalValue is: the largest value of a peak, or the mean of its bases",
                .def = "max", .choices = signals),
    [ROW_SUMMITS] = COV_OPT(FLAG, "summits", 0, FIELD(summits), NULL,
                            "write the summits of the peaks, one base each, as BED"),
    [ROW_SOURCE] = COV_SOURCE_OPTIONS(FIELD(source), "read",
                                      "the data set to read, if INPUT has several", "read", ""),
    {.name = NULL},
};

/* Applies the preset where an option was not given. */
static void apply_preset(struct config *c, const bool *given)
{
    const struct preset *p = &presets[c->preset];
    if (p->min_length == 0)
        return;
    if (!given[ROW_MIN_LENGTH])
        c->min_length = p->min_length;
    if (!given[ROW_MAX_GAP])
        c->max_gap = p->max_gap;
    if (!given[ROW_LINK_GAP] && p->link_gap > 0)
        c->link_gap = p->link_gap;
    c->broad = c->broad || p->link_gap > 0;
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    struct config *c = config;
    apply_preset(c, given);
    if (fabs(c->cutoff) > (double)FLT_MAX)
        return cov_fail(e, COV_EUSAGE, "--cutoff: %g is out of range", c->cutoff);
    if (fabs(c->weak_cutoff) > (double)FLT_MAX)
        return cov_fail(e, COV_EUSAGE, "--weak-cutoff: %g is out of range", c->weak_cutoff);
    if (c->broad && !given[ROW_WEAK_CUTOFF])
        return cov_fail(e, COV_EUSAGE, "%s needs -C/--weak-cutoff",
                        given[ROW_BROAD] ? "--broad" : "--preset h3k4me3 is --broad, which");
    if (!c->broad && (given[ROW_WEAK_CUTOFF] || given[ROW_LINK_GAP]))
        return cov_fail(e, COV_EUSAGE, "--%s needs --broad",
                        options[given[ROW_WEAK_CUTOFF] ? ROW_WEAK_CUTOFF : ROW_LINK_GAP].name);
    struct cov_call_options call = {
        .rules = {(float)c->cutoff, c->min_length, c->max_gap},
        .broad = c->broad,
        .weak = {(float)c->weak_cutoff, c->min_length, c->link_gap},
        .summits = c->summits,
        .mean = c->signal == 1,
        .output = common->output,
        .force = common->force,
    };
    int rc = cov_source_options_fill(&c->source, &call.source, e);
    return rc ? rc
              : cov_call_peaks(operands[0], &call, (unsigned)common->threads, &common->progress,
                               &common->stats, e);
}

const struct cov_tool covpeaks_call = {
    .name = "call",
    .summary = "call peaks at a cutoff, like MACS3's bdgpeakcall and bdgbroadcall",
    .synopsis = "[options] -c CUTOFF -o OUT INPUT|-",
    .examples =
        "  covpeaks call -c 25 --preset atac --datasets atacseq -o atac.narrowPeak pred.h5\n"
        "  covpeaks call -c 35 -C 15 --preset h3k4me3 -o h3k4me3.gappedPeak h3k4me3.bw\n"
        "  covpeaks call -c 25 -o - atac.bedGraph.gz | sort -k7,7gr | head\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = 1,
    .output_help = "where the peaks go: .narrowPeak or .bed, with --broad .gappedPeak, .broadPeak "
                   "or .bed, each also with .gz; or - for standard output",
    .run = run,
};
