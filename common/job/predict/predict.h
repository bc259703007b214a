/* predict.h - from bases to predictions: the pipeline of covpredict.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_PREDICT_H
#define COV_JOB_PREDICT_PREDICT_H

#include <stdbool.h>

#include "common/base/err.h"
#include "common/compute/device.h"
#include "common/job/job.h"
#include "common/job/predict/loader.h"
#include "common/job/predict/model.h"
#include "common/store/journal.h"
#include "common/store/signal_file.h"

struct cov_predict_options {
    size_t batch;              /* chunks a worker computes at a time; 0: chosen */
    enum cov_signal_type type; /* FLOAT32: exp(output) unrounded; else rounded, half to even */
    bool full;                 /* compute everything, also what is known (device.h) */
    size_t overlap; /* bases that windows share (windows.h), less than a chunk; the loader
                                  gives neighbours then. 0: chunks as they are */
    struct cov_device *device; /* borrowed */
    /* With a journal, pairs go there instead of to a file; `begin` (may be NULL) is called before the
     * first one is fetched. See predict_resume.h. */
    struct cov_journal *journal;
    int (*begin)(void *arg, const struct cov_device *device, struct cov_err *e);
    void *begin_arg;
    const char *tmpdir; /* for what a file has to keep back while its input is a stream */
};

/* How the predictions file of a model is laid out; borrows from the model. */
struct cov_predictions_options cov_predict_layout(const struct cov_loader *loader,
                                                  const struct cov_model *model,
                                                  const struct cov_predict_options *options);

/* Predicts every chunk that `loader` gives with `model`, and writes the
 * predictions file at `path` (an outfile's temporary name), or the stream of it on standard output
 * ("-"). Memory: per worker the network's scratch for `batch` chunks, or for its share of all if that
 * is less, and a few encoded pairs in flight; not more for a larger genome. The output is the same
 * for any pool size and batch. Adds to `stats` (may be NULL) chunks, bases, what was computed of them,
 * device, precision and stages. Logs
 * one line with device, kernels and model. */
int cov_predict(struct cov_loader *loader, const struct cov_model *model,
                const struct cov_predict_options *options, const char *path,
                const struct cov_job *job, struct cov_err *e) COV_MUST_USE;

#endif
