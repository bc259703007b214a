/* coveffect.c - what changes in the DNA do to the predicted signal.
 *
 * The subcommands are in tools/coveffect/.
 * SPDX-License-Identifier: MIT */
#include "tools/coveffect/coveffect.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/base/progress.h"
#include "common/h5/h5.h"
#include "common/input/device_options.h"

static const struct cov_tool *const subcommands[] = {&coveffect_vcf, &coveffect_ism,
                                                     &coveffect_gradients, NULL};

int coveffect_read_genome(struct cov_common *common, const struct coveffect_inputs *in,
                          const char *dir, struct cov_genome **out, struct cov_err *e)
{
    const struct cov_genome_options how = {.bad_base_is_n = in->on_bad_base == COV_BAD_BASE_N,
                                           .rename_path = in->rename,
                                           .tmpdir = common->tmpdir ? common->tmpdir : dir,
                                           .n_threads = (unsigned)common->threads};
    const double clock = cov_clock();
    int rc = cov_genome_read(in->genome, &how, &common->progress, out, e);
    cov_stats_add_stage(&common->stats, "genome", cov_clock() - clock);
    return rc;
}

int coveffect_open_models(struct cov_common *common, const struct coveffect_inputs *in,
                          size_t window, struct cov_ensemble **out, struct cov_err *e)
{
    int rc = cov_ensemble_open((const char *const *)in->models.items, in->models.n, false, out, e);
    if (rc)
        return rc;
    rc = cov_stats_set_model(&common->stats, (*out)->path, (*out)->sha256, e);
    if (rc)
        return rc;
    rc = cov_ensemble_check_length(*out, window, e);
    return rc ? cov_err_prefix(e, rc, "--window") : COV_OK;
}

int coveffect_find_dataset(const struct cov_ensemble *m, const char *option, const char *name,
                           size_t *out, struct cov_err *e)
{
    for (*out = 0; *out < m->n_datasets; ++*out)
        if (strcmp(name, m->datasets[*out]) == 0)
            return COV_OK;
    return cov_fail(e, COV_EINPUT, "--%s: %s does not have '%.100s': %s", option, m->path, name,
                    m->description);
}

static void print_versions(FILE *f)
{
    cov_libraries_print(f);
    cov_device_print(f);
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "coveffect",
        .summary = "score variants (VCF) and bases (ISM) by what they do to the predicted signal",
        .subcommands = subcommands,
        .examples =
            "  coveffect vcf -m model.ckpt -g genome.fa.gz -o effects.tsv variants.vcf.gz\n"
            "  coveffect ism -m model.ckpt -g genome.fa.gz -R peaks.bed --length 500 --dataset "
            "atacseq -o ism/\n",
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
