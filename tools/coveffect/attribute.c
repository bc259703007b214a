/* attribute.c - see attribute.h.
 * SPDX-License-Identifier: MIT */
#include "tools/coveffect/attribute.h"

#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/text.h"

#define DEFAULT_WIDTH 1001 /* as coveffect vcf */

_Static_assert(sizeof(size_t) == sizeof(int64_t), "the tables write sizes as int64_t");

/* Finds --dataset in the model. */
static int find_target(struct coveffect_flags *flags, struct cov_err *e)
{
    struct cov_attribution_options *o = &flags->job;
    const struct cov_ensemble *m = o->model;
    if (!flags->target && m->n_datasets > 1)
        return cov_fail(e, COV_EINPUT, "--dataset is needed, since %s has several datasets: %s",
                        m->path, m->description);
    for (o->target = 0; flags->target && o->target < m->n_datasets; o->target++)
        if (strcmp(flags->target, m->datasets[o->target]) == 0)
            break;
    return o->target < m->n_datasets
               ? COV_OK
               : cov_fail(e, COV_EINPUT, "--dataset: %s does not have '%.100s': %s", m->path,
                          flags->target, m->description);
}

/* Chooses the width, and checks that there are regions. */
static int check_regions(struct cov_attribution_options *o, struct cov_err *e)
{
    const int64_t window = (int64_t)o->window;
    if (!o->width)
        o->width = window < DEFAULT_WIDTH ? window : DEFAULT_WIDTH;
    if (!o->bed && o->regions.n == 0)
        return cov_fail(e, COV_EUSAGE, "regions are missing; use -r or -R");
    return o->width <= window ? COV_OK
                              : cov_fail(e, COV_EUSAGE, "--width must not be larger than --window");
}

/* Reads the genome. */
static int read_genome(struct cov_common *common, const struct coveffect_flags *flags,
                       struct cov_genome **out, struct cov_err *e)
{
    const struct cov_genome_options how = {.bad_base_is_n = flags->on_bad_base == COV_BAD_BASE_N,
                                           .rename_path = flags->rename,
                                           .tmpdir =
                                               common->tmpdir ? common->tmpdir : common->output,
                                           .n_threads = (unsigned)common->threads};
    const double clock = cov_clock();
    int rc = cov_genome_read(flags->job.genome_path, &how, &common->progress, out, e);
    cov_stats_add_stage(&common->stats, "genome", cov_clock() - clock);
    return rc;
}

/* Opens the model for the device. */
static int open_model(struct cov_common *common, struct coveffect_flags *flags,
                      struct cov_ensemble **model, struct cov_err *e)
{
    struct cov_attribution_options *o = &flags->job;
    int rc = cov_ensemble_open((const char *const *)flags->models.items, flags->models.n, false,
                               model, e);
    if (rc)
        return rc;
    o->model = *model;
    rc = cov_stats_set_model(&common->stats, (*model)->path, (*model)->sha256, e);
    if (!rc)
        rc = find_target(flags, e);
    if (!rc && cov_ensemble_check_length(*model, o->window, e))
        rc = cov_err_prefix(e, "--window");
    return rc ? rc : cov_ensemble_try(*model, o->device, o->window, e);
}

int coveffect_attribute(struct cov_common *common, struct coveffect_flags *flags,
                        coveffect_scores_fn *fn, const void *arg, struct cov_err *e)
{
    struct cov_attribution_options *o = &flags->job;
    flags->paths.directory = common->output;
    flags->paths.tmpdir = common->tmpdir;
    flags->paths.force = common->force;
    struct cov_attribution_files files;
    struct cov_attribution a = {0};
    struct cov_ensemble *model = NULL;
    struct cov_genome *genome = NULL;
    struct cov_pool *pool = NULL;
    int rc = cov_attribution_files_begin(&files, &flags->paths, e);
    if (!rc)
        rc = check_regions(o, e);
    if (!rc)
        rc = open_model(common, flags, &model, e);
    if (!rc)
        rc = read_genome(common, flags, &genome, e);
    o->genome = genome;
    if (!rc)
        rc = cov_attribution_init(&a, o, e);
    if (!rc)
        rc = cov_attribution_files_check(&files, &a, genome, e);
    if (!rc)
        rc = cov_pool_new((unsigned)common->threads + cov_device_waiting(o->device), &pool, e);
    if (!rc)
        cov_info("%s, %u thread%s; %s: %s; %zu region%s of %zu bases",
                 o->device->ops->describe(o->device), cov_pool_size(pool),
                 cov_text_s(cov_pool_size(pool)), model->path, model->description, a.n,
                 cov_text_s((int64_t)a.n), a.length);
    const struct cov_job job = {pool, &common->progress, &common->stats};
    if (!rc)
        rc = fn(&a, o, &job, arg, e);
    const double clock = cov_clock();
    if (!rc)
        rc = cov_attribution_files_write(&files, &a, genome, model->datasets[o->target], pool, e);
    cov_stats_add_stage(&common->stats, "write", cov_clock() - clock);
    cov_pool_free(pool);
    cov_attribution_fini(&a);
    cov_genome_free(genome);
    cov_ensemble_close(model);
    cov_attribution_files_end(&files, e);
    return rc;
}
