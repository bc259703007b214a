/* predict_resume.h - predictions that go on where a killed run ended.
 *
 * What is finished goes to a journal beside the output, OUTPUT.resume, and from there to the
 * predictions file when all of it is there. So the file is, byte by byte, that of a run that was
 * never killed. Of the latter only the journal is left.
 * SPDX-License-Identifier: MIT */
#ifndef COV_JOB_PREDICT_PREDICT_RESUME_H
#define COV_JOB_PREDICT_PREDICT_RESUME_H

#include "common/job/predict/predict.h"

/* Something that another run has to have in common: {"--shard", "2/3"}; of a file, {"--rename", its
 * path}, the contents. */
struct cov_predict_fact {
    const char *name, *value;
};

struct cov_predict_resume {
    const char *output; /* the final name */
    bool force;         /* an output or a journal of another run is replaced, not refused */
    const struct cov_predict_fact *files; /* all that are read; without a path there is none */
    size_t n_files;
    const struct cov_predict_fact *facts; /* beyond the options of cov_predict and the grid */
    size_t n_facts;
};

/* "OUTPUT.resume". Caller frees. */
char *cov_predict_journal_name(const char *output, struct cov_err *e) COV_MUST_USE;

/* cov_predict to the file resume->output, from a journal if there is one. An output that is
 * there and is what would be written, as far as can be told without predicting (grid, regions,
 * overlap, types, data sets, model's name; none of the files is newer), is left alone, and the
 * log says that there is nothing to do. COV_EEXIST for any other output, unless `force`; for a
 * journal of other inputs or options, which the text names, unless `force`; while another
 * process works on it. `options` without a journal. */
int cov_predict_resume(struct cov_loader *loader, const struct cov_model *model,
                       const struct cov_predict_options *options,
                       const struct cov_predict_resume *resume, const struct cov_job *job,
                       struct cov_err *e) COV_MUST_USE;

#endif
