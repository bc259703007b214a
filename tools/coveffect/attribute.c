/* attribute.c - see attribute.h.
 * SPDX-License-Identifier: MIT */
#include "tools/coveffect/attribute.h"

#include "common/base/log.h"
#include "common/base/progress.h"
#include "common/base/text.h"

_Static_assert(sizeof(size_t) == sizeof(int64_t), "the tables write sizes as int64_t");

/* Chooses the width, and checks that there are regions. */
static int check_regions(struct cov_attribution_options *o, struct cov_err *e)
{
    const int64_t window = (int64_t)o->window;
    if (!o->width)
        o->width = window < COVEFFECT_DEFAULT_WIDTH ? window : COVEFFECT_DEFAULT_WIDTH;
    if (!o->bed && o->regions.n == 0)
        return cov_fail(e, COV_EUSAGE, "regions are missing; use -r or -R");
    return o->width <= window ? COV_OK
                              : cov_fail(e, COV_EUSAGE, "--width must not be larger than --window");
}

/* Opens the models for the device, and finds --dataset. */
static int open_models(struct cov_common *common, struct coveffect_flags *flags,
                       struct cov_ensemble **models, struct cov_err *e)
{
    struct cov_attribution_options *o = &flags->job;
    int rc = coveffect_open_models(common, &flags->in, o->window, models, e);
    const struct cov_ensemble *m = o->model = *models;
    if (!rc && flags->target)
        rc = coveffect_find_dataset(m, "dataset", flags->target, &o->target, e);
    else if (!rc && m->n_datasets > 1)
        rc = cov_fail(e, COV_EINPUT, "--dataset is needed, since %s has several datasets: %s",
                      m->path, m->description);
    return rc ? rc : cov_ensemble_try(m, o->device, o->window, e);
}

int coveffect_attribute(struct cov_common *common, struct coveffect_flags *flags, struct cov_err *e)
{
    struct cov_attribution_options *o = &flags->job;
    o->genome_path = flags->in.genome;
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
        rc = open_models(common, flags, &model, e);
    if (!rc)
        rc = coveffect_read_genome(common, &flags->in, common->output, &genome, e);
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
        rc = o->gradients ? cov_attribution_explain(&a, o, &job, e)
                          : cov_attribution_mutate(&a, o, &job, e);
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
