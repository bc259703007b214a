/* predict_resume.h - predictions that resume after an interrupted run.
 *
 * Finished pairs are stored in a journal next to the output, OUTPUT.resume, and copied to the
 * predictions file once all are there. The file is byte for byte that of an uninterrupted run. A
 * killed run leaves the journal, and the hidden file of outfile.h, which the next run removes. Only
 * the head of the journal and the finished output are synced: after a loss of power, the first
 * piece that did not reach the disk and all after it are dropped and computed again.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_PREDICT_RESUME_H
#define COV_JOB_PREDICT_PREDICT_RESUME_H

#include "common/job/predict/predict.h"

/* A property that a resuming run must share: a value, {"--shard", "2/3"}, or the contents of a
 * file, {"--rename", its path}. */
struct cov_predict_fact {
    const char *name, *value;
};

struct cov_predict_resume {
    const char *input, *output;           /* final names */
    bool force;                           /* replace an output or a journal of another run */
    const struct cov_predict_fact *files; /* all further input files; the path may be NULL */
    size_t n_files;
    const struct cov_predict_fact
        *facts; /* in addition to the options of cov_predict and the grid */
    size_t n_facts;
};

/* Runs cov_predict to the file resume->output, starting from its journal if there is one. Leaves an
 * existing output alone if it matches this run as far as can be checked without predicting (grid,
 * bases, model, precision, regions, overlap, types, datasets), and logs that there is nothing to
 * do. If an output does not record its bases, no input may be newer. COV_EEXIST for any other
 * existing output and for a journal of other inputs or options (named in the error), unless
 * `force`; COV_EEXIST also while another process uses the journal. options->journal must be
 * NULL. */
int cov_predict_resume(struct cov_loader *loader, const struct cov_ensemble *model,
                       const struct cov_predict_options *options,
                       const struct cov_predict_resume *resume, const struct cov_job *job,
                       struct cov_err *e) COV_MUST_USE;

#endif
