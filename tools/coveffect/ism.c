/* ism.c - coveffect ism: contribution scores of the bases of a region, by in silico mutagenesis.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "tools/coveffect/attribute.h"

struct ism_config {
    struct coveffect_flags flags;
    struct cov_device_options device;
    int precision; /* enum cov_precision */
};

/* In the order of enum cov_precision. */
static const char *const precisions[] = {"exact", "fp32", "bf16x3", "balanced",
                                         "bf16",  "tf32", NULL};

#define FIELD(name) offsetof(struct ism_config, name)

static const struct cov_opt options[] = {
    COVEFFECT_ATTRIBUTION_OPTIONS(FIELD(flags)),
    COV_OPT(SIZE, "deletions", 0, FIELD(flags.job.deletion), "N",
            "delete N bases at each place, instead of replacing each base", .min = 1, .max = 1000),
    COV_OPT(INT, "batch-size", 'b', FIELD(flags.job.batch), "N",
            "windows and strands that a thread computes at a time; affects memory and speed, not "
            "values (default: a fast size)",
            .min = 1, .max = 4096),
    COV_DEVICE_OPTIONS(FIELD(device)),
    COV_PRECISION_OPTION(FIELD(precision), "exact", precisions, "see covpredict(1)"),
    COV_OPT(FLAG, "full", 0, FIELD(flags.job.full), NULL,
            "compute everything, for comparison: also what an edit does not change"),
    {.name = NULL},
};

static int ism_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                   char **operands, struct cov_err *e)
{
    (void)given;
    (void)n_operands;
    (void)operands;
    struct ism_config *c = config;
    struct cov_attribution_options *o = &c->flags.job;
    int rc = cov_device_options_parse(&c->device, e);
    const struct cov_cpu_options cpu = {
        .levels = c->device.cpu, .precision = (enum cov_precision)c->precision, .edits = !o->full};
    if (!rc)
        rc = cov_device_open(&c->device.choice, &cpu, &o->device, e);
    if (!rc)
        rc = coveffect_attribute(common, &c->flags, e);
    cov_device_close(o->device);
    return rc;
}

const struct cov_tool coveffect_ism = {
    .name = "ism",
    .summary = "contribution scores of the bases of a region, by in silico mutagenesis (ISM)",
    .synopsis = "[options] -m MODEL.ckpt[,MODEL.ckpt]... -g GENOME.fa -R REGIONS.bed|-r REGION "
                "[--dataset NAME] -o OUT/",
    .examples =
        "  coveffect ism -m model.ckpt -g maize.fa.gz -R peaks.bed --length 1000 --dataset "
        "atacseq -o ism/\n"
        "  coveffect ism -m model.ckpt -g maize.fa.gz -r chr1:5,000,001-5,000,200 --dataset "
        "atacseq \\\n"
        "      --plot logo.png -o promoter/\n",
    .options = options,
    .config_bytes = sizeof(struct ism_config),
    .output_help = COVEFFECT_ATTRIBUTION_OUTPUT,
    .run = ism_run,
};
