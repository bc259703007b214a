/* attribute.h - what coveffect ism and gradients share: options and outputs.
 * SPDX-License-Identifier: MIT */
#ifndef COVEFFECT_ATTRIBUTE_H
#define COVEFFECT_ATTRIBUTE_H

#include <stddef.h>

#include "common/input/device_options.h"
#include "common/job/effect/attribution.h"
#include "common/job/effect/attribution_output.h"
#include "tools/coveffect/coveffect.h"

/* Filled by the rows of COVEFFECT_ATTRIBUTION_OPTIONS. */
struct coveffect_flags {
    struct cov_attribution_options job;
    struct cov_attribution_paths paths;
    struct coveffect_inputs in;
    const char *target;
};

#define COVEFFECT_ATTRIBUTION_FIELD(at, name) ((at) + offsetof(struct coveffect_flags, name))

/* `at` is the offset of a struct coveffect_flags. */
#define COVEFFECT_ATTRIBUTION_OPTIONS(at)                                                          \
    COVEFFECT_INPUT_OPTIONS(COVEFFECT_ATTRIBUTION_FIELD(at, in), "regions"),                       \
        COV_REGIONS_OPTION(COVEFFECT_ATTRIBUTION_FIELD(at, job.regions), "score the bases of"),    \
        COV_REGIONS_FILE_OPTION(COVEFFECT_ATTRIBUTION_FIELD(at, job.bed), "score the bases of"),   \
        COV_OPT(STRING, "dataset", 0, COVEFFECT_ATTRIBUTION_FIELD(at, target), "NAME",             \
                "the dataset of the model (default: its only one)"),                               \
        COV_OPT(SIZE, "length", 0, COVEFFECT_ATTRIBUTION_FIELD(at, job.length), "N",               \
                "score N bases around the middle of each region instead of the region; without "   \
                "it, all regions must have the same length",                                       \
                .min = 1, .max = COVEFFECT_MAX_WINDOW),                                            \
        COV_OPT(SIZE, "window", 0, COVEFFECT_ATTRIBUTION_FIELD(at, job.window), "N",               \
                "bases that the network reads around the middle of a region", .def = "21384",      \
                .min = 2, .max = COVEFFECT_MAX_WINDOW),                                            \
        COV_OPT(SIZE, "width", 0, COVEFFECT_ATTRIBUTION_FIELD(at, job.width), "N",                 \
                "explain the sum of the predicted values over this many bases around the middle "  \
                "of a region (default: 1001, or the window if that is shorter)",                   \
                .min = 1, .max = COVEFFECT_MAX_WINDOW),                                            \
        COV_OPT(STRING, "plot", 0, COVEFFECT_ATTRIBUTION_FIELD(at, paths.plot), "FILE",            \
                "draw the scores of --plot-region as letters: a .png or .svg plot",                \
                .flags = COV_OPT_PATH_OUT),                                                        \
        COV_OPT(STRING, "plot-region", 0, COVEFFECT_ATTRIBUTION_FIELD(at, paths.plot_region),      \
                "REGION",                                                                          \
                "what to draw, up to 960 bases: NAME:FIRST-LAST, 1-based (default: the first "     \
                "region)"),                                                                        \
        COV_RENAME_OPTION(COVEFFECT_ATTRIBUTION_FIELD(at, in.rename)),                             \
        COV_ON_BAD_BASE_OPTION(COVEFFECT_ATTRIBUTION_FIELD(at, in.on_bad_base))

#define COVEFFECT_ATTRIBUTION_OUTPUT                                                               \
    "directory for ohe.npz and attr.npz (TF-MoDISco), scores.h5 (ChromBPNet), scores.bw and "      \
    "regions.bed"

/* Begins the outputs, opens the model and the genome, sets the scores, and writes them. The caller has
 * opened flags->job.device. */
int coveffect_attribute(struct cov_common *common, struct coveffect_flags *flags,
                        struct cov_err *e) COV_MUST_USE;

#endif
