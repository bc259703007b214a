/* evaluation.c - see evaluation.h.
 * SPDX-License-Identifier: MIT */
#include "tools/covpredict/evaluation.h"

#include <stdio.h>

#include "common/compute/device_open.h"
#include "common/file/outfile.h"
#include "common/file/path.h"
#include "common/job/predict/ensemble.h"
#include "common/job/table.h"
#include "common/store/chunk_file.h"

static void print_more(struct cov_json *j, const void *more)
{
    cov_evaluation_print_json(more, j);
}

static void free_more(void *more)
{
    cov_evaluation_free(more);
}

static void print_table(const void *arg, FILE *f)
{
    cov_evaluation_print(arg, f);
}

/* Checks that the network accepts the chunks of the first file. */
static int try_model(const struct cov_ensemble *model, struct cov_device *device, const char *path,
                     struct cov_err *e)
{
    struct cov_chunk_file *f;
    if (cov_device_waiting(device) == 0)
        return COV_OK;
    int rc = cov_chunk_file_open_bases(path, &f, e);
    if (rc)
        return rc;
    size_t L = cov_grid_chunk_length(cov_chunk_file_grid(f));
    cov_chunk_file_close(f);
    rc = cov_ensemble_check_length(model, L, e);
    return rc ? cov_err_prefix(e, "%s", path) : cov_ensemble_try(model, device, L, e);
}

int covpredict_evaluate(struct cov_common *common, const struct cov_strings *models,
                        const struct cov_evaluate_options *options, char *const *files, size_t n,
                        struct cov_err *e)
{
    struct cov_outfile out = COV_OUTFILE_INIT;
    struct cov_ensemble *m = NULL;
    struct cov_pool *pool = NULL;
    struct cov_evaluation *v = NULL;
    bool to_stdout = !common->output || cov_path_is_std(common->output);
    int rc = cov_common_check_table(common, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++)
        if (cov_path_is_std(files[i]))
            return cov_fail(
                e, COV_EUSAGE,
                "--evaluate: needs a genome file with measured coverage, not standard input");
    if (!to_stdout)
        rc = cov_outfile_begin(&out, common->output, COV_OUTFILE_TABLE, common->force, e);
    if (!rc)
        rc = cov_ensemble_open((const char *const *)models->items, models->n, false, &m, e);
    if (!rc)
        rc = cov_stats_set_model(&common->stats, m->path, m->sha256, e);
    if (!rc)
        rc = try_model(m, options->device, files[0], e);
    if (!rc)
        rc =
            cov_pool_new((unsigned)common->threads + cov_device_waiting(options->device), &pool, e);
    if (!rc)
        rc = cov_evaluate((const char *const *)files, n, m, options,
                          &(struct cov_job){pool, &common->progress, &common->stats}, &v, e);
    if (!rc)
        rc = cov_table_write(&out, stdout, print_table, v, e);
    if (!rc && !to_stdout)
        rc = cov_outfile_commit(&out, e);
    cov_pool_free(pool);
    cov_ensemble_close(m);
    cov_outfile_end(&out, e);
    if (rc) {
        cov_evaluation_free(v);
        return rc;
    }
    cov_stats_set_more(&common->stats, print_more, free_more, v);
    return COV_OK;
}
