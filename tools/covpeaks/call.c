/* call.c - covpeaks call: peaks at a cutoff.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "common/job/peaks/call_peaks.h"
#include "common/signal/source_options.h"
#include "tools/covpeaks/covpeaks.h"

struct config {
    struct cov_call_options call;
    double cutoff, weak_cutoff;
    int preset, signal;
    bool automatic;
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
    ROW_AUTO,
    ROW_COUNT,
    ROW_SHARE,
    ROW_MEASURED,
    ROW_SOURCE = ROW_MEASURED + COV_MEASURED_ROWS
};

/* The settings of Predmoter's authors. */
static const struct preset {
    int64_t min_length, max_gap, link_gap; /* link_gap > 0: --broad */
} presets[] = {{0, 0, 0}, {100, 20, 0}, {200, 30, 500}};
static const char *const preset_names[] = {"none", "atac", "h3k4me3", NULL};
static const char *const signals[] = {"max", "mean", NULL};

#define FIELD(name) offsetof(struct config, name)
#define CALL(name) FIELD(call.name)

static const struct cov_opt options[] = {
    [ROW_CUTOFF] =
        COV_OPT(FLOAT, "cutoff", 'c', FIELD(cutoff), "V",
                "a peak begins and ends with values of at least V (this or --auto is needed)"),
    [ROW_MIN_LENGTH] =
        COV_OPT(SIZE, "min-length", 'l', CALL(rules.min_length), "N", "the shortest peak, in bases",
                .def = COV_PEAKS_LENGTH, .min = 1, .max = 1e15),
    [ROW_MAX_GAP] =
        COV_OPT(SIZE, "max-gap", 'g', CALL(rules.max_gap), "N",
                "the longest gap of lower values in a peak", .def = COV_PEAKS_GAP, .max = 1e15),
    [ROW_PRESET] = COV_OPT(ENUM, "preset", 0, FIELD(preset), NULL,
                           "lengths and gaps of Predmoter's authors: atac is -l 100 -g 20, h3k4me3 "
                           "is --broad -l 200 -g 30 -G 500; these options change them",
                           .def = "none", .choices = preset_names),
    [ROW_BROAD] =
        COV_OPT(FLAG, "broad", 0, CALL(broad), NULL,
                "call broad peaks: regions at a weaker cutoff, on sequences that have a peak"),
    [ROW_WEAK_CUTOFF] = COV_OPT(FLOAT, "weak-cutoff", 'C', FIELD(weak_cutoff), "V",
                                "with --broad: the cutoff of the regions"),
    [ROW_LINK_GAP] = COV_OPT(SIZE, "link-gap", 'G', CALL(weak.max_gap), "N",
                             "with --broad: the longest gap of values below --weak-cutoff",
                             .def = "800", .max = 1e15),
    [ROW_SIGNAL] =
        COV_OPT(ENUM, "signal", 0, FIELD(signal), NULL,
                "what signalValue is: the largest value of a peak, or the mean of its bases",
                .def = "max", .choices = signals),
    [ROW_SUMMITS] = COV_OPT(FLAG, "summits", 0, CALL(summits), NULL,
                            "write the summits of the peaks, one base each, as BED"),
    [ROW_AUTO] = COV_OPT(FLAG, "auto", 0, FIELD(automatic), NULL,
                         "find the cutoff by --count, --share or --measured; with --broad, find "
                         "the weak cutoff, and use twice its value as the cutoff unless -c is "
                         "given"),
    [ROW_COUNT] = COV_OPT(SIZE, "count", 0, CALL(automatic.count), "N",
                          "with --auto: the cutoff whose number of peaks is closest to N", .min = 1,
                          .max = 1e15),
    [ROW_SHARE] =
        COV_OPT(FLOAT, "share", 0, CALL(automatic.share), "F",
                "with --auto: the cutoff at which the fraction of the bases in peaks is closest to "
                "F, say 0.02",
                .min = 1e-12, .max = 1),
    [ROW_MEASURED] =
        COV_MEASURED_OPTIONS(CALL(automatic.measured),
                             "with --auto: the cutoff with the largest F1 of bases in peaks", 0),
    [ROW_SOURCE] = COV_SOURCE_OPTIONS(CALL(source), "read",
                                      "the dataset to read, if INPUT has several", "read", ""),
    {.name = NULL},
};

/* Applies the preset where an option was not given. */
static void apply_preset(struct config *c, const bool *given)
{
    const struct preset *p = &presets[c->preset];
    if (p->min_length == 0)
        return;
    if (!given[ROW_MIN_LENGTH])
        c->call.rules.min_length = p->min_length;
    if (!given[ROW_MAX_GAP])
        c->call.rules.max_gap = p->max_gap;
    if (!given[ROW_LINK_GAP] && p->link_gap > 0)
        c->call.weak.max_gap = p->link_gap;
    c->call.broad = c->call.broad || p->link_gap > 0;
}

