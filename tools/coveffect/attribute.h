/* attribute.h - what coveffect ism and gradients share: options and outputs.
 * SPDX-License-Identifier: MIT */
#ifndef COVEFFECT_ATTRIBUTE_H
#define COVEFFECT_ATTRIBUTE_H

#include <stddef.h>

#include "common/cli/tool.h"
#include "common/job/device_options.h"
#include "common/job/effect/attribution.h"
#include "common/job/shared_options.h"

/* Filled by the rows of COVEFFECT_ATTRIBUTION_OPTIONS. */
struct coveffect_flags {
    struct cov_strings models;
    const char *genome, *regions, *target, *rename, *one_hot, *bigwig;
    int64_t window, width, length;
    int on_bad_base; /* enum cov_on_bad_base */
};

#define COVEFFECT_MAX_WINDOW (1 << 28)

#define COVEFFECT_ATTRIBUTION_FIELD(at, name) ((at) + offsetof(struct coveffect_flags, name))

/* `at` is the offset of a struct coveffect_flags. */
#define COVEFFECT_ATTRIBUTION_OPTIONS(at)                                                          \
    COV_OPT(                                                                                       \
        LIST, "model", 'm', COVEFFECT_ATTRIBUTION_FIELD(at, models), "CKPT[,CKPT]...",             \
        "checkpoint of Predmoter or covtools; several, with the same data sets, are an ensemble: " \
        "the mean of their predictions",                                                           \
        .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN),                                              \
        COV_OPT(STRING, "genome", 'g', COVEFFECT_ATTRIBUTION_FIELD(at, genome), "FASTA",           \
                "the genome of the regions; may be compressed",                                    \
                .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN),                                      \
        COV_OPT(STRING, "regions-file", 'R', COVEFFECT_ATTRIBUTION_FIELD(at, regions), "BED",      \
                "score the bases of these regions, which have the same length",                    \
                .flags = COV_OPT_REQUIRED | COV_OPT_PATH_IN),                                      \
        COV_OPT(STRING, "target", 0, COVEFFECT_ATTRIBUTION_FIELD(at, target), "DATASET",           \
                "the data set of the model (default: its only one)"),                              \
        COV_OPT(SIZE, "length", 0, COVEFFECT_ATTRIBUTION_FIELD(at, length), "N",                   \
                "score N bases around the middle of each region instead of the region", .min = 1,  \
                .max = COVEFFECT_MAX_WINDOW),                                                      \
        COV_OPT(SIZE, "window", 0, COVEFFECT_ATTRIBUTION_FIELD(at, window), "N",                   \
                "bases that the network reads around the middle of a region", .def = "21384",      \
                .min = 2, .max = COVEFFECT_MAX_WINDOW),                                            \
        COV_OPT(SIZE, "width", 0, COVEFFECT_ATTRIBUTION_FIELD(at, width), "N",                     \
                "explain the sum of the predicted values over this many bases around the middle "  \
                "of a region (default: 1001, or the window if that is shorter)",                   \
                .min = 1, .max = COVEFFECT_MAX_WINDOW),                                            \
        COV_OPT(STRING, "one-hot", 0, COVEFFECT_ATTRIBUTION_FIELD(at, one_hot), "OHE.npz",         \
                "write the bases of the regions, as 0 and 1, for TF-MoDISco",                      \
                .flags = COV_OPT_PATH_OUT),                                                        \
        COV_OPT(STRING, "bigwig", 0, COVEFFECT_ATTRIBUTION_FIELD(at, bigwig), "OUT.bw",            \
                "write the scores of the bases along the genome", .flags = COV_OPT_PATH_OUT),      \
        COV_RENAME_OPTION(COVEFFECT_ATTRIBUTION_FIELD(at, rename)),                                \
        COV_ON_BAD_BASE_OPTION(COVEFFECT_ATTRIBUTION_FIELD(at, on_bad_base))

#define COVEFFECT_ATTRIBUTION_OUTPUT                                                               \
    "where the scores go: a file for ChromBPNet's tools if the name ends in .h5, otherwise "       \
    "arrays "                                                                                      \
    "of NumPy (.npz) for TF-MoDISco"

/* Sets the scores of the regions. */
typedef int coveffect_scores_fn(struct cov_attribution *a, const struct cov_attribution_options *o,
                                const struct cov_job *job, const void *arg, struct cov_err *e);

/* Begins the outputs, opens the model and the genome, lets `fn` set the scores, and writes them. The
 * caller has opened o->device, and set what `flags` does not have. */
int coveffect_attribute(struct cov_common *common, const struct coveffect_flags *flags,
                        struct cov_attribution_options *o, coveffect_scores_fn *fn, const void *arg,
                        struct cov_err *e) COV_MUST_USE;

#endif
