/* predict.h - predicts coverage from bases: the pipeline of covpredict.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_PREDICT_H
#define COV_JOB_PREDICT_PREDICT_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/chunk/journal.h"
#include "common/chunk/predictions.h"
#include "common/cli/stats.h"
#include "common/compute/device.h"
#include "common/input/loader.h"
#include "common/input/model.h"

struct cov_predict_options {
    size_t batch; /* chunks a worker computes at a time; 0: chosen automatically */
    enum cov_predictions_type
        type;  /* FLOAT32: exp(output) unrounded; otherwise rounded half to even */
    bool full; /* compute everything, even known values (device.h) */
    /* Bases shared by windows (cov_window_number), less than the chunk length; requires a loader
     * with `neighbours`. 0: predict chunks as they are. */
    size_t overlap;
    struct cov_device *device; /* borrowed */
    const char *command;       /* kept in the output: the options that determine values */
    const char *shard;         /* COV_SHARD_ATTR of the output; NULL: none */
    const char *genome;        /* its COV_GENOME_ATTR; NULL: none */
    /* With a journal, pairs are written there instead of to a file; `begin` (may be NULL) is called
     * before the first pair is fetched. See predict_resume.h. */
    struct cov_journal *journal;
    int (*begin)(void *arg, const struct cov_device *device, struct cov_err *e);
    void *begin_arg;
    const char *tmpdir; /* directory for data buffered while reading a stream */
};

/* Returns the layout of the predictions file of an ensemble. Borrows from it. */
struct cov_predictions_options cov_predict_layout(const struct cov_loader *loader,
                                                  const struct cov_ensemble *model,
                                                  const struct cov_predict_options *options);

/* Predicts all chunks of `loader` with `model`. Writes a predictions file at `path` (the temporary
 * name of an outfile), or a stream to standard output ("-"). Memory use does not grow with the
 * genome: each worker has scratch for `batch` chunks (or for its share of the input, if smaller)
 * and a few encoded pairs. The output does not depend on pool size or batch. Adds chunks, bases,
 * computed positions, device, precision and stages to job->stats (may be NULL). Logs one line with
 * device, kernels and model. */
int cov_predict(struct cov_loader *loader, const struct cov_ensemble *model,
                const struct cov_predict_options *options, const char *path,
                const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
