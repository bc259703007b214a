/* gradients.c - coveffect gradients: contribution scores of the bases of a region, by
 * gradients of the network.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "tools/coveffect/attribute.h"

struct gradients_config {
    struct coveffect_flags flags;
    struct cov_gradient_options how;
    const char *cpu;
};

enum { ROW_INTEGRATED, ROW_SHUFFLES, ROW_SEED, ROW_OTHERS };

#define FIELD(name) offsetof(struct gradients_config, name)

static const struct cov_opt options[] = {
    [ROW_INTEGRATED] = COV_OPT(INT, "integrated", 0, FIELD(how.n_steps), "N",
                               "take integrated gradients: means of N gradients on the line from "
                               "a reference to the region",
                               .min = 1, .max = 10000),
    [ROW_SHUFFLES] = COV_OPT(INT, "shuffles", 0, FIELD(how.n_shuffles), "N",
                             "with --integrated: references, each the window of the region with "
                             "its dinucleotides shuffled",
                             .def = "10", .min = 1, .max = 10000),
    [ROW_SEED] =
        COV_OPT(INT, "seed", 0, FIELD(how.seed), "N", "with --integrated: seed of the shuffles",
                .def = "1", .min = 0, .max = 1e15),
    [ROW_OTHERS] = COVEFFECT_ATTRIBUTION_OPTIONS(FIELD(flags)),
    COV_OPT(INT, "batch-size", 'b', FIELD(flags.job.batch), "N",
            "windows and strands to compute at a time; affects memory and speed, not values",
            .def = "8", .min = 1, .max = 4096),
    COV_OPT(STRING, "cpu", 0, FIELD(cpu), "LEVELS",
            "use only the instructions of the best of these levels: base, avx2, avx512, "
            "avx512bf16, amx (default: the variable COVTOOLS_CPU, or all)"),
    {.name = NULL},
};

static int gradients_run(struct cov_common *common, void *config, const bool *given, int n_operands,
                         char **operands, struct cov_err *e)
{
    (void)n_operands;
    (void)operands;
    struct gradients_config *c = config;
    struct cov_attribution_options *o = &c->flags.job;
    struct cov_device_options device = {.device = "cpu", .cpu = c->cpu};
    c->how.integrated = given[ROW_INTEGRATED];
    o->gradients = &c->how;
    for (size_t i = ROW_SHUFFLES; i < ROW_OTHERS; i++)
        if (given[i] && !c->how.integrated)
            return cov_fail(e, COV_EUSAGE, "--%s needs --integrated", options[i].name);
    int rc = cov_device_options_parse_training(&device, e);
    const struct cov_cpu_options cpu = {.levels = device.cpu};
    if (!rc)
        rc = cov_device_open(&device.choice, &cpu, &o->device, e);
    if (!rc)
        rc = coveffect_attribute(common, &c->flags, e);
    if (!rc)
        rc = cov_device_fill_stats(o->device, NULL, &common->stats, e);
    cov_device_close(o->device);
    return rc;
}

const struct cov_tool coveffect_gradients = {
    .name = "gradients",
    .summary = "contribution scores of the bases of a region, by gradients",
    .synopsis = "[options] -m MODEL.ckpt[,MODEL.ckpt]... -g GENOME.fa -R REGIONS.bed|-r REGION "
                "[--dataset NAME] -o OUT/",
    .examples = "  coveffect gradients -m model.ckpt -g maize.fa.gz -R peaks.bed --length 1000 \\\n"
                "      --dataset atacseq --integrated 20 -o gradients/\n",
    .options = options,
    .config_bytes = sizeof(struct gradients_config),
    .output_help = COVEFFECT_ATTRIBUTION_OUTPUT,
    .run = gradients_run,
};