/* COV_EUSAGE for options that contradict each other, or that lack another one. */
static int check_options(const struct config *c, const bool *given, struct cov_err *e)
{
    const int n = given[ROW_COUNT] + given[ROW_SHARE] + given[ROW_MEASURED];
    for (int row = ROW_COUNT; row <= ROW_MEASURED; row++)
        if (given[row] && !c->automatic)
            return cov_fail(e, COV_EUSAGE, "--%s needs --auto", options[row].name);
    if (!c->call.broad && (given[ROW_WEAK_CUTOFF] || given[ROW_LINK_GAP]))
        return cov_fail(e, COV_EUSAGE, "--%s needs --broad",
                        options[given[ROW_WEAK_CUTOFF] ? ROW_WEAK_CUTOFF : ROW_LINK_GAP].name);
    if (!c->automatic && !given[ROW_CUTOFF])
        return cov_fail(e, COV_EUSAGE, "-c/--cutoff is missing; --auto would find one");
    if (!c->automatic && c->call.broad && !given[ROW_WEAK_CUTOFF])
        return cov_fail(e, COV_EUSAGE, "%s needs -C/--weak-cutoff; --auto would find one",
                        given[ROW_BROAD] ? "--broad" : "--preset h3k4me3 is --broad, which");
    if (!c->automatic)
        return COV_OK;
    if (!c->call.broad && given[ROW_CUTOFF])
        return cov_fail(e, COV_EUSAGE, "--cutoff and --auto cannot be used together");
    if (given[ROW_WEAK_CUTOFF])
        return cov_fail(e, COV_EUSAGE,
                        "--weak-cutoff and --auto cannot be used together: with --broad, --auto "
                        "finds the weak cutoff");
    return n == 1 ? COV_OK
                  : cov_fail(e, COV_EUSAGE, "--auto needs %s of --count, --share and --measured",
                             n == 0 ? "one" : "only one");
}

static int run(struct cov_common *common, void *config, const bool *given, int n_operands,
               char **operands, struct cov_err *e)
{
    (void)n_operands;
    struct config *c = config;
    struct cov_call_options *call = &c->call;
    apply_preset(c, given);
    call->has_cutoff = given[ROW_CUTOFF];
    call->weak.min_length = call->rules.min_length;
    call->mean = c->signal == 1;
    call->output = common->output;
    call->force = common->force;
    call->tmpdir = common->tmpdir;
    call->automatic.by = !c->automatic      ? COV_AUTO_NONE
                         : given[ROW_COUNT] ? COV_AUTO_COUNT
                         : given[ROW_SHARE] ? COV_AUTO_SHARE
                                            : COV_AUTO_MEASURED;
    int rc = check_options(c, given, e);
    if (!rc)
        rc =
            cov_measured_options_finish(&call->automatic.measured, given + ROW_MEASURED,
                                        &call->source, call->broad ? &call->weak : &call->rules, e);
    if (!rc)
        rc = cov_peaks_cutoff(c->cutoff, options[ROW_CUTOFF].name, &call->rules.cutoff, e);
    if (!rc)
        rc = cov_peaks_cutoff(c->weak_cutoff, options[ROW_WEAK_CUTOFF].name, &call->weak.cutoff, e);
    if (!rc)
        rc = cov_source_options_finish(&call->source, e);
    return rc ? rc
              : cov_call_peaks(operands[0], call, (unsigned)common->threads, &common->progress,
                               &common->stats, e);
}

const struct cov_tool covpeaks_call = {
    .name = "call",
    .summary = "call peaks at a cutoff, like MACS3's bdgpeakcall and bdgbroadcall",
    .synopsis = "[options] -c CUTOFF|--auto -o OUT INPUT|-",
    .examples =
        "  covpeaks call -c 25 --preset atac --datasets atacseq -o atac.narrowPeak pred.h5\n"
        "  covpeaks call -c 35 -C 15 --preset h3k4me3 -o h3k4me3.gappedPeak h3k4me3.bw\n"
        "  covpeaks call --auto --measured measured.bed -o atac.narrowPeak atac.bw\n"
        "  covpeaks call --auto --share 0.02 --preset h3k4me3 -o h3k4me3.gappedPeak h3k4me3.bw\n"
        "  covpeaks call -c 25 -o - atac.bedGraph.gz | sort -k7,7gr | head\n",
    .options = options,
    .config_bytes = sizeof(struct config),
    .min_operands = 1,
    .max_operands = 1,
    .output_help = "where the peaks go: .narrowPeak or .bed, with --broad .gappedPeak, .broadPeak "
                   "or .bed, each also with .gz; or - for standard output",
    .run = run,
};
